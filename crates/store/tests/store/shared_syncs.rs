//! Group commit: threads that append through one writer share its syncs.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use boswell_store::disk::{Clock, IdSource, SystemIds};
use boswell_store::disk::{Disk, MemoryDisk};
use boswell_store::model::Instant;
use boswell_store::{
    Draft, Durability, ErrorKind, Expect, Home, NewSession, SessionWriter, WritableStore,
};
use boswell_testkit::hooked_disk::{DiskCall, Hook, HookVerdict, HookedDisk};

const THREADS: usize = 64;

/// Counts syncs and appends of files; while the gate is shut, syncs do not return.
#[derive(Debug, Default)]
struct Gate {
    memory: Arc<MemoryDisk>,
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

    fn disk(self: &Arc<Self>) -> Arc<dyn Disk> {
        Arc::new(HookedDisk::new(self.memory.clone(), self.clone()))
    }

    fn pass(&self) -> io::Result<()> {
        self.syncs.fetch_add(1, Ordering::SeqCst);
        let mut shut = self.shut.lock().unwrap();
        while *shut {
            shut = self.moved.wait(shut).unwrap();
        }
        if *self.fails.lock().unwrap() {
            Err(io::Error::other("the disk is gone"))
        } else {
            Ok(())
        }
    }

    fn wait_for_appends(&self, count: usize) {
        while self.appends.load(Ordering::SeqCst) < count {
            std::thread::yield_now();
        }
    }
}

impl Hook for Gate {
    fn before(&self, call: &DiskCall<'_>) -> HookVerdict {
        let passed = if matches!(call, DiskCall::Sync { .. }) {
            self.pass()
        } else {
            Ok(())
        };
        passed.map_or_else(HookVerdict::Fail, |()| HookVerdict::Proceed)
    }

    fn after(&self, call: &DiskCall<'_>, _bytes: usize) {
        self.appends.fetch_add(
            usize::from(matches!(call, DiskCall::Append { .. })),
            Ordering::SeqCst,
        );
    }
}

#[test]
fn appends_that_come_while_a_sync_runs_share_the_next_one() {
    let gate = Arc::new(Gate::default());
    let store = Home::on(gate.disk(), Arc::new(SystemIds), "/home")
        .sessions()
        .unwrap();
    let writer = store.create(NewSession::in_project("/p")).unwrap();
    let (syncs, appends) = (
        gate.syncs.load(Ordering::SeqCst),
        gate.appends.load(Ordering::SeqCst),
    );
    gate.set(true);
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            let writer = writer.clone();
            scope.spawn(move || {
                writer
                    .append(Draft::user("t").with_id(format!("t{number}")))
                    .unwrap()
            });
        }
        gate.wait_for_appends(appends + THREADS);
        gate.set(false);
    });
    let syncs = gate.syncs.load(Ordering::SeqCst) - syncs;
    assert_eq!(syncs, 2, "one for the first to wait, one for all others");
    let session = writer.session().unwrap();
    for number in 0..THREADS {
        session.find(format!("t{number}")).unwrap();
    }
}

/// An id source that counts its calls: every encoded entry needs an id.
#[derive(Debug, Default)]
struct CountedIds(AtomicUsize);

impl CountedIds {
    fn wait_for(&self, count: usize) {
        while self.0.load(Ordering::SeqCst) < count {
            std::thread::yield_now();
        }
    }
}

impl Clock for CountedIds {
    fn now(&self) -> Instant {
        SystemIds.now()
    }
}

impl IdSource for CountedIds {
    fn random(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst);
        SystemIds.random()
    }
}

fn session_on(gate: &Arc<Gate>) -> (WritableStore, SessionWriter, Arc<CountedIds>) {
    let id_source = Arc::new(CountedIds::default());
    let store = Home::on(
        gate.disk(),
        Arc::clone(&id_source) as Arc<dyn IdSource>,
        "/home",
    )
    .sessions()
    .unwrap();
    let writer = store.create(NewSession::in_project("/p")).unwrap();
    (store, writer, id_source)
}

