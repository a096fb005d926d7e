//! Finds secrets in a file so that they can be replaced in place: valid JSON stays valid, and all
//! other bytes are unchanged.
//!
//! Text is searched as it is. JSON strings are also searched in decoded form, because escapes hide
//! their characters, and together with the name of their member; a match is mapped back to its
//! escaped position. JSON inside of strings is searched in the same way.

use std::ops::Range;

use boswell_model::json::{Raw, RawKind, Str, value_end};

use crate::Secrets;

/// Prefix of the text that replaces a secret.
const MARK: &str = "[removed: ";
/// Maximum nesting of JSON inside of strings that is searched.
const DEEPEST: usize = 3;
/// Number of bytes that are tested to recognise a binary file.
const SAMPLE: usize = 8 << 10;

/// A secret in a file, to be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// Byte range of the secret in the file.
    pub range: Range<usize>,
    /// Kind of the secret, such as `github-token`.
    pub kind: &'static str,
    /// The secret itself, decoded.
    pub value: Vec<u8>,
}

impl Removal {
    /// Returns the text that replaces the secret.
    pub fn replacement(&self) -> String {
        format!("{MARK}{}]", self.kind)
    }
}

/// Returns whether `found` is the replacement of a secret that was removed earlier.
pub fn is_removed(found: &[u8]) -> bool {
    let text = found.trim_ascii_start();
    let text = text
        .strip_prefix(b"\"")
        .or_else(|| text.strip_prefix(b"'"))
        .unwrap_or(text);
    // The finder may match only a part of the replacement.
    text.starts_with(MARK.as_bytes()) || text.starts_with(MARK.trim_end().as_bytes())
}

/// Returns whether a file is text; other files cannot be changed in place.
pub fn is_text(bytes: &[u8]) -> bool {
    !bytes
        .get(..bytes.len().min(SAMPLE))
        .unwrap_or_default()
        .contains(&0)
}

/// Returns every secret of a file, in order and without overlaps.
pub fn removals(secrets: &Secrets, bytes: &[u8]) -> Vec<Removal> {
    if !is_text(bytes) {
        return Vec::new();
    }
    let mut found = Vec::new();
    if is_json(bytes.trim_ascii()) {
        in_json(secrets, bytes, 0, DEEPEST, &mut found);
    } else {
        in_lines(secrets, bytes, &mut found);
    }
    found.sort_by_key(|it| (it.range.start, std::cmp::Reverse(it.range.end)));
    let mut end = 0;
    found.retain(|it| {
        let apart = it.range.start >= end && !it.range.is_empty();
        end = if apart { it.range.end } else { end };
        apart
    });
    found
}

/// Returns the file with every secret replaced.
pub fn replaced(bytes: &[u8], removals: &[Removal]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for removal in removals {
        out.extend_from_slice(bytes.get(at..removal.range.start).unwrap_or_default());
        out.extend_from_slice(removal.replacement().as_bytes());
        at = removal.range.end;
    }
    out.extend_from_slice(bytes.get(at..).unwrap_or_default());
    out
}

fn is_json(bytes: &[u8]) -> bool {
    Raw::parse(bytes).is_ok_and(|raw| matches!(raw.kind(), RawKind::Object | RawKind::Array))
}

/// Searches lines of JSON one by one, and other lines together, because a key (PEM) can span
/// several lines.
fn in_lines(secrets: &Secrets, bytes: &[u8], out: &mut Vec<Removal>) {
    let mut text = 0..0;
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let place = at..at + line.len();
        at = place.end;
        if is_json(line.trim_ascii()) {
            in_text(
                secrets,
                bytes,
                std::mem::replace(&mut text, place.end..place.end),
                out,
            );
            in_json(secrets, line, place.start, DEEPEST, out);
        } else {
            text.end = place.end;
        }
    }
    in_text(secrets, bytes, text, out);
}

fn in_text(secrets: &Secrets, bytes: &[u8], place: Range<usize>, out: &mut Vec<Removal>) {
    let text = bytes.get(place.clone()).unwrap_or_default();
    for secret in secrets.find(text) {
        let value = text.get(secret.range.clone()).unwrap_or_default();
        if !is_removed(value) && !is_inside_mark(text, &secret.range) {
            let range = place.start + secret.range.start..place.start + secret.range.end;
            out.push(Removal {
                range,
                kind: secret.kind,
                value: value.to_vec(),
            });
        }
    }
}

