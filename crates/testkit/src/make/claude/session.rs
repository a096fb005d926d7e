//! Builds one transcript line by line, and tracks uuids, parents and times.

use serde_json::{Value, json};

use crate::clock::{MORNING, ManualClock};
use crate::jsonl::JsonlLines;
use crate::make::claude::TODAY;
use crate::make::merge;
use crate::phrase;
use crate::rng::Rng;
use crate::sha256;

/// How a version of the client orders and fills its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// The newest client: envelope at the end, request log, attachments.
    Today,
    /// An older client: envelope at the front, none of the rest.
    Old(&'static str),
}

impl Style {
    /// Returns the version on the lines.
    pub fn version(self) -> &'static str {
        match self {
            Style::Today => TODAY,
            Style::Old(version) => version,
        }
    }
}

/// A transcript under construction.
#[derive(Clone, Debug)]
pub struct ClaudeSession {
    /// The version of the client.
    pub style: Style,
    /// Id of the session; in a subagent's file that of its parent.
    pub id: String,
    /// The project folder.
    pub cwd: String,
    /// Id of the subagent, in a subagent's file.
    pub agent: Option<String>,
    /// Whether lines are marked as a side chain.
    pub sidechain: bool,
    /// Random numbers of this session.
    pub rng: Rng,
    /// Clock of this session.
    pub clock: ManualClock,
    /// The parent of the next chain line.
    pub leaf: Option<String>,
    /// Uuids of all chain lines, in file order.
    pub uuids: Vec<String>,
    lines: JsonlLines,
    prompt_id: String,
    prompts: usize,
    request: Option<String>,
}

impl ClaudeSession {
    /// Starts an empty transcript with a new id.
    pub fn start(style: Style, cwd: &str, seed: u64) -> ClaudeSession {
        let mut rng = Rng::for_part(seed, style.version());
        let id = rng.uuid_v4();
        ClaudeSession::with_id(style, cwd, &id, rng)
    }

    /// Starts an empty transcript with a given id.
    pub fn with_id(style: Style, cwd: &str, id: &str, mut rng: Rng) -> ClaudeSession {
        let begun = MORNING + 60_000 * (rng.below(30 * 24 * 60) as i64) + rng.below(1000) as i64;
        ClaudeSession {
            style,
            id: id.to_owned(),
            cwd: cwd.to_owned(),
            agent: None,
            sidechain: false,
            prompt_id: rng.uuid_v4(),
            rng,
            clock: ManualClock::at(begun),
            leaf: None,
            uuids: Vec::new(),
            lines: JsonlLines::new(),
            prompts: 0,
            request: None,
        }
    }

    /// Starts the file of a subagent of this session.
    pub fn subagent(&mut self, agent: &str) -> ClaudeSession {
        let rng = Rng::new(self.rng.next_u64());
        let mut sub = ClaudeSession::with_id(self.style, &self.cwd, &self.id, rng);
        (sub.agent, sub.sidechain, sub.clock) = (Some(agent.to_owned()), true, self.clock.clone());
        sub.prompt_id.clone_from(&self.prompt_id);
        sub
    }

    fn envelope(&self) -> Value {
        let branch = if self.style == Style::Old("1.0.128") {
            ""
        } else {
            "main"
        };
        let mut envelope = json!({"userType": "external"});
        if self.style == Style::Today {
            envelope["entrypoint"] = json!("cli");
        }
        merge(
            &mut envelope,
            json!({"cwd": self.cwd, "sessionId": self.id, "version": self.style.version(), "gitBranch": branch}),
        );
        envelope
    }

    /// Adds a chain line as a child of the leaf and moves the leaf to it: `body` before the uuid,
    /// `after` after the time.
    pub fn chain(&mut self, body: Value, after: Value) -> String {
        let uuid = self.rng.uuid_v4();
        self.chain_with(&uuid, json!({}), body, after);
        uuid
    }

    /// Adds a chain line with a given uuid and with fields before everything but the parent.
    pub fn chain_with(&mut self, uuid: &str, before: Value, body: Value, after: Value) {
        let mut line = json!({"parentUuid": self.leaf});
        merge(&mut line, before);
        line["isSidechain"] = json!(self.sidechain);
        let agent = self
            .agent
            .clone()
            .map_or(json!({}), |agent| json!({"agentId": agent}));
        let step = 20 + self.rng.below(4_000) as i64;
        let stamp = json!({"uuid": uuid, "timestamp": self.clock.tick(step)});
        let parts = match self.style {
            Style::Today => [agent, body, stamp, after, self.envelope()],
            Style::Old(_) => [self.envelope(), agent, body, stamp, after],
        };
        parts.into_iter().for_each(|part| merge(&mut line, part));
        self.lines.push(&line);
        self.leaf = Some(uuid.to_owned());
        self.uuids.push(uuid.to_owned());
    }

