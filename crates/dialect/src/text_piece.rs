//! The text of a record as it stands in it: what a search reads, without a view being built.

use boswell_model::json::Str;

/// A piece of what a record says, in the order in which a view shows it.
#[derive(Debug, Clone, Copy)]
pub enum TextPiece<'a> {
    /// What was said.
    Text(Str<'a>),
    /// What was thought.
    Thinking(Str<'a>),
    /// A call: the tool's name, if the record states one, and its arguments as JSON.
    Call(Option<Str<'a>>, &'a [u8]),
    /// What a tool answered.
    Result(Str<'a>),
    /// Something that the dialect has no words for, as JSON.
    Other(&'a [u8]),
}
