//! Changes the white space of JSON to that of the app, and keeps every token.
//!
//! The app writes its index with two spaces of indentation and its rows without any. Printing
//! through values would change numbers, duplicate keys and lone surrogates of rows that should not
//! change; here only the space between tokens changes.

/// Returns a valid JSON text with the white space of `JSON.stringify(value, null, 2)`.
pub(crate) fn pretty(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() + json.len() / 4);
    let mut depth = 0usize;
    let mut tokens = Tokens { json, at: 0 }.peekable();
    while let Some(token) = tokens.next() {
        match token {
            b"{" | b"[" => {
                out.extend_from_slice(token);
                if matches!(tokens.peek(), Some(&b"}" | &b"]")) {
                    out.extend(tokens.next().into_iter().flatten());
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            b"}" | b"]" => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.extend_from_slice(token);
            }
            b"," => {
                out.push(b',');
                line(&mut out, depth);
            }
            b":" => out.extend_from_slice(b": "),
            _ => out.extend_from_slice(token),
        }
    }
    out
}

/// Returns a valid JSON text without white space between its tokens, thus on one line.
pub(crate) fn compact(json: &[u8]) -> Vec<u8> {
    Tokens { json, at: 0 }.collect::<Vec<_>>().concat()
}

fn line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.extend(std::iter::repeat_n(b"  ", depth).flatten());
}

/// Iterates over the tokens in order; in a text that is not JSON, over everything that looks like a
/// token.
struct Tokens<'a> {
    json: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.json.get(self.at..)?;
        let skipped = rest.iter().position(|b| !b.is_ascii_whitespace())?;
        let rest = rest.get(skipped..)?;
        let len = match rest.first()? {
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            b'"' => string(rest),
            _ => rest
                .iter()
                .position(|b| b.is_ascii_whitespace() || b"{}[],:\"".contains(b))
                .unwrap_or(rest.len()),
        };
        self.at += skipped + len;
        rest.get(..len)
    }
}

fn string(rest: &[u8]) -> usize {
    let mut escaped = false;
    for (at, byte) in rest.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_space_between_tokens_moves() {
        let odd =
            br#"[ {"a":1.50,"a":-0,"s":"x\"} , : \ud800","e":{},"l":[ ],"n":[1,[true]]} ,null]"#;
        let text = String::from_utf8(pretty(odd)).unwrap();
        let want = "[\n  {\n    \"a\": 1.50,\n    \"a\": -0,\n    \"s\": \"x\\\"} , : \\ud800\",\n    \"e\": {},\n    \"l\": [],\n    \"n\": [\n      1,\n      [\n        true\n      ]\n    ]\n  },\n  null\n]";
        assert_eq!(text, want);
        assert_eq!(
            pretty(text.as_bytes()),
            text.as_bytes(),
            "what is spaced so stays"
        );
        assert_eq!(
            compact(text.as_bytes()),
            br#"[{"a":1.50,"a":-0,"s":"x\"} , : \ud800","e":{},"l":[],"n":[1,[true]]},null]"#
        );
    }

    #[test]
    fn an_empty_array_and_torn_text_come_out_without_a_panic() {
        assert_eq!(pretty(b" [ ] "), b"[]");
        for torn in ["", "{\"a", "]]}}", "\"\\"] {
            pretty(torn.as_bytes());
            compact(torn.as_bytes());
        }
    }
}
