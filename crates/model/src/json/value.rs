//! New JSON values, printed exactly as ECMAScript's `JSON.stringify` prints them.
//!
//! Agents read our lines with text searches as well as with parsers, so spacing, key order, number
//! format and escapes must match those of the programs that wrote the rest of the file.

use std::borrow::Cow;

use fearless_simd::{Level, Simd, dispatch, prelude::*, u8x64};

/// A value to be written. Members keep the order in which they were given.
///
/// Two values are equal if they are built alike, or if one of them is [`Json::Raw`] and both print
/// the same bytes.
#[derive(Debug, Clone)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number. Infinities and NaN print as `null`.
    Float(f64),
    /// A string of Unicode text.
    Text(String),
    /// A string of WTF-8, for text that may contain lone surrogates.
    Wtf8(Vec<u8>),
    /// The bytes of an existing value, printed unchanged.
    Raw(Vec<u8>),
    /// An array.
    Array(Vec<Json>),
    /// An object. Most names of members are constants, which take no memory of their own.
    Object(Vec<(Cow<'static, str>, Json)>),
}

impl PartialEq for Json {
    fn eq(&self, other: &Json) -> bool {
        match (self, other) {
            (Json::Null, Json::Null) => true,
            (Json::Bool(a), Json::Bool(b)) => a == b,
            (Json::Int(a), Json::Int(b)) => a == b,
            (Json::Float(a), Json::Float(b)) => a == b,
            (Json::Text(a), Json::Text(b)) => a == b,
            (Json::Wtf8(a), Json::Wtf8(b)) => a == b,
            (Json::Array(a), Json::Array(b)) => a == b,
            (Json::Object(a), Json::Object(b)) => a == b,
            // What was read is often raw where what was written was not.
            (Json::Raw(_), _) | (_, Json::Raw(_)) => self.to_bytes() == other.to_bytes(),
            _ => false,
        }
    }
}

impl Json {
    /// Creates an object without members.
    pub fn object() -> Self {
        Json::Object(Vec::new())
    }

    /// Adds a member at the end. Does nothing on a value that is not an object.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Json>) -> Self {
        if let Json::Object(members) = &mut self {
            members.push((Cow::Owned(key.to_owned()), value.into()));
        }
        self
    }

    /// Adds a member if there is a value. `None` adds no key, as `JSON.stringify` omits
    /// `undefined`.
    #[must_use]
    pub fn with_some(self, key: &str, value: Option<impl Into<Json>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Returns the compact JSON text.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.about());
        self.write(&mut out);
        out
    }

    /// An estimate of the length of the text, which escapes may exceed. It avoids growing and
    /// copying the buffer.
    fn about(&self) -> usize {
        match self {
            Json::Null | Json::Bool(_) | Json::Int(_) | Json::Float(_) => 16,
            Json::Text(text) => text.len() + 8,
            Json::Wtf8(bytes) | Json::Raw(bytes) => bytes.len() + 8,
            Json::Array(items) => items.iter().map(Json::about).sum::<usize>() + 8,
            Json::Object(members) => {
                members
                    .iter()
                    .map(|(key, value)| key.len() + 8 + value.about())
                    .sum::<usize>()
                    + 8
            }
        }
    }

    /// Appends the compact JSON text to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Json::Null => out.extend_from_slice(b"null"),
            Json::Bool(true) => out.extend_from_slice(b"true"),
            Json::Bool(false) => out.extend_from_slice(b"false"),
            Json::Int(n) => out.extend_from_slice(n.to_string().as_bytes()),
            Json::Float(n) => out.extend_from_slice(number_text(*n).as_bytes()),
            Json::Text(text) => write_string(text.as_bytes(), out),
            Json::Wtf8(bytes) => write_string(bytes, out),
            Json::Raw(bytes) => out.extend_from_slice(bytes),
            Json::Array(items) => {
                out.push(b'[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    item.write(out);
                }
                out.push(b']');
            }
            Json::Object(members) => {
                out.push(b'{');
                for (i, (key, value)) in members.iter().enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    write_string(key.as_bytes(), out);
                    out.push(b':');
                    value.write(out);
                }
                out.push(b'}');
            }
        }
    }
}

impl std::fmt::Display for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.to_bytes()))
    }
}

