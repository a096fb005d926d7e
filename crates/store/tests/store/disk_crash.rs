//! The durable file operations, with a crash of the machine at every call.

use std::path::Path;

use boswell_store::disk::durable::{append_lines, create, make_folders, put, read};
use boswell_store::disk::{Disk, OpenMode};
use boswell_testkit::crash_disk::{Crash, CrashDisk, Keep, everywhere};

const OLD: &[u8] = b"{\"old\":1}\n";
const NEW: &[u8] = b"{\"new\":2}\n";

fn file() -> &'static Path {
    Path::new("/home/store/file")
}

fn prepare(disk: &CrashDisk) {
    make_folders(disk, Path::new("/home/store")).unwrap();
}

fn prepare_old(disk: &CrashDisk) {
    prepare(disk);
    create(disk, file(), OLD).unwrap();
}

fn place<T>(crash: &Crash<'_, T>) -> String {
    format!(
        "call {}, {} bytes torn, {:?}: {:?}",
        crash.call,
        crash.tear,
        crash.keep,
        crash.disk.snapshot()
    )
}

#[test]
fn a_put_leaves_the_old_content_or_the_new_and_once_acknowledged_the_new() {
    let act = |disk: &CrashDisk| put(disk, file(), NEW, "u").is_ok();
    let checked = everywhere(1, prepare_old, act, |crash| {
        let found = read(&crash.disk, file()).unwrap();
        let found = found.unwrap_or_else(|| panic!("gone at {}", place(crash)));
        assert!(
            found == NEW || found == OLD && !crash.outcome,
            "{}",
            place(crash)
        );
        // Leftovers of the crash must not block the next attempt of another writer.
        put(&crash.disk, file(), b"again", "v").unwrap();
        assert_eq!(
            read(&crash.disk.after_crash(Keep::Nothing), file())
                .unwrap()
                .unwrap(),
            b"again"
        );
    });
    assert!(checked > 100, "{checked}");
}

#[test]
fn a_put_of_a_large_file_is_never_seen_in_part() {
    let new: Vec<u8> = (0..50_000u32).flat_map(|n| n.to_le_bytes()).collect();
    let act = |disk: &CrashDisk| put(disk, file(), &new, "u").is_ok();
    everywhere(2, prepare_old, act, |crash| {
        let found = read(&crash.disk, file()).unwrap().unwrap();
        assert!(
            found == new || found == OLD && !crash.outcome,
            "call {} {:?}",
            crash.call,
            crash.keep
        );
    });
}

#[test]
fn a_created_file_is_whole_with_its_name_once_acknowledged() {
    let act = |disk: &CrashDisk| create(disk, file(), NEW).is_ok();
    everywhere(3, prepare, act, |crash| {
        let found = read(&crash.disk, file()).unwrap();
        assert!(
            !crash.outcome || found.as_deref() == Some(NEW),
            "{}",
            place(crash)
        );
    });
}

#[test]
fn made_folders_stay_once_acknowledged() {
    let act = |disk: &CrashDisk| make_folders(disk, Path::new("/home/store/a/b/c")).is_ok();
    everywhere(4, prepare, act, |crash| {
        let there = crash
            .disk
            .stat(Path::new("/home/store/a/b/c"))
            .unwrap()
            .is_some();
        assert!(there || !crash.outcome, "{}", place(crash));
    });
}

#[test]
fn appended_lines_are_there_once_acknowledged_and_old_ones_always() {
    let act = |disk: &CrashDisk| append_lines(disk, file(), NEW).is_ok();
    let checked = everywhere(5, prepare_old, act, |crash| {
        let found = read(&crash.disk, file()).unwrap().unwrap();
        let rest = found
            .strip_prefix(OLD)
            .unwrap_or_else(|| panic!("old lines changed at {}", place(crash)));
        assert!(!crash.outcome || rest == NEW, "{}", place(crash));
        append_after_the_crash(crash, &found);
    });
    assert!(checked > 100, "{checked}");
}

/// The next line is separate, and the torn bytes before it stay, also after another crash.
fn append_after_the_crash(crash: &Crash<'_, bool>, found: &[u8]) {
    for again in 1..4 {
        let disk = crash.disk.after_crash(Keep::Everything);
        disk.crash_at(again);
        let done = append_lines(&disk, file(), b"{\"third\":3}\n").is_ok();
        for keep in Keep::flavours(4) {
            let now = read(&disk.after_crash(keep), file()).unwrap().unwrap();
            assert!(
                now.starts_with(found),
                "bytes went at {}, then at call {again}",
                place(crash)
            );
            let whole = now.ends_with(b"\n{\"third\":3}\n");
            assert!(
                whole || !done,
                "{}, then at call {again}: {now:?}",
                place(crash)
            );
        }
    }
}

#[test]
fn the_first_line_of_a_log_brings_its_name_along() {
    let act = |disk: &CrashDisk| append_lines(disk, file(), NEW).is_ok();
    everywhere(6, prepare, act, |crash| {
        let found = read(&crash.disk, file()).unwrap();
        assert!(
            !crash.outcome || found.as_deref() == Some(NEW),
            "{}",
            place(crash)
        );
    });
}

#[test]
fn a_line_is_not_acknowledged_by_a_sync_that_failed() {
    let disk = CrashDisk::new(7);
    prepare_old(&disk);
    disk.settle();
    disk.lie_on_sync_after(1);
    assert!(append_lines(&disk, file(), NEW).is_err());
    let found = read(&disk.after_crash(Keep::Nothing), file())
        .unwrap()
        .unwrap();
    assert_eq!(found, OLD);
}

#[test]
fn a_full_disk_leaves_the_old_file_and_no_temp() {
    let disk = CrashDisk::new(8);
    prepare_old(&disk);
    disk.settle();
    disk.fill(OLD.len() as u64 + 4);
    assert!(put(&disk, file(), NEW, "u").is_err());
    assert_eq!(
        disk.snapshot()
            .keys()
            .filter(|name| !name.ends_with('/'))
            .count(),
        1
    );
    assert_eq!(read(&disk, file()).unwrap().unwrap(), OLD);
}

#[test]
fn every_failing_call_is_told_and_costs_nothing_that_was_there() {
    let calls = {
        let disk = CrashDisk::new(9);
        prepare_old(&disk);
        disk.settle();
        put(&disk, file(), NEW, "u").unwrap();
        disk.calls()
    };
    for call in 1..=calls {
        let disk = CrashDisk::new(9);
        prepare_old(&disk);
        disk.settle();
        disk.fail_call(call, std::io::ErrorKind::PermissionDenied);
        assert!(put(&disk, file(), NEW, "u").is_err(), "call {call}");
        for keep in Keep::flavours(8) {
            let found = read(&disk.after_crash(keep), file()).unwrap().unwrap();
            assert!(found == OLD || found == NEW, "call {call}, {keep:?}");
        }
    }
}

#[test]
fn appended_lines_cost_one_sync_for_them_and_one_for_the_name_and_touch_nothing_else() {
    let disk = CrashDisk::new(10);
    prepare_old(&disk);
    disk.settle();
    append_lines(&disk, file(), NEW).unwrap();
    assert_eq!((disk.calls(), disk.syncs()), (3, 2));
    assert_eq!(disk.snapshot().len(), 3);
    assert!(disk.open(file(), OpenMode::Read).is_ok());
}
