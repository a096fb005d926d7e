//! What the tests of plans, vault and locks share: a clock that ticks, a disk that fails, trees to compare.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use boswell_model::Instant;
use boswell_store::disk::{Disk, DiskFile, LockMode, Open, RealDisk, Stat, StatKind};
use boswell_store::{Chance, Owner, Runner, SessionRef, Wait};

/// A clock that stands still until it is moved, and names that count up.
#[derive(Debug)]
pub(crate) struct TestChance {
    pub(crate) millis: AtomicI64,
    count: AtomicU64,
}

impl TestChance {
    pub(crate) fn new() -> Arc<Self> {
        Self::counting_from(0)
    }

    pub(crate) fn counting_from(first: u64) -> Arc<Self> {
        Arc::new(TestChance { millis: AtomicI64::new(1_800_000_000_000), count: AtomicU64::new(first) })
    }
}

impl Chance for TestChance {
    fn now(&self) -> Instant {
        Instant::from_millis(self.millis.load(Ordering::Relaxed))
    }

    fn random(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }
}

/// What happens at the call that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing of it is done.
    NotDone,
    /// An append is done by half; other calls not at all.
    Half,
    /// It is done, and reported as failed.
    Done,
}

/// What happens after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// Everything works again.
    GoesOn,
    /// Nothing works any more, as after a crash.
    Dead,
}

#[derive(Debug)]
struct Switch {
    calls: AtomicUsize,
    at: usize,
    fault: Fault,
    then: Then,
    dead: AtomicBool,
}

impl Switch {
    /// Runs a call that only looks, or fails it. A crash there is a crash at the next call that changes something.
    fn look<T>(&self, real: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match self.then {
            Then::Dead if self.dead.load(Ordering::Relaxed) => Err(broken()),
            Then::Dead => real(),
            Then::GoesOn => self.call(real),
        }
    }

    /// Runs a call, or fails it.
    fn call<T>(&self, real: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match self.next() {
            None => real(),
            Some(Fault::Done) => {
                let _ = real();
                Err(broken())
            }
            Some(_) => Err(broken()),
        }
    }

    fn next(&self) -> Option<Fault> {
        if self.dead.load(Ordering::Relaxed) {
            return Some(Fault::NotDone);
        }
        if self.calls.fetch_add(1, Ordering::Relaxed) != self.at {
            return None;
        }
        if self.then == Then::Dead {
            self.dead.store(true, Ordering::Relaxed);
        }
        Some(self.fault)
    }
}

fn broken() -> io::Error {
    io::Error::other("the disk is broken")
}

/// A disk that fails at one call. It does not really sync: what is on disk is what was written.
#[derive(Debug, Clone)]
pub(crate) struct FailingDisk(Arc<Switch>);

impl FailingDisk {
    pub(crate) fn at(at: usize, fault: Fault, then: Then) -> Self {
        FailingDisk(Arc::new(Switch { calls: AtomicUsize::new(0), at, fault, then, dead: AtomicBool::new(false) }))
    }

    pub(crate) fn never() -> Self {
        Self::at(usize::MAX, Fault::NotDone, Then::Dead)
    }

    pub(crate) fn calls(&self) -> usize {
        self.0.calls.load(Ordering::Relaxed)
    }
}

impl Disk for FailingDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        let file = match how {
            Open::Read | Open::Append | Open::OldLock => self.0.look(|| RealDisk.open(path, how))?,
            Open::CreateNew | Open::Lock => self.0.call(|| RealDisk.open(path, how))?,
        };
        Ok(Box::new(FailingFile { file, switch: Arc::clone(&self.0) }))
    }
    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        self.0.look(|| RealDisk.stat(path))
    }
    fn list(&self, path: &Path) -> io::Result<Vec<(String, Stat)>> {
        self.0.look(|| RealDisk.list(path))
    }
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.0.call(|| RealDisk.make_folder(path))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.call(|| RealDisk.rename(from, to))
    }
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.call(|| RealDisk.link(from, to))
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.call(|| RealDisk.remove(path))
    }
    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.0.call(|| RealDisk.remove_folder(path))
    }
    fn sync_folder(&self, _path: &Path) -> io::Result<()> {
        self.0.call(|| Ok(()))
    }
    fn write_again(&self, path: &Path, file: (u64, u64), bytes: &[u8], at: u64) -> io::Result<()> {
        self.0.call(|| RealDisk.write_again(path, file, bytes, at))
    }
    /// Time passes faster here, but it passes: until a process that another test starts is under way, it has our locks too.
    fn pause(&self, time: Duration) {
        std::thread::sleep(time / 5);
    }
}

