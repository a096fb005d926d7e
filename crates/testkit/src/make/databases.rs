//! Sessions of agents that keep rows in a database, and of the files they kept before.

use serde_json::{Value, json};

use crate::conformance::DialectSample;
use crate::memory_rows::{MemoryRows, StoredCell};
use crate::phrase;
use crate::rng::Rng;

const START: i64 = 1_767_254_400_000;

/// The session of opencode that is in rows.
const OPENCODE_ID: &str = "ses_0001";

fn rng(agent: &str) -> Rng {
    Rng::for_part(7, &format!("database of {agent}"))
}

/// Returns sessions as the agent of a dialect writes them; none for other dialects.
pub fn samples(dialect: &str, cwd: &str) -> Vec<DialectSample> {
    match dialect {
        "opencode" | "kilo" | "mimo" => opencode(cwd),
        "goose" => goose(cwd),
        "crush" => crush(),
        "hermes" => hermes(cwd),
        "cursor" => cursor(),
        "zed" => zed(cwd),
        "kiro" => kiro(cwd),
        _ => Vec::new(),
    }
}

/// Turns a JSON object into the columns of a row; nested values become JSON text.
fn insert(rows: &mut MemoryRows, table: &str, row: &Value) {
    let Value::Object(members) = row else { return };
    let columns: Vec<(&str, StoredCell)> = members
        .iter()
        .map(|(name, value)| (name.as_str(), cell(value)))
        .collect();
    rows.insert(table, &columns);
}

fn cell(value: &Value) -> StoredCell {
    match value {
        Value::Null => StoredCell::Null,
        Value::String(text) => StoredCell::text(text.clone()),
        Value::Number(number) => match number.as_i64() {
            Some(number) => StoredCell::Integer(number),
            None => StoredCell::text(number.to_string()),
        },
        other => StoredCell::text(other.to_string()),
    }
}

/// The data of an answer of opencode to the first message.
fn opencode_answer(cwd: &str, at: i64, finish: &str) -> Value {
    json!({"role": "assistant", "parentID": "msg_1", "mode": "build", "agent": "build",
        "path": {"cwd": cwd, "root": cwd}, "cost": 0.5, "modelID": "m", "providerID": "p",
        "tokens": {"input": 200, "output": 20, "reasoning": 10, "cache": {"read": 1000, "write": 0}},
        "time": {"created": START + at, "completed": START + at + 1}, "finish": finish})
}

/// The parts of opencode's messages: a prompt, an answer with a call, one after it.
fn opencode_messages(rng: &mut Rng, cwd: &str) -> Vec<(Value, Vec<Value>)> {
    let state = json!({"status": "completed", "input": {"filePath": "a.rs"}, "title": "a.rs",
        "output": phrase::listing(rng, 2), "metadata": {}, "time": {"start": START, "end": START}});
    vec![
        (
            json!({"role": "user", "time": {"created": START + 1}, "agent": "build",
                "model": {"providerID": "p", "modelID": "m"}}),
            vec![json!({"type": "text", "text": phrase::asked(rng)})],
        ),
        (
            opencode_answer(cwd, 2, "tool-calls"),
            vec![
                json!({"type": "step-start", "snapshot": "s"}),
                json!({"type": "reasoning", "text": phrase::thought(rng), "time": {"start": START}}),
                json!({"type": "tool", "tool": "read", "callID": "call_1", "state": state}),
                json!({"type": "step-finish", "reason": "tool-calls", "cost": 0.5}),
            ],
        ),
        (
            opencode_answer(cwd, 3, "stop"),
            vec![json!({"type": "text", "text": phrase::answered(rng)})],
        ),
    ]
}

/// Sessions of opencode and its relatives: rows, and the files of the time before.
fn opencode(cwd: &str) -> Vec<DialectSample> {
    let mut rng = rng("opencode");
    let mut rows = MemoryRows::default();
    let id = OPENCODE_ID;
    let session = json!({"id": id, "project_id": "global", "parent_id": null, "slug": "quiet-harbor",
        "directory": cwd, "title": "A red build", "version": "1.18.33", "revert": null,
        "agent": "build", "model": {"id": "m", "providerID": "p"}, "time_created": START,
        "time_updated": START + 9, "time_archived": null});
    insert(&mut rows, "session", &session);
    let mut old = opencode_old(cwd);
    for (nth, (info, parts)) in (1..).zip(opencode_messages(&mut rng, cwd)) {
        let message = format!("msg_{nth}");
        insert(
            &mut rows,
            "message",
            &json!({"id": message, "session_id": id, "time_created": START + nth,
                "time_updated": START + nth, "data": info}),
        );
        let file = format!("storage/message/ses_0002/{message}.json");
        old.files.add(&file, with(&info, &message));
        for (place, data) in (1..).zip(parts) {
            let part = format!("prt_{nth}{place}");
            insert(&mut rows, "part", &opencode_part(&part, nth, &data));
            let file = format!("storage/part/{message}/{part}.json");
            old.files.add(&file, with(&data, &part));
        }
    }
    opencode_asides(&mut rows, id);
    vec![DialectSample::rows(id, "opencode.db", rows), old]
}

