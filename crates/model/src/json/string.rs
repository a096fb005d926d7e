//! JSON string tokens, decoded on demand to WTF-8.
//!
//! JavaScript strings may contain lone surrogates, and agents write them as `\ud83d`. Rust's `str`
//! cannot represent them, so the exact form of a string is WTF-8 bytes; [`Str::to_text`] replaces
//! everything that is not Unicode by U+FFFD.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;

/// A string token with its quotes, as written in the file.
#[derive(Debug, Clone, Copy)]
pub struct Str<'a>(&'a [u8]);

impl<'a> Str<'a> {
    /// Wraps a token that the scanner accepted.
    pub fn trusted(token: &'a [u8]) -> Self {
        Str(token)
    }

    /// Returns the bytes between the quotes, still escaped.
    pub fn escaped(&self) -> &'a [u8] {
        self.0.get(1..self.0.len().saturating_sub(1)).unwrap_or(b"")
    }

    /// Whether the string equals `text`.
    #[inline]
    pub fn is(&self, text: &str) -> bool {
        let inner = self.escaped();
        // Most strings differ in the first byte, unless an escape hides it.
        if inner.first() != text.as_bytes().first() && inner.first() != Some(&b'\\') {
            return false;
        }
        // An escape is always longer than the character that it encodes.
        if inner.len() <= text.len() {
            return inner == text.as_bytes() && self.is_plain();
        }
        !self.is_plain() && self.to_wtf8().as_ref() == text.as_bytes()
    }

    /// Whether the token contains no escapes, so that its bytes are the decoded string.
    #[inline]
    pub fn is_plain(&self) -> bool {
        first_escape(self.escaped()).is_none()
    }

    /// Returns the string as WTF-8: UTF-8 with lone surrogates as three bytes. Bytes that were not
    /// UTF-8 stay unchanged.
    pub fn to_wtf8(&self) -> Cow<'a, [u8]> {
        let inner = self.escaped();
        match first_escape(inner) {
            None => Cow::Borrowed(inner),
            Some(first) => Cow::Owned(unescape(inner, first)),
        }
    }

    /// Converts a range of the decoded string ([`to_wtf8`](Str::to_wtf8)) to a range of the escaped
    /// bytes. Escapes that are partly covered are included as a whole.
    pub fn escaped_range(&self, decoded: Range<usize>) -> Range<usize> {
        let mut at = 0;
        self.covering(|_, len| {
            let unit = at..at + len;
            at = unit.end;
            unit.start < decoded.end && unit.end > decoded.start
        })
    }

    /// Extends a range of the escaped bytes so that it does not cut an escape.
    pub fn whole_escapes(&self, part: Range<usize>) -> Range<usize> {
        self.covering(|raw, _| raw.start < part.end && raw.end > part.start)
    }

    /// Returns the range from the first to the last unit for which `wanted` returns true. A unit is
    /// a byte or an escape; `wanted` is called with its escaped range and its decoded length.
    fn covering(&self, mut wanted: impl FnMut(&Range<usize>, usize) -> bool) -> Range<usize> {
        let inner = self.escaped();
        let (mut at, mut found) = (0, None::<Range<usize>>);
        while at < inner.len() {
            let (raw, decoded) = unit(inner, at);
            let place = at..(at + raw).min(inner.len());
            at = place.end;
            if wanted(&place, decoded) {
                found = Some(found.map_or(place.start, |found| found.start)..place.end);
            }
        }
        found.unwrap_or(0..0)
    }

    /// Returns the string as text for display: what is not Unicode becomes U+FFFD.
    pub fn to_text(&self) -> Cow<'a, str> {
        match self.to_wtf8() {
            Cow::Borrowed(bytes) => match simdutf8::basic::from_utf8(bytes) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => Cow::Owned(lossy(bytes)),
            },
            Cow::Owned(bytes) => {
                Cow::Owned(String::from_utf8(bytes).unwrap_or_else(|bad| lossy(bad.as_bytes())))
            }
        }
    }
}

