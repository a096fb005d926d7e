//! Threads that append through one writer share its syncs.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use boswell_store::disk::{Disk, DiskFile, LockMode, MemoryDisk, Open, Stat};
use boswell_store::{Draft, ErrorKind, NewSession, Store, SystemChance};

const THREADS: usize = 64;

/// A disk in memory whose syncs are counted and, while the gate is shut, do not end.
#[derive(Debug, Default, Clone)]
struct GatedDisk {
    inner: Arc<MemoryDisk>,
    gate: Arc<Gate>,
}

#[derive(Debug, Default)]
struct Gate {
    shut: Mutex<bool>,
    moved: Condvar,
    syncs: AtomicUsize,
    appends: AtomicUsize,
    fails: Mutex<bool>,
}

impl Gate {
    fn set(&self, shut: bool) {
        *self.shut.lock().unwrap() = shut;
        self.moved.notify_all();
    }

    fn pass(&self) -> io::Result<()> {
        self.syncs.fetch_add(1, Ordering::SeqCst);
        let mut shut = self.shut.lock().unwrap();
        while *shut {
            shut = self.moved.wait(shut).unwrap();
        }
        if *self.fails.lock().unwrap() { Err(io::Error::other("the disk is gone")) } else { Ok(()) }
    }

    fn wait_for_appends(&self, count: usize) {
        while self.appends.load(Ordering::SeqCst) < count {
            std::thread::yield_now();
        }
    }
}

impl Disk for GatedDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(GatedFile { inner: self.inner.open(path, how)?, gate: Arc::clone(&self.gate) }))
    }
    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        self.inner.stat(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<(String, Stat)>> {
        self.inner.list(path)
    }
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.inner.make_folder(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.rename(from, to)
    }
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.link(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.inner.remove(path)
    }
    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_folder(path)
    }
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.inner.sync_folder(path)
    }
    fn write_again(&self, path: &Path, file: (u64, u64), bytes: &[u8], at: u64) -> io::Result<()> {
        self.inner.write_again(path, file, bytes, at)
    }
    fn pause(&self, time: Duration) {
        self.inner.pause(time);
    }
}

#[derive(Debug)]
struct GatedFile {
    inner: Box<dyn DiskFile>,
    gate: Arc<Gate>,
}

impl DiskFile for GatedFile {
    fn stat(&self) -> io::Result<Stat> {
        self.inner.stat()
    }
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        self.inner.read_at(buffer, at)
    }
    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.inner.append(bytes)?;
        self.gate.appends.fetch_add(1, Ordering::SeqCst);
        Ok(done)
    }
    fn truncate(&self, len: u64) -> io::Result<()> {
        self.inner.truncate(len)
    }
    fn sync(&self) -> io::Result<()> {
        self.gate.pass()?;
        self.inner.sync()
    }
    fn set_mode_and_time(&self, mode: u32, modified: i128) -> io::Result<()> {
        self.inner.set_mode_and_time(mode, modified)
    }
    fn try_lock(&self, mode: LockMode) -> io::Result<bool> {
        self.inner.try_lock(mode)
    }
    fn unlock(&self) -> io::Result<()> {
        self.inner.unlock()
    }
}

#[test]
fn appends_that_come_while_a_sync_runs_share_the_next_one() {
    let disk = GatedDisk::default();
    let gate = Arc::clone(&disk.gate);
    let store = Store::open_on(Arc::new(disk), Arc::new(SystemChance), "/home").unwrap();
    let writer = store.create(NewSession::in_project("/p")).unwrap();
    let (syncs, appends) = (gate.syncs.load(Ordering::SeqCst), gate.appends.load(Ordering::SeqCst));
    gate.set(true);
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            let writer = writer.clone();
            scope.spawn(move || writer.append(Draft::user("t").with_id(format!("t{number}"))).unwrap());
        }
        gate.wait_for_appends(appends + THREADS);
        gate.set(false);
    });
    let syncs = gate.syncs.load(Ordering::SeqCst) - syncs;
    assert_eq!(syncs, 2, "one for the first to wait, one for all others");
    let session = writer.session().unwrap();
    for number in 0..THREADS {
        session.find(&format!("t{number}")).unwrap();
    }
}

#[test]
fn a_sync_that_fails_is_told_to_all_who_wait() {
    let disk = GatedDisk::default();
    let gate = Arc::clone(&disk.gate);
    let store = Store::open_on(Arc::new(disk), Arc::new(SystemChance), "/home").unwrap();
    let writer = store.create(NewSession::in_project("/p")).unwrap();
    let appends = gate.appends.load(Ordering::SeqCst);
    gate.set(true);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let writer = writer.clone();
                scope.spawn(move || writer.append(Draft::user("t")))
            })
            .collect();
        gate.wait_for_appends(appends + THREADS);
        *gate.fails.lock().unwrap() = true;
        gate.set(false);
        for thread in threads {
            assert_eq!(thread.join().unwrap().unwrap_err().kind(), ErrorKind::Unavailable);
        }
    });
    assert_eq!(writer.in_doubt().len(), THREADS, "every entry is named");
}
