//! The readable view of an entry: text, reasoning, tool calls, media.

use crate::{Part, ToolInput, Usage};

/// An entry prepared for display.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct View {
    /// The parts of the message in order.
    pub parts: Vec<Part>,
    /// The model that wrote the message.
    pub model: Option<String>,
    /// Tokens and cost of the message.
    pub usage: Option<Usage>,
    /// The stop reason, in the agent's own word.
    pub stop: Option<String>,
    /// Name of the tool, for results that state it.
    pub tool: Option<String>,
    /// Whether the agent hides the entry from the user.
    pub hidden: bool,
    /// A one-line description, for entries that are not messages ("model is now …").
    pub remark: Option<String>,
}

impl View {
    /// Creates a view of these parts.
    pub fn of(parts: impl IntoIterator<Item = Part>) -> Self {
        View {
            parts: parts.into_iter().collect(),
            ..View::default()
        }
    }

    /// Creates a view of one text part.
    pub fn text_only(text: impl Into<String>) -> Self {
        View::of([Part::Text(text.into())])
    }

    /// Creates a view of one descriptive line.
    pub fn remark(line: impl Into<String>) -> Self {
        View {
            remark: Some(line.into()),
            ..View::default()
        }
    }

    /// Returns the text of the message: its text parts and tool results.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for part in &self.parts {
            let (Part::Text(text) | Part::Result { text, .. }) = part else {
                continue;
            };
            if !out.is_empty() && !text.is_empty() {
                out.push('\n');
            }
            out.push_str(text);
        }
        out
    }

    /// Iterates over the tool calls: id, name, arguments.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &str, &ToolInput)> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call { id, name, input } => Some((id.as_str(), name.as_str(), input)),
            _ => None,
        })
    }

    /// Iterates over the ids of the tool calls that the entry answers.
    pub fn results(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Result { call, .. } => Some(call.as_str()),
            _ => None,
        })
    }
}
