use std::sync::Arc;

use boswell_store::dialect::by_name;
use boswell_store::disk::{Disk, Open, RealDisk, durable};
use boswell_store::model::EntryKind;
use boswell_store::{Draft, ErrorKind, Follower, MemoryBackend, NewSession, News, Store, Visible};

use crate::reading::Lab;

fn texts(news: &News) -> Vec<String> {
    news.entries.iter().filter(|entry| entry.kind == EntryKind::User).map(|entry| entry.view.text()).collect()
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
    assert_eq!(news.entries[0].id.as_deref(), Some(receipt.entry.as_str()));
    assert_eq!((news.entries[0].line, news.generation), (4, 0));
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
        assert!(follower.poll().unwrap().entries.is_empty(), "even a whole record may still grow");
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
        assert_eq!(read, len(&lab) - before + 64, "what is new, and a few bytes to know the log again");
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
    RealDisk.open(&path, Open::Append).unwrap().truncate(cut.len() as u64).unwrap();
    let news = follower.poll().unwrap();
    assert_eq!((news.generation, texts(&news)), (1, vec!["a 0".to_owned()]));

    durable::put(&RealDisk, &path, &bytes, "other").unwrap();
    let news = follower.poll().unwrap();
    assert_eq!((news.generation, texts(&news).len()), (2, 3), "another file with the same name");

    RealDisk.open(&path, Open::Append).unwrap().truncate(cut.len() as u64).unwrap();
    lab.add(&path, &"{\"type\":\"custom\",\"id\":\"z\",\"parentId\":null}\n".repeat(50));
    let news = follower.poll().unwrap();
    assert_eq!((news.generation, news.entries.len()), (3, 52), "cut and grown again between two polls");
}

#[test]
fn an_unknown_session_is_an_error_and_one_that_goes_away_too() {
    let lab = Lab::new();
    assert!(Follower::new(&lab.store, "nobody").unwrap_err().is_not_found());
    let path = lab.session("a", 1).path();
    let mut follower = Follower::new(&lab.store, "a").unwrap();
    RealDisk.remove(&path).unwrap();
    assert_eq!(follower.poll().unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_session_that_is_not_visible_yet_is_followed_from_its_first_answer_on() {
    let lab = Lab::new();
    let new = NewSession { visible: Visible::WithFirstAnswer, ..NewSession::in_project("/proj/demo").with_id("late") };
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
        lab.add(&path, &format!("{{\"type\":\"custom\",\"id\":\"z\",\"parentId\":null,\"data\":\"{filler}\"}}\n"));
    }
    let mut follower = Follower::new(&lab.store, "a").unwrap();
    let first = follower.poll().unwrap();
    assert!(first.more && first.entries.len() < 12, "{}", first.entries.len());
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
    backend.put("sessions/--w--/2026-01-01T00-00-00-000Z_m.jsonl", lines, None);
    let store = Store::on(by_name("boswell").unwrap(), Arc::new(backend), "memory");
    let mut follower = Follower::new(&store, "m").unwrap();
    let news = follower.poll().unwrap();
    assert_eq!((news.entries.len(), news.more), (1, false), "the tail is pending");
    assert!(follower.poll().unwrap().entries.is_empty());
}
