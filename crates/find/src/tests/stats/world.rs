//! A small set of sessions that share messages, and random changes to it.

use std::path::{Path, PathBuf};

use boswell_store::store::Stores;
use boswell_testkit::files::Made;
use boswell_testkit::make::codex::{CodexShape, Taken, fork, rollout};
use boswell_testkit::{corpus, disk};
use proptest::prelude::*;

/// A change, and the numbers that select its targets.
#[derive(Debug, Clone)]
pub(super) struct Change {
    what: What,
    who: usize,
    other: usize,
}

#[derive(Debug, Clone, Copy)]
enum What {
    Begin,
    Append,
    Fork,
    Copy,
    Delete,
    Rename,
    Rewrite,
    Subagent,
    Cost,
    CodexBegin,
    CodexFork,
    CodexDelete,
    CodexArchive,
    Omp,
    OmpTask,
    OmpTranscript,
    Front,
    Document,
}

/// Sequences of changes that begin with a session.
pub(super) fn changes(most: usize) -> impl Strategy<Value = Vec<Change>> {
    use What::*;
    let what = prop_oneof![
        3 => Just(Begin), 4 => Just(Append), 3 => Just(Fork), 2 => Just(Copy), 2 => Just(Delete), 2 => Just(Rename),
        2 => Just(Rewrite), 2 => Just(Subagent), 1 => Just(Cost), 2 => Just(CodexBegin), 3 => Just(CodexFork),
        2 => Just(CodexDelete), 1 => Just(CodexArchive), 2 => Just(Omp), 1 => Just(OmpTask), 1 => Just(OmpTranscript),
        3 => Just(Front), 2 => Just(Document),
    ];
    let change = (what, 0..1000_usize, 0..1000_usize).prop_map(|(what, who, other)| Change {
        what,
        who,
        other,
    });
    proptest::collection::vec(change, 1..most).prop_map(|mut changes| {
        changes.insert(
            0,
            Change {
                what: Begin,
                who: 1,
                other: 2,
            },
        );
        changes
    })
}

/// Returns a Codex session, a fork without messages of its own, and a document about the fork.
pub(super) fn an_idle_fork_with_a_front() -> Vec<Change> {
    let change = |what, who| Change {
        what,
        who,
        other: 0,
    };
    vec![
        change(What::CodexBegin, 0),
        change(What::CodexFork, 0),
        Change {
            what: What::Document,
            who: 1,
            other: 7,
        },
    ]
}

#[derive(Debug)]
pub(super) struct World {
    folder: tempfile::TempDir,
    made: usize,
    codex: Vec<Made>,
    rows: Vec<String>,
}

impl Default for World {
    fn default() -> World {
        World {
            folder: tempfile::tempdir().unwrap(),
            made: 0,
            codex: Vec::new(),
            rows: Vec::new(),
        }
    }
}

impl World {
    pub(super) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    pub(super) fn stores(&self) -> Stores {
        let mut stores = Stores::default();
        for dialect in ["myagents", "claude", "codex", "omp", "clinvoker"] {
            std::fs::create_dir_all(self.path(dialect)).unwrap();
            stores.add(dialect, self.path(dialect)).unwrap();
        }
        stores
    }

    /// Returns a log of a store; `None` if it has none.
    fn log(&self, store: &str, which: usize) -> Option<PathBuf> {
        let folder = Some(self.path(store)).filter(|folder| folder.is_dir())?;
        let logs: Vec<PathBuf> = (corpus::files(&folder).into_iter())
            .filter(|path| path.extension().is_some_and(|it| it == "jsonl"))
            .collect();
        logs.get(which % logs.len().max(1)).cloned()
    }

    fn id(&mut self) -> String {
        self.made += 1;
        format!("{:08x}-1111-4111-8111-{:012x}", self.made, self.made)
    }

    fn add(&self, path: &Path, text: &str) {
        let before = if path.exists() {
            disk::read(path)
        } else {
            Vec::new()
        };
        disk::write(path, &[&before, text.as_bytes()].concat());
    }

    fn claude(&self, id: &str, project: usize) -> PathBuf {
        self.path(&format!("claude/projects/-p{}/{id}.jsonl", project % 3))
    }

