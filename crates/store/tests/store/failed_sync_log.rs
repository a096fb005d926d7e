//! A log whose `fsync` failed is copied to a new file. A program that still has the old file open
//! writes there, and none of its lines are lost, wherever the copy was interrupted.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::counting::Counting;
use boswell_store::disk::SystemIds;
use boswell_store::disk::{Disk, MemoryDisk, OpenMode, durable};
use boswell_store::locks::Owner;
use boswell_store::model::{Instant, SessionRef};
use boswell_store::operations::Runner;
use boswell_store::repair::RepairRequest;
use boswell_store::vault::Retention;
use boswell_store::writer::Visibility;
use boswell_store::{Draft, Durability, Expect, Home, NewSession, Wait, WritableStore};
use boswell_testkit::crash_disk::{CrashDisk, Keep, everywhere};
use boswell_testkit::hooked_disk::{DiskCall, Hook, HookedDisk};

const HOME: &str = "/home/store";
const ID: &str = "session-a";

fn open(disk: &CrashDisk, id_source: u64) -> WritableStore {
    Home::on(
        Arc::new(disk.clone()),
        Arc::new(Counting::from(id_source)),
        HOME,
    )
    .sessions()
    .unwrap()
}

fn runner(disk: &CrashDisk) -> Runner {
    let owner = Owner {
        pid: 4242,
        program: "test".into(),
    };
    Runner::new(
        Arc::new(disk.clone()),
        HOME,
        Arc::new(Counting::from(1 << 24)),
        owner,
    )
    .waiting(Wait::No)
}

/// Creates a session with two entries whose last sync failed.
fn prepare(disk: &CrashDisk) {
    durable::make_folders(disk, Path::new("/home")).unwrap();
    let writer = open(disk, 0)
        .create(NewSession::in_project("/p").with_id(ID))
        .unwrap();
    writer.append(Draft::user("why?").with_id("u1")).unwrap();
    writer
        .append(Draft::assistant("because").with_id("a1"))
        .unwrap();
    let log = writer.path();
    drop(writer);
    mark(disk, &log);
}

fn mark(disk: &CrashDisk, log: &Path) {
    // A hard link to the log, which was the marker of earlier versions.
    disk.link(
        log,
        &Path::new(HOME).join(format!("locks/boswell-{ID}.doubt")),
    )
    .unwrap();
}

fn log(disk: &CrashDisk) -> PathBuf {
    Path::new(HOME).join(open(disk, 1 << 19).find(ID).unwrap().key.unwrap())
}

fn text(disk: &CrashDisk) -> String {
    String::from_utf8(durable::read(disk, &log(disk)).unwrap().unwrap()).unwrap()
}

fn identity(disk: &CrashDisk, path: &Path) -> (u64, u64) {
    disk.stat(path).unwrap().unwrap().identity
}

/// Opens the session again, which copies its log.
fn goes_on(disk: &CrashDisk, id_source: u64) -> bool {
    open(disk, id_source).writer(ID, Wait::No).is_ok()
}

/// Returns the hard links to the file in the vault.
fn second_names(disk: &CrashDisk, of: (u64, u64)) -> Vec<PathBuf> {
    let folder = Path::new(HOME).join("vault/inodes");
    let names = disk.list(&folder).unwrap_or_default();
    names
        .into_iter()
        .map(|(name, _)| folder.join(name))
        .filter(|path| identity(disk, path) == of)
        .collect()
}

/// Appends like a program that had the file open all the time.
fn writes_late(disk: &CrashDisk, file: &Path, id: &str) -> String {
    let line = format!(
        r#"{{"type":"message","id":"{id}","parentId":"a1","timestamp":"2026-01-01T00:00:00.000Z","message":{{"role":"user","content":"晚了 {id}"}}}}"#
    );
    let file = disk.open(file, OpenMode::Append).unwrap();
    durable::append_all(file.as_ref(), format!("{line}\n").as_bytes()).unwrap();
    line
}

/// Returns the report of a check about late lines.
fn told(disk: &CrashDisk) -> Option<String> {
    let store = open(disk, 1 << 20);
    let location = store.find(ID).unwrap();
    let session = store.session(ID).unwrap();
    let problem = runner(disk)
        .late_table()
        .unwrap()
        .problem(&store, &location, &session)
        .unwrap()?;
    Some(format!("{}: {}", problem.kind.word(), problem.detail))
}

