//! MyAgents folders of every era, whole and damaged.

use std::borrow::Cow;

use boswell_dialect::myagents::MyAgents;
use boswell_dialect::{
    Capability, Depth, Dialect, Discovered, Environment, LinkKind, Match, MemoryFiles, ReadSession,
    Reader, Sample, SessionLink, SessionLocation, SideKind, Support, by_name, recognise,
};
use boswell_model::json::{Object, scan_object};
use boswell_model::{
    Block, EntryKind, Flags, Framing, Instant, MediaSource, Payloads, Problem, ProblemKind, Result,
    Settings, Slot, Tip,
};

const E1: &str = "session-1738800000000-abc123";
const E2: &str = "7924d439-b04f-4c1c-9a52-08f5c0a0f001";
const E3: &str = "0b0a7d1e-5bf8-4c1c-9a52-08f5c0a0f003";
const SDK: &str = "213793e6-5bf8-4c1c-9a52-08f5c0a0f002";

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

/// The bytes of a session in memory.
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

fn document_of(id: &str) -> String {
    format!("sessions/{id}.json")
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
fn first_era_has_two_ids() {
    let index = format!(
        r#"[{{"id":"{E1}","agentDir":"C:\\work","title":"T","createdAt":"2026-02-01T00:00:00.000Z","lastActiveAt":"2026-02-01T00:00:00.000Z","sdkSessionId":"{SDK}"}}]"#
    );
    let location = only(discover(&[("sessions.json", &index), (&log_of(E1), ROWS)]));
    let meta = MyAgents.begin(&location);
    assert_eq!(
        (location.id.as_str(), location.framing),
        (E1, Framing::Lines)
    );
    assert_eq!(meta.project.as_deref(), Some("C:\\work"));
    let link = SessionLink {
        kind: LinkKind::Transcript,
        dialect: "claude",
        id: SDK.into(),
    };
    assert_eq!(MyAgents.links(&meta, E1), [link]);
}

#[test]
fn second_era_is_known_to_the_sdk_by_the_same_id() {
    let (location, session) = read(&index_of(r#","unifiedSession":true"#), ROWS);
    let link = SessionLink {
        kind: LinkKind::Transcript,
        dialect: "claude",
        id: E2.into(),
    };
    assert_eq!(MyAgents.links(&session.meta, E2), [link]);
    assert_eq!(
        MyAgents.resume(&session.meta, &location),
        None,
        "the store resumes through the link"
    );
    assert_eq!(session.meta.status, None);
}

#[test]
fn third_era_may_run_on_codex_or_claude_code() {
    let of = |more: &str| {
        let (_, session) = read(&index_of(more), ROWS);
        MyAgents
            .links(&session.meta, E2)
            .into_iter()
            .map(|l| (l.dialect, l.id))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of(r#","runtime":"codex","runtimeSessionId":"thread","sdkSessionId":"x""#),
        [("codex", "thread".into())]
    );
    assert_eq!(
        of(r#","runtime":"claude-code","runtimeSessionId":"r""#),
        [("claude", "r".into())]
    );
    assert_eq!(of(r#","runtime":"gemini","runtimeSessionId":"r""#), []);
    assert_eq!(
        of(r#","runtime":"builtin","runtimeSource":"managed-provider","runtimeSessionId":"t""#),
        [("codex", "t".into())]
    );
    assert_eq!(of(""), [], "never asked anything");
}

#[test]
fn rows_give_counts_tokens_models_and_time() {
    let (_, session) = read(&index_of(""), ROWS);
    let meta = &session.meta;
    assert_eq!(
        (meta.turns, meta.messages, meta.tool_calls, meta.duration_ms),
        (2, 4, 1, Some(4200))
    );
    let usage = meta.usage.total();
    assert_eq!(
        (
            usage.input,
            usage.output,
            usage.cache_read,
            usage.cache_write
        ),
        (Some(25), Some(16), Some(4), None)
    );
    assert_eq!(meta.models, ["m1", "m2"]);
    assert_eq!(meta.first_prompt.as_deref(), Some("hello"));
    assert_eq!(meta.last_prompt.as_deref(), Some("[not json] again"));
    assert_eq!(
        meta.last_active,
        Instant::parse("2026-02-02T00:00:00Z"),
        "the index knows when it was last active"
    );
    assert_eq!(meta.kinds.get("user"), Some(&2));
}

#[test]
fn what_rows_cost_goes_to_the_model_that_they_name_else_to_the_one_before_else_to_the_indexs() {
    let answer = |id: u32, usage: &str| {
        format!(
            r#"{{"id":"{id}","role":"assistant","content":"x","timestamp":"2026-08-05T00:0{id}:00.000Z","usage":{usage}}}"#
        )
    };
    let rows = [
        answer(1, r#"{"outputTokens":1}"#),
        answer(2, r#"{"outputTokens":10,"model":"m1"}"#),
        answer(3, r#"{"outputTokens":100}"#),
        answer(4, r#"{"outputTokens":7000,"model":"m1","modelUsage":{"m1":{"outputTokens":6000},"m2":{"outputTokens":1000}}}"#),
        answer(5, r#"{"outputTokens":80000,"model":"m3","modelUsage":{"m2":{"outputTokens":5}}}"#),
    ]
    .join("\n");
    let by_model = |more: &str| {
        let (_, session) = read(&index_of(more), &rows);
        let mut sums = std::collections::BTreeMap::new();
        for (_, noted) in session.meta.usage.items() {
            let model = noted
                .said
                .model
                .map_or("-", |model| session.log.names.text(model));
            *sums.entry(model.to_owned()).or_insert(0) += noted.usage.output.unwrap_or(0);
        }
        sums.into_iter().collect::<Vec<_>>()
    };
    let of = |model: &str, output| (model.to_owned(), output);
    let rest = [of("m1", 6110), of("m2", 1000), of("m3", 80000)];
    assert_eq!(
        by_model(r#","model":"m0""#),
        [&[of("m0", 1)][..], &rest].concat()
    );
    assert_eq!(
        by_model(""),
        [&[of("-", 1)][..], &rest].concat(),
        "nobody said which"
    );
}

#[test]
fn rows_are_linked_by_order_though_their_ids_repeat() {
    let (_, session) = read(&index_of(""), ROWS);
    let bytes = Bytes(ROWS.as_bytes());
    let view = session.view(&bytes);
    let tip = MyAgents.tip(&view).unwrap();
    assert_eq!(tip, Tip::At(Slot(3)));
    assert_eq!(
        MyAgents.branch(&view, tip).unwrap(),
        [Slot(0), Slot(1), Slot(2), Slot(3)]
    );
    assert_eq!(MyAgents.leaf(&view, tip), Some(Slot(3)));
    assert!(
        session.log.heads[3].flags.has(Flags::ERROR),
        "failures are words of the assistant"
    );
    assert_eq!(
        session.log.heads[1]
            .group
            .map(|g| session.log.names.text(g)),
        Some("sdk-1")
    );
}

#[test]
fn a_row_shows_thoughts_calls_answers_and_safe_attachments() {
    let (_, session) = read(&index_of(""), ROWS);
    let bytes = Bytes(ROWS.as_bytes());
    let view = session.view(&bytes);
    let shown = |slot| {
        view.with_object(Slot(slot), |object| MyAgents.view(object))
            .unwrap()
            .unwrap()
    };
    let answer = shown(1);
    assert_eq!(answer.blocks.len(), 4);
    assert_eq!(
        answer.blocks[2],
        Block::Result {
            call: "t1".into(),
            text: "done".into(),
            is_error: false
        }
    );
    assert_eq!(answer.model.as_deref(), Some("m1"));
    assert_eq!(
        MyAgents.touched_files(&answer),
        [("a.rs".to_owned(), "Edit".to_owned())]
    );
    let asked = shown(2);
    assert_eq!(asked.blocks[0], Block::Text("[not json] again".into()));
    let media = MediaSource::Reference("attachments/s/f.png".into());
    assert_eq!(
        asked.blocks[1],
        Block::Media {
            mime: Some("image/png".into()),
            source: media
        }
    );
    assert!(matches!(&asked.blocks[2], Block::Other { word, .. } if word == "unsafe_attachment"));
    assert_eq!(
        shown(3).usage.and_then(|u| u.input),
        Some(5),
        "counters by model where there are no others"
    );
}

#[test]
fn words_of_the_app_alone_are_hidden_and_output_of_commands_is_not() {
    let row = |text: &str| {
        format!(
            r#"{{"id":"0","role":"user","content":"<system-reminder>{text}</system-reminder>","timestamp":"x"}}"#
        )
    };
    for (text, hidden) in [
        ("<HEARTBEAT>x</HEARTBEAT>", true),
        ("<LOCAL_COMMAND_OUTPUT>x</LOCAL_COMMAND_OUTPUT>", false),
    ] {
        let rows = row(text);
        let (_, session) = read(&index_of(""), &rows);
        let shown = session
            .view(&Bytes(rows.as_bytes()))
            .with_object(Slot(0), |o| MyAgents.view(o))
            .unwrap()
            .unwrap();
        assert_eq!(shown.hidden, hidden, "{text}");
        assert_eq!(session.meta.first_prompt, None, "nobody asked that");
    }
}

#[test]
fn the_context_is_the_rows_and_the_settings_of_the_index() {
    let (location, session) = read(
        &index_of(
            r#","model":"m9","permissionMode":"plan","reasoningEffort":"default","mcpEnabledServers":["a"]"#,
        ),
        ROWS,
    );
    let bytes = Bytes(ROWS.as_bytes());
    let view = session.view(&bytes);
    let context = MyAgents.context(&view, Tip::At(Slot(2))).unwrap();
    assert_eq!(context.items.len(), 3);
    assert_eq!(
        context.settings.model.as_deref(),
        Some("m1"),
        "what answered last"
    );
    let mut settings = Settings::default();
    MyAgents.side_settings(&location, &mut settings);
    assert_eq!(settings.model.as_deref(), Some("m9"));
    assert_eq!(
        (
            settings.permission_mode.as_deref(),
            settings.thinking_level.as_deref()
        ),
        (Some("plan"), Some("default"))
    );
    assert_eq!(
        settings.other,
        [("mcpEnabledServers".to_owned(), "[\"a\"]".to_owned())]
    );
    let message = view
        .with_object(Slot(1), |o| MyAgents.render(&context.items[1], &[*o]))
        .unwrap()
        .unwrap();
    assert_eq!(
        (message.role.as_str(), message.content.len(), message.native),
        ("assistant", 3, None)
    );
    let asked = view
        .with_object(Slot(2), |o| MyAgents.render(&context.items[2], &[*o]))
        .unwrap()
        .unwrap();
    assert_eq!(
        asked.content[0].to_string(),
        r#"{"type":"text","text":"[not json] again"}"#
    );
    assert!(asked.native.is_some(), "attachments say more than the text");
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
        hidden(r#","systemMaintenanceKind":"memory""#),
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
fn files_of_a_newer_format_are_listed_with_their_records() {
    let key = format!("sessions-v2/{E2}.jsonl");
    let found = discover(&[
        ("sessions.json", &index_of(r#","transcriptFormat":2"#)),
        (&key, "{\"kind\":\"header\"}\n"),
    ]);
    assert_eq!(kinds(&found), [(key.as_str(), ProblemKind::NewerVersion)]);
    let location = only(found);
    let session = Reader::read(
        &MyAgents,
        &location,
        b"{\"kind\":\"header\"}\n",
        Depth::Facts,
    );
    assert_eq!(session.log.kind(Slot(0)), EntryKind::Unknown);
    assert_eq!(session.meta.kinds.get("header"), Some(&1));
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
    let can = |operation| MyAgents.capabilities().support(operation);
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
