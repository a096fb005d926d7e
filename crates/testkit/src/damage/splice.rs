//! Finds positions inside a record's text without parsing it into values.

use std::ops::Range;

/// Returns the range of a top-level field's value in the text of an object; the last one, if the
/// key is duplicated.
pub fn field(line: &[u8], key: &str) -> Option<Range<usize>> {
    fields(line)
        .into_iter()
        .rev()
        .find(|(name, _)| line[name.clone()] == *key.as_bytes())
        .map(|(_, value)| value)
}

/// Returns the ranges of all top-level keys, without their quotes, and values.
pub(super) fn fields(line: &[u8]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut found = Vec::new();
    let Some(mut at) = line
        .iter()
        .position(|&byte| byte == b'{')
        .map(|open| open + 1)
    else {
        return found;
    };
    while let Some(open) = next(line, at, b'"') {
        let close = string_end(line, open);
        let Some(colon) = next(line, close, b':') else {
            break;
        };
        let start = skip_blanks(line, colon + 1);
        let end = value_end(line, start);
        found.push((open + 1..close - 1, start..end));
        at = skip_blanks(line, end);
        if line.get(at) != Some(&b',') {
            break;
        }
        at += 1;
    }
    found
}

fn next(line: &[u8], from: usize, wanted: u8) -> Option<usize> {
    let at = skip_blanks(line, from);
    (line.get(at) == Some(&wanted)).then_some(at)
}

fn skip_blanks(line: &[u8], from: usize) -> usize {
    let blanks = line
        .get(from..)
        .unwrap_or_default()
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    from + blanks
}

/// Returns the position after the closing quote of the string that opens at `open`.
pub(super) fn string_end(line: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while at < line.len() && line[at] != b'"' {
        at += if line[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(line.len())
}

fn value_end(line: &[u8], start: usize) -> usize {
    let mut depth = 0usize;
    let mut at = start;
    while at < line.len() {
        match line[at] {
            b'"' => {
                at = string_end(line, at);
                if depth == 0 {
                    return at;
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            b',' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

/// Returns a position inside a record where text can be inserted: the first message text, else the
/// first string value.
pub fn text_place(line: &[u8]) -> Option<usize> {
    for mark in ["\"text\":\"", "\"content\":\"", "\":\""] {
        if let Some(at) = find(line, mark.as_bytes(), 0) {
            return Some(at + mark.len());
        }
    }
    None
}

/// Finds bytes from a position on.
pub(super) fn find(line: &[u8], wanted: &[u8], from: usize) -> Option<usize> {
    line.get(from..)?
        .windows(wanted.len())
        .position(|window| window == wanted)
        .map(|at| at + from)
}

/// Returns the range of the first string that follows a mark, such as `"toolCallId":`, without its
/// quotes.
pub(super) fn string_after(line: &[u8], mark: &str) -> Option<Range<usize>> {
    let at = find(line, mark.as_bytes(), 0)? + mark.len();
    let open = next(line, at, b'"')?;
    Some(open + 1..string_end(line, open) - 1)
}

/// Returns where a record ends: before its newline.
pub(super) fn body_end(line: &[u8]) -> usize {
    line.iter()
        .rposition(|byte| !byte.is_ascii_whitespace())
        .map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_at_the_top_only_and_whatever_their_values() {
        let line = br#"{"a":"x\"}","b" : {"c":[1,{"id":"no"}]}, "n":null,"id":"yes","t":-1.5e3}"#;
        let text = |key: &str| String::from_utf8(line[field(line, key).unwrap()].to_vec()).unwrap();
        assert_eq!(text("a"), r#""x\"}""#);
        assert_eq!(text("b"), r#"{"c":[1,{"id":"no"}]}"#);
        assert_eq!(text("n"), "null");
        assert_eq!(text("id"), r#""yes""#);
        assert_eq!(text("t"), "-1.5e3");
        assert_eq!(field(line, "c"), None);
        assert_eq!(field(b"not json", "a"), None);
        assert_eq!(field(b"{}", "a"), None);
    }

    #[test]
    fn the_last_of_two_equal_keys_counts() {
        let line = br#"{"a":1,"a":2}"#;
        assert_eq!(&line[field(line, "a").unwrap()], b"2");
    }
}
