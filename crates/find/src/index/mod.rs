//! The search index: an inverted index from terms to blocks of text, without the text itself.
//!
//! Text is divided into blocks of 16 KB. An immutable [`segment`] contains for each term the blocks
//! of the segment in which the term occurs. The [`manifest`] lists the current segments and how far
//! each source is covered. Apart from its terms no text of a source is stored: a search reads each
//! candidate block from its source again. The folder can be deleted at any time.
//!
//! Readers take no lock and never wait: they open the files that the manifest names and keep them
//! open ([`Snapshot`]). The one writer holds a lock of the operating system, writes new segment
//! files, and replaces the manifest atomically.

mod builder;
mod checksummed_pages;
mod folder;
mod manifest;
mod merge;
mod parallel_update;
mod segment;
mod snapshot;
mod update;
mod writer;

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use boswell_store::disk::{Disk, RealDisk};

pub(crate) use folder::IndexFolder;
pub(crate) use segment::{BlockRow, Dictionary, Fit, Rows, Segment};
pub(crate) use snapshot::Snapshot;
pub use update::{Backlog, Progress};

/// A search index in a folder.
#[derive(Debug)]
pub struct Index {
    folder: IndexFolder,
    now: RwLock<Arc<Snapshot>>,
}

/// Size figures of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// Number of sources that are covered at least in part.
    pub sources: u64,
    /// Number of segments that the manifest lists.
    pub segments: u64,
    /// Number of blocks in these segments, including blocks that no source owns any more.
    pub blocks: u64,
    /// Bytes of text that the segments were built from.
    pub text: u64,
    /// Bytes of the segment files.
    pub bytes: u64,
}

impl Index {
    /// Opens the index in `folder`. Files that are missing, damaged or of another version count as
    /// not indexed.
    pub fn open(folder: &Path) -> Index {
        Index::on(Arc::new(RealDisk), folder)
    }

    /// As [`Index::open`], with a disk that the caller provides.
    pub(crate) fn on(disk: Arc<dyn Disk>, folder: &Path) -> Index {
        let folder = IndexFolder::new(disk, folder);
        let now = Snapshot::load(&folder);
        Index {
            folder,
            now: RwLock::new(Arc::new(now)),
        }
    }

    /// Loads the current manifest again, which another process may have replaced.
    pub fn refresh(&self) {
        self.put(Snapshot::load(&self.folder));
    }

    /// Reads what every search needs of each segment (block rows and terms), and keeps it in memory
    /// for the searches that follow, while it is at most `most` bytes.
    pub fn keep_in_memory(&self, most: u64) {
        let now = self.snapshot();
        let mut left = most;
        for segment in now.segments.iter().flatten() {
            let Some(rest) = left.checked_sub(segment.kept_size()) else {
                return;
            };
            left = rest;
            // A damaged segment is noticed by the search that needs it.
            let _ = segment.keep();
        }
    }

    /// Returns size figures of the current snapshot.
    pub fn size(&self) -> Size {
        let now = self.snapshot();
        let mut size = Size {
            sources: now.manifest.sources.len() as u64,
            ..Size::default()
        };
        for row in &now.manifest.segments {
            size.segments += 1;
            size.blocks += u64::from(row.blocks);
            size.text += row.text;
            size.bytes += row.bytes;
        }
        size
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.now
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn put(&self, snapshot: Snapshot) {
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(snapshot);
    }
}
