//! Rollout files of Codex: one event per line, in folders by day.
//!
//! Paths are below `~/.codex`. The client is written in Rust, so whole floats keep their `.0`.

use serde_json::{Value, json};

use crate::clock::{MORNING, ManualClock, civil, iso};
use crate::files::{FileList, Made};
use crate::jsonl::JsonlLines;
use crate::make::merge;
use crate::phrase;
use crate::rng::Rng;

/// What a rollout demonstrates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodexShape {
    /// Prompts and replies.
    Plain,
    /// Calls of functions and custom tools, reasoning, token counts.
    Tools,
    /// A compaction that replaces the history.
    Compacted,
    /// A thread that another one started.
    Subagent,
    /// A fork: two metadata lines, the second of the source.
    Forked,
    /// The first client's files: no envelope around the items.
    Bare,
}

impl CodexShape {
    /// Every shape.
    pub const ALL: &'static [CodexShape] = &[
        CodexShape::Plain,
        CodexShape::Tools,
        CodexShape::Compacted,
        CodexShape::Subagent,
        CodexShape::Forked,
        CodexShape::Bare,
    ];
}

struct Rollout {
    lines: JsonlLines,
    clock: ManualClock,
    rng: Rng,
    id: String,
    cwd: String,
    turn: String,
    bare: bool,
    /// Whether ids of turns contain their time.
    dated: bool,
    /// Totals so far: input, cached input, output, reasoning output.
    spent: [u64; 4],
}

fn tokens([sent, cached, received, thought]: [u64; 4]) -> Value {
    json!({
        "input_tokens": sent, "cached_input_tokens": cached, "output_tokens": received,
        "reasoning_output_tokens": thought, "total_tokens": sent + received,
    })
}

impl Rollout {
    fn push(&mut self, kind: &str, payload: Value) {
        let step = 50 + self.rng.below(3_000) as i64;
        let timestamp = self.clock.tick(step);
        match self.bare {
            false => self
                .lines
                .push(&json!({"timestamp": timestamp, "type": kind, "payload": payload})),
            true if kind == "response_item" => self.lines.push(&payload),
            true => {}
        }
    }

    fn item(&mut self, payload: Value) {
        self.push("response_item", payload);
    }

    fn event(&mut self, payload: Value) {
        self.push("event_msg", payload);
    }

    fn message(&mut self, role: &str, text: &str) {
        let kind = if role == "assistant" {
            "output_text"
        } else {
            "input_text"
        };
        self.item(
            json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}),
        );
    }

    fn turn(&mut self) {
        self.turn = if self.dated {
            self.rng.uuid_v7(self.clock.ms())
        } else {
            self.rng.uuid_v4()
        };
        self.event(
            json!({"type": "task_started", "turn_id": self.turn, "model_context_window": 258_400}),
        );
        let policy = json!({"type": "workspace-write", "network_access": false});
        let context = json!({
            "turn_id": self.turn, "cwd": self.cwd, "approval_policy": "on-request", "sandbox_policy": policy,
            "model": "gpt-5.4", "effort": "medium", "summary": "auto",
        });
        self.push("turn_context", context);
        let asked = phrase::asked(&mut self.rng);
        self.message("user", asked);
        self.event(
            json!({"type": "user_message", "message": asked, "images": [], "local_images": [], "text_elements": []}),
        );
    }

    fn answer(&mut self) {
        let said = phrase::answered(&mut self.rng);
        self.message("assistant", said);
        self.event(json!({"type": "agent_message", "message": said, "phase": "final_answer"}));
        let newest = [self.rng.between(3_600, 90_000) as u64, 3584, 148, 39];
        self.spent
            .iter_mut()
            .zip(newest)
            .for_each(|(sum, more)| *sum += more);
        let (total, newest) = (tokens(self.spent), tokens(newest));
        let info = json!({"total_token_usage": total, "last_token_usage": newest, "model_context_window": 258_400});
        let limits = json!({"primary": {"used_percent": 35.0, "window_minutes": 300}});
        self.event(json!({"type": "token_count", "info": info, "rate_limits": limits}));
        self.event(
            json!({"type": "task_complete", "turn_id": self.turn, "last_agent_message": said}),
        );
    }

    fn tools(&mut self) {
        let thought = phrase::thought(&mut self.rng);
        self.event(json!({"type": "agent_reasoning", "text": thought}));
        let summary = json!([{"type": "summary_text", "text": thought}]);
        let sealed = format!("gAAA{}", self.rng.nanoid(80));
        self.item(json!({"type": "reasoning", "summary": summary, "content": null, "encrypted_content": sealed}));
        for custom in [false, true] {
            let call = format!("call_{}", self.rng.base36(24));
            let output = phrase::listing(&mut self.rng, 5);
            if custom {
                self.item(json!({"type": "custom_tool_call", "status": "completed", "call_id": call, "name": "apply_patch", "input": "*** Begin Patch\n*** End Patch"}));
                self.item(
                    json!({"type": "custom_tool_call_output", "call_id": call, "output": output}),
                );
            } else {
                let arguments = json!({"cmd": "rg -n 会话", "workdir": self.cwd}).to_string();
                self.item(
                    json!({"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": call}),
                );
                self.item(
                    json!({"type": "function_call_output", "call_id": call, "output": output}),
                );
            }
        }
    }
}

