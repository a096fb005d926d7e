//! The reply of the model to a request, in one piece or as a stream.

use std::io::Write;
use std::net::TcpStream;

use serde_json::{Value, json};

use super::script;

pub(super) fn messages(body: &Value) -> &[Value] {
    body["messages"].as_array().map_or(&[], Vec::as_slice)
}

fn texts(message: &Value) -> Vec<&str> {
    match &message["content"] {
        Value::String(text) => vec![text],
        content => content
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|block| block["text"].as_str())
            .collect(),
    }
}

/// Whether a text was added by the client after a prompt, so that it is not from the user.
fn is_added(text: &str) -> bool {
    [
        "<system-reminder>",
        "<task-notification>",
        "<local-command",
        "<command-",
    ]
    .iter()
    .any(|start| text.trim_start().starts_with(start))
}

/// Returns index and texts of the newest message with a prompt; tool results are not texts.
fn newest_prompt(body: &Value) -> Option<(usize, Vec<&str>)> {
    let holds_result = |message: &Value| {
        message["content"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|block| block["type"] == "tool_result")
    };
    messages(body)
        .iter()
        .enumerate()
        .rev()
        .find_map(|(at, message)| {
            let words: Vec<&str> = texts(message)
                .into_iter()
                .filter(|text| !is_added(text))
                .collect();
            (message["role"] == "user" && !words.is_empty() && !holds_result(message))
                .then_some((at, words))
        })
}

/// Returns the newest user texts, also those next to tool results.
pub(super) fn newest_words(body: &Value) -> Vec<&str> {
    messages(body)
        .iter()
        .rev()
        .find(|message| message["role"] == "user")
        .map(texts)
        .unwrap_or_default()
}

/// Returns the blocks of the next reply.
pub(super) fn answer_to(body: &Value) -> Vec<Value> {
    let Some((at, words)) = newest_prompt(body) else {
        return vec![json!({"text": "ECHO:"})];
    };
    let answers = messages(body)
        .iter()
        .skip(at + 1)
        .filter(|message| message["role"] == "assistant")
        .count();
    let scripted = words.iter().rev().find(|text| text.contains("SCRIPT="));
    script::next(
        scripted.or(words.last()).unwrap_or(&""),
        answers,
        usize::MAX,
    )
}

pub(super) fn message(blocks: &[Value], body: &Value, number: usize) -> Value {
    let content: Vec<Value> = blocks
        .iter()
        .enumerate()
        .filter_map(|(at, block)| {
            if let Some(text) = block["text"].as_str() {
                return Some(json!({"type": "text", "text": text}));
            }
            if let Some(text) = block["think"].as_str() {
                return Some(json!({"type": "thinking", "thinking": text, "signature": "c2NyaXB0ZWQ="}));
            }
            let tool = block["tool"].as_str()?;
            let input = block.get("input").cloned().unwrap_or_else(|| json!({}));
            Some(json!({"type": "tool_use", "id": format!("toolu_scripted_{number}_{at}"), "name": tool, "input": input}))
        })
        .collect();
    let calls = content.iter().any(|block| block["type"] == "tool_use");
    json!({
        "id": format!("msg_scripted_{number}"), "type": "message", "role": "assistant", "model": body["model"],
        "content": content, "stop_reason": if calls { "tool_use" } else { "end_turn" }, "stop_sequence": null,
        "usage": {"input_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 20},
    })
}

/// Writes the message as stream events: each block is started, filled by one delta, and stopped.
pub(super) fn stream_message(out: &mut TcpStream, message: &Value) -> std::io::Result<()> {
    super::begin_stream(out)?;
    let mut begun = message.clone();
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    event(out, "message_start", &json!({"message": begun}))?;
    for (index, block) in message["content"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let (empty, deltas) = parts(block);
        event(
            out,
            "content_block_start",
            &json!({"index": index, "content_block": empty}),
        )?;
        for delta in deltas {
            event(
                out,
                "content_block_delta",
                &json!({"index": index, "delta": delta}),
            )?;
        }
        event(out, "content_block_stop", &json!({"index": index}))?;
    }
    let end = json!({"delta": {"stop_reason": message["stop_reason"], "stop_sequence": null}, "usage": message["usage"]});
    event(out, "message_delta", &end)?;
    event(out, "message_stop", &json!({}))
}

/// Returns an empty block, and the deltas that fill it.
fn parts(block: &Value) -> (Value, Vec<Value>) {
    match block["type"].as_str() {
        Some("thinking") => (
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            vec![
                json!({"type": "thinking_delta", "thinking": block["thinking"]}),
                json!({"type": "signature_delta", "signature": block["signature"]}),
            ],
        ),
        Some("tool_use") => (
            json!({"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}),
            vec![json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})],
        ),
        _ => (
            json!({"type": "text", "text": ""}),
            vec![json!({"type": "text_delta", "text": block["text"]})],
        ),
    }
}

fn event(out: &mut TcpStream, name: &str, data: &Value) -> std::io::Result<()> {
    let mut data = data.clone();
    data["type"] = name.into();
    write!(out, "event: {name}\ndata: {data}\n\n")?;
    out.flush()
}
