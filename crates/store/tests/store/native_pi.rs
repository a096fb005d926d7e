//! pi and oh-my-pi themselves load the result of every write operation with the same leaf, and
//! append entries that we then read.
//!
//! Needs BOSWELL_PI_PACKAGE, and BOSWELL_OMP_PACKAGE with BOSWELL_BUN, which `cargo xtask test`
//! sets; without them the comparison is skipped, under CI it fails. The rules of xcsh that can be
//! checked without it are checked always.
#![expect(
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test plants, looks and stops at the first surprise"
)]

mod omp;
mod operations;

use crate::pi_lines::pi_lines;
use crate::picture::Picture;
use boswell_store::{Draft, NewSession, Session, Wait};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use operations::{make_all, open_as};

fn package() -> Option<()> {
    if std::env::var_os("BOSWELL_PI_PACKAGE").is_some() {
        return Some(());
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "BOSWELL_PI_PACKAGE is not set: pi itself cannot be asked"
    );
    eprintln!(
        "SKIPPED: BOSWELL_PI_PACKAGE is not set, pi itself was not asked (run `cargo xtask test`)"
    );
    None
}

fn ask_pi(requests: &[Value]) -> Vec<Value> {
    let node = std::env::var_os("BOSWELL_NODE").unwrap_or_else(|| "node".into());
    ask(Command::new(node), "native_pi.mjs", requests)
}

fn ask(mut program: Command, script: &str, requests: &[Value]) -> Vec<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/store")
        .join(script);
    let mut child = program
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    for request in requests {
        writeln!(input, "{request}").unwrap();
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), requests.len());
    answers
}

