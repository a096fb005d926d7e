//! Texts inside JSON strings, at any depth: what an escape means, and where it was.

use std::ops::Range;

/// A text with one level of escapes resolved, and how its places map to the text it came from.
pub(super) struct Unescaped {
    pub(super) text: Vec<u8>,
    /// For every escape: where its byte is here, and where it ends in the source.
    escapes: Vec<(usize, usize)>,
}

/// Whether a text contains escapes that a plain search does not see through: printable characters
/// written as `\u00xx`, and `\/`.
pub(super) fn hides_text(text: &[u8]) -> bool {
    let printable = |at: usize| matches!(text.get(at + 4), Some(b'2'..=b'7'));
    memchr::memmem::find_iter(text, b"\\u00").any(printable) || memchr::memmem::find(text, b"\\/").is_some()
}

impl Unescaped {
    /// Resolves one level of escapes. What is not a valid escape stays as it is.
    pub(super) fn of(source: &[u8]) -> Unescaped {
        let mut out = Unescaped { text: Vec::with_capacity(source.len()), escapes: Vec::new() };
        let mut at = 0;
        while let Some(rest) = source.get(at..).filter(|rest| !rest.is_empty()) {
            let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
            out.text.extend_from_slice(rest.get(..plain).unwrap_or_default());
            at += plain;
            let Some(escape) = source.get(at..).filter(|rest| !rest.is_empty()) else { break };
            let (byte, len) = resolve(escape);
            at += len;
            out.escapes.push((out.text.len(), at));
            out.text.push(byte);
        }
        out
    }

    /// The place in the source of a range here. An escape is inside as a whole or not at all.
    pub(super) fn source(&self, range: &Range<usize>) -> Range<usize> {
        self.place(range.start)..self.place(range.end)
    }

    fn place(&self, at: usize) -> usize {
        let before = self.escapes.partition_point(|(here, _)| *here < at);
        match before.checked_sub(1).and_then(|index| self.escapes.get(index)) {
            None => at,
            // Every escape became one byte, so the rest is as far from it as it was.
            Some((here, end)) => end + (at - here - 1),
        }
    }
}

/// The byte that stands for an escape, and how long the escape is.
fn resolve(escape: &[u8]) -> (u8, usize) {
    match escape.get(1) {
        Some(b'n') => (b'\n', 2),
        Some(b'r') => (b'\r', 2),
        Some(b't') => (b'\t', 2),
        Some(byte @ (b'"' | b'\\' | b'/' | b'\'')) => (*byte, 2),
        Some(b'u') => {
            let digits = escape.get(2..6).and_then(|digits| std::str::from_utf8(digits).ok());
            match digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
                // Of a character that is not ASCII it only matters that it is not one of a key's.
                Some(code) => (u8::try_from(code).ok().filter(u8::is_ascii).unwrap_or(0xff), 6),
                None => (b'\\', 1),
            }
        }
        _ => (b'\\', 1),
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
        assert!(!hides_text(br"\u001b[0m \u4f60 \n"));
    }
}
