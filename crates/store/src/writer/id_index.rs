//! The ids of a log, loaded only when a caller names one.

use std::collections::HashMap;

use boswell_dialect::{Append, Depth, Draft, EntryStamp, Parent, Reader, SessionFacts};
use boswell_model::json::Raw;
use boswell_model::{Instant, Result};

use super::tail::{Entries, stated};
use crate::backend::ObjectReader;
use crate::blobs::{Blobs, LARGE_TEXT};

/// Where each id stands.
#[derive(Debug, Default)]
pub(super) struct KnownIds {
    places: HashMap<String, (u64, u64)>,
}

impl KnownIds {
    /// Reads the ids of a whole log.
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

    /// Where an entry stands, and how long it is.
    pub(super) fn place(&self, id: &str) -> Option<(u64, u64)> {
        self.places.get(id).copied()
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.places.contains_key(id)
    }

    /// Whether the entry with that id is what the draft would write; `large` is where its
    /// large values would go. All that the caller gave must be equal; what a writer would
    /// have made up may differ.
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
        let time = stored
            .get("timestamp")
            .and_then(|t| t.text())
            .and_then(|t| Instant::parse(&t));
        let settled = EntryStamp {
            id,
            parent: parent.as_deref(),
            at: draft.at.or(time).unwrap_or(Instant::from_millis(0)),
        };
        // What a record repeats of its session is compared with itself: the session
        // may have gone on since.
        let location = crate::native_store::located_at("record", "record", 0);
        let meta = Reader::read(dialect, &location, stored.bytes(), Depth::Facts).meta;
        let within = SessionFacts {
            id: meta.id.as_deref().unwrap_or_default(),
            meta: &meta,
        };
        let mut wanted = Vec::new();
        dialect.encode(draft, settled, Some(within), &mut wanted)?;
        if let Some(blobs) = large {
            wanted = blobs.as_written(&wanted, LARGE_TEXT)?;
        }
        let free = |key: &str| key == "timestamp" && draft.at.is_none();
        let same_parent = match &draft.parent {
            Parent::Tip => true,
            Parent::Root => parent.is_none(),
            Parent::Entry(wanted) => parent.as_deref() == Some(wanted),
        };
        let wanted = Raw::trusted(&wanted);
        // Both ways: what the caller left out, such as a label that is taken away, is content too.
        let within = |one: Raw<'_>, other: Raw<'_>| {
            one.members().all(|(key, value)| {
                let key = key.to_text();
                free(&key)
                    || other
                        .get(&key)
                        .is_some_and(|have| have.bytes() == value.bytes())
            })
        };
        Ok(same_parent && within(wanted, stored) && within(stored, wanted))
    }
}
