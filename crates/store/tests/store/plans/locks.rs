//! Locks: our own, MyAgents' folders with every form of owner, clinvoker's file that is unlinked.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::plans::support::{Place, TestIds};
use boswell_store::disk::{
    Disk, LockMode, MemoryDisk, OpenMode, ProcessState, Processes, RealDisk, process_state,
};
use boswell_store::locks::Owner;
use boswell_store::locks::{AgentFlock, Locks, MkdirLock, MkdirOwner};
use boswell_store::{Error, ErrorKind, Wait};
use boswell_testkit::disk;

const DEAD: u32 = 999_999;
const LIVE: u32 = 1234;
const FOREIGN: u32 = 77;

/// A process table with three processes.
#[derive(Debug)]
struct Known;

impl Processes for Known {
    fn process_state(&self, pid: u32) -> ProcessState {
        match pid {
            LIVE => ProcessState::Yes,
            DEAD => ProcessState::No,
            _ => ProcessState::Unknown,
        }
    }
}

struct Folder {
    place: Place,
    path: PathBuf,
}

impl Folder {
    /// Creates a lock folder with this owner and age.
    fn held(owner: Option<&[u8]>, age_ms: i64) -> Self {
        let place = Place::new();
        let path = place.root().join("sessions.lock");
        disk::make_dir(&path);
        if let Some(owner) = owner {
            disk::write(&path.join("owner"), owner);
        }
        // The test controls the clock, but not the time of a folder.
        let made = RealDisk.stat(&path).unwrap().unwrap().modified / 1_000_000;
        place
            .id_source
            .millis
            .store(i64::try_from(made).unwrap() + age_ms, Ordering::Relaxed);
        Folder { place, path }
    }

    fn take(&self) -> Result<MkdirLock, Error> {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let owner = MkdirOwner {
            pid: LIVE,
            started: Some(5),
        };
        MkdirLock::take(
            &disk,
            &self.path,
            owner,
            &Known,
            self.place.id_source.as_ref(),
            Wait::No,
        )
    }

    fn is_taken_over(&self) -> bool {
        match self.take() {
            Ok(lock) => {
                assert_eq!(disk::read(&self.path.join("owner")), b"rust:1234:5\n");
                drop(lock);
                assert!(
                    disk::list(&self.place.root()).is_empty(),
                    "neither lock nor tombstone stays"
                );
                true
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Busy);
                assert!(self.path.is_dir(), "a lock that is respected stays");
                false
            }
        }
    }
}

#[test]
fn the_four_forms_of_a_dead_owner_are_taken_over_at_once() {
    for owner in [
        "node:999999",
        "node:999999:0",
        "rust:999999",
        "rust:999999:0\n",
    ] {
        assert!(
            Folder::held(Some(owner.as_bytes()), 0).is_taken_over(),
            "{owner}"
        );
    }
}

#[test]
fn a_dead_owner_is_taken_over_even_when_the_lock_is_from_the_future() {
    assert!(Folder::held(Some(b"node:999999:1"), -3_600_000).is_taken_over());
}

#[test]
fn a_live_owner_is_never_taken_over_however_old() {
    for owner in [
        "node:1234:1",
        "node:1234:9007199254740991",
        "rust:1234",
        " \t\r\n\x0cnode:1234\n",
    ] {
        assert!(
            !Folder::held(Some(owner.as_bytes()), 120_000_000).is_taken_over(),
            "{owner}"
        );
    }
}

#[test]
fn an_owner_that_may_not_be_asked_about_counts_as_alive() {
    let owner = format!("node:{FOREIGN}:1");
    assert!(!Folder::held(Some(owner.as_bytes()), 120_000_000).is_taken_over());
}

#[test]
fn the_eighteen_malformed_owners_fall_to_the_age_rule_only() {
    let malformed: [Option<&[u8]>; 18] = [
        None,
        Some(b"renderer:123"),
        Some(b"node:999999:1:extra"),
        Some(b"node:+999999"),
        Some(b"rust:+999999:1"),
        Some(b"rust:999999:+1"),
        Some(b"node:-1"),
        Some(b"node:0"),
        Some(b"node:"),
        Some(b"node:nope"),
        Some(b"node:2147483648"),
        Some(b"rust:999999:-1"),
        Some(b"rust:999999:"),
        Some(b"rust:999999:nope"),
        Some(b"node:999999:9007199254740992"),
        Some(b"other:999999"),
        Some(b"\xEF\xBB\xBFnode:999999"),
        Some(b"\x0Bnode:999999"),
    ];
    for owner in malformed {
        assert_eq!(owner.and_then(MkdirOwner::parse), None);
        assert!(!Folder::held(owner, 0).is_taken_over(), "fresh {owner:?}");
        assert!(
            !Folder::held(owner, 30_000).is_taken_over(),
            "not older than half a minute {owner:?}"
        );
        assert!(
            !Folder::held(owner, -3_600_000).is_taken_over(),
            "from the future {owner:?}"
        );
        assert!(Folder::held(owner, 30_001).is_taken_over(), "old {owner:?}");
    }
}

#[test]
fn release_leaves_a_lock_that_is_somebody_elses_by_now() {
    let folder = Folder::held(Some(b"node:999999"), 0);
    let lock = folder.take().unwrap();
    disk::write(&folder.path.join("owner"), b"node:42:7\n");
    drop(lock);
    assert_eq!(disk::read(&folder.path.join("owner")), b"node:42:7\n");
}

