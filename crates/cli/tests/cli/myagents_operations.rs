//! Commands on MyAgents' logs of operations: every command that reads them, what is not shown as an
//! empty conversation, and what is written.

use boswell_testkit::disk;
use boswell_testkit::make::myagents::OperationsLog;
use serde_json::{Value, json};

use crate::bench::{Bench, Ran};

const ID: &str = "7924d439-b04f-4c1c-9a52-08f5c0a0f001";

struct Desk {
    bench: Bench,
}

/// A conversation with a streamed call, a call of a subagent, thoughts, files and usage.
fn talk() -> OperationsLog {
    let at = "2030-01-01T00:00:00.000Z";
    let file = json!({"kind": "image", "mimeType": "image/png",
        "refPath": format!("/api/attachment/tool/{ID}/t1/plot.png"), "savedPath": "/etc/passwd"});
    let tool = json!({"id": "c1", "name": "Task", "input": {}, "inputJson": "",
        "subagentCalls": [{"id": "c2", "name": "Read", "input": {"file_path": "/p/nested.rs"},
            "result": "nested answer"}], "attachments": [file]});
    OperationsLog::new(ID)
        .batch(vec![
            json!({"kind": "message-create", "message": {"id": "q1", "role": "user",
                "timestamp": at, "content": "where is the key?", "turnId": "q1",
                "attachments": [{"id": "f", "name": "a.png", "mimeType": "image/png",
                    "path": format!("{ID}/a.png")}]}}),
            json!({"kind": "turn-update", "turn": {"id": "q1", "rootUserMessageId": "q1",
                "startedAt": at, "status": "complete", "usage": {"inputTokens": 900}}}),
            json!({"kind": "message-create", "message": {"id": "a1", "role": "assistant",
                "timestamp": at, "content": [], "turnId": "q1"}}),
        ])
        .batch(vec![
            json!({"kind": "block-upsert", "messageId": "a1", "block": {"id": "b0",
                "type": "thinking", "thinking": "hm"}}),
            json!({"kind": "block-upsert", "messageId": "a1", "block": {"id": "b1",
                "type": "tool_use", "tool": tool}}),
            json!({"kind": "text-append", "messageId": "a1", "blockId": "b1", "field": "inputJson",
                "offset": 0, "text": "{\"file_path\":\"/p/lock.rs\"}"}),
            json!({"kind": "block-update", "messageId": "a1", "blockId": "b1", "target": "tool",
                "details": {"inputComplete": true, "result": "done"}}),
            json!({"kind": "block-upsert", "messageId": "a1", "block": {"id": "b2",
                "type": "text", "text": "under the "}}),
            json!({"kind": "text-append", "messageId": "a1", "blockId": "b2", "field": "text",
                "offset": 10, "text": "doormat"}),
            json!({"kind": "message-update", "messageId": "a1", "details": {"toolCount": 1,
                "usage": {"inputTokens": 20, "outputTokens": 7, "model": "m1",
                    "sdkCumulativeModelUsage": {"m1": {"inputTokens": 5000}}}}}),
        ])
        .batch(vec![
            json!({"kind": "message-create", "message": {"id": "d1", "role": "assistant",
                "timestamp": at, "content": "the network was away", "messageKind": "diagnostic"}}),
        ])
}

fn desk(log: OperationsLog, row: &Value) -> Desk {
    let bench = Bench::new();
    let root = bench.home().join(".myagents");
    let mut whole = json!({"id": ID, "agentDir": "/p", "title": "Keys",
        "createdAt": "2030-01-01T00:00:00.000Z", "lastActiveAt": "2030-01-01T00:01:00.000Z",
        "unifiedSession": true, "runtime": "builtin", "transcriptFormat": 2});
    for (key, value) in row.as_object().unwrap() {
        whole[key] = value.clone();
    }
    disk::write(
        &root.join("sessions.json"),
        json!([whole]).to_string().as_bytes(),
    );
    disk::write(
        &root.join(format!("sessions-v2/{ID}.jsonl")),
        &log.into_bytes(),
    );
    disk::write(&root.join(format!("attachments/{ID}/a.png")), b"png");
    let made = format!("generated/tool-attachments/{ID}/t1/plot.png");
    disk::write(&root.join(made), b"plot");
    Desk { bench }
}

