//! The Responses API of OpenAI, as Codex uses it: the same scripts as for the Messages API.

use std::io::Write;
use std::net::TcpStream;

use serde_json::{Value, json};

use super::script;

/// The path of a request; a base URL may add folders before it.
pub(super) const PATH: &str = "/v1/responses";

fn items(body: &Value) -> &[Value] {
    body["input"].as_array().map_or(&[], Vec::as_slice)
}

fn text_of(item: &Value) -> String {
    let parts = item["content"].as_array().into_iter().flatten();
    let texts: Vec<&str> = parts.filter_map(|part| part["text"].as_str()).collect();
    texts.join("\n")
}

/// Returns index and text of the newest prompt; texts that begin like an XML element are the
/// client's own.
pub(super) fn newest_prompt(body: &Value) -> Option<(usize, String)> {
    let found = items(body).iter().enumerate().rev();
    let mut prompts = found.filter(|(_, item)| item["role"] == "user");
    prompts.find_map(|(at, item)| {
        let text = text_of(item);
        (!text.starts_with('<')).then_some((at, text))
    })
}

/// Returns the items before the newest prompt, if that is `words`.
pub(super) fn before_prompt(body: &Value, words: &str) -> Option<Vec<Value>> {
    let (at, text) = newest_prompt(body)?;
    (text == words).then(|| items(body).get(..at).unwrap_or_default().to_vec())
}

/// Returns the blocks of the next reply. Each reply of a script is one block here, because a call
/// and a message are items of their own.
pub(super) fn reply_to(body: &Value) -> Vec<Value> {
    let Some((at, text)) = newest_prompt(body) else {
        return vec![json!({"text": "ECHO:"})];
    };
    let is_reply = |item: &&Value| item["type"] == "function_call" || item["role"] == "assistant";
    let replies = items(body).iter().skip(at + 1).filter(is_reply).count();
    script::next(&text, replies, 200)
}

fn item(block: &Value, number: usize) -> Option<Value> {
    if let Some(text) = block["text"].as_str() {
        return Some(json!({
            "type": "message", "id": format!("msg_scripted_{number}"), "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }));
    }
    if let Some(text) = block["think"].as_str() {
        return Some(json!({
            "type": "reasoning", "id": format!("rs_scripted_{number}"),
            "summary": [{"type": "summary_text", "text": text}],
            "encrypted_content": "c2NyaXB0ZWQ=",
        }));
    }
    let tool = block["tool"].as_str()?;
    Some(json!({
        "type": "function_call", "id": format!("fc_scripted_{number}"),
        "call_id": format!("call_scripted_{number}"), "name": tool, "status": "completed",
        "arguments": block["input"].to_string(),
    }))
}

/// Streams the reply: each item is announced and completed at once, as clients allow.
///
/// The number of tokens grows with the input, so that a client with a low limit compacts.
pub(super) fn stream_reply(
    out: &mut TcpStream,
    blocks: &[Value],
    body: &Value,
    number: usize,
) -> std::io::Result<()> {
    super::begin_stream(out)?;
    let reply: Vec<Value> = blocks.iter().filter_map(|it| item(it, number)).collect();
    let sent = 100 * items(body).len();
    let usage = json!({
        "input_tokens": sent, "input_tokens_details": {"cached_tokens": 40},
        "output_tokens": 30, "output_tokens_details": {"reasoning_tokens": 10},
        "total_tokens": sent + 30,
    });
    let response = |status: &str, output: &[Value]| {
        json!({
            "id": format!("resp_scripted_{number}"), "object": "response", "status": status,
            "model": body["model"], "output": output, "usage": usage,
        })
    };
    event(
        out,
        "response.created",
        json!({"response": response("in_progress", &[])}),
    )?;
    for (index, item) in reply.iter().enumerate() {
        for step in ["added", "done"] {
            let name = format!("response.output_item.{step}");
            event(out, &name, json!({"output_index": index, "item": item}))?;
        }
    }
    event(
        out,
        "response.completed",
        json!({"response": response("completed", &reply)}),
    )
}

fn event(out: &mut TcpStream, name: &str, mut data: Value) -> std::io::Result<()> {
    data["type"] = name.into();
    write!(out, "event: {name}\ndata: {data}\n\n")?;
    out.flush()
}
