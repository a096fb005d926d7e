//! What Copilot CLI sends when it resumes a session, in the form of chat completions.

use boswell_model::json::{Json, Object, Raw};
use boswell_model::{
    Context, ContextForm, ContextItem, EntryKind, Flags, Message, Result, SessionView, Tip,
};

use crate::members::{plain, text};

use super::event::{self, data};

/// Returns the context for a tip.
pub(super) fn context(view: &SessionView<'_>, tip: Tip) -> Result<Context> {
    let mut context = Context::stored(tip, None);
    let Some(slot) = tip.slot() else {
        return Ok(context);
    };
    for message in event::up_to(view.log, slot) {
        let Some(head) = view.log.head(message.slot) else {
            continue;
        };
        if head.flags.has(Flags::SIDECHAIN) {
            continue;
        }
        match head.kind {
            EntryKind::Compaction => {
                let summary = ContextForm::CompactionSummary;
                context.items = vec![ContextItem::with_form(message.slot, summary)];
            }
            EntryKind::User | EntryKind::Assistant | EntryKind::ToolResult => {
                let is_sent = view.with_object(message.slot, |object| {
                    !render(&ContextItem::stored(message.slot), &[*object])
                        .role
                        .is_empty()
                })?;
                if is_sent == Some(true) {
                    context.items.push(ContextItem::stored(message.slot));
                }
            }
            _ => {}
        }
    }
    context.settings.model = model(view)?;
    Ok(context)
}

/// Renders one message of a context; its role is empty if nothing is sent.
pub(super) fn render(item: &ContextItem, records: &[Object<'_>]) -> Message {
    let Some(record) = records.first() else {
        return Message::new("", None);
    };
    let data = data(record);
    let said = |text: String| Json::object().with("type", "text").with("text", text);
    if item.form == ContextForm::CompactionSummary {
        return Message::new("user", text(data, "summaryContent").map(said));
    }
    match record.text("type").as_deref() {
        Some("user.message") => {
            // The transformed content is what the model got when the prompt was sent.
            let sent = text(data, "transformedContent").or_else(|| text(data, "content"));
            match sent {
                Some(sent) => Message::new("user", [said(sent)]),
                None => Message::new("", None),
            }
        }
        Some("assistant.message") => assistant(data),
        Some("tool.execution_complete") => {
            let call = data.get("toolCallId").map(plain).unwrap_or_default();
            let view = super::view::view(record);
            let native = Json::object()
                .with("role", "tool")
                .with("tool_call_id", call.as_str())
                .with("content", view.text());
            Message {
                native: Some(native),
                ..Message::new("tool", [tool_result(&call, &view)])
            }
        }
        _ => Message::new("", None),
    }
}

fn tool_result(call: &str, view: &boswell_model::View) -> Json {
    let failed = view
        .parts
        .iter()
        .any(|part| matches!(part, boswell_model::Part::Result { is_error: true, .. }));
    Json::object()
        .with("type", "tool_result")
        .with("tool_use_id", call)
        .with("content", view.text())
        .with("is_error", failed)
}

fn assistant(data: Raw<'_>) -> Message {
    let said = |text: String| Json::object().with("type", "text").with("text", text);
    let mut content: Vec<Json> = text(data, "content").map(said).into_iter().collect();
    let requests = data.get("toolRequests").into_iter();
    for call in requests.flat_map(|it| it.items()) {
        content.push(
            Json::object()
                .with("type", "tool_use")
                .with("id", text(call, "toolCallId").unwrap_or_default())
                .with("name", text(call, "name").unwrap_or_default())
                .with_some("input", call.get("arguments").map(Json::from)),
        );
    }
    match content.is_empty() {
        true => Message::new("", None),
        false => Message::new("assistant", content),
    }
}

fn model(view: &SessionView<'_>) -> Result<Option<String>> {
    for (slot, head) in view.log.entries().rev() {
        let key = match head.kind {
            EntryKind::Assistant => "model",
            EntryKind::Setting => "newModel",
            EntryKind::Header => "selectedModel",
            _ => continue,
        };
        let model = view.with_object(slot, |object| text(data(object), key))?;
        if let Some(model) = model.flatten() {
            return Ok(Some(model));
        }
    }
    Ok(None)
}
