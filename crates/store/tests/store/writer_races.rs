//! A writer without locks that writes at the worst moment: directly before or after our append.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};

use boswell_store::disk::SystemIds;
use boswell_store::disk::{Disk, MemoryDisk, OpenMode, durable};
use boswell_store::{
    Body, Draft, Durability, ErrorKind, Expect, Home, NewSession, SessionWriter, Wait,
    WritableStore,
};
use boswell_testkit::hooked_disk::{DiskCall, Hook, HookVerdict, HookedDisk};
use serde_json::Value;

/// Bytes that another writer adds to the log around an append of ours.
#[derive(Debug, Clone, Default)]
struct Intrusion {
    before: &'static [u8],
    /// Where our append is split in two, if it is, with these bytes in between.
    between: Option<(usize, &'static [u8])>,
    after: &'static [u8],
}

/// Writes foreign bytes into the log around our appends.
#[derive(Debug)]
struct Intruder {
    disk: Arc<MemoryDisk>,
    next: Arc<Mutex<VecDeque<Intrusion>>>,
    current: Mutex<Intrusion>,
}

impl Intruder {
    fn disk(inner: Arc<MemoryDisk>, next: Arc<Mutex<VecDeque<Intrusion>>>) -> Arc<dyn Disk> {
        let hook = Intruder {
            disk: inner.clone(),
            next,
            current: Mutex::default(),
        };
        Arc::new(HookedDisk::new(inner, Arc::new(hook)))
    }

    fn write(&self, path: &Path, bytes: &[u8]) {
        let file = self.disk.open(path, OpenMode::Append).unwrap();
        durable::append_all(file.as_ref(), bytes).unwrap();
    }
}

impl Hook for Intruder {
    fn before(&self, call: &DiskCall<'_>) -> HookVerdict {
        let DiskCall::Append { path, .. } = call else {
            return HookVerdict::Proceed;
        };
        if path.extension().is_none_or(|ending| ending != "jsonl") {
            return HookVerdict::Proceed;
        }
        let next = self.next.lock().unwrap().pop_front().unwrap_or_default();
        self.write(path, next.before);
        let cut = next.between.map(|(cut, _)| cut);
        *self.current.lock().unwrap() = next;
        cut.map_or(HookVerdict::Proceed, HookVerdict::Partial)
    }

    fn after(&self, call: &DiskCall<'_>, _bytes: usize) {
        let DiskCall::Append { path, .. } = call else {
            return;
        };
        let intrusion = std::mem::take(&mut *self.current.lock().unwrap());
        match intrusion.between {
            Some((_, between)) => self.write(path, between),
            None => self.write(path, intrusion.after),
        }
    }
}

const THEIRS: &[u8] =
    br#"{"type":"custom","id":"theirs","parentId":null,"timestamp":"2026-10-05T08:00:00.000Z","customType":"x"}
"#;
const HALF: &[u8] = br#"{"type":"custom","id":"half","parentId":null,"#;
const REST: &[u8] = br#""timestamp":"2026-10-05T08:00:00.000Z","customType":"x"}
"#;

struct Race {
    disk: Arc<MemoryDisk>,
    intrusions: Arc<Mutex<VecDeque<Intrusion>>>,
    store: WritableStore,
    writer: SessionWriter,
}

impl Race {
    fn new() -> Race {
        let (disk, intrusions) = (Arc::new(MemoryDisk::default()), Arc::default());
        let hooked = Intruder::disk(Arc::clone(&disk), Arc::clone(&intrusions));
        let store = Home::on(hooked, Arc::new(SystemIds), "/home")
            .sessions()
            .unwrap();
        let writer = store
            .create(NewSession::in_project("/w").with_id("s"))
            .unwrap();
        writer.append(Draft::user("first").with_id("u1")).unwrap();
        Race {
            disk,
            intrusions,
            store,
            writer,
        }
    }

    fn next(&self, intrusions: impl IntoIterator<Item = Intrusion>) {
        self.intrusions.lock().unwrap().extend(intrusions);
    }

    fn append(&self, id: &str) -> boswell_store::Receipt {
        self.writer
            .append(Draft::assistant(format!("text of {id}")).with_id(id))
            .unwrap()
    }

