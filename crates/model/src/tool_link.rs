//! Links between tool calls and their results.

use crate::Symbol;

/// A tool call or a tool result, by the id of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolLink {
    /// The entry contains the call.
    Call(Symbol),
    /// The entry contains the result.
    Answer(Symbol),
}
