//! `blame`: which session wrote each line of a file, and made a commit.

use std::path::{Path, PathBuf};
use std::process::Command;

use boswell_testkit::disk;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::digest::{Transcript, key};

const DONE: (&str, bool) = ("done", false);

/// Runs git in a folder at a minute of the day on which transcripts are written.
fn git(folder: &Path, minute: usize, args: &[&str]) {
    let date = format!("2026-10-05T08:{minute:02}:00Z");
    let done = Command::new("git")
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_AUTHOR_NAME", "me")
        .env("GIT_COMMITTER_NAME", "me")
        .env("GIT_AUTHOR_EMAIL", "me@example.com")
        .env("GIT_COMMITTER_EMAIL", "me@example.com")
        .env("GIT_AUTHOR_DATE", &date)
        .env("GIT_COMMITTER_DATE", &date)
        .output()
        .unwrap();
    assert!(done.status.success(), "{args:?}: {done:?}");
}

/// A machine with a file that two calls of a session wrote, and a hand.
struct Desk {
    bench: Bench,
    file: PathBuf,
    session: Transcript,
}

impl Desk {
    fn new() -> Desk {
        let bench = Bench::new();
        let cwd = bench.cwd().canonicalize().unwrap();
        let file = cwd.join("coupon.rs");
        let path = file.display().to_string();
        let edit =
            |old: &str, new: &str| json!({"file_path": path, "old_string": old, "new_string": new});
        let mut session = Transcript::new(1, cwd.to_str().unwrap());
        let text = "fn coupon() {\n    round();\n}\n";
        session
            .prompt(&format!("Write the coupon with {}", key()))
            .call("Write", json!({"file_path": path, "content": text}), DONE)
            .prompt("Make it exact")
            .call("Edit", edit("    round();\n", "    exact();\n"), DONE)
            .call("Edit", edit("}\n", "}\n// typed\n"), ("refused", true));
        session.write(&bench);
        disk::write(&file, b"fn coupon() {\n    exact();\n}\n// typed\n");
        Desk {
            bench,
            file,
            session,
        }
    }

    fn blame(&self, target: &str) -> Value {
        let ran = self.bench.run(["blame", target, "--json"]).ends(0);
        ran.of_type("blame").remove(0)
    }
}

fn entries(blame: &Value) -> Vec<Option<String>> {
    let lines = blame["lines"].as_array().unwrap().iter();
    lines
        .map(|line| line["entry"].as_str().map(str::to_owned))
        .collect()
}

#[test]
fn each_line_has_the_entry_and_the_prompt_that_wrote_it() {
    let desk = Desk::new();
    let blame = desk.blame("coupon.rs");
    let (wrote, edited) = (desk.session.entry(2), desk.session.entry(5));
    let (wrote, edited) = (Some(wrote), Some(edited));
    // The edit that was refused wrote nothing, although a hand wrote the same text later.
    assert_eq!(
        entries(&blame),
        [wrote.clone(), edited, wrote, None],
        "{blame}"
    );
    let line = &blame["lines"][1];
    assert_eq!(line["text"], "    exact();");
    assert_eq!(line["origin"], "session");
    assert_eq!(line["session"], desk.session.reference());
    assert_eq!(line["prompt"], desk.session.entry(4));
    assert_eq!(line["when"], "2026-10-05T08:00:35.000Z");
    assert_eq!(blame["lines"][3]["origin"], "unexplained");
    assert_eq!(blame["unexplained"], 1);
    assert_eq!(blame["file"], desk.file.display().to_string());
    assert_eq!(blame["repository"], Value::Null);
    let prompts = blame["prompts"].as_array().unwrap();
    assert_eq!(prompts.len(), 2, "{blame}");
    assert_eq!(prompts[1]["text"], "Make it exact");
    assert_eq!(blame["sessions"][0]["lines"], 3);
    assert!(!blame.to_string().contains("a1B2c3D4e"), "{blame}");
}

#[test]
fn some_lines_can_be_asked_for_and_are_printed_with_their_edits() {
    let desk = Desk::new();
    let blame = desk.blame("coupon.rs:2-3");
    assert_eq!(blame["lines"].as_array().unwrap().len(), 2);
    assert_eq!(blame["lines"][0]["line"], 2);
    let text = desk.bench.run(["blame", "coupon.rs"]).ends(0).text();
    for part in [
        "[2] 2      exact();",
        "    4  // typed",
        "Make it exact",
        "unexplained: 1 of 4 lines",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("a1B2c3D4e"), "{text}");
    let last = desk.bench.run(["blame", "coupon.rs:4", "--json"]).ends(1);
    assert_eq!(last.of_type("blame")[0]["unexplained"], 1);
}

#[test]
fn what_cannot_be_blamed_is_said() {
    let desk = Desk::new();
    disk::write(&desk.file.with_file_name("b.bin"), b"a\0b");
    for (target, words) in [
        ("coupon.rs:9", "has 4 lines"),
        ("coupon.rs:0", "no lines of a file"),
        ("gone.rs", "there is no file `gone.rs`"),
        ("b.bin", "is not a text"),
        ("HEAD", "in no repository"),
    ] {
        desk.bench.run(["blame", target]).ends(2).says(words);
    }
    let ran = desk.bench.run(["blame", "coupon.rs", "--trailer"]);
    ran.ends(2).says("about commits");
}

