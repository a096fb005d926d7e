//! Converts the messages that a model is sent to boswell's format.
//!
//! Every message is read as its dialect renders it, so that an imported session sends the same as
//! its source.

use boswell_dialect::{AssistantMessage, Body, ChatReader, Role};
use boswell_model::{MediaSource, Message, Part, Usage, View};

/// A message, part by part, in order.
#[derive(Default)]
pub(super) struct ConvertedMessage {
    pub(super) bodies: Vec<Body>,
    /// Whether something in it has no place in our format.
    pub(super) left_over: bool,
}

/// Facts of earlier messages that later ones do not repeat.
#[derive(Default)]
pub(super) struct EarlierFacts {
    /// Reads messages, and knows the tools that were called.
    pub(super) reader: ChatReader,
    /// The model that answered last.
    pub(super) model: Option<String>,
}

/// Converts a message. `view` is that of its record, if the record contains nothing else.
pub(super) fn convert_message(
    message: &Message,
    view: Option<&View>,
    earlier: &mut EarlierFacts,
) -> ConvertedMessage {
    let mut converted = ConvertedMessage::default();
    for chat in earlier.reader.read(message) {
        let Role::Tool {
            call,
            tool,
            is_error,
        } = chat.role
        else {
            let all = chat.parts.len();
            let mut content: Vec<Part> = chat.parts.into_iter().filter_map(known).collect();
            converted.left_over |= content.len() < all;
            content.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
            let by_model = chat.role == Role::Assistant;
            push_message(by_model, view, content, earlier, &mut converted.bodies);
            continue;
        };
        let is_named = !tool.is_empty();
        converted.bodies.push(Body::ToolResult {
            tool: if is_named { tool } else { "tool".to_owned() },
            call,
            content: chat.parts.into_iter().filter_map(known).collect(),
            is_error,
        });
    }
    if let Some(usage) = view.and_then(|view| view.usage.as_ref()) {
        count_usage_once(*usage, &mut converted.bodies);
    }
    converted
}

/// A part that our format has a place for. The signature of a provider is left behind: it is valid
/// in the conversation that it was made in.
pub(super) fn known(part: Part) -> Option<Part> {
    match part {
        Part::Thinking { text, .. } => Some(Part::thinking(text)),
        Part::Text(_)
        | Part::Call { .. }
        | Part::Media {
            mime: Some(_),
            source: MediaSource::Inline(_),
        } => Some(part),
        _ => None,
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
    let mut texts = Vec::new();
    for chat in ChatReader::default().read(message) {
        if matches!(chat.role, Role::Tool { .. }) {
            return None;
        }
        for part in chat.parts {
            let Part::Text(text) = part else { return None };
            texts.push(text);
        }
    }
    (!texts.is_empty()).then(|| texts.concat())
}

pub(super) fn push_message(
    by_model: bool,
    view: Option<&View>,
    content: Vec<Part>,
    earlier: &mut EarlierFacts,
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
            .or_else(|| earlier.model.clone());
        earlier.model.clone_from(&model);
        Body::Assistant(Box::new(AssistantMessage {
            content,
            model,
            ..AssistantMessage::default()
        }))
    } else {
        Body::User(content)
    });
}
