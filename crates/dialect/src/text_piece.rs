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

/// Compares the text pieces of records with their views, for the tests of dialects.
#[cfg(test)]
pub(crate) mod same_as_view {
    use boswell_model::Part;
    use boswell_model::json::{Object, scan_object};

    use super::{Str, TextPiece};
    use crate::Dialect;

    /// Checks a line, and returns how many texts its pieces have; `None` if it has no pieces.
    pub(crate) fn check(dialect: &dyn Dialect, line: &[u8]) -> Option<usize> {
        let mut members = Vec::new();
        let len = scan_object(line, &mut members).ok()?;
        let object = Object::new(line.get(..len)?, &members);
        let pieces = said(dialect.powers().refine.text_pieces(&object)?);
        let shown = shown(dialect.view(&object).parts);
        assert_eq!(pieces, shown, "{}", String::from_utf8_lossy(line));
        Some(pieces.len())
    }

    fn shown(parts: Vec<Part>) -> Vec<(char, String)> {
        let one = |part: Part| match part {
            Part::Text(text) => vec![('t', text)],
            Part::Thinking { text, .. } => vec![('h', text)],
            Part::Call { name, input, .. } => vec![('n', name), ('i', input.to_string())],
            Part::Result { text, .. } => vec![('r', text)],
            Part::Other { json, .. } => vec![('o', json)],
            _ => vec![],
        };
        parts.into_iter().flat_map(one).collect()
    }

    fn said(pieces: Vec<TextPiece<'_>>) -> Vec<(char, String)> {
        let text = |token: Str<'_>| token.to_text().into_owned();
        let json = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let one = |piece: TextPiece<'_>| match piece {
            TextPiece::Text(token) => vec![('t', text(token))],
            TextPiece::Thinking(token) => vec![('h', text(token))],
            TextPiece::Call(name, input) => vec![
                ('n', name.map(text).unwrap_or_default()),
                ('i', json(input)),
            ],
            TextPiece::Result(token) => vec![('r', text(token))],
            TextPiece::Other(bytes) => vec![('o', json(bytes))],
        };
        pieces.into_iter().flat_map(one).collect()
    }
}
