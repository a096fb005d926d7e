//! Calls of tools and their answers.

use crate::Name;

/// A call of a tool or an answer to one, by the id of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pair {
    /// The entry makes the call.
    Call(Name),
    /// The entry answers it.
    Answer(Name),
}
