//! Chat completions of OpenAI, as Qwen Code, Copilot CLI and Kimi Code use them.

use std::io::Write;
use std::net::TcpStream;

use serde_json::{Value, json};

use super::script;

/// The end of the path of a request.
pub(super) const PATH: &str = "/chat/completions";

fn messages(body: &Value) -> &[Value] {
    body["messages"].as_array().map_or(&[], Vec::as_slice)
}

fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        content => {
            let parts = content.as_array().into_iter().flatten();
            let texts: Vec<&str> = parts.filter_map(|part| part["text"].as_str()).collect();
            texts.join("\n")
        }
    }
}

/// Returns index and text of the newest prompt.
fn newest_prompt(body: &Value) -> Option<(usize, String)> {
    let found = messages(body).iter().enumerate().rev();
    let mut prompts = found.filter(|(_, message)| message["role"] == "user");
    prompts.find_map(|(at, message)| {
        let text = text_of(message);
        let typed = script::typed(&text);
        (!typed.is_empty()).then(|| (at, typed.to_owned()))
    })
}

/// Returns the messages before the newest prompt, if that is `words`, without instructions.
pub(super) fn before_prompt(body: &Value, words: &str) -> Option<Vec<Value>> {
    let (at, text) = newest_prompt(body)?;
    let before = messages(body).iter().take(at);
    let is_said = |it: &&Value| it["role"] != "system" && it["role"] != "developer";
    (text == words).then(|| before.filter(is_said).cloned().collect())
}

/// Returns the blocks of the next reply.
pub(super) fn reply_to(body: &Value) -> Vec<Value> {
    let Some((at, text)) = newest_prompt(body) else {
        return vec![json!({"text": "ECHO:"})];
    };
    let later = messages(body).iter().skip(at + 1);
    let replies = later.filter(|message| message["role"] == "assistant");
    script::next(&text, replies.count(), 200)
}

/// Returns the message of a reply.
fn message(blocks: &[Value], number: usize) -> Value {
    let (mut said, mut thought, mut calls) = (String::new(), String::new(), Vec::new());
    for block in blocks {
        said.push_str(block["text"].as_str().unwrap_or_default());
        thought.push_str(block["think"].as_str().unwrap_or_default());
        if let Some(tool) = block["tool"].as_str() {
            let at = calls.len();
            calls.push(json!({
                "index": at, "id": format!("call_scripted_{number}_{at}"), "type": "function",
                "function": {"name": tool, "arguments": block["input"].to_string()},
            }));
        }
    }
    let mut message = json!({"role": "assistant", "content": said});
    if !thought.is_empty() {
        message["reasoning_content"] = thought.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

fn usage(body: &Value) -> Value {
    let sent = 100 * messages(body).len();
    json!({
        "prompt_tokens": sent, "completion_tokens": 30, "total_tokens": sent + 30,
        "prompt_tokens_details": {"cached_tokens": 40},
        "completion_tokens_details": {"reasoning_tokens": 10},
    })
}

/// Replies as a stream, or in one piece, as requested.
pub(super) fn send_reply(
    out: &mut TcpStream,
    blocks: &[Value],
    body: &Value,
    number: usize,
) -> std::io::Result<()> {
    let message = message(blocks, number);
    let reason = match message.get("tool_calls") {
        Some(_) => "tool_calls",
        None => "stop",
    };
    let frame = |object: &str, choices: Value| {
        json!({
            "id": format!("chatcmpl-scripted-{number}"), "created": 1_700_000_000,
            "model": body["model"], "object": object, "choices": choices,
        })
    };
    if body["stream"] != true {
        let choice = json!([{"index": 0, "message": message, "finish_reason": reason}]);
        let mut whole = frame("chat.completion", choice);
        whole["usage"] = usage(body);
        return super::reply(out, 200, Some(&whole));
    }
    let chunk = |delta: Value, reason: Option<&str>| {
        let choice = json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
        frame("chat.completion.chunk", choice)
    };
    super::begin_stream(out)?;
    // Clients expect thoughts, text and calls apart.
    for key in ["reasoning_content", "content", "tool_calls"] {
        if let Some(value) = message.get(key).filter(|value| **value != "") {
            let delta = json!({"role": "assistant", key: value});
            write!(out, "data: {}\n\n", chunk(delta, None))?;
        }
    }
    write!(out, "data: {}\n\n", chunk(json!({}), Some(reason)))?;
    let mut last = frame("chat.completion.chunk", json!([]));
    last["usage"] = usage(body);
    write!(out, "data: {last}\n\ndata: [DONE]\n\n")?;
    out.flush()
}
