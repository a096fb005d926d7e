//! A repository that people and sessions of agents change, with the truth about every line.

use std::path::{Path, PathBuf};
use std::process::Command;

use boswell_testkit::clock::{MORNING, iso};
use boswell_testkit::disk;
use boswell_testkit::rng::Rng;

use super::file::{TrackedFile, WORDS};
use super::logs::{Agent, Log};
use super::truth::Line;

/// A repository while it is written.
pub(super) struct World {
    pub(super) rng: Rng,
    pub(super) clock: i64,
    pub(super) root: PathBuf,
    pub(super) files: Vec<TrackedFile>,
    pub(super) sessions: Vec<Log>,
    /// What was done, printed when the test fails.
    pub(super) journal: Vec<String>,
    /// Paths on disk.
    written: Vec<String>,
    counter: usize,
}

/// Runs git in a folder, at a time.
pub(super) fn git(folder: &Path, at: i64, args: &[&str]) -> String {
    let done = Command::new("git")
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_DATE", iso(at))
        .env("GIT_COMMITTER_DATE", iso(at))
        .envs([("GIT_AUTHOR_NAME", "me"), ("GIT_COMMITTER_NAME", "me")])
        .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "me@example.org")))
        .output()
        .unwrap();
    assert!(done.status.success(), "git {args:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap()
}

impl World {
    pub(super) fn new(root: &Path, seed: u64) -> World {
        let root = root.join("demo");
        for folder in ["src", "docs"] {
            disk::make_dir(&root.join(folder));
        }
        let root = root.canonicalize().unwrap();
        let mut rng = Rng::for_part(seed, "blame");
        let clock = MORNING + 60_000 * rng.below(40_000) as i64;
        git(&root, clock, &["init", "-q", "-b", "main"]);
        git(&root, clock, &["config", "core.autocrlf", "false"]);
        let folders = ["", "", "/src", "/docs"];
        let sessions = (0..rng.between(3, 6)).map(|number| {
            // Every agent writes in every few repositories.
            let agent = Agent::ALL[(seed as usize + number) % Agent::ALL.len()];
            let cwd = format!("{}{}", root.display(), rng.word(&folders));
            Log::new(agent, &cwd, seed * 100 + number as u64, clock)
        });
        let sessions = sessions.collect();
        World {
            rng,
            clock,
            root,
            files: Vec::new(),
            sessions,
            journal: Vec::new(),
            written: Vec::new(),
            counter: 0,
        }
    }

    /// Some time passes.
    pub(super) fn tick(&mut self) -> i64 {
        self.clock += 4_000 + 1_000 * self.rng.below(60) as i64;
        self.clock
    }

    pub(super) fn note(&mut self, what: String) {
        self.journal.push(format!("{} {what}", iso(self.clock)));
    }

    /// A line: most are unique, some occur everywhere.
    pub(super) fn fresh(&mut self) -> String {
        self.counter += 1;
        let number = self.counter;
        let word = self.rng.word(&WORDS);
        match self.rng.below(20) {
            0..=2 => "}".to_owned(),
            3..=4 => String::new(),
            5 => "    return None;".to_owned(),
            6..=7 => format!("    // 第 {number} 行：会话的作者"),
            8 => format!("fn {word}_{number}() {{"),
            _ => format!("    let {word}_{number} = compute({number});"),
        }
    }

    pub(super) fn fresh_lines(&mut self, low: usize, high: usize) -> Vec<String> {
        let count = self.rng.between(low, high);
        (0..count).map(|_| self.fresh()).collect()
    }

    pub(super) fn unused_path(&mut self) -> String {
        self.counter += 1;
        let number = self.counter;
        match self.rng.below(6) {
            0 => format!("docs/说明{number}.md"),
            1 => format!("my notes {number}.md"),
            2 => format!("docs/part{number}.md"),
            _ => format!("src/part{number}.rs"),
        }
    }

    /// A file that a hand wrote.
    pub(super) fn file_by_hand(&mut self) {
        let path = self.unused_path();
        let texts = self.fresh_lines(8, 25);
        self.note(format!("a hand writes {path}"));
        let lines = texts.iter().map(|text| Line::by(None, text)).collect();
        let ended = self.rng.id_source(0.8);
        let file = TrackedFile {
            path,
            lines,
            crlf: self.rng.id_source(0.2),
            ended,
            hidden: true,
        };
        self.files.push(file);
    }

    /// Writes all files to the disk.
    pub(super) fn write_files(&mut self) {
        for gone in self.written.drain(..) {
            let _ = std::fs::remove_file(self.root.join(gone));
        }
        for file in &self.files {
            disk::write(&self.root.join(&file.path), &file.bytes());
            self.written.push(file.path.clone());
        }
    }

    pub(super) fn commit(&mut self) {
        self.write_files();
        let at = self.tick();
        git(&self.root, at, &["add", "-A"]);
        let subject = format!("Step {}", self.journal.len());
        let args = ["commit", "-q", "--allow-empty", "-m", &subject];
        git(&self.root, at, &args);
        self.note("commit".to_owned());
        self.files.iter_mut().for_each(|file| file.hidden = false);
        // Times of commits are whole seconds.
        self.clock = at + 2_000;
    }

    /// A path as a session names it: relative to its folder where it is below, else absolute.
    pub(super) fn named(&mut self, session: usize, path: &str) -> String {
        let whole = self.root.join(path).display().to_string();
        let log = &self.sessions[session];
        let below = whole.strip_prefix(&format!("{}/", log.cwd));
        match below.filter(|_| log.agent != Agent::Claude && self.rng.id_source(0.5)) {
            Some(below) => below.to_owned(),
            None => whole,
        }
    }
}
