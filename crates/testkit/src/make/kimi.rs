//! Sessions of Kimi Code and of its predecessor kimi-cli.
//!
//! Paths are below `~/.kimi-code` and `~/.kimi`.

use serde_json::{Value, json};

use crate::clock::{MORNING, ManualClock};
use crate::files::{FileList, Made};
use crate::jsonl::JsonlLines;
use crate::phrase;
use crate::rng::Rng;

/// What a session of Kimi Code demonstrates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KimiShape {
    /// Prompts, calls and answers in steps, with reminders and repeated messages.
    Plain,
    /// A turn that was undone.
    Undone,
    /// A compaction.
    Compacted,
    /// A context that was emptied.
    Cleared,
    /// A session with a subagent.
    Subagent,
}

impl KimiShape {
    /// Every shape.
    pub const ALL: &'static [KimiShape] = &[
        KimiShape::Plain,
        KimiShape::Undone,
        KimiShape::Compacted,
        KimiShape::Cleared,
        KimiShape::Subagent,
    ];
}

struct Wire {
    rng: Rng,
    clock: ManualClock,
    lines: JsonlLines,
    messages: usize,
}

impl Wire {
    fn push(&mut self, mut record: Value) {
        let step = 10 + self.rng.below(900) as i64;
        self.clock.tick(step);
        record["time"] = json!(self.clock.ms());
        self.lines.push(&record);
    }

    fn message(&mut self, role: &str, text: &str, origin: &str) {
        self.messages += 1;
        let message = json!({
            "role": role, "content": [{"type": "text", "text": text}], "toolCalls": [],
            "origin": {"kind": origin},
        });
        self.push(json!({"type": "context.append_message", "agentId": "main", "message": message}));
    }

    fn ask(&mut self) {
        let text = phrase::asked(&mut self.rng);
        self.push(json!({"type": "turn.prompt", "input": [{"type": "text", "text": text}], "origin": {"kind": "user"}}));
        self.message("user", text, "user");
        let copy =
            json!({"message": {"role": "user", "content": [{"type": "text", "text": text}]}});
        self.push(json!({"type": "agent.message.appended", "kind": "event", "message": copy}));
        self.message(
            "user",
            "<system-reminder>\nToday.\n</system-reminder>",
            "injection",
        );
    }

    fn event(&mut self, event: Value) {
        self.push(json!({"type": "context.append_loop_event", "agentId": "main", "event": event}));
    }

    fn step(&mut self, calls: bool) {
        let step = self.rng.uuid_v4();
        self.event(json!({"type": "step.begin", "uuid": step}));
        let thought = phrase::thought(&mut self.rng);
        self.event(json!({"type": "content.part", "stepUuid": step, "part": {"type": "think", "think": thought}}));
        let usage = json!({"inputOther": 200, "output": 30, "inputCacheRead": 1000, "inputCacheCreation": 0});
        self.push(json!({"type": "usage.record", "model": "kimi-k2", "usage": usage, "usageScope": "turn"}));
        self.messages += 1;
        if calls {
            let id = format!("call_{}", self.rng.hex(4));
            self.event(json!({"type": "tool.call", "stepUuid": step, "toolCallId": id, "name": "Bash", "args": {"command": "ls"}}));
            let output = phrase::listing(&mut self.rng, 2);
            self.event(
                json!({"type": "tool.result", "toolCallId": id, "result": {"output": output}}),
            );
            self.messages += 1;
        } else {
            let said = phrase::answered(&mut self.rng);
            self.event(json!({"type": "content.part", "stepUuid": step, "part": {"type": "text", "text": said}}));
        }
        self.event(
            json!({"type": "step.end", "uuid": step, "finishReason": "end_turn", "usage": usage}),
        );
    }

    /// Appends what a shape demonstrates after the first turn.
    fn go_on(&mut self, shape: KimiShape) {
        match shape {
            KimiShape::Undone => {
                self.ask();
                self.step(false);
                self.push(json!({"type": "context.undo", "count": 1}));
                self.ask();
                self.step(false);
            }
            KimiShape::Compacted => {
                let count = self.messages;
                self.push(json!({"type": "context.apply_compaction", "summary": "So far: a test was red.", "compactedCount": count}));
                self.ask();
                self.step(false);
            }
            KimiShape::Cleared => {
                self.push(json!({"type": "context.clear"}));
                self.ask();
                self.step(false);
            }
            KimiShape::Plain | KimiShape::Subagent => {}
        }
    }
}

