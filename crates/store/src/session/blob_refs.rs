//! Finds the records of a session that name blobs.

use std::collections::BTreeSet;

use boswell_model::{Error, Line, Result, Slot};

use super::Session;
use crate::blobs::{self, BlobId};

/// What else is collected while a log is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LookFor {
    /// Nothing.
    Nothing,
    /// Lines that name blobs.
    Blobs,
}

/// Numbers of the lines that may name a blob, in order.
#[derive(Debug, Default)]
pub(super) struct BlobRefs(Vec<u64>);

impl BlobRefs {
    /// Examines the next line.
    pub(super) fn look(&mut self, line: &Line<'_>) {
        if blobs::names_any(line.bytes) {
            self.0.push(line.number);
        }
    }

    fn has(&self, line: u64) -> bool {
        self.0.binary_search(&line).is_ok()
    }
}

impl Session {
    /// Returns every blob that its records name; empty if its store has no blobs.
    ///
    /// # Errors
    ///
    /// An I/O error if a record cannot be read.
    pub fn named_blobs(&self) -> Result<BTreeSet<BlobId>> {
        let mut named = BTreeSet::new();
        if self.blobs.is_some() {
            for slot in self.read.log.slots() {
                named.extend(self.blobs_of(slot)?);
            }
        }
        Ok(named)
    }

    /// Returns blobs that a record names and that are missing or do not match their hash.
    pub(crate) fn unreadable_blobs(&self, slot: Slot) -> Result<Vec<(BlobId, Error)>> {
        let Some(blobs) = &self.blobs else {
            return Ok(Vec::new());
        };
        Ok(self
            .blobs_of(slot)?
            .into_iter()
            .filter_map(|id| blobs.get(&id).err().map(|error| (id, error)))
            .collect())
    }

    fn blobs_of(&self, slot: Slot) -> Result<Vec<BlobId>> {
        let line = self.read.log.head(slot).map(|head| u64::from(head.line));
        if self
            .naming
            .as_ref()
            .zip(line)
            .is_some_and(|(naming, line)| !naming.has(line))
        {
            return Ok(Vec::new());
        }
        Ok(blobs::references(&self.view().payload(slot)?))
    }
}
