//! Threads that append through one writer share its syncs.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use boswell_store::disk::{Disk, DiskFile, LockMode, MemoryDisk, Open, Stat};
use boswell_store::model::Instant;
use boswell_store::{Chance, Draft, Durability, ErrorKind, Expect, NewSession, SessionWriter, Store, SystemChance};

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

/// Chance that counts what it was asked for: every entry that is encoded needs an id.
#[derive(Debug, Default)]
struct CountedChance(AtomicUsize);

impl CountedChance {
    fn wait_for(&self, count: usize) {
        while self.0.load(Ordering::SeqCst) < count {
            std::thread::yield_now();
        }
    }
}

impl Chance for CountedChance {
    fn now(&self) -> Instant {
        SystemChance.now()
    }
    fn random(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst);
        SystemChance.random()
    }
}

fn session_on(disk: GatedDisk) -> (Store, SessionWriter, Arc<CountedChance>) {
    let chance = Arc::new(CountedChance::default());
    let store = Store::open_on(Arc::new(disk), Arc::clone(&chance) as Arc<dyn Chance>, "/home").unwrap();
    let writer = store.create(NewSession::in_project("/p")).unwrap();
    (store, writer, chance)
}

/// Shuts the gate, lets one thread sync, and has all others submit an entry meanwhile.
fn submit_while_syncing(
    (gate, chance): (&Gate, &CountedChance),
    writer: &SessionWriter,
    then: impl FnOnce(),
) -> Vec<boswell_store::Result<boswell_store::Receipt>> {
    gate.set(true);
    let syncs = gate.syncs.load(Ordering::SeqCst);
    std::thread::scope(|scope| {
        let append = || {
            let writer = writer.clone();
            scope.spawn(move || writer.append(Draft::user("t")))
        };
        let mut threads = vec![append()];
        while gate.syncs.load(Ordering::SeqCst) == syncs {
            std::thread::yield_now();
        }
        let made = chance.0.load(Ordering::SeqCst);
        threads.extend((1..THREADS).map(|_| append()));
        chance.wait_for(made + THREADS - 1);
        then();
        gate.set(false);
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn entries_that_come_while_a_sync_runs_are_written_in_one_write() {
    let disk = GatedDisk::default();
    let gate = Arc::clone(&disk.gate);
    let (_, writer, chance) = session_on(disk);
    let (syncs, appends) = (gate.syncs.load(Ordering::SeqCst), gate.appends.load(Ordering::SeqCst));
    let receipts = submit_while_syncing((&gate, &chance), &writer, || {});
    assert_eq!(gate.syncs.load(Ordering::SeqCst) - syncs, 2, "one for the first to wait, one for all others");
    assert_eq!(gate.appends.load(Ordering::SeqCst) - appends, 2, "one for the first, one for all others");
    let session = writer.session().unwrap();
    let mut revisions = Vec::new();
    for receipt in receipts {
        let receipt = receipt.unwrap();
        let head = *session.log().head(session.find(&receipt.entry).unwrap()).unwrap();
        assert_eq!(receipt.revision, (head.at + head.len + 1).to_string(), "a revision is where the entry ends");
        revisions.push(receipt.revision);
    }
    revisions.sort_unstable();
    revisions.dedup();
    assert_eq!(revisions.len(), THREADS);
    let tip = session.tip().unwrap().slot().unwrap();
    assert_eq!(session.tree().path(tip).len(), THREADS, "each hangs below the one before it");
}

#[test]
fn what_was_submitted_while_a_sync_runs_is_seen_by_whoever_reads_through_the_writer() {
    let disk = GatedDisk::default();
    let gate = Arc::clone(&disk.gate);
    let (_, writer, chance) = session_on(disk);
    submit_while_syncing((&gate, &chance), &writer, || {
        let session = writer.session().unwrap();
        assert_eq!(session.log().heads.len(), 1 + THREADS, "the header and all entries");
    })
    .into_iter()
    .for_each(|receipt| drop(receipt.unwrap()));
}

#[test]
fn an_append_that_need_not_be_synced_is_written_behind_those_that_wait_for_a_sync() {
    let disk = GatedDisk::default();
    let gate = Arc::clone(&disk.gate);
    let (_, writer, chance) = session_on(disk);
    submit_while_syncing((&gate, &chance), &writer, || {
        let last = writer.append_with(Draft::user("last"), Expect::Any, Durability::Os).unwrap();
        let session = writer.session().unwrap();
        let tip = session.tip().unwrap().slot().unwrap();
        assert_eq!(session.log().label(tip), last.entry);
        assert_eq!(session.tree().path(tip).len(), THREADS + 1);
    })
    .into_iter()
    .for_each(|receipt| drop(receipt.unwrap()));
}

#[test]
fn entries_that_wait_for_a_sync_hang_below_what_others_added_meanwhile() {
    let disk = GatedDisk::default();
    let gate = Arc::clone(&disk.gate);
    let (store, writer, chance) = session_on(disk.clone());
    // Another process: a writer of its own on the same files, whose syncs are not held up.
    let other = Store::open_on(Arc::clone(&disk.inner) as Arc<dyn Disk>, Arc::new(SystemChance), "/home").unwrap();
    let id = writer.reference().id.clone();
    let mut title = String::new();
    submit_while_syncing((&gate, &chance), &writer, || {
        let body = boswell_store::Body::Title("named meanwhile".to_owned());
        title = other.annotate(&id, Draft::new(body)).unwrap().entry;
    })
    .into_iter()
    .for_each(|receipt| drop(receipt.unwrap()));
    let session = store.session(&id).unwrap();
    let tip = session.tip().unwrap().slot().unwrap();
    let path = session.tree().path(tip);
    assert_eq!(path.len(), THREADS + 1, "all entries and the title");
    assert!(path.contains(&session.find(&title).unwrap()));
    assert_eq!(session.facts().title.as_deref(), Some("named meanwhile"));
}

#[test]
fn a_sync_that_fails_is_told_to_all_who_wait() {
    let disk = GatedDisk::default();
    let gate = Arc::clone(&disk.gate);
    let (_, writer, chance) = session_on(disk);
    let receipts = submit_while_syncing((&gate, &chance), &writer, || *gate.fails.lock().unwrap() = true);
    for receipt in receipts {
        assert_eq!(receipt.unwrap_err().kind(), ErrorKind::Unavailable);
    }
    assert_eq!(writer.in_doubt().len(), THREADS, "every entry is named");
}