/// Adds the files beside the main one: a state, a subagent, the index of sessions.
fn add_side_files(files: &mut FileList, shape: KimiShape, (folder, id): (&str, &str), cwd: &str) {
    let state = json!({"id": id, "version": 2, "cwd": cwd, "archived": false, "title": "A red build", "isCustomTitle": true});
    files.add(format!("{folder}/state.json"), state.to_string());
    if shape == KimiShape::Subagent {
        let mut lines = JsonlLines::new();
        lines.push(&json!({"type": "metadata", "protocol_version": "1.5", "created_at": MORNING}));
        files.add(
            format!("{folder}/agents/agent-0/wire.jsonl"),
            lines.into_bytes(),
        );
    }
    let row = json!({"sessionId": id, "sessionDir": folder, "workDir": cwd});
    files.add("session_index.jsonl", format!("{row}\n"));
}

/// Creates a session of Kimi Code.
pub fn session(shape: KimiShape, cwd: &str, seed: u64) -> Made {
    let mut rng = Rng::for_part(seed, &format!("kimi {shape:?}"));
    let id = format!("session_{}", rng.uuid_v4());
    let mut wire = Wire {
        rng,
        clock: ManualClock::at(MORNING),
        lines: JsonlLines::new(),
        messages: 0,
    };
    wire.lines.push(
        &json!({"type": "metadata", "protocol_version": "1.5", "created_at": wire.clock.ms()}),
    );
    wire.push(
        json!({"type": "profile.bind", "modelAlias": "kimi-k2", "systemPrompt": "You are Kimi."}),
    );
    wire.ask();
    wire.step(true);
    wire.step(false);
    wire.go_on(shape);
    let folder = format!("sessions/wd_app_0123456789ab/{id}");
    let main = format!("{folder}/agents/main/wire.jsonl");
    let mut files = FileList::new();
    files.add(&main, wire.lines.into_bytes());
    add_side_files(&mut files, shape, (&folder, &id), cwd);
    Made {
        id,
        project: cwd.to_owned(),
        title: Some("A red build".to_owned()),
        main,
        files,
    }
}

/// Returns the context of a session of kimi-cli.
fn cli_context(rng: &mut Rng) -> JsonlLines {
    let call = format!("call_{}", rng.hex(4));
    let mut lines = JsonlLines::new();
    lines.push(&json!({"role": "_system_prompt", "content": "You are Kimi."}));
    lines.push(&json!({"role": "_checkpoint", "id": 0}));
    lines.push(&json!({"role": "user", "content": phrase::asked(rng)}));
    lines.push(&json!({"role": "user", "content": "<system-reminder>\nYou are alone.\n</system-reminder>"}));
    lines.push(&json!({"role": "_usage", "token_count": 1200}));
    let function = json!({"name": "Shell", "arguments": "{\"command\": \"ls\"}"});
    lines.push(&json!({"role": "assistant", "content": [], "tool_calls": [{"type": "function", "id": call, "function": function}]}));
    let output = phrase::listing(rng, 2);
    lines.push(&json!({"role": "tool", "content": [{"type": "text", "text": output}], "tool_call_id": call}));
    lines.push(&json!({"role": "assistant", "content": [
        {"type": "think", "think": phrase::thought(rng), "encrypted": null},
        {"type": "text", "text": phrase::answered(rng)},
    ]}));
    lines
}

/// Returns the events of a session of kimi-cli, with the tokens.
fn cli_wire() -> JsonlLines {
    let usage = json!({"input_other": 200, "output": 30, "input_cache_read": 1000, "input_cache_creation": 0});
    let mut wire = JsonlLines::new();
    wire.push(&json!({"type": "metadata", "protocol_version": "1.8"}));
    wire.push(&json!({"timestamp": 1_767_600_000.5, "message": {"type": "StatusUpdate", "payload": {"token_usage": usage, "message_id": "chatcmpl-1"}}}));
    wire
}

/// Creates a session of kimi-cli; a rotated one has an older context beside it.
pub fn cli_session(is_rotated: bool, cwd: &str, seed: u64) -> Made {
    let mut rng = Rng::for_part(seed, &format!("kimi-cli {is_rotated}"));
    let id = rng.uuid_v4();
    let bytes = cli_context(&mut rng).into_bytes();
    let folder = format!("sessions/00112233445566778899aabbccddeeff/{id}");
    let main = format!("{folder}/context.jsonl");
    let mut files = FileList::new();
    if is_rotated {
        files.add(format!("{folder}/context_1.jsonl"), bytes.clone());
    }
    files.add(&main, bytes);
    files.add(format!("{folder}/wire.jsonl"), cli_wire().into_bytes());
    files.add(
        format!("{folder}/state.json"),
        json!({"version": 1, "custom_title": "A red build"}).to_string(),
    );
    files.add(
        "kimi.json",
        json!({"work_dirs": [{"path": cwd, "kaos": "local"}]}).to_string(),
    );
    Made {
        id,
        project: String::new(),
        title: Some("A red build".to_owned()),
        main,
        files,
    }
}
