//! Appending: compare, then append; the index is updated under its own lock.

use boswell_dialect::{Body, Draft, EditRequest, Expected, Parent};
use boswell_model::{Advice, Instant, Revision};
use boswell_store::{ErrorKind, Part};
use boswell_testkit::make::myagents::MyAgentsShape;
use serde_json::json;

use crate::myagents::shop::{ROW, Shop, line, talk};

fn row(id: &str, text: &str) -> Draft {
    Draft::user(text)
        .with_id(id)
        .at(Instant::from_millis(1_800_000_000_000))
}

#[test]
fn an_append_adds_rows_counts_them_and_leaves_every_other_byte_alone() {
    let shop = Shop::with(ROW, &talk());
    let done = shop.append(vec![Draft::user("三"), Draft::assistant("好")]);
    assert_eq!(done.planned.entries, ["4", "5"]);
    assert!(shop.log().starts_with(&talk()));
    let lines = shop.lines();
    assert_eq!(
        (lines.len(), &lines[4]["content"], &lines[5]["role"]),
        (6, &json!("三"), &json!("assistant"))
    );
    let row = shop.row();
    assert_eq!(
        row["stats"],
        json!({"messageCount":3,"totalInputTokens":20,"totalOutputTokens":10})
    );
    assert_eq!(
        (&row["title"], &row["lastMessagePreview"]),
        (&json!("Mine"), &json!("三"))
    );
    assert_eq!(row["lastActiveAt"], "2027-01-15T08:00:00.000Z");
    let text = shop.place.read("sessions.json");
    assert!(
        text.contains("\"a\": 1.50") && text.contains("hunter2"),
        "what others keep there stays: {text}"
    );
    assert!(
        text.starts_with("[\n  {\n    \"id\": \"s\",") && text.ends_with("\n  }\n]"),
        "spaced as the app does it"
    );
    shop.has_no_locks();
}

#[test]
fn recognizes_an_exact_append_retry_without_duplicating_the_durable_suffix() {
    let shop = Shop::with(ROW, &talk());
    let end = talk().len() as u64;
    let drafts = || vec![row("4", "a"), row("5", "b")];
    assert_eq!(shop.append_at(end, drafts()).unwrap().planned.already, 0);
    let (log, index) = (shop.log(), shop.place.read("sessions.json"));
    let again = shop.append_at(end, drafts()).unwrap();
    assert_eq!((again.planned.already, again.planned.entries.len()), (2, 2));
    assert_eq!(
        (shop.log(), shop.place.read("sessions.json")),
        (log.clone(), index),
        "one copy, counted once"
    );
    // Without an expected state, the caller's ids have the same effect.
    let more = shop.append(vec![row("5", "b"), row("6", "c")]);
    assert_eq!(more.planned.already, 1);
    assert_eq!(shop.lines().len(), 7);
    let error = shop.append_at(end, vec![row("4", "other")]).unwrap_err();
    assert_eq!(
        error.kind(),
        ErrorKind::Conflict,
        "same cursor, different rows"
    );
}

#[test]
fn refuses_a_stale_short_owner_after_another_writer_advances_the_durable_transcript() {
    let shop = Shop::with(ROW, &talk());
    let end = talk().len() as u64;
    shop.place
        .append("sessions/s.jsonl", &line("4", "user", "theirs", ""));
    let before = shop.place.tree();
    for expect in [
        Expected::Revision(Revision::at_end(end)),
        Expected::Revision(Revision::at_end(7)),
        Expected::Leaf("3".into()),
    ] {
        let error = shop
            .wants(&EditRequest::AppendAfter {
                expect,
                drafts: vec![row("9", "mine")],
            })
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert!(
            matches!(error.advice(), Some(Advice::InOrder(steps)) if steps[0].word() == "show_session"),
            "{error}"
        );
    }
    assert_eq!(
        shop.place.tree().get("sessions/s.jsonl"),
        before.get("sessions/s.jsonl")
    );
    let expect = Expected::Leaf("4".into());
    shop.wants(&EditRequest::AppendAfter {
        expect,
        drafts: vec![row("9", "mine")],
    })
    .unwrap();
    assert_eq!(shop.lines().len(), 6);
}

#[test]
fn a_partial_suffix_of_our_own_rows_is_completed_at_the_old_end() {
    let shop = Shop::with(ROW, &talk());
    let end = talk().len() as u64;
    shop.append_at(end, vec![row("4", "a"), row("5", "b")])
        .unwrap();
    let (whole, row_of_index) = (shop.log(), shop.row());
    for cut in [3, 40, whole.len() - end as usize - 2] {
        let shop = Shop::with(ROW, &whole[..end as usize + cut]);
        shop.append_at(end, vec![row("4", "a"), row("5", "b")])
            .unwrap();
        assert_eq!(shop.log(), whole, "cut at {cut}");
        if cut < 40 {
            assert_eq!(shop.row()["stats"], row_of_index["stats"]);
        }
    }
}

