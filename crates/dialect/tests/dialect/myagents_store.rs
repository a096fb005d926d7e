//! MyAgents stores of all three generations, intact and damaged.

mod eras;
mod index;
mod rows;

use std::borrow::Cow;

use boswell_dialect::myagents::MyAgents;
use boswell_dialect::{
    Capability, Depth, Dialect, Discovered, Environment, Match, MemoryFiles, ReadSession, Reader,
    Repairer, Sample, SessionLocation, SideFiles, SideKind, Support, by_name, recognise,
};
use boswell_model::json::{Object, scan_object};
use boswell_model::{Instant, Payloads, Problem, ProblemKind, Result};

const E2: &str = "7924d439-b04f-4c1c-9a52-08f5c0a0f001";
const E3: &str = "0b0a7d1e-5bf8-4c1c-9a52-08f5c0a0f003";

const ROWS: &str = concat!(
    r#"{"id":"0","role":"user","content":"hello","timestamp":"2026-08-05T00:00:00.000Z"}"#,
    "\n",
    r#"{"id":"1","role":"assistant","content":"[{\"type\":\"thinking\",\"thinking\":\"hm\"},{\"type\":\"tool_use\",\"tool\":{\"id\":\"t1\",\"name\":\"Edit\",\"input\":{\"file_path\":\"a.rs\"},\"streamIndex\":0,\"result\":\"done\"}},{\"type\":\"text\",\"text\":\"first\"}]","timestamp":"2026-08-05T00:00:05.000Z","sdkUuid":"sdk-1","usage":{"inputTokens":20,"outputTokens":10,"cacheReadTokens":4,"model":"m1","modelUsage":{"m1":{"inputTokens":20},"m2":{"inputTokens":1}}},"toolCount":1,"durationMs":4200}"#,
    "\n",
    r#"{"id":"1","role":"user","content":"[not json] again","timestamp":"2026-08-05T00:01:00.000Z","attachments":[{"id":"f","name":"p.png","mimeType":"image/png","path":"s/f.png"},{"id":"g","name":"x","mimeType":"image/png","path":"../../x"}],"metadata":{"source":"telegram_private"}}"#,
    "\n",
    r#"{"id":"2","role":"assistant","content":"Error: rate limited","timestamp":"2026-08-05T00:01:05.000Z","runtimeTurnAnchor":{"turnId":"turn-1","rootUserMessageId":"1"},"usage":{"modelUsage":{"m2":{"inputTokens":5,"outputTokens":6}}}}"#,
    "\n",
);

/// A log in memory, as a source of payloads.
struct Bytes<'a>(&'a [u8]);

impl Payloads for Bytes<'_> {
    fn payload(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>> {
        self.0.payload(at, len)
    }
}

fn files(files: &[(&str, &str)]) -> MemoryFiles {
    let mut memory = MemoryFiles::default();
    for (key, text) in files {
        memory.put(key, *text, Some(Instant::from_millis(1)));
    }
    memory
}

fn discover(of: &[(&str, &str)]) -> Discovered {
    MyAgents.discover(&files(of)).unwrap()
}

fn log_of(id: &str) -> String {
    format!("sessions/{id}.jsonl")
}

fn only(found: Discovered) -> SessionLocation {
    assert_eq!(found.sessions.len(), 1, "{found:?}");
    found.sessions.into_iter().next().unwrap()
}

fn read(index: &str, rows: &str) -> (SessionLocation, ReadSession) {
    let location = only(discover(&[("sessions.json", index), (&log_of(E2), rows)]));
    let session = Reader::read(&MyAgents, &location, rows.as_bytes(), Depth::Facts);
    (location, session)
}

fn index_of(more: &str) -> String {
    format!(
        r#"[{{"id":"{E2}","agentDir":"/p","title":"Mine","createdAt":"2026-02-01T00:00:00.000Z","lastActiveAt":"2026-02-02T00:00:00.000Z"{more}}}]"#
    )
}

fn checked(session: &ReadSession, rows: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    MyAgents
        .check(
            &session.view(&Bytes(rows.as_bytes())),
            &session.meta,
            &mut problems,
        )
        .unwrap();
    problems
}

fn kinds(found: &Discovered) -> Vec<(&str, ProblemKind)> {
    found
        .problems
        .iter()
        .map(|(key, p)| (key.as_str(), p.kind))
        .collect()
}

