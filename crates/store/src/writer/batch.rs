//! Drafts on their way into the log.

use std::sync::Arc;

use boswell_dialect::Draft;

/// Drafts that are to be written at once: mostly one, which needs no list.
#[derive(Debug)]
pub(super) enum Drafts {
    One(Draft),
    Many(Vec<Draft>),
}

impl From<Vec<Draft>> for Drafts {
    fn from(mut drafts: Vec<Draft>) -> Drafts {
        match drafts.pop() {
            Some(only) if drafts.is_empty() => Drafts::One(only),
            last => {
                drafts.extend(last);
                Drafts::Many(drafts)
            }
        }
    }
}

impl Drafts {
    pub(super) fn as_slice(&self) -> &[Draft] {
        match self {
            Drafts::One(draft) => std::slice::from_ref(draft),
            Drafts::Many(drafts) => drafts,
        }
    }
}

/// How much is kept for the next batch.
const LARGEST_KEPT: usize = 64 << 10;

/// Entries that are written at once.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) bytes: Vec<u8>,
    pub(super) entries: Vec<Encoded>,
    pub(super) tip: Option<Arc<str>>,
}

/// One of them: which of the bytes are its line.
#[derive(Debug)]
pub(super) struct Encoded {
    pub(super) id: Arc<str>,
    pub(super) line: std::ops::Range<usize>,
    pub(super) deduplicated: bool,
}

impl Encoded {
    /// An entry that stands in the log already.
    pub(super) fn before(id: &str) -> Self {
        Encoded {
            id: id.into(),
            line: 0..0,
            deduplicated: true,
        }
    }
}

impl Batch {
    /// The same without entries: what was allocated for them serves the next ones.
    pub(super) fn emptied(mut self) -> Batch {
        self.bytes.clear();
        self.entries.clear();
        self.tip = None;
        // One that was large is not kept for ever.
        self.bytes.shrink_to(LARGEST_KEPT);
        self
    }

    /// The lines that are new.
    pub(super) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let fresh = self.entries.iter().filter(|entry| !entry.deduplicated);
        fresh.map(|entry| self.bytes.get(entry.line.clone()).unwrap_or(b""))
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.entries.iter().any(|entry| *entry.id == *id)
    }
}