#[test]
fn a_commit_has_its_sessions_and_a_trailer() {
    let desk = Desk::new();
    let folder = desk.bench.cwd();
    git(&folder, 0, &["init", "-q"]);
    git(
        &folder,
        0,
        &["commit", "-q", "--allow-empty", "-m", "Begin"],
    );
    git(&folder, 30, &["add", "coupon.rs"]);
    git(&folder, 30, &["commit", "-q", "-m", "Add the coupon"]);
    let mut other = Transcript::new(2, folder.canonicalize().unwrap().to_str().unwrap());
    other.prompt("Explain the coupon").answer("It rounds.");
    other.write(&desk.bench);
    let ran = desk.bench.run(["blame", "HEAD", "--json"]).ends(0);
    let commit = ran.of_type("commit_blame").remove(0);
    assert_eq!(commit["subject"], "Add the coupon");
    assert_eq!(
        (&commit["added"], &commit["unexplained"]),
        (&json!(4), &json!(1))
    );
    let sessions = commit["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 2, "{commit}");
    assert_eq!(sessions[0]["session"], desk.session.reference());
    assert_eq!(
        (&sessions[0]["by"], &sessions[0]["lines"]),
        (&json!("edits"), &json!(3))
    );
    assert_eq!(sessions[0]["files"], json!(["coupon.rs"]));
    assert_eq!(
        (&sessions[1]["by"], &sessions[1]["lines"]),
        (&json!("time"), &json!(0))
    );
    let trailer = format!("Agent-Session: {}\n", desk.session.reference());
    let ran = desk
        .bench
        .run(["blame", "HEAD~1..HEAD", "--trailer"])
        .ends(0);
    assert_eq!(ran.text(), trailer);
    desk.bench
        .run(["blame", "HEAD~9"])
        .ends(2)
        .says("there is no commit `HEAD~9`");
    desk.bench.run(["blame", "--", "--output=x"]).ends(2);
    let lines = desk.blame("coupon.rs");
    let id = commit["commit"].as_str().unwrap();
    assert!(
        lines["lines"]
            .as_array()
            .unwrap()
            .iter()
            .all(|line| line["commit"] == id)
    );
}

#[test]
fn lines_are_followed_through_a_rename_and_formatting() {
    let desk = Desk::new();
    let folder = desk.bench.cwd();
    git(&folder, 20, &["init", "-q"]);
    git(&folder, 20, &["add", "."]);
    git(&folder, 20, &["commit", "-q", "-m", "Add the coupon"]);
    git(&folder, 21, &["mv", "coupon.rs", "voucher.rs"]);
    git(&folder, 21, &["commit", "-q", "-m", "Rename it"]);
    disk::write(
        &desk.file.with_file_name("voucher.rs"),
        b"fn coupon() {\n\texact();\n}\n// typed\n",
    );
    let (wrote, edited) = (Some(desk.session.entry(2)), Some(desk.session.entry(5)));
    let blame = desk.blame("voucher.rs");
    assert_eq!(
        entries(&blame),
        [wrote.clone(), edited, wrote, None],
        "{blame}"
    );
}

#[test]
#[cfg(unix)]
fn a_hostile_repository_starts_nothing() {
    let desk = Desk::new();
    let folder = desk.bench.cwd();
    let root = desk.bench.root();
    let (marker, script) = (root.join("started"), root.join("script"));
    let text = format!("#!/bin/sh\ntouch '{}'\ncat\n", marker.display());
    disk::write(&script, text.as_bytes());
    disk::set_mode(&script, 0o755);
    let script = script.to_str().unwrap();
    git(&folder, 20, &["init", "-q"]);
    git(&folder, 20, &["add", "coupon.rs"]);
    git(&folder, 20, &["commit", "-q", "-m", "Add the coupon"]);
    disk::write(
        &folder.join(".gitattributes"),
        b"* filter=bad diff=bad merge=bad\n",
    );
    for hook in ["post-index-change", "reference-transaction", "pre-auto-gc"] {
        let file = folder.join("hooks").join(hook);
        disk::write(&file, text.as_bytes());
        disk::set_mode(&file, 0o755);
    }
    let hooks = folder.join("hooks").display().to_string();
    git(&folder, 21, &["config", "core.hooksPath", &hooks]);
    for setting in [
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.editor",
        "core.alternateRefsCommand",
        "core.gitProxy",
        "gpg.program",
        "credential.helper",
        "diff.external",
        "diff.bad.command",
        "diff.bad.textconv",
        "merge.bad.driver",
        "filter.bad.clean",
        "filter.bad.smudge",
        "filter.bad.process",
        "pager.log",
        "pager.rev-parse",
        "alias.log",
        "alias.cat-file",
        "alias.rev-parse",
        "uploadpack.packObjectsHook",
    ] {
        git(&folder, 21, &["config", setting, script]);
    }
    for (setting, value) in [
        ("log.showSignature", "true"),
        ("diff.submodule", "log"),
        ("log.follow", "true"),
        ("core.attributesFile", ".gitattributes"),
    ] {
        git(&folder, 21, &["config", setting, value]);
    }
    // Git itself starts them.
    let _ = Command::new("git")
        .args(["diff"])
        .current_dir(&folder)
        .output();
    assert!(marker.exists());
    std::fs::remove_file(&marker).unwrap();
    let blame = desk.blame("coupon.rs");
    assert_eq!(blame["unexplained"], 1);
    assert!(
        blame["lines"][0]["commit"].is_string(),
        "git was asked: {blame}"
    );
    desk.bench.run(["blame", "HEAD"]).ends(0);
    assert!(!marker.exists(), "a program of the repository was started");
}
