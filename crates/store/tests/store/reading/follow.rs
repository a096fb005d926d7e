use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use boswell_dialect::{Depth, SessionLocation, by_name};
use boswell_store::backend::{FsBackend, MemoryBackend, is_packed};
use boswell_store::disk::{Disk, OpenMode, RealDisk, durable};
use boswell_store::model::{EntryKind, Framing};
use boswell_store::session::{NewEntry, News};
use boswell_store::writer::Visibility;
use boswell_store::{Draft, ErrorKind, Follower, Home, NewSession, Store};
use boswell_testkit::TestHome;
use boswell_testkit::hooked_disk::{DiskCall, Hook, HookVerdict, HookedDisk};

use crate::reading::Lab;

pub(super) fn texts(news: &News) -> Vec<String> {
    news.entries
        .iter()
        .filter(|entry| entry.kind == EntryKind::User)
        .map(|entry| entry.view.text())
        .collect()
}

#[test]
fn each_whole_record_is_handed_out_once() {
    let lab = Lab::new();
    let writer = lab.session("a", 2);
    let mut follower = Follower::new(&lab.store, "a").unwrap();
    let first = follower.poll().unwrap();
    assert_eq!(first.entries[0].kind, EntryKind::Header);
    assert_eq!(texts(&first), ["a 0", "a 1"]);
    assert!(follower.poll().unwrap().entries.is_empty());
    let receipt = writer.append(Draft::user("next")).unwrap();
    let news = follower.poll().unwrap();
    assert_eq!(texts(&news), ["next"]);
    assert_eq!(
        news.entries[0].id.as_ref().map(|id| id.as_str()),
        Some(receipt.entry.as_str())
    );
    assert_eq!((news.entries[0].line, news.generation), (Some(4), 0));
}

#[test]
fn a_follower_that_starts_at_the_end_sees_only_what_comes() {
    let lab = Lab::new();
    let writer = lab.session("a", 3);
    let mut follower = Follower::from_end(&lab.store, "a").unwrap();
    assert!(follower.poll().unwrap().entries.is_empty());
    writer.append(Draft::user("next")).unwrap();
    assert_eq!(texts(&follower.poll().unwrap()), ["next"]);
}

#[test]
fn a_line_without_its_end_is_held_back_until_it_ends() {
    let lab = Lab::new();
    let path = lab.session("a", 1).path();
    let mut follower = Follower::from_end(&lab.store, "a").unwrap();
    let record = r#"{"type":"message","id":"x","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"whole"}}"#;
    let (head, tail) = record.split_at(40);
    for piece in [head, tail] {
        lab.add(&path, piece);
        assert!(
            follower.poll().unwrap().entries.is_empty(),
            "even a whole record may still grow"
        );
    }
    lab.add(&path, "\n");
    assert_eq!(texts(&follower.poll().unwrap()), ["whole"]);
}

#[test]
fn only_new_bytes_are_read() {
    let lab = Lab::new();
    let writer = lab.session("a", 200);
    let mut follower = Follower::new(&lab.store, "a").unwrap();
    let len = |lab: &Lab| lab.reads.disk().stat(&writer.path()).unwrap().unwrap().len;
    let whole = len(&lab);
    let (read, _) = lab.reads.count(|| follower.poll().unwrap());
    assert_eq!(read, whole, "the first poll reads all of it once");
    let (read, _) = lab.reads.count(|| follower.poll().unwrap());
    assert_eq!(read, 0, "nothing new, nothing read");
    for _ in 0..10 {
        let before = len(&lab);
        writer.append(Draft::user("one more")).unwrap();
        let (read, news) = lab.reads.count(|| follower.poll().unwrap());
        assert_eq!(news.entries.len(), 1);
        assert_eq!(
            read,
            len(&lab) - before + 64,
            "what is new, and a few bytes to know the log again"
        );
    }
    lab.add(&writer.path(), &"half a line ".repeat(1000));
    follower.poll().unwrap();
    lab.add(&writer.path(), "x");
    let (read, _) = lab.reads.count(|| follower.poll().unwrap());
    assert_eq!(read, 65, "a pending tail is not read again");
}

