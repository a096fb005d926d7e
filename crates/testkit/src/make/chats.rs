//! Sessions of agents whose records are chat messages: Cline and its kin, Continue, Mistral Vibe,
//! Droid.

use serde_json::{Value, json};

use crate::clock::{MORNING, ManualClock, iso};
use crate::files::{FileList, Made};
use crate::jsonl::JsonlLines;
use crate::phrase;
use crate::rng::Rng;

/// An agent whose records are chat messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatAgentKind {
    /// Cline with a folder for each session.
    Cline,
    /// A task of Cline in an editor.
    ClineTask,
    /// A task of Roo Code.
    Roo,
    /// A task of Kilo Code.
    Kilo,
    /// Continue.
    Continue,
    /// Mistral Vibe up to 2.x.
    Vibe,
    /// Droid.
    Droid,
}

/// Messages in Anthropic's form: a prompt, a call, its result, an answer.
fn blocks(rng: &mut Rng) -> Vec<Value> {
    let call = format!("toolu_{}", rng.hex(8));
    let listing = phrase::listing(rng, 2);
    vec![
        json!({"role": "user", "content": [{"type": "text", "text": phrase::asked(rng)}]}),
        json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": phrase::thought(rng), "signature": "sig"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": call, "name": "read_file", "input": {"path": "a.rs"}},
        ]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": listing}]}),
        json!({"role": "assistant", "content": [{"type": "text", "text": phrase::answered(rng)}]}),
    ]
}

/// The same in OpenAI's form.
fn completions(rng: &mut Rng) -> Vec<Value> {
    let call = format!("call_{}", rng.hex(8));
    let function = json!({"name": "read_file", "arguments": "{\"path\":\"a.rs\"}"});
    vec![
        json!({"role": "user", "content": phrase::asked(rng), "message_id": "m-1"}),
        json!({"role": "assistant", "content": "I look.", "reasoning_content": phrase::thought(rng),
            "tool_calls": [{"id": call, "type": "function", "function": function}], "message_id": "m-2"}),
        json!({"role": "tool", "content": phrase::listing(rng, 2), "tool_call_id": call, "name": "read_file", "message_id": "m-3"}),
        json!({"role": "assistant", "content": phrase::answered(rng), "message_id": "m-4"}),
    ]
}

/// Creates a session of an agent.
pub fn session(agent: ChatAgentKind, cwd: &str, seed: u64) -> Made {
    let mut rng = Rng::for_part(seed, &format!("chat {agent:?}"));
    match agent {
        ChatAgentKind::Cline => cline(&mut rng, cwd),
        ChatAgentKind::ClineTask | ChatAgentKind::Roo | ChatAgentKind::Kilo => task(&mut rng, cwd),
        ChatAgentKind::Continue => continue_(&mut rng, cwd),
        ChatAgentKind::Vibe => vibe(&mut rng, cwd),
        ChatAgentKind::Droid => droid(&mut rng, cwd),
    }
}

fn made(id: String, cwd: &str, main: String, files: FileList) -> Made {
    Made {
        id,
        project: cwd.to_owned(),
        title: Some("A red build".to_owned()),
        main,
        files,
    }
}

fn cline(rng: &mut Rng, cwd: &str) -> Made {
    let id = format!("{MORNING}_{}", rng.base36(5));
    let mut messages = blocks(rng);
    for (nth, message) in messages.iter_mut().enumerate() {
        message["id"] = json!(format!("msg_{nth}"));
        message["ts"] = json!(MORNING + nth as i64 * 1000);
    }
    let asked = messages[0]["content"][0]["text"]
        .as_str()
        .unwrap_or_default();
    messages[0]["content"][0]["text"] =
        json!(format!("<user_input mode=\"act\">{asked}</user_input>"));
    messages[3]["modelInfo"] = json!({"id": "claude-sonnet-4", "provider": "anthropic"});
    messages[3]["metrics"] = json!({"inputTokens": 1200, "outputTokens": 30, "cacheReadTokens": 1000, "cacheWriteTokens": 0, "cost": 0.0123});
    let document = json!({"version": 1, "updated_at": iso(MORNING), "agent": "lead", "sessionId": id, "messages": messages});
    let manifest = json!({"version": 1, "session_id": id, "cwd": cwd, "model": "claude-sonnet-4", "metadata": {"title": "A red build"}});
    let mut files = FileList::new();
    let main = format!("sessions/{id}/{id}.messages.json");
    files.add(
        &main,
        serde_json::to_vec_pretty(&document).unwrap_or_default(),
    );
    files.add(format!("sessions/{id}/{id}.json"), manifest.to_string());
    made(id, cwd, main, files)
}