impl Desk {
    fn run(&self, args: &[&str]) -> Ran {
        self.bench.run(args)
    }

    fn session(&self) -> String {
        format!("myagents:{ID}")
    }
}

#[test]
fn every_command_that_reads_understands_a_log_of_operations() {
    let desk = desk(talk(), &json!({}));
    let session = desk.session();
    let has = |args: &[&str], words: &[&str]| {
        let said = desk.run(args).ends(0).text();
        for word in words {
            assert!(said.contains(word), "{args:?}: no {word} in {said}");
        }
        said
    };
    has(&["list"], &["Keys", "/p"]);
    has(
        &["show", &session, "--tools", "full"],
        &[
            "where is the key?",
            "under the doormat",
            "/p/lock.rs",
            "done",
            "nested answer",
        ],
    );
    has(&["tree", &session], &["where is the key?", "doormat"]);
    let context = has(
        &["context", &session],
        &["where is the key?", "/p/lock.rs", "doormat"],
    );
    assert!(
        !context.contains("network"),
        "a model is not sent it: {context}"
    );
    for word in ["doormat", "nested", "lock.rs"] {
        has(&["search", word], &["Keys"]);
    }
    has(&["files", &session], &["/p/lock.rs", "/p/nested.rs"]);
    has(&["prompts"], &["where is the key?"]);
    has(
        &["export", &session, "--format", "md"],
        &["under the doormat"],
    );
    let exact = has(
        &["export", &session, "--format", "jsonl"],
        &["\"checksum\""],
    );
    let file = desk
        .bench
        .home()
        .join(format!(".myagents/sessions-v2/{ID}.jsonl"));
    assert_eq!(exact.as_bytes(), disk::read(&file), "the bytes of the file");
    has(&["show", file.to_str().unwrap()], &["under the doormat"]);
    has(
        &["resume", &session, "--print"],
        &[&format!("claude --session-id {ID}")],
    );
    let imported = has(&["import", file.to_str().unwrap()], &[]);
    has(
        &["show", imported.trim()],
        &["where is the key?", "under the doormat"],
    );
}

#[test]
fn usage_is_summed_from_messages_and_never_from_turns_or_running_totals() {
    let desk = desk(talk(), &json!({}));
    let stats = desk.run(&["stats", &desk.session(), "--json"]).ends(0);
    let all = stats.lines();
    let said = all[0].to_string();
    assert!(
        said.contains("\"input\":20") && said.contains("\"output\":7"),
        "{said}"
    );
    assert!(!said.contains("5000") && !said.contains("900"), "{said}");
}

#[test]
fn attachments_lists_each_file_once() {
    let desk = desk(talk(), &json!({}));
    let said = desk
        .run(&["attachments", &desk.session(), "--json"])
        .ends(0);
    let places: Vec<String> = said
        .of_type("attachment")
        .iter()
        .map(|it| it["place"].to_string())
        .collect();
    assert_eq!(places.len(), 2, "{places:?}");
    assert!(!places.concat().contains("passwd"), "{places:?}");
    let out = desk.bench.tmp().join("out");
    let out = out.to_str().unwrap();
    desk.run(&["attachments", &desk.session(), "--extract", out])
        .ends(0);
    assert_eq!(disk::list(std::path::Path::new(out)).len(), 2);
}

#[test]
fn a_later_batch_that_changes_an_earlier_message_is_found_again() {
    let desk = desk(talk(), &json!({}));
    let found = |word: &str| desk.run(&["search", word]).text().contains("Keys");
    assert!(found("doormat"));
    let changed = talk().batch(vec![json!({"kind": "content-confirm", "messageId": "a1",
        "content": "behind the gutter"})]);
    let file = desk
        .bench
        .home()
        .join(format!(".myagents/sessions-v2/{ID}.jsonl"));
    disk::write(&file, &changed.into_bytes());
    assert!(found("gutter"));
    assert!(!found("doormat"), "it is not said any more");
}