#[test]
fn a_log_that_was_cut_or_replaced_starts_a_new_generation() {
    let lab = Lab::new();
    let path = lab.session("a", 3).path();
    let mut follower = Follower::from_end(&lab.store, "a").unwrap();
    let bytes = durable::read(&RealDisk, &path).unwrap().unwrap();

    let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
    let cut = lines[..2].concat();
    RealDisk
        .open(&path, OpenMode::Append)
        .unwrap()
        .truncate(cut.len() as u64)
        .unwrap();
    let news = follower.poll().unwrap();
    assert_eq!((news.generation, texts(&news)), (1, vec!["a 0".to_owned()]));

    durable::put(&RealDisk, &path, &bytes, "other").unwrap();
    let news = follower.poll().unwrap();
    assert_eq!(
        (news.generation, texts(&news).len()),
        (2, 3),
        "another file with the same name"
    );

    RealDisk
        .open(&path, OpenMode::Append)
        .unwrap()
        .truncate(cut.len() as u64)
        .unwrap();
    lab.add(
        &path,
        &"{\"type\":\"custom\",\"id\":\"z\",\"parentId\":null}\n".repeat(50),
    );
    let news = follower.poll().unwrap();
    assert_eq!(
        (news.generation, news.entries.len()),
        (3, 52),
        "cut and grown again between two polls"
    );
}

