//! Crash tests: a process that dies at any write leaves the old index or the new one.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use boswell_model::SessionRef;
use boswell_store::disk::{Disk, RealDisk};
use boswell_testkit::hooked_disk::{DiskCall, Hook, HookVerdict, HookedDisk};

use super::support::TestSources;
use super::{Index, all, search, sessions};

/// A disk that fails at a given change: that change is done by half, and none after it.
#[derive(Debug)]
struct Dying {
    left: AtomicUsize,
}

impl Dying {
    /// Opens the index on a disk that fails at its change number `changes`.
    fn index(folder: &Path, changes: usize) -> Index {
        let hook = Dying {
            left: AtomicUsize::new(changes),
        };
        Index::on(Arc::new(HookedDisk::real(Arc::new(hook))), folder)
    }
}

impl Hook for Dying {
    fn before(&self, call: &DiskCall<'_>) -> HookVerdict {
        if !call.changes() {
            return HookVerdict::Proceed;
        }
        let left = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            });
        let died = io::Error::from(io::ErrorKind::StorageFull);
        match (left, call) {
            (Ok(1), DiskCall::Append { bytes, .. }) => {
                HookVerdict::PartialThenFail(bytes.len() / 2, died)
            }
            (Ok(1) | Err(_), _) => HookVerdict::Fail(died),
            (Ok(_), _) => HookVerdict::Proceed,
        }
    }
}

fn test_sources() -> TestSources {
    let mut test_sources = TestSources::default();
    for session in 0..12 {
        test_sources.say(
            &format!("s{session:02}"),
            &format!("deadlock in session{session}"),
        );
    }
    test_sources
}

fn update_one_by_one(index: &Index, test_sources: &TestSources) -> bool {
    test_sources.sources().into_iter().all(|source| {
        index
            .update(&mut [source].into_iter(), test_sources, &mut || true)
            .is_ok()
    })
}

/// Checks that the index answers correctly after a crash, and that the next update repairs it.
fn survives(folder: &Path, test_sources: &TestSources) {
    let index = Index::open(folder);
    let results = search(
        &index,
        &all("deadlock"),
        &test_sources.sources(),
        test_sources,
    );
    assert_eq!(sessions(&results).len(), test_sources.logs.len());
    assert!(results.complete);
    assert!(update_one_by_one(&index, test_sources));
    let again = Index::open(folder);
    let results = search(
        &again,
        &all("deadlock"),
        &test_sources.sources(),
        test_sources,
    );
    assert_eq!(
        (sessions(&results).len(), results.scanned),
        (test_sources.logs.len(), 0)
    );
    let left = RealDisk.list(folder).unwrap();
    assert!(
        left.iter().all(|(name, _)| !name.ends_with(".tmp")),
        "{left:?}"
    );
}

#[test]
fn death_at_any_step_of_updates_and_merges_leaves_the_old_index_or_the_new_one() {
    let test_sources = test_sources();
    let mut deaths = 0;
    loop {
        let folder = tempfile::tempdir().unwrap();
        let done = update_one_by_one(&Dying::index(folder.path(), deaths + 1), &test_sources);
        survives(folder.path(), &test_sources);
        if done {
            break;
        }
        deaths += 1;
    }
    assert!(deaths > 90, "{deaths}");
}

#[test]
fn death_at_any_step_of_a_purge_leaves_the_session_whole_or_gone() {
    let mut test_sources = test_sources();
    let purged = SessionRef::new("plain", "s03");
    let mut deaths = 0;
    loop {
        let folder = tempfile::tempdir().unwrap();
        let index = Index::open(folder.path());
        assert!(
            index
                .update(
                    &mut test_sources.sources().into_iter(),
                    &test_sources,
                    &mut || true
                )
                .unwrap()
                .complete
        );
        let done = Dying::index(folder.path(), deaths + 1)
            .purge(&purged)
            .is_ok();
        let (_, log) = test_sources.logs.remove_entry("s03").unwrap();
        let index = Index::open(folder.path());
        let results = search(
            &index,
            &all("deadlock"),
            &test_sources.sources(),
            &test_sources,
        );
        assert_eq!((sessions(&results).len(), results.scanned), (11, 0));
        index.purge(&purged).unwrap();
        let holds = |word: &str| {
            let files = boswell_testkit::corpus::files(folder.path());
            files.iter().any(|file| {
                memchr::memmem::find(&boswell_testkit::disk::read(file), word.as_bytes()).is_some()
            })
        };
        assert!(!holds("session3\n") && holds("session4\n"));
        survives(folder.path(), &test_sources);
        test_sources.logs.insert("s03".into(), log);
        if done {
            break;
        }
        deaths += 1;
    }
    assert!(deaths >= 8, "{deaths}");
}

/// A disk that fails the next given number of segment removals.
#[derive(Debug)]
struct StuckSegments {
    left: AtomicUsize,
}

impl Hook for StuckSegments {
    fn before(&self, call: &DiskCall<'_>) -> HookVerdict {
        let DiskCall::Remove { path } = call else {
            return HookVerdict::Proceed;
        };
        let is_segment = path.to_string_lossy().contains("segment-");
        let left = &self.left;
        let fails = |left: usize| left.checked_sub(1);
        if is_segment
            && left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, fails)
                .is_ok()
        {
            return HookVerdict::Fail(io::Error::from_raw_os_error(5));
        }
        HookVerdict::Proceed
    }
}

#[test]
fn a_purge_removes_an_old_segment_again_and_says_why_it_cannot() {
    let (test_sources, purged) = (test_sources(), SessionRef::new("plain", "s03"));
    for (failures, succeeds) in [(1, true), (usize::MAX, false)] {
        let folder = tempfile::tempdir().unwrap();
        assert!(update_one_by_one(
            &Index::open(folder.path()),
            &test_sources
        ));
        let hook = StuckSegments {
            left: AtomicUsize::new(failures),
        };
        let index = Index::on(Arc::new(HookedDisk::real(Arc::new(hook))), folder.path());
        let done = index.purge(&purged);
        assert_eq!(done.is_ok(), succeeds, "{done:?}");
        if let Err(error) = done {
            assert!(error.to_string().contains("cannot be removed"), "{error}");
            assert!(
                error.reason().is_some_and(|it| it.contains("os error 5")),
                "{error:?}"
            );
        }
    }
}