/// Returns whether a range is inside of the replacement of a secret.
fn is_inside_mark(text: &[u8], range: &Range<usize>) -> bool {
    let before = text.get(..range.start).unwrap_or_default();
    let open = memchr::memmem::rfind(before, MARK.as_bytes());
    open.is_some_and(|open| !before.get(open..).unwrap_or_default().contains(&b']'))
}

/// A JSON string, with the name of its member if it is a value.
struct Token {
    start: usize,
    end: usize,
    key: Option<Range<usize>>,
}

/// Returns every string of a JSON text, keys too.
fn tokens(bytes: &[u8]) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    let (mut at, mut key) = (0, None);
    while let Some(byte) = bytes.get(at) {
        if *byte != b'"' {
            // An item of an array has no member name, and neither has a value after a closed
            // object.
            key = if matches!(byte, b',' | b'{' | b'[' | b'}' | b']') {
                None
            } else {
                key
            };
            at += 1;
            continue;
        }
        let Ok(end) = value_end(bytes, at) else { break };
        let is_key = bytes
            .get(end..)
            .unwrap_or_default()
            .trim_ascii_start()
            .first()
            == Some(&b':');
        found.push(Token {
            start: at,
            end,
            key: if is_key { None } else { key.clone() },
        });
        if is_key {
            key = Some(at + 1..end.saturating_sub(1));
        }
        at = end;
    }
    found
}

fn in_json(secrets: &Secrets, bytes: &[u8], offset: usize, deep: usize, out: &mut Vec<Removal>) {
    let tokens = tokens(bytes);
    // First in escaped form: names of members and their values are next to each other there.
    for secret in secrets.find(bytes) {
        for token in tokens
            .iter()
            .filter(|it| it.start < secret.range.end && it.end > secret.range.start)
        {
            let string = Str::trusted(bytes.get(token.start..token.end).unwrap_or_default());
            let inner = token.start + 1;
            let part =
                secret.range.start.max(inner)..secret.range.end.min(token.end.saturating_sub(1));
            if part.is_empty() {
                continue;
            }
            let whole = string.whole_escapes(part.start - inner..part.end - inner);
            push(
                bytes,
                offset,
                inner + whole.start..inner + whole.end,
                secret.kind,
                None,
                out,
            );
        }
    }
    for token in &tokens {
        in_string(secrets, bytes, offset, token, deep, out);
    }
}

/// Searches a decoded string together with the name of its member.
fn in_string(
    secrets: &Secrets,
    bytes: &[u8],
    offset: usize,
    token: &Token,
    deep: usize,
    out: &mut Vec<Removal>,
) {
    let string = Str::trusted(bytes.get(token.start..token.end).unwrap_or_default());
    if string.is_plain() {
        return;
    }
    let text = string.to_wtf8();
    let name = token
        .key
        .clone()
        .and_then(|key| bytes.get(key))
        .unwrap_or_default();
    let lead = if name.is_empty() {
        Vec::new()
    } else {
        [name, b"\": \""].concat()
    };
    let mut place = |range: Range<usize>, kind: &'static str| {
        let value = text.get(range.clone()).map(<[u8]>::to_vec);
        let raw = string.escaped_range(range);
        let inner = token.start + 1;
        push(
            bytes,
            offset,
            inner + raw.start..inner + raw.end,
            kind,
            value,
            out,
        );
    };
    for secret in secrets.find(&[&lead, text.as_ref()].concat()) {
        if secret.range.end > lead.len() {
            place(
                secret.range.start.saturating_sub(lead.len())..secret.range.end - lead.len(),
                secret.kind,
            );
        }
    }
    if deep > 0 && is_json(text.trim_ascii()) {
        let mut inside = Vec::new();
        in_json(secrets, &text, 0, deep - 1, &mut inside);
        inside.into_iter().for_each(|it| place(it.range, it.kind));
    }
}

