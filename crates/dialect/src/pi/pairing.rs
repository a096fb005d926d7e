//! Pairs tool calls with results as providers require it: every call is followed immediately by
//! exactly one result. Orphan and duplicate results are dropped, missing ones are generated.
//!
//! A log may contain a call without a result (the agent was killed), a result that comes later
//! (after another message), or a result without a call (the call is not in the context). The log
//! does not change; this is only about the messages that are sent.

use std::collections::HashMap;

use boswell_model::Message;
use boswell_model::json::{Json, Raw};

use super::Flavour;
use super::render::text_part;
use crate::ProviderMessage;

/// Moves results behind their calls in recorded order, generates the missing ones, and drops
/// results without a call and duplicates.
pub(super) fn paired(flavour: Flavour, messages: Vec<ProviderMessage>) -> Vec<ProviderMessage> {
    let mut answers = answers(&messages);
    let mut held: Vec<_> = messages.into_iter().map(Some).collect();
    let mut sent = Vec::with_capacity(held.len());
    for at in 0..held.len() {
        let Some(message) = held
            .get_mut(at)
            .and_then(|place| place.take_if(|held| held.message.role != "toolResult"))
        else {
            continue;
        };
        let mut open = if message.message.role == "assistant" {
            calls(&message.message)
        } else {
            Vec::new()
        };
        let asked = sent.len();
        sent.push(message);
        for answer in answers
            .remove(&at)
            .into_iter()
            .flatten()
            .filter_map(|at| held.get_mut(at)?.take())
        {
            let call = member(&answer.message, "toolCallId");
            open.retain(|(id, _)| *id != call);
            sent.push(answer);
        }
        let made: Vec<_> = sent
            .get(asked)
            .map(|asked| {
                open.iter()
                    .map(|(call, tool)| interrupted(flavour, &asked.message, call, tool))
                    .collect()
            })
            .unwrap_or_default();
        sent.extend(made);
    }
    sent
}

/// Returns for each message with calls the indexes of its results, in recorded order. If an id is
/// used again, a result belongs to the last call before it.
fn answers(messages: &[ProviderMessage]) -> HashMap<usize, Vec<usize>> {
    let mut open: HashMap<String, usize> = HashMap::new();
    let mut answers: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, ProviderMessage { message, .. }) in messages.iter().enumerate() {
        match message.role.as_str() {
            "assistant" => open.extend(calls(message).into_iter().map(|(call, _)| (call, at))),
            "toolResult" => {
                if let Some(asked) = open.remove(&member(message, "toolCallId")) {
                    answers.entry(asked).or_default().push(at);
                }
            }
            _ => {}
        }
    }
    answers
}

/// Returns id and tool of every call in an assistant message, each id once.
fn calls(message: &Message) -> Vec<(String, String)> {
    let mut calls: Vec<(String, String)> = Vec::new();
    for part in &message.content {
        let bytes = part.to_bytes();
        let raw = Raw::trusted(&bytes);
        let text = |key: &str| {
            raw.get(key)
                .and_then(|value| value.text())
                .map(|text| text.into_owned())
        };
        let id = text("id").unwrap_or_default();
        if raw.get("type").is_some_and(|word| word.is("toolCall"))
            && calls.iter().all(|(call, _)| *call != id)
        {
            calls.push((id, text("name").unwrap_or_default()));
        }
    }
    calls
}

/// Returns a result for a call that was never answered, with the agent's own text. It has the time
/// of its call, because the context of a session must not depend on the current time.
fn interrupted(flavour: Flavour, asked: &Message, call: &str, tool: &str) -> ProviderMessage {
    let said = if flavour.is_heir() {
        "Tool execution was interrupted (session recovery)."
    } else {
        "No result provided"
    };
    let content = vec![text_part(said)];
    let bytes = asked
        .native
        .as_ref()
        .map(Json::to_bytes)
        .unwrap_or_default();
    let native = Json::object()
        .with("role", "toolResult")
        .with("toolCallId", call)
        .with("toolName", tool)
        .with("content", content.clone())
        .with("isError", true)
        .with_some(
            "timestamp",
            Raw::parse(&bytes)
                .ok()
                .and_then(|raw| raw.get("timestamp")?.i64()),
        );
    let message = Message {
        role: "toolResult".to_owned(),
        content,
        native: Some(native),
    };
    ProviderMessage {
        from: None,
        joined: Vec::new(),
        message,
    }
}

fn member(message: &Message, key: &str) -> String {
    let bytes = message
        .native
        .as_ref()
        .map(Json::to_bytes)
        .unwrap_or_default();
    Raw::parse(&bytes)
        .ok()
        .and_then(|raw| raw.get(key)?.text().map(|text| text.into_owned()))
        .unwrap_or_default()
}
