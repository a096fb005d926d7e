//! The ids of a log, loaded only when a caller names one.

use std::collections::HashMap;
use std::path::Path;

use boswell_dialect::{Depth, Dialect, Draft, Parent, Reader, Settled, Within};
use boswell_model::json::Raw;
use boswell_model::{Error, ErrorKind, Instant, Result};

use super::tail::{each_id, stated};
use crate::blobs::{Blobs, LARGE_TEXT};
use crate::disk::{DiskFile, read_full};

/// How much of a log is read at once while its ids are gathered.
const CHUNK: u64 = 4 << 20;

/// Where each id stands.
#[derive(Debug, Default)]
pub(super) struct KnownIds {
    places: HashMap<String, (u64, u64)>,
}

impl KnownIds {
    /// Reads the ids of a whole log.
    pub(super) fn load(dialect: &dyn Dialect, file: &dyn DiskFile, end: u64) -> std::io::Result<KnownIds> {
        let mut known = KnownIds::default();
        let mut held: Vec<u8> = Vec::new();
        let mut at = 0;
        while at < end {
            let mut chunk = vec![0; usize::try_from(CHUNK.min(end - at)).unwrap_or(0)];
            let done = read_full(file, &mut chunk, at)?;
            chunk.truncate(done);
            if chunk.is_empty() {
                break;
            }
            let start = at - held.len() as u64;
            at += done as u64;
            held.append(&mut chunk);
            let whole = if at >= end { held.len() } else { memchr::memrchr(b'\n', &held).map_or(0, |i| i + 1) };
            each_id(dialect, held.get(..whole).unwrap_or(b""), start, &mut |id, at, len| known.note(id, at, len));
            held.drain(..whole);
        }
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

    /// Whether the entry with that id is what the draft would write; `large` is where its large values would go. All that the caller gave must be equal; what a
    /// writer would have made up may differ.
    pub(super) fn same(
        &self,
        dialect: &'static dyn Dialect,
        file: &dyn DiskFile,
        id: &str,
        draft: &Draft,
        large: Option<&Blobs>,
    ) -> Result<bool> {
        let Some((at, len)) = self.places.get(id) else { return Ok(false) };
        let mut stored = vec![0; usize::try_from(*len).unwrap_or(0)];
        let done = read_full(file, &mut stored, *at)
            .map_err(|error| Error::new(ErrorKind::Unavailable, "cannot read an entry back").caused_by(error))?;
        stored.truncate(done);
        let (_, parent) = stated(dialect, &stored);
        let stored = Raw::trusted(&stored);
        let time = stored.get("timestamp").and_then(|t| t.text()).and_then(|t| Instant::parse(&t));
        let settled =
            Settled { id, parent: parent.as_deref(), at: draft.at.or(time).unwrap_or(Instant::from_millis(0)) };
        // What a record repeats of its session is compared with itself: the session may have gone on since.
        let located = crate::native::located_for(Path::new("record"), 0);
        let facts = Reader::read(dialect, &located, stored.bytes(), Depth::Facts).facts;
        let within = Within { id: facts.id.as_deref().unwrap_or_default(), facts: &facts };
        let mut wanted = dialect.encode_in(draft, settled, within)?;
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
                free(&key) || other.get(&key).is_some_and(|have| have.bytes() == value.bytes())
            })
        };
        Ok(same_parent && within(wanted, stored) && within(stored, wanted))
    }
}
