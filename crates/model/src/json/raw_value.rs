//! A JSON value in place: [`Raw`] reads values, members and items without copying or parsing ahead.
//!
//! A `Raw` is a slice of a record that the scanner has accepted, so iteration skips punctuation
//! without validating it. If the record was scanned with an [`Outline`], the value remembers its
//! position in the record and skips strings and containers by lookup; otherwise it walks over the
//! bytes. Both ways give the same result.
//!
//! On bytes that are not valid JSON the methods return `None`, empty iterators or other wrong
//! values, but they terminate and do not panic.

use std::borrow::Cow;

use memchr::memchr2;

use super::{Member, Outline, Str};

/// The bytes of one JSON value.
///
/// Made from a span that the scanner accepted. On other bytes methods return `None` or no items;
/// they never panic.
#[derive(Debug, Clone, Copy)]
pub struct Raw<'a> {
    bytes: &'a [u8],
    /// The outline of the record and the position in it, if the record has an outline.
    place: Option<StringCursor<'a>>,
}

/// The outline of the record that contains a value, and where in the record the value begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct StringCursor<'a> {
    pub(super) outline: &'a Outline,
    /// Index in the record of the first byte of the value. Indexes in an outline count from the
    /// start of the record, those in `Raw::bytes` from the start of the value.
    pub(super) at: usize,
    /// Whether the value is that of a direct member of the record; then the outline contains its
    /// own members too.
    pub(super) is_member: bool,
}

