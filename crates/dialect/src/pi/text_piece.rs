//! The searchable text of a message, found without building a view.
//!
//! Gives the same text as the parts of a view, without copies of it and of signatures. What a view
//! puts together or remarks on is left to the view.

use boswell_model::json::{Object, Raw, RawKind, Str};

use super::block::CUT_NOTICE;
use super::js_values::pick;
use crate::TextPiece;

/// Returns the text of a prompt, an assistant message or a result; `None` if a view is needed.
pub(super) fn text_pieces<'a>(entry: &Object<'a>) -> Option<Vec<TextPiece<'a>>> {
    if !entry.get("type")?.is("message") {
        return None;
    }
    let keys = ["role", "content", "errorMessage", "stopReason", "prunedAt"];
    let [role, content, error, stop, pruned] = pick(entry.get("message")?, keys);
    let (role, content) = (role?, content?);
    let stopped = |word: &str| stop.is_some_and(|stop| stop.is(word));
    let is_remarked = error.is_some()
        || pruned.is_some()
        || ["error", "aborted", "length"].into_iter().any(stopped);
    if is_remarked {
        return None;
    }
    let pieces = if role.is("toolResult") {
        vec![result(content)?]
    } else if role.is("user") || role.is("assistant") {
        parts(content)?
    } else {
        return None;
    };
    (!pieces.is_empty() && !pieces.iter().any(is_cut)).then_some(pieces)
}

fn parts(content: Raw<'_>) -> Option<Vec<TextPiece<'_>>> {
    if let Some(text) = content.string() {
        return Some(vec![TextPiece::Text(text)]);
    }
    let mut pieces = Vec::new();
    for part in content.items() {
        pieces.extend(piece(part)?);
    }
    Some(pieces)
}

/// The text of a result that contains one text, and nothing else but images.
fn result(content: Raw<'_>) -> Option<TextPiece<'_>> {
    match parts(content)?.as_slice() {
        [TextPiece::Text(text)] => Some(TextPiece::Result(*text)),
        _ => None,
    }
}

/// Returns the text of a part; `Some(None)` for images, and `None` for parts that need a view.
fn piece(part: Raw<'_>) -> Option<Option<TextPiece<'_>>> {
    let keys = ["type", "text", "thinking", "name", "arguments", "data"];
    let [word, text, thinking, name, arguments, data] = pick(part, keys);
    let word = word?.string()?;
    Some(if word.is("text") {
        Some(TextPiece::Text(string(text)))
    } else if word.is("thinking") {
        Some(TextPiece::Thinking(string(thinking)))
    } else if word.is("toolCall") {
        // Arguments of any other kind are searched as they are shown.
        let arguments = arguments.filter(|it| it.kind() == RawKind::Object)?;
        let name = name.and_then(|name| name.string());
        Some(TextPiece::Call(name, arguments.bytes()))
    } else if word.is("image") && data.is_some() {
        None
    } else {
        Some(TextPiece::Other(part.bytes()))
    })
}

fn string(value: Option<Raw<'_>>) -> Str<'_> {
    value
        .and_then(|value| value.string())
        .unwrap_or(Str::trusted(b"\"\""))
}

fn is_cut(piece: &TextPiece<'_>) -> bool {
    let (TextPiece::Text(text) | TextPiece::Thinking(text) | TextPiece::Result(text)) = piece
    else {
        return false;
    };
    text.escaped().ends_with(CUT_NOTICE.as_bytes())
}

#[cfg(test)]
mod tests {
    use boswell_testkit::make::pi::{PiFlavour, PiLayout, PiShape, file};

    use crate::pi::Pi;
    use crate::text_piece::same_as_view::check;

    #[test]
    fn what_is_said_is_what_is_shown() {
        let mut text_pieces = 0;
        for (seed, shape) in (0..).zip(PiShape::ALL) {
            for flavour in PiFlavour::ALL {
                let made = file(*shape, *flavour, PiLayout::of("/home/dev/proj"), seed);
                let lines = made.bytes().split(|byte| *byte == b'\n');
                text_pieces += lines.filter_map(|line| check(&Pi::PI, line)).sum::<usize>();
            }
        }
        assert!(text_pieces > 100, "{text_pieces}");
    }

    #[test]
    fn odd_messages_are_said_as_shown_or_left_to_the_view() {
        let cut = "[Session persistence truncated large content]";
        for (message, known) in [
            (r#""role":"user","content":"plain""#.to_owned(), true),
            (r#""role":"user","content":[]"#.to_owned(), false),
            (r#""role":"user","content":null"#.to_owned(), false),
            (r#""role":"user","content":["bare"]"#.to_owned(), false),
            (format!(r#""role":"user","content":"x {cut}""#), false),
            (r#""role":"custom","content":"x""#.to_owned(), false),
            (
                r#""role":"user","content":[{"type":"text","text":7},{"t\u0079pe":"text","text":"a","text":"b"}]"#.to_owned(),
                true,
            ),
            (
                r#""role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"s"},{"type":"toolCall","id":"c","name":"n","arguments":{"a":"b"}},{"type":"new","x":"y"}]"#.to_owned(),
                true,
            ),
            (
                r#""role":"assistant","content":[{"type":"toolCall","id":"c","name":"n","arguments":"a"}]"#.to_owned(),
                false,
            ),
            (
                r#""role":"assistant","content":"x","stopReason":"stop""#.to_owned(),
                true,
            ),
            (
                r#""role":"assistant","content":"x","stopReason":"length""#.to_owned(),
                false,
            ),
            (
                r#""role":"assistant","content":"x","errorMessage":"overloaded""#.to_owned(),
                false,
            ),
            (
                r#""role":"toolResult","content":[{"type":"text","text":"a"},{"type":"image","data":"AA=="}]"#.to_owned(),
                true,
            ),
            (
                r#""role":"toolResult","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#.to_owned(),
                false,
            ),
            (
                r#""role":"toolResult","content":"a","prunedAt":1"#.to_owned(),
                false,
            ),
        ] {
            let line = format!(r#"{{"type":"message","id":"1","message":{{{message}}}}}"#);
            let found = check(&Pi::PI, line.as_bytes()).is_some();
            assert_eq!(found, known, "{message}");
        }
    }
}
