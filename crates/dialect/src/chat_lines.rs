//! Messages in the form of chat completions, one a record, which several agents write: a role, a
//! content, and calls beside it.

use boswell_model::json::{Json, Object, Raw};
use boswell_model::{EntryKind, Log, MediaSource, Message, Part, Slot, View};

use crate::content_blocks::{self, parts, tool_calls};
use crate::members::{lossy, text};

/// Returns the kind of a message.
pub(crate) fn kind(message: Raw<'_>) -> EntryKind {
    match text(message, "role").as_deref() {
        Some("user") => match content_blocks::is_results(&parts(message.get("content"))) {
            true => EntryKind::ToolResult,
            false => EntryKind::User,
        },
        Some("assistant" | "thinking") => EntryKind::Assistant,
        Some("tool") => EntryKind::ToolResult,
        Some("system" | "developer") => EntryKind::System,
        _ => EntryKind::Unknown,
    }
}

/// Returns the parts of a message.
pub(crate) fn message_parts(message: Raw<'_>) -> Vec<Part> {
    let content = message.get("content");
    if text(message, "role").as_deref() == Some("tool") {
        let call = text(message, "tool_call_id").or_else(|| text(message, "toolCallId"));
        let failed = message.get("is_error").and_then(|it| it.bool()) == Some(true);
        return content_blocks::result(call.unwrap_or_default(), content, failed);
    }
    let mut found = Vec::new();
    let thought = text(message, "reasoning_content").or_else(|| text(message, "reasoning"));
    found.extend(thought.map(Part::thinking));
    found.extend(parts(content));
    let calls = message
        .get("tool_calls")
        .or_else(|| message.get("toolCalls"));
    found.extend(tool_calls(calls));
    found
}

/// Returns the readable view of a message.
pub(crate) fn view(message: Raw<'_>) -> View {
    let parts = message_parts(message);
    let remark = parts
        .is_empty()
        .then(|| "a message without content".to_owned());
    View {
        parts,
        remark,
        tool: text(message, "name"),
        ..View::default()
    }
}

/// Returns the readable view of a record that is not a message.
pub(crate) fn other(word: &str, raw: Raw<'_>) -> View {
    View {
        remark: Some(word.replace(['.', '_'], " ").trim().to_owned()),
        ..View::of([Part::Other {
            word: word.to_owned(),
            json: lossy(raw),
        }])
    }
}

/// Renders a message as it is sent, with blocks in place of calls beside the content.
pub(crate) fn render(message: Raw<'_>) -> Message {
    let role = text(message, "role").unwrap_or_default();
    let parts = message_parts(message);
    let sent: Vec<Json> = parts.iter().filter_map(sent).collect();
    Message {
        native: Some(Json::from(message)),
        ..Message::new(role, sent)
    }
}

/// Returns reasoning as it is sent back.
pub(crate) fn thought(text: &str) -> Json {
    Json::object()
        .with("type", "thinking")
        .with("thinking", text)
}

/// Returns a part as it is sent; `None` for thoughts, which are not.
pub(crate) fn sent(part: &Part) -> Option<Json> {
    let block = |word: &str| Json::object().with("type", word);
    match part {
        Part::Result {
            call,
            text,
            is_error,
        } => Some(
            block("tool_result")
                .with("tool_use_id", call.as_str())
                .with("content", text.as_str())
                .with("is_error", *is_error),
        ),
        Part::Call { id, name, input } => Some(
            block("tool_use")
                .with("id", id.as_str())
                .with("name", name.as_str())
                .with("input", input.to_object()),
        ),
        Part::Text(text) => Some(block("text").with("text", text.as_str())),
        Part::Media {
            mime: Some(mime),
            source: MediaSource::Inline(data),
        } => {
            let source = block("base64")
                .with("media_type", mime.as_str())
                .with("data", data.as_str());
            Some(block("image").with("source", source))
        }
        _ => None,
    }
}

/// Renders the message of a record, which may be a member of it.
pub(crate) fn render_record(records: &[Object<'_>]) -> Message {
    let Some(record) = records.first() else {
        return Message::new("", None);
    };
    render(record.get("message").unwrap_or(record.raw()))
}

/// Links records that are a list: each follows the one before it.
pub(crate) fn in_order(log: &Log) -> Vec<Option<Slot>> {
    let mut last = None;
    let mut parents = Vec::with_capacity(log.heads.len());
    for (slot, head) in log.entries() {
        parents.push(last);
        if head.kind != EntryKind::Header {
            last = Some(slot);
        }
    }
    parents
}

/// Returns the last record that is not a header.
pub(crate) fn last(log: &Log) -> Option<Slot> {
    let mut entries = log.entries().rev();
    let last = entries.find(|(_, head)| head.kind != EntryKind::Header);
    last.map(|(slot, _)| slot)
}

/// Returns the text of a prompt.
pub(crate) fn prompt(message: Raw<'_>) -> String {
    content_blocks::said_text(&parts(message.get("content")))
}

/// Whether a text is one that agents inject as a message of the user: a reminder, without a prompt
/// after it.
pub(crate) fn is_injected(text: &str) -> bool {
    let text = text.trim();
    ["system-reminder", "environment_context"]
        .iter()
        .any(|tag| {
            let begins = text.strip_prefix('<').and_then(|it| it.strip_prefix(tag));
            let ends = text.strip_suffix('>').and_then(|it| it.strip_suffix(tag));
            begins.is_some() && ends.is_some()
        })
}
