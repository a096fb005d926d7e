//! Lines of Codex.

use boswell_testkit::clock::iso;
use serde_json::{Value, json};

use super::logs::{Call, Log, Outcome};

fn push(log: &mut Log, kind: &str, payload: Value, at: i64) {
    log.records
        .push(json!({"timestamp": iso(at), "type": kind, "payload": payload}));
}

pub(super) fn begin(log: &mut Log) {
    let at = log.begun;
    let meta = json!({
        "id": log.id, "timestamp": iso(at), "cwd": log.cwd, "originator": "codex_cli_rs",
        "cli_version": "0.98.0", "source": "cli", "model_provider": "openai",
    });
    push(log, "session_meta", meta, at);
}

pub(super) fn prompt(log: &mut Log, text: &str, at: i64) {
    let turn = log.rng.uuid_v7(at);
    let context = json!({
        "turn_id": turn, "cwd": log.cwd, "approval_policy": "on-request", "model": "gpt-5.4",
        "sandbox_policy": {"type": "workspace-write"}, "summary": "auto",
    });
    push(log, "turn_context", context, at);
    let content = json!([{"type": "input_text", "text": text}]);
    let message = json!({"type": "message", "role": "user", "content": content});
    push(log, "response_item", message, at);
    let event = json!({"type": "user_message", "message": text, "images": []});
    push(log, "event_msg", event, at);
}

pub(super) fn call(log: &mut Log, call: &Call, outcome: Outcome, at: i64) {
    let id = log.fresh_call("call_");
    match call {
        Call::Patch { body, report } => patch(log, &id, body, report, outcome, at),
        Call::Shell { command, output } => shell(log, &id, command, output, at),
        Call::Read { path, content } => shell(log, &id, &format!("cat '{path}'"), content, at),
        Call::Write { path, .. } | Call::Edit { path, .. } => {
            panic!("Codex changes {path} with patches")
        }
    }
}

fn patch(log: &mut Log, id: &str, body: &str, report: &[String], outcome: Outcome, at: i64) {
    let input = format!("*** Begin Patch\n{body}*** End Patch");
    let item = json!({"type": "custom_tool_call", "status": "completed", "call_id": id, "name": "apply_patch", "input": input});
    push(log, "response_item", item, at);
    let said = match outcome {
        Outcome::Done => {
            let said = format!(
                "Success. Updated the following files:\n{}\n",
                report.join("\n")
            );
            match log.old {
                true => {
                    json!({"output": said, "metadata": {"exit_code": 0, "duration_seconds": 0.1}})
                        .to_string()
                }
                false => format!("Exit code: 0\nWall time: 0.1 seconds\nOutput:\n{said}"),
            }
        }
        Outcome::Failed => {
            "apply_patch verification failed: Failed to find expected lines in the file".to_owned()
        }
        Outcome::Rejected => "patch rejected by user".to_owned(),
    };
    let item = json!({"type": "custom_tool_call_output", "call_id": id, "output": said});
    push(log, "response_item", item, at + 1_000);
}

fn shell(log: &mut Log, id: &str, command: &str, output: &str, at: i64) {
    let (name, arguments) = match log.old {
        true => (
            "shell",
            json!({"command": ["bash", "-lc", command], "workdir": log.cwd}),
        ),
        false => ("exec_command", json!({"cmd": command, "workdir": log.cwd})),
    };
    let item = json!({"type": "function_call", "name": name, "arguments": arguments.to_string(), "call_id": id});
    push(log, "response_item", item, at);
    let said = match log.old {
        true => json!({"output": output, "metadata": {"exit_code": 0, "duration_seconds": 0.1}})
            .to_string(),
        false => format!(
            "Chunk ID: 1492bb\nWall time: 0.0000 seconds\nProcess exited with code 0\nOutput:\n{output}"
        ),
    };
    let item = json!({"type": "function_call_output", "call_id": id, "output": said});
    push(log, "response_item", item, at + 1_000);
}