/// The type of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawKind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl<'a> Raw<'a> {
    /// Wraps bytes that the scanner accepted, without white space around them.
    pub fn trusted(bytes: &'a [u8]) -> Self {
        Raw { bytes, place: None }
    }

    /// As [`Raw::trusted`], with the position of the value in an outlined record.
    pub(super) fn outlined(bytes: &'a [u8], place: Option<StringCursor<'a>>) -> Self {
        Raw { bytes, place }
    }

    /// Validates that `bytes` are exactly one value, optionally surrounded by white space.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, super::SyntaxError> {
        let start = bytes
            .iter()
            .position(|b| !is_space(*b))
            .unwrap_or(bytes.len());
        let end = super::value_end(bytes, start)?;
        match bytes
            .get(end..)
            .unwrap_or(b"")
            .iter()
            .position(|b| !is_space(*b))
        {
            Some(extra) => Err(super::SyntaxError {
                at: end + extra,
                kind: super::SyntaxErrorKind::Unexpected,
            }),
            None => Ok(Raw::trusted(bytes.get(start..end).unwrap_or(b"null"))),
        }
    }

    /// The bytes of the value as written in the file.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The type of the value, from its first byte.
    pub fn kind(&self) -> RawKind {
        match self.bytes.first() {
            Some(b'{') => RawKind::Object,
            Some(b'[') => RawKind::Array,
            Some(b'"') => RawKind::String,
            Some(b't' | b'f') => RawKind::Bool,
            Some(b'-' | b'0'..=b'9') => RawKind::Number,
            _ => RawKind::Null,
        }
    }

    /// Whether the value is `null`.
    pub fn is_null(&self) -> bool {
        self.kind() == RawKind::Null
    }

    /// The string token with its quotes, if the value is a string.
    pub fn string(&self) -> Option<Str<'a>> {
        (self.kind() == RawKind::String).then(|| Str::trusted(self.bytes))
    }

    /// The decoded text, if the value is a string.
    pub fn text(&self) -> Option<Cow<'a, str>> {
        self.string().map(|s| s.to_text())
    }

    /// Whether the value is a string equal to `text`.
    pub fn is(&self, text: &str) -> bool {
        self.string().is_some_and(|s| s.is(text))
    }

    /// The boolean, if the value is one.
    pub fn bool(&self) -> Option<bool> {
        match self.bytes {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// The number as a float, if the value is a number.
    pub fn f64(&self) -> Option<f64> {
        if self.kind() != RawKind::Number {
            return None;
        }
        std::str::from_utf8(self.bytes).ok()?.parse().ok()
    }

    /// The number as an integer: integers as written, finite floats rounded towards zero.
    pub fn i64(&self) -> Option<i64> {
        if self.kind() != RawKind::Number {
            return None;
        }
        let text = std::str::from_utf8(self.bytes).ok()?;
        text.parse().ok().or_else(|| {
            text.parse::<f64>()
                .ok()
                .filter(|n| n.is_finite())
                .map(|n| n as i64)
        })
    }

    /// The number as a count; `None` if it is negative.
    pub fn u64(&self) -> Option<u64> {
        self.i64().and_then(|n| u64::try_from(n).ok())
    }

    /// The value of `key`, if the value is an object. Of duplicate keys the last one wins, as in
    /// `JSON.parse`.
    pub fn get(&self, key: &str) -> Option<Raw<'a>> {
        let mut found = None;
        for (name, value) in self.members() {
            if name.is(key) {
                found = Some(value);
            }
        }
        found
    }

    /// The value at a path of keys through nested objects.
    pub fn at(&self, path: &[&str]) -> Option<Raw<'a>> {
        path.iter().try_fold(*self, |value, key| value.get(key))
    }

    /// Iterates over the members in file order; empty if the value is not an object.
    pub fn members(&self) -> Members<'a> {
        let noted = self
            .place
            .filter(|place| place.is_member && self.kind() == RawKind::Object);
        let noted = noted.and_then(|place| {
            place
                .outline
                .inner_of(place.at, place.at + self.bytes.len())
        });
        let steps = match noted {
            Some(noted) => Steps::Noted(*self, noted.iter()),
            None => Steps::Walk(Walk::into(*self, b'{')),
        };
        Members { steps }
    }

    /// Cuts a member that the outline recorded out of this object.
    fn noted(&self, member: &Member) -> Option<(Str<'a>, Raw<'a>)> {
        // Recorded indexes count from the start of the record, `self.bytes` from that of the
        // object.
        let place = self.place?;
        let piece = |from: usize, to: usize| {
            self.bytes
                .get(from.checked_sub(place.at)?..to.checked_sub(place.at)?)
        };
        let key = piece(member.key_start, member.key_end)?;
        let place = StringCursor {
            at: member.start,
            is_member: false,
            ..place
        };
        Some((
            Str::trusted(key),
            Raw::outlined(piece(member.start, member.end)?, Some(place)),
        ))
    }

    /// Iterates over the items in order; empty if the value is not an array.
    pub fn items(&self) -> Items<'a> {
        Items {
            walk: Walk::into(*self, b'['),
        }
    }
}

/// An iterator over the members of an object.
#[derive(Debug, Clone)]
pub struct Members<'a> {
    steps: Steps<'a>,
}

/// How the iterator steps from member to member.
#[derive(Debug, Clone)]
enum Steps<'a> {
    Walk(Walk<'a>),
    /// By the byte ranges that the outline recorded: the object, and its remaining members.
    Noted(Raw<'a>, std::slice::Iter<'a, Member>),
}

impl<'a> Iterator for Members<'a> {
    type Item = (Str<'a>, Raw<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let walk = match &mut self.steps {
            Steps::Walk(walk) => walk,
            Steps::Noted(object, noted) => return object.noted(noted.next()?),
        };
        let key = walk.value()?;
        if key.bytes.first() != Some(&b'"') {
            return None;
        }
        let value = walk.value()?;
        Some((Str::trusted(key.bytes), value))
    }
}

/// An iterator over the items of an array.
#[derive(Debug, Clone)]
pub struct Items<'a> {
    walk: Walk<'a>,
}

impl<'a> Iterator for Items<'a> {
    type Item = Raw<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.walk.value()
    }
}

