//! Sessions of agents with formats of their own: documents, Markdown, a file for each event,
//! generations of a state.

mod openhands;
mod vibe;

use serde_json::{Value, json};

use crate::clock::{MORNING, ManualClock, iso};
use crate::files::{FileList, Made};
use crate::jsonl::JsonlLines;
use crate::phrase;
use crate::rng::Rng;

/// A form in which such an agent keeps a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherAgentShape {
    /// Copilot Chat in VS Code: a document.
    VsCodeDocument,
    /// Copilot Chat in VS Code: a log of operations, with a request that was taken back.
    VsCodeLog,
    /// Aider: the second chat of a Markdown file.
    Aider,
    /// OpenHands: a file for each event, with a condensation.
    OpenHands,
    /// The older server of OpenHands.
    OpenHandsServer,
    /// Auggie: a document.
    Auggie,
    /// Antigravity: a transcript.
    Antigravity,
    /// Grok Build: lines and a summary.
    Grok,
    /// Amp: a document.
    Amp,
    /// Mistral Vibe 3: a generation in chunks, and a journal.
    VibeUnified,
}

impl OtherAgentShape {
    /// Every shape.
    pub const ALL: [OtherAgentShape; 10] = [
        OtherAgentShape::VsCodeDocument,
        OtherAgentShape::VsCodeLog,
        OtherAgentShape::Aider,
        OtherAgentShape::OpenHands,
        OtherAgentShape::OpenHandsServer,
        OtherAgentShape::Auggie,
        OtherAgentShape::Antigravity,
        OtherAgentShape::Grok,
        OtherAgentShape::Amp,
        OtherAgentShape::VibeUnified,
    ];

    /// The name of the dialect.
    pub fn dialect(self) -> &'static str {
        match self {
            OtherAgentShape::VsCodeDocument | OtherAgentShape::VsCodeLog => "vscode",
            OtherAgentShape::Aider => "aider",
            OtherAgentShape::OpenHands | OtherAgentShape::OpenHandsServer => "openhands",
            OtherAgentShape::Auggie => "auggie",
            OtherAgentShape::Antigravity => "antigravity",
            OtherAgentShape::Grok => "grok",
            OtherAgentShape::Amp => "amp",
            OtherAgentShape::VibeUnified => "vibe",
        }
    }
}

/// Creates a session.
pub fn session(shape: OtherAgentShape, cwd: &str, seed: u64) -> Made {
    let mut rng = Rng::for_part(seed, &format!("other {shape:?}"));
    match shape {
        OtherAgentShape::VsCodeDocument => vscode(&mut rng, cwd, false),
        OtherAgentShape::VsCodeLog => vscode(&mut rng, cwd, true),
        OtherAgentShape::Aider => aider(&mut rng, cwd),
        OtherAgentShape::OpenHands => openhands::session(&mut rng, cwd),
        OtherAgentShape::OpenHandsServer => openhands_server(&mut rng, cwd),
        OtherAgentShape::Auggie => auggie(&mut rng, cwd),
        OtherAgentShape::Antigravity => antigravity(&mut rng, cwd),
        OtherAgentShape::Grok => grok(&mut rng, cwd),
        OtherAgentShape::Amp => amp(&mut rng, cwd),
        OtherAgentShape::VibeUnified => vibe::session(&mut rng, cwd),
    }
}

fn made(id: &str, cwd: &str, main: &str, files: FileList) -> Made {
    Made {
        id: id.to_owned(),
        project: cwd.to_owned(),
        title: None,
        main: main.to_owned(),
        files,
    }
}