/// Returns a rollout of this shape; `id` is random if it is `None`.
pub fn rollout(shape: CodexShape, cwd: &str, id: Option<&str>, seed: u64) -> Made {
    let mut rng = Rng::for_part(seed, "codex");
    let begun = MORNING + 60_000 * (rng.below(40_000) as i64);
    let id = id.map_or_else(|| rng.uuid_v7(begun), str::to_owned);
    let (lines, clock, bare) = (
        JsonlLines::new(),
        ManualClock::at(begun),
        shape == CodexShape::Bare,
    );
    let mut log = Rollout {
        lines,
        clock,
        rng,
        id,
        cwd: cwd.to_owned(),
        turn: String::new(),
        bare,
        dated: true,
        spent: [0; 4],
    };
    header(&mut log, shape);
    log.message(
        "user",
        &format!("<environment_context>\n  <cwd>{cwd}</cwd>\n</environment_context>"),
    );
    for turn in 0..3 {
        log.turn();
        if shape == CodexShape::Tools || (turn == 1 && shape != CodexShape::Plain) {
            log.tools();
        }
        log.answer();
        if turn == 1 && shape == CodexShape::Compacted {
            let kept = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "摘要"}]});
            log.push(
                "compacted",
                json!({"message": "", "window_number": 2, "replacement_history": [kept]}),
            );
            log.event(json!({"type": "context_compacted"}));
        }
    }
    finish(log, begun)
}

/// How a fork stores the data of its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The parent's header and lines are copied, with the time of the fork.
    Copied,
    /// As above, without the parent's header.
    WithoutHeader,
    /// As above, from a client whose turn ids contain no time.
    OldTurns,
    /// Nothing is copied, but the usage counter continues.
    Referred,
}

/// Takes the first `turns` turns of a parent's lines into its fork.
fn take(log: &mut Rollout, lines: Vec<Value>, turns: usize, taken: Taken) {
    let mut done = 0;
    for mut line in lines {
        let payload = &line["payload"];
        if done == turns {
            break;
        }
        done += usize::from(payload["type"] == "task_complete");
        if let Some(total) = payload["info"].get("total_token_usage") {
            log.spent = USAGE.map(|name| total[name].as_u64().unwrap_or(0));
        }
        let header = line["type"] == "session_meta";
        if taken == Taken::Referred || (taken == Taken::WithoutHeader && header) {
            continue;
        }
        if !log.dated
            && let Some(payload) = line["payload"].as_object_mut()
        {
            payload.remove("turn_id");
        }
        line["timestamp"] = json!(log.clock.tick(1));
        log.lines.push(&line);
    }
}

/// The counters of a turn, in the order of [`Rollout`]'s.
const USAGE: [&str; 4] = [
    "input_tokens",
    "cached_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
];

