//! The open-agent-sdk store: a header line, one message per line, and an index.
//!
//! Paths are below `~/.open-agent`. The header's options can contain keys in clear text before the
//! first turn ends.

use serde_json::{Value, json};

use crate::clock::{MORNING, ManualClock};
use crate::files::{Batch, FileList, Made};
use crate::jsonl::{self, JsonlLines};
use crate::make::merge;
use crate::phrase;
use crate::rng::Rng;

/// A fake key; no output of boswell may ever show it.
pub const SECRET: &str = "sk-test-1f0a-do-not-show-this";

/// How correct an index is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OasIndexState {
    /// It has a row per file.
    Right,
    /// There is none.
    Missing,
    /// It names a session that does not exist, and lacks one that does.
    DeletedSessions,
    /// It is not JSON.
    Corrupt,
}

impl OasIndexState {
    /// Every state.
    pub const ALL: &'static [OasIndexState] = &[
        OasIndexState::Right,
        OasIndexState::Missing,
        OasIndexState::DeletedSessions,
        OasIndexState::Corrupt,
    ];
}

/// The folder of a session's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OasLayout<'a> {
    /// In the project's folder, whose name has `-` for each `/`.
    Project(&'a str),
    /// In the one flat folder that the command line uses.
    Flat,
}

impl OasLayout<'_> {
    /// Returns the folder below the store's root.
    pub fn folder(self) -> String {
        match self {
            OasLayout::Project(cwd) => format!("projects/{}", cwd.replace('/', "-")),
            OasLayout::Flat => "sessions".to_owned(),
        }
    }
}

/// Returns one session; the options of `fresh` ones still contain everything, including secrets.
pub fn session(place: OasLayout<'_>, fresh: bool, turns: usize, seed: u64) -> Made {
    let mut rng = Rng::for_part(seed, "oas");
    let clock = ManualClock::at(MORNING + 60_000 * (rng.below(40_000) as i64));
    let id = rng.uuid_v4();
    let mut options = json!({"model": "gpt-4o", "provider": "openai"});
    if fresh {
        let more = json!({"apiKey": SECRET, "env": {"OPENAI_API_KEY": SECRET}, "systemPrompt": "Be brief.", "maxTurns": 10});
        merge(&mut options, more);
        if let OasLayout::Project(cwd) = place {
            options["cwd"] = json!(cwd);
        }
    }
    let mut lines = JsonlLines::new();
    lines.push(&json!({
        "type": "session_header", "id": id, "model": "gpt-4o", "provider": "openai", "createdAt": clock.ms(),
        "updatedAt": clock.ms() + 60_000, "options": options,
    }));
    let mut log = Log {
        lines,
        id,
        rng,
        clock,
    };
    for turn in 0..turns {
        log.turn(turn);
    }
    let main = format!("{}/{}.jsonl", place.folder(), log.id);
    let mut files = FileList::new();
    files.add(main.clone(), log.lines.into_bytes()).modified = Some(log.clock.ms());
    let project = if let OasLayout::Project(cwd) = place {
        cwd.to_owned()
    } else {
        String::new()
    };
    Made {
        id: log.id,
        project,
        title: None,
        main,
        files,
    }
}

/// A session while it is made.
struct Log {
    lines: JsonlLines,
    id: String,
    rng: Rng,
    clock: ManualClock,
}

impl Log {
    fn turn(&mut self, turn: usize) {
        self.row("user", |rng| {
            json!({"message": {"role": "user", "content": phrase::asked(rng)}, "parent_tool_use_id": null})
        });
        if turn % 2 == 1 {
            self.call_and_result();
        }
        let text = phrase::answered(&mut self.rng);
        self.answer(
            json!([{"type": "text", "text": text}]),
            json!([]),
            "end_turn",
        );
        if turn == 2 {
            let mut boundary = json!({"type": "system", "subtype": "compact_boundary"});
            let rest = json!({"uuid": self.rng.uuid_v4(), "session_id": self.id, "compact_metadata": {"trigger": "auto", "pre_tokens": 9_000}});
            merge(&mut boundary, rest);
            self.lines.push(&boundary);
        }
    }

    fn call_and_result(&mut self) {
        let call = format!("call_{}", self.rng.base36(24));
        let block = json!([{"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": "a.txt"}}]);
        let calls = json!([{"id": call, "type": "function", "function": {"name": "Read", "arguments": "{\"file_path\":\"a.txt\"}"}}]);
        self.answer(block, calls, "tool_use");
        self.row("tool_result", |rng| {
            json!({"tool_use_id": call, "tool_name": "Read", "result": phrase::listing(rng, 5), "is_error": false})
        });
    }

    fn answer(&mut self, content: Value, calls: Value, stop: &str) {
        let at = self.clock.tick(4_000);
        self.row("assistant", |_| {
            json!({
                "timestamp": at, "message": {"role": "assistant", "content": content, "tool_calls": calls},
                "parent_tool_use_id": null, "model": "gpt-4o", "usage": {"input_tokens": 100, "output_tokens": 50},
                "stop_reason": stop,
            })
        });
    }

    fn row(&mut self, kind: &str, rest: impl FnOnce(&mut Rng) -> Value) {
        let mut row = json!({"type": kind, "uuid": self.rng.uuid_v4(), "session_id": self.id});
        merge(&mut row, rest(&mut self.rng));
        self.lines.push(&row);
    }
}

