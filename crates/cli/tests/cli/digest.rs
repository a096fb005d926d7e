//! `outline` and `today`: what was asked and done, in the words of sessions.

use std::path::Path;
use std::process::Command;

use boswell_testkit::disk;
use boswell_testkit::make::claude::project_key;
use serde_json::{Value, json};

use crate::bench::Bench;

/// A transcript of Claude Code, line by line. Each entry follows the one before.
pub(crate) struct Transcript {
    pub(crate) id: String,
    cwd: String,
    lines: String,
    entries: usize,
    seconds: usize,
}

impl Transcript {
    pub(crate) fn new(number: u32, cwd: &str) -> Transcript {
        Transcript {
            id: format!("{number:08}-0000-4000-8000-000000000000"),
            cwd: cwd.to_owned(),
            lines: String::new(),
            entries: 0,
            seconds: 0,
        }
    }

    pub(crate) fn reference(&self) -> String {
        format!("claude:{}", self.id)
    }

    /// The id of an entry, counted from 1.
    pub(crate) fn entry(&self, number: usize) -> String {
        format!("{}-e{number}", &self.id[..8])
    }

    fn line(&mut self, kind: &str, content: Value) -> &mut Transcript {
        let parent = match self.entries {
            0 => Value::Null,
            last => json!(self.entry(last)),
        };
        self.entries += 1;
        self.seconds += 7;
        let line = json!({
            "type": kind, "uuid": self.entry(self.entries), "parentUuid": parent, "sessionId": self.id,
            "isSidechain": false, "cwd": self.cwd, "version": "2.0.0",
            "timestamp": format!("2026-10-05T08:{:02}:{:02}.000Z", self.seconds / 60, self.seconds % 60),
            "message": {"role": kind, "content": content, "model": "claude-opus-4-1"},
        });
        self.lines.push_str(&format!("{line}\n"));
        self
    }

    pub(crate) fn prompt(&mut self, text: &str) -> &mut Transcript {
        self.line("user", json!(text))
    }

    pub(crate) fn answer(&mut self, text: &str) -> &mut Transcript {
        self.line("assistant", json!([{"type": "text", "text": text}]))
    }

    /// A call and its result.
    pub(crate) fn call(
        &mut self,
        tool: &str,
        input: Value,
        (said, is_error): (&str, bool),
    ) -> &mut Transcript {
        let call = format!("toolu_{}_{}", self.id, self.entries);
        self.line(
            "assistant",
            json!([{"type": "tool_use", "id": call, "name": tool, "input": input}]),
        );
        let result = json!([{
            "type": "tool_result", "tool_use_id": call, "content": said, "is_error": is_error,
        }]);
        self.line("user", result)
    }

    pub(crate) fn write(&self, bench: &Bench) {
        let folder = bench
            .home()
            .join(".claude/projects")
            .join(project_key(&self.cwd));
        let file = folder.join(format!("{}.jsonl", self.id));
        disk::write(&file, self.lines.as_bytes());
    }
}

/// A made-up key that has the form of one of GitHub.
pub(crate) fn key() -> String {
    format!("ghp_{}", "a1B2c3D4e".repeat(4))
}

/// A machine with a session that edits, fails and leaves something open.
fn machine() -> (Bench, Transcript) {
    let bench = Bench::new();
    let cwd = bench.cwd().canonicalize().unwrap();
    let file = cwd.join("src/coupon.rs").display().to_string();
    let mut session = Transcript::new(1, cwd.to_str().unwrap());
    let edit =
        |old: &str, new: &str| json!({"file_path": file, "old_string": old, "new_string": new});
    session
        .prompt(&format!("Make the coupon exact. The key is {}", key()))
        .call("Edit", edit("a\nb", "a\nc\nd"), ("edited", false))
        .call("Edit", edit("x", "y\nz"), ("string not found", true))
        .call(
            "Bash",
            json!({"command": "cargo build"}),
            ("exit 101", true),
        )
        .call("Bash", json!({"command": "cargo build"}), ("ok", false))
        .call(
            "Bash",
            json!({"command": "cargo test"}),
            ("2 tests failed", true),
        )
        .answer("Rounding is exact now. Two tests still fail.")
        .prompt("继续");
    session.write(&bench);
    (bench, session)
}

