//! clinvoker stores as the program writes them, intact and damaged.

use std::borrow::Cow;

use boswell_dialect::clinvoker::Clinvoker;
use boswell_dialect::{
    Capability, Depth, Dialect, Discovered, Environment, LinkKind, Match, MemoryFiles, Permissions,
    ReadSession, Reader, Runtime, Sample, SessionLink, SessionLocation, Support, by_name,
};
use boswell_model::json::{Object, scan_object};
use boswell_model::{
    Advice, ErrorKind, Instant, Part, Payloads, ProblemKind, Result, SessionMeta, Slot, Tip,
};

const ID: &str = "a1b2c3d4e5f6789012345678abcdef01";
const OLD: &str = "a1b2c3d4e5f67890";

const DOCUMENT: &str = r#"{
  "id": "a1b2c3d4e5f6789012345678abcdef01",
  "backend": "claude",
  "created_at": "2026-01-31T23:35:40.9+09:00",
  "last_used": "2026-01-31T23:45:41.123456789+09:00",
  "working_dir": "/home/u/app",
  "backend_session_id": "213793e6-5bf8-4c1c-9a52-08f5c0a0f002",
  "model": "sonnet",
  "initial_prompt": "Refactor \u003cauth\u003e \u0026 middleware",
  "status": "active",
  "turn_count": 5,
  "token_usage": {"input_tokens": 1500, "output_tokens": 2300, "cached_tokens": 500},
  "tags": ["refactoring", "auth"],
  "title": "Auth",
  "parent_id": "ffff",
  "metadata": {"k": "v"},
  "later": {"unknown": 1}
}"#;

/// A log in memory, as a source of payloads.
struct Bytes<'a>(&'a [u8]);

impl Payloads for Bytes<'_> {
    fn payload(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>> {
        self.0.payload(at, len)
    }
}

fn store(files: &[(&str, &str)]) -> (MemoryFiles, Discovered) {
    let mut memory = MemoryFiles::default();
    for (key, text) in files {
        memory.put(key, *text, None);
    }
    let found = Clinvoker.discover(&memory).unwrap();
    (memory, found)
}

fn read(document: &str) -> (SessionLocation, ReadSession) {
    let key = format!("sessions/{ID}.json");
    let (_, mut found) = store(&[(&key, document)]);
    let location = found.sessions.remove(0);
    let session = Reader::read(&Clinvoker, &location, document.as_bytes(), Depth::Facts);
    (location, session)
}

fn meta(document: &str) -> SessionMeta {
    read(document).1.meta
}

fn ids(found: &Discovered) -> Vec<&str> {
    found.sessions.iter().map(|s| s.id.as_str()).collect()
}

fn details(found: &Discovered) -> Vec<&str> {
    found
        .problems
        .iter()
        .map(|(_, p)| p.detail.as_str())
        .collect()
}

fn keys(id: &str) -> String {
    format!("sessions/{id}.json")
}

#[test]
fn every_field_of_a_document_becomes_a_fact() {
    let meta = meta(DOCUMENT);
    assert_eq!(meta.id.as_deref(), Some(ID));
    assert_eq!(meta.agent.as_deref(), Some("claude"));
    assert_eq!(meta.created, Instant::parse("2026-01-31T14:35:40.900Z"));
    assert_eq!(meta.last_active, Instant::parse("2026-01-31T14:45:41.123Z"));
    assert_eq!(meta.project.as_deref(), Some("/home/u/app"));
    assert_eq!(
        meta.first_prompt.as_deref(),
        Some("Refactor <auth> & middleware")
    );
    assert_eq!(meta.last_prompt, None);
    assert_eq!(
        (meta.status.as_deref(), meta.title.as_deref()),
        (Some("active"), Some("Auth"))
    );
    assert_eq!(meta.stated.turns, Some(5));
    let usage = meta.stated.usage;
    assert_eq!(
        (usage.input, usage.output, usage.cache_read, usage.reasoning),
        (Some(1500), Some(2300), Some(500), None)
    );
    assert_eq!(meta.tags, ["refactoring", "auth"]);
    assert_eq!(meta.parent.as_deref(), Some("ffff"));
    assert_eq!(meta.metadata.get("k").map(String::as_str), Some("v"));
    assert_eq!(meta.models, ["sonnet"]);
}

