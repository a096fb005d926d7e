//! What Kimi Code sends when it resumes a session.

use boswell_model::json::{Json, Object, Raw};
use boswell_model::{
    Context, ContextForm, ContextItem, EntryKind, Message, Result, SessionView, Tip,
};

use crate::content_blocks::{parts, said_text};
use crate::members::{plain, text};
use crate::message_map::Beginning;

use super::{record, view};

/// Returns the context for a tip: the messages that remain, those of one step joined.
pub(super) fn context(view: &SessionView<'_>, tip: Tip) -> Result<Context> {
    let mut context = Context::stored(tip, None);
    let Some(slot) = tip.slot() else {
        return Ok(context);
    };
    for message in record::up_to(view.log, slot) {
        let kind = view.log.kind(message.slot);
        match (kind, context.items.last_mut()) {
            (EntryKind::Compaction, _) => {
                let form = ContextForm::CompactionSummary;
                context
                    .items
                    .push(ContextItem::with_form(message.slot, form));
            }
            (EntryKind::Assistant, Some(last))
                if record::beginning(view.log, message.slot) == Beginning::Nothing =>
            {
                last.more.push(message.slot);
            }
            _ => context.items.push(ContextItem::stored(message.slot)),
        }
    }
    Ok(context)
}

/// Renders one message of a context.
pub(super) fn render(item: &ContextItem, records: &[Object<'_>]) -> Message {
    let Some(first) = records.first() else {
        return Message::new("", None);
    };
    if item.form == ContextForm::CompactionSummary {
        let summary = view::summaries(first).into_iter().next();
        return Message::new("user", summary.map(said));
    }
    if let Some(message) = first.get("message") {
        return stored(message);
    }
    let events: Vec<Raw<'_>> = records.iter().filter_map(|it| it.get("event")).collect();
    match events.first().and_then(|it| text(*it, "type")).as_deref() {
        Some("tool.result") => {
            let event = events.first().copied().unwrap_or(Raw::trusted(b"{}"));
            let call = text(event, "toolCallId").unwrap_or_default();
            Message::new("tool", [tool_result(&call, &sent_result(event))])
        }
        _ => Message::new("assistant", events.iter().filter_map(|it| part(*it))),
    }
}

fn said(text: String) -> Json {
    Json::object().with("type", "text").with("text", text)
}

fn tool_result(call: &str, text: &str) -> Json {
    Json::object()
        .with("type", "tool_result")
        .with("tool_use_id", call)
        .with("content", text)
}

/// Returns what the model is sent of a result: how long it took, how it ended, and a note after it.
fn sent_result(event: Raw<'_>) -> String {
    let result = event.get("result").unwrap_or(Raw::trusted(b"{}"));
    let said = said_text(&parts(result.get("output")));
    let is_empty = said.trim().is_empty() || said.trim() == "Tool output is empty.";
    let failed = result.get("isError").and_then(|it| it.bool()) == Some(true);
    let mut sent = match (failed, is_empty) {
        (true, true) if said.is_empty() => {
            "<system>ERROR: Tool execution failed. Tool output is empty.</system>".to_owned()
        }
        (true, _) => format!("<system>ERROR: Tool execution failed.</system>\n{said}"),
        (false, true) => "<system>Tool output is empty.</system>".to_owned(),
        (false, false) => said,
    };
    if let Some(millis) = result.get("durationMs").and_then(|it| it.f64()) {
        sent = format!("Wall time: {:.3} seconds\n{sent}", millis / 1e3);
    }
    if let Some(note) = text(result, "note") {
        sent = format!("{sent}\n{note}");
    }
    sent
}

fn part(event: Raw<'_>) -> Option<Json> {
    if let Some(part) = event.get("part") {
        return Some(Json::from(part));
    }
    let call = Json::object()
        .with("type", "tool_use")
        .with("id", text(event, "toolCallId")?)
        .with("name", text(event, "name").unwrap_or_default())
        .with_some("input", event.get("args").map(Json::from));
    Some(call)
}

/// Returns the arguments of a call, which are JSON in a string.
fn arguments(stated: Raw<'_>) -> Json {
    let text = stated.text();
    let parsed = text.as_deref().map(|text| Raw::parse(text.as_bytes()));
    match parsed {
        Some(Ok(value)) => Json::from(value),
        _ => Json::from(stated),
    }
}

/// A message that is stored as a whole.
fn stored(message: Raw<'_>) -> Message {
    let role = text(message, "role").unwrap_or_default();
    let content = message.get("content");
    if role == "tool" {
        let call = text(message, "toolCallId").unwrap_or_default();
        let said = said_text(&parts(content));
        return Message::new(role, [tool_result(&call, &said)]);
    }
    let mut sent: Vec<Json> = match content {
        Some(content) if content.text().is_some() => vec![said(plain(content))],
        Some(content) => content.items().map(Json::from).collect(),
        None => Vec::new(),
    };
    for call in message
        .get("toolCalls")
        .into_iter()
        .flat_map(|it| it.items())
    {
        let function = call.get("function").unwrap_or(call);
        sent.push(
            Json::object()
                .with("type", "tool_use")
                .with("id", text(call, "id").unwrap_or_default())
                .with("name", text(function, "name").unwrap_or_default())
                .with_some("input", function.get("arguments").map(arguments)),
        );
    }
    Message {
        native: sent.is_empty().then(|| Json::from(message)),
        ..Message::new(role, sent)
    }
}
