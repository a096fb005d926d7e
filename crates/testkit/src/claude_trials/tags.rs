//! Tags: a mark of its own in each record of a transcript, which a request shows again.

use serde_json::Value;

use crate::jsonl;

/// Returns the transcript with a tag in every message: the number of its line, from 1.
///
/// Tags go to the end of texts, because clients decide by how some of them begin.
pub fn tagged(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() * 11 / 10);
    for (index, line) in jsonl::lines(bytes).into_iter().enumerate() {
        match serde_json::from_slice::<Value>(line) {
            Ok(mut record) => {
                tag_record(&mut record, &format!(" <<{}>>", index + 1));
                out.extend_from_slice(record.to_string().as_bytes());
            }
            Err(_) => out.extend_from_slice(line),
        }
        out.push(b'\n');
    }
    out
}

fn tag_record(record: &mut Value, tag: &str) {
    match record["type"].as_str() {
        Some("user" | "assistant") => {
            if let Some(content) = record.pointer_mut("/message/content") {
                tag_content(content, tag);
            }
        }
        Some("system") if record["subtype"] == "local_command" => {
            if let Some(content) = record.get_mut("content") {
                tag_content(content, tag);
            }
        }
        _ => {}
    }
}

fn tag_content(content: &mut Value, tag: &str) {
    match content {
        Value::String(text) if !text.trim().is_empty() => text.push_str(tag),
        Value::Array(blocks) => blocks.iter_mut().for_each(|block| tag_block(block, tag)),
        _ => {}
    }
}

fn tag_block(block: &mut Value, tag: &str) {
    match block["type"].as_str() {
        Some("text") => {
            if let Some(text) = block.get_mut("text") {
                tag_content(text, tag);
            }
        }
        Some("tool_use") => {
            if let Some(input) = block.get_mut("input").and_then(Value::as_object_mut) {
                match input.values_mut().find(|value| value.is_string()) {
                    Some(text) => tag_content(text, tag),
                    None => drop(input.insert("tag".to_owned(), tag.into())),
                }
            }
        }
        Some("tool_result") => {
            if let Some(content) = block.get_mut("content") {
                tag_content(content, tag);
            }
        }
        _ => {}
    }
}

/// Returns the tags in a text in order, without direct repetitions.
pub fn tags_in(text: &str) -> Vec<u32> {
    let mut tags = Vec::new();
    for piece in text.split("<<").skip(1) {
        let Some((number, _)) = piece.split_once(">>") else {
            continue;
        };
        if let Ok(tag) = number.parse() {
            tags.push(tag);
        }
    }
    tags.dedup();
    tags
}