/// Compares pi's description of a session with ours.
fn compare(said: &Value, session: &Session, what: &str) {
    let picture = Picture::of(session);
    assert_eq!(
        said["leaf"].as_str(),
        picture.tip.as_deref(),
        "{what}: leaf"
    );
    let entries: Vec<Value> = picture
        .entries
        .iter()
        .map(|(id, parent)| json!([id, parent]))
        .collect();
    let theirs: Vec<Value> = said["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| json!([entry["id"], entry["parentId"]]))
        .collect();
    assert_eq!(theirs, entries, "{what}: tree");
    assert_eq!(
        said["name"].as_str(),
        picture.title.as_deref(),
        "{what}: title"
    );
    assert_eq!(said["labels"], json!(picture.labels), "{what}: labels");
    let context = session.context(session.tip().unwrap()).unwrap();
    let native = |item| {
        serde_json::from_slice(
            &session
                .render(item)
                .unwrap()
                .message
                .native
                .unwrap()
                .to_bytes(),
        )
        .unwrap()
    };
    let ours: Vec<Value> = context.items.iter().map(native).collect();
    assert_eq!(said["messages"], Value::Array(ours), "{what}: context");
    let level = context
        .settings
        .thinking_level
        .unwrap_or_else(|| "off".to_owned());
    assert_eq!(said["thinkingLevel"], level.as_str(), "{what}: thinking");
    if let Some(model) = context.settings.model {
        let theirs = format!(
            "{}/{}",
            said["model"]["provider"].as_str().unwrap(),
            said["model"]["modelId"].as_str().unwrap()
        );
        // An assistant message without a model is `unknown/unknown` to pi; we keep the model before
        // it.
        let same = [
            model.clone(),
            format!("unknown/{model}"),
            "unknown/unknown".to_owned(),
        ]
        .contains(&theirs);
        assert!(same, "{what}: pi has {theirs}, we have {model}");
    }
}

#[test]
fn pi_loads_what_every_operation_wrote_and_stands_where_we_stand() {
    let Some(()) = package() else { return };
    for dialect in ["boswell", "pi"] {
        loads_all(dialect, &ask_pi, &compare);
    }
}

type Ask = dyn Fn(&[Value]) -> Vec<Value>;
type Compare = dyn Fn(&Value, &Session, &str);

/// Checks that the agent loads every session without changing a byte, with the same leaf.
fn loads_all(dialect: &str, ask: &Ask, compare: &Compare) {
    let folder = tempfile::tempdir().unwrap();
    let made = make_all(dialect, &folder.path().join("home"));
    let requests: Vec<Value> = made
        .iter()
        .enumerate()
        .map(|(number, made)| {
            let copy = folder.path().join(format!("{number}.jsonl"));
            std::fs::copy(&made.path, &copy).unwrap();
            json!({"file": copy, "add": false})
        })
        .collect();
    for (made, said) in made.iter().zip(ask(&requests)) {
        let what = made.what;
        assert!(said["error"].is_null(), "{what}: {}", said["error"]);
        assert_eq!(
            said["unchanged"], true,
            "{what}: loading it changed the file"
        );
        let lines = pi_lines(&std::fs::read(&made.path).unwrap());
        assert_eq!(said["loaded"]["header"], lines[0], "{what}");
        compare(&said["loaded"], &made.session, what);
    }
    assert!(made.len() > 30, "{}", made.len());
}

#[test]
fn what_pi_adds_is_read_by_us_and_we_go_on_from_there() {
    let Some(()) = package() else { return };
    for dialect in ["boswell", "pi"] {
        goes_on(dialect, "pi", &ask_pi, &compare);
    }
}

/// The agent appends to every session; we read that and append again.
fn goes_on(dialect: &str, agent: &str, ask: &Ask, compare: &Compare) {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let mut made = make_all(dialect, &home);
    // One request per file.
    made.retain(|made| made.what != "titled");
    let requests: Vec<Value> = made
        .iter()
        .map(|made| json!({"file": made.path, "add": true}))
        .collect();
    let store = open_as(dialect, &home, 1 << 32);
    for (made, said) in made.iter().zip(ask(&requests)) {
        assert!(said["error"].is_null(), "{}: {}", made.what, said["error"]);
        let id = made.session.reference().id;
        let session = store.session(&id).unwrap();
        assert!(session.log().gaps.is_empty(), "{}", made.what);
        let picture = Picture::of(&session);
        let last: Vec<&str> = picture
            .context
            .iter()
            .rev()
            .take(3)
            .map(|(_, text)| text.as_str())
            .collect();
        let said_there = ["again", "left", "asked"].map(|word| format!("{word} in {agent}"));
        assert_eq!(last, said_there, "{}", made.what);
        assert_eq!(
            picture.title,
            Some(format!("named in {agent}")),
            "{}",
            made.what
        );
        let answered = made.session.log().slots().any(|slot| {
            made.session.log().kind(slot) == boswell_store::model::EntryKind::Assistant
        });
        // pi rewrites a file without an assistant message completely when the first one comes; both
        // copies are one session.
        if answered {
            compare(&said["added"], &session, made.what);
        } else {
            assert_eq!(
                said["added"]["leaf"].as_str(),
                picture.tip.as_deref(),
                "{}",
                made.what
            );
        }
        let writer = store.writer(&id, Wait::No).unwrap();
        let receipt = writer.append(Draft::user("back with us")).unwrap();
        let after = Picture::of(&writer.session().unwrap());
        assert_eq!(
            after.tip.as_deref(),
            Some(receipt.entry.as_str()),
            "{}",
            made.what
        );
        assert_eq!(
            after.context.len(),
            picture.context.len() + 1,
            "{}",
            made.what
        );
    }
}

#[test]
fn every_file_keeps_to_the_rules_of_xcsh() {
    let folder = tempfile::tempdir().unwrap();
    for made in make_all("boswell", &folder.path().join("home")) {
        let bytes = std::fs::read(&made.path).unwrap();
        let lines = pi_lines(&bytes);
        let header = bytes.split(|byte| *byte == b'\n').next().unwrap();
        assert!(
            header.len() < 512,
            "{}: a header of {} bytes",
            made.what,
            header.len()
        );
        // The leaf is the last line.
        let last = lines
            .last()
            .filter(|line| line["type"] != "session")
            .and_then(|line| line["id"].as_str());
        assert_eq!(
            Picture::of(&made.session).tip.as_deref(),
            last,
            "{}",
            made.what
        );
        for line in &lines[1..] {
            let message = &line["message"];
            if message["role"] == "assistant" {
                for number in ["input", "output", "cacheRead", "cacheWrite", "totalTokens"] {
                    assert!(
                        message["usage"][number].is_number(),
                        "{}: no {number} in {line}",
                        made.what
                    );
                }
            }
            if line["type"] == "model_change" {
                assert!(
                    line["model"].is_string()
                        && line["provider"].is_string()
                        && line["modelId"].is_string()
                );
            }
        }
        let name = made.path.file_name().unwrap().to_str().unwrap();
        assert!(
            made.what == "migrated" || name.starts_with("2026-10-05T08-") && name.contains("Z_"),
            "{name}"
        );
    }
}

#[test]
fn a_long_title_stays_out_of_the_header_and_a_long_header_is_still_ours() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_as("boswell", &folder.path().join("home"), 0);
    let title = "long ".repeat(200);
    let project = format!("/{}", "deep/".repeat(8000));
    for (id, project) in [("a", "/proj/demo"), ("b", project.as_str())] {
        let writer = store
            .create(
                NewSession::in_project(project)
                    .with_id(id)
                    .titled(title.as_str()),
            )
            .unwrap();
        writer.append(Draft::assistant("x")).unwrap();
        writer.release().unwrap();
        let writer = store.writer(id, Wait::No).unwrap();
        writer.append(Draft::user("again")).unwrap();
        let session = writer.session().unwrap();
        assert_eq!(session.meta().title.as_deref(), Some(title.trim()));
        assert_eq!(session.meta().project.as_deref(), Some(project));
        let bytes = std::fs::read(writer.path()).unwrap();
        let header = bytes.split(|byte| *byte == b'\n').next().unwrap();
        assert!(header.len() < 512 || id == "b", "{}", header.len());
    }
}