fn task(rng: &mut Rng, cwd: &str) -> Made {
    let id = (MORNING + rng.below(1_000_000) as i64).to_string();
    let mut messages = blocks(rng);
    messages[0]["condenseParent"] = json!("c-1");
    messages.insert(3, json!({"role": "user", "content": "So far: a test was red.", "isSummary": true, "condenseId": "c-1"}));
    for (nth, message) in messages.iter_mut().enumerate() {
        message["ts"] = json!(MORNING + nth as i64 * 1000);
    }
    let mut files = FileList::new();
    let main = format!("tasks/{id}/api_conversation_history.json");
    files.add(
        &main,
        serde_json::to_vec_pretty(&messages).unwrap_or_default(),
    );
    let shown = json!([{"ts": MORNING, "type": "say", "say": "text", "text": "A red build"}]);
    files.add(format!("tasks/{id}/ui_messages.json"), shown.to_string());
    let item = json!({"id": id, "ts": MORNING, "task": "A red build", "workspace": cwd, "tokensIn": 1200, "tokensOut": 30, "totalCost": 0.0123});
    files.add(format!("tasks/{id}/history_item.json"), item.to_string());
    Made {
        title: None,
        ..made(id, cwd, main, files)
    }
}

fn continue_(rng: &mut Rng, cwd: &str) -> Made {
    let id = rng.uuid_v4();
    let said = completions(rng);
    let call = said[1]["tool_calls"][0]["id"].clone();
    let usage = json!({"prompt_tokens": 1200, "completion_tokens": 30, "prompt_tokens_details": {"cached_tokens": 1000}, "model": "gpt-4.1", "cost_cents": 1.23});
    let history = json!([
        {"message": {"role": "user", "content": said[0]["content"]}, "contextItems": [], "editorState": said[0]["content"]},
        {"message": {"role": "assistant", "content": "", "toolCalls": said[1]["tool_calls"], "usage": usage}, "contextItems": [],
            "toolCallStates": [{"toolCallId": call, "status": "done", "output": [{"content": said[2]["content"]}]}]},
        {"message": {"role": "assistant", "content": said[3]["content"]}, "contextItems": []},
    ]);
    let document = json!({"sessionId": id, "title": "A red build", "workspaceDirectory": cwd, "history": history});
    let row = json!([{"sessionId": id, "title": "A red build", "dateCreated": MORNING.to_string(), "workspaceDirectory": cwd}]);
    let mut files = FileList::new();
    let main = format!("sessions/{id}.json");
    files.add(
        &main,
        serde_json::to_vec_pretty(&document).unwrap_or_default(),
    );
    files.add("sessions/sessions.json", row.to_string());
    made(id, cwd, main, files)
}

fn vibe(rng: &mut Rng, cwd: &str) -> Made {
    let folder = format!("session_20260105_080000_{}", rng.hex(8));
    let mut lines = JsonlLines::new();
    completions(rng)
        .iter()
        .for_each(|message| lines.push(message));
    let meta = json!({
        "session_id": rng.uuid_v4(), "start_time": iso(MORNING), "end_time": iso(MORNING + 60_000), "git_branch": "main",
        "environment": {"working_directory": cwd}, "title": "A red build", "title_source": "auto",
        "stats": {"session_prompt_tokens": 1200, "session_completion_tokens": 30},
    });
    let mut files = FileList::new();
    let main = format!("logs/session/{folder}/messages.jsonl");
    files.add(&main, lines.into_bytes());
    files.add(format!("logs/session/{folder}/meta.json"), meta.to_string());
    made(folder, cwd, main, files)
}

/// Returns the records of a session of Droid, with a compaction.
fn droid_lines(rng: &mut Rng, id: &str, cwd: &str) -> JsonlLines {
    let mut clock = ManualClock::at(MORNING);
    let mut lines = JsonlLines::new();
    lines.push(&json!({"type": "session_start", "id": id, "title": "A red build", "sessionTitle": "A red build", "owner": "me", "version": "0.81.0", "cwd": cwd}));
    let mut last = id.to_owned();
    for message in blocks(rng) {
        let own = rng.uuid_v4();
        lines.push(&json!({"type": "message", "id": own, "parentId": last, "timestamp": clock.tick(1_000), "message": message}));
        last = own;
    }
    lines.push(&json!({"type": "todo_state", "id": rng.uuid_v4(), "timestamp": clock.iso(), "todos": "1. build"}));
    lines.push(&json!({"type": "compaction_state", "id": rng.uuid_v4(), "timestamp": clock.tick(1_000), "summaryText": "So far: a test was red.", "summaryTokens": 9}));
    let text = json!([{"type": "text", "text": phrase::asked(rng)}]);
    lines.push(&json!({"type": "message", "id": rng.uuid_v4(), "timestamp": clock.tick(1_000), "message": {"role": "user", "content": text}}));
    lines
}

fn droid(rng: &mut Rng, cwd: &str) -> Made {
    let id = rng.uuid_v4();
    let lines = droid_lines(rng, &id, cwd);
    let settings = json!({"model": "claude-sonnet-4", "autonomy": "low", "tokenUsage": {"inputTokens": 200, "outputTokens": 30, "cacheReadTokens": 1000}});
    let mut files = FileList::new();
    let main = format!("sessions/-proj-app/{id}.jsonl");
    files.add(&main, lines.into_bytes());
    files.add(
        format!("sessions/-proj-app/{id}.settings.json"),
        settings.to_string(),
    );
    made(id, cwd, main, files)
}
