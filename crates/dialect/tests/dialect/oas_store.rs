//! open-agent-sdk stores: flat, by project, with wrong indexes and damaged files.

use std::borrow::Cow;

use boswell_dialect::oas::{OpenAgentSdk, redact_header};
use boswell_dialect::{
    Capability, Depth, Dialect, Discovered, Environment, Match, MemoryFiles, ReadSession, Reader,
    Refine, Repairer, Sample, Support, by_name,
};
use boswell_model::json::{Object, scan_object};
use boswell_model::{
    EntryKind, Gap, Instant, Part, Payloads, ProblemKind, Result, Slot, SpanKind, Tip,
};

const A: &str = "11111111-2222-4333-8444-555555555555";
const B: &str = "AAAAAAAA-BBBB-1CCC-8DDD-EEEEEEEEEEEE";

const LOG: &str = concat!(
    r#"{"type":"session_header","id":"11111111-2222-4333-8444-555555555555","model":"gpt-4o","provider":"openai","createdAt":1767225600000,"updatedAt":1767225660000,"options":{"model":"gpt-4o","cwd":"/home/u/app","permissionMode":"default","apiKey":"sk-hunter2","env":{"TOKEN":"hunter3"},"systemPrompt":"You are terse."},"parentSessionId":"parent","forkedAt":1767225600000}"#,
    "\n",
    r#"{"type":"user","uuid":"u1","session_id":"other","message":{"role":"user","content":"Hello"},"parent_tool_use_id":null}"#,
    "\n",
    r#"{"type":"assistant","uuid":"u2","session_id":"other","timestamp":"2025-12-01T00:00:00.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"c1","name":"Bash","input":{"cmd":"ls"}}],"tool_calls":[{"id":"c1","type":"function","function":{"name":"Bash","arguments":"{\"cmd\":\"ls\"}"}},{"id":"c2","type":"function","function":{"name":"Read","arguments":"{\"file_path\":\"a\"}"}}]},"parent_tool_use_id":null,"model":"gpt-4o-mini","usage":{"input_tokens":100,"output_tokens":50},"stop_reason":"tool_use"}"#,
    "\n",
    r#"{"type":"tool_result","uuid":"u3","session_id":"other","tool_use_id":"c1","tool_name":"Bash","result":{"stdout":"x"},"is_error":true}"#,
    "\n",
);

/// A log in memory, as a source of payloads.
struct Bytes<'a>(&'a [u8]);

impl Payloads for Bytes<'_> {
    fn payload(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>> {
        self.0.payload(at, len)
    }
}

fn store(files: &[(&str, &str)]) -> Discovered {
    let mut memory = MemoryFiles::default();
    for (key, text) in files {
        memory.put(key, *text, None);
    }
    OpenAgentSdk.discover(&memory).unwrap()
}

fn read(log: &str) -> ReadSession {
    let key = format!("sessions/{A}.jsonl");
    let found = store(&[(&key, log)]);
    Reader::read(
        &OpenAgentSdk,
        &found.sessions[0],
        log.as_bytes(),
        Depth::Facts,
    )
}

fn stale(found: &Discovered) -> Vec<(&str, &str)> {
    let stale = found
        .problems
        .iter()
        .filter(|(_, p)| p.kind == ProblemKind::StaleIndex);
    stale
        .map(|(key, p)| (key.as_str(), p.detail.as_str()))
        .collect()
}

#[test]
fn flat_and_project_folders_are_both_found() {
    let found = store(&[
        (&format!("sessions/{A}.jsonl"), LOG),
        (&format!("projects/-home-u-app/{B}.jsonl"), LOG),
        (&format!("projects/-home-u-app/{A}.json"), "{}"),
        ("projects/-home-u-app/notes.jsonl", "{}"),
        ("projects/loose.jsonl", "{}"),
    ]);
    let keys: Vec<_> = found
        .sessions
        .iter()
        .filter_map(|s| s.key.clone())
        .collect();
    assert_eq!(
        keys,
        [
            format!("projects/-home-u-app/{B}.jsonl"),
            format!("sessions/{A}.jsonl")
        ]
    );
    assert_eq!(found.problems.len(), 1, "a name that is no id is said");
    assert_eq!(stale(&found), [], "that there is no index is no problem");
}