fn request(rng: &mut Rng, nth: i64) -> Value {
    let call = format!("call_{}", rng.hex(8));
    json!({
        "requestId": format!("request_{}", rng.uuid_v4()), "timestamp": MORNING + nth * 1000,
        "message": {"text": phrase::asked(rng), "parts": []}, "variableData": {"variables": []},
        "agent": {"id": "github.copilot.editsAgent"}, "modelId": "copilot/gpt-4.1",
        "response": [
            {"kind": "thinking", "value": phrase::thought(rng)},
            {"value": "I look at "}, {"kind": "inlineReference", "name": "a.rs", "inlineReference": {"path": "/p/a.rs"}},
            {"kind": "toolInvocationSerialized", "toolId": "copilot_readFile", "toolCallId": format!("{call}__vscode-1"),
                "invocationMessage": {"value": "Reading a.rs"}, "pastTenseMessage": {"value": "Read a.rs"}},
            {"kind": "undoStop", "id": "u"},
            {"value": phrase::answered(rng)},
        ],
        "result": {"timings": {"totalElapsed": 900}, "metadata": {
            "promptTokens": 1200, "outputTokens": 30, "resolvedModel": "gpt-4.1",
            "toolCallRounds": [{"response": "", "toolCalls": [{"id": call, "name": "read_file", "arguments": "{\"filePath\":\"a.rs\"}"}]}],
            "toolCallResults": {call.as_str(): {"content": [{"value": phrase::listing(rng, 2)}]}},
        }},
    })
}

fn vscode(rng: &mut Rng, cwd: &str, is_log: bool) -> Made {
    let (id, hash) = (rng.uuid_v4(), rng.hex(32));
    let requests = [request(rng, 1), request(rng, 2), request(rng, 3)];
    let document = |requests: &[Value]| {
        json!({
            "version": 3, "sessionId": id, "creationDate": MORNING, "lastMessageDate": MORNING + 9000,
            "requesterUsername": "me", "responderUsername": "GitHub Copilot",
            "initialLocation": "panel", "customTitle": "A red build", "requests": requests,
        })
    };
    let folder = format!("workspaceStorage/{hash}");
    let mut files = FileList::new();
    let main = match is_log {
        true => format!("{folder}/chatSessions/{id}.jsonl"),
        false => format!("{folder}/chatSessions/{id}.json"),
    };
    let bytes = match is_log {
        true => {
            let [first, second, third] = &requests;
            let mut lines = JsonlLines::new();
            lines.push(&json!({"kind": 0, "v": document(std::slice::from_ref(first))}));
            lines.push(&json!({"kind": 2, "k": ["requests"], "v": [second]}));
            lines.push(&json!({"kind": 2, "k": ["requests", 1, "response"], "v": [{"value": " And more."}]}));
            lines.push(&json!({"kind": 2, "k": ["requests"], "i": 1, "v": [third]}));
            lines.push(&json!({"kind": 1, "k": ["customTitle"], "v": "A red build"}));
            lines.into_bytes()
        }
        false => serde_json::to_vec_pretty(&document(&requests)).unwrap_or_default(),
    };
    files.add(&main, bytes);
    let workspace = json!({"folder": format!("file://{cwd}")});
    files.add(format!("{folder}/workspace.json"), workspace.to_string());
    Made {
        title: Some("A red build".to_owned()),
        ..made(&id, cwd, &main, files)
    }
}

fn aider(rng: &mut Rng, cwd: &str) -> Made {
    let text = format!(
        "\n# aider chat started at 2026-01-05 08:00:00\n\n> Aider v0.86.2  \n> Model: openai/gpt-4.1 with diff edit format  \n\n\
         #### {}  \n\n{}\n\n> Tokens: 1.2k sent, 30 received. Cost: $0.01 message, $0.01 session.  \n\n\
         # aider chat started at 2026-01-05 09:00:00\n\n> Aider v0.86.2  \n\n#### {}  \n#### and the tests  \n\n\
         <thinking-content-1>\n\n{}\n\n</thinking-content-1>\n\n{}\n\n## A heading\n\n> Applied edit to src/a.rs  \n> Tokens: 756 sent, 79 received.  \n",
        phrase::asked(rng),
        phrase::answered(rng),
        phrase::asked(rng),
        phrase::thought(rng),
        phrase::answered(rng),
    );
    let main = ".aider.chat.history.md";
    let mut files = FileList::new();
    files.add(main, text);
    made("2026-01-05-09-00-00", cwd, main, files)
}

