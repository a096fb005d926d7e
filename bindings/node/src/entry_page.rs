//! Entries as they are read: the bytes of all records of a page in one buffer, and the rest as one
//! JSON text that names their places in it.

use boswell_binding::EntryFacts;
use boswell_store::Result;
use boswell_store::blobs::Blobs;
use boswell_store::model::json::Json;
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

/// A page of entries.
#[napi(object, object_from_js = false)]
pub(crate) struct EntryPage {
    pub heads: String,
    pub bytes: Buffer,
}

/// Collects entries of a page.
#[derive(Debug)]
pub(crate) struct Collected<'b> {
    blobs: Option<&'b Blobs>,
    heads: Vec<Json>,
    bytes: Vec<u8>,
}

impl<'b> Collected<'b> {
    pub(crate) fn new(blobs: Option<&'b Blobs>) -> Self {
        Collected {
            blobs,
            heads: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Adds an entry, and its form with large values where it names blobs.
    pub(crate) fn add(&mut self, entry: &EntryFacts) -> Result<()> {
        let head = Json::object()
            .with_some("id", entry.id.as_deref())
            .with_some("parent", entry.parent.as_deref())
            .with("kind", entry.kind)
            .with_some("text", entry.text.as_deref())
            .with_some("revision", entry.revision.as_deref())
            .with("raw", self.place(&entry.bytes));
        let head = match entry.whole(self.blobs)? {
            None => head,
            Some(whole) => head
                .with("whole", self.place(&whole.record))
                .with("missing", whole.missing),
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
