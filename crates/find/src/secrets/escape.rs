//! Decodes escapes of text inside JSON strings, at any depth, and maps positions back to the
//! escaped text.

use std::ops::Range;

/// A text with one level of escapes decoded, and the map of its positions to the source.
pub(super) struct Unescaped {
    pub(super) text: Vec<u8>,
    /// For every escape: its range in `text`, and its end in the source.
    escapes: Vec<(Range<usize>, usize)>,
}

/// Returns whether a text contains escapes that hide words from a plain search: printable
/// characters written as `\u00xx`, `\/`, and the Chinese words for passwords and keys.
pub(super) fn hides_text(text: &[u8]) -> bool {
    let telling = |at: usize| match text.get(at + 2..at + 6) {
        Some([b'0', b'0', high, _]) => matches!(high, b'2'..=b'7'),
        Some(digits) => {
            digits.eq_ignore_ascii_case(b"5bc6") || digits.eq_ignore_ascii_case(b"53e3")
        }
        None => false,
    };
    memchr::memmem::find_iter(text, b"\\u").any(telling)
        || memchr::memmem::find(text, b"\\/").is_some()
}

impl Unescaped {
    /// Decodes one level of escapes. Bytes that are not a valid escape are kept.
    pub(super) fn of(source: &[u8]) -> Unescaped {
        let mut out = Unescaped {
            text: Vec::with_capacity(source.len()),
            escapes: Vec::new(),
        };
        let mut at = 0;
        while let Some(rest) = source.get(at..).filter(|rest| !rest.is_empty()) {
            let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
            out.text
                .extend_from_slice(rest.get(..plain).unwrap_or_default());
            at += plain;
            let Some(escape) = source.get(at..).filter(|rest| !rest.is_empty()) else {
                break;
            };
            let (character, len) = resolve(escape);
            at += len;
            let here = out.text.len();
            match character {
                Some(character) => out
                    .text
                    .extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
                // Half of a surrogate pair: it only matters that it is not part of a key.
                None => out.text.push(0xff),
            }
            out.escapes.push((here..out.text.len(), at));
        }
        out
    }

    /// Returns the range in the source for a range in `text`. An escape is included as a whole or
    /// not at all.
    pub(super) fn source(&self, range: &Range<usize>) -> Range<usize> {
        self.place(range.start)..self.place(range.end)
    }

    fn place(&self, at: usize) -> usize {
        let before = self.escapes.partition_point(|(here, _)| here.start < at);
        match before
            .checked_sub(1)
            .and_then(|index| self.escapes.get(index))
        {
            None => at,
            // Bytes after an escape have the same distance from its end in both texts.
            Some((here, end)) => end + at.saturating_sub(here.end),
        }
    }
}

/// Returns the character of an escape, and the length of the escape. Bytes that are not a valid
/// escape yield their first byte.
fn resolve(escape: &[u8]) -> (Option<char>, usize) {
    match escape.get(1) {
        Some(b'n') => (Some('\n'), 2),
        Some(b'r') => (Some('\r'), 2),
        Some(b't') => (Some('\t'), 2),
        Some(byte @ (b'"' | b'\\' | b'/' | b'\'')) => (Some(char::from(*byte)), 2),
        Some(b'u') => {
            let digits = escape
                .get(2..6)
                .and_then(|digits| std::str::from_utf8(digits).ok());
            match digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
                Some(code) => (char::from_u32(code), 6),
                None => (Some('\\'), 1),
            }
        }
        _ => (Some('\\'), 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_behind_escapes_map_to_the_source() {
        let source = br#"a\\u0067hp_\u0022\n x\/y\q"#;
        let once = Unescaped::of(source);
        assert_eq!(once.text, b"a\\u0067hp_\"\n x/y\\q");
        let here = memchr::memmem::find(&once.text, br"\u0067hp_").unwrap();
        let there = once.source(&(here..here + 9));
        assert_eq!(source.get(there), Some(&br"\\u0067hp_"[..]));
        let twice = Unescaped::of(&once.text);
        assert!(twice.text.starts_with(b"aghp_"));
        assert_eq!(once.source(&(0..once.text.len())), 0..source.len());
    }

    #[test]
    fn only_printable_characters_and_slashes_are_hidden_text() {
        assert!(hides_text(br"\u0067hp") && hides_text(br"https:\/\/x"));
        assert!(hides_text(br"\u5bc6\u7801"));
        assert!(!hides_text(br"\u001b[0m \u4f60 \n"));
    }
}