    /// Adds a metadata line: the type first, the session's id last.
    pub fn meta(&mut self, kind: &str, fields: Value) {
        let mut line = json!({"type": kind});
        merge(&mut line, fields);
        merge(&mut line, json!({"sessionId": self.id}));
        self.lines.push(&line);
    }

    /// Adds a line of any content.
    pub fn text_line(&mut self, line: &str) {
        self.lines.push_text(line);
    }

    /// Moves the leaf, as a rewind does: nothing is written until the next prompt.
    pub fn move_leaf(&mut self, uuid: Option<&str>) {
        self.leaf = uuid.map(str::to_owned);
    }

    /// Adds a prompt.
    pub fn prompt(&mut self, text: &str) -> String {
        self.prompt_blocks(json!(text))
    }

    /// Adds a prompt made of content blocks, or of a text.
    pub fn prompt_blocks(&mut self, content: Value) -> String {
        self.prompts += 1;
        let message = json!({"role": "user", "content": content});
        if self.style != Style::Today {
            return self.chain(json!({"type": "user", "message": message}), json!({}));
        }
        self.prompt_id = self.rng.uuid_v4();
        let position = json!({"promptIndex": self.prompts - 1, "turnIndex": self.prompts});
        let body = json!({"promptId": self.prompt_id, "type": "user", "message": message});
        self.chain(
            body,
            json!({"permissionMode": "default", "promptSource": "typed", "turnOrigin": "human", "turnPosition": position}),
        )
    }

    /// Adds an attachment; with `rendered`, one that the model sees.
    pub fn attachment(&mut self, attachment: Value, rendered: Option<&str>) -> String {
        let after = rendered.map_or(
            json!({}),
            |text| json!({"rendered": [{"content": text}], "renderedRole": "system"}),
        );
        self.chain(
            json!({"attachment": attachment, "type": "attachment"}),
            after,
        )
    }

    /// Adds what the newest client announces after the first prompt.
    pub fn announce(&mut self) {
        let snapshot = json!({"workingDirectory": self.cwd, "isGitRepo": true, "platform": "linux", "shell": "bash"});
        self.attachment(
            json!({"type": "environment", "snapshot": snapshot}),
            Some("You are in a folder."),
        );
        let identity = json!({"modelId": "claude-opus-5-5", "marketingName": "Opus 5.5"});
        self.attachment(
            json!({"type": "model", "identity": identity, "text": "a model"}),
            Some("You are a model."),
        );
        self.meta("atis-latch", json!({"atis": ""}));
        self.attachment(
            json!({"type": "date", "date": self.clock.iso()[..10]}),
            Some("A day."),
        );
        self.attachment(json!({"type": "prompt_snapshot", "systemPrompt": ["Be brief."], "reminderFold": false}), None);
    }

    /// Adds the request log of one call to the model.
    pub fn api_request(&mut self) {
        let shape = sha256::hex(b"shape");
        let previous = self.request.clone();
        if previous.is_none() {
            let about = json!({"timestamp": self.clock.iso(), "version": self.style.version(), "shape": {"system": [], "tools": []}});
            self.log_line("api-request-shape", json!({"shapeHash": shape}), about);
        }
        let blob = sha256::hex(&self.rng.bytes(8));
        self.log_line(
            "api-request-blob",
            json!({"hash": blob}),
            json!({"message": {"role": "user", "content": []}}),
        );
        let id = self.rng.uuid_v4();
        let mut rest = json!({
            "timestamp": self.clock.iso(), "version": self.style.version(), "querySource": "sdk", "shapeHash": shape,
            "params": {"model": "claude-opus-5-5", "max_tokens": 128_000},
        });
        let keep = usize::from(previous.is_some());
        if let Some(base) = previous {
            rest["base"] = json!(base);
        }
        merge(
            &mut rest,
            json!({"keep": keep, "tail": [blob], "requestDigest": self.rng.hex(64)}),
        );
        self.log_line("api-request", json!({"id": id}), rest);
        self.request = Some(id);
    }

    fn log_line(&mut self, kind: &str, own: Value, rest: Value) {
        let mut line = json!({"type": kind, "sessionId": self.id});
        if let Some(agent) = &self.agent {
            line["agentId"] = json!(agent);
        }
        merge(&mut line, own);
        merge(&mut line, rest);
        self.lines.push(&line);
    }

    /// Returns the usage of one response.
    pub fn usage(&mut self) -> Value {
        let [input, written, read, output] =
            [900, 9_000, 120_000, 1_800].map(|most| self.rng.below(most) + 3);
        json!({
            "input_tokens": input, "cache_creation_input_tokens": written, "cache_read_input_tokens": read,
            "output_tokens": output, "service_tier": "standard",
        })
    }

