//! Sessions of Gemini CLI: logs of operations, and documents of older versions.
//!
//! Paths are below `~/.gemini`.

use serde_json::{Value, json};

use crate::clock::{MORNING, ManualClock};
use crate::files::{FileList, Made};
use crate::jsonl::JsonlLines;
use crate::phrase;
use crate::rng::Rng;

/// What a session demonstrates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeminiShape {
    /// Prompts and answers.
    Plain,
    /// A call whose message is written twice, and its result.
    Tools,
    /// A rewind.
    Rewound,
    /// A compression, which replaces all messages.
    Compressed,
    /// A session that was resumed, with the empty file that makes the program delete it.
    Resumed,
    /// A document of an older version.
    Document,
    /// The log of a subagent.
    Subagent,
}

impl GeminiShape {
    /// Every shape.
    pub const ALL: &'static [GeminiShape] = &[
        GeminiShape::Plain,
        GeminiShape::Tools,
        GeminiShape::Rewound,
        GeminiShape::Compressed,
        GeminiShape::Resumed,
        GeminiShape::Document,
        GeminiShape::Subagent,
    ];
}

struct Chat {
    rng: Rng,
    clock: ManualClock,
    records: Vec<Value>,
    messages: Vec<Value>,
}

impl Chat {
    fn message(&mut self, kind: &str, content: Value) -> Value {
        let step = 200 + self.rng.below(4_000) as i64;
        json!({
            "id": self.rng.uuid_v4(), "timestamp": self.clock.tick(step), "type": kind,
            "content": content,
        })
    }

    fn say(&mut self, message: Value) {
        let updated = message["timestamp"].clone();
        self.messages.push(message.clone());
        self.records.push(message);
        self.records.push(json!({"$set": {"lastUpdated": updated}}));
    }

    fn ask(&mut self) {
        let text = phrase::asked(&mut self.rng);
        let message = self.message("user", json!([{"text": text}]));
        self.say(message);
    }

    fn answer(&mut self) {
        let text = phrase::answered(&mut self.rng);
        let mut message = self.message("gemini", json!(text));
        let (sent, cached) = (900 + self.rng.below(900), self.rng.below(800));
        message["thoughts"] = json!([{
            "subject": "Looking", "description": phrase::thought(&mut self.rng),
            "timestamp": message["timestamp"],
        }]);
        message["tokens"] = json!({
            "input": sent, "output": 40, "cached": cached, "thoughts": 7, "tool": 0,
            "total": sent + 47,
        });
        message["model"] = json!("gemini-2.5-pro");
        self.say(message);
    }

    fn call(&mut self) {
        let id = format!("run_shell_command__fc_{}", self.rng.hex(4));
        let mut message = self.message("gemini", json!(""));
        message["model"] = json!("gemini-2.5-pro");
        message["tokens"] = json!({"input": 1200, "output": 30, "cached": 1000, "thoughts": 10, "tool": 0, "total": 1240});
        self.say(message.clone());
        let output = phrase::listing(&mut self.rng, 3);
        let response = json!({"functionResponse": {
            "id": id, "name": "run_shell_command", "response": {"output": output},
        }});
        message["toolCalls"] = json!([{
            "id": id, "name": "run_shell_command", "args": {"command": "ls"}, "status": "success",
            "result": [response], "resultDisplay": output, "timestamp": self.clock.iso(),
        }]);
        self.messages.pop();
        self.say(message);
        let result = self.message("user", json!([response]));
        self.say(result);
    }

    fn snapshot(&mut self, messages: Value) {
        let updated = self.clock.tick(10);
        self.records
            .push(json!({"$set": {"messages": messages, "lastUpdated": updated}}));
    }
}

fn context(rng: &mut Rng, cwd: &str) -> Value {
    let text = format!(
        "<session_context>\nThis is the Gemini CLI.\n- **Workspace Directories:**\n  - {cwd}\n</session_context>"
    );
    json!([{"id": rng.hex(32), "timestamp": "2026-01-05T08:00:00.000Z", "type": "user", "content": [{"text": text}]}])
}

