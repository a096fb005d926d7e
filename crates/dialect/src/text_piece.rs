//! Text pieces: the searchable text of a record, read without building a view.

use boswell_model::json::Str;

/// A piece of text of a record, in the order in which a view shows it.
#[derive(Debug, Clone, Copy)]
pub enum TextPiece<'a> {
    /// Text of a message.
    Text(Str<'a>),
    /// Reasoning of the model.
    Thinking(Str<'a>),
    /// A tool call: the tool's name, if the record states one, and its arguments as JSON.
    Call(Option<Str<'a>>, &'a [u8]),
    /// A tool result.
    Result(Str<'a>),
    /// A part that the dialect does not know, as JSON.
    Other(&'a [u8]),
}
