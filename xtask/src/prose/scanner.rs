//! Finds the line comments of a Rust file. `//` inside a string, a character or a block comment
//! does not count.

use std::ops::Range;

/// A comment from its slashes to the end of its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Comment {
    pub(super) at: Range<usize>,
    /// Whether code precedes it on its line.
    pub(super) trailing: bool,
}

pub(super) fn comments(code: &str) -> Vec<Comment> {
    let bytes = code.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1);
        at = match byte {
            b'/' if next == Some(&b'/') => {
                let end = code[at..]
                    .find('\n')
                    .map_or(code.len(), |length| at + length);
                let line = code[..at].rfind('\n').map_or(0, |newline| newline + 1);
                found.push(Comment {
                    at: at..end,
                    trailing: !code[line..at].trim().is_empty(),
                });
                end
            }
            b'/' if next == Some(&b'*') => block_comment(bytes, at),
            b'"' => string(bytes, at),
            b'\'' => quote(code, at),
            _ if is_word(byte) => word(bytes, at),
            _ => at + 1,
        };
    }
    found
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// Returns the end of a block comment that starts here; they nest.
fn block_comment(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while at < bytes.len() {
        match bytes.get(at..at + 2) {
            Some(b"/*") => {
                depth += 1;
                at += 2;
            }
            Some(b"*/") => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    break;
                }
            }
            _ => at += 1,
        }
    }
    at
}

/// Returns the end of a string whose opening quotation mark is here.
fn string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the end of a character, or of the quote that begins a lifetime.
fn quote(code: &str, start: usize) -> usize {
    let mut characters = code[start + 1..].char_indices();
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), Some((at, escaped))) => {
            let rest = start + 1 + at + escaped.len_utf8();
            code[rest..]
                .find('\'')
                .map_or(code.len(), |length| rest + length + 1)
        }
        (Some(_), Some((at, '\''))) => start + 1 + at + 1,
        _ => start + 1,
    }
}

/// Returns the end of an identifier, keyword or number, or of the raw string whose prefix it is.
fn word(bytes: &[u8], start: usize) -> usize {
    let length = bytes[start..]
        .iter()
        .take_while(|byte| is_word(**byte))
        .count();
    let end = start + length;
    if !matches!(&bytes[start..end], b"r" | b"br" | b"cr") {
        return end;
    }
    let hashes = bytes[end..]
        .iter()
        .take_while(|byte| **byte == b'#')
        .count();
    if bytes.get(end + hashes) != Some(&b'"') {
        return end;
    }
    let mut close = vec![b'"'];
    close.resize(hashes + 1, b'#');
    let body = end + hashes + 1;
    let found = bytes[body..]
        .windows(close.len())
        .position(|part| part == close);
    found.map_or(bytes.len(), |length| body + length + close.len())
}

#[cfg(test)]
mod tests {
    use proc_macro2::{TokenStream, TokenTree};

    use super::*;
    use crate::sources;

    fn texts(code: &str) -> Vec<&str> {
        comments(code)
            .into_iter()
            .map(|comment| &code[comment.at])
            .collect()
    }

    #[test]
    fn comments_are_found_before_and_behind_code() {
        let code = "//! a\nlet b = 1; // c\n  /// d\n";
        assert_eq!(texts(code), ["//! a", "// c", "/// d"]);
        let trailing: Vec<bool> = comments(code)
            .into_iter()
            .map(|comment| comment.trailing)
            .collect();
        assert_eq!(trailing, [false, true, false]);
    }

    #[test]
    fn slashes_in_strings_characters_and_block_comments_are_not_comments() {
        for code in [
            r#""// no""#,
            r#""\"// no""#,
            r#""\\" "// no""#,
            "\"a\n// no\n\"",
            r##"r#"" // no"#"##,
            r##"br#"// no"#"##,
            r#"b"// no""#,
            r#"c"// no""#,
            "/* // no /* */ // no */",
            r#"'"' "// no" '\"' "// no""#,
            r"'\'' '\u{2f}' b'/' '/'",
            "'語' \"// no\"",
        ] {
            assert_eq!(texts(code), Vec::<&str>::new(), "{code}");
        }
    }

    #[test]
    fn lifetimes_raw_identifiers_and_closed_strings_hide_nothing() {
        for code in [
            "fn a<'a>(b: &'a str) {} // yes",
            "r#type // yes",
            r##"r#"x"# // yes"##,
            r#"'"' // yes"#,
            "/* /* */ */ // yes",
            r#""\\" // yes"#,
            "'static // yes",
            "bar\"x\" // yes",
        ] {
            assert_eq!(texts(code), ["// yes"], "{code}");
        }
    }

    /// Collects tokens without documentation, which the compiler sees as attributes.
    fn tokens(stream: TokenStream, into: &mut String) {
        let all: Vec<TokenTree> = stream.into_iter().collect();
        let mut at = 0;
        while at < all.len() {
            let is = |offset: usize, char| matches!(all.get(at + offset), Some(TokenTree::Punct(punct)) if punct.as_char() == char);
            let group = if is(0, '#') && is(1, '!') { 2 } else { 1 };
            let doc = is(0, '#')
                && matches!(all.get(at + group), Some(TokenTree::Group(inner)) if inner.to_string().starts_with("[doc ="));
            match &all[at] {
                _ if doc => at += group,
                TokenTree::Group(inner) => tokens(inner.stream(), into),
                token => into.push_str(&format!("{token} ")),
            }
            at += 1;
        }
    }

    #[test]
    fn without_its_comments_every_source_file_has_the_same_tokens() {
        let files = sources::rust();
        assert!(files.len() > 500, "the sources were not found");
        for file in files {
            let code = sources::text(&file);
            let mut bare = code.clone();
            let found = comments(&code);
            for comment in found.iter().rev() {
                bare.replace_range(comment.at.clone(), "");
            }
            let (mut before, mut after) = (String::new(), String::new());
            tokens(code.parse().unwrap(), &mut before);
            tokens(bare.parse().unwrap(), &mut after);
            assert_eq!(before, after, "{}", file.display());
        }
    }
}