/// Returns the index of the first backslash. Most strings are short keys and ids; for those an
/// inline check of 8 bytes at a time is faster than the call of `memchr`.
#[inline]
fn first_escape(inner: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    // The usual test for a zero byte in a word: XOR turns each backslash into zero, and the result
    // is nonzero exactly if some byte is zero.
    let holds = |word: &[u8; 8]| {
        let apart = u64::from_le_bytes(*word) ^ (ONES * u64::from(b'\\'));
        apart.wrapping_sub(ONES) & !apart & (ONES << 7) != 0
    };
    let (words, rest) = inner.as_chunks::<8>();
    if words.len() <= 8 && !words.iter().any(holds) && !rest.contains(&b'\\') {
        return None;
    }
    memchr(b'\\', inner)
}

/// Decodes as `String::from_utf8_lossy` does, but with one U+FFFD for a lone surrogate (three bytes
/// of WTF-8).
fn lossy(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    // How many bytes of a surrogate are still to come: `utf8_chunks` returns each as a chunk.
    let mut rest_of_surrogate = 0;
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        rest_of_surrogate = match (chunk.invalid(), rest_of_surrogate, chunk.valid()) {
            ([], ..) => 0,
            ([0xA0..=0xBF], 2, "") => 1,
            ([0x80..=0xBF], 1, "") => 0,
            (invalid, ..) => {
                out.push('\u{FFFD}');
                if invalid == [0xED] { 2 } else { 0 }
            }
        };
    }
    out
}

fn unescape(inner: &[u8], first: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(inner.len());
    let mut at = 0;
    let mut next = Some(first);
    while let Some(step) = next {
        out.extend_from_slice(inner.get(at..at + step).unwrap_or(b""));
        at += step;
        let plain = match inner.get(at + 1) {
            Some(b'n') => Some(b'\n'),
            Some(b't') => Some(b'\t'),
            Some(b'r') => Some(b'\r'),
            Some(b'b') => Some(8),
            Some(b'f') => Some(12),
            Some(b'u') => None,
            Some(other) => Some(*other),
            None => break,
        };
        at += 2;
        match plain {
            Some(byte) => out.push(byte),
            None => {
                let unit = hex4(inner, at);
                at += 4;
                at += push_unit(&mut out, unit, inner, at);
            }
        }
        next = inner.get(at..).and_then(|rest| memchr(b'\\', rest));
    }
    out.extend_from_slice(inner.get(at..).unwrap_or(b""));
    out
}

/// Writes a UTF-16 unit. A high surrogate is combined with a low one that follows at `at`; returns
/// how many bytes of `inner` that consumed.
fn push_unit(out: &mut Vec<u8>, unit: u32, inner: &[u8], at: usize) -> usize {
    if (0xD800..0xDC00).contains(&unit) && inner.get(at..at + 2) == Some(b"\\u") {
        let low = hex4(inner, at + 2);
        if (0xDC00..0xE000).contains(&low) {
            let scalar = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
            push_scalar(out, char::from_u32(scalar).unwrap_or('\u{FFFD}'));
            return 6;
        }
    }
    match char::from_u32(unit) {
        Some(scalar) => push_scalar(out, scalar),
        None => push_surrogate(out, unit),
    }
    0
}

/// Returns the length of the byte or escape at `at`, escaped and decoded.
fn unit(inner: &[u8], at: usize) -> (usize, usize) {
    match (inner.get(at), inner.get(at + 1)) {
        (Some(b'\\'), Some(b'u')) => {
            let mut out = Vec::with_capacity(4);
            let more = push_unit(&mut out, hex4(inner, at + 2), inner, at + 6);
            (6 + more, out.len())
        }
        (Some(b'\\'), _) => (2, 1),
        _ => (1, 1),
    }
}

fn push_scalar(out: &mut Vec<u8>, scalar: char) {
    out.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes());
}

fn push_surrogate(out: &mut Vec<u8>, unit: u32) {
    out.extend_from_slice(&[
        0xED,
        0x80 | ((unit >> 6) & 0x3F) as u8,
        0x80 | (unit & 0x3F) as u8,
    ]);
}

