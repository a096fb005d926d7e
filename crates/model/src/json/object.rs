//! A scanned object, with the byte ranges of its direct members.

use super::raw_value::StringCursor;
use super::{Outline, Raw, Str};

/// One member of an object, as byte ranges into the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Member {
    /// Start of the key token, at its opening quote.
    pub key_start: usize,
    /// Index after the closing quote of the key token.
    pub key_end: usize,
    /// Start of the value.
    pub start: usize,
    /// Index after the value.
    pub end: usize,
}

/// A scanned object: its bytes and the byte ranges of its direct members.
#[derive(Debug, Clone, Copy)]
pub struct Object<'a> {
    bytes: &'a [u8],
    members: &'a [Member],
    outline: Option<&'a Outline>,
}

impl<'a> Object<'a> {
    /// Combines scanned bytes with the members that [`scan_object`](super::scan_object) found in
    /// them.
    pub fn new(bytes: &'a [u8], members: &'a [Member]) -> Self {
        Object {
            bytes,
            members,
            outline: None,
        }
    }

    /// As [`Object::new`], for an object at the start of a line with an outline.
    pub(super) fn outlined(bytes: &'a [u8], members: &'a [Member], outline: &'a Outline) -> Self {
        Object {
            bytes,
            members,
            outline: Some(outline),
        }
    }

    /// Returns the value of `key`. Of duplicate keys the last one wins, as in `JSON.parse`.
    pub fn get(&self, key: &str) -> Option<Raw<'a>> {
        self.members
            .iter()
            .rev()
            .find(|m| self.key(m).is(key))
            .map(|m| self.value(m))
    }

    /// Returns the decoded text of a string member.
    pub fn text(&self, key: &str) -> Option<std::borrow::Cow<'a, str>> {
        self.get(key)?.text()
    }

    /// Iterates over the members in file order.
    pub fn members(&self) -> impl Iterator<Item = (Str<'a>, Raw<'a>)> + use<'a> {
        let this = *self;
        self.members
            .iter()
            .map(move |m| (this.key(m), this.value(m)))
    }

    /// Returns the whole object as a value.
    pub fn raw(&self) -> Raw<'a> {
        Raw::outlined(
            self.bytes,
            self.outline.map(|outline| StringCursor {
                outline,
                at: 0,
                is_member: false,
            }),
        )
    }

    /// Whether the scan has proved that every byte is ASCII. False means unknown.
    pub(crate) fn is_known_ascii(&self) -> bool {
        self.outline.is_some_and(Outline::is_ascii)
    }

    fn key(&self, m: &Member) -> Str<'a> {
        Str::trusted(self.bytes.get(m.key_start..m.key_end).unwrap_or(b"\"\""))
    }

    fn value(&self, m: &Member) -> Raw<'a> {
        let place = self.outline.map(|outline| StringCursor {
            outline,
            at: m.start,
            is_member: true,
        });
        match self.bytes.get(m.start..m.end) {
            Some(bytes) => Raw::outlined(bytes, place),
            None => Raw::trusted(b"null"),
        }
    }
}
