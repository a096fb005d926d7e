//! Builds one pi-family log entry by entry, and tracks ids, parents, times and blobs.

use serde_json::{Value, json};

use crate::clock::{MORNING, ManualClock};
use crate::jsonl::JsonlLines;
use crate::make::pi::{PiFlavour, snowflake};
use crate::make::value::{merge, money};
use crate::rng::Rng;
use crate::{base64, phrase, sha256};

/// A log under construction.
#[derive(Clone, Debug)]
pub struct PiSession {
    /// The program of the family.
    pub flavour: PiFlavour,
    /// The session's id.
    pub id: String,
    /// The project folder in its header.
    pub cwd: String,
    /// Creation time.
    pub created: i64,
    /// Random numbers of this session.
    pub rng: Rng,
    /// Clock of this session.
    pub clock: ManualClock,
    /// The parent of the next entry.
    pub leaf: Option<String>,
    /// Ids of all entries, in file order.
    pub ids: Vec<String>,
    /// Images that are stored as blobs, by hash.
    pub blobs: Vec<(String, Vec<u8>)>,
    lines: JsonlLines,
}

impl PiSession {
    /// Starts a log without any line; the header comes with [`PiSession::header`].
    pub fn start(flavour: PiFlavour, cwd: &str, seed: u64) -> PiSession {
        let mut rng = Rng::for_part(seed, flavour.name());
        let created = MORNING + 60_000 * (rng.below(30 * 24 * 60) as i64) + rng.below(1000) as i64;
        let id = match flavour {
            PiFlavour::Pi => rng.uuid_v4(),
            PiFlavour::Omp => rng.nanoid(21),
            PiFlavour::Xcsh => snowflake(created, rng.next_u64()),
        };
        let (lines, leaf, ids, blobs) = (JsonlLines::new(), None, Vec::new(), Vec::new());
        PiSession {
            flavour,
            id,
            cwd: cwd.to_owned(),
            created,
            rng,
            clock: ManualClock::at(created),
            leaf,
            ids,
            blobs,
            lines,
        }
    }

    /// Writes the header: with no version it is a file of version 1.
    pub fn header(&mut self, version: Option<u32>, more: Value) {
        let mut header = json!({"type": "session"});
        if let Some(version) = version {
            header["version"] = json!(version);
        }
        merge(
            &mut header,
            json!({"id": self.id, "timestamp": self.clock.iso(), "cwd": self.cwd}),
        );
        merge(&mut header, more);
        self.lines.push(&header);
    }

    /// Writes the header of version 3, with a title if the flavour stores it there.
    pub fn header_v3(&mut self, title: Option<&str>) {
        let more = match (self.flavour, title) {
            (PiFlavour::Xcsh, Some(title)) => json!({"title": title, "titleSource": "user"}),
            (PiFlavour::Omp, Some(title)) => json!({"title": title}),
            _ => json!({}),
        };
        self.header(Some(3), more);
        if let (PiFlavour::Pi, Some(title)) = (self.flavour, title) {
            self.entry("session_info", json!({"name": title}));
        }
    }

    /// Writes a line of any content.
    pub fn text(&mut self, line: &str) {
        self.lines.push_text(line);
    }

    /// Returns an id in the form of this flavour's entries.
    pub fn fresh_id(&mut self) -> String {
        if self.flavour == PiFlavour::Omp {
            self.rng.nanoid(8)
        } else {
            self.rng.hex(8)
        }
    }

    /// Adds an entry as a child of the leaf, moves the leaf to it, and returns its id.
    pub fn entry(&mut self, kind: &str, fields: Value) -> String {
        let id = self.fresh_id();
        self.entry_with_id(&id, kind, fields);
        id
    }

    /// Adds an entry with an id chosen by the caller.
    pub fn entry_with_id(&mut self, id: &str, kind: &str, fields: Value) {
        let step = 200 + self.rng.below(9_000) as i64;
        let timestamp = self.clock.tick(step);
        let mut line = json!({"type": kind});
        let place = json!({"id": id, "parentId": self.leaf, "timestamp": timestamp});
        // The agents write an extension's own fields first; readers must not rely on the order.
        if kind == "custom" || kind == "custom_message" {
            merge(&mut line, fields);
            merge(&mut line, place);
        } else {
            merge(&mut line, place);
            merge(&mut line, fields);
        }
        self.lines.push(&line);
        self.leaf = Some(id.to_owned());
        self.ids.push(id.to_owned());
    }

    /// Adds an entry of version 1, which has neither id nor parent.
    pub fn bare_entry(&mut self, kind: &str, fields: Value) {
        let step = 200 + self.rng.below(9_000) as i64;
        let mut line = json!({"type": kind, "timestamp": self.clock.tick(step)});
        merge(&mut line, fields);
        self.lines.push(&line);
    }

    /// Adds a message entry around a message.
    pub fn message(&mut self, message: Value) -> String {
        self.entry("message", json!({"message": message}))
    }

    /// Moves the leaf, as navigating does: nothing is written.
    pub fn move_leaf(&mut self, id: Option<&str>) {
        self.leaf = id.map(str::to_owned);
    }

