use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

use boswell_store::disk::{Disk, DiskFile, LockMode, OpenMode};

use super::*;

fn path(text: &str) -> &Path {
    Path::new(text)
}

/// Returns a synced disk with a folder `d` and a file `d/f`.
fn disk_with(bytes: &[u8]) -> CrashDisk {
    let disk = CrashDisk::new(1);
    disk.make_folder(path("d")).unwrap();
    make(&disk, "d/f", bytes);
    disk.settle();
    disk
}

fn make(disk: &CrashDisk, at: &str, bytes: &[u8]) -> Box<dyn DiskFile> {
    let file = disk.open(path(at), OpenMode::CreateNew).unwrap();
    assert_eq!(file.append(bytes).unwrap(), bytes.len());
    file
}

fn append(disk: &CrashDisk, at: &str, bytes: &[u8]) -> Box<dyn DiskFile> {
    let file = disk.open(path(at), OpenMode::Append).unwrap();
    assert_eq!(file.append(bytes).unwrap(), bytes.len());
    file
}

fn bytes(disk: &CrashDisk, at: &str) -> Option<Vec<u8>> {
    disk.snapshot().remove(at)
}

/// Returns the possible contents of a file after a crash, over many subsets.
fn outcomes(disk: &CrashDisk, at: &str) -> BTreeSet<Option<Vec<u8>>> {
    Keep::flavours(400)
        .map(|keep| bytes(&disk.after_crash(keep), at))
        .collect()
}

fn files(disk: &CrashDisk) -> BTreeSet<Vec<String>> {
    let names = |disk: CrashDisk| {
        disk.snapshot()
            .into_keys()
            .filter(|name| !name.ends_with('/'))
            .collect()
    };
    Keep::flavours(400)
        .map(|keep| names(disk.after_crash(keep)))
        .collect()
}

fn texts(all: &[&[u8]]) -> BTreeSet<Option<Vec<u8>>> {
    all.iter().map(|bytes| Some(bytes.to_vec())).collect()
}

fn names(all: &[&[&str]]) -> BTreeSet<Vec<String>> {
    all.iter()
        .map(|names| names.iter().map(|name| (*name).to_owned()).collect())
        .collect()
}

#[test]
fn unsynced_bytes_may_vanish_or_leave_a_hole_and_synced_ones_stay() {
    let disk = disk_with(b"old ");
    let file = append(&disk, "d/f", b"new");
    assert_eq!(
        outcomes(&disk, "d/f"),
        texts(&[b"old ", b"old \0\0\0", b"old new"])
    );
    file.sync().unwrap();
    assert_eq!(outcomes(&disk, "d/f"), texts(&[b"old new"]));
}

#[test]
fn two_unsynced_appends_may_survive_in_either_order() {
    let disk = disk_with(b"");
    let file = append(&disk, "d/f", b"a");
    file.append(b"b").unwrap();
    let seen = outcomes(&disk, "d/f");
    assert_eq!(
        seen,
        texts(&[b"", b"a", b"\0", b"ab", b"\0b", b"a\0", b"\0\0"])
    );
}

#[test]
fn a_long_append_may_survive_in_pages() {
    let disk = disk_with(b"");
    append(&disk, "d/f", &[b'x'; 10_000]);
    let seen = outcomes(&disk, "d/f");
    let holed = |bytes: &[u8]| bytes.len() == 10_000 && bytes[0] == 0 && bytes[9_999] == b'x';
    assert!(seen.iter().flatten().any(|bytes| holed(bytes)));
    assert!(seen.iter().flatten().any(|bytes| bytes.len() == 4096));
}

#[test]
fn a_cut_may_be_undone_until_it_is_synced() {
    let disk = disk_with(b"long");
    let file = disk.open(path("d/f"), OpenMode::Append).unwrap();
    file.truncate(1).unwrap();
    assert_eq!(outcomes(&disk, "d/f"), texts(&[b"long", b"l"]));
    file.append(b"X").unwrap();
    file.sync().unwrap();
    assert_eq!(outcomes(&disk, "d/f"), texts(&[b"lX"]));
}

#[test]
fn a_synced_file_without_a_synced_folder_may_vanish_by_name() {
    let disk = disk_with(b"");
    make(&disk, "d/new", b"bytes").sync().unwrap();
    assert_eq!(
        outcomes(&disk, "d/new"),
        [None, Some(b"bytes".to_vec())].into()
    );
    disk.sync_folder(path("d")).unwrap();
    assert_eq!(outcomes(&disk, "d/new"), texts(&[b"bytes"]));
}

