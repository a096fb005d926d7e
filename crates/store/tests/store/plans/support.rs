//! Shared by the tests of plans, vault and locks: a clock, a disk that fails, trees to compare.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use boswell_model::Instant;
use boswell_store::Wait;
use boswell_store::disk::{Clock, IdSource};
use boswell_store::disk::{Disk, OpenMode, RealDisk, StatKind};
use boswell_store::locks::Owner;
use boswell_store::model::SessionRef;
use boswell_store::operations::Runner;
use boswell_testkit::hooked_disk::{DiskCall, Hook, HookVerdict, HookedDisk};

/// A clock that is set by the test, and ids that count up.
#[derive(Debug)]
pub(crate) struct TestIds {
    pub(crate) millis: AtomicI64,
    count: AtomicU64,
}

impl TestIds {
    pub(crate) fn new() -> Arc<Self> {
        Self::counting_from(0)
    }

    pub(crate) fn counting_from(first: u64) -> Arc<Self> {
        Arc::new(TestIds {
            millis: AtomicI64::new(1_800_000_000_000),
            count: AtomicU64::new(first),
        })
    }
}

impl Clock for TestIds {
    fn now(&self) -> Instant {
        Instant::from_millis(self.millis.load(Ordering::Relaxed))
    }
}

impl IdSource for TestIds {
    fn random(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }
}

/// The effect of the call that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The call has no effect.
    NotDone,
    /// Half of an append is written; other calls have no effect.
    Half,
    /// The call is done, and reports a failure.
    Done,
}

/// What happens after the failing call.
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

impl Hook for Switch {
    fn before(&self, call: &DiskCall<'_>) -> HookVerdict {
        // A crash at a call that only reads is moved to the next one that changes something.
        if !call.changes() && self.then == Then::Dead {
            let dead = self.dead.load(Ordering::Relaxed);
            return if dead {
                HookVerdict::Fail(broken())
            } else {
                HookVerdict::Proceed
            };
        }
        match (self.next(), call) {
            // Syncs are skipped to save time: the file system already shows the written bytes.
            (None, call) if call.syncs() => HookVerdict::Skip,
            (None, _) => HookVerdict::Proceed,
            (Some(Fault::Half), DiskCall::Append { bytes, .. }) => {
                HookVerdict::PartialThenFail(bytes.len() / 2, broken())
            }
            (Some(Fault::Done), call) if !call.syncs() => HookVerdict::FailAfter(broken()),
            (Some(_), _) => HookVerdict::Fail(broken()),
        }
    }

    /// Without this, lock files must contain their holder.
    fn knows_processes(&self) -> bool {
        false
    }

    /// Time passes faster, but it passes: a process that another test starts holds our locks until
    /// it has called `exec`.
    fn pause(&self, _disk: &dyn Disk, time: Duration) {
        std::thread::sleep(time / 5);
    }
}

fn broken() -> io::Error {
    io::Error::other("the disk is broken")
}

/// The real disk, which fails at one call. It does not really sync: the file system already shows
/// the written bytes.
#[derive(Debug, Clone)]
pub(crate) struct FailingDisk {
    switch: Arc<Switch>,
    disk: HookedDisk,
}

impl FailingDisk {
    pub(crate) fn at(at: usize, fault: Fault, then: Then) -> Self {
        let (calls, dead) = (AtomicUsize::new(0), AtomicBool::new(false));
        let switch = Arc::new(Switch {
            calls,
            at,
            fault,
            then,
            dead,
        });
        FailingDisk {
            disk: HookedDisk::real(switch.clone()),
            switch,
        }
    }

    pub(crate) fn never() -> Self {
        Self::at(usize::MAX, Fault::NotDone, Then::Dead)
    }

    pub(crate) fn calls(&self) -> usize {
        self.switch.calls.load(Ordering::Relaxed)
    }

    pub(crate) fn disk(&self) -> Arc<dyn Disk> {
        Arc::new(self.disk.clone())
    }
}

/// A store and a home in a temporary folder.
#[derive(Debug)]
pub(crate) struct Place {
    folder: tempfile::TempDir,
    pub(crate) id_source: Arc<TestIds>,
}

impl Place {
    pub(crate) fn new() -> Self {
        // These tests are about the results of calls, not about durability, so a file system in
        // memory is used if there is one.
        let folder = tempfile::tempdir_in("/dev/shm")
            .or_else(|_| tempfile::tempdir())
            .unwrap();
        boswell_testkit::disk::make_dir(&folder.path().join("store"));
        Place {
            folder,
            id_source: TestIds::new(),
        }
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
        let file = RealDisk
            .open(&self.root().join(key), OpenMode::Append)
            .unwrap();
        assert_eq!(file.append(bytes.as_bytes()).unwrap(), bytes.len());
    }

    pub(crate) fn runner(&self) -> Runner {
        self.runner_on(FailingDisk::never())
    }

    pub(crate) fn runner_on(&self, disk: FailingDisk) -> Runner {
        let owner = Owner {
            pid: 4242,
            program: "test".into(),
        };
        // Long enough for a process that another test starts: it holds our locks until it has
        // called `exec`.
        let wait = Wait::For(Duration::from_secs(1));
        Runner::new(disk.disk(), self.home(), self.id_source.clone(), owner).waiting(wait)
    }

    /// Returns everything below the store: files with contents and mode, folders.
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
            let key = path
                .strip_prefix(root)
                .unwrap()
                .to_string_lossy()
                .into_owned();
            if stat.kind == StatKind::Folder {
                out.insert(key, None);
                folders.push(path);
            } else {
                let bytes =
                    String::from_utf8_lossy(&boswell_testkit::disk::read(&path)).into_owned();
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
    /// Returns the names directly in the store.
    pub(crate) fn tree_names(&self) -> Vec<String> {
        let mut names: Vec<String> = RealDisk
            .list(&self.root())
            .unwrap()
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        names.sort();
        names
    }
}