/// Steps from value to value inside a container that is known to be valid: punctuation is skipped,
/// not checked. Keys count as values.
#[derive(Debug, Clone)]
struct Walk<'a> {
    container: Raw<'a>,
    at: usize,
}

impl<'a> Walk<'a> {
    fn into(container: Raw<'a>, open: u8) -> Self {
        let at = if container.bytes.first() == Some(&open) {
            1
        } else {
            container.bytes.len()
        };
        Walk { container, at }
    }

    fn value(&mut self) -> Option<Raw<'a>> {
        let Raw { bytes, place } = self.container;
        while let Some(b' ' | b'\n' | b'\r' | b'\t' | b',' | b':') = bytes.get(self.at) {
            self.at += 1;
        }
        let start = self.at;
        let end = match bytes.get(start)? {
            b'}' | b']' => return None,
            b'"' => skip_string(bytes, place, start),
            b'{' | b'[' => skip_container(bytes, place, start),
            _ => skip_plain(bytes, start),
        };
        self.at = end;
        let value = bytes.get(start..end).filter(|value| !value.is_empty())?;
        Some(Raw::outlined(
            value,
            place.map(|place| StringCursor {
                at: place.at + start,
                is_member: false,
                ..place
            }),
        ))
    }
}

fn skip_string(bytes: &[u8], place: Option<StringCursor<'_>>, start: usize) -> usize {
    if let Some(StringCursor { outline, at, .. }) = place {
        return outline
            .string_end(at + start)
            .saturating_sub(at)
            .min(bytes.len());
    }
    let mut at = start + 1;
    loop {
        let Some(step) = bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) else {
            return bytes.len();
        };
        at += step;
        if bytes.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
}

fn skip_container(bytes: &[u8], place: Option<StringCursor<'_>>, start: usize) -> usize {
    if let Some(end) =
        place.and_then(|place| Some(place.outline.container_end(place.at + start)? - place.at))
    {
        return end.min(bytes.len());
    }
    let mut depth = 0usize;
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = skip_string(bytes, place, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

fn skip_plain(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        if matches!(byte, b',' | b'}' | b']' | b':' | b'"' | b'{' | b'[') || is_space(*byte) {
            break;
        }
        at += 1;
    }
    at.max(start + 1)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_last_of_doubled_keys_wins() {
        let raw = Raw::trusted(br#"{"a":1,"b":{"a":9},"a":2}"#);
        assert_eq!(raw.get("a").and_then(|v| v.i64()), Some(2));
        assert_eq!(raw.at(&["b", "a"]).and_then(|v| v.i64()), Some(9));
    }

    #[test]
    fn items_and_members_keep_their_bytes() {
        let raw = Raw::parse(b" [ 1.50 , \"a,]\" ,{\"k\" : [ ]}, null,-0 ] \n").unwrap();
        let items: Vec<_> = raw
            .items()
            .map(|v| std::str::from_utf8(v.bytes()).unwrap())
            .collect();
        assert_eq!(items, ["1.50", "\"a,]\"", "{\"k\" : [ ]}", "null", "-0"]);
        assert!(Raw::parse(b"{} x").is_err());
    }

    #[test]
    fn numbers_keep_their_meaning() {
        assert_eq!(
            Raw::trusted(b"1763681581544").i64(),
            Some(1_763_681_581_544)
        );
        assert_eq!(Raw::trusted(b"1e3").i64(), Some(1000));
        assert_eq!(Raw::trusted(b"-1").u64(), None);
        assert_eq!(Raw::trusted(b"\"1\"").i64(), None);
    }

    proptest! {
        #[test]
        fn looking_into_bytes_never_panics_and_ends(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
            let raw = Raw::trusted(&bytes);
            prop_assert!(raw.members().count() <= bytes.len());
            prop_assert!(raw.items().count() <= bytes.len());
            let _ = (raw.text(), raw.f64(), raw.get("a"));
        }
    }
}
