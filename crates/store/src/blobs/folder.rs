//! [`BlobFolder`]: blobs as files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use boswell_model::{Error, Result};

use super::BlobId;
use crate::disk::{Disk, StatKind, durable};

/// A folder of blobs.
#[derive(Debug, Clone)]
pub(super) struct BlobFolder {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) path: PathBuf,
    pub(super) shared: Arc<Shared>,
}

/// State that clones share.
#[derive(Debug)]
pub(super) struct Shared {
    /// With the number of how many there were, names temporary files.
    pub(super) unique: String,
    count: AtomicU64,
    /// Whether the name of the folder itself is known to be durable.
    settled: AtomicBool,
}

impl BlobFolder {
    pub(super) fn new(disk: Arc<dyn Disk>, home: &Path, unique: &str) -> Self {
        BlobFolder {
            disk,
            path: home.join("blobs"),
            shared: Arc::new(Shared {
                unique: unique.to_owned(),
                count: AtomicU64::new(0),
                settled: AtomicBool::new(false),
            }),
        }
    }

    pub(super) fn put(&self, id: &BlobId, bytes: &[u8]) -> Result<()> {
        let path = self.path(id);
        self.settle_folder()?;
        if self.holds(id, bytes.len())? {
            // The process that wrote it may have died between the rename and the sync of the
            // folder.
            return durable::sync_parent(self.disk.as_ref(), &path);
        }
        durable::put(self.disk.as_ref(), &path, bytes, &self.temp_name())
    }

    pub(super) fn get(&self, id: &BlobId) -> Result<Option<Vec<u8>>> {
        durable::read(self.disk.as_ref(), &self.path(id))
    }

    pub(super) fn remove(&self, id: &BlobId) -> Result<()> {
        let path = self.path(id);
        match self.disk.remove(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(Error::io(path.display(), "remove", error)),
            Ok(()) => durable::sync_parent(self.disk.as_ref(), &path),
        }
    }

    pub(super) fn has(&self, id: &BlobId) -> Result<bool> {
        Ok(self.stat(id)?.is_some())
    }

    pub(super) fn list(&self) -> Result<Vec<(BlobId, u64)>> {
        let names = match self.disk.list(&self.path) {
            Ok(names) => names,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io(self.path.display(), "list", error)),
        };
        let files = names
            .into_iter()
            .filter(|(_, stat)| stat.kind == StatKind::File);
        let mut found: Vec<_> = files
            .filter_map(|(name, stat)| BlobId::parse(&name).map(|id| (id, stat.len)))
            .collect();
        found.sort_unstable();
        Ok(found)
    }

    /// Makes the folder. An existing one may have been made by a process that died before it was
    /// durable.
    fn settle_folder(&self) -> Result<()> {
        if !self.shared.settled.load(Ordering::Acquire) {
            durable::make_folders(self.disk.as_ref(), &self.path)?;
            durable::sync_parent(self.disk.as_ref(), &self.path)?;
            self.shared.settled.store(true, Ordering::Release);
        }
        Ok(())
    }

    pub(super) fn path(&self, id: &BlobId) -> PathBuf {
        self.path.join(id.to_string())
    }

    fn stat(&self, id: &BlobId) -> Result<Option<u64>> {
        let path = self.path(id);
        let stat = self
            .disk
            .stat(&path)
            .map_err(|error| Error::io(path.display(), "look at", error))?;
        Ok(stat
            .filter(|stat| stat.kind == StatKind::File)
            .map(|stat| stat.len))
    }

    fn holds(&self, id: &BlobId, len: usize) -> Result<bool> {
        if self.stat(id)? != u64::try_from(len).ok() {
            return Ok(false);
        }
        let kept = durable::read(self.disk.as_ref(), &self.path(id))?;
        Ok(kept.is_some_and(|bytes| BlobId::of(&bytes) == *id))
    }

    pub(super) fn temp_name(&self) -> String {
        format!(
            "{}-{}",
            self.shared.unique,
            self.shared.count.fetch_add(1, Ordering::Relaxed)
        )
    }
}
