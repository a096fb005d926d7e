//! Lines of Claude Code.

use boswell_testkit::clock::iso;
use serde_json::{Value, json};

use super::logs::{Call, Log, Outcome, Replacement, hunk, numbered};

fn line(log: &mut Log, kind: &str, message: Value, more: Option<Value>, at: i64) {
    let uuid = log.rng.uuid_v4();
    let mut line = json!({
        "parentUuid": log.leaf, "isSidechain": false, "userType": "external", "cwd": log.cwd,
        "sessionId": log.id, "version": "2.1.325", "gitBranch": "main", "type": kind,
        "message": message, "uuid": uuid, "timestamp": iso(at),
    });
    if let Some(more) = more {
        line["toolUseResult"] = more;
    }
    log.leaf = json!(uuid);
    log.records.push(line);
}

pub(super) fn prompt(log: &mut Log, text: &str, at: i64) {
    line(
        log,
        "user",
        json!({"role": "user", "content": text}),
        None,
        at,
    );
}

pub(super) fn call(log: &mut Log, call: &Call, outcome: Outcome, at: i64) {
    let id = log.fresh_call("toolu_01");
    let (tool, input) = asked(call);
    let message = json!({
        "model": "claude-opus-4-1-20250805", "id": log.fresh_call("msg_01"), "type": "message",
        "role": "assistant", "stop_reason": "tool_use", "stop_sequence": null,
        "content": [{"type": "tool_use", "id": id, "name": tool, "input": input}],
        "usage": {"input_tokens": 4, "output_tokens": 40},
    });
    line(log, "assistant", message, None, at);
    let (said, result) = match outcome {
        Outcome::Done => done(log, call),
        Outcome::Failed => {
            let said = "String to replace not found in file.\nString: see above";
            let said = format!("<tool_use_error>{said}</tool_use_error>");
            (said.clone(), json!(format!("Error: {said}")))
        }
        Outcome::Rejected => {
            let said = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.";
            (said.to_owned(), json!(format!("Error: {said}")))
        }
    };
    let mut block = json!({"tool_use_id": id, "type": "tool_result", "content": said});
    if outcome != Outcome::Done {
        block["is_error"] = json!(true);
    }
    let message = json!({"role": "user", "content": [block]});
    line(log, "user", message, Some(result), at + 1_000);
}

fn asked(call: &Call) -> (&'static str, Value) {
    let edit = |it: &Replacement| json!({"old_string": it.old, "new_string": it.new, "replace_all": it.all});
    match call {
        Call::Write { path, content, .. } => {
            ("Write", json!({"file_path": path, "content": content}))
        }
        Call::Edit {
            path, replacements, ..
        } => match replacements.as_slice() {
            [one] => {
                let mut input = edit(one);
                input["file_path"] = json!(path);
                ("Edit", input)
            }
            all => {
                let edits: Vec<Value> = all.iter().map(edit).collect();
                ("MultiEdit", json!({"file_path": path, "edits": edits}))
            }
        },
        Call::Patch { body, .. } => panic!("Claude Code has no patches: {body}"),
        Call::Shell { command, .. } => ("Bash", json!({"command": command})),
        Call::Read { path, .. } => ("Read", json!({"file_path": path})),
    }
}

/// The result as the model reads it, and as the client notes it.
fn done(log: &mut Log, call: &Call) -> (String, Value) {
    // The client leaves the contents of large files out.
    let is_long = log.rng.id_source(0.2);
    let original = |text: &str| if is_long { Value::Null } else { json!(text) };
    match call {
        Call::Write {
            path,
            content,
            before: None,
        } => (
            format!("File created successfully at: {path}"),
            json!({"type": "create", "filePath": path, "content": content, "structuredPatch": [], "originalFile": null}),
        ),
        Call::Write {
            path,
            content,
            before: Some(before),
        } => {
            let hunks: Vec<Value> = hunk(before, content).into_iter().collect();
            (
                format!("The file {path} has been updated successfully."),
                json!({"type": "update", "filePath": path, "content": content, "structuredPatch": hunks, "originalFile": original(before)}),
            )
        }
        Call::Edit {
            path,
            replacements,
            before,
            after,
        } => {
            let hunks: Vec<Value> = hunk(before, after).into_iter().collect();
            let mut result = json!({
                "filePath": path, "originalFile": original(before), "structuredPatch": hunks,
                "userModified": false,
            });
            if let [one] = replacements.as_slice() {
                result["oldString"] = json!(one.old);
                result["newString"] = json!(one.new);
                result["replaceAll"] = json!(one.all);
            }
            (
                format!("The file {path} has been updated successfully."),
                result,
            )
        }
        Call::Patch { body, .. } => panic!("Claude Code has no patches: {body}"),
        Call::Shell { output, .. } => (
            output.clone(),
            json!({"stdout": output, "stderr": "", "interrupted": false, "isImage": false}),
        ),
        Call::Read { path, content } => {
            let lines = content.lines().count();
            let file = json!({"filePath": path, "content": content, "numLines": lines, "startLine": 1, "totalLines": lines});
            (numbered(content), json!({"type": "text", "file": file}))
        }
    }
}