/// Checks that the line is reported, and copied into the log once.
fn brought_home(disk: &CrashDisk, line: &str, place: &str) {
    let before = text(disk);
    assert!(!before.contains(line), "{place}");
    let expected = "late_lines: the file was replaced without a line of the old one";
    assert_eq!(told(disk).as_deref(), Some(expected), "{place}");
    let store = open(disk, 1 << 21);
    let location = store.find(ID).unwrap();
    runner(disk)
        .repair(&store, &location, &RepairRequest::default())
        .unwrap();
    assert_eq!(text(disk), format!("{before}{line}\n"), "{place}");
    assert_eq!(told(disk), None, "{place}");
}

#[test]
fn what_a_program_writes_into_the_old_file_of_a_log_in_doubt_is_told_and_brought_home() {
    let disk = CrashDisk::new(1);
    prepare(&disk);
    let old = identity(&disk, &log(&disk));
    assert!(goes_on(&disk, 1 << 16));
    assert_ne!(identity(&disk, &log(&disk)), old, "it was copied");
    assert_eq!(told(&disk), None, "nothing was written yet");
    let names = second_names(&disk, old);
    let line = writes_late(&disk, &names[0], "late");
    brought_home(&disk, &line, "");
}

/// The largest number of bytes that one call transferred.
#[derive(Debug, Default)]
struct LargestCall(AtomicUsize);

impl Hook for LargestCall {
    fn after(&self, _call: &DiskCall<'_>, bytes: usize) {
        self.0.fetch_max(bytes, Ordering::Relaxed);
    }
}

#[test]
fn a_large_log_is_copied_in_pieces() {
    let inner = Arc::new(MemoryDisk::default());
    let store = |disk: Arc<dyn Disk>| {
        Home::on(disk, Arc::new(SystemIds), HOME)
            .sessions()
            .unwrap()
    };
    let writer = store(inner.clone())
        .create(NewSession::in_project("/p").with_id(ID))
        .unwrap();
    for number in 0..200 {
        let text = "字".repeat(16 << 10);
        writer
            .append_with(
                Draft::user(format!("{number} {text}")),
                Expect::Any,
                Durability::Os,
            )
            .unwrap();
    }
    let path = writer.path();
    drop(writer);
    let before = durable::read(inner.as_ref(), &path).unwrap().unwrap();
    assert!(before.len() > 8 << 20, "{}", before.len());
    // An empty file, as a writer creates it when its `fsync` failed.
    let marker = Path::new(HOME).join(format!("locks/boswell-{ID}.doubt"));
    durable::create(inner.as_ref(), &marker, b"").unwrap();
    let old = inner.stat(&path).unwrap().unwrap().identity;
    let largest = Arc::new(LargestCall::default());
    let hooked: Arc<dyn Disk> = Arc::new(HookedDisk::new(inner.clone(), largest.clone()));
    drop(store(hooked).writer(ID, Wait::No).unwrap());
    assert_ne!(
        inner.stat(&path).unwrap().unwrap().identity,
        old,
        "it was copied"
    );
    assert_eq!(
        durable::read(inner.as_ref(), &path).unwrap().unwrap(),
        before
    );
    assert!(inner.stat(&marker).unwrap().is_none(), "the marker is gone");
    let largest = largest.0.load(Ordering::Relaxed);
    assert!(largest <= 1 << 20, "{largest} bytes in one call");
}

#[test]
fn lines_of_two_copyings_are_both_brought_home() {
    let disk = CrashDisk::new(1);
    prepare(&disk);
    let first = identity(&disk, &log(&disk));
    assert!(goes_on(&disk, 1 << 16));
    let second = identity(&disk, &log(&disk));
    mark(&disk, &log(&disk));
    assert!(goes_on(&disk, 1 << 17));
    for (file, id) in [(first, "one"), (second, "two")] {
        let line = writes_late(&disk, &second_names(&disk, file)[0], id);
        brought_home(&disk, &line, id);
    }
}

#[test]
fn a_log_that_becomes_visible_after_it_was_copied_still_gets_its_late_lines() {
    let disk = CrashDisk::new(1);
    durable::make_folders(&disk, Path::new("/home")).unwrap();
    let new = NewSession {
        visible: Visibility::WithFirstAnswer,
        ..NewSession::in_project("/p").with_id(ID)
    };
    let writer = open(&disk, 0).create(new).unwrap();
    writer.append(Draft::user("why?").with_id("a1")).unwrap();
    let log = writer.path();
    drop(writer);
    mark(&disk, &log);
    let writer = open(&disk, 1 << 16).writer(ID, Wait::No).unwrap();
    let kept = disk.list(&Path::new(HOME).join("vault/inodes")).unwrap();
    writer
        .append(Draft::assistant("because").with_id("a2"))
        .unwrap();
    drop(writer);
    let line = writes_late(
        &disk,
        &Path::new(HOME).join("vault/inodes").join(&kept[0].0),
        "late",
    );
    brought_home(&disk, &line, "visible");
}

