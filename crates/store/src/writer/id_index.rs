//! An index of all entry ids of a log with their positions.
//!
//! Loaded only when a draft names an id (its own, a parent, a label's target), because loading
//! reads the whole log; afterwards every append keeps it up to date. [`KnownIds::same`] decides
//! whether an append with a known id is a duplicate or a conflict.

use std::collections::HashMap;

use boswell_dialect::{Append, Depth, Draft, EntryStamp, Parent, Reader, SessionFacts};
use boswell_model::json::Raw;
use boswell_model::{Instant, Result};

use super::tail::{Entries, stated};
use crate::backend::ObjectReader;
use crate::blobs::Blobs;

/// Position and length of the record of each id.
#[derive(Debug, Default)]
pub(super) struct KnownIds {
    places: HashMap<String, (u64, u64)>,
}

impl KnownIds {
    /// Reads all ids of a log.
    pub(super) fn load(dialect: &dyn Append, log: &dyn ObjectReader) -> Result<KnownIds> {
        let mut known = KnownIds::default();
        let mut entries = Entries::of(dialect);
        log.lines(0, 1, &mut |line| {
            entries.each_id(line, &mut |id, at, len| known.note(id, at, len))
        })?;
        Ok(known)
    }

    pub(super) fn note(&mut self, id: &str, at: u64, len: u64) {
        self.places.insert(id.to_owned(), (at, len));
    }

    /// Returns position and length of the record with that id.
    pub(super) fn place(&self, id: &str) -> Option<(u64, u64)> {
        self.places.get(id).copied()
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.places.contains_key(id)
    }

    /// Returns whether the entry `id` of the log is what `draft` would write. `large` is where
    /// large values of the draft would go. All that the caller chose must be equal; what the writer
    /// fills in (parent at the tip, time) may differ.
    pub(super) fn same(
        &self,
        dialect: &'static dyn Append,
        log: &dyn ObjectReader,
        id: &str,
        draft: &Draft,
        large: Option<&Blobs>,
    ) -> Result<bool> {
        let Some((at, len)) = self.places.get(id) else {
            return Ok(false);
        };
        let stored = log.read(*at, *len)?;
        let (_, parent) = stated(dialect, &stored);
        let stored = Raw::trusted(&stored);
        // The draft is encoded with the id, parent and time of the stored record, so that only the
        // caller's choices can differ.
        let time = stored
            .get("timestamp")
            .and_then(|t| t.text())
            .and_then(|t| Instant::parse(&t));
        let settled = EntryStamp {
            id,
            parent: parent.as_deref(),
            at: draft.at.or(time).unwrap_or(Instant::from_millis(0)),
        };
        // Facts that a record repeats about its session are taken from the record itself: they may
        // have changed since it was written.
        let location = crate::store::native::located_at("record", "record", 0);
        let meta = Reader::read(dialect, &location, stored.bytes(), Depth::Facts).meta;
        let within = SessionFacts {
            id: meta.id.as_deref().unwrap_or_default(),
            meta: &meta,
        };
        let mut wanted = Vec::new();
        dialect.encode(draft, settled, Some(within), &mut wanted)?;
        // A large value may also have stayed in its line, where its place could not take it.
        let cut = large.map(|blobs| blobs.as_written(&wanted)).transpose()?;
        let free = |key: &str| key == "timestamp" && draft.at.is_none();
        let same_parent = match &draft.parent {
            Parent::Tip => true,
            Parent::Root => parent.is_none(),
            Parent::Entry(wanted) => parent.as_deref() == Some(wanted.as_str()),
        };
        // Compared in both directions: a member that the caller left out, such as a removed label,
        // is content too.
        let within = |one: Raw<'_>, other: Raw<'_>| {
            one.members().all(|(key, value)| {
                let key = key.to_text();
                free(&key)
                    || other
                        .get(&key)
                        .is_some_and(|have| have.bytes() == value.bytes())
            })
        };
        let same = |wanted: &Vec<u8>| {
            let wanted = Raw::trusted(wanted);
            within(wanted, stored) && within(stored, wanted)
        };
        Ok(same_parent && (cut.as_ref().is_some_and(same) || same(&wanted)))
    }
}
