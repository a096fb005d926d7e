//! A message as a model would be sent it, in the same words for every dialect.

use boswell_model::{Part, ToolInput};

/// A message of a conversation: who says it, and its parts in order.
///
/// The parts are those that a [`Draft`](crate::Draft) is made of, so that what was appended is read
/// back as it was given.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatMessage {
    /// Who says it.
    pub role: Role,
    /// Its parts.
    pub parts: Vec<Part>,
}

/// Who says a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// The agent or its developer: instructions.
    System,
    /// The user, or what the agent says in the user's place, such as the summary of a compaction.
    User,
    /// The model.
    Assistant,
    /// A tool that the model called.
    Tool {
        /// Id of the call.
        call: String,
        /// Name of the tool; empty if neither the record nor an earlier call states it.
        tool: String,
        /// Whether the call failed.
        is_error: bool,
    },
}

impl ChatMessage {
    /// A message of these parts.
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        ChatMessage { role, parts }
    }

    /// Its text parts, one after the other.
    pub fn text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The calls of tools that it contains: id, name, arguments.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &str, &ToolInput)> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call { id, name, input } => Some((id.as_str(), name.as_str(), input)),
            _ => None,
        })
    }
}