#[test]
fn an_index_with_stale_rows_and_gaps_is_only_compared() {
    let index = format!(
        r#"{{"projectPath":"","sessions":[{{"id":"{A}","firstPrompt":"","messageCount":0}},{{"id":"gone"}}]}}"#
    );
    let found = store(&[
        (&format!("sessions/{A}.jsonl"), LOG),
        (&format!("sessions/{B}.jsonl"), LOG),
        ("sessions/sessions-index.json", &index),
    ]);
    assert_eq!(found.sessions.len(), 2);
    let key = "sessions/sessions-index.json";
    assert_eq!(
        stale(&found),
        [
            (key, "1 rows have no file; the SDK lists them all the same"),
            (key, "1 files have no row; the SDK does not list them"),
        ]
    );
}

#[test]
fn a_corrupt_index_costs_no_session() {
    for index in ["{\"sessions\":[", "[]", "{\"sessions\":{}}"] {
        let found = store(&[
            (&format!("sessions/{A}.jsonl"), LOG),
            ("sessions/sessions-index.json", index),
        ]);
        assert_eq!(
            (found.sessions.len(), stale(&found).len()),
            (1, 1),
            "{index}"
        );
    }
}

#[test]
fn the_header_says_what_the_session_is_and_keeps_its_secrets() {
    let meta = read(LOG).meta;
    assert_eq!(meta.id.as_deref(), Some(A));
    assert_eq!(meta.project.as_deref(), Some("/home/u/app"));
    assert_eq!(meta.permission_mode.as_deref(), Some("default"));
    assert_eq!(meta.parent.as_deref(), Some("parent"));
    assert_eq!(
        meta.created,
        Instant::parse("2026-01-01T00:00:00Z"),
        "rows of a fork are older than it"
    );
    assert_eq!(meta.last_active, Instant::parse("2026-01-01T00:01:00Z"));
    assert_eq!(meta.models, ["gpt-4o", "gpt-4o-mini"]);
    assert_eq!(
        meta.metadata.get("provider").map(String::as_str),
        Some("openai")
    );
    assert_eq!((meta.turns, meta.messages, meta.tool_calls), (1, 2, 2));
    assert_eq!(
        (meta.usage.total().input, meta.usage.total().cache_read),
        (Some(100), None)
    );
    assert_eq!(meta.first_prompt.as_deref(), Some("Hello"));
    let all = format!("{meta:?}");
    assert!(!all.contains("hunter") && !all.contains("terse"), "{all}");
}

#[test]
fn secrets_in_options_are_redacted_in_views_and_raw_records() {
    let session = read(LOG);
    let bytes = Bytes(LOG.as_bytes());
    let view = session.view(&bytes);
    let shown = view
        .with_object(Slot(0), |object| OpenAgentSdk.view(object))
        .unwrap()
        .unwrap();
    assert!(!format!("{shown:?}").contains("hunter"), "{shown:?}");
    let raw = view.payload(Slot(0)).unwrap();
    let redacted = String::from_utf8(OpenAgentSdk.redact(&raw).into_owned()).unwrap();
    assert!(
        !redacted.contains("hunter") && redacted.contains("/home/u/app"),
        "{redacted}"
    );
    assert_eq!(redact_header(&raw), OpenAgentSdk.redact(&raw));
    assert!(
        String::from_utf8_lossy(&raw).contains("hunter2"),
        "an exact export still has the record itself"
    );
    let disguised = r#"{"type":"session_header","options":{"apiKey":"hunter2"},"type":"x"}"#;
    let session = read(disguised);
    let shown = session
        .view(&Bytes(disguised.as_bytes()))
        .with_object(Slot(0), |o| OpenAgentSdk.view(o))
        .unwrap()
        .unwrap();
    assert!(!format!("{shown:?}").contains("hunter"), "{shown:?}");
}

#[test]
fn rows_are_linked_in_file_order_without_the_header() {
    let session = read(LOG);
    let bytes = Bytes(LOG.as_bytes());
    let view = session.view(&bytes);
    let tip = OpenAgentSdk.tip(&view).unwrap();
    assert_eq!(tip, Tip::At(Slot(3)));
    assert_eq!(
        OpenAgentSdk.branch(&view, tip).unwrap(),
        [Slot(1), Slot(2), Slot(3)]
    );
    let kinds: Vec<_> = session.log.heads.iter().map(|h| h.kind).collect();
    assert_eq!(
        kinds,
        [
            EntryKind::Header,
            EntryKind::User,
            EntryKind::Assistant,
            EntryKind::ToolResult
        ]
    );
    let empty = read(LOG.split_inclusive('\n').next().unwrap());
    assert_eq!(
        OpenAgentSdk
            .tip(&empty.view(&Bytes(LOG.as_bytes())))
            .unwrap(),
        Tip::Root,
        "a header alone"
    );
}

