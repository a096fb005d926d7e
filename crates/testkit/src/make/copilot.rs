//! Sessions of GitHub Copilot CLI: a log of events in a folder of its own.
//!
//! Paths are below `~/.copilot`.

use serde_json::{Value, json};

use crate::clock::{MORNING, ManualClock};
use crate::files::{FileList, Made};
use crate::jsonl::JsonlLines;
use crate::phrase;
use crate::rng::Rng;

/// What a session demonstrates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopilotShape {
    /// Prompts, calls and answers, with records of tokens.
    Plain,
    /// A compaction.
    Compacted,
    /// A rewind.
    Rewound,
    /// Messages of a subagent between those of the session.
    Subagent,
    /// A flat file of an older version, with totals at its end only.
    Flat,
}

impl CopilotShape {
    /// Every shape.
    pub const ALL: &'static [CopilotShape] = &[
        CopilotShape::Plain,
        CopilotShape::Compacted,
        CopilotShape::Rewound,
        CopilotShape::Subagent,
        CopilotShape::Flat,
    ];
}

struct Chat {
    rng: Rng,
    clock: ManualClock,
    lines: JsonlLines,
    last: Option<String>,
    counts: bool,
}

impl Chat {
    fn event(&mut self, kind: &str, data: Value) -> String {
        let id = self.rng.uuid_v4();
        let step = 20 + self.rng.below(2_000) as i64;
        self.lines.push(&json!({
            "type": kind, "data": data, "id": id, "timestamp": self.clock.tick(step),
            "parentId": self.last,
        }));
        self.last = Some(id.clone());
        id
    }

    fn ask(&mut self) -> String {
        let text = phrase::asked(&mut self.rng);
        let sent = format!("<current_datetime>2026-01-05T08:00:00Z</current_datetime>\n\n{text}");
        self.event(
            "user.message",
            json!({"content": text, "transformedContent": sent}),
        )
    }

    fn answer(&mut self, requests: Value, parent: Option<&str>) {
        self.event("assistant.turn_start", json!({"turnId": "0"}));
        let call = format!("chatcmpl-{}", self.rng.hex(6));
        if self.counts {
            let usage = json!({
                "model": "gpt-4.1", "inputTokens": 1200, "outputTokens": 30, "cacheReadTokens": 1000,
                "cacheWriteTokens": 0, "reasoningTokens": 10, "cost": 1.0, "apiCallId": call,
            });
            self.event("session.usage_record", json!({"usage": usage}));
        }
        let said = match requests.as_array().is_some_and(|list| list.is_empty()) {
            true => phrase::answered(&mut self.rng),
            false => "",
        };
        let mut data = json!({
            "messageId": self.rng.uuid_v4(), "model": "gpt-4.1", "content": said,
            "toolRequests": requests, "reasoningText": phrase::thought(&mut self.rng),
        });
        if !self.counts {
            data["outputTokens"] = json!(30);
        }
        if let Some(parent) = parent {
            data["parentToolCallId"] = json!(parent);
        }
        self.event("assistant.message", data);
    }

    fn call(&mut self) -> String {
        let id = format!("call_{}", self.rng.hex(6));
        let request = json!({"toolCallId": id, "name": "bash", "arguments": {"command": "ls"}, "type": "function"});
        self.answer(json!([request]), None);
        self.event(
            "tool.execution_start",
            json!({"toolCallId": id, "toolName": "bash", "arguments": {"command": "ls"}}),
        );
        id
    }

    fn result(&mut self, id: &str) {
        let listing = phrase::listing(&mut self.rng, 2);
        self.event(
            "tool.execution_complete",
            json!({"toolCallId": id, "success": true, "result": {"content": listing}}),
        );
        self.event("assistant.turn_end", json!({"turnId": "0"}));
    }

    /// Appends the start of a session.
    fn start(&mut self, id: &str, cwd: &str) {
        let start = self.clock.iso();
        self.event(
            "session.start",
            json!({
                "sessionId": id, "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.102",
                "startTime": start, "selectedModel": "gpt-4.1", "context": {"cwd": cwd, "branch": "main"},
            }),
        );
    }

    /// Appends the answer of a subagent that a call started.
    fn delegate(&mut self, call: &str) {
        self.event(
            "subagent.started",
            json!({"toolCallId": call, "agentName": "explore"}),
        );
        self.answer(json!([]), Some(call));
        self.event(
            "subagent.completed",
            json!({"toolCallId": call, "agentName": "explore"}),
        );
    }
}

/// Creates a session of a shape.
pub fn session(shape: CopilotShape, cwd: &str, seed: u64) -> Made {
    let mut rng = Rng::for_part(seed, &format!("copilot {shape:?}"));
    let id = rng.uuid_v4();
    let mut chat = Chat {
        rng,
        clock: ManualClock::at(MORNING),
        lines: JsonlLines::new(),
        last: None,
        counts: shape != CopilotShape::Flat,
    };
    chat.start(&id, cwd);
    chat.ask();
    let call = chat.call();
    if shape == CopilotShape::Subagent {
        chat.delegate(&call);
    }
    chat.result(&call);
    chat.answer(json!([]), None);
    more(shape, &mut chat);
    let mut files = FileList::new();
    let main = match shape {
        CopilotShape::Flat => format!("session-state/{id}.jsonl"),
        _ => format!("session-state/{id}/events.jsonl"),
    };
    files.add(&main, chat.lines.into_bytes());
    let title = (shape != CopilotShape::Flat).then(|| "A red build".to_owned());
    if title.is_some() {
        let yaml = format!("id: {id}\ncwd: {cwd}\nname: A red build\nuser_named: true\n");
        files.add(format!("session-state/{id}/workspace.yaml"), yaml);
    }
    Made {
        id,
        project: cwd.to_owned(),
        title,
        main,
        files,
    }
}

fn more(shape: CopilotShape, chat: &mut Chat) {
    match shape {
        CopilotShape::Compacted => {
            let summary = json!({"success": true, "summaryContent": "So far: a test was red.", "checkpointNumber": 1});
            chat.event("session.compaction_complete", summary);
            chat.ask();
            chat.answer(json!([]), None);
        }
        CopilotShape::Rewound => {
            let asked = chat.ask();
            chat.answer(json!([]), None);
            chat.event(
                "session.snapshot_rewind",
                json!({"upToEventId": asked, "eventsRemoved": 3}),
            );
            chat.ask();
            chat.answer(json!([]), None);
        }
        CopilotShape::Flat => {
            let usage = json!({"inputTokens": 2400, "outputTokens": 60, "cacheReadTokens": 2000, "cacheWriteTokens": 0});
            let metrics = json!({"gpt-4.1": {"requests": {"count": 2}, "usage": usage}});
            chat.event(
                "session.shutdown",
                json!({"shutdownType": "routine", "modelMetrics": metrics}),
            );
        }
        _ => {}
    }
}
