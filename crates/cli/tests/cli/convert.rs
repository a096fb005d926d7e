//! Sessions that are carried over to another agent: planned, written once, found on both sides,
//! undone, and resumed by the real program.

use std::path::{Path, PathBuf};

use boswell_testkit::TreeSnapshot;
use boswell_testkit::conversions::{RealProgram, TARGETS};
use boswell_testkit::disk;
use boswell_testkit::make::{claude, codex};
use serde_json::Value;

use crate::bench::Bench;

/// A machine with a session of Claude Code and a home of Codex; returns the session.
fn machine() -> (Bench, String) {
    let bench = Bench::new();
    let cwd = bench.cwd().canonicalize().unwrap();
    let made = claude::file(claude::ClaudeShape::ToolUse, cwd.to_str().unwrap(), 3);
    made.write_to(&bench.home().join(".claude"));
    disk::make_dir(&bench.home().join(".codex/sessions"));
    let session = format!("claude:{}", made.id);
    (bench, session)
}

/// Returns the files below a folder with their bytes.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut open, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(disk::list(&path));
        } else {
            let bytes = disk::read(&path);
            found.push((path, bytes));
        }
    }
    found.sort();
    found
}

#[track_caller]
fn converted(bench: &Bench, session: &str, to: &str) -> String {
    let ran = bench.run(["convert", session, "--to", to, "--branch", "--apply", "-q"]);
    let text = ran.ends(0).text();
    text.lines().last().unwrap().to_owned()
}

fn listed(bench: &Bench, session: &str) -> Option<Value> {
    let sessions = bench.run(["list", "--json", "-q"]).ends(0);
    let sessions = sessions.of_type("session");
    sessions.into_iter().find(|it| it["ref"] == session)
}

#[test]
fn a_conversion_is_shown_first_and_written_only_when_asked() {
    let (bench, session) = machine();
    let agents = bench.home();
    let before = TreeSnapshot::take(&agents);
    let shown = bench.run(["convert", &session, "--to", "codex"]).ends(2);
    let text = shown.text();
    assert!(text.contains("messages for Codex"), "{text}");
    assert!(text.contains("reasoning"), "{text}");
    assert!(text.contains("write "), "{text}");
    assert!(shown.stderr.contains("--apply"), "{shown:?}");
    assert_eq!(TreeSnapshot::take(&agents), before);
    let plan = bench
        .run(["convert", &session, "--to", "codex", "--json"])
        .ends(2);
    let plan = plan.of_type("conversion").remove(0);
    assert_eq!(plan["exists"], false);
    assert_eq!(plan["source"], session.as_str());
    let kinds: Vec<&str> = plan["losses"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|loss| loss["kind"].as_str())
        .collect();
    assert!(kinds.contains(&"thinking"), "{kinds:?}");
}

#[test]
fn converting_twice_gives_one_session_with_lineage_on_both_sides_and_undo_takes_it_back() {
    let (bench, session) = machine();
    let agents = bench.home();
    let before = files(&agents);
    let made = converted(&bench, &session, "codex");
    assert!(made.starts_with("codex:"), "{made}");
    let after = TreeSnapshot::take(&agents);
    let again = bench.run(["convert", &session, "--to", "codex", "--branch", "--apply"]);
    let again = again.ends(0).says("before");
    assert_eq!(again.text().trim(), made);
    assert_eq!(TreeSnapshot::take(&agents), after);
    let target = listed(&bench, &made).unwrap();
    assert_eq!(target["parent"], session.as_str(), "{target}");
    let source = listed(&bench, &session).unwrap();
    assert_eq!(source["converted_to"][0], made.as_str(), "{source}");
    bench.run(["check", &made]).ends(0);
    bench.run(["undo"]).ends(0);
    assert_eq!(files(&agents), before);
    assert!(listed(&bench, &made).is_none());
    let source = listed(&bench, &session).unwrap();
    assert_eq!(source["converted_to"].as_array().map(Vec::len), Some(0));
    assert_eq!(converted(&bench, &session, "codex"), made);
}