    /// Adds one response: a line per block, all with one message id, request id and usage.
    pub fn response(&mut self, blocks: &[Value], stop: &str) -> Vec<String> {
        if self.style == Style::Today {
            self.api_request();
        }
        let (message_id, request_id) = (
            format!("msg_{}", self.rng.base36(24)),
            format!("req_{}", self.rng.base36(24)),
        );
        let usage = self.usage();
        let mut uuids = Vec::new();
        for (index, block) in blocks.iter().enumerate() {
            let model = if self.style == Style::Today {
                "claude-opus-5-5"
            } else {
                "claude-sonnet-4-5-20250929"
            };
            let message = json!({
                "id": message_id, "type": "message", "role": "assistant", "model": model, "content": [block],
                "stop_reason": stop, "stop_sequence": null, "usage": usage,
            });
            let body = match self.style {
                Style::Today => json!({
                    "message": message, "apiBlockIndex": index, "requestId": request_id, "requestRef": self.request,
                    "requestedModel": model, "promptCacheRequested": "5m", "type": "assistant",
                }),
                Style::Old(_) => {
                    json!({"message": message, "requestId": request_id, "type": "assistant"})
                }
            };
            let after = if self.style == Style::Today {
                json!({"effort": "medium", "madeBy": "model"})
            } else {
                json!({})
            };
            uuids.push(self.chain(body, after));
        }
        uuids
    }

    /// Adds a plain assistant message.
    pub fn answer(&mut self, text: &str) -> String {
        self.response(&[json!({"type": "text", "text": text})], "end_turn")
            .remove(0)
    }

    /// Adds a prompt and its reply, with random words; returns both uuids.
    pub fn turn(&mut self) -> (String, String) {
        let asked = phrase::asked(&mut self.rng);
        let asked = self.prompt(asked);
        let answered = phrase::answered(&mut self.rng);
        (asked, self.answer(answered))
    }

    /// Returns a tool call.
    pub fn call(&mut self, tool: &str, input: Value) -> (String, Value) {
        let id = format!("toolu_{}", self.rng.base36(24));
        (
            id.clone(),
            json!({"type": "tool_use", "id": id, "name": tool, "input": input}),
        )
    }

    /// Adds the result of a call as a child of the assistant line with the call.
    pub fn result(&mut self, call: &str, caller: &str, content: Value, more: Value) -> String {
        self.leaf = Some(caller.to_owned());
        let block = json!({"tool_use_id": call, "type": "tool_result", "content": content, "is_error": false});
        let mut body = json!({"type": "user", "message": {"role": "user", "content": [block]}});
        let mut after = json!({});
        if self.agent.is_none() {
            after["toolUseResult"] = more;
        }
        if self.style == Style::Today {
            body = json!({"promptId": self.prompt_id, "type": "user", "message": body["message"]});
            after["sourceToolAssistantUUID"] = json!(caller);
            after["permissionDecision"] =
                json!({"decision": "accept", "source": "config", "reasonType": "mode"});
        }
        self.chain(body, after)
    }

    /// Adds a response with `calls` parallel calls of Bash, and the results.
    pub fn parallel_calls(&mut self, calls: usize) -> Vec<String> {
        let thought = phrase::thought(&mut self.rng);
        let mut blocks = vec![
            json!({"type": "thinking", "thinking": thought, "signature": self.rng.nanoid(60)}),
        ];
        let mut ids = Vec::new();
        for number in 0..calls {
            let (id, block) = self
                .call("Bash", json!({"command": format!("cargo test --test t{number}"), "description": "运行测试"}));
            ids.push(id);
            blocks.push(block);
        }
        let callers = self.response(&blocks, "tool_use");
        let mut uuids = callers.clone();
        for (id, caller) in ids.iter().zip(&callers[1..]) {
            let text = phrase::listing(&mut self.rng, 6);
            let more =
                json!({"stdout": text, "stderr": "", "interrupted": false, "isImage": false});
            uuids.push(self.result(id, caller, json!(text), more));
        }
        uuids
    }

    /// Writes what the client appends at the end of a run.
    pub fn close(&mut self, last_prompt: &str) {
        let leaf = self.leaf.clone();
        self.meta(
            "last-prompt",
            json!({"lastPrompt": last_prompt, "leafUuid": leaf}),
        );
        let usage = json!({"claude-opus-5-5": {"inputTokens": 60, "outputTokens": 120, "costUSD": 0.365695}});
        let line = json!({
            "type": "cost-state", "sessionId": self.id, "totalCostUSD": 0.365695, "totalAPIDuration": 543,
            "modelUsage": usage, "startTime": self.clock.ms(), "hasUnknownModelCost": false,
        });
        self.lines.push(&line);
    }

    /// Returns the transcript.
    pub fn into_bytes(self) -> Vec<u8> {
        self.lines.into_bytes()
    }
}
