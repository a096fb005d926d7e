//! The readable view of a record.

use boswell_model::json::Object;
use boswell_model::{EntryKind, Part, View};

use crate::members::{lossy, text};

use super::message::{self, Message};

/// Returns the readable view of a record.
pub(super) fn view(object: &Object<'_>) -> View {
    if message::contained(object).is_some() {
        return snapshot(object);
    }
    if let Some(set) = object.get("$set") {
        return match text(set, "summary") {
            Some(title) => View::remark(format!("title is now {title}")),
            None => View::remark(format!("changed: {}", lossy(set))),
        };
    }
    if let Some(to) = object.text("$rewindTo") {
        return View::remark(format!("went back to before {to}"));
    }
    let message = Message(object.raw());
    if message.kind() == EntryKind::Unknown {
        return unknown(object);
    }
    View {
        parts: message.parts(),
        model: text(message.0, "model"),
        usage: message.usage(),
        tool: crate::google_parts::tool(message.content()),
        hidden: message.is_injected(),
        ..View::default()
    }
}

/// A record with all messages. Calls are not offered as calls: the messages that made them have
/// records of their own, or are no longer in the conversation.
fn snapshot(object: &Object<'_>) -> View {
    let messages = Message::all(object);
    let parts = messages.iter().flat_map(|message| message.parts());
    let quoted = parts.map(|part| match part {
        Part::Result { text, .. } => Part::Text(text),
        Part::Call { name, input, .. } => Part::Other {
            json: input.text().to_owned(),
            word: name,
        },
        other => other,
    });
    View {
        remark: Some(format!(
            "{} messages replace what came before",
            messages.len()
        )),
        ..View::of(quoted)
    }
}

fn unknown(object: &Object<'_>) -> View {
    if object.get("sessionId").is_some() {
        let raw = object.raw();
        let id = text(raw, "sessionId").unwrap_or_default();
        let kind = text(raw, "kind").unwrap_or_else(|| "main".to_owned());
        return View::remark(format!("session {id}, {kind}"));
    }
    View::of([Part::Other {
        word: object.text("type").unwrap_or_default().into_owned(),
        json: lossy(object.raw()),
    }])
}