#[test]
fn an_outline_has_prompts_changes_failures_and_open_ends() {
    let (bench, session) = machine();
    let outline = bench
        .run(["outline", &session.reference(), "--json"])
        .ends(0);
    let outline = outline.of_type("outline").remove(0);
    let prompts = outline["prompts"].as_array().unwrap();
    assert_eq!(prompts.len(), 2, "{outline}");
    assert_eq!(prompts[0]["number"], 1);
    assert_eq!(prompts[0]["entry"], session.entry(1));
    assert_eq!(prompts[1]["text"], "继续");
    let files = outline["files"].as_array().unwrap();
    assert_eq!(files.len(), 1, "{outline}");
    // The edit that failed changed nothing.
    assert_eq!(
        (&files[0]["added"], &files[0]["removed"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(files[0]["edits"], 1);
    let failed: Vec<&str> = outline["failures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["subject"].as_str().unwrap())
        .collect();
    assert_eq!(failed.len(), 2, "{outline}");
    assert!(failed[0].ends_with("coupon.rs"));
    // `cargo build` failed too, and then succeeded.
    assert_eq!(failed[1], "cargo test");
    assert_eq!(
        outline["open_ends"],
        json!(["Two tests still fail.", "继续"])
    );
    assert_eq!(outline["other_branches"], 0);
    assert!(!outline.to_string().contains("a1B2c3D4e"), "{outline}");
}

#[cfg(unix)]
#[test]
fn a_program_digests_an_outline_without_its_secrets() {
    let (bench, session) = machine();
    let (program, input) = (bench.root().join("digest"), bench.root().join("input"));
    let script = "cat > \"$2\"\nprintf '  %s: %s lines\\033[2J\\n' \"$1\" 7\n";
    disk::write(&program, script.as_bytes());
    let with = format!("sh {} --short {}", program.display(), input.display());
    let reference = session.reference();
    let ran = bench.run(["outline", &reference, "--with", &with, "--json"]);
    let outline = ran.ends(0).of_type("outline").remove(0);
    assert_eq!(outline["digest"], "--short: 7 lines\u{1b}[2J");
    let given = String::from_utf8(disk::read(&input)).unwrap();
    assert!(given.contains("Make the coupon exact"), "{given}");
    assert!(!given.contains("a1B2c3D4e"), "{given}");
    // What it prints is text, and not for the terminal to obey.
    let ran = bench.run(["outline", &reference, "--with", &with]).ends(0);
    let text = ran.text();
    assert!(text.contains("--short: 7 lines"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text:?}");
    // Without it there is no digest, and one that fails is named.
    let plain = bench.run(["outline", &reference, "--json"]).ends(0);
    assert!(plain.of_type("outline")[0].get("digest").is_none());
    disk::write(&program, b"exit 3\n");
    let ran = bench.run(["outline", &reference, "--with", &with]);
    ran.ends(3).says("failed: exit status: 3");
}

#[test]
fn an_outline_is_printed_as_markdown() {
    let (bench, session) = machine();
    let text = bench.run(["outline", &session.reference()]).ends(0).text();
    for part in [
        "## Prompts",
        "1. Make the coupon exact.",
        "## Files changed\n- src/coupon.rs +2 −1",
        "- Bash cargo test",
        "2 tests failed",
        "## Open ends",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("a1B2c3D4e"), "{text}");
}

const DAY: [&str; 4] = ["--since", "2026-10-05", "--until", "2026-10-06"];

fn today(bench: &Bench, more: &[&str]) -> Vec<Value> {
    let args = [&["today", "--json"], &DAY[..], more].concat();
    bench.run(args).ends(0).of_type("today")
}

#[test]
fn today_shows_each_project_once_and_repeats_nothing_of_a_fork() {
    let (bench, session) = machine();
    // A fork repeats the entries with the same times and calls.
    let mut fork = Transcript::new(2, &session.cwd);
    fork.lines = session.lines.replace(&session.id, &fork.id);
    fork.lines = fork.lines.replace(
        &format!("toolu_{}", fork.id),
        &format!("toolu_{}", session.id),
    );
    fork.write(&bench);
    let mut other = Transcript::new(3, "/elsewhere");
    other.prompt("Something else").answer("Done.");
    other.write(&bench);
    let projects = today(&bench, &[]);
    assert_eq!(projects.len(), 2, "{projects:?}");
    let own = projects
        .iter()
        .find(|it| it["project"] == session.cwd)
        .unwrap();
    assert_eq!(own["sessions"].as_array().unwrap().len(), 2, "{own}");
    assert_eq!(own["prompts"].as_array().unwrap().len(), 2, "{own}");
    assert_eq!(own["files"][0]["added"], 2, "{own}");
    let failures = own["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 1, "only commands: {own}");
    assert_eq!(failures[0]["subject"], "cargo test");
    assert_eq!(own["commits"], Value::Null);
    assert!(!own.to_string().contains("a1B2c3D4e"), "{own}");
    let here = today(&bench, &["--here"]);
    assert_eq!(here.len(), 1);
    assert_eq!(here[0]["project"], session.cwd);
}

#[test]
fn today_ends_with_1_if_nothing_was_done() {
    let (bench, _) = machine();
    let ran = bench.run(["today", "--since", "2026-10-06", "--until", "2026-10-07"]);
    ran.ends(1).says("no session was active in that time");
    bench.run(["today", "--since", "someday"]).ends(2);
    let text = bench.run([&["today"], &DAY[..]].concat()).ends(0).text();
    for part in [
        "### Asked",
        "- 继续",
        "### Changed",
        "+2 −1",
        "### Failed last",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Runs git in a folder as a person of this name.
fn git(folder: &Path, person: &str, args: &[&str]) {
    let done = Command::new("git")
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_AUTHOR_NAME", person)
        .env("GIT_COMMITTER_NAME", person)
        .env("GIT_AUTHOR_EMAIL", format!("{person}@example.com"))
        .env("GIT_COMMITTER_EMAIL", format!("{person}@example.com"))
        .env("GIT_AUTHOR_DATE", "2026-10-05T09:00:00Z")
        .env("GIT_COMMITTER_DATE", "2026-10-05T09:00:00Z")
        .output()
        .unwrap();
    assert!(done.status.success(), "{args:?}: {done:?}");
}

/// Replaces the last commit by one with a signature, which git may want to check.
fn sign_last_commit(folder: &Path) {
    let ask = |args: &[&str]| -> String {
        let done = Command::new("git").args(args).current_dir(folder).output();
        String::from_utf8(done.unwrap().stdout).unwrap()
    };
    let commit = ask(&["cat-file", "commit", "HEAD"]);
    let (head, message) = commit.split_once("\n\n").unwrap();
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----";
    let file = folder.join(".git/signed");
    disk::write(
        &file,
        format!("{head}\n{signature}\n\n{message}").as_bytes(),
    );
    let id = ask(&["hash-object", "-t", "commit", "-w", ".git/signed"]);
    let branch = ask(&["symbolic-ref", "HEAD"]);
    ask(&["update-ref", branch.trim(), id.trim()]);
}

#[test]
#[cfg(unix)]
fn commits_are_listed_and_a_hostile_repository_starts_nothing() {
    let (bench, session) = machine();
    let folder = bench.cwd();
    let (marker, script) = (bench.root().join("started"), bench.root().join("script"));
    let text = format!("#!/bin/sh\ntouch '{}'\ncat\n", marker.display());
    disk::write(&script, text.as_bytes());
    disk::set_mode(&script, 0o755);
    git(&folder, "me", &["init", "-q"]);
    git(
        &folder,
        "me",
        &[
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "Make the coupon exact",
        ],
    );
    git(
        &folder,
        "you",
        &["commit", "-q", "--allow-empty", "-m", "Not mine"],
    );
    let script = script.to_str().unwrap();
    for setting in [
        "core.fsmonitor",
        "core.pager",
        "core.hooksPath",
        "core.sshCommand",
        "gpg.program",
        "diff.external",
        "pager.log",
        "alias.log",
    ] {
        git(&folder, "me", &["config", setting, script]);
    }
    for (setting, value) in [
        ("log.showSignature", "true"),
        ("user.email", "me@example.com"),
    ] {
        git(&folder, "me", &["config", setting, value]);
    }
    sign_last_commit(&folder);
    git(&folder, "me", &["log"]);
    assert!(
        marker.exists(),
        "git itself starts the program for the signature"
    );
    std::fs::remove_file(&marker).unwrap();
    let projects = today(&bench, &[]);
    let own = projects
        .iter()
        .find(|it| it["project"] == session.cwd)
        .unwrap();
    let commits = own["commits"].as_array().unwrap();
    assert_eq!(commits.len(), 1, "{own}");
    assert_eq!(commits[0]["subject"], "Make the coupon exact");
    assert!(!marker.exists(), "a program of the repository was started");
}