/// The row of a part of the nth message.
fn opencode_part(part: &str, nth: i64, data: &Value) -> Value {
    json!({"id": part, "message_id": format!("msg_{nth}"), "session_id": OPENCODE_ID,
        "time_created": START + nth, "time_updated": START + nth, "data": data})
}

/// The session of the time before, as yet without messages.
fn opencode_old(cwd: &str) -> DialectSample {
    let mut old = DialectSample::file("ses_0002", "storage/session/global/ses_0002.json", "");
    let info = json!({"id": "ses_0002", "projectID": "global", "directory": cwd,
        "title": "An old build", "version": "1.1.0", "time": {"created": START, "updated": START + 9}});
    old.files.list.clear();
    old.files
        .add("storage/session/global/ses_0002.json", info.to_string());
    old.main = None;
    old
}

/// Inserts rows that belong to no message of a session.
fn opencode_asides(rows: &mut MemoryRows, id: &str) {
    // A part without its message.
    insert(
        rows,
        "part",
        &json!({"id": "prt_99", "message_id": "msg_99", "session_id": id, "time_created": START,
            "time_updated": START, "data": {"type": "text", "text": "left behind"}}),
    );
    insert(
        rows,
        "todo",
        &json!({"session_id": id, "content": "repair it", "status": "pending", "priority": "high",
            "position": 0, "time_created": START, "time_updated": START}),
    );
}

/// Adds an id to the JSON of a file.
fn with(value: &Value, id: &str) -> String {
    let mut value = value.clone();
    value["id"] = json!(id);
    value.to_string()
}

/// Inserts the rows of a session of Goose that are not messages.
fn goose_session(rows: &mut MemoryRows, id: &str, cwd: &str) {
    let session = json!({"id": id, "name": "A red build", "description": "", "user_set_name": 1,
        "session_type": "user", "working_dir": cwd, "created_at": "2026-01-01 08:00:00",
        "updated_at": "2026-01-01 08:00:09", "extension_data": {}, "accumulated_input_tokens": 1200,
        "accumulated_output_tokens": 30, "provider_name": "openai",
        "model_config_json": {"model_name": "m"}, "goose_mode": "auto", "archived_at": null,
        "parent_session_id": null});
    insert(rows, "sessions", &session);
    insert(
        rows,
        "usage_ledger",
        &json!({"id": 1, "session_id": id, "created_timestamp": START / 1000, "model": "m",
            "input_tokens": 1200, "output_tokens": 30, "total_tokens": 1230,
            "cache_read_tokens": 1000, "cache_write_tokens": null, "is_compaction": 0}),
    );
}