macro_rules! from {
    ($($kind:ty, $value:ident => $made:expr;)*) => {
        $(impl From<$kind> for Json {
            fn from($value: $kind) -> Json { $made }
        })*
    };
}

from! {
    bool, b => Json::Bool(b);
    i64, n => Json::Int(n);
    i32, n => Json::Int(i64::from(n));
    u32, n => Json::Int(i64::from(n));
    u64, n => i64::try_from(n).map_or(Json::Float(n as f64), Json::Int);
    usize, n => i64::try_from(n).map_or(Json::Float(n as f64), Json::Int);
    f64, n => Json::Float(n);
    &str, text => Json::Text(text.to_owned());
    String, text => Json::Text(text);
    std::borrow::Cow<'_, str>, text => Json::Text(text.into_owned());
    &String, text => Json::Text(text.clone());
    super::Raw<'_>, raw => Json::Raw(raw.bytes().to_vec());
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, Into::into)
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(items: Vec<T>) -> Json {
        Json::Array(items.into_iter().map(Into::into).collect())
    }
}

/// Formats a number as ECMAScript does: the shortest form that parses to the same number, `5e-7`,
/// `1e+21`, without `.0`, and `null` if it is not finite.
pub fn number_text(n: f64) -> String {
    if n.is_finite() {
        ryu_js::Buffer::new().format(n).to_owned()
    } else {
        "null".to_owned()
    }
}

/// Appends WTF-8 text as a string token, escaped as well-formed `JSON.stringify` escapes it.
pub fn write_string(wtf8: &[u8], out: &mut Vec<u8>) {
    out.reserve(wtf8.len() + 2);
    out.push(b'"');
    let written = match wtf8.len() {
        0..SHORT => write_short(wtf8, out),
        _ => dispatch!(Level::new(), simd => write_blocks(simd, wtf8, out)),
    };
    out.extend_from_slice(wtf8.get(written..).unwrap_or(b""));
    out.push(b'"');
}

/// Shorter text is looked at byte by byte.
const SHORT: usize = 32;

/// Whether a byte may need an escape.
// 0xED begins every surrogate in WTF-8, but also ordinary characters; `write_odd` decides.
fn is_odd(byte: u8) -> bool {
    byte < 0x20 || matches!(byte, b'"' | b'\\' | 0xED)
}

/// Writes text up to its last odd byte. Returns how many bytes of it were written.
fn write_short(text: &[u8], out: &mut Vec<u8>) -> usize {
    let odd = |(at, byte): (usize, &u8)| is_odd(*byte).then_some(at);
    let places = text.iter().enumerate().filter_map(odd);
    places.fold(0, |written, at| write_up_to(text, written, at, out))
}

/// As [`write_short`], 64 bytes at a time with SIMD: tool output has an escape in every line, and
/// stepping to it byte by byte was a tenth of the time of a page.
#[inline(always)]
fn write_blocks<S: Simd>(simd: S, text: &[u8], out: &mut Vec<u8>) -> usize {
    let (blocks, rest) = text.as_chunks::<64>();
    // Spaces need no escape.
    let mut last = [b' '; 64];
    if let Some(start) = last.get_mut(..rest.len()) {
        start.copy_from_slice(rest);
    }
    let mut written = 0;
    for (number, block) in blocks.iter().chain([&last]).enumerate() {
        let mut odd = odd_in(simd, block);
        while odd != 0 {
            let at = number * 64 + odd.trailing_zeros() as usize;
            written = write_up_to(text, written, at, out);
            // Clears the lowest set bit.
            odd &= odd - 1;
        }
    }
    written
}

/// Returns the bits of the odd bytes in a block.
#[inline(always)]
fn odd_in<S: Simd>(simd: S, block: &[u8; 64]) -> u64 {
    let bytes = u8x64::simd_from(simd, *block);
    let is = |byte| bytes.simd_eq(u8x64::splat(simd, byte)).to_bitmask();
    let controls = bytes.simd_lt(u8x64::splat(simd, 0x20)).to_bitmask();
    controls | is(b'"') | is(b'\\') | is(0xED)
}

/// Writes what is before the odd byte at `at`, and that byte. Returns what follows it.
#[inline]
fn write_up_to(text: &[u8], written: usize, at: usize, out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(text.get(written..at).unwrap_or(b""));
    at + write_odd(text.get(at..).unwrap_or(b""), out)
}

