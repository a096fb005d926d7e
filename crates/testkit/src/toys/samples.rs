//! Sessions as the toys write them.

use crate::conformance::DialectSample;
use crate::memory_rows::{MemoryRows, StoredCell};

/// Samples of jot: a linear session with a call, and one with an abandoned branch.
pub fn jot() -> Vec<DialectSample> {
    let header = r#"{"jot":1,"id":"ID","cwd":"/proj","at":"2026-01-01T08:00:00.000Z"}
"#;
    let linear = r#"{"jot":"say","id":"a","parent":null,"at":"2026-01-01T08:00:01.000Z","role":"user","text":"why is it red?"}
{"jot":"say","id":"b","parent":"a","at":"2026-01-01T08:00:02.000Z","role":"assistant","text":"I look.","calls":[{"id":"t1","name":"read","args":{"path":"a.rs"}}]}
{"jot":"say","id":"c","parent":"b","at":"2026-01-01T08:00:03.000Z","role":"tool","text":"fn main() {}","call":"t1"}
{"jot":"say","id":"d","parent":"c","at":"2026-01-01T08:00:04.000Z","role":"assistant","text":"It is empty."}
"#;
    let branched = r#"{"jot":"say","id":"e","parent":"a","at":"2026-01-01T08:00:05.000Z","role":"assistant","text":"Another answer."}
{"jot":"title","id":"f","parent":"e","at":"2026-01-01T08:00:06.000Z","title":"A red build"}
"#;
    let log = |id: &str, lines: &[&str]| {
        let bytes = header.replace("ID", id) + &lines.concat();
        DialectSample::file(id, &format!("sessions/{id}.jsonl"), bytes)
    };
    vec![log("j-1", &[linear]), log("j-2", &[linear, branched])]
}

/// Samples of rook: two sessions in one database, one with a message that is no longer sent.
pub fn rook() -> Vec<DialectSample> {
    let mut rows = MemoryRows::default();
    for id in ["r-1", "r-2"] {
        rows.insert(
            "session",
            &[
                ("id", StoredCell::text(id)),
                ("title", StoredCell::text("A red build")),
                ("cwd", StoredCell::text("/proj")),
                ("updated", StoredCell::Integer(1_767_254_403_000)),
            ],
        );
        // Inserted out of order: they are sorted by time.
        message(&mut rows, id, (3, r#"{"role":"user","text":"and now?"}"#));
        message(
            &mut rows,
            id,
            (1, "{\"role\":\"user\",\n\"text\":\"why is it red?\"}"),
        );
        let dropped = r#"{"role":"assistant","text":"I do not know.","dropped":true}"#;
        message(&mut rows, id, (2, dropped));
    }
    let sample = |id: &str| DialectSample::rows(id, super::rows::DATABASE, rows.clone());
    vec![sample("r-1"), sample("r-2")]
}

fn message(rows: &mut MemoryRows, session: &str, (at, data): (i64, &str)) {
    rows.insert(
        "message",
        &[
            ("id", StoredCell::text(format!("{session}-{at}"))),
            ("session_id", StoredCell::text(session)),
            ("at", StoredCell::Integer(1_767_254_400_000 + at * 1000)),
            ("data", StoredCell::text(data)),
        ],
    );
}

/// Samples of opal: one with an edit and a rewind, one that was compacted.
pub fn opal() -> Vec<DialectSample> {
    let edited = r#"{"opal":"open","session":"o-1","cwd":"/proj","at":1767254400000}
{"opal":"message","id":"a","at":1767254401000,"role":"user","text":"why is it red?"}
{"opal":"message","id":"b","at":1767254402000,"role":"assistant","text":"I lo"}
{"opal":"message","id":"c","at":1767254403000,"role":"user","text":"wrong question"}
{"opal":"message","id":"b","at":1767254404000,"role":"assistant","text":"I looked: a test."}
{"opal":"rewind","to":"c"}
{"opal":"message","id":"d","at":1767254405000,"role":"user","text":"which test?"}
"#;
    let compacted = r#"{"opal":"open","session":"o-2","cwd":"/proj","at":1767254400000}
{"opal":"message","id":"a","at":1767254401000,"role":"user","text":"why is it red?"}
{"opal":"message","id":"b","at":1767254402000,"role":"assistant","text":"I looked: a test."}
{"opal":"replace","messages":[{"role":"user","text":"it was red"},{"role":"assistant","text":"a test"}]}
{"opal":"message","id":"c","at":1767254403000,"role":"user","text":"which test?"}
"#;
    vec![
        DialectSample::file("o-1", "chats/o-1.jsonl", edited),
        DialectSample::file("o-2", "chats/o-2.jsonl", compacted),
    ]
}

/// Samples of dory: a document with a title in the index, and one that is not in the index.
pub fn dory() -> Vec<DialectSample> {
    let document = r#"{"dory":1,"messages":[
  {"dory":"message","id":"a","at":1767254401000,"role":"user","text":"why is it red?"},
  {"dory":"message","id":"b","at":1767254402000,"role":"assistant","text":"a test fails"}
]}
"#;
    let index = r#"[{"id":"d-1","title":"A red build","cwd":"/proj"}]"#;
    let mut titled = DialectSample::file("d-1", "tasks/d-1.json", document);
    titled.files.add("index.json", index);
    titled.files.add("tasks/d-1.json.tmp", &document[..40]);
    vec![
        titled,
        DialectSample::file("d-2", "tasks/d-2.json", document),
    ]
}
