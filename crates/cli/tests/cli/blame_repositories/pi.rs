//! Lines of pi.

use boswell_testkit::clock::iso;
use serde_json::{Value, json};

use super::logs::{Call, Log, Outcome, Replacement};

fn entry(log: &mut Log, message: Value, at: i64) {
    let id = log.rng.hex(8);
    log.records.push(json!({
        "type": "message", "id": id, "parentId": log.leaf, "timestamp": iso(at), "message": message,
    }));
    log.leaf = json!(id);
}

pub(super) fn begin(log: &mut Log) {
    log.records.push(json!({
        "type": "session", "version": 3, "id": log.id, "timestamp": iso(log.begun), "cwd": log.cwd,
    }));
}

pub(super) fn prompt(log: &mut Log, text: &str, at: i64) {
    let content = json!([{"type": "text", "text": text}]);
    entry(
        log,
        json!({"role": "user", "content": content, "timestamp": at}),
        at,
    );
}

pub(super) fn call(log: &mut Log, call: &Call, outcome: Outcome, at: i64) {
    let id = log.fresh_call("toolu_02");
    let (tool, arguments) = asked(log, call);
    let usage = json!({
        "input": 4, "output": 40, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 44,
        "cost": {"input": 0.0, "output": 0.0, "cacheRead": 0.0, "cacheWrite": 0.0, "total": 0.0},
    });
    let message = json!({
        "role": "assistant", "api": "anthropic-messages", "provider": "anthropic",
        "model": "claude-sonnet-4-5", "usage": usage, "stopReason": "toolUse", "timestamp": at,
        "content": [{"type": "toolCall", "id": id, "name": tool, "arguments": arguments}],
    });
    entry(log, message, at);
    let said = match (outcome, call) {
        (Outcome::Done, Call::Write { path, content, .. }) => {
            format!("Successfully wrote {} bytes to {path}", content.len())
        }
        (Outcome::Done, Call::Edit { path, .. }) => {
            format!("Successfully replaced text in {path}.")
        }
        (Outcome::Done, Call::Shell { output, .. }) => output.clone(),
        (Outcome::Done, Call::Read { content, .. }) => content.clone(),
        (Outcome::Rejected, _) => "Operation aborted".to_owned(),
        _ => "Could not find the exact text in the file. The old text must match exactly including all whitespace and newlines.".to_owned(),
    };
    let result = json!({
        "role": "toolResult", "toolCallId": id, "toolName": tool, "isError": outcome != Outcome::Done,
        "content": [{"type": "text", "text": said}], "timestamp": at + 1_000,
    });
    entry(log, result, at + 1_000);
}

fn asked(log: &Log, call: &Call) -> (&'static str, Value) {
    let edit = |it: &Replacement| json!({"oldText": it.old, "newText": it.new});
    match call {
        Call::Write { path, content, .. } => ("write", json!({"path": path, "content": content})),
        Call::Edit {
            path, replacements, ..
        } => match replacements.as_slice() {
            [one] if log.old => {
                let mut input = edit(one);
                input["path"] = json!(path);
                ("edit", input)
            }
            all => {
                let edits: Vec<Value> = all.iter().map(edit).collect();
                ("edit", json!({"path": path, "edits": edits}))
            }
        },
        Call::Patch { body, .. } => panic!("pi has no patches: {body}"),
        Call::Shell { command, .. } => ("bash", json!({"command": command})),
        Call::Read { path, .. } => ("read", json!({"path": path})),
    }
}
