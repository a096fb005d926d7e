//! Converts the messages of a context for a provider, which knows only user, developer, assistant
//! and tool result messages.
//!
//! Messages that only the agent knows become user messages, messages that are hidden from the model
//! are omitted, every call is followed by its result, and, if the agent does so, adjacent user
//! messages are merged. The log does not change.

use boswell_model::Message;
use boswell_model::json::{Json, Raw, RawKind};

use super::js_values::truthy;
use super::render::{text_part, with_members};
use super::{Flavour, pairing, provider_text};
use crate::ProviderMessage;

/// The text of a result whose output was removed to save space, if no other text is left.
const PRUNED: &str = "[Output truncated]";

/// Returns the messages as the agent sends them.
pub(super) fn provider_messages(flavour: Flavour, messages: Vec<Message>) -> Vec<ProviderMessage> {
    let leaving = messages
        .into_iter()
        .enumerate()
        .filter_map(|(at, message)| {
            let message = outgoing(flavour, message)?;
            Some(ProviderMessage {
                from: Some(at),
                joined: Vec::new(),
                message,
            })
        });
    let paired = pairing::paired(flavour, leaving.collect());
    if flavour.is_heir() {
        joined(paired)
    } else {
        paired
    }
}

/// Converts a message to one that providers accept; `None` if it is not sent.
fn outgoing(flavour: Flavour, message: Message) -> Option<Message> {
    let bytes = message
        .native
        .as_ref()
        .map(Json::to_bytes)
        .unwrap_or_default();
    let Ok(native) = Raw::parse(&bytes) else {
        return Some(message);
    };
    let heir = flavour.is_heir();
    let said = |content: Vec<Json>, by: &str| Some(user(flavour, native, content, Some(by.into())));
    match message.role.as_str() {
        "bashExecution" | "pythonExecution" if truthy(native.get("excludeFromContext")) => None,
        "bashExecution" => said(
            vec![text_part(provider_text::command(flavour, native))],
            "user",
        ),
        "pythonExecution" if heir => said(vec![text_part(provider_text::python(native))], "user"),
        "fileMention" if heir => said(provider_text::files(native), "user"),
        "branchSummary" | "compactionSummary" => {
            said(vec![text_part(provider_text::summary(native))], "agent")
        }
        // pi knows the old name of custom messages only from files that it migrates.
        "hookMessage" if !heir => None,
        "custom" | "hookMessage" => Some(user(
            flavour,
            native,
            message.content,
            native.get("attribution").map(Json::from),
        )),
        "user" | "developer" | "toolResult" if heir => Some(attributed(message, native)),
        // pi does not send failed or aborted messages again.
        "assistant" if !heir && failed(native) => None,
        "user" | "assistant" | "toolResult" => Some(message),
        // Neither program sends unknown roles.
        _ => None,
    }
}

fn failed(answer: Raw<'_>) -> bool {
    answer
        .get("stopReason")
        .is_some_and(|reason| reason.is("error") || reason.is("aborted"))
}

/// Returns a message that the user did not write but that is sent with the role `user`.
fn user(flavour: Flavour, native: Raw<'_>, content: Vec<Json>, by: Option<Json>) -> Message {
    let mut made = Json::object()
        .with("role", "user")
        .with("content", content.clone());
    if flavour.is_heir() {
        made = made
            .with_some("attribution", by)
            .with_some("providerPayload", native.get("providerPayload"));
    }
    let made = made.with_some("timestamp", native.get("timestamp"));
    Message {
        role: "user".to_owned(),
        content,
        native: Some(made),
    }
}

/// Adds the author to a message; for a result whose output was removed, the remaining text becomes
/// its only part.
fn attributed(mut message: Message, native: Raw<'_>) -> Message {
    let mut made = Json::from(native);
    if message.role == "toolResult" && native.get("prunedAt").is_some() {
        message.content = vec![text_part(left_of(native))];
        made = replaced(&made, "content", message.content.clone().into());
    }
    if native.get("attribution").is_none_or(|by| by.is_null()) {
        let by = if message.role == "user" {
            "user"
        } else {
            "agent"
        };
        made = replaced(&made, "attribution", by.into());
    }
    message.native = Some(made);
    message
}

fn left_of(result: Raw<'_>) -> String {
    let content = result.get("content");
    let parts = content.iter().flat_map(|content| content.items());
    let text: String = parts
        .filter(is_text)
        .filter_map(|part| part.get("text")?.text())
        .collect();
    if text.is_empty() {
        PRUNED.to_owned()
    } else {
        text
    }
}

/// Returns an object with one member replaced in place, or added at the end.
fn replaced(object: &Json, key: &str, value: Json) -> Json {
    let bytes = object.to_bytes();
    let raw = Raw::trusted(&bytes);
    let changed = with_members(raw, |name, old| {
        Some(if name == key {
            value.clone()
        } else {
            old.into()
        })
    });
    if raw.get(key).is_some() {
        changed
    } else {
        changed.with(key, value)
    }
}

/// Merges adjacent user messages if both are lists of texts, as xcsh does.
fn joined(messages: Vec<ProviderMessage>) -> Vec<ProviderMessage> {
    let mut all: Vec<ProviderMessage> = Vec::with_capacity(messages.len());
    for next in messages {
        match all.last_mut() {
            Some(last) if only_texts(&last.message) && only_texts(&next.message) => {
                last.joined.extend(next.from);
                last.message.content.extend(next.message.content);
                let content = last.message.content.clone().into();
                last.message.native = last
                    .message
                    .native
                    .as_ref()
                    .map(|native| replaced(native, "content", content));
            }
            _ => all.push(next),
        }
    }
    all
}

fn only_texts(message: &Message) -> bool {
    if message.role != "user" {
        return false;
    }
    let bytes = message
        .native
        .as_ref()
        .map(Json::to_bytes)
        .unwrap_or_default();
    let content = Raw::parse(&bytes)
        .ok()
        .and_then(|native| native.get("content"));
    content.is_some_and(|content| {
        content.kind() == RawKind::Array && content.items().all(|part| is_text(&part))
    })
}

fn is_text(part: &Raw<'_>) -> bool {
    part.get("type").is_some_and(|word| word.is("text"))
}
