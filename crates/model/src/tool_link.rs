//! Calls of tools and their answers.

use crate::Symbol;

/// A call of a tool or an answer to one, by the id of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolLink {
    /// The entry makes the call.
    Call(Symbol),
    /// The entry answers it.
    Answer(Symbol),
}
