//! Records of Gemini CLI.

use std::path::Path;

use boswell_testkit::clock::iso;
use boswell_testkit::disk;
use serde_json::{Value, json};

use super::logs::{Call, Log, Outcome};

pub(super) fn begin(log: &mut Log) {
    let start = iso(log.begun);
    log.records.push(json!({
        "sessionId": log.id, "projectHash": log.rng.hex(64), "startTime": start,
        "lastUpdated": start, "kind": "main",
    }));
}

/// Adds a project to the file that names their folders.
pub(super) fn add_project(home: &Path, cwd: &str, slug: &str) {
    let file = home.join(".gemini/projects.json");
    let known = file.exists().then(|| disk::read(&file));
    let known = known.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let mut projects: Value = known.unwrap_or_else(|| json!({"projects": {}}));
    projects["projects"][cwd] = json!(slug);
    disk::write(&file, projects.to_string().as_bytes());
}

fn say(log: &mut Log, message: Value, at: i64) {
    log.records.push(message);
    log.records.push(json!({"$set": {"lastUpdated": iso(at)}}));
}

pub(super) fn prompt(log: &mut Log, text: &str, at: i64) {
    let id = log.rng.uuid_v4();
    let message =
        json!({"id": id, "timestamp": iso(at), "type": "user", "content": [{"text": text}]});
    say(log, message, at);
}

pub(super) fn call(log: &mut Log, call: &Call, outcome: Outcome, at: i64) {
    let (tool, args) = asked(log, call);
    let id = format!("{tool}-{at}-{}", log.rng.hex(12));
    let (status, response) = match outcome {
        Outcome::Done => ("success", json!({"output": output(call)})),
        Outcome::Failed => (
            "error",
            json!({"error": "Failed to edit, could not find the string to replace."}),
        ),
        Outcome::Rejected => (
            "cancelled",
            json!({"error": "[Operation Cancelled] Reason: User did not allow tool call"}),
        ),
    };
    let result = json!([{"functionResponse": {"id": id, "name": tool, "response": response}}]);
    let mut noted = json!({
        "id": id, "name": tool, "args": args, "result": result, "status": status,
        "timestamp": iso(at + 1_000),
    });
    if outcome == Outcome::Done && !log.old {
        noted["resultDisplay"] = display(call);
    }
    let message = json!({
        "id": log.rng.uuid_v4(), "timestamp": iso(at), "type": "gemini", "content": "",
        "model": "gemini-2.5-pro", "toolCalls": [noted],
        "tokens": {"input": 900, "output": 40, "cached": 0, "thoughts": 0, "tool": 0, "total": 940},
    });
    say(log, message, at + 1_000);
}

fn asked(log: &Log, call: &Call) -> (&'static str, Value) {
    match call {
        Call::Write { path, content, .. } => {
            ("write_file", json!({"file_path": path, "content": content}))
        }
        Call::Edit {
            path,
            replacements,
            before,
            ..
        } => {
            let [one] = replacements.as_slice() else {
                panic!("Gemini CLI replaces one text in {path} at a time")
            };
            let mut args = json!({"file_path": path, "old_string": one.old, "new_string": one.new});
            match (one.all, log.old) {
                (true, true) => {
                    args["expected_replacements"] = json!(before.matches(&one.old).count());
                }
                (true, false) => args["allow_multiple"] = json!(true),
                (false, _) => {}
            }
            ("replace", args)
        }
        Call::Patch { body, .. } => panic!("Gemini CLI has no patches: {body}"),
        Call::Shell { command, .. } => ("run_shell_command", json!({"command": command})),
        Call::Read { path, .. } => ("read_file", json!({"file_path": path})),
    }
}

fn output(call: &Call) -> String {
    match call {
        Call::Write {
            path, before: None, ..
        } => format!("Successfully created and wrote to new file: {path}."),
        Call::Write { path, .. } => format!("Successfully overwrote file: {path}."),
        Call::Edit { path, .. } => format!("Successfully modified file: {path} (1 replacements)."),
        Call::Shell { output, .. } => output.clone(),
        Call::Read { content, .. } => content.clone(),
        Call::Patch { .. } => String::new(),
    }
}

fn display(call: &Call) -> Value {
    let (path, before, after) = match call {
        Call::Write {
            path,
            content,
            before,
        } => (path, before.as_deref().unwrap_or_default(), content),
        Call::Edit {
            path,
            before,
            after,
            ..
        } => (path, before.as_str(), after),
        _ => return json!(output(call)),
    };
    let (_, name) = path.rsplit_once('/').unwrap_or(("", path));
    json!({"fileName": name, "filePath": path, "originalContent": before, "newContent": after})
}