fn openhands_server(rng: &mut Rng, cwd: &str) -> Made {
    let id = rng.hex(32);
    let mut clock = ManualClock::at(MORNING);
    let mut time = || clock.tick(1_000).trim_end_matches('Z').to_owned();
    let events = [
        json!({"id": 0, "timestamp": time(), "source": "user", "message": "", "action": "message", "args": {"content": phrase::asked(rng), "image_urls": []}}),
        json!({"id": 1, "timestamp": time(), "source": "agent", "message": "Running", "action": "run", "args": {"command": "ls", "thought": phrase::thought(rng)}}),
        json!({"id": 2, "timestamp": time(), "source": "agent", "message": "Ran", "cause": 1, "observation": "run", "content": phrase::listing(rng, 2), "extras": {"exit_code": 0}}),
        json!({"id": 3, "timestamp": time(), "source": "agent", "message": "", "action": "message", "args": {"content": phrase::answered(rng)}}),
    ];
    let folder = format!("sessions/{id}");
    let main = format!("{folder}/metadata.json");
    let mut files = FileList::new();
    files.add(
        &main,
        json!({"conversation_id": id, "title": "A red build", "llm_model": "gpt-4.1"}).to_string(),
    );
    for (nth, event) in events.iter().enumerate() {
        files.add(format!("{folder}/events/{nth}.json"), event.to_string());
    }
    made(&id, cwd, &main, files)
}

fn auggie(rng: &mut Rng, cwd: &str) -> Made {
    let id = format!("01K0{}", rng.base36(22).to_uppercase());
    let exchange = |rng: &mut Rng, nth: i64| {
        json!({
            "exchange": {"request_message": phrase::asked(rng), "response_text": phrase::answered(rng), "request_id": rng.uuid_v4()},
            "completed": true, "sequenceId": nth, "finishedAt": iso(MORNING + nth * 1000), "isHistorySummary": false,
        })
    };
    let call = format!("toolu_{}", rng.hex(8));
    let nodes = json!({
        "exchange": {
            "request_nodes": [{"type": 1, "tool_result_node": {"tool_use_id": call, "content": phrase::listing(rng, 2), "is_error": false}}],
            "response_nodes": [{"type": 0, "text_node": {"content": phrase::answered(rng)}}], "request_id": rng.uuid_v4(),
        }, "completed": true, "sequenceId": 3, "finishedAt": iso(MORNING + 3000),
    });
    let mut first = exchange(rng, 1);
    first["exchange"]["response_nodes"] = json!([{"type": 5, "tool_use": {"tool_use_id": call, "tool_name": "view", "input_json": "{\"path\":\"a.rs\"}"}}]);
    let document = json!({
        "sessionId": id, "created": iso(MORNING), "modified": iso(MORNING + 9000), "workspaceRoot": cwd,
        "chatHistory": [first, nodes, exchange(rng, 4)],
    });
    let main = format!("sessions/{id}.json");
    let mut files = FileList::new();
    files.add(
        &main,
        serde_json::to_vec_pretty(&document).unwrap_or_default(),
    );
    made(&id, cwd, &main, files)
}

/// Returns the source, the kind and the content of each step of a transcript.
fn antigravity_steps(rng: &mut Rng) -> [(&'static str, &'static str, Value); 8] {
    let asked = format!(
        "<USER_REQUEST>\n{}\n</USER_REQUEST>\n<USER_SETTINGS_CHANGE>\nx\n</USER_SETTINGS_CHANGE>",
        phrase::asked(rng)
    );
    let calls = json!([{"name": "list_dir", "args": {"DirectoryPath": "\"/p\""}}]);
    let called = json!({"thinking": phrase::thought(rng), "tool_calls": calls});
    let listing = json!({"content": phrase::listing(rng, 2)});
    let answered = json!({"content": phrase::answered(rng)});
    let resumed = json!({"content": "# Resuming from a compaction"});
    let aside = json!({"content": "not from the user"});
    let again = json!({"content": phrase::asked(rng)});
    [
        ("USER_EXPLICIT", "USER_INPUT", json!({"content": asked})),
        ("SYSTEM", "CONVERSATION_HISTORY", json!({})),
        ("MODEL", "PLANNER_RESPONSE", called),
        ("MODEL", "LIST_DIRECTORY", listing),
        ("MODEL", "PLANNER_RESPONSE", answered),
        ("SYSTEM", "CHECKPOINT", resumed),
        ("SYSTEM", "SYSTEM_MESSAGE", aside),
        ("USER_EXPLICIT", "USER_INPUT", again),
    ]
}