#[test]
fn resume_with_another_agent_makes_the_session_and_gives_its_command() {
    let (bench, session) = machine();
    bench
        .run(["resume", &session, "--with", "codex", "--print"])
        .ends(2);
    let ran = bench.run(["resume", &session, "--with", "codex", "--apply", "--print"]);
    let text = ran.ends(0).text();
    let command = text.lines().last().unwrap();
    assert!(command.contains("codex resume "), "{text}");
    // Now it exists, so nothing has to be asked.
    let again = bench.run(["resume", &session, "--with", "codex", "--print"]);
    assert_eq!(again.ends(0).text().trim(), command);
}

#[test]
fn what_cannot_be_converted_is_refused_with_the_next_step() {
    let (bench, session) = machine();
    let same = bench.run(["convert", &session, "--to", "claude", "--apply"]);
    same.ends(2).says("boswell fork");
    bench
        .run(["convert", &session, "--to", "nobody"])
        .ends(2)
        .says("boswell stores");
    bench
        .run(["convert", &session, "--to", "gemini"])
        .ends(2)
        .says("--store");
    bench
        .run([
            "--read-only",
            "convert",
            &session,
            "--to",
            "codex",
            "--apply",
        ])
        .ends(2);
}

#[test]
fn a_digest_has_the_goal_the_files_and_the_last_state() {
    let (bench, session) = machine();
    let text = bench.run(["handoff", &session]).ends(0).text();
    for title in ["# Handoff of", "## Goal", "## Last answer"] {
        assert!(text.contains(title), "{title}: {text}");
    }
    let digest = bench
        .run(["handoff", &session, "--tokens", "300", "--json"])
        .ends(0);
    let digest = digest.of_type("handoff").remove(0);
    assert!(digest["tokens"].as_u64().unwrap() <= 300, "{digest}");
    bench.run(["handoff", &session, "--tokens", "5"]).ends(2);
}

#[test]
fn a_session_is_carried_over_to_every_target_and_back() {
    let bench = Bench::new();
    let cwd = bench.cwd().canonicalize().unwrap();
    let made = codex::rollout(codex::CodexShape::Tools, cwd.to_str().unwrap(), None, 3);
    made.write_to(&bench.home().join(".codex"));
    for folder in [
        ".claude/projects",
        ".pi/agent/sessions",
        ".omp/agent/sessions",
        ".gemini/tmp",
        ".qwen/projects",
        ".copilot/session-state",
        ".kimi-code/sessions",
    ] {
        disk::make_dir(&bench.home().join(folder));
    }
    let session = format!("codex:{}", made.id);
    // Those with databases need their programs: see `convert_importers`.
    let others = ["codex", "opencode", "goose"];
    for target in TARGETS.iter().filter(|target| !others.contains(*target)) {
        let there = converted(&bench, &session, target);
        assert!(there.starts_with(target), "{there}");
        let back = converted(&bench, &there, "codex");
        assert_ne!(back, session);
        bench.run(["context", &back, "-q"]).ends(0);
    }
}

/// The first cell of each target; `cargo xtask soak convert` runs the whole matrix.
#[test]
fn real_programs_resume_what_was_carried_over() {
    for cell in [
        ("codex", "claude"),
        ("boswell", "claude"),
        ("claude", "codex"),
        ("boswell", "codex"),
        ("claude", "pi"),
        ("boswell", "pi"),
        ("claude", "gemini"),
        ("claude", "qwen"),
        ("claude", "copilot"),
        ("claude", "kimi"),
        ("claude", "omp"),
        ("claude", "opencode"),
        ("claude", "goose"),
    ] {
        let Some(program) = RealProgram::of(cell.1) else {
            continue;
        };
        let scratch = disk::scratch(&format!("convert-{}-{}", cell.0, cell.1));
        let wrong = program.resume(cell, &scratch);
        disk::remove(&scratch);
        assert!(wrong.is_empty(), "{cell:?}: {wrong:#?}");
    }
}