    pub(super) fn make(&mut self, change: &Change) {
        let Change { what, who, other } = *change;
        match what {
            What::Begin => {
                let id = self.id();
                let text: String = (0..3)
                    .map(|more| answer(&id, who + more * other, other))
                    .collect();
                self.add(&self.claude(&id, who), &text);
            }
            What::CodexBegin => {
                self.made += 1;
                // Unrelated sessions may happen to reach the same totals.
                let id = format!("019d7e3d-0164-79d1-af76-{:012x}", self.made);
                let made = rollout(
                    CodexShape::Plain,
                    &format!("/p{}", who % 3),
                    Some(&id),
                    other as u64 % 3,
                );
                made.write_to(&self.path("codex"));
                self.codex.push(made);
            }
            What::CodexFork | What::CodexArchive => self.change_codex(what, who, other),
            What::CodexDelete => {
                if let Some(log) = self.log("codex", who) {
                    std::fs::remove_file(log).unwrap();
                }
            }
            What::Omp => {
                let log = self.path(&format!(
                    "omp/sessions/--p--/2026-01-01T00-00-00-000Z_s{}.jsonl",
                    who % 3
                ));
                let header = if log.exists() {
                    String::new()
                } else {
                    omp_header(&format!("s{}", who % 3), who)
                };
                self.add(&log, &(header + &omp_line("assistant", other % 8, other)));
            }
            What::OmpTask | What::OmpTranscript => {
                let Some(log) = self
                    .log("omp/sessions/--p--", who)
                    .filter(|log| log.parent().unwrap().ends_with("--p--"))
                else {
                    return;
                };
                if matches!(what, What::OmpTask) {
                    self.add(&log, &omp_line("toolResult", 100 + other % 5, other));
                } else {
                    let text = omp_header("sub", who) + &omp_line("assistant", other % 8, other);
                    self.add(
                        &log.with_extension("")
                            .join(format!("{}-Task.jsonl", other % 2)),
                        &text,
                    );
                }
            }
            What::Front | What::Document => self.change_fronts(what, who, other),
            _ => self.change_claude(what, who, other),
        }
    }

    fn change_claude(&mut self, what: What, who: usize, other: usize) {
        let Some(log) = self.log("claude/projects", who) else {
            return;
        };
        let id = log.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = String::from_utf8(disk::read(&log)).unwrap();
        match what {
            What::Append => self.add(&log, &answer(&id, other, who)),
            What::Cost => self.add(
                &log,
                &format!(
                    "{{\"type\":\"cost-state\",\"totalCostUSD\":{}.25}}\n",
                    other % 9
                ),
            ),
            What::Fork => {
                let new = self.id();
                let kept: String = text.split_inclusive('\n').take(1 + other % 4).collect();
                self.add(
                    &self.claude(&new, other),
                    &(kept.replace(&id, &new) + &answer(&new, other, who)),
                );
            }
            What::Copy => self.add(&self.claude(&id, other), &text),
            What::Delete => std::fs::remove_file(&log).unwrap(),
            What::Rename => {
                let new = if other.is_multiple_of(2) {
                    self.id()
                } else {
                    id
                };
                let to = self.claude(&new, other);
                std::fs::create_dir_all(to.parent().unwrap()).unwrap();
                std::fs::rename(&log, to).unwrap();
            }
            What::Rewrite => {
                let lines: Vec<&str> = text.split_inclusive('\n').collect();
                disk::write(&log, lines[other % lines.len()..].concat().as_bytes());
            }
            What::Subagent => {
                let agent = format!("subagents/agent-a{}.jsonl", other % 2);
                let lines: String = text.split_inclusive('\n').take(other % 3).collect();
                let own = answer(&id, other * 7, who)
                    .replace("\"isSidechain\":false", "\"isSidechain\":true");
                self.add(&log.with_extension("").join(agent), &(lines + &own));
            }
            _ => {}
        }
    }

    fn change_codex(&mut self, what: What, who: usize, other: usize) {
        let Some(parent) = self.codex.get(who % self.codex.len().max(1)).cloned() else {
            return;
        };
        let root = self.path("codex");
        if matches!(what, What::CodexArchive) {
            let to = root.join(parent.main.replacen("sessions/", "archived_sessions/", 1));
            disk::write(&to, parent.bytes());
            return;
        }
        let taken = [
            Taken::Copied,
            Taken::WithoutHeader,
            Taken::OldTurns,
            Taken::Referred,
        ][other % 4];
        self.made += 1;
        let made = fork(&parent, 1 + other % 3, who % 3, taken, self.made as u64);
        made.write_to(&root);
        self.codex.push(made);
    }

