//! Renders the messages of a context in the format of the Messages API.

use boswell_model::json::{Json, Object, Raw, RawKind};
use boswell_model::{ContextForm, ContextItem, Message};

use super::attachment;
use super::pairing::{calls_of, results_of};

/// Renders one message from the lines that make it up.
pub(super) fn render(item: &ContextItem, records: &[Object<'_>]) -> Message {
    match &item.form {
        ContextForm::Made { role: "user", text }
            if records.first().is_some_and(|r| !calls_of(r).is_empty()) =>
        {
            made_results(records, text)
        }
        ContextForm::Made { role, text } => message(role, vec![text_part(text.as_str())]),
        _ => stored(records),
    }
}

fn message(role: &str, content: Vec<Json>) -> Message {
    Message {
        role: role.to_owned(),
        content,
        native: None,
    }
}

fn text_part(text: impl Into<Json>) -> Json {
    Json::object().with("type", "text").with("text", text)
}

/// Returns a result with `text` for those calls of the first record that the others do not answer.
fn made_results(records: &[Object<'_>], text: &str) -> Message {
    let answered: Vec<String> = records.iter().skip(1).flat_map(results_of).collect();
    let open = records
        .iter()
        .take(1)
        .flat_map(calls_of)
        .filter(|id| !answered.contains(id));
    let result = |id: String| {
        Json::object()
            .with("type", "tool_result")
            .with("tool_use_id", id)
            .with("content", text)
            .with("is_error", true)
    };
    message("user", open.map(result).collect())
}

fn stored(records: &[Object<'_>]) -> Message {
    let role = records.first().map_or("user", role);
    let mut content = Vec::new();
    for record in records {
        if record.get("type").is_some_and(|word| word.is("attachment")) {
            attachment::parts(record).for_each(|part| add_parts(part, &mut content));
        } else if let Some(part) = record
            .get("message")
            .and_then(|m| m.get("content"))
            .or(record.get("content"))
        {
            add_parts(part, &mut content);
        }
    }
    message(role, content)
}

fn role(record: &Object<'_>) -> &'static str {
    match record.get("type") {
        Some(word) if word.is("assistant") => "assistant",
        Some(word) if word.is("attachment") => attachment::role(record).unwrap_or("user"),
        _ => "user",
    }
}

/// Adds the parts of a content: a string is one text part; empty text parts of a list are left
/// out, as by the client.
fn add_parts(content: Raw<'_>, out: &mut Vec<Json>) {
    if content.kind() == RawKind::String {
        out.push(text_part(Json::from(content)));
        return;
    }
    let is_empty_text = |block: &Raw<'_>| {
        block.get("type").is_some_and(|word| word.is("text"))
            && block
                .get("text")
                .and_then(|text| text.text())
                .is_none_or(|text| text.trim().is_empty())
    };
    for block in content.items().filter(|block| !is_empty_text(block)) {
        out.push(if block.kind() == RawKind::String {
            text_part(Json::from(block))
        } else {
            Json::from(block)
        });
    }
}
