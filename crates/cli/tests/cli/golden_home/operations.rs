//! Operations that an earlier build recorded are finished, undone and restored.

use std::path::{Path, PathBuf};

use boswell_testkit::disk::{list, read};
use boswell_testkit::sha256;
use serde_json::Value;

use super::{ARCHIVED, ARCHIVED_PI, CLAUDE, DELETED, INTERRUPTED, KEPT, PURGED, number_of, unpack};
use crate::bench::Bench;

const PROJECT: &str = "home/.claude/projects/-golden-shop";

/// Returns the lines of `ops.jsonl` as stored.
fn operations(bench: &Bench) -> Vec<Value> {
    let text = String::from_utf8(read(&bench.own().join("ops.jsonl"))).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Returns the operation of that kind on that session.
fn operation(bench: &Bench, kind: &str, session: &str) -> Value {
    let mut all = operations(bench);
    all.retain(|op| op["kind"] == kind && op["ref"] == session);
    assert_eq!(all.len(), 1, "{kind} of {session}: {all:?}");
    all.remove(0)
}

/// Asserts that every file of an operation has the contents from before or after it, by the hash in
/// the operation.
#[track_caller]
fn files_are(op: &Value, moment: &str) {
    let root = Path::new(op["root"].as_str().unwrap());
    let files = op["files"].as_array().unwrap();
    assert!(files.iter().any(|file| file["key"].is_string()), "{op}");
    for file in files {
        let path = root.join(file["key"].as_str().unwrap());
        let is_derived = op["derived"]
            .as_array()
            .is_some_and(|derived| derived.contains(&file["key"]));
        match &file[moment] {
            // An index is derived from the sessions: undo creates an empty one if there was none.
            Value::Null if is_derived => {}
            Value::Null => assert!(
                !path.exists(),
                "{} should not be there {moment} {op}",
                path.display()
            ),
            state if state["folder"] == true => assert!(path.is_dir(), "{}", path.display()),
            state => assert_eq!(
                sha256::hex(&read(&path)),
                state["sha256"],
                "{} {moment} {op}",
                path.display()
            ),
        }
    }
}

#[test]
fn the_first_change_finishes_the_interrupted_operation_and_undo_takes_it_back() {
    let bench = unpack();
    let own = bench.own();
    let ops = own.join("ops");
    assert_eq!(
        (number_of(&ops, "intent-"), number_of(&ops, "stage-")),
        (1, 2)
    );
    let damage = bench.run(["check", "--json"]).ends(1).of_type("damage");
    let pending: Vec<&Value> = damage
        .iter()
        .filter(|it| it["problem"] == "pending_change")
        .collect();
    assert_eq!(pending.len(), 1, "{damage:?}");
    let intent: Value = serde_json::from_slice(&read(&list(&ops)[0])).unwrap();
    assert_eq!(intent["ref"], INTERRUPTED);

    bench
        .run([
            "memory",
            "add",
            "later",
            "a first change",
            "--project",
            "/golden/shop",
        ])
        .ends(0);
    assert_eq!(
        list(&ops),
        [] as [PathBuf; 0],
        "intent and staged bytes are gone"
    );
    assert_eq!(number_of(&bench.home().join(".clinvk/sessions"), ".tmp"), 0);
    let id = intent["op"].as_str().unwrap();
    let all = operations(&bench);
    let recovered = all.iter().find(|op| op["op"] == id).unwrap();
    assert_eq!(recovered["changes"], intent["changes"]);
    files_are(recovered, "after");

    bench.run(["undo", id]).ends(0);
    files_are(recovered, "before");
    let named = bench.run(["list", "--json"]).ends(0).of_type("session");
    let name = named.iter().find(|it| it["ref"] == INTERRUPTED).unwrap();
    assert_eq!(name["title"], "Golden clinvoker, renamed");
}

#[test]
fn every_operation_of_the_golden_home_that_can_be_undone_gives_back_the_bytes_before_it() {
    let bench = unpack();
    let mut undone = Vec::new();
    loop {
        let listed = bench.run(["ops", "--json"]).ends(0).of_type("op");
        let next = listed
            .iter()
            .find(|op| op["undoable"] == true && op["kind"] != "undo");
        let Some(next) = next else { break };
        let id = next["op"].as_str().unwrap();
        let op = operations(&bench)
            .into_iter()
            .find(|op| op["op"] == id)
            .unwrap();
        bench.run(["undo", id]).ends(0);
        files_are(&op, "before");
        undone.push(format!(
            "{} {}",
            op["kind"].as_str().unwrap(),
            op["ref"].as_str().unwrap()
        ));
        assert!(undone.len() < 40, "{undone:?}");
    }
    assert_eq!(
        undone,
        [
            // The first command also finishes the interrupted operation, which is the newest from
            // then on.
            &format!("delete {DELETED}"),
            &format!("rename {INTERRUPTED}"),
            &format!("archive {ARCHIVED_PI}"),
            &format!("archive {ARCHIVED}"),
            &format!("fork {CLAUDE}"),
            &format!("rename {INTERRUPTED}"),
            &format!("new {INTERRUPTED}"),
            "append myagents:aaaaaaaa-0003-4001-8001-00000000601d",
            "new myagents:aaaaaaaa-0003-4001-8001-00000000601d",
            "memory boswell:*",
        ]
    );
}

#[test]
fn the_undo_of_the_golden_home_is_undone() {
    let bench = unpack();
    let undo = operation(
        &bench,
        "undo",
        "myagents:aaaaaaaa-0003-4001-8001-00000000601d",
    );
    let rename = operation(
        &bench,
        "rename",
        "myagents:aaaaaaaa-0003-4001-8001-00000000601d",
    );
    assert_eq!(undo["undoes"], rename["op"]);
    bench.run(["undo", rename["op"].as_str().unwrap()]).ends(3);
    bench.run(["undo", undo["op"].as_str().unwrap()]).ends(0);
    files_are(&rename, "after");
}

#[test]
fn deleted_archived_and_kept_sessions_of_the_golden_home_are_restored_and_the_purged_one_is_not() {
    let bench = unpack();
    for (session, kind) in [
        (DELETED, "delete"),
        (ARCHIVED, "archive"),
        (ARCHIVED_PI, "archive"),
    ] {
        let op = operation(&bench, kind, session);
        files_are(&op, "after");
        bench.run(["restore", session]).ends(0);
        files_are(&op, "before");
        bench.run(["show", session]).ends(0);
    }
    bench.run(["restore", KEPT]).ends(0);
    let id = KEPT.split_once(':').unwrap().1;
    let log = read(&bench.root().join(PROJECT).join(format!("{id}.jsonl")));
    let kept = String::from_utf8(read(&bench.own().join("vault/kept.jsonl"))).unwrap();
    let mut lines = kept
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let line = lines
        .rfind(|it| {
            it["key"]
                .as_str()
                .unwrap()
                .ends_with(&format!("{id}.jsonl"))
        })
        .unwrap();
    assert_eq!(line["pieces"], serde_json::json!([sha256::hex(&log)]));
    bench
        .run(["restore", PURGED])
        .ends(2)
        .says("holds no session");
    let left = String::from_utf8(read(&bench.own().join("vault/log.jsonl"))).unwrap() + &kept;
    assert!(!left.contains(PURGED), "{left}");
}
