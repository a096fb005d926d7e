//! Drafts of one call, and the batch of encoded lines that one `write` appends.
//!
//! A [`Batch`] collects the lines in one buffer with the range of each entry, so that they go to
//! the log in a single `write` and positions can be computed afterwards. Its buffers are reused
//! from append to append.

use boswell_dialect::Draft;
use boswell_model::EntryId;

/// The drafts of one call, written in one `write`: mostly one, which needs no `Vec`.
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

/// The largest buffer that is kept for the next batch, in bytes.
const LARGEST_KEPT: usize = 64 << 10;

/// Encoded entries that one `write` appends.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) bytes: Vec<u8>,
    pub(super) entries: Vec<Encoded>,
    /// The last new entry: the parent of the next draft at the tip.
    pub(super) tip: Option<EntryId>,
}

/// One entry of a batch, with the range of its line in [`Batch::bytes`].
#[derive(Debug)]
pub(super) struct Encoded {
    pub(super) id: EntryId,
    pub(super) line: std::ops::Range<usize>,
    /// Whether the log contains the entry already; then it has no line here.
    pub(super) deduplicated: bool,
}

impl Encoded {
    /// Returns an entry that the log contains already.
    pub(super) fn before(id: EntryId) -> Self {
        Encoded {
            id,
            line: 0..0,
            deduplicated: true,
        }
    }
}

impl Batch {
    /// Returns the batch without entries, with its allocations.
    pub(super) fn emptied(mut self) -> Batch {
        self.bytes.clear();
        self.entries.clear();
        self.tip = None;
        // A single large record must not keep its memory for the life of the writer.
        self.bytes.shrink_to(LARGEST_KEPT);
        self
    }

    /// Iterates over the lines of new entries.
    pub(super) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let fresh = self.entries.iter().filter(|entry| !entry.deduplicated);
        fresh.map(|entry| self.bytes.get(entry.line.clone()).unwrap_or(b""))
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.entries.iter().any(|entry| entry.id == *id)
    }
}