#[test]
fn legacy_16_hex_and_32_hex_ids_are_sessions_and_the_index_is_none() {
    let (_, found) = store(&[
        (&keys(ID), DOCUMENT),
        (&keys(OLD), "{}"),
        ("sessions/index.json", r#"{"version":1,"index":null}"#),
        ("sessions/store.lock", ""),
        ("sessions/.tmp-123", "{"),
        ("sessions/A1B2C3D4E5F67890.json", "{}"),
    ]);
    assert_eq!(ids(&found), [OLD, ID]);
    assert!(
        found
            .problems
            .iter()
            .any(|(key, p)| key.contains("A1B2") && p.kind == ProblemKind::Unreadable)
    );
    assert!(
        Clinvoker.id_is_valid("abc")
            && !Clinvoker.id_is_valid("index")
            && !Clinvoker.id_is_valid("-x")
    );
}

#[test]
fn a_missing_index_is_no_problem() {
    assert_eq!(store(&[(&keys(ID), DOCUMENT)]).1.problems, []);
}

#[test]
fn an_index_that_agrees_is_no_problem_with_its_go_names_and_null_tags() {
    let index = format!(
        r#"{{"version":1,"index":{{"{ID}":{{"ID":"{ID}","Backend":"claude","Status":"","LastUsed":"0001-01-01T00:00:00Z","Model":"","WorkDir":"","Title":"","Tags":null,"CreatedAt":"0001-01-01T00:00:00Z"}}}}}}"#
    );
    let (_, found) = store(&[(&keys(ID), DOCUMENT), ("sessions/index.json", &index)]);
    assert_eq!((ids(&found), found.problems.len()), (vec![ID], 0));
}

#[test]
fn an_index_that_was_overwritten_with_one_row_hides_nothing() {
    let index = format!(r#"{{"version":1,"index":{{"{ID}":{{"ID":"{ID}"}}}}}}"#);
    let (_, found) = store(&[
        (&keys(ID), DOCUMENT),
        (&keys(OLD), DOCUMENT),
        ("sessions/index.json", &index),
    ]);
    assert_eq!(ids(&found), [OLD, ID]);
    assert_eq!(found.problems.len(), 1);
    assert_eq!(found.problems[0].1.kind, ProblemKind::StaleIndex);
    assert!(details(&found)[0].contains(OLD), "{:?}", details(&found));
}

#[test]
fn stale_rows_of_the_index_are_reported_and_not_listed() {
    let index = r#"{"version":1,"index":{"ghost":{"ID":"ghost"},"ghost2":{}}}"#;
    let (_, found) = store(&[("sessions/index.json", index)]);
    assert_eq!(ids(&found), [] as [&str; 0]);
    assert_eq!(
        details(&found),
        ["2 rows have no document: `ghost`, `ghost2`"]
    );
}

#[test]
fn a_corrupt_or_foreign_index_is_stale_and_the_documents_are_still_there() {
    for index in [
        "{\"version\":1,",
        "[]",
        r#"{"version":2,"index":{}}"#,
        "",
        r#"{"version":1,"index":[1]}"#,
    ] {
        let (_, found) = store(&[(&keys(ID), DOCUMENT), ("sessions/index.json", index)]);
        assert_eq!(ids(&found), [ID], "{index}");
        assert_eq!(found.problems.len(), 1, "{index}");
        assert_eq!(found.problems[0].1.kind, ProblemKind::StaleIndex, "{index}");
    }
}

#[test]
fn zero_times_and_empty_fields_are_unknown() {
    let meta = meta(
        r#"{"id":"abc","backend":"gemini","created_at":"0001-01-01T00:00:00Z","last_used":"0001-01-01T00:00:00Z","working_dir":""}"#,
    );
    assert_eq!(
        (meta.created, meta.last_active, meta.project),
        (None, None, None)
    );
    assert_eq!(
        (meta.status, meta.title, meta.first_prompt),
        (None, None, None)
    );
    assert!(meta.stated.usage.is_unknown());
    assert_eq!(meta.stated.turns, Some(0), "Go leaves out a zero");
}

#[test]
fn zeros_after_turns_mean_that_nobody_counted() {
    let of = |turns: u32| {
        let text = format!(
            r#"{{"id":"abc","turn_count":{turns},"token_usage":{{"input_tokens":0,"output_tokens":0}}}}"#
        );
        meta(&text).stated.usage.input
    };
    assert_eq!((of(0), of(3)), (Some(0), None));
}

#[test]
fn error_status_carries_its_message_and_an_outlived_message_is_no_error() {
    let failed = meta(&DOCUMENT.replace(
        r#""status": "active""#,
        r#""status": "error", "error_message": "no credit""#,
    ));
    assert_eq!(
        (failed.status.as_deref(), failed.error.as_deref()),
        (Some("error"), Some("no credit"))
    );
    let later = meta(&DOCUMENT.replace(
        r#""status": "active""#,
        r#""status": "completed", "error_message": "no credit""#,
    ));
    assert_eq!(later.error, None);
    assert_eq!(
        later.metadata.get("error_message").map(String::as_str),
        Some("no credit")
    );
}

#[test]
fn a_corrupt_document_is_listed_and_its_bytes_are_a_gap() {
    let (_, session) = read("{\"id\":\"a1b2");
    assert_eq!((session.log.heads.len(), session.log.gaps.len()), (0, 1));
}

#[test]
fn the_document_shows_its_prompt_and_a_line_about_its_state() {
    let (_, session) = read(DOCUMENT);
    let bytes = Bytes(DOCUMENT.as_bytes());
    let view = session.view(&bytes);
    let shown = view
        .with_object(Slot(0), |object| Clinvoker.view(object))
        .unwrap()
        .unwrap();
    assert_eq!(
        shown.parts,
        [Part::Text("Refactor <auth> & middleware".into())]
    );
    assert_eq!(
        shown.remark.as_deref(),
        Some("claude session `Auth`: active")
    );
    assert_eq!(Clinvoker.tip(&view).unwrap(), Tip::At(Slot(0)));
    assert_eq!(
        Clinvoker.leaf(&view, Tip::At(Slot(0))),
        None,
        "it holds no conversation"
    );
}

#[test]
fn the_context_is_with_the_backend() {
    let (_, session) = read(DOCUMENT);
    let error = Clinvoker
        .context(&session.view(&Bytes(DOCUMENT.as_bytes())), Tip::Root)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let show = Advice::show(format!("clinvoker:{ID}"));
    assert_eq!(error.advice(), Some(&show));
}

#[test]
fn the_transcript_is_linked_and_can_be_resumed_only_with_a_backend_session() {
    let (location, session) = read(DOCUMENT);
    let id = "213793e6-5bf8-4c1c-9a52-08f5c0a0f002";
    let link = |dialect| {
        vec![SessionLink {
            kind: LinkKind::Transcript,
            dialect,
            id: id.into(),
        }]
    };
    assert_eq!(Clinvoker.links(&session.meta, ID), link("claude"));
    assert_eq!(
        Clinvoker.links(&meta(&DOCUMENT.replace("\"claude\"", "\"codex\"")), ID),
        link("codex")
    );
    assert_eq!(
        Clinvoker.links(&meta(&DOCUMENT.replace("\"claude\"", "\"gemini\"")), ID),
        []
    );
    let command = Clinvoker
        .resume(&session.meta, &location, Permissions::Asked)
        .unwrap();
    assert_eq!(command.argv, ["clinvk", "resume", ID]);
    assert_eq!(command.cwd.as_deref(), Some("/home/u/app"));
    let fork = meta(&DOCUMENT.replace("backend_session_id", "x"));
    assert_eq!(Clinvoker.resume(&fork, &location, Permissions::Asked), None);
}

#[test]
fn a_document_is_recognised_by_its_keys_and_place() {
    let bytes = DOCUMENT.as_bytes();
    let mut members = Vec::new();
    let end = scan_object(bytes, &mut members).unwrap();
    let records = [Object::new(&bytes[..end], &members)];
    let likeness = |name: &str, folders: &[&str]| {
        let folders: Vec<String> = folders.iter().map(|f| (*f).to_owned()).collect();
        Clinvoker.recognises(&Sample {
            name,
            folders: &folders,
            records: &records,
        })
    };
    assert_eq!(
        likeness(&format!("{ID}.json"), &["sessions", ".clinvk"]),
        Match::Certain
    );
    assert_eq!(likeness("x.json", &["tmp"]), Match::Likely);
    assert_eq!(
        Clinvoker.recognises(&Sample {
            name: "a.json",
            folders: &[],
            records: &[]
        }),
        Match::No
    );
}

#[test]
fn no_cut_and_no_flipped_byte_makes_it_panic() {
    for cut in 0..DOCUMENT.len() {
        let (head, tail) = DOCUMENT.split_at_checked(cut).unwrap_or(("", ""));
        let flipped = format!("{head}\"{}", tail.get(1..).unwrap_or(""));
        for text in [head, &flipped] {
            let (location, session) = read(text);
            let bytes = Bytes(text.as_bytes());
            let view = session.view(&bytes);
            for slot in session.log.slots() {
                assert!(
                    view.with_object(slot, |object| Clinvoker.view(object))
                        .unwrap()
                        .is_some()
                );
            }
            assert!(Clinvoker.context(&view, Tip::Root).is_err());
            assert!(Clinvoker.links(&session.meta, &location.id).len() <= 1);
        }
    }
}

#[test]
fn it_is_registered_and_says_what_it_can() {
    assert_eq!(
        by_name("clinvoker").map(|d| d.facts().title),
        Some("clinvoker")
    );
    let can = |operation| Clinvoker.facts().capabilities.support(operation);
    for native in [
        Capability::Title,
        Capability::Tag,
        Capability::Status,
        Capability::Fork,
        Capability::Delete,
    ] {
        assert_eq!(can(native), Support::Native, "{}", native.word());
    }
    for no in [
        Capability::Append,
        Capability::Branch,
        Capability::Rewind,
        Capability::Label,
        Capability::Context,
    ] {
        assert_eq!(can(no), Support::No, "{}", no.word());
    }
    let env = Environment {
        home: Some("/home/u".into()),
        ..Environment::default()
    };
    assert_eq!(
        Clinvoker.roots(&env),
        [std::path::PathBuf::from("/home/u/.clinvk")]
    );
}
