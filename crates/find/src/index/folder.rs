//! The folder of the index and its files, on a [`Disk`] of the store.
//!
//! A file is written under a temporary name, synced, and renamed, so that a crash at any point
//! leaves the old or the new file. An open file stays readable after it was replaced or removed.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_model::{Error, ErrorKind, Result};
use boswell_store::disk::{Disk, DiskFile, LockMode, OpenMode, durable, read_full};

/// Extension of a file that was not renamed yet: the writer removes such files after a crash.
pub(super) const TEMPORARY: &str = ".tmp";

/// A folder that contains the files of one index and nothing else.
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

    /// Returns the names of all files; an empty list if the folder is missing.
    pub(crate) fn list(&self) -> Vec<String> {
        let listed = self.disk.list(&self.root).unwrap_or_default();
        listed.into_iter().map(|(name, _)| name).collect()
    }

    pub(crate) fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.disk
            .open(&self.root.join(name), OpenMode::Read)
            .map(Arc::from)
    }

    /// Reads a whole file; an error if it is longer than `limit`.
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

    /// Creates the folder if it is missing and takes the writer lock, which is released when the
    /// returned file is dropped.
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
        .advising("searching works without it; try again in a moment"))
    }

    /// Writes a file atomically. Only the holder of the writer lock may call this.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        durable::put(self.disk.as_ref(), &self.root.join(name), bytes, "new")
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(&self.root.join(name))
    }
}

/// Fills the buffer from offset `at`; an error if the file ends before.
pub(super) fn read_exact_at(file: &dyn DiskFile, buffer: &mut [u8], at: u64) -> io::Result<()> {
    let wanted = buffer.len();
    if read_full(file, buffer, at)? < wanted {
        Err(io::ErrorKind::UnexpectedEof.into())
    } else {
        Ok(())
    }
}