#[test]
fn what_the_app_does_not_show_is_an_error_and_never_an_empty_conversation() {
    let commands: [&[&str]; 6] = [
        &["show"],
        &["tree"],
        &["context"],
        &["export", "--format", "md"],
        &["files"],
        &["import"],
    ];
    let header_only = OperationsLog::new(ID);
    let nothing = header_only.clone().raw(b"damaged\n");
    let cases = [
        (
            OperationsLog::new("other"),
            json!({}),
            "names another session",
        ),
        (
            talk(),
            json!({"transcriptFormat": 3}),
            "a format that is not known",
        ),
        (nothing, json!({}), "not a batch"),
    ];
    for (log, row, why) in cases {
        let desk = desk(log, &row);
        let file = desk
            .bench
            .home()
            .join(format!(".myagents/sessions-v2/{ID}.jsonl"));
        for command in commands {
            let session = match command[0] {
                "import" => file.display().to_string(),
                _ => desk.session(),
            };
            let mut args = vec![command[0], session.as_str()];
            args.extend(&command[1..]);
            desk.run(&args).ends(4).says(why);
        }
        let checked = desk.run(&["check", &desk.session()]);
        assert_ne!(checked.code, Some(0), "{why}: {checked:?}");
        assert!(checked.text().contains(why), "{why}: {checked:?}");
        desk.run(&["list"]).ends(0);
    }
    let empty = desk(header_only, &json!({}));
    empty.run(&["show", &empty.session()]).ends(0);
}

#[test]
fn a_v1_file_next_to_the_log_is_a_conflict_and_its_text_is_never_used() {
    let desk = desk(talk(), &json!({}));
    let root = desk.bench.home().join(".myagents");
    let row = json!({"id": "0", "role": "user", "content": "old words",
        "timestamp": "2030-01-01T00:00:00.000Z"});
    disk::write(
        &root.join(format!("sessions/{ID}.jsonl")),
        format!("{row}\n").as_bytes(),
    );
    let shown = desk.run(&["show", &desk.session()]).ends(4);
    assert!(!format!("{shown:?}").contains("old words"));
    let found = desk.run(&["search", "old words"]);
    assert!(!found.text().contains("Keys"), "{found:?}");
}

#[test]
fn a_damaged_log_is_shown_up_to_the_damage_and_check_names_the_place() {
    let desk = desk(talk().raw(b"{\"batch\":{}\n").batch(Vec::new()), &json!({}));
    desk.run(&["show", &desk.session()])
        .ends(0)
        .says("not read to its end")
        .says("line 5");
    let store = format!("myagents={}", desk.bench.home().join(".myagents").display());
    let checked = desk
        .run(&["check", &desk.session(), "--store", &store])
        .ends(1);
    let said = checked.text();
    for words in [
        "line 5: unreadable: it is not a batch",
        "saves nothing to this session any more",
    ] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn append_keeps_the_name_of_an_attached_file() {
    let desk = desk(talk(), &json!({}));
    let picture = desk.bench.plant("my picture.png", b"png");
    let picture = picture.to_str().unwrap();
    desk.run(&[
        "append",
        &desk.session(),
        "--user",
        "see",
        "--attach",
        picture,
    ])
    .ends(0);
    let file = desk
        .bench
        .home()
        .join(format!(".myagents/sessions-v2/{ID}.jsonl"));
    let log = String::from_utf8(disk::read(&file)).unwrap();
    assert!(log.contains("\"name\":\"my picture.png\""), "{log}");
    let shown = desk.run(&["show", &desk.session()]).ends(0).text();
    assert!(shown.contains("see\n"), "{shown}");
    let store = format!("myagents={}", desk.bench.home().join(".myagents").display());
    desk.run(&["check", &desk.session(), "--store", &store])
        .ends(0);
}
