//! A message of a context in the same types for every dialect: role and parts.

use boswell_model::{Part, ToolInput};

/// A message of a conversation: its role, and its parts in order.
///
/// The parts have the same type as in a [`Draft`](crate::Draft), so that an appended message is
/// read back unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatMessage {
    /// The author of the message.
    pub role: Role,
    /// The parts in order.
    pub parts: Vec<Part>,
}

/// The author of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// Instructions of the agent or its developer.
    System,
    /// The user, or the agent in the user's place, for example with the summary of a compaction.
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
    /// Creates a message.
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        ChatMessage { role, parts }
    }

    /// Returns the text parts, concatenated.
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