/// Returns a fork: a new id in the header, messages copied with the parent's ids.
pub fn fork_of(source: &Made, seed: u64) -> Made {
    let id = Rng::for_part(seed, &source.id).uuid_v4();
    let mut values = jsonl::parse(source.bytes());
    let header = &mut values[0];
    header["id"] = json!(id);
    header["parentSessionId"] = json!(source.id);
    header["forkedAt"] = header["updatedAt"].clone();
    let mut lines = JsonlLines::new();
    values.iter().for_each(|value| lines.push(value));
    let main = source.main.replace(&source.id, &id);
    let mut files = FileList::new();
    files.add(main.clone(), lines.into_bytes()).modified =
        source.files.list[0].modified.map(|ms| ms + 60_000);
    Made {
        id,
        project: source.project.clone(),
        title: None,
        main,
        files,
    }
}

/// Prints an index of these sessions, with a newline at the end.
pub fn index(sessions: &[Made]) -> Vec<u8> {
    let row = |made: &Made| {
        let lines = jsonl::parse(made.bytes());
        let prompt = lines
            .iter()
            .find(|line| line["type"] == "user")
            .map_or(json!(""), |l| l["message"]["content"].clone());
        json!({
            "id": made.id, "firstPrompt": prompt, "messageCount": lines.len() - 1, "created": lines[0]["createdAt"],
            "modified": lines[0]["updatedAt"],
        })
    };
    let rows: Vec<Value> = sessions.iter().map(row).collect();
    let whole = json!({"projectPath": "", "sessions": rows});
    format!(
        "{}\n",
        serde_json::to_string_pretty(&whole).expect("a value prints")
    )
    .into_bytes()
}

/// Returns a project folder with a finished session, a fresh one, one without messages and a fork,
/// and a flat one next to it.
pub fn store(state: OasIndexState, cwd: &str, seed: u64) -> Batch {
    let place = OasLayout::Project(cwd);
    let first = session(place, false, 3, seed);
    let fork = fork_of(&first, seed);
    let sessions = vec![
        first,
        session(place, true, 2, seed.wrapping_add(1)),
        session(place, true, 0, seed.wrapping_add(2)),
        fork,
    ];
    let flat = session(OasLayout::Flat, false, 2, seed.wrapping_add(3));
    let mut shared = FileList::new();
    let path = |place: OasLayout<'_>| format!("{}/sessions-index.json", place.folder());
    match state {
        OasIndexState::Missing => {}
        OasIndexState::Corrupt => {
            shared.add(path(place), "{\"projectPath\":\"\",\"sess");
        }
        OasIndexState::Right => {
            shared.add(path(place), index(&sessions));
            shared.add(path(OasLayout::Flat), index(std::slice::from_ref(&flat)));
        }
        OasIndexState::DeletedSessions => {
            let deleted_session = session(place, false, 1, seed.wrapping_add(9));
            shared.add(
                path(place),
                index(&[&sessions[1..], &[deleted_session]].concat()),
            );
        }
    }
    let sessions = sessions.into_iter().chain([flat]).collect();
    Batch { shared, sessions }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_json_and_the_header_comes_first() {
        for &state in OasIndexState::ALL {
            for made in store(state, "/home/dev/proj/demo", 3).sessions {
                let lines = jsonl::parse(made.bytes());
                assert_eq!(lines[0]["type"], "session_header");
                assert_eq!(lines[0]["id"], made.id.as_str());
            }
        }
    }

    #[test]
    fn only_fresh_sessions_hold_secrets() {
        let batch = store(OasIndexState::Right, "/x", 3);
        let leaks = |made: &Made| String::from_utf8_lossy(made.bytes()).contains(SECRET);
        assert_eq!(
            batch.sessions.iter().map(leaks).collect::<Vec<_>>(),
            [false, true, true, false, false]
        );
    }

    #[test]
    fn a_fork_keeps_the_parents_ids_in_its_messages() {
        let source = session(OasLayout::Flat, false, 2, 1);
        let lines = jsonl::parse(fork_of(&source, 2).bytes());
        assert_eq!(lines[0]["parentSessionId"], source.id.as_str());
        assert!(
            lines[1..]
                .iter()
                .all(|line| line["session_id"] == source.id.as_str())
        );
    }

    #[test]
    fn folders_and_indexes_are_where_the_sdk_puts_them() {
        let batch = store(OasIndexState::Right, "/home/dev/a.b", 4);
        let index: Value = serde_json::from_slice(
            batch
                .shared
                .get("projects/-home-dev-a.b/sessions-index.json")
                .unwrap(),
        )
        .unwrap();
        assert_eq!(index["sessions"].as_array().unwrap().len(), 4);
        assert!(batch.sessions[4].main.starts_with("sessions/"));
        assert_eq!(store(OasIndexState::Missing, "/x", 4).shared.list.len(), 0);
    }
}