#[test]
fn a_synced_name_without_a_synced_file_may_be_empty() {
    let disk = disk_with(b"");
    make(&disk, "d/new", b"xy");
    disk.sync_folder(path("d")).unwrap();
    assert_eq!(outcomes(&disk, "d/new"), texts(&[b"", b"\0\0", b"xy"]));
}

#[test]
fn what_stands_in_a_folder_without_a_durable_name_is_lost_with_it() {
    let disk = disk_with(b"");
    disk.make_folder(path("d/sub")).unwrap();
    make(&disk, "d/sub/x", b"1").sync().unwrap();
    disk.sync_folder(path("d/sub")).unwrap();
    assert_eq!(
        outcomes(&disk, "d/sub/x"),
        [None, Some(b"1".to_vec())].into()
    );
    disk.sync_folder(path("d")).unwrap();
    assert_eq!(outcomes(&disk, "d/sub/x"), texts(&[b"1"]));
}

#[test]
fn a_rename_leaves_the_file_under_exactly_one_name() {
    let disk = disk_with(b"1");
    disk.rename(path("d/f"), path("d/g")).unwrap();
    assert_eq!(files(&disk), names(&[&["d/f"], &["d/g"]]));
    disk.rename(path("d/g"), path("d/h")).unwrap();
    assert_eq!(files(&disk), names(&[&["d/f"], &["d/g"], &["d/h"]]));
    disk.sync_folder(path("d")).unwrap();
    assert_eq!(files(&disk), names(&[&["d/h"]]));
}

#[test]
fn a_file_that_was_moved_out_of_the_way_is_never_overwritten() {
    let disk = disk_with(b"old");
    make(&disk, "d/t", b"new").sync().unwrap();
    disk.sync_folder(path("d")).unwrap();
    disk.rename(path("d/f"), path("d/kept")).unwrap();
    disk.rename(path("d/t"), path("d/f")).unwrap();
    assert_eq!(
        files(&disk),
        names(&[&["d/f", "d/t"], &["d/kept", "d/t"], &["d/f", "d/kept"]])
    );
}

#[test]
fn a_rename_over_a_file_gives_the_old_content_or_the_new() {
    let disk = disk_with(b"old");
    make(&disk, "d/t", b"new").sync().unwrap();
    disk.rename(path("d/t"), path("d/f")).unwrap();
    assert_eq!(outcomes(&disk, "d/f"), texts(&[b"old", b"new"]));
    let unsynced = disk_with(b"old");
    make(&unsynced, "d/t", b"new");
    unsynced.rename(path("d/t"), path("d/f")).unwrap();
    unsynced.sync_folder(path("d")).unwrap();
    assert!(
        outcomes(&unsynced, "d/f").contains(&Some(Vec::new())),
        "the new name may lead to an empty file"
    );
}

#[test]
fn a_rename_between_folders_needs_both_synced() {
    let disk = disk_with(b"1");
    disk.make_folder(path("e")).unwrap();
    disk.sync_folder(path("/")).unwrap();
    disk.rename(path("d/f"), path("e/f")).unwrap();
    disk.sync_folder(path("e")).unwrap();
    assert_eq!(files(&disk), names(&[&["d/f"], &["e/f"]]));
    disk.sync_folder(path("d")).unwrap();
    assert_eq!(files(&disk), names(&[&["e/f"]]));
}

#[test]
fn a_link_that_is_not_synced_does_not_save_a_replaced_file() {
    let disk = disk_with(b"old");
    disk.make_folder(path("vault")).unwrap();
    disk.sync_folder(path("")).unwrap();
    disk.link(path("d/f"), path("vault/f")).unwrap();
    disk.remove(path("d/f")).unwrap();
    assert!(files(&disk).contains(&Vec::new()), "both names may be gone");
    disk.sync_folder(path("vault")).unwrap();
    assert_eq!(files(&disk), names(&[&["d/f", "vault/f"], &["vault/f"]]));
}

#[test]
fn removed_names_may_come_back_and_open_files_live_on() {
    let disk = disk_with(b"1");
    let file = disk.open(path("d/f"), OpenMode::Append).unwrap();
    disk.remove(path("d/f")).unwrap();
    assert_eq!(files(&disk), names(&[&[], &["d/f"]]));
    assert!(disk.open(path("d/f"), OpenMode::Read).is_err());
    file.append(b"2").unwrap();
    let mut buffer = [0; 8];
    assert_eq!(file.read_at(&mut buffer, 0).unwrap(), 2);
    assert_eq!(file.stat().unwrap().links, 0);
    disk.sync_folder(path("d")).unwrap();
    drop(file);
    assert_eq!(files(&disk), names(&[&[]]));
}

