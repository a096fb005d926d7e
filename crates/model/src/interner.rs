//! An interner: stores the ids and type words of a session once and names them by a [`Symbol`].
//!
//! All texts are in one `String`; a hash table maps a text to its symbol. Heads contain symbols of
//! four bytes instead of strings, and comparing two ids is comparing two numbers. Nothing is ever
//! removed.

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::num::NonZeroU32;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::json::Str;

/// An interned string: an entry's id, its parent's, a message id, a type word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(NonZeroU32);

impl Symbol {
    /// The index of the symbol in its table, from 0, for vectors that are parallel to the table.
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// The interned strings of one session; about fifty bytes per UUID.
#[derive(Debug, Default, Clone)]
pub struct Interner {
    /// All texts, concatenated in the order of their symbols.
    text: String,
    /// For each symbol the end of its text; it begins where the previous text ends.
    ends: Vec<u32>,
    table: HashTable<Bucket>,
    state: DefaultHashBuilder,
}

/// A symbol with its hash, so that a growing table does not have to hash all texts again.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    name: Symbol,
    hash: u32,
}

impl Interner {
    /// Returns the symbol of `text`, which is added if it is new.
    ///
    /// `None` only if the table is full (four gigabytes of text): the entry then counts as one
    /// without an id.
    pub fn intern(&mut self, text: &str) -> Option<Symbol> {
        let hash = self.hash_of(text.as_bytes());
        self.known(hash, text.as_bytes())
            .or_else(|| self.add(hash, text))
    }

    /// As [`Interner::intern`], for a string token. A token without escapes that is already known
    /// is not decoded.
    pub fn intern_token(&mut self, token: Str<'_>) -> Option<Symbol> {
        if !token.is_plain() {
            return self.intern(&token.to_text());
        }
        let hash = self.hash_of(token.escaped());
        if let Some(name) = self.known(hash, token.escaped()) {
            return Some(name);
        }
        match token.to_text() {
            Cow::Borrowed(text) => self.add(hash, text),
            // Invalid UTF-8 was replaced, so the text differs from the bytes that were hashed.
            Cow::Owned(text) => self.intern(&text),
        }
    }

    /// Returns the symbol of `text`, if it was interned before.
    pub fn find(&self, text: &str) -> Option<Symbol> {
        self.known(self.hash_of(text.as_bytes()), text.as_bytes())
    }

    fn known(&self, hash: u32, text: &[u8]) -> Option<Symbol> {
        let is_it = |bucket: &Bucket| {
            bucket.hash == hash && slice(&self.text, &self.ends, bucket.name) == text
        };
        self.table
            .find(spread(hash), is_it)
            .map(|bucket| bucket.name)
    }

    fn add(&mut self, hash: u32, text: &str) -> Option<Symbol> {
        let end = u32::try_from(self.text.len() + text.len()).ok()?;
        let name = Symbol(NonZeroU32::new(u32::try_from(self.ends.len() + 1).ok()?)?);
        self.text.push_str(text);
        self.ends.push(end);
        self.table
            .insert_unique(spread(hash), Bucket { name, hash }, |bucket| {
                spread(bucket.hash)
            });
        Some(name)
    }

    fn hash_of(&self, text: &[u8]) -> u32 {
        // As bytes, because hashing a `str` adds a terminator.
        self.state.hash_one(text) as u32
    }

    /// Returns the text of a symbol, which must come from this table.
    pub fn text(&self, name: Symbol) -> &str {
        let (start, end) = place(&self.ends, name);
        self.text.get(start..end).unwrap_or("")
    }

    /// The number of symbols.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no symbols.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// Widens a stored hash to 64 bits. `hashbrown` uses the low bits to find a bucket and the high
/// bits to distinguish its entries; both are derived from the 32 bits that are stored.
fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

fn slice<'t>(text: &'t str, ends: &[u32], name: Symbol) -> &'t [u8] {
    let (start, end) = place(ends, name);
    text.as_bytes().get(start..end).unwrap_or(b"")
}

fn place(ends: &[u32], name: Symbol) -> (usize, usize) {
    let start = name
        .index()
        .checked_sub(1)
        .and_then(|i| ends.get(i))
        .map_or(0, |e| *e as usize);
    (start, ends.get(name.index()).map_or(start, |e| *e as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_a_name_and_read_back() {
        let mut names = Interner::default();
        let ids: Vec<_> = (0..2000)
            .map(|i| names.intern(&format!("id-{}", i % 1000)).unwrap())
            .collect();
        assert_eq!(names.len(), 1000);
        assert_eq!(ids[7], ids[1007]);
        assert_eq!(names.text(ids[999]), "id-999");
        assert_eq!(names.find("id-5"), Some(ids[5]));
        assert_eq!(names.find("id-1000"), None);
        for (token, same) in [
            ("\"id-5\"", "id-5"),
            ("\"id\\u002d5\"", "id-5"),
            ("\"new\"", "new"),
        ] {
            assert_eq!(
                names.intern_token(Str::trusted(token.as_bytes())),
                names.intern(same),
                "{token}"
            );
        }
        assert_eq!(names.len(), 1001);
        assert_eq!(
            names.intern_token(Str::trusted(b"\"\xFF\"")),
            names.find("\u{FFFD}")
        );
        assert_eq!(names.len(), 1002);
        assert_eq!(
            names.intern("").map(|n| names.text(n).to_owned()),
            Some(String::new())
        );
    }
}
