//! Entries as they are read: the bytes of all records of a page in one buffer, and the rest as one
//! JSON text that names their places in it.

use boswell_store::blobs::{Blobs, references};
use boswell_store::model::Slot;
use boswell_store::model::json::Json;
use boswell_store::session::NewEntry;
use boswell_store::{Result, Session};
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

/// A page of entries.
#[napi(object, object_from_js = false)]
pub(crate) struct EntryPage {
    pub heads: String,
    pub bytes: Buffer,
}

/// Collects entries of a page.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    heads: Vec<Json>,
    bytes: Vec<u8>,
}

impl Collected {
    /// Reads an entry of a snapshot.
    pub(crate) fn read(&mut self, session: &Session, slot: Slot, blobs: &Blobs) -> Result<()> {
        let entry = session.entry(slot)?;
        let parent = session.tree().parent(slot);
        let head = Json::object()
            .with("id", entry.id.as_str())
            .with_some("parent", parent.map(|slot| session.log().label(slot)))
            .with("kind", entry.kind.word())
            .with_some("text", entry.view.map(|view| view.text()));
        self.add(head, &entry.bytes, blobs)
    }

    /// Takes an entry that a follower returned.
    pub(crate) fn take(&mut self, entry: &NewEntry, blobs: &Blobs) -> Result<()> {
        let head = Json::object()
            .with_some("id", entry.label.as_ref().map(|id| id.as_str()))
            .with_some("parent", entry.parent.as_ref().map(|id| id.as_str()))
            .with("kind", entry.kind.word())
            .with("text", entry.view.text())
            .with("revision", entry.revision.to_string());
        self.add(head, &entry.bytes, blobs)
    }

    /// Adds the record, and its form with large values where it names blobs. References to blobs
    /// that could not be read stay in the record: a text may also only quote one.
    fn add(&mut self, head: Json, record: &[u8], blobs: &Blobs) -> Result<()> {
        let head = head.with("raw", self.place(record));
        let head = if references(record).is_empty() {
            head
        } else {
            let read = blobs.internalise(record)?;
            let missing = read.unresolved.iter().map(|(id, _)| id.reference());
            head.with("whole", self.place(&read.record))
                .with("missing", missing.collect::<Vec<String>>())
        };
        self.heads.push(head);
        Ok(())
    }

    fn place(&mut self, record: &[u8]) -> Vec<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(record);
        vec![start, self.bytes.len()]
    }

    /// The page; `generation` is that of a follower.
    pub(crate) fn page(self, generation: u64) -> EntryPage {
        let heads = Json::object()
            .with("generation", generation)
            .with("entries", Json::Array(self.heads));
        EntryPage {
            heads: heads.to_string(),
            bytes: self.bytes.into(),
        }
    }
}