#[test]
fn a_folder_is_removed_only_after_what_was_moved_out_of_it() {
    let disk = disk_with(b"1");
    disk.rename(path("d/f"), path("f")).unwrap();
    disk.remove_folder(path("d")).unwrap();
    disk.sync_folder(path("/")).unwrap();
    assert_eq!(files(&disk), names(&[&["f"]]));
}

#[test]
fn locks_exclude_one_another_until_their_file_is_dropped() {
    let disk = disk_with(b"");
    let open = || disk.open(path("d/lock"), OpenMode::Lock).unwrap();
    let (a, b, c) = (open(), open(), open());
    assert!(a.try_lock(LockMode::Shared).unwrap() && b.try_lock(LockMode::Shared).unwrap());
    assert!(!c.try_lock(LockMode::Exclusive).unwrap());
    drop(b);
    assert!(
        a.try_lock(LockMode::Exclusive).unwrap(),
        "the only holder may go up"
    );
    assert!(!c.try_lock(LockMode::Shared).unwrap());
    let next = disk.after_kill();
    assert!(
        next.open(path("d/lock"), OpenMode::Lock)
            .unwrap()
            .try_lock(LockMode::Exclusive)
            .unwrap()
    );
    drop(a);
    assert!(c.try_lock(LockMode::Shared).unwrap());
    assert_eq!(c.append(b"x").unwrap(), 1, "who holds it may leave word");
}

#[test]
fn from_the_call_of_the_crash_on_nothing_works() {
    let disk = disk_with(b"1");
    disk.crash_at(3);
    disk.tear_append(2);
    let file = append(&disk, "d/f", b"2");
    file.sync().unwrap();
    assert!(file.append(b"345").is_err());
    assert!(file.sync().is_err() && disk.stat(path("d/f")).is_err() && disk.is_dead());
    assert_eq!(disk.torn(), Some(3));
    assert_eq!(
        bytes(&disk.after_crash(Keep::Everything), "d/f").unwrap(),
        b"1234"
    );
    assert_eq!(
        bytes(&disk.after_crash(Keep::Nothing), "d/f").unwrap(),
        b"12"
    );
}

#[test]
fn a_full_disk_takes_a_part_then_nothing_and_keeps_what_it_has() {
    let disk = disk_with(b"1");
    disk.fill(4);
    let file = disk.open(path("d/f"), OpenMode::Append).unwrap();
    assert_eq!(file.append(b"23456").unwrap(), 3);
    assert_eq!(
        file.append(b"5").unwrap_err().kind(),
        ErrorKind::StorageFull
    );
    file.sync().unwrap();
    assert_eq!(outcomes(&disk, "d/f"), texts(&[b"1234"]));
}

#[test]
fn one_call_fails_when_told_to_and_has_no_effect() {
    let disk = disk_with(b"1");
    disk.fail_call(1, ErrorKind::PermissionDenied);
    assert_eq!(
        disk.rename(path("d/f"), path("d/g")).unwrap_err().kind(),
        ErrorKind::PermissionDenied
    );
    disk.rename(path("d/f"), path("d/g")).unwrap();
    assert_eq!(disk.calls(), 2);
}

#[test]
fn after_a_failed_sync_the_next_one_lies() {
    let disk = disk_with(b"1");
    disk.lie_on_sync_after(1);
    let file = append(&disk, "d/f", b"23");
    assert!(file.sync().is_err());
    file.sync().unwrap();
    assert_eq!(bytes(&disk, "d/f").unwrap(), b"123", "it can still be read");
    assert_eq!(
        outcomes(&disk, "d/f"),
        texts(&[b"1\0\0"]),
        "and is gone after a crash"
    );
    assert_eq!(bytes(&disk.after_kill(), "d/f").unwrap(), b"123");
}

#[test]
fn the_clock_moves_with_every_change_and_never_back() {
    let disk = disk_with(b"1");
    let before = disk.stat(path("d/f")).unwrap().unwrap();
    let file = append(&disk, "d/f", b"2");
    let after = disk.stat(path("d/f")).unwrap().unwrap();
    assert!(after.modified > before.modified && after.changed > before.changed);
    file.set_mode_and_time(0o640, 5).unwrap();
    let set = disk.stat(path("d/f")).unwrap().unwrap();
    assert!(set.modified == 5 && set.changed > after.changed && set.mode == 0o640);
}

#[test]
fn the_same_seeds_give_the_same_crash() {
    let run = || {
        let disk = disk_with(b"");
        for n in 0..20 {
            make(&disk, &format!("d/{n}"), b"x");
        }
        (0..10)
            .map(|seed| disk.after_crash(Keep::Subset(seed)).snapshot())
            .collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
    assert!(
        run().iter().collect::<BTreeSet<_>>().len() > 5,
        "and different ones differ"
    );
}