/// Returns a fork of a rollout after its first `turns` turns, with `more` turns of its own.
pub fn fork(parent: &Made, turns: usize, more: usize, taken: Taken, seed: u64) -> Made {
    let mut rng = Rng::for_part(seed, "codex fork");
    let lines = crate::jsonl::parse(parent.bytes());
    let modified = parent.files.list.iter().filter_map(|file| file.modified);
    let begun = modified.max().unwrap_or(MORNING) + 3_600_000;
    let id = rng.uuid_v7(begun);
    let mut log = Rollout {
        lines: JsonlLines::new(),
        clock: ManualClock::at(begun),
        rng,
        id,
        cwd: parent.project.clone(),
        turn: String::new(),
        bare: false,
        dated: taken != Taken::OldTurns,
        spent: [0; 4],
    };
    let mut own = lines[0]["payload"].clone();
    let stamp = log.clock.iso();
    merge(
        &mut own,
        json!({"id": log.id, "timestamp": stamp, "forked_from_id": parent.id}),
    );
    log.push("session_meta", own);
    take(&mut log, lines, turns, taken);
    for _ in 0..more {
        log.clock.tick(2_500);
        log.turn();
        log.answer();
    }
    finish(log, begun)
}

/// Returns a paginated thread, and a fork of it that copies nothing: every line has a number, and
/// the fork names the log that it continues.
pub fn paginated(cwd: &str, seed: u64) -> (Made, Made) {
    let parent = numbered(rollout(CodexShape::Tools, cwd, None, seed), 0, &json!({}));
    let lines = crate::jsonl::parse(parent.bytes()).len();
    let base = json!({
        "thread_id": parent.id, "end_ordinal_exclusive": lines,
        "end_byte_offset": parent.bytes().len(),
    });
    let of_fork = json!({"forked_from_id": parent.id, "history_base": base});
    let fork = rollout(CodexShape::Plain, cwd, None, seed + 1);
    let fork = numbered(fork, lines, &of_fork);
    (parent, fork)
}

/// Numbers the lines of a rollout from `first` on, with more members for its header. The events
/// that repeat messages become completed items.
fn numbered(mut made: Made, first: usize, header: &Value) -> Made {
    let mut out = JsonlLines::new();
    for (number, line) in crate::jsonl::parse(made.bytes()).into_iter().enumerate() {
        let mut payload = line["payload"].clone();
        if number == 0 {
            let id = made.id.as_str();
            merge(
                &mut payload,
                json!({"session_id": id, "history_mode": "paginated"}),
            );
            merge(&mut payload, header.clone());
        }
        let said = payload["message"].clone();
        let item = match payload["type"].as_str() {
            Some("user_message") => Some("UserMessage"),
            Some("agent_message") => Some("AgentMessage"),
            _ => None,
        };
        if let Some(kind) = item {
            let item = json!({"type": kind, "content": [{"type": "text", "text": said}]});
            payload = json!({"type": "item_completed", "thread_id": made.id, "item": item});
        }
        out.push(&json!({
            "timestamp": line["timestamp"], "ordinal": first + number,
            "type": line["type"], "payload": payload,
        }));
    }
    let modified = made.files.list.iter().find_map(|file| file.modified);
    let mut files = FileList::new();
    files.add(made.main.clone(), out.into_bytes()).modified = modified;
    made.files = files;
    made
}

fn header(log: &mut Rollout, shape: CodexShape) {
    let stamp = log.clock.iso();
    if shape == CodexShape::Bare {
        let line = json!({"id": log.id, "timestamp": stamp, "instructions": null, "git": {"branch": "main"}});
        return log.lines.push(&line);
    }
    let meta = |id: &str, source: Value| {
        json!({
            "id": id, "timestamp": stamp, "cwd": log.cwd, "originator": "codex_cli_rs", "cli_version": "0.146.0",
            "source": source, "model_provider": "openai", "git": {"branch": "main"},
        })
    };
    let parent = "019d7d08-46c9-7f73-affe-4e6ca9852d56";
    let mut own = match shape {
        CodexShape::Subagent => meta(&log.id, json!({"subagent": "review"})),
        _ => meta(&log.id, json!("cli")),
    };
    let source = meta(parent, json!("cli"));
    if shape == CodexShape::Subagent {
        merge(
            &mut own,
            json!({"parent_thread_id": parent, "thread_source": "subagent"}),
        );
    }
    if shape == CodexShape::Forked {
        own["forked_from_id"] = json!(parent);
    }
    log.push("session_meta", own);
    if shape == CodexShape::Forked {
        log.push("session_meta", source);
    }
}