#[test]
fn calls_are_shown_once_with_their_arguments_and_answers_of_any_shape() {
    let session = read(LOG);
    let bytes = Bytes(LOG.as_bytes());
    let view = session.view(&bytes);
    let shown = |slot| {
        view.with_object(Slot(slot), |object| OpenAgentSdk.view(object))
            .unwrap()
            .unwrap()
    };
    assert_eq!(
        shown(2).parts,
        [
            Part::Text("Hi".into()),
            Part::Call {
                id: "c1".into(),
                name: "Bash".into(),
                input: "{\"cmd\":\"ls\"}".into()
            },
            Part::Call {
                id: "c2".into(),
                name: "Read".into(),
                input: "{\"file_path\":\"a\"}".into()
            },
        ]
    );
    assert_eq!(
        OpenAgentSdk.touched_files(&shown(2)),
        [("a".to_owned(), "Read".to_owned())]
    );
    let answer = shown(3);
    assert_eq!(
        answer.parts,
        [Part::Result {
            call: "c1".into(),
            text: "{\"stdout\":\"x\"}".into(),
            is_error: true
        }]
    );
    assert_eq!(answer.tool.as_deref(), Some("Bash"));
}

#[test]
fn one_bad_line_does_not_lose_the_session() {
    let damaged = LOG.replace(
        "{\"type\":\"assistant\"",
        "{\"type\":\"assis\n{\"type\":\"assistant\"",
    );
    let session = read(&damaged);
    assert_eq!(session.log.heads.len(), 4);
    assert_eq!(session.log.gaps.len(), 1);
    assert_eq!(session.log.gaps[0].kind, SpanKind::Gap(Gap::Garbage));
    assert_eq!(session.meta.messages, 2);
}

#[test]
fn a_session_without_a_header_is_read_and_reported() {
    let rows: String = LOG.split_inclusive('\n').skip(1).collect();
    let session = read(&rows);
    assert_eq!(session.meta.messages, 2);
    let mut problems = Vec::new();
    OpenAgentSdk
        .check(
            &session.view(&Bytes(rows.as_bytes())),
            &session.meta,
            &mut problems,
        )
        .unwrap();
    assert_eq!(
        problems.iter().map(|p| p.kind).collect::<Vec<_>>(),
        [ProblemKind::BadHeader]
    );
    let whole = read(LOG);
    problems.clear();
    OpenAgentSdk
        .check(
            &whole.view(&Bytes(LOG.as_bytes())),
            &whole.meta,
            &mut problems,
        )
        .unwrap();
    assert_eq!(problems, []);
}

