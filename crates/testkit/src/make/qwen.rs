//! Sessions of Qwen Code: a tree of records in lines.
//!
//! Paths are below `~/.qwen`.

use serde_json::{Value, json};

use crate::clock::{MORNING, ManualClock};
use crate::files::{FileList, Made};
use crate::jsonl::JsonlLines;
use crate::phrase;
use crate::rng::Rng;

/// What a session demonstrates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QwenShape {
    /// Prompts, calls and answers, with telemetry between them.
    Plain,
    /// A rewind to the first prompt, and a title.
    Rewound,
    /// A compression.
    Compressed,
    /// A message in two records with one id, and artifacts behind the last message.
    Fragments,
    /// An archived session.
    Archived,
}

impl QwenShape {
    /// Every shape.
    pub const ALL: &'static [QwenShape] = &[
        QwenShape::Plain,
        QwenShape::Rewound,
        QwenShape::Compressed,
        QwenShape::Fragments,
        QwenShape::Archived,
    ];
}

struct Chat {
    rng: Rng,
    clock: ManualClock,
    lines: JsonlLines,
    id: String,
    cwd: String,
    last: Option<String>,
}

impl Chat {
    fn push(&mut self, kind: &str, more: Value) -> String {
        let uuid = self.rng.uuid_v4();
        self.push_as(&uuid, kind, more);
        uuid
    }

    fn push_as(&mut self, uuid: &str, kind: &str, more: Value) {
        let step = 50 + self.rng.below(3_000) as i64;
        let mut record = json!({
            "uuid": uuid, "parentUuid": self.last, "sessionId": self.id,
            "timestamp": self.clock.tick(step), "type": kind, "cwd": self.cwd,
            "version": "0.15.10",
        });
        super::merge(&mut record, more);
        self.lines.push(&record);
        self.last = Some(uuid.to_owned());
    }

    fn ask(&mut self) -> String {
        let text = phrase::asked(&mut self.rng);
        self.push(
            "user",
            json!({"message": {"role": "user", "parts": [{"text": text}]}}),
        )
    }

    fn answer(&mut self) -> String {
        let (thought, said) = (
            phrase::thought(&mut self.rng),
            phrase::answered(&mut self.rng),
        );
        let parts = json!([{"text": thought, "thought": true}, {"text": said}]);
        self.push(
            "assistant",
            json!({
                "model": "qwen3-coder-plus", "message": {"role": "model", "parts": parts},
                "usageMetadata": {"promptTokenCount": 1200, "candidatesTokenCount": 30, "thoughtsTokenCount": 10,
                    "totalTokenCount": 1230, "cachedContentTokenCount": 1000},
            }),
        )
    }

    fn call(&mut self) {
        let id = format!("call_{}", self.rng.hex(6));
        let call = json!({"functionCall": {"id": id, "name": "run_shell_command", "args": {"command": "ls"}}});
        self.push(
            "assistant",
            json!({"model": "qwen3-coder-plus", "message": {"role": "model", "parts": [call]}}),
        );
        let event =
            json!({"event.name": "qwen-code.tool_call", "function_name": "run_shell_command"});
        self.push(
            "system",
            json!({"subtype": "ui_telemetry", "systemPayload": {"uiEvent": event}}),
        );
        let output = phrase::listing(&mut self.rng, 3);
        let response = json!({"functionResponse": {"id": id, "name": "run_shell_command", "response": {"output": output}}});
        self.push(
            "tool_result",
            json!({
                "message": {"role": "user", "parts": [response]},
                "toolCallResult": {"callId": id, "status": "success", "resultDisplay": "listed"},
            }),
        );
    }

    fn system(&mut self, subtype: &str, payload: Value) {
        self.push(
            "system",
            json!({"subtype": subtype, "systemPayload": payload}),
        );
    }

    /// Appends a compression.
    fn compress(&mut self) {
        let history = json!([
            {"role": "user", "parts": [{"text": "So far: a test was red."}]},
            {"role": "model", "parts": [{"text": "Understood."}]},
        ]);
        self.system(
            "chat_compression",
            json!({"info": {"originalTokenCount": 9000}, "compressedHistory": history}),
        );
    }

    /// Appends a message in two records with one id, and artifacts.
    fn fragments(&mut self) {
        let parent = self.last.clone();
        let uuid = self.rng.uuid_v4();
        for text in ["The first half", "and the second."] {
            self.last.clone_from(&parent);
            let message = json!({"role": "model", "parts": [{"text": text}]});
            self.push_as(&uuid, "assistant", json!({"message": message}));
        }
        self.system("session_artifact_snapshot", json!({"summary": "aside"}));
    }

    /// Appends what a shape demonstrates after the first turn.
    fn go_on(&mut self, shape: QwenShape, first: String) {
        match shape {
            QwenShape::Rewound => {
                self.last = Some(first);
                self.system("rewind", json!({"truncatedCount": 4}));
                self.ask();
                self.answer();
                self.system(
                    "custom_title",
                    json!({"customTitle": "A red build", "titleSource": "manual"}),
                );
            }
            QwenShape::Compressed => {
                self.compress();
                self.ask();
                self.answer();
            }
            QwenShape::Fragments => {
                self.fragments();
            }
            QwenShape::Plain | QwenShape::Archived => {}
        }
    }
}

/// Creates a session of a shape.
pub fn session(shape: QwenShape, cwd: &str, seed: u64) -> Made {
    let mut rng = Rng::for_part(seed, &format!("qwen {shape:?}"));
    let id = rng.uuid_v4();
    let mut chat = Chat {
        rng,
        clock: ManualClock::at(MORNING),
        lines: JsonlLines::new(),
        id: id.clone(),
        cwd: cwd.to_owned(),
        last: None,
    };
    let first = chat.ask();
    chat.call();
    chat.answer();
    chat.go_on(shape, first);
    let title = (shape == QwenShape::Rewound).then(|| "A red build".to_owned());
    let key: String = cwd
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let folder = match shape {
        QwenShape::Archived => "chats/archive",
        _ => "chats",
    };
    let main = format!("projects/{key}/{folder}/{id}.jsonl");
    let mut files = FileList::new();
    files.add(&main, chat.lines.into_bytes());
    Made {
        id,
        project: cwd.to_owned(),
        title,
        main,
        files,
    }
}