    /// Appends bytes like another program, between two calls of ours.
    fn foreign(&self, bytes: &[u8]) {
        durable::append_all(
            self.disk
                .open(&self.writer.path(), OpenMode::Append)
                .unwrap()
                .as_ref(),
            bytes,
        )
        .unwrap();
    }

    fn text(&self) -> String {
        String::from_utf8(
            durable::read(self.disk.as_ref(), &self.writer.path())
                .unwrap()
                .unwrap(),
        )
        .unwrap()
    }

    /// Returns id and parent of the complete records on separate lines.
    fn lines(&self) -> Vec<(String, Option<String>)> {
        let text = self.text();
        let values = text
            .lines()
            .skip(1)
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        values
            .map(|v| {
                (
                    v["id"].as_str().unwrap().to_owned(),
                    v["parentId"].as_str().map(str::to_owned),
                )
            })
            .collect()
    }

    fn ids(&self) -> Vec<String> {
        self.lines().into_iter().map(|(id, _)| id).collect()
    }
}

#[test]
fn a_whole_line_between_our_look_and_our_write_is_counted_and_nothing_is_written_twice() {
    let race = Race::new();
    race.next([Intrusion {
        before: THEIRS,
        ..Intrusion::default()
    }]);
    let receipt = race.append("a1");
    assert_eq!(race.writer.races(), 1);
    assert_eq!(race.ids(), ["u1", "theirs", "a1"]);
    assert_eq!(receipt.revision.end(), race.text().len() as u64);
    // The other writer's id is known from now on, and so is ours at its position.
    race.writer
        .append(Draft::user("below").below(boswell_store::writer::Parent::Entry("theirs".into())))
        .unwrap();
    assert!(race.append("a1").deduplicated);
    assert_eq!(
        race.writer
            .append(Draft::user("x").with_id("theirs"))
            .unwrap_err()
            .kind(),
        ErrorKind::Conflict
    );
}

#[test]
fn a_half_line_before_ours_makes_us_write_again_on_a_line_of_our_own() {
    let race = Race::new();
    race.next([Intrusion {
        before: HALF,
        ..Intrusion::default()
    }]);
    race.append("a1");
    race.foreign(REST);
    race.append("u2");
    assert_eq!(race.ids(), ["u1", "a1", "u2"]);
    assert!(
        race.text().contains(std::str::from_utf8(HALF).unwrap()),
        "their bytes stay"
    );
    assert!(race.append("a1").deduplicated);
}

#[test]
fn however_often_others_get_in_between_our_entry_ends_up_whole_and_once() {
    for times in 1..20 {
        let race = Race::new();
        race.next(vec![
            Intrusion {
                between: Some((150, HALF)),
                ..Intrusion::default()
            };
            times
        ]);
        race.append("a1");
        race.append("u2");
        assert_eq!(race.ids(), ["u1", "a1", "u2"], "{times}");
        assert_eq!(race.lines()[2].1.as_deref(), Some("a1"));
        assert!(race.writer.races() > 0);
    }
}

#[test]
fn one_who_never_stops_writing_into_our_lines_gets_a_conflict_not_a_loop() {
    let race = Race::new();
    race.next(vec![
        Intrusion {
            between: Some((50, HALF)),
            ..Intrusion::default()
        };
        5000
    ]);
    let error = race
        .writer
        .append(Draft::user("x").with_id("u9"))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(race.writer.in_doubt(), ["u9"]);
}

#[test]
fn a_short_write_that_others_get_into_is_written_again() {
    for cut in [1, 20, 60] {
        let race = Race::new();
        race.next([Intrusion {
            between: Some((cut, THEIRS)),
            ..Intrusion::default()
        }]);
        race.append("a1");
        race.append("u2");
        assert_eq!(
            race.ids().iter().filter(|id| *id == "a1").count(),
            1,
            "{cut}"
        );
        assert_eq!(race.ids().last().unwrap(), "u2");
    }
}

#[test]
fn what_others_add_behind_ours_is_the_new_tip_and_half_of_it_stays_on_its_own_line() {
    let race = Race::new();
    race.next([Intrusion {
        after: THEIRS,
        ..Intrusion::default()
    }]);
    race.append("a1");
    race.append("u2");
    let lines = race.lines();
    assert_eq!(race.ids(), ["u1", "a1", "theirs", "u2"]);
    assert_eq!(
        lines[3].1.as_deref(),
        Some("theirs"),
        "every reader takes the last line for the tip"
    );
    race.next([Intrusion {
        after: HALF,
        ..Intrusion::default()
    }]);
    race.append("a3");
    race.append("u4");
    assert_eq!(race.ids(), ["u1", "a1", "theirs", "u2", "a3", "u4"]);
}

#[test]
fn the_rest_of_a_half_line_that_we_saw_is_read_with_its_beginning() {
    let race = Race::new();
    race.foreign(HALF);
    // A refused append reads the log and writes nothing, so that the other writer can still finish
    // its line.
    let stale = Expect::Revision("1".parse().unwrap());
    assert!(
        race.writer
            .append_with(Draft::user("x"), stale, Durability::Os)
            .is_err()
    );
    race.foreign(REST);
    race.append("a1");
    assert_eq!(race.ids(), ["u1", "half", "a1"]);
    assert_eq!(race.lines()[2].1.as_deref(), Some("half"));
    // As above, if the line was torn before the writer was opened.
    race.foreign(HALF);
    let Race {
        disk,
        intrusions,
        store,
        writer,
    } = race;
    writer.release().unwrap();
    let writer = store.writer("s", Wait::No).unwrap();
    let race = Race {
        disk,
        intrusions,
        store,
        writer,
    };
    race.foreign(REST);
    race.append("u2");
    assert_eq!(race.lines().last().unwrap().1.as_deref(), Some("half"));
}

#[test]
fn a_torn_line_that_nobody_ends_gets_its_line_end_from_us_and_is_reported() {
    let race = Race::new();
    race.foreign(HALF);
    race.append("a1");
    assert_eq!(race.ids(), ["u1", "a1"]);
    assert_eq!(race.lines()[1].1.as_deref(), Some("u1"));
    assert_eq!(race.store.session("s").unwrap().log().gaps.len(), 1);
    assert_eq!(race.writer.races(), 0, "that was no race");
}

fn session_on_disk(home: &Path) -> (String, std::path::PathBuf) {
    let writer = Home::at(home)
        .sessions()
        .unwrap()
        .create(NewSession::in_project("/p"))
        .unwrap();
    writer.append(Draft::user("first").with_id("e1")).unwrap();
    (writer.reference().id.clone(), writer.path())
}

#[test]
fn a_log_that_was_moved_since_it_was_last_written_is_found_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let (id, before) = session_on_disk(folder.path());
    let elsewhere = folder.path().join("sessions").join("--elsewhere--");
    std::fs::create_dir(&elsewhere).unwrap();
    let now = elsewhere.join(before.file_name().unwrap());
    std::fs::rename(&before, &now).unwrap();
    let store = Home::at(folder.path()).sessions().unwrap();
    let writer = store.writer(&id, Wait::No).unwrap();
    assert_eq!(writer.path(), now);
    writer.append(Draft::user("second").with_id("e2")).unwrap();
    drop(writer);
    store
        .annotate(&id, Draft::new(Body::Title("moved".to_owned())))
        .unwrap();
    assert!(!before.exists());
    let session = store.session(&id).unwrap();
    session.find("e1").and(session.find("e2")).unwrap();
    assert_eq!(session.meta().title.as_deref(), Some("moved"));
}

#[test]
fn a_log_that_was_replaced_where_it_stood_is_written_where_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let (id, path) = session_on_disk(folder.path());
    let other = path.with_extension("copy");
    std::fs::copy(&path, &other).unwrap();
    std::fs::rename(&other, &path).unwrap();
    let store = Home::at(folder.path()).sessions().unwrap();
    store
        .writer(&id, Wait::No)
        .unwrap()
        .append(Draft::user("second").with_id("e2"))
        .unwrap();
    let session = store.session(&id).unwrap();
    session.find("e1").and(session.find("e2")).unwrap();
}