    /// Returns a user message.
    pub fn user_message(&mut self, text: &str) -> Value {
        json!({"role": "user", "content": [{"type": "text", "text": text}], "timestamp": self.clock.ms()})
    }

    /// Returns an assistant message with content blocks.
    pub fn assistant_message(&mut self, content: Value, stop: &str) -> Value {
        let usage = self.usage();
        json!({
            "role": "assistant", "content": content, "api": "anthropic-messages", "provider": "anthropic",
            "model": "claude-sonnet-4-5", "usage": usage, "stopReason": stop, "timestamp": self.clock.ms(),
        })
    }

    /// Returns the usage of one message.
    pub fn usage(&mut self) -> Value {
        let [input, output, read, write] =
            [900, 1_800, 90_000, 9_000].map(|most| self.rng.below(most) + 1);
        let [a, b, c, d] = std::array::from_fn(|_| money(&mut self.rng));
        json!({
            "input": input, "output": output, "cacheRead": read, "cacheWrite": write,
            "totalTokens": input + output + read + write,
            "cost": {"input": a, "output": b, "cacheRead": c, "cacheWrite": d, "total": a + b + c + d},
        })
    }

    /// Adds a prompt.
    pub fn user(&mut self, text: &str) -> String {
        let message = self.user_message(text);
        self.message(message)
    }

    /// Adds a plain assistant message.
    pub fn assistant(&mut self, text: &str) -> String {
        let message = self.assistant_message(json!([{"type": "text", "text": text}]), "stop");
        self.message(message)
    }

    /// Adds a prompt and its reply, with random words; returns both ids.
    pub fn turn(&mut self) -> (String, String) {
        let asked = phrase::asked(&mut self.rng);
        let asked = self.user(asked);
        let answered = phrase::answered(&mut self.rng);
        (asked, self.assistant(answered))
    }

    /// Adds a prompt, a message with thinking and `calls` parallel calls, their results, and a last
    /// message.
    pub fn tool_turn(&mut self, calls: usize) -> Vec<String> {
        let asked = phrase::asked(&mut self.rng);
        let mut ids = vec![self.user(asked)];
        let call_ids: Vec<String> = (0..calls)
            .map(|_| format!("toolu_{}", self.rng.base36(24)))
            .collect();
        let thought = phrase::thought(&mut self.rng);
        let mut content = vec![
            json!({"type": "thinking", "thinking": thought, "thinkingSignature": self.rng.nanoid(40)}),
            json!({"type": "text", "text": phrase::answered(&mut self.rng)}),
        ];
        for call in &call_ids {
            let path = format!("{}/src/lib.rs", self.cwd);
            content.push(json!({"type": "toolCall", "id": call, "name": "read", "arguments": {"path": path}}));
        }
        let message = self.assistant_message(Value::Array(content), "toolUse");
        ids.push(self.message(message));
        for (number, call) in call_ids.iter().enumerate() {
            let lines = self.rng.between(3, 40);
            let text = phrase::listing(&mut self.rng, lines);
            ids.push(self.message(json!({
                "role": "toolResult", "toolCallId": call, "toolName": "read",
                "content": [{"type": "text", "text": text}], "details": {"lines": lines},
                "isError": number % 5 == 4, "timestamp": self.clock.ms(),
            })));
        }
        let answered = phrase::answered(&mut self.rng);
        ids.push(self.assistant(answered));
        ids
    }

    /// Returns an image block; if the flavour has blobs, 1024 base64 characters or more are stored
    /// as one.
    pub fn image_block(&mut self, bytes: usize) -> Value {
        let image = phrase::image(&mut self.rng, bytes);
        let mut data = base64::encode(&image);
        if self.flavour.has_blobs() && data.len() >= 1024 {
            let hash = sha256::hex(&image);
            data = format!("blob:sha256:{hash}");
            self.blobs.push((hash, image));
        }
        json!({"type": "image", "data": data, "mimeType": "image/png"})
    }

    /// Adds a compaction that preserves everything from `first_kept` on.
    pub fn compaction(&mut self, first_kept: &str, summary: &str) -> String {
        let by = if self.flavour == PiFlavour::Pi {
            "fromHook"
        } else {
            "fromExtension"
        };
        let mut fields = json!({"summary": summary});
        if self.flavour != PiFlavour::Pi {
            fields["shortSummary"] = json!("summary");
        }
        let details = json!({"readFiles": ["src/lib.rs"], "modifiedFiles": ["src/parse.rs"]});
        merge(
            &mut fields,
            json!({"firstKeptEntryId": first_kept, "tokensBefore": 175_004, "details": details}),
        );
        fields[by] = json!(false);
        self.entry("compaction", fields)
    }

    /// Adds a model change in the form of this flavour.
    pub fn model_change(&mut self, provider: &str, model: &str) -> String {
        let fields = match self.flavour {
            PiFlavour::Pi => json!({"provider": provider, "modelId": model}),
            _ => json!({"model": format!("{provider}/{model}"), "role": "default"}),
        };
        self.entry("model_change", fields)
    }

    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is no line yet.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the log.
    pub fn into_bytes(self) -> Vec<u8> {
        self.lines.into_bytes()
    }
}
