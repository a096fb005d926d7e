//! The folder of the index: its files on a [`Disk`] of the store.
//!
//! A file is written under a temporary name, synced, and renamed to its own, so that a crash at any
//! moment leaves the old file or the new one. A file that is open stays readable after it was
//! replaced or removed.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_model::{Error, ErrorKind, Result};
use boswell_store::disk::{Disk, DiskFile, LockMode, OpenMode, durable, read_full};

/// How the name of a file ends that was not renamed yet: what a crash left of it can be removed.
pub(super) const TEMPORARY: &str = ".tmp";

/// A folder that holds files of one index and nothing else.
#[derive(Debug, Clone)]
pub(crate) struct IndexFolder {
    disk: Arc<dyn Disk>,
    root: PathBuf,
}

impl IndexFolder {
    pub(crate) fn new(disk: Arc<dyn Disk>, root: &Path) -> IndexFolder {
        IndexFolder {
            disk,
            root: root.to_path_buf(),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The names of all files; none if the folder is not there.
    pub(crate) fn list(&self) -> Vec<String> {
        let listed = self.disk.list(&self.root).unwrap_or_default();
        listed.into_iter().map(|(name, _)| name).collect()
    }

    pub(crate) fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.disk
            .open(&self.root.join(name), OpenMode::Read)
            .map(Arc::from)
    }

    /// A whole file, refused if it is longer than `limit`.
    pub(crate) fn read(&self, name: &str, limit: u64) -> io::Result<Vec<u8>> {
        let file = self.open(name)?;
        let len = file.stat()?.len;
        if len > limit {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the file is longer than it can be",
            ));
        }
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
        read_exact_at(file.as_ref(), &mut bytes, 0)?;
        Ok(bytes)
    }

    /// Creates the folder if it is missing, and takes the lock of the one writer, which
    /// ends when it is dropped.
    pub(crate) fn lock(&self) -> Result<Box<dyn DiskFile>> {
        durable::make_folders(self.disk.as_ref(), &self.root)?;
        let path = self.root.join("lock");
        let fault = |error| Error::io(path.display(), "lock", error);
        let file = self.disk.open(&path, OpenMode::Lock).map_err(fault)?;
        if file.try_lock(LockMode::Exclusive).map_err(fault)? {
            return Ok(file);
        }
        Err(Error::new(
            ErrorKind::Busy,
            "the search index is being written by another process",
        )
        .hinting("searching goes on without it; try again in a moment"))
    }

    /// Puts a file in place: old or new, never half. Only the one writer calls this.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        durable::put(self.disk.as_ref(), &self.root.join(name), bytes, "new")
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(&self.root.join(name))
    }
}

/// Fills the buffer from position `at`; an error if the file ends before.
pub(super) fn read_exact_at(file: &dyn DiskFile, buffer: &mut [u8], at: u64) -> io::Result<()> {
    let wanted = buffer.len();
    if read_full(file, buffer, at)? < wanted {
        Err(io::ErrorKind::UnexpectedEof.into())
    } else {
        Ok(())
    }
}
