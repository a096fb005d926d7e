//! `export --format atif` and its import: every message, call, result and usage stays, and the
//! package `atif` from PyPI accepts the document.
//!
//! The package comes from `cargo xtask test`; without it that check is skipped, and fails where
//! `CI=true`.

use std::path::PathBuf;
use std::process::Command;

use boswell_testkit::disk;
use boswell_testkit::make::claude::{self, ClaudeShape};
use boswell_testkit::make::codex::{self, CodexShape};
use boswell_testkit::make::gemini::{self, GeminiShape};
use boswell_testkit::make::pi::{self, PiFlavour, PiLayout, PiShape};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::digest::{Transcript, key};

/// Prints what is wrong with the documents that are named.
const CHECK: &str = "
import sys, json
from atif import Trajectory
for name in sys.argv[1:]:
    data = json.load(open(name, encoding='utf-8'))
    trajectory = Trajectory.model_validate(data)
    assert len(trajectory.steps) > 0, name
";

#[expect(
    clippy::disallowed_methods,
    reason = "tests have no command line, so the tools come from the environment"
)]
fn validator() -> Option<PathBuf> {
    let found = std::env::var_os("BOSWELL_ATIF_PYTHON").map(PathBuf::from);
    let ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(
        found.is_some() || !ci,
        "BOSWELL_ATIF_PYTHON is not set: run `cargo xtask test`"
    );
    found
}

fn validate(files: &[PathBuf]) {
    let Some(python) = validator() else {
        return;
    };
    let done = Command::new(python)
        .args(["-c", CHECK])
        .args(files)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
}

/// The entries of a session that are messages: role, parts, model and usage.
fn messages(bench: &Bench, session: &str) -> Vec<Value> {
    let shown = bench.run(["show", session, "--tools", "full", "--thinking", "--json"]);
    let entries = shown.ends(0).of_type("entry");
    let is_message =
        |it: &Value| matches!(it["role"].as_str(), Some("user" | "assistant" | "tool"));
    entries
        .into_iter()
        .filter(|it| it["hidden"] == false && is_message(it))
        .collect()
}

/// All parts of messages, without what a record is called and where it is.
fn parts(messages: &[Value]) -> Vec<Value> {
    let parts = messages.iter().flat_map(|message| {
        let content = message["content"].as_array().cloned().unwrap_or_default();
        content
            .into_iter()
            .map(|part| (message["role"].clone(), part))
    });
    let known = |part: &Value| {
        let kind = part["type"].as_str().unwrap_or_default();
        matches!(kind, "text" | "tool_call" | "tool_result" | "thinking")
    };
    parts
        .filter(|(_, part)| known(part))
        .map(|(role, part)| match part["type"].as_str() {
            // The format has no calls with free text: it becomes the member `input`.
            Some("tool_call") if part["input"].is_string() => {
                json!([part["call"], part["name"], {"input": part["input"]}])
            }
            Some("tool_call") => json!([part["call"], part["name"], part["input"]]),
            Some("tool_result") => json!([part["call"], part["text"], part["is_error"]]),
            Some(kind) => json!([role, kind, part["text"]]),
            None => Value::Null,
        })
        .collect()
}

/// Calls, results and texts in an order that records do not decide. The format joins the
/// thinking of one answer.
fn sorted(parts: Vec<Value>) -> Vec<String> {
    let is_thinking = |part: &&Value| part[1] == "thinking";
    let parts = parts.iter().filter(|part| !is_thinking(part));
    let mut parts: Vec<String> = parts.map(Value::to_string).collect();
    parts.sort();
    parts
}

/// The tokens of a session.
fn tokens(bench: &Bench, session: &str) -> Value {
    let ran = bench.run(["stats", session, "--json"]).ends(0);
    ran.of_type("stat")[0]["tokens"].clone()
}

