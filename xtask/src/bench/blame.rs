//! `boswell blame` of a file that many sessions wrote, in a home of many others.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use boswell_testkit::clock::{MORNING, iso};
use boswell_testkit::make::claude::project_key;
use serde_json::{Value, json};

use super::find::Bed;
use super::group::Group;
use super::lab::{Lab, median};
use super::measure::Job;
use super::table::{self, Row, Target};
use crate::Outcome;

/// Wall-clock time with a warm catalog and index.
const ALLOWED: f64 = 0.200;
const LINES: usize = 1_000;
const SESSIONS: usize = 20;
/// Edits of each session. Each adds two lines.
const EDITS: usize = 20;
const MINUTE: i64 = 60_000;

pub(crate) struct BlameGroup;

impl Group for BlameGroup {
    fn name(&self) -> &'static str {
        "blame"
    }

    fn about(&self) -> &'static str {
        "`boswell blame` of a file with 1,000 lines, which 20 sessions wrote with 400 edits and 20 commits, among 10,000 sessions with a warm catalog and index, each time as a new process, with git, against the time allowed"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let bed = Bed::make(lab)?;
        let history = History::make(lab, &bed)?;
        let rows = history.measure(lab, &bed);
        // The other groups count the sessions.
        std::fs::remove_dir_all(&history.sessions)?;
        rows
    }
}

/// A repository with one file, and the sessions that wrote it.
struct History {
    file: PathBuf,
    repository: PathBuf,
    /// The folder of the sessions.
    sessions: PathBuf,
    lines: Vec<String>,
    /// Milliseconds since 1970.
    now: i64,
}

impl History {
    fn make(lab: &Lab, bed: &Bed) -> Outcome<History> {
        let repository = lab.data.join("blame-repository");
        if repository.exists() {
            std::fs::remove_dir_all(&repository)?;
        }
        std::fs::create_dir_all(&repository)?;
        let repository = repository.canonicalize()?;
        let key = project_key(&repository.display().to_string());
        let mut history = History {
            file: repository.join("blamed.rs"),
            sessions: bed.root.join("projects").join(key),
            repository,
            lines: Vec::new(),
            now: MORNING,
        };
        std::fs::create_dir_all(&history.sessions)?;
        history.git(&["init", "-q"])?;
        for number in 0..SESSIONS {
            history.session(number)?;
        }
        bed.job(lab, &["index"]).output_lines()?;
        Ok(history)
    }

    /// A session that edits the file, and a commit of it.
    fn session(&mut self, number: usize) -> Outcome {
        let id = format!("{number:08}-0000-4000-8000-0000000b1a3e");
        let mut log = SessionLog::new(&id, &self.repository);
        log.line(
            self.tick(),
            "user",
            &json!(format!("Write part {number} of the program")),
        );
        if number == 0 {
            let first = LINES - SESSIONS * EDITS * 2;
            self.lines = (0..first)
                .map(|line| format!("let first_{line} = {line};"))
                .collect();
            let text = self.text();
            log.call(
                self.tick(),
                "Write",
                &json!({"file_path": self.file, "content": text}),
            );
        }
        for edit in 0..EDITS {
            let at = (number * 37 + edit * 53) % self.lines.len();
            let old = self.lines.get(at).cloned().unwrap_or_default();
            let added = ["a", "b"].map(|part| format!("let part_{number}_{edit}_{part} = {at};"));
            let new = format!("{old}\n{}", added.join("\n"));
            let at = at + 1;
            self.lines.splice(at..at, added);
            let input = json!({"file_path": self.file, "old_string": old, "new_string": new});
            log.call(self.tick(), "Edit", &input);
        }
        std::fs::write(self.sessions.join(format!("{id}.jsonl")), log.text)?;
        std::fs::write(&self.file, self.text())?;
        self.tick();
        self.git(&["add", "-A"])?;
        self.git(&["commit", "-q", "-m", &format!("Part {number}")])
    }

    fn measure(&self, lab: &Lab, bed: &Bed) -> Outcome<Vec<Row>> {
        let file = self.file.display().to_string();
        let job = bed.job(lab, &["blame", &file, "--json"]);
        self.check(&job)?;
        let mut times = Vec::new();
        for _ in 0..lab.repeats.max(9) {
            let begun = Instant::now();
            job.output_lines()?;
            times.push(begun.elapsed().as_secs_f64());
        }
        let wall = median(&mut times);
        let row = |what: &str, spent: f64, target| Row {
            case: format!("1,000 lines, {what}"),
            ours: table::seconds(spent),
            baseline: format!("allowed {}", table::seconds(ALLOWED)),
            ratio: spent / ALLOWED,
            target,
        };
        Ok(vec![
            row("wall clock", wall, Some(Target::AtMost(1.0))),
            row("CPU", lab.cpu(&job)?, None),
        ])
    }

    /// A figure counts only if every line has its author.
    fn check(&self, job: &Job) -> Outcome {
        let printed = job.output()?;
        let answers = printed.lines().map(serde_json::from_str::<Value>);
        let answers = answers.collect::<Result<Vec<_>, _>>()?;
        let answer = answers.iter().find(|answer| answer["type"] == "blame");
        let answer = answer.ok_or("there is no answer of `blame`")?;
        let lines = answer["lines"].as_array().map_or(0, Vec::len);
        let unexplained = &answer["unexplained"];
        match lines == LINES && *unexplained == 0 {
            true => Ok(()),
            false => Err(format!("{lines} lines, {unexplained} of them unexplained").into()),
        }
    }

    fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn tick(&mut self) -> i64 {
        self.now += MINUTE;
        self.now
    }

    fn git(&self, arguments: &[&str]) -> Outcome {
        let date = iso(self.now);
        let status = Command::new("git")
            .args(arguments)
            .current_dir(&self.repository)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .envs([("GIT_AUTHOR_NAME", "me"), ("GIT_COMMITTER_NAME", "me")])
            .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "me@example.org")))
            .status()?;
        match status.success() {
            true => Ok(()),
            false => Err(format!("git {arguments:?} failed").into()),
        }
    }
}

/// A transcript of Claude Code while it is written.
struct SessionLog {
    id: String,
    cwd: PathBuf,
    text: String,
    entries: usize,
}

impl SessionLog {
    fn new(id: &str, cwd: &Path) -> SessionLog {
        SessionLog {
            id: id.to_owned(),
            cwd: cwd.to_owned(),
            text: String::new(),
            entries: 0,
        }
    }

    fn line(&mut self, at: i64, role: &str, content: &Value) {
        let entry = |number: usize| format!("{}-e{number}", self.id);
        let parent = (self.entries > 0).then(|| entry(self.entries));
        let line = json!({
            "type": role, "uuid": entry(self.entries + 1), "parentUuid": parent,
            "sessionId": self.id, "isSidechain": false, "cwd": self.cwd, "version": "2.1.325",
            "timestamp": iso(at), "message": {"role": role, "content": content},
        });
        self.entries += 1;
        let _ = writeln!(self.text, "{line}");
    }

    /// A call and its result.
    fn call(&mut self, at: i64, tool: &str, input: &Value) {
        let id = format!("toolu_{}_{}", self.id, self.entries);
        let call = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
        self.line(at, "assistant", &call);
        let said = "The file has been updated successfully.";
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": said}]);
        self.line(at + 1_000, "user", &result);
    }
}