#[test]
fn an_unknown_session_is_an_error_and_one_that_goes_away_too() {
    let lab = Lab::new();
    assert!(
        Follower::new(&lab.store, "nobody")
            .unwrap_err()
            .is_not_found()
    );
    let path = lab.session("a", 1).path();
    let mut follower = Follower::new(&lab.store, "a").unwrap();
    RealDisk.remove(&path).unwrap();
    assert_eq!(follower.poll().unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_session_that_is_not_visible_yet_is_followed_from_its_first_answer_on() {
    let lab = Lab::new();
    let new = NewSession {
        visible: Visibility::WithFirstAnswer,
        ..NewSession::in_project("/proj/demo").with_id("late")
    };
    let writer = lab.other().create(new).unwrap();
    writer.append(Draft::user("hidden")).unwrap();
    let mut follower = Follower::new(&lab.store, "late").unwrap();
    assert!(follower.poll().unwrap().entries.is_empty());
    writer.append(Draft::assistant("here I am")).unwrap();
    let news = follower.poll().unwrap();
    assert_eq!((news.entries.len(), news.generation), (3, 0));
}

#[test]
fn a_long_log_comes_in_several_polls() {
    let lab = Lab::new();
    let path = lab.session("a", 0).path();
    for _ in 0..12 {
        let filler = "x".repeat(1 << 20);
        lab.add(
            &path,
            &format!(
                "{{\"type\":\"custom\",\"id\":\"z\",\"parentId\":null,\"data\":\"{filler}\"}}\n"
            ),
        );
    }
    let mut follower = Follower::new(&lab.store, "a").unwrap();
    let first = follower.poll().unwrap();
    assert!(
        first.more && first.entries.len() < 12,
        "{}",
        first.entries.len()
    );
    let second = follower.poll().unwrap();
    assert!(!second.more);
    assert_eq!(first.entries.len() + second.entries.len(), 13);
}

#[test]
fn a_large_value_that_is_kept_in_a_blob_is_read_as_it_was_written() {
    let lab = Lab::new();
    let writer = lab.session("a", 0);
    let mut follower = Follower::from_end(&lab.store, "a").unwrap();
    let large = "long ".repeat(1 << 18);
    writer.append(Draft::user(large.clone())).unwrap();
    assert!(texts(&follower.poll().unwrap()) == [large]);
}

#[test]
fn a_log_in_memory_is_followed_without_an_identity() {
    let lines = "{\"type\":\"session\",\"version\":3,\"id\":\"m\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\"}\n{\"type\":\"cus";
    let mut backend = MemoryBackend::default();
    backend.put(
        "sessions/--w--/2026-01-01T00-00-00-000Z_m.jsonl",
        lines,
        None,
    );
    let store = Store::on(by_name("boswell").unwrap(), Arc::new(backend), "memory");
    let mut follower = Follower::new(&store, "m").unwrap();
    let news = follower.poll().unwrap();
    assert_eq!(
        (news.entries.len(), news.more),
        (1, false),
        "the tail is pending"
    );
    assert!(follower.poll().unwrap().entries.is_empty());
}

#[test]
fn a_follower_from_the_end_of_a_long_log_reads_little_of_it() {
    let lab = Lab::new();
    let path = lab.session("a", 1).path();
    let filler = format!(
        "{{\"type\":\"custom\",\"id\":\"z\",\"parentId\":null,\"data\":\"{}\"}}\n",
        "x".repeat(1 << 20)
    );
    for _ in 0..60 {
        lab.add(&path, &filler);
    }
    let (read, mut follower) = lab
        .reads
        .count(|| Follower::from_end(&lab.store, "a").unwrap());
    assert!(read < 200 << 10, "{read} bytes to begin");
    lab.add(&path, &record("next"));
    let (read, news) = lab.reads.count(|| follower.poll().unwrap());
    assert_eq!(texts(&news), ["next"]);
    assert!(read < 1000, "{read} bytes for one record");
    assert_eq!(
        news.entries[0].line, None,
        "the lines before were not counted"
    );
}

#[test]
fn an_entry_without_an_id_is_named_by_its_line_if_lines_are_counted() {
    let lab = Lab::new();
    let path = lab.session("a", 2).path();
    let mut plain = Follower::from_end(&lab.store, "a").unwrap();
    let mut counting = Follower::from_end(&lab.store, "a")
        .unwrap()
        .counting_lines();
    lab.add(&path, &record("has an id"));
    let named = |entries: Vec<NewEntry>| {
        entries
            .into_iter()
            .map(|it| (it.label, it.line))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        named(counting.poll().unwrap().entries),
        [(Some("x".into()), None)],
        "the id will do"
    );
    lab.add(&path, "{\"type\":\"odd\"}{\"type\":\"odd\"}\n");
    assert_eq!(
        named(plain.poll().unwrap().entries)[1..],
        [(None, None), (None, None)]
    );
    let counted = [(Some("#5".into()), Some(5)), (Some("#5.2".into()), Some(5))];
    assert_eq!(named(counting.poll().unwrap().entries), counted);
}

#[test]
fn a_line_that_had_no_end_at_the_start_is_handed_out_whole() {
    let lab = Lab::new();
    let path = lab.session("a", 1).path();
    let whole = record("torn");
    let (head, tail) = whole.split_at(whole.len() / 2);
    lab.add(&path, head);
    let mut follower = Follower::from_end(&lab.store, "a").unwrap();
    assert!(follower.poll().unwrap().entries.is_empty());
    lab.add(&path, tail);
    assert_eq!(texts(&follower.poll().unwrap()), ["torn"]);
}

#[test]
fn behind_a_listing_only_additions_are_handed_out_also_after_the_log_was_cut_or_replaced() {
    let lab = Lab::new();
    let path = lab.session("a", 3).path();
    let location = lab.store.find("a").unwrap();
    let bytes = durable::read(&RealDisk, &path).unwrap().unwrap();
    lab.add(&path, &record("one"));
    let mut follower = Follower::behind(&lab.store, &location).unwrap();
    assert_eq!(
        texts(&follower.poll().unwrap()),
        ["one"],
        "what came since the listing"
    );
    let first_lines = bytes
        .iter()
        .enumerate()
        .filter(|(_, b)| **b == b'\n')
        .nth(1)
        .unwrap()
        .0 as u64
        + 1;
    RealDisk
        .open(&path, OpenMode::Append)
        .unwrap()
        .truncate(first_lines)
        .unwrap();
    let news = follower.poll().unwrap();
    assert_eq!(
        (news.generation, news.entries.len()),
        (1, 0),
        "nothing of a log that was cut"
    );
    lab.add(&path, &record("two"));
    assert_eq!(texts(&follower.poll().unwrap()), ["two"]);
    durable::put(&RealDisk, &path, &bytes.repeat(3), "other").unwrap();
    let news = follower.poll().unwrap();
    assert_eq!(
        (news.generation, news.entries.len()),
        (2, 0),
        "nothing of another file"
    );
    lab.add(&path, &record("three"));
    assert_eq!(texts(&follower.poll().unwrap()), ["three"]);

    let mut late = Follower::behind(&lab.store, &location).unwrap();
    assert!(
        late.poll().unwrap().entries.is_empty(),
        "replaced between the listing and the start"
    );
    lab.add(&path, &record("four"));
    assert_eq!(texts(&late.poll().unwrap()), ["four"]);
}

/// Fails every read after a position while it is set.
#[derive(Debug, Default)]
struct FailingReads(AtomicU64);

impl Hook for FailingReads {
    fn before(&self, call: &DiskCall<'_>) -> HookVerdict {
        let from = self.0.load(Ordering::Relaxed);
        match call {
            DiskCall::Read { at, .. } if from > 0 && *at >= from => {
                HookVerdict::Fail(std::io::Error::other("gone for a moment"))
            }
            _ => HookVerdict::Proceed,
        }
    }
}

#[test]
fn a_read_that_fails_in_between_loses_no_entry_and_repeats_none() {
    let folder = tempfile::tempdir().unwrap();
    let reads = Arc::new(FailingReads::default());
    let root = folder.path().join("home");
    let writer = Home::at(&root)
        .sessions()
        .unwrap()
        .create(NewSession::in_project("/p").with_id("a"))
        .unwrap();
    let dialect = by_name("boswell").unwrap();
    let backend = FsBackend::on(Arc::new(HookedDisk::real(reads.clone())), &root);
    let store = Store::on(dialect, Arc::new(backend), &root);
    let mut follower = Follower::from_end(&store, "a").unwrap();
    let drafts = (0..400).map(|number| Draft::user(format!("{number} {}", "x".repeat(2000))));
    drafts.for_each(|draft| drop(writer.submit(draft).unwrap()));
    writer.flush().unwrap();
    reads.0.store(300 << 10, Ordering::Relaxed);
    let mut seen = texts(&follower.poll().unwrap());
    assert!(
        !seen.is_empty() && seen.len() < 400,
        "what was read before the fault: {}",
        seen.len()
    );
    follower.poll().unwrap_err();
    reads.0.store(0, Ordering::Relaxed);
    seen.extend(texts(&follower.poll().unwrap()));
    let numbers: Vec<usize> = seen
        .iter()
        .map(|text| text.split(' ').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(numbers, (0..400).collect::<Vec<_>>());
}

#[test]
fn what_is_said_of_a_new_entry_is_what_a_whole_read_says() {
    let folder = tempfile::tempdir().unwrap();
    let home = TestHome::build(folder.path(), 11);
    let (mut compared, mut with_parents, mut leaves) = (0, 0, 0);
    for dialect in ["claude", "pi", "omp", "xcsh", "myagents", "oas", "codex"] {
        let store = Store::in_folder(by_name(dialect).unwrap(), home.folder(dialect).unwrap());
        for location in store.list().unwrap().sessions {
            let key = location
                .key
                .clone()
                .filter(|key| !is_packed(key) && location.framing == Framing::Lines);
            let Some(key) = key else { continue };
            let path = store.root().join(&key);
            let bytes = durable::read(&RealDisk, &path).unwrap().unwrap();
            let ends: Vec<usize> = bytes
                .iter()
                .enumerate()
                .filter(|(_, b)| **b == b'\n')
                .map(|(at, _)| at + 1)
                .collect();
            let Some(cut) = ends
                .get(ends.len() / 2)
                .copied()
                .filter(|cut| *cut < bytes.len())
            else {
                continue;
            };
            let session = store.read(&location, Depth::Heads).unwrap();
            let file = RealDisk.open(&path, OpenMode::Append).unwrap();
            file.truncate(cut as u64).unwrap();
            let found = SessionLocation {
                size: cut as u64,
                ..location.clone()
            };
            let mut follower = Follower::behind(&store, &found).unwrap().counting_lines();
            durable::append_all(file.as_ref(), &bytes[cut..]).unwrap();
            let mut entries = Vec::new();
            loop {
                let news = follower.poll().unwrap();
                entries.extend(news.entries);
                if !news.more {
                    break;
                }
            }
            let log = session.log();
            let new: Vec<_> = log
                .entries()
                .filter(|(_, head)| head.at >= cut as u64)
                .collect();
            let ended: Vec<_> = new
                .iter()
                .filter(|(_, head)| head.at + head.len < bytes.len() as u64)
                .collect();
            assert_eq!(entries.len(), ended.len(), "{dialect} {key}");
            let leaf = session.leaf().ok().flatten();
            for ((slot, head), entry) in ended.into_iter().zip(&entries) {
                let what = format!("{dialect} {key} {}", log.label(*slot));
                let counted = entry.line.is_some() || head.id.is_none();
                assert_eq!(
                    entry.label.as_ref().map(|id| id.as_str()),
                    Some(&*log.label(*slot)),
                    "{what}"
                );
                assert!(
                    !counted || entry.line == Some(u64::from(head.line)),
                    "{what}: {:?}",
                    entry.line
                );
                assert_eq!(
                    (entry.kind, &*entry.word, entry.time),
                    (head.kind, log.word(*slot), head.instant()),
                    "{what}"
                );
                assert_eq!(entry.leaf, leaf == Some(*slot), "{what}");
                leaves += usize::from(entry.leaf);
                if let Some(parent) = session.tree().parent(*slot) {
                    with_parents += 1;
                    assert_eq!(
                        entry.parent.as_ref().map(|id| id.as_str()),
                        Some(&*log.label(parent)),
                        "{what}"
                    );
                }
                compared += 1;
            }
        }
    }
    assert!(
        compared > 100 && with_parents > 50 && leaves > 5,
        "{compared} {with_parents} {leaves}"
    );
}

fn record(text: &str) -> String {
    format!(
        "{{\"type\":\"message\",\"id\":\"x\",\"parentId\":null,\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}
