//! A turn that is kept from one entry to the next, where nobody syncs: others get theirs, and nothing is built on what changed.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test plants, looks and stops at the first surprise"
)]

use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use boswell_store::{Body, Draft, Durability, ErrorKind, Expect, NewSession, SessionWriter, Store, Wait};
use serde_json::Value;
use tempfile::TempDir;

/// Entries after which a turn is kept.
const ROW: usize = 200;

struct Home {
    folder: TempDir,
    store: Store,
    id: String,
}

impl Home {
    fn new() -> (Home, SessionWriter) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let writer = store.create(NewSession::in_project("/proj/demo")).unwrap();
        writer.append(Draft::user("begin")).unwrap();
        let id = writer.reference().id.clone();
        (Home { folder, store, id }, writer)
    }

    /// The append lock, opened as another process would.
    fn append_lock(&self) -> File {
        let path = self.folder.path().join(format!("locks/boswell-{}.append-lock", self.id));
        File::options().read(true).write(true).open(path).unwrap()
    }

    fn lock_is_free(&self) -> bool {
        self.append_lock().try_lock().is_ok()
    }
}

fn row(writer: &SessionWriter) {
    for number in 0..ROW {
        append(writer, number).unwrap();
    }
}

fn append(writer: &SessionWriter, number: usize) -> boswell_store::Result<String> {
    let draft = Draft::user(format!("entry {number}"));
    writer.append_with(draft, Expect::Any, Durability::Os).map(|receipt| receipt.entry)
}

/// Appends rows until the turn is seen to be kept behind one of them.
fn until_kept(home: &Home, writer: &SessionWriter) {
    let kept = (0..500).any(|_| {
        row(writer);
        !home.lock_is_free()
    });
    assert!(kept, "no turn was ever kept");
}

fn within(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < limit {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    false
}

fn lines(path: &PathBuf) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_turn_that_was_kept_ends_when_no_entry_follows() {
    let (home, writer) = Home::new();
    until_kept(&home, &writer);
    assert!(within(Duration::from_secs(5), || home.lock_is_free()), "it is still kept");
    assert!(lines(&writer.path()).len() > ROW);
}

#[test]
fn a_writer_that_goes_gives_up_its_turn_at_once() {
    let (home, mut writer) = Home::new();
    for closes in [true, false].into_iter().cycle().take(40) {
        row(&writer);
        if closes {
            writer.close(boswell_store::Outcome::Open).unwrap();
        } else {
            drop(writer);
        }
        assert!(home.lock_is_free());
        writer = home.store.writer(&home.id, Wait::No).unwrap();
    }
    row(&writer);
    writer.append(Draft::user("durable")).unwrap();
    assert!(home.lock_is_free(), "an entry that is synced keeps nothing");
}

#[test]
fn others_get_their_turn_between_entries_that_come_in_a_row() {
    const OTHERS: usize = 20;
    let (home, writer) = Home::new();
    let (stop, mut slowest) = (AtomicBool::new(false), Duration::ZERO);
    std::thread::scope(|scope| {
        let driver = scope.spawn(|| {
            let mut number = 0;
            while !stop.load(Ordering::Relaxed) {
                append(&writer, number).unwrap();
                number += 1;
            }
            number
        });
        std::thread::sleep(Duration::from_millis(20));
        for number in 0..OTHERS {
            let start = Instant::now();
            home.store.annotate(&home.id, Draft::new(Body::Title(format!("title {number}")))).unwrap();
            slowest = slowest.max(start.elapsed());
        }
        stop.store(true, Ordering::Relaxed);
        assert!(driver.join().unwrap() > ROW);
    });
    assert!(slowest < Duration::from_secs(5), "one waited for {slowest:?}");
    let lines = lines(&writer.path());
    let titles = lines.iter().filter(|line| line["type"] == "session_info").count();
    assert_eq!(titles, OTHERS);
    // Whoever wrote, each entry hangs below the one before it: nobody wrote behind what it had not seen.
    for pair in lines[1..].windows(2) {
        assert_eq!(pair[1]["parentId"], pair[0]["id"], "{}", pair[1]);
    }
}

#[test]
fn a_log_that_was_replaced_is_noticed_a_moment_later() {
    let (home, writer) = Home::new();
    until_kept(&home, &writer);
    let (path, other) = (writer.path(), home.folder.path().join("other"));
    std::fs::copy(&path, &other).unwrap();
    std::fs::rename(&other, &path).unwrap();
    let mut refused = None;
    let noticed = within(Duration::from_secs(5), || {
        refused = append(&writer, 0).err();
        refused.is_some()
    });
    assert!(noticed, "entries still go where nobody finds them");
    assert_eq!(refused.unwrap().kind(), ErrorKind::Conflict);
}
