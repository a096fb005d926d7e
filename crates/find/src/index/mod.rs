//! The search index: which words stand where in every source, without their text.
//!
//! Text is cut into blocks of 16 KB; an immutable [`segment`] says for each term in which of its
//! blocks it stands; the [`manifest`] says which segments are in force and how far each source is
//! covered. Nothing of a source's text is kept but its terms: what a search finds is read again
//! where it came from. The folder can be deleted at any time.
//!
//! Readers take no lock and never wait: they open what the manifest names and keep it open. The
//! one writer holds a lock of the operating system, writes new files, and puts a new manifest in
//! place of the old one.

mod builder;
mod checksummed_pages;
mod folder;
mod manifest;
mod merge;
mod segment;
mod snapshot;
mod update;
mod writer;

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use boswell_store::disk::{Disk, RealDisk};

pub(crate) use folder::IndexFolder;
pub(crate) use segment::{BlockRow, Fit, Rows, Segment};
pub(crate) use snapshot::Snapshot;
pub use update::{Backlog, Progress};

/// A search index in a folder.
#[derive(Debug)]
pub struct Index {
    folder: IndexFolder,
    now: RwLock<Arc<Snapshot>>,
}

/// What an index holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// Sources that are covered at least in part.
    pub sources: u64,
    /// Segments in force.
    pub segments: u64,
    /// Blocks in them, dead ones too.
    pub blocks: u64,
    /// Bytes of text that they were made from.
    pub text: u64,
    /// Bytes of the segments on disk.
    pub bytes: u64,
}

impl Index {
    /// Opens the index in a folder. What is missing, damaged or of another version
    /// counts as not indexed.
    pub fn open(folder: &Path) -> Index {
        Index::on(Arc::new(RealDisk), folder)
    }

    /// As [`Index::open`], on a disk of the caller.
    pub(crate) fn on(disk: Arc<dyn Disk>, folder: &Path) -> Index {
        let folder = IndexFolder::new(disk, folder);
        let now = Snapshot::load(&folder);
        Index {
            folder,
            now: RwLock::new(Arc::new(now)),
        }
    }

    /// Looks again what is in force, after another process may have changed it.
    pub fn refresh(&self) {
        self.put(Snapshot::load(&self.folder));
    }

    /// What it holds.
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
