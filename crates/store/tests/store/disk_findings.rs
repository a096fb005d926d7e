//! Defects that the crash disk found and that are not fixed yet. Each test states the guarantee.

use std::path::Path;
use std::sync::Arc;

use boswell_dialect::by_name;
use boswell_store::backend::FsBackend;
use boswell_store::disk::durable::{append_lines, create, make_folders, read};
use boswell_store::disk::{Disk, OpenMode};
use boswell_store::writer::Visibility;
use boswell_store::{Draft, Home, NewSession, Store, Wait, WritableStore};
use boswell_testkit::crash_disk::{CrashDisk, Keep, everywhere};
use boswell_testkit::ids::SeededIds;

const FIRST: &str = "01990000-1234-7abc-8def-0123456789a1";
const SECOND: &str = "01990000-1234-7abc-8def-0123456789a2";

fn store(disk: &CrashDisk, seed: u64) -> boswell_store::Result<WritableStore> {
    Home::on(
        Arc::new(disk.clone()),
        Arc::new(SeededIds::new(seed)),
        "/home/b",
    )
    .sessions()
}

fn session(id: &str) -> NewSession {
    NewSession {
        visible: Visibility::AtOnce,
        ..NewSession::in_project("/proj/app").with_id(id)
    }
}

fn file() -> &'static Path {
    Path::new("store/file")
}

#[test]
fn an_acknowledged_line_stays_also_in_a_log_whose_maker_was_killed() {
    let disk = CrashDisk::new(1);
    make_folders(&disk, Path::new("store")).unwrap();
    disk.settle();
    disk.open(file(), OpenMode::CreateNew).unwrap();
    let next = disk.after_kill();
    append_lines(&next, file(), b"{}\n").unwrap();
    assert_eq!(
        read(&next.after_crash(Keep::Nothing), file())
            .unwrap()
            .as_deref(),
        Some(&b"{}\n"[..])
    );
}

#[test]
fn an_acknowledged_file_stays_also_in_a_folder_whose_maker_was_killed() {
    let disk = CrashDisk::new(2);
    disk.make_folder(Path::new("store")).unwrap();
    let next = disk.after_kill();
    make_folders(&next, Path::new("store")).unwrap();
    create(&next, file(), b"{}\n").unwrap();
    assert_eq!(
        read(&next.after_crash(Keep::Nothing), file())
            .unwrap()
            .as_deref(),
        Some(&b"{}\n"[..])
    );
}

#[test]
fn a_created_file_is_whole_or_not_there() {
    let prepare = |disk: &CrashDisk| make_folders(disk, Path::new("store")).unwrap();
    let act = |disk: &CrashDisk| create(disk, file(), b"whole").is_ok();
    everywhere(3, prepare, act, |crash| {
        let found = read(&crash.disk, file()).unwrap();
        assert!(
            found.is_none() || found.as_deref() == Some(b"whole"),
            "call {}: {found:?}",
            crash.call
        );
    });
}

#[test]
fn a_receipt_holds_also_where_another_process_was_killed_while_it_made_the_folders() {
    for call in 1..20 {
        let disk = CrashDisk::new(4);
        disk.crash_at(call);
        let _ = store(&disk, 1).and_then(|store| store.create(session(FIRST)));
        let next = disk.after_kill();
        let writer = store(&next, 2).unwrap().create(session(SECOND)).unwrap();
        writer.append(Draft::user("x")).unwrap();
        let found = store(&next.after_crash(Keep::Nothing), 3)
            .unwrap()
            .session(SECOND);
        assert!(
            found.is_ok(),
            "killed at call {call}: an acknowledged session is gone"
        );
    }
}

#[test]
fn an_entry_without_its_line_end_is_recognised_when_it_is_sent_again() {
    let disk = CrashDisk::new(5);
    let store = store(&disk, 1).unwrap();
    let writer = store.create(session(FIRST)).unwrap();
    let draft = || Draft::user("x").with_id("e1");
    writer.append(draft()).unwrap();
    let path = writer.path();
    drop(writer);
    let file = disk.open(&path, OpenMode::Append).unwrap();
    file.truncate(file.stat().unwrap().len - 1).unwrap();
    let receipt = store
        .writer(FIRST, Wait::No)
        .unwrap()
        .append(draft())
        .unwrap();
    assert!(receipt.deduplicated);
    let bytes = read(&disk, &path).unwrap().unwrap();
    assert!(
        bytes.ends_with(b"}\n"),
        "an acknowledged entry has its line end"
    );
}

#[test]
fn an_entry_that_a_failed_sync_dropped_is_not_acknowledged_as_a_duplicate() {
    for (dialect, call) in ["boswell", "pi", "omp", "xcsh"]
        .into_iter()
        .flat_map(|it| (1..30).map(move |call| (it, call)))
    {
        let disk = CrashDisk::new(6);
        let store = |disk: &CrashDisk, seed| {
            let backend = Arc::new(FsBackend::on(Arc::new(disk.clone()), "/home/b"));
            let id_source = Arc::new(SeededIds::new(seed));
            Home::on(Arc::new(disk.clone()), id_source, "/home").writable(Store::on(
                by_name(dialect).unwrap(),
                backend,
                "/home/b",
            ))
        };
        drop(store(&disk, 1).create(session(FIRST)).unwrap());
        disk.settle();
        disk.lie_on_sync_after(call);
        disk.crash_at(call + 1);
        let draft = || Draft::user("x").with_id("e1");
        let _ = store(&disk, 2)
            .writer(FIRST, Wait::No)
            .and_then(|writer| writer.append(draft()));
        let next = disk.after_kill();
        store(&next, 3)
            .writer(FIRST, Wait::No)
            .unwrap()
            .append(draft())
            .unwrap();
        let found = store(&next.after_crash(Keep::Nothing), 4)
            .session(FIRST)
            .unwrap();
        assert!(
            found.find("e1").is_ok(),
            "{dialect}: sync {call} failed: an acknowledged entry is gone"
        );
    }
}

#[test]
fn a_page_that_is_put_again_after_its_writer_was_killed_is_durable() {
    let memories = |disk: &CrashDisk, seed| {
        Home::on(Arc::new(disk.clone()), Arc::new(SeededIds::new(seed)), "b").memories()
    };
    for call in 1..30 {
        let disk = CrashDisk::new(7);
        memories(&disk, 0)
            .put("/p", "MEMORY.md", "the folders are durable\n")
            .unwrap();
        disk.settle();
        disk.crash_at(call);
        let _ = memories(&disk, 1).put("/p", "page.md", "text\n");
        let next = disk.after_kill();
        memories(&next, 2).put("/p", "page.md", "text\n").unwrap();
        let found = memories(&next.after_crash(Keep::Nothing), 3)
            .load("/p")
            .unwrap();
        assert_eq!(found.pages.len(), 2, "killed at call {call}");
    }
}
