//! The searchable text of a message, found in one pass over its content.
//!
//! Gives the same text as the parts of a view. Where a view combines texts or takes them from
//! another place (several texts in one result, output that is stored outside the message), the
//! result here is `None` and the view is built.

use boswell_model::json::{Object, Raw, RawKind, Str};

use crate::TextPiece;

/// Returns the text of a prompt, an assistant message or results; `None` if a view is needed.
pub(super) fn text_pieces<'a>(object: &Object<'a>) -> Option<Vec<TextPiece<'a>>> {
    let word = object.get("type")?;
    if !(word.is("user") || word.is("assistant")) {
        return None;
    }
    let message = object.get("message")?;
    let content = if message.kind() == RawKind::String {
        Some(message)
    } else {
        message.get("content")
    }?;
    if let Some(text) = content.string() {
        return Some(vec![TextPiece::Text(text)]);
    }
    let mut out = Vec::new();
    for block in content.items() {
        out.extend(one(block)?);
    }
    (!out.is_empty()).then_some(out)
}

/// Returns the text of a block; `Some(None)` for images, and `None` for blocks that need a view.
fn one(block: Raw<'_>) -> Option<Option<TextPiece<'_>>> {
    if let Some(text) = block.string() {
        return Some(Some(TextPiece::Text(text)));
    }
    let [
        mut word,
        mut text,
        mut thinking,
        mut name,
        mut input,
        mut content,
    ] = [None; 6];
    for (key, value) in block.members() {
        let place = match key.escaped() {
            b"type" => &mut word,
            b"text" => &mut text,
            b"thinking" => &mut thinking,
            b"name" => &mut name,
            b"input" => &mut input,
            b"content" => &mut content,
            // A key may be spelt with escapes.
            other if other.contains(&b'\\') => return None,
            _ => continue,
        };
        *place = Some(value);
    }
    let word = word.and_then(|word: Raw<'_>| word.string())?;
    if word.escaped().contains(&b'\\') {
        return None;
    }
    Some(match word.escaped() {
        b"text" => Some(TextPiece::Text(string(text))),
        b"thinking" => Some(TextPiece::Thinking(string(thinking))),
        b"tool_use" | b"server_tool_use" => Some(TextPiece::Call(
            name.and_then(|name| name.string()),
            input.map_or(b"", |input| input.bytes()),
        )),
        b"tool_result" => Some(TextPiece::Result(answer(content?)?)),
        b"image" | b"document" => None,
        _ => Some(TextPiece::Other(block.bytes())),
    })
}

fn string(value: Option<Raw<'_>>) -> Str<'_> {
    value
        .and_then(|value| value.string())
        .unwrap_or(Str::trusted(b"\"\""))
}

/// Returns the text of a tool result if it has exactly one.
fn answer(content: Raw<'_>) -> Option<Str<'_>> {
    let text = match content.string() {
        Some(text) => text,
        None => {
            let mut texts = content
                .items()
                .filter_map(|block| block.get("text").and_then(|text| text.string()));
            let first = texts.next()?;
            if texts.next().is_some() {
                return None;
            }
            first
        }
    };
    // For an empty result, the view shows the output recorded on the line instead.
    (!text.escaped().is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use boswell_testkit::make::claude;

    use crate::claude::Claude;
    use crate::text_piece::same_as_view;

    fn check(line: &[u8]) -> Option<usize> {
        same_as_view::check(&Claude, line)
    }

    #[test]
    fn what_is_said_is_what_is_shown() {
        let mut text_pieces = 0;
        for (seed, shape) in (0..).zip(claude::ClaudeShape::ALL) {
            let made = claude::file(*shape, "/home/dev/proj", seed);
            text_pieces += made
                .bytes()
                .split(|byte| *byte == b'\n')
                .filter_map(check)
                .sum::<usize>();
        }
        assert!(text_pieces > 100, "{text_pieces}");
    }

    #[test]
    fn odd_messages_are_said_as_shown_or_left_to_the_view() {
        for (content, known) in [
            (r#""plain""#, true),
            (r#"[]"#, false),
            (r#"["bare",{"type":"text","text":"x","text":"last"}]"#, true),
            (r#"[{"type":"text"}]"#, true),
            (r#"[{"type":"text","text":7}]"#, true),
            (r#"[{"text":"no type"}]"#, false),
            (r#"[{"t\u0079pe":"text","text":"x"}]"#, false),
            (
                r#"[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]"#,
                true,
            ),
            (r#"[{"type":"tool_use","id":"t"}]"#, true),
            (
                r#"[{"type":"tool_result","content":"out"},{"type":"image","source":{"data":"AA=="}}]"#,
                true,
            ),
            (r#"[{"type":"tool_result","content":""}]"#, false),
            (r#"[{"type":"tool_result"}]"#, false),
            (
                r#"[{"type":"tool_result","content":[{"type":"text","text":"one"},{"type":"image"}]}]"#,
                true,
            ),
            (
                r#"[{"type":"tool_result","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]"#,
                false,
            ),
            (r#"[{"type":"redacted_thinking","data":"xyz"}]"#, true),
        ] {
            let line =
                format!(r#"{{"type":"user","message":{{"role":"user","content":{content}}}}}"#);
            assert_eq!(check(line.as_bytes()).is_some(), known, "{content}");
        }
    }
}