fn finish(log: Rollout, begun: i64) -> Made {
    let day = civil(begun);
    let stamp = iso(begun)[..19].replace(':', "-");
    let main = format!(
        "sessions/{:04}/{:02}/{:02}/rollout-{stamp}-{}.jsonl",
        day.year, day.month, day.day, log.id
    );
    let last = log.clock.ms();
    let mut files = FileList::new();
    files.add(main.clone(), log.lines.into_bytes()).modified = Some(last);
    let project = if log.bare { String::new() } else { log.cwd };
    Made {
        id: log.id,
        project,
        title: None,
        main,
        files,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonl;

    #[test]
    fn every_rollout_is_json_and_its_name_carries_day_and_id() {
        for &shape in CodexShape::ALL {
            let made = rollout(shape, "/home/dev/proj/demo", None, 2);
            let lines = jsonl::parse(made.bytes());
            let id = if shape == CodexShape::Bare {
                &lines[0]["id"]
            } else {
                &lines[0]["payload"]["id"]
            };
            assert_eq!(id, made.id.as_str());
            let parts: Vec<&str> = made.main.split('/').collect();
            assert_eq!(parts.len(), 5);
            assert!(
                parts[4].starts_with(&format!("rollout-{}-{}-{}T", parts[1], parts[2], parts[3])),
                "{}",
                made.main
            );
            assert!(parts[4].ends_with(&format!("-{}.jsonl", made.id)));
            assert_eq!(
                rollout(shape, "/home/dev/proj/demo", None, 2).files,
                made.files
            );
        }
    }

    #[test]
    fn a_fork_of_pages_names_the_end_of_its_parent() {
        let (parent, fork) = paginated("/x", 5);
        let (lines, own) = (jsonl::parse(parent.bytes()), jsonl::parse(fork.bytes()));
        let base = &own[0]["payload"]["history_base"];
        assert_eq!(base["thread_id"], parent.id.as_str());
        assert_eq!(base["end_byte_offset"], parent.bytes().len());
        assert_eq!(lines.last().unwrap()["ordinal"], lines.len() - 1);
        assert_eq!(own[1]["ordinal"], lines.len() + 1);
        assert!(
            lines
                .iter()
                .all(|line| line["payload"]["type"] != "user_message")
        );
    }

    #[test]
    fn calls_have_their_outputs() {
        let lines = jsonl::parse(rollout(CodexShape::Tools, "/x", None, 3).bytes());
        let ids = |kind: &str| -> Vec<Value> {
            lines
                .iter()
                .filter(|l| l["payload"]["type"] == kind)
                .map(|l| l["payload"]["call_id"].clone())
                .collect()
        };
        assert_eq!(ids("function_call"), ids("function_call_output"));
        assert_eq!(ids("custom_tool_call").len(), 3);
    }

    #[test]
    fn shapes_show_what_they_say() {
        let count = |shape, kind: &str| {
            let lines = jsonl::parse(rollout(shape, "/x", Some("an-id"), 4).bytes());
            lines.iter().filter(|l| l["type"] == kind).count()
        };
        assert_eq!(count(CodexShape::Compacted, "compacted"), 1);
        assert_eq!(count(CodexShape::Forked, "session_meta"), 2);
        assert_eq!(count(CodexShape::Plain, "turn_context"), 3);
        assert_eq!(count(CodexShape::Bare, "response_item"), 0);
        assert!(count(CodexShape::Bare, "message") > 6);
    }
}