/// Shuts the gate, lets one thread sync, and has all others submit an entry meanwhile.
fn submit_while_syncing(
    (gate, id_source): (&Gate, &CountedIds),
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
        let made = id_source.0.load(Ordering::SeqCst);
        threads.extend((1..THREADS).map(|_| append()));
        id_source.wait_for(made + THREADS - 1);
        then();
        gate.set(false);
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

#[test]
fn entries_that_come_while_a_sync_runs_are_written_in_one_write() {
    let gate = Arc::new(Gate::default());
    let (_, writer, id_source) = session_on(&gate);
    let (syncs, appends) = (
        gate.syncs.load(Ordering::SeqCst),
        gate.appends.load(Ordering::SeqCst),
    );
    let receipts = submit_while_syncing((&gate, &id_source), &writer, || {});
    assert_eq!(
        gate.syncs.load(Ordering::SeqCst) - syncs,
        2,
        "one for the first to wait, one for all others"
    );
    assert_eq!(
        gate.appends.load(Ordering::SeqCst) - appends,
        2,
        "one for the first, one for all others"
    );
    let session = writer.session().unwrap();
    let mut revisions = Vec::new();
    for receipt in receipts {
        let receipt = receipt.unwrap();
        let head = *session
            .log()
            .head(session.find(&receipt.entry).unwrap())
            .unwrap();
        assert_eq!(
            receipt.revision.end(),
            head.at + head.len + 1,
            "a revision is where the entry ends"
        );
        revisions.push(receipt.revision.end());
    }
    revisions.sort_unstable();
    revisions.dedup();
    assert_eq!(revisions.len(), THREADS);
    let tip = session.tip().unwrap().slot().unwrap();
    assert_eq!(
        session.tree().path(tip).len(),
        THREADS,
        "each hangs below the one before it"
    );
}

#[test]
fn what_was_submitted_while_a_sync_runs_is_visible_through_the_writer() {
    let gate = Arc::new(Gate::default());
    let (_, writer, id_source) = session_on(&gate);
    submit_while_syncing((&gate, &id_source), &writer, || {
        let session = writer.session().unwrap();
        assert_eq!(
            session.log().heads.len(),
            1 + THREADS,
            "the header and all entries"
        );
    })
    .into_iter()
    .for_each(|receipt| drop(receipt.unwrap()));
}

#[test]
fn an_append_that_need_not_be_synced_is_written_behind_those_that_wait_for_a_sync() {
    let gate = Arc::new(Gate::default());
    let (_, writer, id_source) = session_on(&gate);
    submit_while_syncing((&gate, &id_source), &writer, || {
        let last = writer
            .append_with(Draft::user("last"), Expect::Any, Durability::Os)
            .unwrap();
        let session = writer.session().unwrap();
        let tip = session.tip().unwrap().slot().unwrap();
        assert_eq!(session.log().label(tip), last.entry.as_str());
        assert_eq!(session.tree().path(tip).len(), THREADS + 1);
    })
    .into_iter()
    .for_each(|receipt| drop(receipt.unwrap()));
}

#[test]
fn entries_that_wait_for_a_sync_get_the_latest_entry_as_parent() {
    let gate = Arc::new(Gate::default());
    let (store, writer, id_source) = session_on(&gate.clone());
    // Another process: a second writer on the same files, whose syncs are not blocked.
    let other = Home::on(gate.memory.clone(), Arc::new(SystemIds), "/home")
        .sessions()
        .unwrap();
    let id = writer.reference().id.clone();
    let mut title = String::new();
    submit_while_syncing((&gate, &id_source), &writer, || {
        let body = boswell_store::Body::Title("named meanwhile".to_owned());
        title = other
            .annotate(&id, Draft::new(body))
            .unwrap()
            .entry
            .to_string();
    })
    .into_iter()
    .for_each(|receipt| drop(receipt.unwrap()));
    let session = store.session(&id).unwrap();
    let tip = session.tip().unwrap().slot().unwrap();
    let path = session.tree().path(tip);
    assert_eq!(path.len(), THREADS + 1, "all entries and the title");
    assert!(path.contains(&session.find(&title).unwrap()));
    assert_eq!(session.meta().title.as_deref(), Some("named meanwhile"));
}

#[test]
fn a_sync_that_fails_is_told_to_all_who_wait() {
    let gate = Arc::new(Gate::default());
    let (_, writer, id_source) = session_on(&gate);
    let receipts = submit_while_syncing((&gate, &id_source), &writer, || {
        *gate.fails.lock().unwrap() = true
    });
    for receipt in receipts {
        assert_eq!(receipt.unwrap_err().kind(), ErrorKind::Unavailable);
    }
    assert_eq!(writer.in_doubt().len(), THREADS, "every entry is named");
}
