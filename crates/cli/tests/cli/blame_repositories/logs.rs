//! The logs of the sessions: calls and results as each agent writes them.

use std::path::Path;

use boswell_testkit::clock::{civil, iso};
use boswell_testkit::disk;
use boswell_testkit::make::claude::project_key;
use boswell_testkit::rng::Rng;
use serde_json::{Value, json};

use super::{claude, codex, gemini, pi};

/// An agent of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agent {
    Claude,
    Codex,
    Pi,
    Gemini,
}

impl Agent {
    pub(super) const ALL: [Agent; 4] = [Agent::Claude, Agent::Codex, Agent::Pi, Agent::Gemini];

    fn dialect(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
            Agent::Pi => "pi",
            Agent::Gemini => "gemini",
        }
    }
}

/// One replacement of an edit.
#[derive(Debug, Clone)]
pub(super) struct Replacement {
    pub(super) old: String,
    pub(super) new: String,
    pub(super) all: bool,
}

/// What an agent does. Texts have `\n` at the ends of lines, whatever the file has.
#[derive(Debug)]
pub(super) enum Call {
    Write {
        path: String,
        content: String,
        before: Option<String>,
    },
    /// Several replacements are one call where the agent has such a tool.
    Edit {
        path: String,
        replacements: Vec<Replacement>,
        before: String,
        after: String,
    },
    /// A patch without its first and last line, and the lines of its report.
    Patch {
        body: String,
        report: Vec<String>,
    },
    Shell {
        command: String,
        output: String,
    },
    Read {
        path: String,
        content: String,
    },
}

/// How a call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Done,
    /// The tool reports an error.
    Failed,
    /// The user does not allow it.
    Rejected,
}

/// A session that is written.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) agent: Agent,
    pub(super) id: String,
    pub(super) cwd: String,
    /// The prompts in order.
    pub(super) prompts: Vec<String>,
    pub(super) rng: Rng,
    pub(super) records: Vec<Value>,
    pub(super) leaf: Value,
    pub(super) begun: i64,
    /// Whether the log is of an older version of the agent.
    pub(super) old: bool,
}

impl Log {
    pub(super) fn new(agent: Agent, cwd: &str, seed: u64, begun: i64) -> Log {
        let mut rng = Rng::for_part(seed, &format!("blame {agent:?}"));
        let id = match agent {
            Agent::Codex => rng.uuid_v7(begun),
            _ => rng.uuid_v4(),
        };
        let mut log = Log {
            agent,
            id,
            cwd: cwd.to_owned(),
            prompts: Vec::new(),
            old: rng.id_source(0.4),
            rng,
            records: Vec::new(),
            leaf: Value::Null,
            begun,
        };
        match agent {
            Agent::Claude => {}
            Agent::Codex => codex::begin(&mut log),
            Agent::Pi => pi::begin(&mut log),
            Agent::Gemini => gemini::begin(&mut log),
        }
        log
    }

    pub(super) fn reference(&self) -> String {
        format!("{}:{}", self.agent.dialect(), self.id)
    }

    /// A prompt; returns its number.
    pub(super) fn prompt(&mut self, text: &str, at: i64) -> usize {
        match self.agent {
            Agent::Claude => claude::prompt(self, text, at),
            Agent::Codex => codex::prompt(self, text, at),
            Agent::Pi => pi::prompt(self, text, at),
            Agent::Gemini => gemini::prompt(self, text, at),
        }
        self.prompts.push(text.to_owned());
        self.prompts.len() - 1
    }

    /// A call with its result, a second later.
    pub(super) fn call(&mut self, call: &Call, outcome: Outcome, at: i64) {
        match self.agent {
            Agent::Claude => claude::call(self, call, outcome, at),
            Agent::Codex => codex::call(self, call, outcome, at),
            Agent::Pi => pi::call(self, call, outcome, at),
            Agent::Gemini => gemini::call(self, call, outcome, at),
        }
    }

    /// Writes the log where its agent has it.
    pub(super) fn write(&self, home: &Path) {
        let lines: String = self.records.iter().map(|it| format!("{it}\n")).collect();
        let place = match self.agent {
            Agent::Claude => {
                let key = project_key(&self.cwd);
                format!(".claude/projects/{key}/{}.jsonl", self.id)
            }
            Agent::Codex => {
                let day = civil(self.begun);
                let (year, month, day) = (day.year, day.month, day.day);
                let stamp = iso(self.begun)[..19].replace(':', "-");
                let name = format!("rollout-{stamp}-{}.jsonl", self.id);
                format!(".codex/sessions/{year:04}/{month:02}/{day:02}/{name}")
            }
            Agent::Pi => {
                let folder = boswell_testkit::make::pi::pi_folder(&self.cwd);
                let name = boswell_testkit::make::pi::file_name(self.begun, &self.id);
                format!(".pi/agent/sessions/{folder}/{name}")
            }
            Agent::Gemini => {
                gemini::add_project(home, &self.cwd, &self.slug());
                let (stamp, short) = (iso(self.begun), &self.id[..8]);
                let stamp = stamp[..16].replace(':', "-");
                format!(
                    ".gemini/tmp/{}/chats/session-{stamp}-{short}.jsonl",
                    self.slug()
                )
            }
        };
        disk::write(&home.join(place), lines.as_bytes());
    }

    /// The name that Gemini gives to the folder of a project.
    fn slug(&self) -> String {
        let (_, name) = self.cwd.rsplit_once('/').unwrap_or_default();
        name.to_lowercase()
    }

    pub(super) fn fresh_call(&mut self, prefix: &str) -> String {
        format!("{prefix}{}", self.rng.base36(24))
    }
}

/// Returns the words of a failure or a rejection, as a model reads them.
pub(super) fn numbered(content: &str) -> String {
    let lines = content.lines().enumerate();
    let lines = lines.map(|(at, line)| format!("{:>6}→{line}", at + 1));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns a unified hunk of the one stretch in which two texts differ.
pub(super) fn hunk(before: &str, after: &str) -> Option<Value> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(&new).take_while(same).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = tail.take_while(same).count();
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    if head == old_end && head == new_end {
        return None;
    }
    let from = head.saturating_sub(3);
    let to = (old_end + 3).min(old.len());
    let part = |sign: &str, lines: &[&str]| -> Vec<String> {
        lines.iter().map(|line| format!("{sign}{line}")).collect()
    };
    let mut lines = part(" ", &old[from..head]);
    lines.extend(part("-", &old[head..old_end]));
    lines.extend(part("+", &new[head..new_end]));
    lines.extend(part(" ", &old[old_end..to]));
    Some(json!({
        "oldStart": from + 1, "oldLines": to - from, "newStart": from + 1,
        "newLines": to - from + (new_end - head) - (old_end - head), "lines": lines,
    }))
}
