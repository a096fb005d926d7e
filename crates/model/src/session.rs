//! The view of a session that dialects get: log, tree, and the bytes of any record on demand.

use std::borrow::Cow;

use crate::json::{Object, Scanned};
use crate::{Log, Result, Slot, ToolLink, Tree};

/// The position of the conversation: the parent of the next entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tip {
    /// The session is empty or was reset; the next entry is a root.
    #[default]
    Root,
    /// The next entry follows this entry.
    At(Slot),
}

impl Tip {
    /// Returns the entry, if there is one.
    pub fn slot(self) -> Option<Slot> {
        match self {
            Tip::Root => None,
            Tip::At(slot) => Some(slot),
        }
    }
}

/// A source for the bytes of records, by position.
pub trait Payloads {
    /// Returns the bytes of the record at position `at` with length `len`.
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

/// The input of a dialect's questions about a session (tip, branch, context).
#[derive(Clone, Copy)]
pub struct SessionView<'a> {
    /// The heads of all records.
    pub log: &'a Log,
    /// The entries linked by parent.
    pub tree: &'a Tree,
    /// The source for the bytes of records.
    pub payloads: &'a dyn Payloads,
    /// Tool calls and results of all entries in file order; `None` if they were not read.
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
    /// Returns the bytes of the record at `slot`; empty if there is no such record.
    pub fn payload(&self, slot: Slot) -> Result<Cow<'a, [u8]>> {
        match self.log.head(slot) {
            Some(head) => self.payloads.payload(head.at, head.len),
            None => Ok(Cow::Borrowed(b"")),
        }
    }

    /// Returns the tool calls and results of one entry; `None` if they were not read.
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

    /// Reads a record, scans it and passes it to `ask`. Returns `None` if the bytes are not an
    /// object any more, because the file was changed since the log was read.
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
