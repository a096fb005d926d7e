//! `generateContent` of Google, as Gemini CLI uses it.

use std::io::Write;
use std::net::TcpStream;

use serde_json::{Value, json};

use super::script;

/// Whether a path asks for a reply, as a stream or not.
pub(super) fn asks(path: &str) -> bool {
    path.ends_with("enerateContent")
}

fn contents(body: &Value) -> &[Value] {
    body["contents"].as_array().map_or(&[], Vec::as_slice)
}

fn parts(content: &Value) -> impl Iterator<Item = &Value> {
    content["parts"].as_array().into_iter().flatten()
}

/// Returns index and text of the newest prompt; results of functions are not texts.
fn newest_prompt(body: &Value) -> Option<(usize, String)> {
    let found = contents(body).iter().enumerate().rev();
    let mut prompts = found.filter(|(_, content)| content["role"] == "user");
    prompts.find_map(|(at, content)| {
        let texts = parts(content).filter_map(|part| part["text"].as_str());
        let text = texts.collect::<Vec<_>>().join("\n");
        let typed = script::typed(&text);
        (!typed.is_empty()).then(|| (at, typed.to_owned()))
    })
}

/// Returns the contents before the newest prompt, if that is `words`.
pub(super) fn before_prompt(body: &Value, words: &str) -> Option<Vec<Value>> {
    let (at, text) = newest_prompt(body)?;
    (text == words).then(|| contents(body).get(..at).unwrap_or_default().to_vec())
}

/// Returns the blocks of the next reply. Requests for JSON, by which the client chooses a model or
/// makes a title, get an object with every member that they ask for.
pub(super) fn reply_to(body: &Value) -> Vec<Value> {
    if body["generationConfig"]["responseMimeType"] == "application/json" {
        let answer = json!({
            "reasoning": "scripted", "model_choice": "flash", "next_speaker": "user",
            "complexity_reasoning": "scripted", "complexity_score": 10,
            "title": "scripted", "summary": "scripted",
        });
        return vec![json!({"text": answer.to_string()})];
    }
    let Some((at, text)) = newest_prompt(body) else {
        return vec![json!({"text": "ECHO:"})];
    };
    let later = contents(body).iter().skip(at + 1);
    let replies = later.filter(|content| content["role"] == "model");
    script::next(&text, replies.count(), 200)
}

fn part(block: &Value, number: usize) -> Option<Value> {
    if let Some(text) = block["text"].as_str() {
        return Some(json!({"text": text}));
    }
    if let Some(text) = block["think"].as_str() {
        return Some(json!({"text": text, "thought": true}));
    }
    let call = json!({
        "id": format!("fc_scripted_{number}"), "name": block["tool"].as_str()?,
        "args": block["input"],
    });
    Some(json!({"functionCall": call, "thoughtSignature": "c2NyaXB0ZWQ="}))
}

/// Replies as a stream of one event, or in one piece, as the path asks.
pub(super) fn send_reply(
    out: &mut TcpStream,
    blocks: &[Value],
    (path, body): (&str, &Value),
    number: usize,
) -> std::io::Result<()> {
    let parts: Vec<Value> = blocks.iter().filter_map(|it| part(it, number)).collect();
    let sent = 100 * contents(body).len();
    let whole = json!({
        "candidates": [{
            "content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0,
        }],
        "usageMetadata": {
            "promptTokenCount": sent, "candidatesTokenCount": 30, "thoughtsTokenCount": 10,
            "cachedContentTokenCount": 40, "totalTokenCount": sent + 40,
        },
        "modelVersion": "scripted-model", "responseId": format!("r{number}"),
    });
    if !path.ends_with("streamGenerateContent") {
        return super::reply(out, 200, Some(&whole));
    }
    super::begin_stream(out)?;
    write!(out, "data: {whole}\n\n")?;
    out.flush()
}
