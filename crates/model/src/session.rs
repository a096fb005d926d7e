//! A session as a dialect is asked about it: log, tree, and the bytes of any record on demand.

use std::borrow::Cow;

use crate::json::{Object, Scanned};
use crate::{Log, Result, Slot, ToolLink, Tree};

/// Where the conversation stands: what the next entry's parent will be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tip {
    /// Nowhere: the session is empty, or was reset; the next entry is a root.
    #[default]
    Root,
    /// At this entry.
    At(Slot),
}

impl Tip {
    /// The entry, if there is one.
    pub fn slot(self) -> Option<Slot> {
        match self {
            Tip::Root => None,
            Tip::At(slot) => Some(slot),
        }
    }
}

/// Hands out the bytes of records.
pub trait Payloads {
    /// The bytes of the record at `at` of length `len`.
    fn payload(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>>;
}

impl Payloads for [u8] {
    fn payload(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>> {
        let range = usize::try_from(at)
            .ok()
            .zip(usize::try_from(at.saturating_add(len)).ok());
        Ok(Cow::Borrowed(
            range
                .and_then(|(from, to)| self.get(from..to))
                .unwrap_or(b""),
        ))
    }
}

impl Payloads for Vec<u8> {
    fn payload(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>> {
        self.as_slice().payload(at, len)
    }
}

/// What a dialect looks at to answer a question about a session.
#[derive(Clone, Copy)]
pub struct SessionView<'a> {
    /// Heads of all records.
    pub log: &'a Log,
    /// Their links.
    pub tree: &'a Tree,
    /// Their bytes.
    pub payloads: &'a dyn Payloads,
    /// Their calls and answers in file order, if they were gathered while the log was read.
    pub pairs: Option<&'a [(Slot, ToolLink)]>,
}

impl std::fmt::Debug for SessionView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionView")
            .field("records", &self.log.heads.len())
            .finish_non_exhaustive()
    }
}

impl<'a> SessionView<'a> {
    /// The bytes of a record.
    pub fn payload(&self, slot: Slot) -> Result<Cow<'a, [u8]>> {
        match self.log.head(slot) {
            Some(head) => self.payloads.payload(head.at, head.len),
            None => Ok(Cow::Borrowed(b"")),
        }
    }

    /// The calls and answers of a record, if they were gathered.
    pub fn pairs_of(&self, slot: Slot) -> Option<impl Iterator<Item = ToolLink> + use<'a>> {
        let pairs = self.pairs?;
        let start = pairs.partition_point(|(at, _)| *at < slot);
        let own = pairs
            .get(start..)
            .unwrap_or_default()
            .iter()
            .take_while(move |(at, _)| *at == slot);
        Some(own.map(|(_, pair)| *pair))
    }

    /// Reads a record and hands it over scanned. A record that changed under us and is no
    /// object now gives `None`.
    pub fn with_object<T>(
        &self,
        slot: Slot,
        ask: impl FnOnce(&Object<'_>) -> T,
    ) -> Result<Option<T>> {
        let bytes = self.payload(slot)?;
        let mut scanned = Scanned::default();
        Ok(scanned
            .scan(&bytes)
            .is_ok()
            .then(|| ask(&scanned.object(&bytes))))
    }
}
