//! Drafts on their way into the log.

/// Entries that are written at once.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) bytes: Vec<u8>,
    pub(super) entries: Vec<Encoded>,
    pub(super) tip: Option<String>,
}

/// One of them: where its line begins and ends in the bytes.
#[derive(Debug)]
pub(super) struct Encoded {
    pub(super) id: String,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) deduplicated: bool,
}

impl Encoded {
    /// An entry that stands in the log already.
    pub(super) fn before(id: &str) -> Self {
        Encoded { id: id.to_owned(), start: 0, end: 0, deduplicated: true }
    }
}

impl Batch {
    pub(super) fn has(&self, id: &str) -> bool {
        self.entries.iter().any(|entry| entry.id == id)
    }
}
