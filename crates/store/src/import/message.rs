//! Converts the messages that a model is sent to boswell's format.
//!
//! Agents render messages in the format of their provider: content blocks, or the items of a
//! response. Both are parsed here, so that an imported session sends the same as its source.

use std::collections::HashMap;

use boswell_dialect::{AssistantMessage, Body, Part};
use boswell_model::json::Raw;
use boswell_model::{Message, Usage, View};

use crate::message_part::{part_of, result_of};

/// A message, part by part, in order.
#[derive(Default)]
pub(super) struct MessageText {
    pub(super) bodies: Vec<Body>,
    /// Whether something in it has no place in our format.
    pub(super) left_over: bool,
}

/// Facts of earlier messages that later ones do not repeat.
#[derive(Default)]
pub(super) struct Heard {
    /// Names of tools by the ids of their calls.
    pub(super) tools: HashMap<String, String>,
    /// The model that answered last.
    pub(super) model: Option<String>,
}

/// Converts a message. `view` is that of its record, if the record contains nothing else.
pub(super) fn text_pieces(
    message: &Message,
    view: Option<&View>,
    heard: &mut Heard,
) -> MessageText {
    let mut told = MessageText::default();
    if let Some(result) = native_result(message) {
        told.bodies.push(result);
        return told;
    }
    let mut waiting = Vec::new();
    let by_model = message.role == "assistant";
    for json in &message.content {
        let bytes = json.to_bytes();
        if let Some((call, content, is_error)) = result_of(Raw::trusted(&bytes)) {
            speak(
                by_model,
                view,
                std::mem::take(&mut waiting),
                heard,
                &mut told.bodies,
            );
            let tool = heard.tools.get(&call).map_or("tool", String::as_str);
            let content = content.into_iter().filter_map(known).collect();
            told.bodies.push(Body::ToolResult {
                tool: tool.to_owned(),
                call,
                content,
                is_error,
            });
            continue;
        }
        match known(part_of(json)) {
            Some(Part::Text(text)) if text.is_empty() => {}
            Some(part) => {
                if let Part::Call { id, name, .. } = &part {
                    heard.tools.insert(id.clone(), name.clone());
                }
                waiting.push(part);
            }
            None => told.left_over = true,
        }
    }
    speak(by_model, view, waiting, heard, &mut told.bodies);
    if let Some(usage) = view.and_then(|view| view.usage.as_ref()) {
        count_usage_once(*usage, &mut told.bodies);
    }
    told
}

/// The result of a tool that is a message of its own, as the pi family has it.
fn native_result(message: &Message) -> Option<Body> {
    if message.role != "toolResult" {
        return None;
    }
    let native = message.native.as_ref()?.to_bytes();
    let native = Raw::trusted(&native);
    let text = |key: &str| native.get(key).and_then(|it| it.text());
    let parts = message.content.iter();
    Some(Body::ToolResult {
        call: text("toolCallId").unwrap_or_default().into_owned(),
        tool: text("toolName").unwrap_or_default().into_owned(),
        content: parts.filter_map(|it| known(part_of(it))).collect(),
        is_error: native.get("isError").and_then(|it| it.bool()) == Some(true),
    })
}

/// A part that our format has a place for. The signature of a provider is left behind: it is valid
/// in the conversation that it was made in.
fn known(part: Part) -> Option<Part> {
    match part {
        Part::Other(_) => None,
        Part::Thinking { text, .. } => Some(Part::Thinking {
            text,
            signature: None,
        }),
        part => Some(part),
    }
}

/// An answer may become several; what it cost is stated by the last one alone.
fn count_usage_once(usage: Usage, bodies: &mut [Body]) {
    for body in bodies.iter_mut().rev() {
        if let Body::Assistant(answer) = body {
            answer.usage = usage;
            return;
        }
    }
}

/// The text of a message that is nothing else.
pub(super) fn only_text(message: &Message) -> Option<String> {
    let texts = message.content.iter().map(|part| match part_of(part) {
        Part::Text(text) => Some(text),
        _ => None,
    });
    let texts: Vec<String> = texts.collect::<Option<_>>()?;
    (!texts.is_empty()).then(|| texts.concat())
}

pub(super) fn speak(
    by_model: bool,
    view: Option<&View>,
    content: Vec<Part>,
    heard: &mut Heard,
    bodies: &mut Vec<Body>,
) {
    if content.is_empty() {
        return;
    }
    bodies.push(if by_model {
        // A reader of the family takes the last answer's model for the one in use, also if
        // that answer names none.
        let model = view
            .and_then(|view| view.model.clone())
            .or_else(|| heard.model.clone());
        heard.model.clone_from(&model);
        Body::Assistant(Box::new(AssistantMessage {
            content,
            model,
            ..AssistantMessage::default()
        }))
    } else {
        Body::User(content)
    });
}