/// The role and the content of each message of Goose, and whether the model still sees it.
fn goose_messages(rng: &mut Rng) -> [(&'static str, Value, bool); 5] {
    let call =
        json!({"status": "success", "value": {"name": "shell", "arguments": {"command": "ls"}}});
    let answer = json!({"status": "success", "value": {"content":
        [{"type": "text", "text": phrase::listing(rng, 2)}], "isError": false}});
    [
        (
            "user",
            json!([{"type": "text", "text": phrase::asked(rng)}]),
            true,
        ),
        (
            "assistant",
            json!([{"type": "thinking", "thinking": phrase::thought(rng), "signature": ""},
                {"type": "toolRequest", "id": "call_1", "toolCall": call}]),
            true,
        ),
        (
            "user",
            json!([{"type": "toolResponse", "id": "call_1", "toolResult": answer}]),
            true,
        ),
        (
            "assistant",
            json!([{"type": "text", "text": "compacted away"}]),
            false,
        ),
        (
            "assistant",
            json!([{"type": "text", "text": phrase::answered(rng)}]),
            true,
        ),
    ]
}

/// Sessions of Goose: rows with a compaction, and a file of the time before.
fn goose(cwd: &str) -> Vec<DialectSample> {
    let mut rng = rng("goose");
    let mut rows = MemoryRows::default();
    let id = "20260101_1";
    goose_session(&mut rows, id, cwd);
    let messages = goose_messages(&mut rng);
    let header = json!({"working_dir": cwd, "description": "An old build", "message_count": 5});
    let mut old = format!("{header}\n");
    for (nth, (role, content, visible)) in (1..).zip(&messages) {
        insert(
            &mut rows,
            "messages",
            &json!({"id": nth, "message_id": format!("msg_{nth}"), "session_id": id, "role": role,
                "content_json": content, "created_timestamp": START / 1000 + nth,
                "timestamp": "2026-01-01 08:00:00", "tokens": null,
                "metadata_json": {"userVisible": true, "agentVisible": visible}}),
        );
        let line = json!({"role": role, "created": START / 1000 + nth, "content": content});
        old.push_str(&format!("{line}\n"));
    }
    vec![
        DialectSample::rows(id, "sessions/sessions.db", rows),
        DialectSample::file("20250101_080000", "sessions/20250101_080000.jsonl", old),
    ]
}

/// A session of Crush with a summary.
fn crush() -> Vec<DialectSample> {
    let mut rng = rng("crush");
    let mut rows = MemoryRows::default();
    let id = "0d4f3c8e-0000-4000-8000-000000000001";
    let session = json!({"id": id, "parent_session_id": null, "title": "A red build",
        "message_count": 4, "prompt_tokens": 1, "completion_tokens": 1, "cost": 1,
        "summary_message_id": null, "created_at": START / 1000, "updated_at": START / 1000 + 9});
    insert(&mut rows, "sessions", &session);
    let part = |word: &str, data: Value| json!({"type": word, "data": data});
    let call = json!({"id": "call_1", "name": "view", "input": "{\"file_path\":\"a.rs\"}", "finished": true});
    let answer =
        json!({"tool_call_id": "call_1", "name": "view", "content": phrase::listing(&mut rng, 2)});
    let messages = [
        (
            "user",
            json!([part("text", json!({"text": phrase::asked(&mut rng)}))]),
        ),
        (
            "assistant",
            json!([
                part(
                    "reasoning",
                    json!({"thinking": phrase::thought(&mut rng), "signature": ""})
                ),
                part("tool_call", call),
                part(
                    "finish",
                    json!({"reason": "tool_use", "time": START / 1000})
                ),
            ]),
        ),
        ("tool", json!([part("tool_result", answer)])),
        (
            "assistant",
            json!([part("text", json!({"text": phrase::answered(&mut rng)}))]),
        ),
    ];
    for (nth, (role, parts)) in (1..).zip(messages) {
        insert(
            &mut rows,
            "messages",
            &json!({"id": format!("m-{nth}"), "session_id": id, "role": role, "parts": parts,
                "model": "m", "provider": "p", "is_summary_message": 0,
                "created_at": START / 1000 + nth, "updated_at": START / 1000 + nth}),
        );
    }
    vec![DialectSample::rows(id, "crush.db", rows)]
}

/// Sessions of Hermes: rows, and a document of the time before.
fn hermes(cwd: &str) -> Vec<DialectSample> {
    let mut rng = rng("hermes");
    let mut rows = MemoryRows::default();
    let id = "01JCH1";
    let session = json!({"id": id, "source": "cli", "model": "m", "parent_session_id": null,
        "started_at": START / 1000, "ended_at": null, "end_reason": null, "message_count": 4,
        "cwd": cwd, "title": "A red build", "input_tokens": 10, "output_tokens": 5, "archived": 0});
    insert(&mut rows, "sessions", &session);
    let call = json!([{"id": "call_1", "type": "function",
        "function": {"name": "shell", "arguments": "{\"command\":\"ls\"}"}}]);
    let messages = [
        json!({"role": "user", "content": phrase::asked(&mut rng)}),
        json!({"role": "assistant", "content": "I look.", "tool_calls": call,
            "reasoning": phrase::thought(&mut rng)}),
        json!({"role": "tool", "content": phrase::listing(&mut rng, 2), "tool_call_id": "call_1",
            "tool_name": "shell"}),
        json!({"role": "assistant", "content": phrase::answered(&mut rng), "finish_reason": "stop"}),
    ];
    for (nth, message) in (1..).zip(&messages) {
        let mut row = json!({"id": nth, "session_id": id, "role": null, "content": null,
            "tool_call_id": null, "tool_calls": null, "tool_name": null,
            "timestamp": START / 1000 + nth, "finish_reason": null, "reasoning": null, "active": 1});
        crate::make::merge(&mut row, message.clone());
        insert(&mut rows, "messages", &row);
    }
    let document = json!({"session_id": "20250101_old", "model": "m", "platform": "cli",
        "session_start": "2025-01-01T08:00:00.000Z", "last_updated": "2025-01-01T08:00:09.000Z",
        "cwd": cwd, "message_count": 4, "messages": messages});
    vec![
        DialectSample::rows(id, "state.db", rows),
        DialectSample::file(
            "20250101_old",
            "sessions/session_20250101_old.json",
            document.to_string(),
        ),
    ]
}

/// A thread of Zed.
fn zed(cwd: &str) -> Vec<DialectSample> {
    let mut rng = rng("zed");
    let mut rows = MemoryRows::default();
    let id = "6a1f0000-0000-4000-8000-000000000001";
    let call = json!({"id": "call_1", "name": "read_file", "raw_input": "{}",
        "input": {"path": "a.rs"}, "is_input_complete": true});
    let result = json!({"tool_use_id": "call_1", "tool_name": "read_file", "is_error": false,
        "content": {"Text": phrase::listing(&mut rng, 2)}, "output": null});
    let document = json!({"version": "0.3.0", "title": "A red build",
    "updated_at": "2026-01-01T08:00:09Z", "model": {"provider": "p", "model": "m"},
    "cumulative_token_usage": {"input_tokens": 10, "output_tokens": 5},
    "messages": [
        {"User": {"id": "u-1", "content": [{"Text": phrase::asked(&mut rng)}]}},
        {"Agent": {"content": [{"Thinking": {"text": phrase::thought(&mut rng), "signature": null}},
            {"ToolUse": call}], "tool_results": {"call_1": result}}},
        "Resume",
        {"Agent": {"content": [{"Text": phrase::answered(&mut rng)}], "tool_results": {}}},
    ]});
    insert(
        &mut rows,
        "threads",
        &json!({"id": id, "summary": "A red build", "updated_at": "2026-01-01T08:00:09Z",
            "data_type": "json", "data": document.to_string(), "parent_id": null,
            "folder_paths": cwd, "folder_paths_order": "0", "created_at": "2026-01-01T08:00:00Z"}),
    );
    vec![DialectSample::rows(id, "threads/threads.db", rows)]
}

/// A conversation of Kiro CLI.
fn kiro(cwd: &str) -> Vec<DialectSample> {
    let mut rng = rng("kiro");
    let mut rows = MemoryRows::default();
    let id = "00000000-0000-4000-8000-000000000001";
    let results = json!({"tool_use_results": [{"tool_use_id": "call_1", "status": "Success",
        "content": [{"Text": phrase::listing(&mut rng, 2)}]}]});
    let document = json!({"conversation_id": id, "history": [
        {"user": {"content": {"Prompt": {"prompt": phrase::asked(&mut rng)}},
                "timestamp": "2026-01-01T08:00:01Z"},
            "assistant": {"ToolUse": {"message_id": "a-1", "content": "I look.",
                "tool_uses": [{"id": "call_1", "name": "fs_read", "args": {"path": "a.rs"}}]}},
            "request_metadata": {"stream_end_timestamp_ms": START + 2}},
        {"user": {"content": {"ToolUseResults": results}, "timestamp": "2026-01-01T08:00:03Z"},
            "assistant": {"Response": {"message_id": "a-2", "content": phrase::answered(&mut rng)}}},
    ]});
    insert(
        &mut rows,
        "conversations_v2",
        &json!({"key": cwd, "conversation_id": id, "value": document.to_string(),
            "created_at": START, "updated_at": START + 9}),
    );
    vec![DialectSample::rows(id, "data.sqlite3", rows)]
}

/// A transcript of Cursor.
fn cursor() -> Vec<DialectSample> {
    let mut rng = rng("cursor");
    let id = "9c1e0000-0000-4000-8000-000000000001";
    let line = |role: &str, content: Value| json!({"role": role, "message": {"content": content}});
    let prompt = format!("<user_query>\n{}\n</user_query>", phrase::asked(&mut rng));
    let listing = json!([{"type": "text", "text": phrase::listing(&mut rng, 2)}]);
    let lines = [
        line("user", json!([{"type": "text", "text": prompt}])),
        line(
            "assistant",
            json!([{"type": "thinking", "thinking": phrase::thought(&mut rng)},
                {"type": "tool_use", "id": "call_1", "name": "read_file", "input": {"path": "a.rs"}}]),
        ),
        line(
            "user",
            json!([{"type": "tool_result", "tool_use_id": "call_1", "content": listing}]),
        ),
        line(
            "assistant",
            json!([{"type": "text", "text": phrase::answered(&mut rng)}]),
        ),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let path = format!("projects/proj-app/agent-transcripts/{id}/{id}.jsonl");
    vec![DialectSample::file(id, &path, text)]
}
