//! Drafts on their way into the log.

/// Entries that are written at once.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) bytes: Vec<u8>,
    pub(super) entries: Vec<Encoded>,
    pub(super) tip: Option<String>,
}

/// One of them: which of the bytes are its line.
#[derive(Debug)]
pub(super) struct Encoded {
    pub(super) id: String,
    pub(super) line: std::ops::Range<usize>,
    pub(super) deduplicated: bool,
}

impl Encoded {
    /// An entry that stands in the log already.
    pub(super) fn before(id: &str) -> Self {
        Encoded { id: id.to_owned(), line: 0..0, deduplicated: true }
    }
}

impl Batch {
    /// The lines that are new.
    pub(super) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let fresh = self.entries.iter().filter(|entry| !entry.deduplicated);
        fresh.map(|entry| self.bytes.get(entry.line.clone()).unwrap_or(b""))
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.entries.iter().any(|entry| entry.id == id)
    }
}
