//! Sessions of agents with formats of their own: documents, Markdown, a file for each event,
//! generations of a state.

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
        OtherAgentShape::OpenHands => openhands(&mut rng, cwd),
        OtherAgentShape::OpenHandsServer => openhands_server(&mut rng, cwd),
        OtherAgentShape::Auggie => auggie(&mut rng, cwd),
        OtherAgentShape::Antigravity => antigravity(&mut rng, cwd),
        OtherAgentShape::Grok => grok(&mut rng, cwd),
        OtherAgentShape::Amp => amp(&mut rng, cwd),
        OtherAgentShape::VibeUnified => vibe(&mut rng, cwd),
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

fn openhands(rng: &mut Rng, cwd: &str) -> Made {
    let (id, call) = (rng.hex(32), format!("toolu_{}", rng.hex(8)));
    let mut clock = ManualClock::at(MORNING);
    let ids: Vec<String> = (0..7).map(|_| rng.uuid_v4()).collect();
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let mut event = |nth: usize, kind: &str, source: &str, mut more: Value| {
        more["id"] = json!(ids[nth]);
        more["timestamp"] = json!(clock.tick(1_000));
        more["source"] = json!(source);
        more["kind"] = json!(kind);
        more
    };
    let arguments = "{\"command\":\"ls\"}";
    let events = [
        event(
            0,
            "SystemPromptEvent",
            "agent",
            json!({"system_prompt": {"type": "text", "text": "You are an agent."}, "tools": []}),
        ),
        event(
            1,
            "MessageEvent",
            "user",
            json!({"llm_message": {"role": "user", "content": text(phrase::asked(rng))}}),
        ),
        event(
            2,
            "ActionEvent",
            "agent",
            json!({
                "thought": text("I look."), "reasoning_content": phrase::thought(rng), "thinking_blocks": [],
                "action": {"kind": "TerminalAction", "command": "ls"}, "tool_name": "terminal", "tool_call_id": call,
                "tool_call": {"id": call, "name": "terminal", "arguments": arguments}, "llm_response_id": "r1",
            }),
        ),
        event(
            3,
            "ObservationEvent",
            "environment",
            json!({
                "observation": {"kind": "TerminalObservation", "content": text(&phrase::listing(rng, 2)), "exit_code": 0},
                "action_id": ids[2], "tool_name": "terminal", "tool_call_id": call,
            }),
        ),
        event(
            4,
            "MessageEvent",
            "agent",
            json!({"llm_message": {"role": "assistant", "content": text(phrase::answered(rng))}}),
        ),
        event(
            5,
            "Condensation",
            "environment",
            json!({"forgotten_event_ids": [ids[1]], "summary": "So far: a test was red.", "summary_offset": 1, "llm_response_id": "r2"}),
        ),
        event(
            6,
            "MessageEvent",
            "user",
            json!({"llm_message": {"role": "user", "content": text(phrase::asked(rng))}}),
        ),
    ];
    let folder = format!("conversations/{id}");
    let mut files = FileList::new();
    let main = format!("{folder}/base_state.json");
    let state = openhands_state(&id, cwd);
    files.add(&main, state.to_string());
    for (nth, event) in events.iter().enumerate() {
        let bytes = serde_json::to_vec_pretty(event).unwrap_or_default();
        files.add(
            format!("{folder}/events/event-{nth:05}-{}.json", ids[nth]),
            bytes,
        );
    }
    made(&id, cwd, &main, files)
}

