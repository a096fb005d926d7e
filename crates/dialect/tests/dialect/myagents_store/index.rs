//! The index and the files that it names: damaged, missing, of another generation.

use boswell_dialect::myagents::MyAgents;
use boswell_dialect::{Depth, Dialect, FileInfo, Files, MemoryFiles, Reader, SideFiles, SideKind};
use boswell_model::{Error, ErrorKind, Framing, Instant, ProblemKind, Result, Slot};

use super::{E2, E3, ROWS, discover, files, index_of, kinds, log_of, only};

fn document_of(id: &str) -> String {
    format!("sessions/{id}.json")
}

#[test]
fn sessions_json_corrupt_salvages_rows_and_loses_no_transcript() {
    let torn = format!("[\n{{\"id\":\"{E2}\",\"title\":\"Mine\"}},\n{{\"id\":");
    let found = discover(&[
        ("sessions.json", &torn),
        (&log_of(E2), ROWS),
        (&log_of(E3), ROWS),
    ]);
    assert_eq!(
        kinds(&found),
        [
            ("sessions.json", ProblemKind::NotJson),
            (log_of(E3).as_str(), ProblemKind::StaleIndex)
        ]
    );
    let titled = found.sessions.iter().find(|s| s.id == E2).unwrap();
    assert_eq!(MyAgents.begin(titled).title.as_deref(), Some("Mine"));
    assert!(found.sessions.iter().any(|s| s.id == E3 && s.row.is_none()));
}

#[test]
fn sessions_json_with_foreign_items_keeps_the_rest() {
    let found = discover(&[("sessions.json", &format!("[{{\"id\":\"{E2}\"}},null]"))]);
    assert_eq!(kinds(&found), [("sessions.json", ProblemKind::StaleIndex)]);
    assert_eq!(only(found).id, E2);
}

#[test]
fn sessions_json_missing_is_one_problem_however_many_transcripts() {
    let found = discover(&[(&log_of(E2), ROWS), (&log_of(E3), ROWS)]);
    assert_eq!(kinds(&found), [("sessions.json", ProblemKind::StaleIndex)]);
    assert_eq!(found.sessions.len(), 2);
    assert!(discover(&[]).problems.is_empty());
}

#[test]
fn sessions_json_tmp_that_is_newer_and_whole_replaces_salvage() {
    let mut memory = files(&[("sessions.json", "[{\"id\":\"a\"},")]);
    memory.put(
        "sessions.json.tmp",
        r#"[{"id":"a"},{"id":"b"}]"#,
        Some(Instant::from_millis(2)),
    );
    assert_eq!(MyAgents.discover(&memory).unwrap().sessions.len(), 2);
    memory.put(
        "sessions.json.tmp",
        r#"[{"id":"a"},{"id":"b"}]"#,
        Some(Instant::from_millis(0)),
    );
    assert_eq!(MyAgents.discover(&memory).unwrap().sessions.len(), 1);
}

#[test]
fn a_row_without_a_file_is_a_session_and_missing_only_if_it_counts_prompts() {
    let found = discover(&[("sessions.json", &index_of(r#","stats":{"messageCount":0}"#))]);
    assert_eq!(kinds(&found), []);
    assert_eq!(only(found).key, None);
    let found = discover(&[("sessions.json", &index_of(r#","stats":{"messageCount":2}"#))]);
    assert_eq!(kinds(&found), [("sessions.json", ProblemKind::MissingFile)]);
}

#[test]
fn ids_that_leave_the_folder_are_reported_and_never_joined() {
    let found = discover(&[
        (
            "sessions.json",
            r#"[{"id":"../../etc/x"},{"id":"-rf"},{"id":"ok"}]"#,
        ),
        ("sessions/a_b.jsonl", ROWS),
    ]);
    assert_eq!(found.problems.len(), 3);
    assert_eq!(only(found).id, "ok");
}

#[test]
fn legacy_json_is_read_as_rows() {
    let rows: Vec<&str> = ROWS.lines().collect();
    let document = format!(
        "{{\"sessionId\":\"x\",\n \"messages\": [{}]}}",
        rows.join(",\n")
    );
    let location = only(discover(&[
        ("sessions.json", &index_of("")),
        (&document_of(E2), &document),
    ]));
    assert_eq!(location.framing, Framing::Rows("messages"));
    let session = Reader::read(&MyAgents, &location, document.as_bytes(), Depth::Facts);
    assert_eq!(
        (session.meta.messages, session.tree.path(Slot(3)).len()),
        (4, 4)
    );
    assert_eq!(session.log.heads[0].line, 2);
}

#[test]
fn both_present_the_line_log_wins() {
    let found = discover(&[
        ("sessions.json", &index_of("")),
        (&document_of(E2), r#"{"messages":[]}"#),
        (&log_of(E2), ROWS),
    ]);
    assert_eq!(
        kinds(&found),
        [(document_of(E2).as_str(), ProblemKind::PendingChange)]
    );
    let location = only(found);
    assert_eq!(location.key.as_deref(), Some(log_of(E2).as_str()));
    let memory = files(&[(&document_of(E2), "{}"), (&log_of(E2), ROWS)]);
    let side_files = MyAgents.side_files(&memory, &location).unwrap();
    assert_eq!(side_files.len(), 1, "the other one is not forgotten");
    assert_eq!(
        (side_files[0].key.as_str(), side_files[0].kind),
        (document_of(E2).as_str(), SideKind::Meta)
    );
}

#[test]
fn empty_jsonl_and_legacy_json_the_document_is_read() {
    for empty in ["", "\n\r\n"] {
        let found = discover(&[
            ("sessions.json", &index_of("")),
            (&document_of(E2), r#"{"messages":[]}"#),
            (&log_of(E2), empty),
        ]);
        let location = only(found);
        assert_eq!(location.key.as_deref(), Some(document_of(E2).as_str()));
        assert_eq!(location.framing, Framing::Rows("messages"));
    }
}

/// Files whose index cannot be read.
#[derive(Debug)]
struct LockedIndex(MemoryFiles);

impl Files for LockedIndex {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        self.0.list(folder)
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        self.0.stat(key)
    }

    fn read(&self, key: &str, at: u64, len: usize) -> Result<Vec<u8>> {
        match key {
            "sessions.json" => Err(Error::new(ErrorKind::Denied, "permission denied")),
            _ => self.0.read(key, at, len),
        }
    }
}

#[test]
fn an_index_that_cannot_be_read_is_unreadable_and_not_stale() {
    let memory = files(&[("sessions.json", "[]"), (&log_of(E2), ROWS)]);
    let found = MyAgents.discover(&LockedIndex(memory)).unwrap();
    assert_eq!(kinds(&found), [("sessions.json", ProblemKind::Unreadable)]);
    assert_eq!(found.sessions.len(), 1);
}