#[test]
fn pending_intent_before_the_cut_will_be_dropped_and_after_it_finished() {
    let intent = |before, after| {
        index_of(&format!(
            r#","sdkSessionId":"s","pendingConversationMutation":{{"schemaVersion":1,"kind":"builtin-rewind","sourceSdkSessionId":"s","replacementSdkSessionId":"r","sourceMessageCount":{before},"targetMessageCount":{after}}}"#
        ))
    };
    for (index, word) in [
        (intent(4, 2), "drop"),
        (intent(6, 4), "finish"),
        (intent(9, 8), "neither"),
    ] {
        let (_, session) = read(&index, ROWS);
        let problems = checked(&session, ROWS);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].kind, ProblemKind::PendingChange);
        assert!(problems[0].detail.contains(word), "{}", problems[0].detail);
    }
    let torn = format!("{ROWS}{{\"broken\"\n");
    let (_, session) = read(&intent(4, 2), &torn);
    assert!(checked(&session, &torn)[0].detail.contains("do not parse"));
    assert_eq!(checked(&read(&index_of(""), ROWS).1, ROWS), []);
}

#[test]
fn prepared_rows_are_hidden_and_so_are_maintenance_and_drafts() {
    let hidden = |more: &str| only(discover(&[("sessions.json", &index_of(more))])).hidden;
    assert_eq!(
        hidden(r#","materializationState":"prepared""#),
        Some("prepared")
    );
    assert_eq!(
        hidden(r#","systemMaintenanceKind":"memory_gardener""#),
        Some("maintenance")
    );
    let draft = r#","title":"New Chat","runtime":"codex","runtimeSource":"managed-provider","providerId":"codex-sub""#;
    assert_eq!(hidden(draft), Some("draft"));
    let location = only(discover(&[
        ("sessions.json", &index_of(draft)),
        (&log_of(E2), ROWS),
    ]));
    assert_eq!(location.hidden, None, "something was said");
    assert_eq!(hidden(""), None);
}

#[test]
fn a_broken_line_costs_only_itself() {
    let rows = ROWS.replacen(
        "{\"id\":\"1\",\"role\":\"user\"",
        "{\"broken\"\n{\"id\":\"1\",\"role\":\"user\"",
        1,
    );
    let (_, session) = read(&index_of(""), &rows);
    assert_eq!((session.log.heads.len(), session.log.gaps.len()), (4, 1));
    let torn = format!("{ROWS}{{\"role\":\"user\"");
    assert_eq!(read(&index_of(""), &torn).1.log.heads.len(), 4);
    let glued = format!("{{\"id\":\"9\",\"role\":\"us{ROWS}");
    assert_eq!(
        read(&index_of(""), &glued).1.log.heads.len(),
        4,
        "an append behind a torn line is found again"
    );
}

#[test]
fn the_format_of_a_session_is_decided_by_its_row_and_its_files() {
    let (old, new) = (log_of(E2), format!("sessions-v2/{E2}.jsonl"));
    let (stated, odd) = (r#","transcriptFormat":2"#, r#","transcriptFormat":"2""#);
    for (row, files, chosen, readable) in [
        (stated, vec![&new], Some(&new), true),
        (stated, vec![], None, false),
        (stated, vec![&old], Some(&old), false),
        (stated, vec![&old, &new], Some(&old), false),
        ("", vec![&old], Some(&old), true),
        ("", vec![], None, true),
        ("", vec![&new], Some(&new), false),
        ("", vec![&old, &new], Some(&new), false),
        (odd, vec![&new], Some(&new), false),
        (odd, vec![&old], Some(&old), false),
    ] {
        let row = index_of(row);
        let mut all = vec![("sessions.json", row.as_str())];
        all.extend(files.iter().map(|key| (key.as_str(), ROWS)));
        let found = discover(&all);
        let is_reported = !found.problems.is_empty();
        let location = only(found);
        assert_eq!(location.key.as_ref(), chosen, "{row} {files:?}");
        let read = MyAgents.powers().fold.unwrap().require_readable(&location);
        assert_eq!(read.is_ok(), readable, "{row} {files:?}");
        assert_eq!(is_reported, !readable, "{row} {files:?}");
        if let Err(error) = read {
            assert_eq!(error.kind(), boswell_model::ErrorKind::Damaged);
        }
    }
}

#[test]
fn attachments_of_a_session_are_its_side_files() {
    let location = only(discover(&[(&log_of(E2), ROWS)]));
    let memory = files(&[
        (&format!("attachments/{E2}/f.png"), "12345"),
        (&format!("attachments/{E3}/other.png"), "1"),
        (&format!("sessions/{E2}.jsonl.rewind-77.tmp"), "x"),
    ]);
    let side_files: Vec<_> = MyAgents
        .side_files(&memory, &location)
        .unwrap()
        .into_iter()
        .map(|f| (f.key, f.kind, f.size))
        .collect();
    assert_eq!(
        side_files,
        [
            (format!("attachments/{E2}/f.png"), SideKind::Attachment, 5),
            (
                format!("sessions/{E2}.jsonl.rewind-77.tmp"),
                SideKind::Meta,
                1
            ),
        ]
    );
}

#[test]
fn credentials_of_a_row_reach_neither_listing_nor_facts() {
    let location = only(discover(&[(
        "sessions.json",
        &index_of(r#","providerEnvJson":"{\"apiKey\":\"hunter2\"}""#),
    )]));
    assert!(!String::from_utf8_lossy(location.row.as_deref().unwrap()).contains("hunter2"));
    assert!(!format!("{:?}", MyAgents.begin(&location)).contains("hunter2"));
}

#[test]
fn a_transcript_is_recognised_by_its_keys_and_place() {
    let line = ROWS.lines().next().unwrap().as_bytes();
    let mut members = Vec::new();
    scan_object(line, &mut members).unwrap();
    let records = [Object::new(line, &members)];
    let home = ["sessions".to_owned(), ".myagents".to_owned()];
    let name = format!("{E2}.jsonl");
    let sample = |folders| Sample {
        name: &name,
        folders,
        records: &records,
    };
    assert_eq!(MyAgents.recognises(&sample(&home)), Match::Certain);
    assert_eq!(MyAgents.recognises(&sample(&[])), Match::Likely);
    assert_eq!(recognise(&sample(&[])).name(), "myagents");
    assert_eq!(
        MyAgents.recognises(&Sample {
            name: "x",
            folders: &[],
            records: &[]
        }),
        Match::No
    );
}

#[test]
fn no_cut_and_no_flipped_byte_makes_it_panic() {
    let index = index_of(
        r#","stats":{"messageCount":2},"origin":{"kind":"desktop"},"forkFrom":{"sourceSessionId":"p"}"#,
    );
    for cut in 0..ROWS.len() {
        let (head, tail) = ROWS.as_bytes().split_at(cut);
        let flipped = [head, b"\"", tail.get(1..).unwrap_or(b"")].concat();
        for bytes in [head, &flipped] {
            let location = only(discover(&[("sessions.json", &index), (&log_of(E2), "x")]));
            let session = Reader::read(&MyAgents, &location, bytes, Depth::Facts);
            let payloads = Bytes(bytes);
            let view = session.view(&payloads);
            for slot in session.log.slots() {
                assert!(
                    view.with_object(slot, |object| MyAgents.view(object))
                        .unwrap()
                        .is_some()
                );
            }
            assert!(
                MyAgents
                    .context(&view, MyAgents.tip(&view).unwrap())
                    .is_ok()
            );
        }
    }
    for cut in 0..index.len() {
        let found = discover(&[("sessions.json", index.get(..cut).unwrap())]);
        assert!(found.sessions.len() <= 1);
    }
}

#[test]
fn it_is_registered_and_says_what_it_can() {
    assert_eq!(
        by_name("myagents").map(|d| d.facts().title),
        Some("MyAgents")
    );
    let can = |operation| MyAgents.facts().capabilities.support(operation);
    for native in [
        Capability::Append,
        Capability::Title,
        Capability::Delete,
        Capability::Fork,
    ] {
        assert_eq!(can(native), Support::Native, "{}", native.word());
    }
    assert_eq!(
        (can(Capability::Rewind), can(Capability::Branch)),
        (Support::Rewrites, Support::No)
    );
    for note in [Capability::Tag, Capability::Label, Capability::Status] {
        assert_eq!(can(note), Support::Note, "{}", note.word());
    }
    let home = Environment {
        home: Some("/home/u".into()),
        ..Environment::default()
    };
    assert_eq!(
        MyAgents.roots(&home),
        [std::path::PathBuf::from("/home/u/.myagents")]
    );
    let windows = Environment {
        vars: [("USERPROFILE".to_owned(), "/u".to_owned())].into(),
        ..Environment::default()
    };
    assert_eq!(
        MyAgents.roots(&windows),
        [std::path::PathBuf::from("/u/.myagents")]
    );
    let moved = |to: &str| Environment {
        vars: [("MYAGENTS_DATA_DIR".to_owned(), to.to_owned())].into(),
        ..home.clone()
    };
    assert_eq!(
        MyAgents.roots(&moved("/d")).len(),
        2,
        "older versions do not know the variable"
    );
    assert_eq!(MyAgents.roots(&moved("/home/u/.myagents")).len(), 1);
}