fn export(bench: &Bench, session: &str, number: usize) -> (PathBuf, Value) {
    let ran = bench.run(["export", session, "--format", "atif"]).ends(0);
    let file = bench.root().join(format!("{number}.json"));
    disk::write(&file, &ran.stdout);
    let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(document["schema_version"], "ATIF-v1.8");
    (file, document)
}

fn import(bench: &Bench, file: &std::path::Path) -> String {
    let ran = bench
        .run(["import", file.to_str().unwrap(), "--json"])
        .ends(0);
    ran.of_type("session")[0]["ref"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// A session with everything that a round trip must keep.
fn rich(bench: &Bench) -> String {
    let mut session = Transcript::new(1, bench.cwd().to_str().unwrap());
    session
        .prompt("Why is the build red? 会话")
        .call("Bash", json!({"command": "make"}), ("exit 1", true))
        .call(
            "Read",
            json!({"file_path": "/w/a.rs", "limit": 3}),
            ("fn main() {}\n", false),
        )
        .answer("It misses a semicolon.")
        .prompt("Thanks.\n\nAnd now?")
        .answer("Done.");
    session.write(bench);
    session.reference()
}

#[test]
fn a_round_trip_keeps_every_message_call_and_result() {
    let bench = Bench::new();
    let session = rich(&bench);
    let (file, document) = export(&bench, &session, 1);
    validate(std::slice::from_ref(&file));
    assert_eq!(
        document["steps"][1]["tool_calls"][0]["arguments"]["command"],
        "make"
    );
    let result = &document["steps"][1]["observation"]["results"][0];
    assert_eq!(
        (&result["content"], &result["extra"]["is_error"]),
        (&json!("exit 1"), &json!(true))
    );
    let imported = import(&bench, &file);
    let (before, after) = (messages(&bench, &session), messages(&bench, &imported));
    assert_eq!(parts(&before), parts(&after));
    assert_eq!(parts(&before).len(), 8, "{before:?}");
    // And once more, from our own format.
    let (again, second) = export(&bench, &imported, 2);
    validate(&[again]);
    let said = |document: &Value| -> Vec<Value> {
        let steps = document["steps"].as_array().unwrap().iter();
        steps
            .map(|step| json!([step["source"], step["message"], step["tool_calls"]]))
            .collect()
    };
    assert_eq!(said(&document), said(&second));
}

#[test]
fn sessions_of_every_kind_become_valid_trajectories_with_their_usage() {
    let bench = Bench::new();
    let cwd = bench.cwd().display().to_string();
    let made = [
        (
            ".claude",
            "claude",
            claude::file(ClaudeShape::ToolUse, &cwd, 5),
        ),
        (
            ".codex",
            "codex",
            codex::rollout(CodexShape::Tools, &cwd, None, 5),
        ),
        (
            ".gemini",
            "gemini",
            gemini::session(GeminiShape::Tools, &cwd, 5),
        ),
        (
            ".pi/agent",
            "pi",
            pi::file(PiShape::EveryEntry, PiFlavour::Pi, PiLayout::of(&cwd), 5),
        ),
    ];
    let mut files = Vec::new();
    for (number, (folder, dialect, made)) in made.into_iter().enumerate() {
        made.write_to(&bench.home().join(folder));
        let session = format!("{dialect}:{}", made.id);
        let (file, document) = export(&bench, &session, number);
        let imported = import(&bench, &file);
        let [before, after] = [&session, &imported].map(|it| parts(&messages(&bench, it)));
        assert_eq!(sorted(before), sorted(after), "{session}");
        let (had, has) = (tokens(&bench, &session), tokens(&bench, &imported));
        assert_eq!(
            (&had["input"], &had["output"]),
            (&has["input"], &has["output"]),
            "{session}"
        );
        assert!(had["output"].as_u64() > Some(0), "{session}: {had}");
        assert!(document["steps"].as_array().unwrap().len() > 1, "{session}");
        files.push(file);
    }
    validate(&files);
}

/// A line of Codex.
fn codex_line(second: usize, kind: &str, payload: &Value) -> String {
    let at = format!("2026-10-05T08:00:{second:02}.000Z");
    format!(
        "{}\n",
        json!({"timestamp": at, "type": kind, "payload": payload})
    )
}

#[test]
fn running_totals_of_codex_become_the_usage_of_each_answer() {
    let bench = Bench::new();
    let id = "0199b000-0000-7000-8000-000000000001";
    let cwd = bench.cwd().display().to_string();
    let message = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    let total = |input: u64, cached: u64, output: u64| {
        let total =
            json!({"input_tokens": input, "cached_input_tokens": cached, "output_tokens": output});
        json!({"type": "token_count", "info": {"total_token_usage": total}})
    };
    let (item, event) = ("response_item", "event_msg");
    let lines = [
        (
            "session_meta",
            json!({"id": id, "timestamp": "2026-10-05T08:00:00.000Z", "cwd": cwd, "originator": "codex_cli_rs", "cli_version": "0.98.0", "source": "cli"}),
        ),
        (item, message("user", "input_text", "First")),
        (item, message("assistant", "output_text", "One")),
        (event, total(100, 40, 10)),
        // The same total again adds nothing.
        (event, total(100, 40, 10)),
        (item, message("user", "input_text", "Second")),
        (item, message("assistant", "output_text", "Two")),
        (event, total(350, 240, 25)),
    ];
    let lines = lines.iter().enumerate();
    let log: String = lines
        .map(|(second, (kind, payload))| codex_line(second, kind, payload))
        .collect();
    let name = format!(".codex/sessions/2026/10/05/rollout-2026-10-05T08-00-00-{id}.jsonl");
    disk::write(&bench.home().join(name), log.as_bytes());
    let (file, document) = export(&bench, &format!("codex:{id}"), 1);
    let steps = document["steps"].as_array().unwrap().iter();
    let metrics: Vec<Value> = steps
        .filter(|step| step["source"] == "agent")
        .map(|step| {
            let metrics = &step["metrics"];
            let counts = ["prompt_tokens", "cached_tokens", "completion_tokens"];
            json!(counts.map(|count| metrics[count].clone()))
        })
        .collect();
    assert_eq!(metrics, [json!([100, 40, 10]), json!([250, 200, 15])]);
    let totals = &document["final_metrics"];
    assert_eq!(totals["total_prompt_tokens"], 350, "{totals}");
    assert_eq!(totals["total_completion_tokens"], 25, "{totals}");
    validate(&[file]);
}

#[test]
fn secrets_are_removed_and_broken_trajectories_are_refused() {
    let bench = Bench::new();
    let mut session = Transcript::new(2, bench.cwd().to_str().unwrap());
    let command = format!("curl -H 'Authorization: Bearer {}'", key());
    session
        .prompt(&format!("The key is {}", key()))
        .call("Bash", json!({"command": command}), (&key(), false))
        .write(&bench);
    let (file, document) = export(&bench, &session.reference(), 1);
    assert!(!document.to_string().contains(&key()), "{document}");
    validate(&[file]);
    for (document, why) in [
        (
            json!({"schema_version": "ATIF-v1.8", "steps": 7}),
            "list of steps",
        ),
        (
            json!({"schema_version": "ATIF-v1.8", "steps": [{"step_id": 1, "source": "robot", "message": ""}]}),
            "source",
        ),
        (
            json!({"schema_version": "ATIF-v1.8", "steps": [{"step_id": 1, "source": "user"}]}),
            "no message",
        ),
    ] {
        let file = bench.root().join("broken.json");
        disk::write(&file, document.to_string().as_bytes());
        let ran = bench.run(["import", file.to_str().unwrap()]);
        assert_ne!(ran.code, Some(0), "{document}");
        ran.says(why);
    }
}