#[derive(Debug)]
struct FailingFile {
    file: Box<dyn DiskFile>,
    switch: Arc<Switch>,
}

impl DiskFile for FailingFile {
    fn stat(&self) -> io::Result<Stat> {
        self.switch.look(|| self.file.stat())
    }
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        self.switch.look(|| self.file.read_at(buffer, at))
    }
    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        match self.switch.next() {
            None => self.file.append(bytes),
            Some(Fault::NotDone) => Err(broken()),
            Some(Fault::Half) => {
                let _ = self.file.append(&bytes[..bytes.len() / 2]);
                Err(broken())
            }
            Some(Fault::Done) => {
                let _ = self.file.append(bytes);
                Err(broken())
            }
        }
    }
    fn truncate(&self, len: u64) -> io::Result<()> {
        self.switch.call(|| self.file.truncate(len))
    }
    fn sync(&self) -> io::Result<()> {
        self.switch.call(|| Ok(()))
    }
    fn set_mode_and_time(&self, mode: u32, modified: i128) -> io::Result<()> {
        self.switch.call(|| self.file.set_mode_and_time(mode, modified))
    }
    fn try_lock(&self, mode: LockMode) -> io::Result<bool> {
        self.switch.look(|| self.file.try_lock(mode))
    }
}

/// A store and a home in a temporary folder.
#[derive(Debug)]
pub(crate) struct Place {
    folder: tempfile::TempDir,
    pub(crate) chance: Arc<TestChance>,
}

impl Place {
    pub(crate) fn new() -> Self {
        // What is asked here is what the calls leave, not what a disk keeps: memory will do, where the system offers it.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        boswell_testkit::disk::make_dir(&folder.path().join("store"));
        Place { folder, chance: TestChance::new() }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn put(&self, key: &str, bytes: &str) {
        boswell_testkit::disk::write(&self.root().join(key), bytes.as_bytes());
    }

    pub(crate) fn read(&self, key: &str) -> String {
        String::from_utf8(boswell_testkit::disk::read(&self.root().join(key))).unwrap()
    }

    pub(crate) fn append(&self, key: &str, bytes: &str) {
        let file = RealDisk.open(&self.root().join(key), Open::Append).unwrap();
        assert_eq!(file.append(bytes.as_bytes()).unwrap(), bytes.len());
    }

    pub(crate) fn runner(&self) -> Runner {
        self.runner_on(FailingDisk::never())
    }

    pub(crate) fn runner_on(&self, disk: FailingDisk) -> Runner {
        let owner = Owner { pid: 4242, program: "test".into() };
        // Long enough for a process that another test starts: until it is under way, it has our locks too.
        let wait = Wait::For(Duration::from_secs(1));
        Runner::new(Arc::new(disk), self.home(), self.chance.clone(), owner).waiting(wait)
    }

    /// Everything below the store: files with content and mode, folders.
    pub(crate) fn tree(&self) -> Tree {
        tree(&self.root())
    }
}

pub(crate) type Tree = BTreeMap<String, Option<(String, u32)>>;

pub(crate) fn tree(root: &Path) -> Tree {
    let mut out = Tree::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for (name, stat) in RealDisk.list(&folder).unwrap() {
            let path = folder.join(name);
            let key = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            if stat.kind == StatKind::Folder {
                out.insert(key, None);
                folders.push(path);
            } else {
                let bytes = String::from_utf8_lossy(&boswell_testkit::disk::read(&path)).into_owned();
                out.insert(key, Some((bytes, stat.mode)));
            }
        }
    }
    out
}

pub(crate) fn session() -> SessionRef {
    SessionRef::new("pi", "s1")
}

impl Place {
    /// Names directly in the store.
    pub(crate) fn tree_names(&self) -> Vec<String> {
        let mut names: Vec<String> = RealDisk.list(&self.root()).unwrap().into_iter().map(|(name, _)| name).collect();
        names.sort();
        names
    }
}
