//! A store of pi, oh-my-pi or xcsh to run commands on, and lines to fill it with.

use std::path::{Path, PathBuf};

use boswell_testkit::disk;
use serde_json::Value;

use crate::bench::{Bench, Ran, finish};

pub(crate) const FAMILY: [&str; 3] = ["pi", "omp", "xcsh"];

/// A store of one flavour with one session, on a temporary bench.
pub(crate) struct Lab {
    pub(crate) bench: Bench,
    pub(crate) dialect: &'static str,
}

pub(crate) fn header(id: &str, cwd: &str, rest: &str) -> String {
    format!(
        r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-02-16T10:20:30.000Z","cwd":"{cwd}"{rest}}}"#
    )
}

pub(crate) fn entry(kind: &str, id: &str, parent: &str, rest: &str) -> String {
    let parent = if parent.is_empty() {
        "null".to_owned()
    } else {
        format!("\"{parent}\"")
    };
    format!(
        r#"{{"type":"{kind}","id":"{id}","parentId":{parent},"timestamp":"2026-02-16T10:20:31.000Z",{rest}}}"#
    )
}

pub(crate) fn user(id: &str, parent: &str, text: &str) -> String {
    entry(
        "message",
        id,
        parent,
        &format!(r#""message":{{"role":"user","content":"{text}","timestamp":1771237231000}}"#),
    )
}

pub(crate) fn answer(id: &str, parent: &str, text: &str) -> String {
    let usage = r#""usage":{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":3,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.5}}"#;
    entry(
        "message",
        id,
        parent,
        &format!(
            r#""message":{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}],"api":"a","provider":"p","model":"m",{usage},"stopReason":"stop","timestamp":1771237232000}}"#
        ),
    )
}

pub(crate) const V1: &str = concat!(
    r#"{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00Z","cwd":"/proj/old","provider":"p","modelId":"m"}"#,
    "\n",
    r#"{"type":"message","timestamp":"2025-01-01T00:00:01Z","message":{"role":"user","content":"first"}}"#,
    "\n{\"type\":\"mess\n",
    r#"{"type":"message","timestamp":"2025-01-01T00:00:02Z","message":{"role":"user","content":"second"}}"#,
    "\n",
    r#"{"type":"compaction","timestamp":"2025-01-01T00:00:03Z","summary":"sum","firstKeptEntryIndex":3,"tokensBefore":7}"#,
    "\n",
    r#"{"type":"message","timestamp":"2025-01-01T00:00:04Z","message":{"role":"user","content":"third"}}"#,
    "\n"
);

impl Lab {
    pub(crate) fn new(dialect: &'static str) -> Lab {
        let lab = Lab {
            bench: Bench::new(),
            dialect,
        };
        let lines = [
            header("0b7e", "/proj/demo", ""),
            user("u1", "", "why is the build red?"),
            answer("a1", "u1", "a rule is missing"),
            user("u2", "a1", "add it"),
            answer("a2", "u2", "done"),
        ];
        lab.plant(
            "--proj-demo--/2026-02-16T10-20-30-000Z_0b7e.jsonl",
            &format!("{}\n", lines.join("\n")),
        );
        lab.plant(
            "--proj-demo--/2026-02-16T10-20-30-000Z_0b7e/1.bash.log",
            "whole output",
        );
        lab.plant("--proj-old--/2025-01-01T00-00-00-000Z_old.jsonl", V1);
        lab
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.bench.home().join(format!(".{}/agent", self.dialect))
    }

    pub(crate) fn plant(&self, name: &str, text: &str) -> PathBuf {
        self.bench.plant(
            &format!(".{}/agent/sessions/{name}", self.dialect),
            text.as_bytes(),
        )
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.root()
            .join("sessions/--proj-demo--/2026-02-16T10-20-30-000Z_0b7e.jsonl")
    }

    pub(crate) fn old(&self) -> PathBuf {
        self.root()
            .join("sessions/--proj-old--/2025-01-01T00-00-00-000Z_old.jsonl")
    }

    pub(crate) fn args(&self, args: &[&str]) -> Vec<String> {
        let store = format!("{}={}", self.dialect, self.root().display());
        ["--store".to_owned(), store]
            .into_iter()
            .chain(args.iter().map(|it| (*it).to_owned()))
            .collect()
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.bench.run(self.args(args))
    }

    /// Appends lines from standard input; returns the ids of the new entries.
    pub(crate) fn feed(&self, session: &str, lines: &[&str]) -> Vec<String> {
        let input = self.bench.tmp().join("input");
        disk::write(&input, format!("{}\n", lines.join("\n")).as_bytes());
        let mut command = self
            .bench
            .command(self.args(&["append", session, "--json"]));
        command.stdin(opened(&input));
        let id = |line: &Value| line["entry"].as_str().unwrap().to_owned();
        finish(command)
            .ends(0)
            .of_type("receipt")
            .iter()
            .map(id)
            .collect()
    }

    pub(crate) fn context(&self, session: &str) -> Vec<String> {
        let said = |line: &Value| {
            line["content"][0]["text"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        self.run(&["context", session, "--json"])
            .ends(0)
            .of_type("message")
            .iter()
            .map(said)
            .collect()
    }

    pub(crate) fn session(&self, id: &str) -> Value {
        let rows = self
            .run(&["list", "--json", "--hidden"])
            .ends(0)
            .of_type("session");
        rows.into_iter()
            .find(|row| row["id"] == id)
            .unwrap_or_else(|| panic!("{id} is not listed"))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "standard input of a test comes from a file"
)]
pub(crate) fn opened(path: &Path) -> std::fs::File {
    std::fs::File::open(path).unwrap()
}

pub(crate) fn text_of(path: &Path) -> String {
    String::from_utf8(disk::read(path)).unwrap()
}
