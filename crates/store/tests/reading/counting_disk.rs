//! The real disk, which counts the bytes that are read from logs.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use boswell_store::disk::{Disk, DiskFile, LockMode, Open, RealDisk, Stat};

#[derive(Debug, Default)]
pub(crate) struct CountingDisk {
    read: Arc<AtomicU64>,
}

#[derive(Debug)]
struct CountingFile {
    file: Box<dyn DiskFile>,
    read: Arc<AtomicU64>,
}

impl CountingDisk {
    /// How many bytes of logs were read while `work` ran, and what it gave.
    pub(crate) fn count<T>(&self, work: impl FnOnce() -> T) -> (u64, T) {
        let before = self.read.load(Ordering::Relaxed);
        let done = work();
        (self.read.load(Ordering::Relaxed) - before, done)
    }
}

impl Disk for CountingDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        let file = RealDisk.open(path, how)?;
        let is_log = path.extension().is_some_and(|extension| extension == "jsonl");
        Ok(if is_log { Box::new(CountingFile { file, read: Arc::clone(&self.read) }) } else { file })
    }

    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        RealDisk.stat(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<(String, Stat)>> {
        RealDisk.list(path)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.make_folder(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_folder(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.sync_folder(path)
    }

    fn write_again(&self, path: &Path, file: (u64, u64), bytes: &[u8], at: u64) -> io::Result<()> {
        RealDisk.write_again(path, file, bytes, at)
    }

    fn pause(&self, time: Duration) {
        RealDisk.pause(time);
    }
}

impl DiskFile for CountingFile {
    fn stat(&self) -> io::Result<Stat> {
        self.file.stat()
    }

    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let done = self.file.read_at(buffer, at)?;
        self.read.fetch_add(done as u64, Ordering::Relaxed);
        Ok(done)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        self.file.append(bytes)
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.file.truncate(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn set_mode_and_time(&self, mode: u32, modified: i128) -> io::Result<()> {
        self.file.set_mode_and_time(mode, modified)
    }

    fn try_lock(&self, mode: LockMode) -> io::Result<bool> {
        self.file.try_lock(mode)
    }
}