/// Writes the first character of `odd`, escaped if necessary, and returns its length in bytes.
fn write_odd(odd: &[u8], out: &mut Vec<u8>) -> usize {
    match odd {
        [b'"', ..] => out.extend_from_slice(b"\\\""),
        [b'\\', ..] => out.extend_from_slice(b"\\\\"),
        [b'\n', ..] => out.extend_from_slice(b"\\n"),
        [b'\r', ..] => out.extend_from_slice(b"\\r"),
        [b'\t', ..] => out.extend_from_slice(b"\\t"),
        [8, ..] => out.extend_from_slice(b"\\b"),
        [12, ..] => out.extend_from_slice(b"\\f"),
        [byte @ 0..=0x1F, ..] => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        [0xED, second @ 0xA0..=0xBF, third, ..] => {
            let unit = 0xD000 | u32::from(second & 0x3F) << 6 | u32::from(third & 0x3F);
            out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
            return 3;
        }
        _ => out.extend_from_slice(odd.get(..1).unwrap_or(b"")),
    }
    1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Raw, Str};
    use super::*;

    #[test]
    fn numbers_print_as_ecmascript_prints_them() {
        for (n, text) in [
            (0.000005, "0.000005"),
            (5e-7, "5e-7"),
            (1e21, "1e+21"),
            (1.0, "1"),
            (-0.0, "0"),
            (0.013875000000000002, "0.013875000000000002"),
            (f64::NAN, "null"),
            (f64::INFINITY, "null"),
        ] {
            assert_eq!(number_text(n), text);
        }
    }

    #[test]
    fn members_keep_their_order_and_absent_ones_leave_no_key() {
        let value = Json::object()
            .with("z", 1i64)
            .with_some("gone", None::<i64>)
            .with("a", vec!["x", "会"])
            .with("n", None::<i64>);
        assert_eq!(value.to_string(), r#"{"z":1,"a":["x","会"],"n":null}"#);
    }

    #[test]
    fn long_text_is_escaped_as_short_text_is_wherever_the_escape_stands() {
        let odd: [&[u8]; 6] = [
            b"\"",
            b"\\",
            b"\n",
            &[1],
            &[0xED, 0xA0, 0xBD],
            "한".as_bytes(),
        ];
        for len in [31, 32, 63, 64, 65, 127, 128, 200] {
            for (at, odd) in (0..=len).flat_map(|at| odd.map(|odd| (at, odd))) {
                let (before, after) = (vec![b'x'; at], vec![b'y'; len - at]);
                let text = [&before, odd, &after, odd].concat();
                let mut escaped = Vec::new();
                write_string(odd, &mut escaped);
                let escaped = &escaped[1..escaped.len() - 1];
                let wanted = [b"\"", &*before, escaped, &after, escaped, b"\""].concat();
                let mut out = Vec::new();
                write_string(&text, &mut out);
                assert_eq!(out, wanted, "{odd:?} at {at} of {len}");
            }
        }
    }

    #[test]
    fn control_characters_and_surrogates_are_escaped_and_line_separators_are_not() {
        let mut out = Vec::new();
        write_string("\u{0}\u{1f}\u{7f}\u{2028}é".as_bytes(), &mut out);
        assert_eq!(out, "\"\\u0000\\u001f\u{7f}\u{2028}é\"".as_bytes());
        out.clear();
        write_string(&[0xED, 0xA0, 0xBD, b'x', 0xED, 0x95, 0x9C], &mut out);
        assert_eq!(out, "\"\\ud83dx한\"".as_bytes());
    }

    proptest! {
        #[test]
        fn a_string_reads_back_as_written(units in proptest::collection::vec(any::<u16>(), 0..20)) {
            let token: String = units.iter().map(|u| format!("\\u{u:04x}")).collect();
            let token = format!("\"{token}\"");
            let wtf8 = Str::trusted(token.as_bytes()).to_wtf8().into_owned();
            let mut printed = Vec::new();
            write_string(&wtf8, &mut printed);
            prop_assert!(Raw::parse(&printed).is_ok());
            prop_assert_eq!(Str::trusted(&printed).to_wtf8().into_owned(), wtf8);
        }
    }
}