fn openhands_state(id: &str, cwd: &str) -> Value {
    json!({
        "id": id, "workspace": {"kind": "LocalWorkspace", "working_dir": cwd}, "agent": {"llm": {"model": "claude-sonnet-4"}},
        "stats": {"usage_to_metrics": {"agent": {"accumulated_cost": 0.01, "accumulated_token_usage": {"prompt_tokens": 1200, "completion_tokens": 30, "cache_read_tokens": 1000}}}},
    })
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
    let asked = format!(
        "<USER_REQUEST>\n{}\n</USER_REQUEST>\n<USER_SETTINGS_CHANGE>\nx\n</USER_SETTINGS_CHANGE>",
        phrase::asked(rng)
    );
    step("USER_EXPLICIT", "USER_INPUT", json!({"content": asked}));
    step("SYSTEM", "CONVERSATION_HISTORY", json!({}));
    step(
        "MODEL",
        "PLANNER_RESPONSE",
        json!({"thinking": phrase::thought(rng), "tool_calls": [{"name": "list_dir", "args": {"DirectoryPath": "\"/p\""}}]}),
    );
    step(
        "MODEL",
        "LIST_DIRECTORY",
        json!({"content": phrase::listing(rng, 2)}),
    );
    step(
        "MODEL",
        "PLANNER_RESPONSE",
        json!({"content": phrase::answered(rng)}),
    );
    step(
        "SYSTEM",
        "CHECKPOINT",
        json!({"content": "# Resuming from a compaction"}),
    );
    step(
        "SYSTEM",
        "SYSTEM_MESSAGE",
        json!({"content": "not from the user"}),
    );
    step(
        "USER_EXPLICIT",
        "USER_INPUT",
        json!({"content": phrase::asked(rng)}),
    );
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

fn vibe(rng: &mut Rng, cwd: &str) -> Made {
    let (id, call) = (rng.uuid_v4(), format!("call_{}", rng.hex(8)));
    let asked = phrase::asked(rng);
    let (thought, answered) = (phrase::thought(rng), phrase::answered(rng));
    let listing = phrase::listing(rng, 2);
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let entries = json!([
        {"type": "message", "id": "user-1", "role": "user", "content": text(asked), "createdAt": MORNING},
        {"type": "reasoning", "id": "reasoning-1", "text": thought, "summary": [], "createdAt": MORNING + 1000},
        {"type": "effect", "id": "effect-1", "title": "bash", "createdAt": MORNING + 2000,
            "detail": {"kind": "tool", "toolName": "file_system.bash", "input": {"command": "ls"}},
            "state": {"status": "completed", "outputText": "", "display": {"success": true}, "output": {"type": "success", "content": [], "structured_content": {"stdout": listing}}}},
        {"type": "message", "id": "assistant-1", "role": "assistant", "content": text(answered), "createdAt": MORNING + 3000},
    ]);
    let context = json!([
        {"message": {"role": "user", "content": text(asked)}, "source": "history"},
        {"message": {"role": "assistant", "content": [{"type": "tool_call", "id": call, "name": "bash", "arguments": {"type": "json", "raw": "{\"command\": \"ls\"}", "value": {"command": "ls"}}}]}, "source": "history"},
        {"message": {"role": "tool", "content": text(&listing), "name": "bash", "outcome": "success", "tool_call_id": call}, "source": "history"},
        {"message": {"role": "assistant", "content": text(answered)}, "source": "history"},
    ]);
    let session = json!({"id": id, "createdAt": MORNING, "updatedAt": MORNING + 9000, "title": "A red build", "tokenUsage": {"inputTokens": 2400, "cachedInputTokens": 2000, "outputTokens": 60}});
    let folder = format!("logs/session/unified/{id}");
    let generation = format!("{folder}/generations/0000000000000021");
    let (first, second) = (rng.hex(64), rng.hex(64));
    let manifest = json!({
        "manifest_version": 1, "generation": "0000000000000021", "snapshot_sequence": 21, "session_id": id,
        "projection_state": {"path": "projection-state.json", "chunks": [first]},
        "checkpoint": {"path": "checkpoint.json", "chunks": [second]},
        "recovery_journal_segment": {"first_sequence": 22, "path": "journal/0000000000000022.jsonl"},
    });
    let mut journal = JsonlLines::new();
    journal.push(
        &json!({"sequence": 22, "type": "command_reserved", "payload": {"method": "turn/start"}}),
    );
    journal.push(&json!({"sequence": 23, "type": "projection_delta", "payload": {"delta": [
        {"op": "append_entry", "entry": {"type": "message", "id": "user-2", "role": "user", "content": text(phrase::asked(rng)), "createdAt": MORNING + 8000}},
        {"op": "set_envelope", "state": {}},
    ]}}));
    let main = format!("{folder}/CURRENT");
    let mut files = FileList::new();
    let current = json!({"generation": "0000000000000021", "session_id": id, "snapshot_sequence": 21, "store_format": "mistral.vibe.unified-session-store/v1", "store_format_minor": 9});
    files.add(&main, current.to_string());
    files.add(format!("{generation}/manifest.json"), manifest.to_string());
    let projection = json!({"snapshot": {"session": session, "history": {"entries": []}}});
    files.add(
        format!("{generation}/projection-state.json"),
        projection.to_string(),
    );
    files.add(
        format!("{generation}/checkpoint.json"),
        json!({"context": {"messages": []}}).to_string(),
    );
    files.add(format!("{folder}/chunks/{first}.json"), entries.to_string());
    files.add(
        format!("{folder}/chunks/{second}.json"),
        context.to_string(),
    );
    files.add(
        format!("{folder}/journal/0000000000000022.jsonl"),
        journal.into_bytes(),
    );
    let meta = json!({"session_id": id, "start_time": iso(MORNING), "environment": {"working_directory": cwd}, "config": {"model_name": "devstral"}});
    files.add(format!("{folder}/meta.json"), meta.to_string());
    Made {
        title: Some("A red build".to_owned()),
        ..made(&id, cwd, &main, files)
    }
}