#[test]
fn a_purged_session_leaves_no_hard_link_next_to_its_lock() {
    let disk = CrashDisk::new(1);
    prepare(&disk);
    let locks = Path::new(HOME).join("locks");
    disk.link(&log(&disk), &locks.join(format!("boswell-{ID}.name")))
        .unwrap();
    let file = identity(&disk, &log(&disk));
    let of_log = |disk: &CrashDisk| {
        disk.list(&locks)
            .unwrap()
            .into_iter()
            .filter(|(_, stat)| stat.identity == file)
            .map(|(name, _)| name)
            .collect()
    };
    let mut names: Vec<String> = of_log(&disk);
    names.sort();
    assert_eq!(
        names,
        [format!("boswell-{ID}.doubt"), format!("boswell-{ID}.name")]
    );
    runner(&disk)
        .vault()
        .purge(&SessionRef::new("boswell", ID))
        .unwrap();
    assert_eq!(of_log(&disk), Vec::<String>::new());
}

#[test]
fn wherever_the_copying_is_killed_the_old_file_is_kept_under_one_name() {
    let disk = CrashDisk::new(1);
    prepare(&disk);
    let (old, before) = (identity(&disk, &log(&disk)), text(&disk));
    let before_copying = disk.calls();
    assert!(goes_on(&disk.after_kill(), 1 << 16));
    let mut call = 0;
    loop {
        call += 1;
        let disk = disk.after_kill();
        disk.crash_at(disk.calls() + call);
        let done = goes_on(&disk, 1 << 16);
        let found = disk.after_kill();
        let place = format!("killed at call {call} after {before_copying}");
        assert!(goes_on(&found, 1 << 17), "{place}");
        assert_eq!(text(&found), before, "{place}");
        let names = second_names(&found, old);
        assert_eq!(names.len(), 1, "{place}");
        let line = writes_late(&found, &names[0], "late");
        brought_home(&found, &line, &place);
        purged(&found, &place);
        if done {
            break;
        }
    }
    assert!(call > 10, "{call} calls were cut off");
}

/// Checks that a purged session leaves no hard link to its logs.
fn purged(disk: &CrashDisk, place: &str) {
    runner(disk)
        .vault()
        .purge(&SessionRef::new("boswell", ID))
        .unwrap();
    let left = disk.list(&Path::new(HOME).join("vault/inodes")).unwrap();
    assert!(left.is_empty(), "{place}: {left:?}");
    assert_eq!(told(disk), None);
}

#[test]
fn wherever_the_machine_dies_while_a_log_is_copied_nothing_acknowledged_is_lost() {
    let prepared = CrashDisk::new(1);
    prepare(&prepared);
    let before = text(&prepared);
    let checked = everywhere(
        1,
        prepare,
        |disk| goes_on(disk, 1 << 16),
        |crash| {
            let place = format!(
                "call {}, {} bytes taken, {:?}",
                crash.call, crash.tear, crash.keep
            );
            let disk = &crash.disk;
            assert_eq!(text(disk), before, "{place}");
            assert_eq!(told(disk), None, "{place}: nobody wrote late");
            let writer = open(disk, 1 << 17).writer(ID, Wait::No).unwrap();
            writer.append(Draft::user("on").with_id("u2")).unwrap();
            drop(writer);
            let again = disk.after_crash(Keep::Nothing);
            assert!(
                text(&again).starts_with(&before) && text(&again).contains("\"u2\""),
                "{place}"
            );
            assert_eq!(told(&again), None, "{place}: what we wrote is not late");
        },
    );
    assert!(checked > 200, "{checked}");
}

#[test]
fn second_names_of_copied_logs_leave_the_vault_by_age() {
    let disk = CrashDisk::new(1);
    prepare(&disk);
    assert!(goes_on(&disk, 1 << 16));
    let later = Instant::from_millis(boswell_testkit::clock::MORNING + 200 * 86_400_000);
    let expired = runner(&disk)
        .vault()
        .expire(later, &Retention::default())
        .unwrap();
    assert_eq!(expired.records, 1);
    assert!(
        disk.list(&Path::new(HOME).join("vault/inodes"))
            .unwrap()
            .is_empty()
    );
}