fn antigravity(rng: &mut Rng, cwd: &str) -> Made {
    let id = rng.uuid_v4();
    let mut clock = ManualClock::at(MORNING);
    let mut lines = JsonlLines::new();
    let mut nth = 0;
    let mut step = |source: &str, kind: &str, mut more: Value| {
        more["step_index"] = json!(nth);
        more["source"] = json!(source);
        more["type"] = json!(kind);
        more["status"] = json!("DONE");
        more["created_at"] = json!(clock.tick(1_000));
        nth += 1;
        lines.push(&more);
    };
    for (source, kind, more) in antigravity_steps(rng) {
        step(source, kind, more);
    }
    let main = format!("brain/{id}/.system_generated/logs/transcript_full.jsonl");
    let mut files = FileList::new();
    files.add(&main, lines.into_bytes());
    files.add(format!("brain/{id}/task.md"), "# A red build\n");
    made(&id, cwd, &main, files)
}

fn grok(rng: &mut Rng, cwd: &str) -> Made {
    let (id, call) = (rng.uuid_v7(MORNING), format!("call_{}", rng.hex(8)));
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let mut lines = JsonlLines::new();
    for line in [
        json!({"type": "system", "content": "You are Grok"}),
        json!({"type": "user", "content": text("policy"), "synthetic_reason": "project_instructions"}),
        json!({"type": "user", "content": text(phrase::asked(rng)), "prompt_index": 0}),
        json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": phrase::thought(rng)}]}),
        json!({"type": "backend_tool_call", "kind": {"tool_type": "web_search", "action": {"type": "search", "query": "q"}, "id": "ws_1"}}),
        json!({"type": "assistant", "content": "I look.", "tool_calls": [{"id": call, "name": "read_file", "arguments": "{\"target_file\":\"a.rs\"}"}], "model_id": "grok-4.5"}),
        json!({"type": "tool_result", "tool_call_id": call, "content": phrase::listing(rng, 2)}),
        json!({"type": "assistant", "content": phrase::answered(rng), "model_id": "grok-4.5"}),
    ] {
        lines.push(&line);
    }
    let folder = format!("sessions/{}/{id}", cwd.replace('/', "%2F"));
    let summary = json!({"info": {"id": id, "cwd": cwd}, "generated_title": "A red build", "created_at": iso(MORNING), "updated_at": iso(MORNING + 9000), "current_model_id": "grok-4.5"});
    let main = format!("{folder}/chat_history.jsonl");
    let mut files = FileList::new();
    files.add(&main, lines.into_bytes());
    files.add(format!("{folder}/summary.json"), summary.to_string());
    Made {
        title: Some("A red build".to_owned()),
        ..made(&id, cwd, &main, files)
    }
}

fn amp(rng: &mut Rng, cwd: &str) -> Made {
    let (id, call) = (
        format!("T-{}", rng.uuid_v4()),
        format!("toolu_{}", rng.hex(8)),
    );
    let usage = json!({"model": "claude-sonnet-4", "inputTokens": 200, "outputTokens": 30, "cacheReadInputTokens": 1000, "timestamp": iso(MORNING + 2000)});
    let messages = json!([
        {"role": "user", "messageId": 0, "content": [{"type": "text", "text": phrase::asked(rng)}], "meta": {"sentAt": MORNING}},
        {"role": "assistant", "messageId": 1, "content": [
            {"type": "thinking", "thinking": phrase::thought(rng), "signature": "sig"}, {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": call, "name": "Read", "input": {"path": "a.rs"}}], "usage": usage, "state": {"type": "complete"}},
        {"role": "user", "messageId": 2, "content": [{"type": "tool_result", "toolUseID": call, "run": {"status": "done", "result": {"content": phrase::listing(rng, 2)}}}]},
        {"role": "assistant", "messageId": 3, "content": [{"type": "text", "text": phrase::answered(rng)}], "state": {"type": "complete"}},
    ]);
    let document = json!({
        "v": 9, "id": id, "created": MORNING, "title": "A red build", "messages": messages,
        "env": {"initial": {"trees": [{"displayName": "app", "uri": format!("file://{cwd}")}]}},
    });
    let main = format!("threads/{id}.json");
    let mut files = FileList::new();
    files.add(
        &main,
        serde_json::to_vec_pretty(&document).unwrap_or_default(),
    );
    Made {
        title: Some("A red build".to_owned()),
        ..made(&id, cwd, &main, files)
    }
}