#[test]
fn preserves_malformed_historical_bytes_for_append() {
    let torn = talk() + "{\"broken\"\n" + &line("4", "user", "x", "") + "{\"torn";
    let shop = Shop::with(ROW, &torn);
    shop.append(vec![Draft::user("after")]);
    let log = shop.log();
    assert!(
        log.starts_with(&format!("{torn}\n{{\"id\":\"5\"")),
        "the torn line stays on a line of its own: {log}"
    );
    assert_eq!(
        shop.store()
            .read(&shop.location(), boswell_dialect::Depth::Facts)
            .unwrap()
            .meta()
            .turns,
        4
    );
}

#[test]
fn a_post_delete_persist_must_not_resurrect_the_transcript() {
    let shop = Shop::with(ROW, &talk());
    let location = shop.location();
    shop.wants(&EditRequest::Delete).unwrap();
    let error = shop
        .runner()
        .execute(
            &shop.store(),
            &location,
            &EditRequest::Append(vec![Draft::user("x")]),
        )
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(!shop.place.tree().contains_key("sessions/s.jsonl"));
    assert_eq!(shop.rows(), [] as [serde_json::Value; 0]);
}

#[test]
fn still_appends_to_an_existing_unindexed_file() {
    let shop = Shop::with(r#"{"id":"other"}"#, &talk());
    shop.append(vec![Draft::user("x")]);
    assert_eq!(shop.lines().len(), 5);
    assert_eq!(shop.rows().len(), 1, "no row is invented");
}

#[test]
fn never_rolls_last_active_backward_while_still_applying_sibling_metadata() {
    let ahead = ROW.replace("2026-02-02T00:00:00.000Z", "2099-01-01T00:00:00.000Z");
    let shop = Shop::with(&ahead, &talk());
    shop.append(vec![Draft::user("x")]);
    assert_eq!(
        (
            &shop.row()["lastActiveAt"],
            &shop.row()["stats"]["messageCount"]
        ),
        (&json!("2099-01-01T00:00:00.000Z"), &json!(3))
    );
    for wrong in ["not-a-timestamp", "2027-02-30T00:00:00.000Z", "2099-01-01"] {
        let shop = Shop::with(&ROW.replace("2026-02-02T00:00:00.000Z", wrong), &talk());
        shop.append(vec![Draft::user("x")]);
        assert_eq!(
            shop.row()["lastActiveAt"],
            "2027-01-15T08:00:00.000Z",
            "{wrong}"
        );
    }
}

#[test]
fn what_the_app_tells_itself_is_no_activity() {
    let quiet = "<system-reminder><HEARTBEAT>x</HEARTBEAT></system-reminder>";
    let shop = Shop::with(ROW, &talk());
    shop.append(vec![Draft::user(quiet), Draft::assistant("ok")]);
    assert_eq!(shop.row()["lastActiveAt"], "2026-02-02T00:00:00.000Z");
    assert_eq!(
        shop.row()["lastMessagePreview"],
        json!(null),
        "nobody asked that"
    );
    shop.append(vec![Draft::user(format!("{quiet} and you?"))]);
    assert_eq!(shop.row()["lastActiveAt"], "2027-01-15T08:00:00.000Z");
}

#[test]
fn the_first_prompt_names_a_session_and_commits_a_prepared_one() {
    let row = r#"{"id":"s","agentDir":"/p","title":"New Chat","createdAt":"2026-02-01T00:00:00.000Z","lastActiveAt":"2026-02-01T00:00:00.000Z","runtime":"codex","runtimeSessionId":"t","materializationState":"prepared","materializationSourceSessionId":"pending-1"}"#;
    let shop = Shop::with(row, "");
    assert_eq!(shop.location().hidden, Some("prepared"));
    let done = shop.append(vec![Draft::user("把发票按月份排好")]);
    assert_eq!(done.planned.entries, ["0"]);
    let row = shop.row();
    assert_eq!(
        (&row["title"], &row["runtimeSessionId"]),
        (&json!("把发票按月份排好"), &json!("t"))
    );
    assert!(
        row.get("materializationState").is_none()
            && row.get("materializationSourceSessionId").is_none()
    );
    assert_eq!(shop.location().hidden, None);
}

#[test]
fn atomically_migrates_legacy_json_before_the_first_append() {
    for shape in [
        MyAgentsShape::LegacyJson,
        MyAgentsShape::BothPresent,
        MyAgentsShape::EmptyWithLegacy,
    ] {
        let shop = Shop::of(shape);
        let before = shop
            .store()
            .read(&shop.location(), boswell_dialect::Depth::Facts)
            .unwrap()
            .log()
            .heads
            .len();
        shop.append(vec![Draft::user("new")]);
        let lines = shop.lines();
        assert_eq!(lines.len(), before + 1, "{shape:?}");
        assert_eq!(lines.last().unwrap()["content"], "new");
        assert!(
            !shop
                .place
                .tree()
                .contains_key(&format!("sessions/{}.json", shop.id)),
            "{shape:?}"
        );
        assert_eq!(
            shop.location().key,
            Some(format!("sessions/{}.jsonl", shop.id))
        );
    }
}

#[test]
fn a_damaged_legacy_document_is_not_hidden_behind_a_new_log() {
    let shop = Shop::of(MyAgentsShape::LegacyJson);
    let key = format!("sessions/{}.json", shop.id);
    let text = shop.place.read(&key);
    shop.place.put(&key, &text[..text.len() / 2]);
    let before = shop.place.tree();
    let error = shop
        .wants(&EditRequest::Append(vec![Draft::user("x")]))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged);
    assert_eq!(shop.place.tree().get(&key), before.get(&key));
    assert!(
        !shop
            .place
            .tree()
            .contains_key(&format!("sessions/{}.jsonl", shop.id))
    );
}