#[test]
fn release_of_a_lock_without_owner_removes_it() {
    let folder = Folder::held(Some(b"node:999999"), 0);
    let lock = folder.take().unwrap();
    RealDisk.remove(&folder.path.join("owner")).unwrap();
    drop(lock);
    assert!(!folder.path.exists());
}

#[test]
fn a_busy_folder_lock_says_who_holds_it_and_waits_no_longer_than_told() {
    let folder = Folder::held(Some(b"node:1234:1"), 0);
    let disk = crate::plans::support::FailingDisk::never().disk();
    let owner = MkdirOwner {
        pid: 1,
        started: None,
    };
    let wait = Wait::For(Duration::from_secs(5));
    let error = MkdirLock::take(
        &disk,
        &folder.path,
        owner,
        &Known,
        folder.place.id_source.as_ref(),
        wait,
    )
    .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(
        error.reason().unwrap().contains("1234"),
        "{:?}",
        error.reason()
    );
}

#[test]
fn two_takers_of_one_stale_lock_never_both_hold_it() {
    let folder = Folder::held(Some(b"node:999999"), 0);
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let inside = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let owner = MkdirOwner {
                        pid: LIVE,
                        started: None,
                    };
                    let id_source = folder.place.id_source.as_ref();
                    let lock = MkdirLock::take(
                        &disk,
                        &folder.path,
                        owner,
                        &Known,
                        id_source,
                        Wait::Forever,
                    )
                    .unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two hold it");
                    inside.fetch_sub(1, Ordering::SeqCst);
                    drop(lock);
                }
            });
        }
    });
}

#[test]
fn this_process_lives() {
    let me = std::process::id();
    if cfg!(unix) {
        assert_eq!(process_state(me), ProcessState::Yes);
        assert_eq!(process_state(i32::MAX.cast_unsigned()), ProcessState::No);
        assert_eq!(process_state(0), ProcessState::Unknown);
    }
}

fn locks(place: &Place) -> Locks {
    let owner = Owner {
        pid: 4242,
        program: "tester\u{1b}".into(),
    };
    Locks::new(
        Arc::new(RealDisk),
        place.home().join("locks"),
        owner,
        TestIds::new(),
    )
}

#[test]
fn our_own_locks_exclude_and_share_and_stay_on_disk() {
    let place = Place::new();
    let locks = locks(&place);
    let one = locks.exclusive("pi:../odd name", Wait::No).unwrap();
    let path = one.path().to_owned();
    assert_eq!(
        path.parent(),
        Some(place.home().join("locks").as_path()),
        "a name never leads elsewhere"
    );
    let error = locks
        .shared("pi:../odd name", Wait::For(Duration::from_millis(20)))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    if RealDisk.knows_lock_holders() {
        let pid = format!("(pid {}) holds it", std::process::id());
        assert!(
            error.reason().unwrap().contains(&pid),
            "{:?}",
            error.reason()
        );
    }
    let _other = locks.exclusive("another", Wait::No).unwrap();
    drop(one);
    assert!(path.exists());
    let _first = locks.shared("pi:../odd name", Wait::No).unwrap();
    let _second = locks.shared("pi:../odd name", Wait::No).unwrap();
    assert_eq!(
        locks
            .exclusive("pi:../odd name", Wait::No)
            .unwrap_err()
            .kind(),
        ErrorKind::Busy
    );
}

#[test]
fn where_the_system_does_not_tell_who_holds_a_lock_the_holder_leaves_word_in_it() {
    let owner = Owner {
        pid: 4242,
        program: "tester\u{1b}".into(),
    };
    let locks = Locks::new(
        Arc::new(MemoryDisk::default()),
        "/locks",
        owner,
        TestIds::new(),
    );
    let _held = locks.exclusive("x", Wait::No).unwrap();
    let error = locks.exclusive("x", Wait::No).unwrap_err();
    let reason = error.reason().unwrap();
    assert!(
        reason.contains("tester\\u{1b} (pid 4242) has held it since"),
        "{reason}"
    );
}

#[test]
fn a_waiter_gets_the_lock_when_it_is_free() {
    let place = Place::new();
    let locks = locks(&place);
    let held = locks.exclusive("x", Wait::No).unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| locks.exclusive("x", Wait::Forever).map(|_| ()));
        drop(held);
        waiter.join().unwrap().unwrap();
    });
}

#[test]
fn clinvokers_lock_is_the_file_that_its_path_leads_to() {
    let place = Place::new();
    let path = place.root().join("deep/store.lock");
    let lock = AgentFlock::take(&RealDisk, &path, Wait::No).unwrap();
    assert_eq!(
        AgentFlock::take(&RealDisk, &path, Wait::No)
            .unwrap_err()
            .kind(),
        ErrorKind::Busy
    );
    drop(lock);
    assert!(path.exists(), "we never unlink it");

    // The holder unlinks the file when it releases the lock; a process that waited on the old file
    // must start again.
    let theirs = RealDisk.open(&path, OpenMode::Lock).unwrap();
    assert!(theirs.try_lock(LockMode::Exclusive).unwrap());
    std::thread::scope(|scope| {
        let ours = scope.spawn(|| AgentFlock::take(&RealDisk, &path, Wait::Forever).unwrap());
        RealDisk.remove(&path).unwrap();
        drop(theirs);
        let ours = ours.join().unwrap();
        let third = RealDisk.open(ours.path(), OpenMode::Lock).unwrap();
        assert!(
            !third.try_lock(LockMode::Exclusive).unwrap(),
            "the path leads to the file that we hold"
        );
    });
}