    fn change_fronts(&mut self, what: What, who: usize, other: usize) {
        let claude = self
            .log("claude/projects", who)
            .map(|log| log.file_stem().unwrap().to_str().unwrap().to_owned());
        let linked = claude.unwrap_or_default();
        let time = format!("2026-01-0{}T00:00:00.000Z", 1 + other % 4);
        let output = other % 50;
        if matches!(what, What::Document) {
            let id = format!("doc{}", other % 4);
            let codex = self
                .codex
                .get(who % self.codex.len().max(1))
                .filter(|_| !who.is_multiple_of(3))
                .map(|made| made.id.clone());
            let (backend, linked) = codex.map_or(("claude", linked), |codex| ("codex", codex));
            let text = format!(
                r#"{{"id":"{id}","backend":"{backend}","created_at":"{time}","last_used":"{time}","model":"m1","backend_session_id":"{linked}","turn_count":{},"token_usage":{{"input_tokens":{who},"output_tokens":{output}}}}}"#,
                other % 3
            );
            disk::write(
                &self.path(&format!("clinvoker/sessions/{id}.json")),
                text.as_bytes(),
            );
            return;
        }
        let id = format!("front{}", other % 4);
        let row = format!(
            r#"{{"id":"{id}","agentDir":"/p{}","title":"T","createdAt":"{time}","lastActiveAt":"{time}","sdkSessionId":"{linked}","model":"m{}","stats":{{"messageCount":{},"totalInputTokens":{who},"totalOutputTokens":{output}}}}}"#,
            who % 3,
            who % 2,
            other % 5
        );
        self.rows
            .retain(|known| !known.contains(&format!("\"id\":\"{id}\"")));
        self.rows.push(row);
        disk::write(
            &self.path("myagents/sessions.json"),
            format!("[{}]", self.rows.join(",")).as_bytes(),
        );
        if who.is_multiple_of(2) {
            let line = format!(
                r#"{{"id":"{who}","role":"assistant","content":"x","timestamp":"{time}","usage":{{"inputTokens":{who},"outputTokens":{output},"model":"m{}"}}}}"#,
                other % 3
            ) + "\n";
            self.add(&self.path(&format!("myagents/sessions/{id}.jsonl")), &line);
        }
    }
}

/// A line of Claude Code. There are few messages, so that sessions share them; a message may be
/// stated more than once, growing.
fn answer(session: &str, which: usize, more: usize) -> String {
    let (message, model, day) = (which % 13, which % 13 % 3, which % 13 % 4);
    let (input, output, hour) = (which % 13 * 3, 1 + more % 5, message % 3);
    format!(
        r#"{{"type":"assistant","uuid":"u{which}-{more}","parentUuid":null,"isSidechain":false,"sessionId":"{session}","cwd":"/p{}","timestamp":"2026-02-0{}T0{}:00:00.000Z","requestId":"r","message":{{"id":"msg{message}","role":"assistant","model":"m{model}","content":[],"usage":{{"input_tokens":{input},"output_tokens":{output},"cache_creation_input_tokens":5,"cache_creation":{{"ephemeral_1h_input_tokens":{hour}}}}}}}}}"#,
        which % 3,
        1 + day,
        message % 10
    ) + "\n"
}

fn omp_header(id: &str, day: usize) -> String {
    format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-01-0{}T00:00:00.000Z\",\"cwd\":\"/p\"}}\n",
        1 + day % 9
    )
}

fn omp_line(role: &str, id: usize, more: usize) -> String {
    let usage = format!(
        "{{\"input\":1,\"output\":{},\"premiumRequests\":0.5}}",
        1 + more % 3
    );
    let said = match role {
        "assistant" => format!("\"provider\":\"x\",\"model\":\"m1\",\"usage\":{usage}"),
        _ => format!("\"toolName\":\"task\",\"details\":{{\"usage\":{usage}}}"),
    };
    format!(
        "{{\"type\":\"message\",\"id\":\"e{id}\",\"parentId\":null,\"timestamp\":\"2026-01-01T00:0{}:00.000Z\",\"message\":{{\"role\":\"{role}\",\"content\":[],{said}}}}}\n",
        id % 10
    )
}