fn hex4(bytes: &[u8], at: usize) -> u32 {
    let digits = bytes.get(at..at + 4).unwrap_or(b"fffd");
    digits.iter().fold(0, |value, d| {
        value << 4 | char::from(*d).to_digit(16).unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_decode_as_ecmascript_decodes_them() {
        let token = Str::trusted(br#""a\n\t\"\\\/\u0041\u00e9\u4f1a\ud83d\ude80\b\f\r""#);
        assert_eq!(token.to_text(), "a\n\t\"\\/Aé会🚀\u{8}\u{c}\r");
    }

    #[test]
    fn a_lone_surrogate_survives_in_wtf8_and_shows_as_replacement() {
        for (token, wtf8) in [
            (&br#""\ud83d""#[..], &[0xED, 0xA0, 0xBD][..]),
            (br#""\ude80x""#, &[0xED, 0xBA, 0x80, b'x']),
            (br#""\ud83d\u0041""#, &[0xED, 0xA0, 0xBD, b'A']),
        ] {
            assert_eq!(Str::trusted(token).to_wtf8().as_ref(), wtf8);
            assert_eq!(Str::trusted(token).to_text().matches('\u{FFFD}').count(), 1);
        }
    }

    #[test]
    fn invalid_bytes_show_as_in_from_utf8_lossy_but_a_surrogate_as_one() {
        assert_eq!(lossy(&[0xFF, 0xFF, b'x']), "\u{FFFD}\u{FFFD}x");
        assert_eq!(lossy(b"\xEF\xBF\xBD\x80"), "\u{FFFD}\u{FFFD}");
        assert_eq!(
            lossy(&[0xED, 0xA0, 0xBD, 0xED, 0xB0, 0x80, 0x80]),
            "\u{FFFD}".repeat(3)
        );
        assert_eq!(lossy(&[0xED, b'a', 0xA0]), "\u{FFFD}a\u{FFFD}");
    }

    #[test]
    fn equality_sees_through_escapes() {
        assert!(Str::trusted(br#""type""#).is("type"));
        assert!(Str::trusted(br#""\u0074ype""#).is("type"));
        assert!(Str::trusted(br#""typ\u0065""#).is("type") && Str::trusted(br#""\\n""#).is("\\n"));
        assert!(
            Str::trusted(br#""""#).is("")
                && !Str::trusted(br#""""#).is("t")
                && !Str::trusted(br#""t""#).is("")
        );
        for other in [
            r#""types""#,
            r#""typ""#,
            r#""kype""#,
            r#""\u0074ypes""#,
            r#""\\ype""#,
            r#""typ\n""#,
        ] {
            assert!(!Str::trusted(other.as_bytes()).is("type"), "{other}");
        }
    }

    #[test]
    fn a_backslash_is_found_wherever_it_stands() {
        for len in 0..90 {
            let mut inner = vec![b'['; len];
            assert_eq!(first_escape(&inner), None, "{len}");
            for at in 0..len {
                inner[at] = b'\\';
                assert_eq!(first_escape(&inner), Some(at), "{at} of {len}");
                inner[at] = b']';
            }
        }
    }

    #[test]
    fn a_part_of_the_text_is_found_where_it_stands_escaped() {
        let token = Str::trusted(br#""a\n\u0067hp\u005f1\ud83d\ude80\u4f1az\\n""#);
        let text = token.to_text().into_owned();
        for part in [
            "a",
            "\n",
            "ghp_1",
            "_",
            "🚀",
            "会",
            "z",
            "\\",
            "n",
            "p_1🚀会",
        ] {
            let at = text.rfind(part).unwrap();
            let raw = token.escaped_range(at..at + part.len());
            let again = [b"\"", token.escaped().get(raw.clone()).unwrap(), b"\""].concat();
            assert_eq!(Str::trusted(&again).to_text(), part, "{raw:?}");
        }
        assert_eq!(token.escaped_range(0..0), 0..0);
        assert_eq!(token.whole_escapes(2..4), 1..9, "two escapes, each touched");
        assert_eq!(token.whole_escapes(0..1), 0..1);
    }

    #[test]
    fn odd_tokens_do_not_panic() {
        for token in [&b""[..], b"\"", b"\"\\", b"\"\\u12\"", b"\"\\"] {
            let _ = Str::trusted(token).to_text();
            let _ = (
                Str::trusted(token).escaped_range(0..9),
                Str::trusted(token).whole_escapes(0..9),
            );
        }
    }
}
