//! Ids and words, stored once.

use std::hash::BuildHasher;
use std::num::NonZeroU32;

use hashbrown::{DefaultHashBuilder, HashTable};

/// An interned string: an entry's id, its parent's, a message id, a type word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(NonZeroU32);

impl Name {
    /// Its place in the table, from 0, for arrays that run beside it.
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// The table of names of one session: about fifty bytes a UUID.
#[derive(Debug, Default, Clone)]
pub struct Names {
    text: String,
    ends: Vec<u32>,
    table: HashTable<Name>,
    state: DefaultHashBuilder,
}

impl Names {
    /// The name of `text`, made if it is new.
    ///
    /// None only when the table is full (four gigabytes of ids): the entry then counts as one without an id.
    pub fn intern(&mut self, text: &str) -> Option<Name> {
        let hash = hash_of(&self.state, text);
        let (texts, ends) = (&self.text, &self.ends);
        if let Some(found) = self.table.find(hash, |n| slice(texts, ends, *n) == text) {
            return Some(*found);
        }
        let end = u32::try_from(self.text.len() + text.len()).ok()?;
        let name = Name(NonZeroU32::new(u32::try_from(self.ends.len() + 1).ok()?)?);
        self.text.push_str(text);
        self.ends.push(end);
        let (texts, ends, state) = (&self.text, &self.ends, &self.state);
        self.table.insert_unique(hash, name, |n| hash_of(state, slice(texts, ends, *n)));
        Some(name)
    }

    /// The name of `text` if it has been seen.
    pub fn find(&self, text: &str) -> Option<Name> {
        let hash = hash_of(&self.state, text);
        self.table.find(hash, |n| slice(&self.text, &self.ends, *n) == text).copied()
    }

    /// The text of a name of this table.
    pub fn text(&self, name: Name) -> &str {
        slice(&self.text, &self.ends, name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

fn hash_of(state: &DefaultHashBuilder, text: &str) -> u64 {
    // As bytes: a `str` hashes its end mark too.
    state.hash_one(text.as_bytes())
}

fn slice<'t>(text: &'t str, ends: &[u32], name: Name) -> &'t str {
    let start = name.index().checked_sub(1).and_then(|i| ends.get(i)).map_or(0, |e| *e as usize);
    let end = ends.get(name.index()).map_or(start, |e| *e as usize);
    text.get(start..end).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_a_name_and_read_back() {
        let mut names = Names::default();
        let ids: Vec<_> = (0..2000).map(|i| names.intern(&format!("id-{}", i % 1000)).unwrap()).collect();
        assert_eq!(names.len(), 1000);
        assert_eq!(ids[7], ids[1007]);
        assert_eq!(names.text(ids[999]), "id-999");
        assert_eq!(names.find("id-5"), Some(ids[5]));
        assert_eq!(names.find("id-1000"), None);
        assert_eq!(names.intern("").map(|n| names.text(n).to_owned()), Some(String::new()));
    }
}
