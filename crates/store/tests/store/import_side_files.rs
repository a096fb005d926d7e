//! The side files of a session are imported with it, or nothing is; unreadable files are reported.

use std::path::Path;
use std::sync::Arc;

use crate::counting::Counting;
use boswell_dialect::{Depth, FileInfo, by_name};
use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result};
use boswell_store::backend::{Backend, MemoryBackend, ObjectReader};
use boswell_store::disk::{Disk, durable};
use boswell_store::operations::{ImportLimits, Imported};
use boswell_store::{Home, NewSession, Store, WritableStore};
use boswell_testkit::crash_disk::{CrashDisk, everywhere};

const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";
const HOME: &str = "/home/store";

fn line(uuid: &str, text: &str) -> String {
    format!(
        "{{\"parentUuid\":null,\"type\":\"user\",\"uuid\":\"{uuid}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\",\"sessionId\":\"{ID}\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}

/// A disk that refuses to open one file.
#[derive(Debug)]
struct Closed {
    files: MemoryBackend,
    closed: &'static str,
}

impl Backend for Closed {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        self.files.list(folder)
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        self.files.stat(key)
    }

    fn open(&self, key: &str) -> Result<Box<dyn ObjectReader>> {
        if !self.closed.is_empty() && key.ends_with(self.closed) {
            return Err(Error::new(
                ErrorKind::Denied,
                format!("`{key}` may not be read"),
            ));
        }
        self.files.open(key)
    }

    fn describe(&self, key: &str) -> String {
        self.files.describe(key)
    }
}

fn source(closed: &'static str) -> Store {
    let mut files = MemoryBackend::default();
    files.put(&format!("projects/-w/{ID}.jsonl"), line("u1", "why?"), None);
    files.put(
        &format!("projects/-w/{ID}/subagents/agent-a.jsonl"),
        line("s1", "look"),
        None,
    );
    files.put(
        &format!("projects/-w/{ID}/tool-results/b1.txt"),
        "输出\n".repeat(300_000),
        None,
    );
    files.put(&format!("file-history/{ID}/0123@v1"), "", None);
    Store::on(
        by_name("claude").unwrap(),
        Arc::new(Closed { files, closed }),
        "/claude",
    )
}

fn open(disk: &CrashDisk, id_source: u64) -> WritableStore {
    Home::on(
        Arc::new(disk.clone()),
        Arc::new(Counting::from(id_source)),
        HOME,
    )
    .sessions()
    .unwrap()
}

fn import(
    disk: &CrashDisk,
    id_source: u64,
    closed: &'static str,
    limits: ImportLimits,
) -> Result<Imported> {
    import_from(&source(closed), disk, id_source, limits)
}

fn import_from(
    from: &Store,
    disk: &CrashDisk,
    id_source: u64,
    limits: ImportLimits,
) -> Result<Imported> {
    let location = from
        .list()?
        .sessions
        .into_iter()
        .find(|it| it.id == ID)
        .unwrap();
    let session = from.read(&location, Depth::Facts)?;
    let store = Home::on(
        Arc::new(disk.clone()),
        Arc::new(Counting::from(id_source)),
        HOME,
    )
    .sessions()?;
    store.import_whole(
        from,
        &session,
        NewSession::in_project("/w"),
        Json::object(),
        limits,
    )
}

fn prepare(disk: &CrashDisk) {
    durable::make_folders(disk, Path::new("/home")).unwrap();
}

/// Returns the sessions without transcripts of subagents, each with its side files.
fn sessions(disk: &CrashDisk) -> Vec<Vec<(String, u64)>> {
    let store = open(disk, 1 << 20);
    let found = store.list().unwrap().sessions;
    let whole = found.iter().filter(|it| it.hidden.is_none()).map(|it| {
        let stem = it.key.clone().unwrap().replace(".jsonl", "/");
        let files = store.side_files(it).unwrap();
        files
            .into_iter()
            .map(|file| (file.key.replace(&stem, ""), file.size.min(1_000_000)))
            .collect()
    });
    whole.collect()
}

fn names(files: &[(String, u64)]) -> Vec<&str> {
    files.iter().map(|(name, _)| name.as_str()).collect()
}

const ALL: [&str; 3] = [
    "agent-a.jsonl",
    "file-history/0123@v1",
    "tool-results/b1.txt",
];

#[test]
fn after_a_crash_a_session_has_all_its_side_files_or_is_not_there() {
    let (mut there, mut not_there) = (0, 0);
    // One size is torn in enough ways; the bytes of a megabyte are not tested one by one.
    for keep in 0..2 {
        let checked = everywhere(
            keep,
            prepare,
            |disk| import_small(disk, 0).is_ok(),
            |crash| {
                let place = format!(
                    "call {}, {} bytes taken, {:?}",
                    crash.call, crash.tear, crash.keep
                );
                let found = sessions(&crash.disk);
                match found.as_slice() {
                    [] => {
                        assert!(!crash.outcome, "{place}: it was brought over and is gone");
                        not_there += 1;
                    }
                    [files] => {
                        assert_eq!(
                            names(files),
                            ["agent-a.jsonl", "tool-results/b1.txt"],
                            "{place}"
                        );
                        assert_eq!(files[1].1, 6, "{place}");
                        assert!(files[0].1 > 100, "{place}");
                        there += 1;
                    }
                    more => assert!(more.is_empty(), "{place}: {more:?}"),
                }
                drop(import_small(&crash.disk, 1 << 16).unwrap());
                assert_eq!(
                    sessions(&crash.disk).len(),
                    found.len() + 1,
                    "{place}: it goes in all the same"
                );
            },
        );
        assert!(checked > 100, "{checked}");
    }
    assert!(there > 0 && not_there > 0, "{there} {not_there}");
}

/// As above with small side files, so that a tear at every byte can be tested.
fn import_small(disk: &CrashDisk, id_source: u64) -> Result<Imported> {
    let mut files = MemoryBackend::default();
    files.put(&format!("projects/-w/{ID}.jsonl"), line("u1", "why?"), None);
    files.put(
        &format!("projects/-w/{ID}/subagents/agent-a.jsonl"),
        line("s1", "look"),
        None,
    );
    files.put(
        &format!("projects/-w/{ID}/tool-results/b1.txt"),
        "whole\n",
        None,
    );
    let from = Store::on(by_name("claude").unwrap(), Arc::new(files), "/claude");
    import_from(&from, disk, id_source, ImportLimits::default())
}

#[test]
fn a_disk_that_fails_on_the_way_is_left_as_it_was() {
    let whole = CrashDisk::new(1);
    prepare(&whole);
    let first = whole.calls();
    drop(import(&whole, 0, "", ImportLimits::default()).unwrap());
    assert_eq!(
        sessions(&whole)
            .iter()
            .map(|files| names(files))
            .collect::<Vec<_>>(),
        [ALL.to_vec()]
    );
    let (mut failed, mut stood) = (0, 0);
    for call in first + 1..=whole.calls() {
        let disk = CrashDisk::new(1);
        prepare(&disk);
        disk.fail_call(call, std::io::ErrorKind::StorageFull);
        if import(&disk, 0, "", ImportLimits::default()).is_ok() {
            continue;
        }
        failed += 1;
        let of_session = |path: &String| path.contains("/sessions/") && path.contains("Z_");
        let left: Vec<String> = disk.snapshot().into_keys().filter(of_session).collect();
        // If only the last call of its creation failed, the log may exist: then it is complete, and
        // so are its side files.
        let found = sessions(&disk);
        let whole = found.len() == 1 && names(&found[0]) == ALL;
        assert!(left.is_empty() || whole, "call {call}: {left:?}");
        stood += usize::from(whole);
    }
    assert!(failed > 10 && stood > 0, "{failed} {stood}");
}

#[test]
fn what_cannot_be_read_stays_and_is_named() {
    for (closed, expected) in [
        ("b1.txt", "tool-results/b1.txt"),
        ("agent-a.jsonl", "agent-a.jsonl"),
    ] {
        let disk = CrashDisk::new(1);
        prepare(&disk);
        let imported = import(&disk, 0, closed, ImportLimits::default()).unwrap();
        let left: Vec<_> = imported
            .left
            .iter()
            .map(|it| (it.file.key.ends_with(closed), it.why.kind()))
            .collect();
        assert_eq!(left, [(true, ErrorKind::Denied)]);
        drop(imported);
        let found = sessions(&disk);
        assert_eq!(
            names(&found[0]),
            ALL.into_iter()
                .filter(|name| *name != expected)
                .collect::<Vec<_>>()
        );
    }
}

#[test]
fn too_many_side_files_are_refused_before_anything_is_written() {
    for limits in [
        ImportLimits {
            records: 2,
            ..ImportLimits::default()
        },
        ImportLimits {
            bytes: 1 << 20,
            ..ImportLimits::default()
        },
    ] {
        let disk = CrashDisk::new(1);
        prepare(&disk);
        let error = import(&disk, 0, "", limits).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.reason().unwrap().contains("3 side files"), "{error}");
        assert!(
            disk.list(&Path::new(HOME).join("sessions"))
                .unwrap_or_default()
                .is_empty()
        );
    }
}