/// Returns the path of the file of a session.
fn path(shape: GeminiShape, id: &str) -> String {
    let short = &id[..8];
    match shape {
        GeminiShape::Document => format!("tmp/app/chats/session-2026-01-05T08-00-{short}.json"),
        GeminiShape::Subagent => format!("tmp/app/chats/0f0f0f0f-parent/{id}.jsonl"),
        _ => format!("tmp/app/chats/session-2026-01-05T08-00-{short}.jsonl"),
    }
}

/// Returns the bytes of a session: a document, or a log of operations.
fn written(shape: GeminiShape, mut header: Value, chat: &Chat) -> Vec<u8> {
    if shape == GeminiShape::Document {
        header["messages"] = json!(chat.messages);
        return serde_json::to_vec_pretty(&header).unwrap_or_default();
    }
    let mut lines = JsonlLines::new();
    lines.push(&header);
    chat.records.iter().for_each(|record| lines.push(record));
    lines.into_bytes()
}

/// Creates a session of a shape.
pub fn session(shape: GeminiShape, cwd: &str, seed: u64) -> Made {
    let mut rng = Rng::for_part(seed, &format!("gemini {shape:?}"));
    let (id, hash) = (rng.uuid_v4(), rng.hex(64));
    let mut chat = Chat {
        rng,
        clock: ManualClock::at(MORNING),
        records: Vec::new(),
        messages: Vec::new(),
    };
    let kind = match shape {
        GeminiShape::Subagent => "subagent",
        _ => "main",
    };
    let start = chat.clock.iso();
    let header = json!({
        "sessionId": id, "projectHash": hash, "startTime": start, "lastUpdated": start, "kind": kind,
    });
    if shape != GeminiShape::Document {
        let injected = context(&mut chat.rng, cwd);
        chat.snapshot(injected);
    }
    talk(shape, &mut chat);
    let mut files = FileList::new();
    files.add(
        "projects.json",
        json!({"projects": {cwd: "app"}}).to_string(),
    );
    let short = &id[..8];
    let main = path(shape, &id);
    if shape == GeminiShape::Resumed {
        let mut stub = JsonlLines::new();
        stub.push(&header);
        stub.push(&json!({"$set": {"messages": context(&mut chat.rng, cwd)}}));
        let path = format!("tmp/app/chats/session-2026-01-05T09-30-{short}.jsonl");
        files.add(&path, stub.into_bytes());
    }
    files.add(&main, written(shape, header, &chat));
    Made {
        id,
        project: cwd.to_owned(),
        title: None,
        main,
        files,
    }
}

fn talk(shape: GeminiShape, chat: &mut Chat) {
    chat.ask();
    if matches!(
        shape,
        GeminiShape::Tools | GeminiShape::Resumed | GeminiShape::Compressed
    ) {
        chat.call();
    }
    chat.answer();
    match shape {
        GeminiShape::Rewound => {
            chat.ask();
            let asked = chat.messages[2]["id"].clone();
            chat.answer();
            chat.records.push(json!({"$rewindTo": asked}));
            chat.ask();
            chat.answer();
        }
        GeminiShape::Compressed => {
            let summary = chat.message("user", json!([{"text": "So far: a test was red."}]));
            let kept = chat.messages.last().cloned().unwrap_or_default();
            chat.snapshot(json!([summary, kept]));
            chat.ask();
            chat.answer();
        }
        GeminiShape::Resumed => {
            let all = json!(chat.messages);
            chat.snapshot(all);
            chat.ask();
            chat.answer();
        }
        GeminiShape::Plain => {
            let info = chat.message("info", json!("Request cancelled."));
            chat.say(info);
            chat.records
                .push(json!({"$set": {"summary": "A red build"}}));
        }
        _ => {}
    }
}