#[test]
fn a_compaction_cuts_the_context() {
    let log = format!(
        "{LOG}{}\n{}\n{}\n{}\n{}\n",
        r#"{"type":"system","subtype":"init","uuid":"s0","session_id":"x","permissionMode":"plan","cwd":"/elsewhere"}"#,
        r#"{"type":"system","subtype":"compact_boundary","uuid":"s1","session_id":"x","compact_metadata":{"trigger":"manual","pre_tokens":9}}"#,
        r#"{"type":"assistant","uuid":"s2","session_id":"x","message":{"role":"assistant","content":[{"type":"text","text":"Summary of previous conversation:\n…"}]},"parent_tool_use_id":null}"#,
        r#"{"type":"user","uuid":"s3","session_id":"x","message":{"role":"user","content":"go on"},"parent_tool_use_id":null}"#,
        r#"{"type":"result","subtype":"success","uuid":"s4","session_id":"x"}"#,
    );
    let session = read(&log);
    let bytes = Bytes(log.as_bytes());
    let view = session.view(&bytes);
    let context = OpenAgentSdk
        .context(&view, OpenAgentSdk.tip(&view).unwrap())
        .unwrap();
    assert_eq!(
        context.items.iter().map(|i| i.slot).collect::<Vec<_>>(),
        [Slot(6), Slot(7)]
    );
    assert_eq!(context.settings.model.as_deref(), Some("gpt-4o-mini"));
    assert_eq!(session.meta.permission_mode.as_deref(), Some("plan"));
    assert_eq!(
        session.meta.project.as_deref(),
        Some("/home/u/app"),
        "the header says where it was held"
    );
    let message = view
        .with_object(Slot(7), |object| {
            OpenAgentSdk.render(&context.items[1], &[*object])
        })
        .unwrap()
        .unwrap();
    assert_eq!(
        (message.role.as_str(), message.content[0].to_string()),
        ("user", r#"{"type":"text","text":"go on"}"#.into())
    );
}

#[test]
fn unknown_types_are_kept_and_shown_as_they_are() {
    let log = format!(
        "{LOG}{}\n",
        r#"{"type":"hologram","uuid":"h","session_id":"x"}"#
    );
    let session = read(&log);
    assert_eq!(session.log.kind(Slot(4)), EntryKind::Unknown);
    assert_eq!(session.meta.kinds.get("hologram"), Some(&1));
    let shown = session
        .view(&Bytes(log.as_bytes()))
        .with_object(Slot(4), |o| OpenAgentSdk.view(o))
        .unwrap()
        .unwrap();
    assert!(shown.remark.unwrap().contains("hologram"));
}

#[test]
fn a_header_is_recognised_anywhere() {
    let line = LOG.lines().next().unwrap().as_bytes();
    let mut members = Vec::new();
    scan_object(line, &mut members).unwrap();
    let records = [Object::new(line, &members)];
    let likeness = OpenAgentSdk.recognises(&Sample {
        name: "x",
        folders: &[],
        records: &records,
    });
    assert_eq!(likeness, Match::Certain);
    assert_eq!(
        OpenAgentSdk.recognises(&Sample {
            name: "x",
            folders: &[],
            records: &[]
        }),
        Match::No
    );
}

#[test]
fn no_cut_makes_it_panic_or_show_a_secret() {
    for cut in 0..LOG.len() {
        let (head, tail) = LOG.as_bytes().split_at(cut);
        let flipped = [head, b"\"", tail.get(1..).unwrap_or(b"")].concat();
        let spoilt = [head, b"x", tail.get(1..).unwrap_or(b"")].concat();
        for bytes in [head, &flipped, &spoilt] {
            let found = store(&[(&format!("sessions/{A}.jsonl"), "x")]);
            let session = Reader::read(&OpenAgentSdk, &found.sessions[0], bytes, Depth::Facts);
            let payloads = Bytes(bytes);
            let view = session.view(&payloads);
            for slot in session.log.slots() {
                let shown = view
                    .with_object(slot, |object| OpenAgentSdk.view(object))
                    .unwrap()
                    .unwrap();
                let raw = view.payload(slot).unwrap();
                let raw = String::from_utf8_lossy(&OpenAgentSdk.redact(&raw)).into_owned();
                assert!(
                    !format!("{shown:?}{raw}").contains("hunter"),
                    "{cut}: {raw}"
                );
            }
            assert!(!format!("{:?}", session.meta).contains("hunter"), "{cut}");
            assert!(
                OpenAgentSdk
                    .context(&view, OpenAgentSdk.tip(&view).unwrap())
                    .is_ok()
            );
        }
        // From this length on, the torn line contains its type, `session_header`.
        if cut > 24 {
            let first = head.split(|b| *b == b'\n').next().unwrap();
            assert!(
                !String::from_utf8_lossy(&redact_header(first)).contains("hunter"),
                "{cut}"
            );
        }
    }
}

#[test]
fn it_is_registered_and_says_what_it_can() {
    assert_eq!(
        by_name("oas").map(|d| d.facts().title),
        Some("open-agent-sdk")
    );
    let can = |operation| OpenAgentSdk.facts().capabilities.support(operation);
    assert_eq!(
        (can(Capability::Append), can(Capability::Rewind)),
        (Support::Native, Support::Rewrites)
    );
    assert_eq!(
        (can(Capability::Branch), can(Capability::Title)),
        (Support::No, Support::Note)
    );
    assert!(OpenAgentSdk.id_is_valid(B) && !OpenAgentSdk.id_is_valid("../x"));
    let env = Environment {
        vars: [("USERPROFILE".to_owned(), "/u".to_owned())].into(),
        ..Environment::default()
    };
    assert_eq!(
        OpenAgentSdk.roots(&env),
        [std::path::PathBuf::from("/u/.open-agent")]
    );
}
