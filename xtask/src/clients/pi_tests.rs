//! The script that asks pi (`clients/pi_context.mjs`) is an oracle for other tests, so
//! it is tested itself.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::workspace;

/// Node and the pi package, or nothing with a loud word; under CI their absence is a failure.
fn client() -> Option<(PathBuf, PathBuf)> {
    let named = |variable| std::env::var_os(variable).map(PathBuf::from);
    match (named("BOSWELL_NODE"), named("BOSWELL_PI_PACKAGE")) {
        (Some(node), Some(package)) => Some((node, package)),
        _ if workspace::in_ci() => {
            panic!("BOSWELL_NODE and BOSWELL_PI_PACKAGE must be set: run `cargo xtask test`")
        }
        _ => {
            eprintln!("SKIPPED: pi is not installed; `cargo xtask test` installs it");
            None
        }
    }
}

/// A folder below cargo's target folder, emptied first.
fn scratch(name: &str) -> PathBuf {
    let folder = workspace::target()
        .expect("a target folder")
        .join("tmp")
        .join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a scratch folder");
    folder
}

fn ask(requests: &[Value]) -> Option<Vec<Value>> {
    let (node, package) = client()?;
    let script = workspace::root()
        .join("xtask")
        .join("clients")
        .join("pi_context.mjs");
    let mut command = Command::new(node);
    command
        .arg(script)
        .env("BOSWELL_PI_PACKAGE", package)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().expect("node starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    for request in requests {
        writeln!(stdin, "{request}").expect("node reads");
    }
    drop(stdin);
    let output = child.wait_with_output().expect("node ends");
    assert!(output.status.success(), "node ended with {}", output.status);
    let answers = String::from_utf8(output.stdout).expect("UTF-8");
    Some(
        answers
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect(),
    )
}

fn header(version: u64) -> Value {
    json!({"type": "session", "version": version, "id": "s1", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/p"})
}

fn prompt(id: &str, parent: Option<&str>, text: &str) -> Value {
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:01.000Z",
           "message": {"role": "user", "content": text, "timestamp": 1}})
}

fn write_log(file: &Path, records: &[Value]) {
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    std::fs::write(file, lines).expect("a file");
}

fn texts(answer: &Value) -> Vec<&str> {
    let messages = answer["messages"].as_array().expect("messages");
    messages
        .iter()
        .map(|message| message["content"].as_str().expect("text"))
        .collect()
}

#[test]
fn pi_tells_leaf_branch_and_context_of_any_leaf() {
    let file = scratch("pi-branches").join("s.jsonl");
    let records = [
        header(3),
        prompt("a", None, "one"),
        prompt("b", Some("a"), "two"),
        prompt("c", Some("a"), "three"),
    ];
    write_log(&file, &records);
    let requests = [
        json!({"file": file}),
        json!({"file": file, "leaf": "b"}),
        json!({"file": file, "leaf": null}),
    ];
    let Some(answers) = ask(&requests) else {
        return;
    };
    let [own, moved, root] = answers.as_slice() else {
        panic!("{} answers", answers.len())
    };
    assert_eq!(
        (&own["leaf"], &own["branch"]),
        (&json!("c"), &json!(["a", "c"]))
    );
    assert_eq!(
        own["entries"][2],
        json!({"id": "c", "parentId": "a", "type": "message"})
    );
    assert_eq!(own["rewritten"], false);
    assert_eq!(texts(own), ["one", "three"]);
    assert_eq!(texts(moved), ["one", "two"]);
    assert_eq!((&root["leaf"], texts(root)), (&Value::Null, Vec::new()));
}

#[test]
fn pi_is_shown_a_copy_and_never_the_file() {
    let folder = scratch("pi-copies");
    let (old, broken) = (folder.join("old.jsonl"), folder.join("broken.jsonl"));
    write_log(&old, &[header(2), prompt("a", None, "one")]);
    std::fs::write(&broken, "not a header\n").expect("a file");
    let before = [&old, &broken].map(|file| std::fs::read(file).expect("readable"));
    let Some(answers) = ask(&[json!({"file": old}), json!({"file": broken})]) else {
        return;
    };
    assert!(
        answers.iter().all(|answer| answer["rewritten"] == true),
        "{answers:?}"
    );
    assert_eq!(
        [&old, &broken].map(|file| std::fs::read(file).expect("readable")),
        before
    );
}

#[test]
fn a_circle_of_parents_is_an_answer_and_not_an_endless_loop() {
    let file = scratch("pi-circle").join("s.jsonl");
    write_log(
        &file,
        &[
            header(3),
            prompt("a", Some("b"), "one"),
            prompt("b", Some("a"), "two"),
        ],
    );
    let Some(answers) = ask(&[json!({"file": file}), json!({"file": "no such file"})]) else {
        return;
    };
    assert!(
        answers[0]["error"]
            .as_str()
            .is_some_and(|error| error.contains("circle")),
        "{answers:?}"
    );
    assert!(answers[1]["error"].is_string(), "{answers:?}");
}
