//! The real disk, with its syncs counted.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use boswell_store::disk::{Disk, DiskFile, LockMode, Open, RealDisk, Stat};

#[derive(Debug, Default)]
pub(crate) struct CountingDisk {
    disk: RealDisk,
    syncs: Arc<AtomicU64>,
}

impl CountingDisk {
    /// How many files and folders were synced so far.
    pub(crate) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::SeqCst)
    }
}

impl Disk for CountingDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        let file = self.disk.open(path, how)?;
        Ok(Box::new(CountingFile { file, syncs: Arc::clone(&self.syncs) }))
    }

    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        self.disk.stat(path)
    }

    fn is_link(&self, path: &Path) -> io::Result<bool> {
        self.disk.is_link(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<(String, Stat)>> {
        self.disk.list(path)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.disk.make_folder(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_folder(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.syncs.fetch_add(1, Ordering::SeqCst);
        self.disk.sync_folder(path)
    }

    fn write_again(&self, path: &Path, file: (u64, u64), bytes: &[u8], at: u64) -> io::Result<()> {
        self.disk.write_again(path, file, bytes, at)
    }

    fn pause(&self, time: Duration) {
        self.disk.pause(time);
    }
}

#[derive(Debug)]
struct CountingFile {
    file: Box<dyn DiskFile>,
    syncs: Arc<AtomicU64>,
}

impl DiskFile for CountingFile {
    fn stat(&self) -> io::Result<Stat> {
        self.file.stat()
    }

    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        self.file.read_at(buffer, at)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        self.file.append(bytes)
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.file.truncate(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.syncs.fetch_add(1, Ordering::SeqCst);
        self.file.sync()
    }

    fn set_mode_and_time(&self, mode: u32, modified: i128) -> io::Result<()> {
        self.file.set_mode_and_time(mode, modified)
    }

    fn try_lock(&self, mode: LockMode) -> io::Result<bool> {
        self.file.try_lock(mode)
    }
}