#[test]
fn an_attached_file_is_there_before_its_row_and_goes_along() {
    let shop = Shop::with(ROW, &talk());
    let image = Part::image("aGVsbG8=", "image/png");
    shop.append(vec![Draft::new(Body::User(vec![
        Part::Text("see".into()),
        image,
    ]))]);
    let path = shop.lines()[4]["attachments"][0]["path"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(path.starts_with("s/") && path.ends_with(".png"), "{path}");
    assert_eq!(shop.place.read(&format!("attachments/{path}")), "hello");
    let fork = shop.fork(4).unwrap().planned.session.unwrap();
    let copy = format!(
        "attachments/{}",
        path.replacen("s/", &format!("{fork}/"), 1)
    );
    assert_eq!(shop.place.read(&copy), "hello");
    assert!(
        shop.place
            .read(&format!("sessions/{fork}.jsonl"))
            .contains(&copy["attachments/".len()..])
    );
    shop.wants(&EditRequest::Delete).unwrap();
    assert!(
        !shop.place.tree().contains_key("attachments/s"),
        "its own go with it"
    );
    assert_eq!(shop.place.read(&copy), "hello", "the fork's stay");
}

#[test]
fn what_a_line_of_rows_cannot_hold_is_refused_with_what_works() {
    let shop = Shop::with(ROW, &talk());
    let before = shop.place.tree();
    for draft in [
        Draft::tool_result("c", "Bash", "out"),
        Draft::custom("x", boswell_model::json::Json::object()),
        Draft::user("x").below(Parent::Entry("1".into())),
        Draft::user("x").below(Parent::Root),
    ] {
        let error = shop.wants(&EditRequest::Append(vec![draft])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.advice().is_some());
    }
    assert_eq!(
        shop.place.tree().get("sessions/s.jsonl"),
        before.get("sessions/s.jsonl")
    );
}

#[test]
fn a_session_of_an_unknown_format_is_not_written() {
    let shop = Shop::with(&ROW.replacen("{", "{\"transcriptFormat\":3,", 1), "");
    shop.place.put("sessions-v2/s.jsonl", "{\"event\":1}\n");
    let before = shop.place.tree();
    for request in [
        EditRequest::Append(vec![Draft::user("x")]),
        EditRequest::Delete,
        EditRequest::Migrate,
    ] {
        assert_eq!(shop.wants(&request).unwrap_err().kind(), ErrorKind::Damaged);
    }
    let kept = |tree: &crate::myagents::support::Tree| {
        tree.iter()
            .filter(|(_, it)| it.is_some())
            .map(|(k, _)| k.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(kept(&shop.place.tree()), kept(&before));
}

#[test]
fn the_running_apps_old_version_may_double_rows_that_we_append_so_it_is_said() {
    let shop = Shop::with(ROW, &talk());
    let remarks = |shop: &Shop| {
        let done = shop.append(vec![Draft::user("x")]);
        let said = done.planned.remarks.iter().map(ToString::to_string);
        said.collect::<Vec<_>>().join(" ")
    };
    assert!(!remarks(&shop).contains("MyAgents runs"));
    shop.place.put("app.lock", &std::process::id().to_string());
    assert!(remarks(&shop).contains("MyAgents runs"));
    shop.place.put("app.lock", "4194303");
    assert!(!remarks(&shop).contains("MyAgents runs"), "it is gone");
}

#[test]
fn an_attached_file_keeps_its_name() {
    let shop = Shop::with(ROW, &talk());
    let mut draft = Draft::new(Body::User(vec![
        Part::Text("see".into()),
        Part::image("aGk=", "image/png"),
    ]));
    draft.file_names = vec!["截图 1.png".to_owned()];
    shop.append(vec![draft]);
    let lines = shop.lines();
    let file = &lines.last().unwrap()["attachments"][0];
    assert_eq!(file["name"], "截图 1.png");
    assert!(file["path"].as_str().unwrap().starts_with("s/"), "{file}");
}