fn push(
    bytes: &[u8],
    offset: usize,
    range: Range<usize>,
    kind: &'static str,
    value: Option<Vec<u8>>,
    out: &mut Vec<Removal>,
) {
    let raw = bytes.get(range.clone()).unwrap_or_default();
    if raw.is_empty() || is_removed(raw) || is_inside_mark(bytes, &range) {
        return;
    }
    let value = value.unwrap_or_else(|| raw.to_vec());
    out.push(Removal {
        range: offset + range.start..offset + range.end,
        kind,
        value,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R";

    fn scrubbed(text: &str) -> String {
        let secrets = Secrets::new().unwrap();
        let new = replaced(text.as_bytes(), &removals(&secrets, text.as_bytes()));
        assert_eq!(
            removals(&secrets, &new),
            [],
            "a second time finds nothing in {}",
            String::from_utf8_lossy(&new)
        );
        String::from_utf8(new).unwrap()
    }

    #[test]
    fn a_secret_is_replaced_in_text_json_and_lines_and_all_other_bytes_stay() {
        for (text, want) in [
            ("see {} there\n", "see [removed: github-token] there\n"),
            (
                "{\"a\": 1.0, \"t\":\"x {}\" }\n{\"b\":2}\n",
                "{\"a\": 1.0, \"t\":\"x [removed: github-token]\" }\n{\"b\":2}\n",
            ),
            (
                "{\n \"t\": [\"{}\"]\n}",
                "{\n \"t\": [\"[removed: github-token]\"]\n}",
            ),
            (
                "{\"torn\": \"{}\n{\"t\":\"会{}。\"}\n",
                "{\"torn\": \"[removed: github-token]\n{\"t\":\"会[removed: github-token]。\"}\n",
            ),
            ("{\"{}\":1}\n", "{\"[removed: github-token]\":1}\n"),
        ] {
            assert_eq!(scrubbed(&text.replace("{}", KEY)), want);
        }
        assert_eq!(scrubbed("nothing here"), "nothing here");
    }

    #[test]
    fn an_escaped_secret_is_replaced_where_it_stands() {
        let escaped: String = KEY
            .chars()
            .map(|c| format!("\\u{:04x}", c as u32))
            .collect();
        let half = KEY.replace("ghp_", "\\u0067h\\u0070_");
        for secret in [escaped, half] {
            let line = format!("{{\"t\":\"a\\n{secret}\\\"b\",\"u\":\"\\ud83d\"}}\n");
            assert_eq!(
                scrubbed(&line),
                "{\"t\":\"a\\n[removed: github-token]\\\"b\",\"u\":\"\\ud83d\"}\n"
            );
        }
    }

    #[test]
    fn json_inside_of_strings_is_looked_into() {
        let inner = format!("{{\"env\":{{\"TOKEN\":\"\\u0067{}\"}}}}", &KEY[1..]);
        let mut quoted = Vec::new();
        boswell_model::json::write_string(inner.as_bytes(), &mut quoted);
        let text = scrubbed(&format!(
            "{{\"input\":{}}}\n",
            String::from_utf8(quoted).unwrap()
        ));
        assert!(
            text.contains("[removed: github-token]") && !text.contains("0a1B2c3D"),
            "{text}"
        );
        assert!(Raw::parse(text.trim().as_bytes()).is_ok(), "{text}");
    }

    #[test]
    fn the_value_of_a_telling_name_is_replaced_and_its_name_stays() {
        let text = scrubbed("{\"client_secret\":\"q7Zt2LmX9vKpR4wYb8Nc\",\"id\":\"x\"}\n");
        assert_eq!(
            text,
            "{\"client_secret\":\"[removed: assigned]\",\"id\":\"x\"}\n"
        );
        let escaped = scrubbed("{\"client_secret\":\"q7Zt2LmX9vKpR4wYb\\u0038Nc\"}\n");
        assert_eq!(escaped, "{\"client_secret\":\"[removed: assigned]\"}\n");
    }

    #[test]
    fn a_file_that_is_not_text_is_left_alone() {
        let bytes = [b"\x89PNG\0\0".as_slice(), KEY.as_bytes()].concat();
        assert_eq!(removals(&Secrets::new().unwrap(), &bytes), []);
    }
}
