//! Damaged logs of Claude, and invalid requests, for every command that writes: nothing is lost,
//! and the error names the next step.

mod damaged_logs;

use boswell_testkit::{corpus, disk};

use crate::bench::Bench;

const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";

fn line(word: &str, uuid: &str, parent: Option<&str>, second: u32, content: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{word}","message":{{"role":"{word}","content":{content}}},"uuid":"{uuid}","timestamp":"2026-01-01T00:00:{second:02}.000Z","userType":"external","cwd":"/proj/demo","sessionId":"{ID}","version":"2.1.325","gitBranch":"HEAD"}}"#
    )
}

fn call(id: &str) -> String {
    format!(r#"[{{"type":"tool_use","id":"{id}","name":"Bash","input":{{}}}}]"#)
}

fn result(id: &str) -> String {
    format!(r#"[{{"type":"tool_result","tool_use_id":"{id}","content":"out"}}]"#)
}

/// Returns three exchanges, the second with two parallel calls.
fn base() -> Vec<String> {
    let text = |text: &str| format!("\"{text}\"");
    vec![
        line("user", "u1", None, 1, &text("ONE")),
        line("assistant", "a1", Some("u1"), 2, &text("one done")),
        line("user", "u2", Some("a1"), 3, &text("TWO")),
        line("assistant", "a2", Some("u2"), 4, &call("c1")),
        line("assistant", "a3", Some("a2"), 5, &call("c2")),
        line("user", "r1", Some("a2"), 6, &result("c1")),
        line("user", "r2", Some("a3"), 7, &result("c2")),
        line("assistant", "a4", Some("r2"), 8, &text("two done")),
        line("user", "u3", Some("a4"), 9, &text("THREE")),
        line("assistant", "a5", Some("u3"), 10, &text("three done")),
    ]
}

fn joined(lines: &[String]) -> Vec<u8> {
    lines
        .iter()
        .flat_map(|line| format!("{line}\n").into_bytes())
        .collect()
}

/// Checks that all old bytes are still there in order: the log only grew, and at most a line end
/// was inserted before.
#[track_caller]
fn kept(before: &[u8], after: &[u8], what: &str) {
    assert!(
        after.starts_with(before),
        "{what}: the log was changed, not added to"
    );
}

#[test]
fn undo_takes_every_planned_change_back_to_the_byte() {
    let bench = Bench::new();
    let log = bench.plant(
        &format!(".claude/projects/-proj-demo/{ID}.jsonl"),
        &joined(&base()),
    );
    let session = format!("claude:{ID}");
    let shown = || -> Vec<(std::path::PathBuf, Vec<u8>)> {
        corpus::files(&bench.home())
            .into_iter()
            .map(|path| (path.clone(), disk::read(&path)))
            .collect()
    };
    let before = shown();
    for args in [
        &["rename", &session, "t"] as &[&str],
        &["tag", &session, "t"],
        &["branch", &session, "a1"],
        &["rewind", &session, "u3"],
        &["fork", &session],
        &["delete", "--apply", &session],
    ] {
        bench.run(args).ends(0);
        assert_ne!(shown(), before, "{args:?}");
        bench.run(["undo"]).ends(0);
        assert_eq!(shown(), before, "{args:?}");
    }
    assert!(log.is_file());
}

#[test]
fn cleaning_takes_old_sessions_with_their_files_and_they_can_be_put_back() {
    let bench = Bench::new();
    let log = bench.plant(
        &format!(".claude/projects/-proj-demo/{ID}.jsonl"),
        &joined(&base()),
    );
    let side = bench.plant(
        &format!(".claude/projects/-proj-demo/{ID}/tool-results/t.txt"),
        b"out",
    );
    let args = ["clean", "--agent", "claude", "--older-than", "30d"];
    assert!(bench.run(args).ends(2).text().contains("would delete"));
    assert!(log.is_file());
    bench.run(args.iter().chain(&["--apply"])).ends(0);
    assert!(!log.exists() && !side.exists());
    bench.run(["restore", &format!("claude:{ID}")]).ends(0);
    assert_eq!(
        (disk::read(&log), disk::read(&side)),
        (joined(&base()), b"out".to_vec())
    );
}

#[test]
fn what_cannot_be_done_is_refused_with_what_can() {
    let bench = Bench::new();
    let compacted = [
        base(),
        vec![
            format!(
                r#"{{"parentUuid":null,"logicalParentUuid":"a5","isSidechain":false,"type":"system","subtype":"compact_boundary","uuid":"b1","timestamp":"2026-01-01T00:01:00.000Z","sessionId":"{ID}","compactMetadata":{{"trigger":"manual","preservedMessages":{{"anchorUuid":"k1","uuids":["u3","a5"]}}}}}}"#
            ),
            line("user", "k1", Some("b1"), 12, "\"SUMMARY\""),
        ],
    ]
    .concat();
    bench.plant(
        &format!(".claude/projects/-proj-demo/{ID}.jsonl"),
        &joined(&compacted),
    );
    bench.plant(&format!(".claude/projects/-proj-demo/{ID}/subagents/agent-a1.jsonl"), b"{\"parentUuid\":null,\"isSidechain\":true,\"type\":\"user\",\"uuid\":\"x\",\"message\":{\"role\":\"user\",\"content\":\"task\"},\"timestamp\":\"2026-01-01T00:00:00.000Z\"}\n");
    let session = format!("claude:{ID}");
    for args in [
        &["branch", &session, "a1"] as &[&str],
        &["rewind", &session, "u2"],
        &["append", &session, "--parent", "a1", "--user", "x"],
    ] {
        bench
            .run(args)
            .ends(2)
            .says("kept messages")
            .says("boswell fork");
    }
    // A fork from before the compaction works.
    let fork = bench
        .run(["fork", &session, "--at", "a1"])
        .ends(0)
        .text()
        .trim()
        .to_owned();
    assert_eq!(
        bench
            .run(["context", &fork, "--json"])
            .ends(0)
            .of_type("message")
            .len(),
        2
    );
    for args in [
        &["append", "claude:agent-a1", "--user", "x"] as &[&str],
        &["branch", "claude:agent-a1", "x"],
        &["fork", "claude:agent-a1"],
    ] {
        bench.run(args).ends(2).says("subagent");
    }
    for args in [
        &["branch", &session, "nobody"] as &[&str],
        &["rewind", &session, "a1"],
        &["fork", &session, "--id", "--evil"],
        &["fork", &session, "--id=--evil"],
        &["fork", &session, "--whole"],
        &["fork", &session, "--project", "elsewhere"],
        &["fork", &session, "--id", "../../x"],
        &["new", "--dialect", "claude", "--id=-x"],
        &["new", "--dialect", "claude", "--id", "short"],
        &["append", "--user", "x", "--", "-x"],
        &["append", &session, "--parent", "nobody", "--user", "x"],
    ] {
        let ran = bench.run(args).ends(2);
        assert!(
            ran.stderr.contains("hint") || ran.stderr.contains("--help"),
            "{ran:?}"
        );
    }
    bench
        .run(["new", "--dialect", "claude", "--id", ID])
        .ends(3)
        .says("boswell append");
    bench.run(["fork", &session, "--id", ID]).ends(3);
}

#[test]
fn resuming_asks_again_for_what_was_once_allowed() {
    let bench = Bench::new();
    let allowed = base().join("\n").replace(
        "\"userType\"",
        "\"permissionMode\":\"bypassPermissions\",\"userType\"",
    ) + "\n";
    let here = bench.root().join("it's a folder");
    disk::make_dir(&here);
    let here_text = here.to_string_lossy().into_owned();
    bench.plant(
        &format!(".claude/projects/-proj-demo/{ID}.jsonl"),
        allowed.replace("/proj/demo", &here_text).as_bytes(),
    );
    let session = format!("claude:{ID}");
    let argv = |more: &[&str]| {
        let args: Vec<&str> = ["resume", &session, "--json"]
            .iter()
            .chain(more)
            .copied()
            .collect();
        bench.run(args).ends(0).lines()[0]["argv"].clone()
    };
    assert_eq!(
        argv(&[]),
        serde_json::json!(["claude", "--resume", ID, "--permission-mode", "default"])
    );
    assert_eq!(
        argv(&["--same-permissions"]),
        serde_json::json!(["claude", "--resume", ID, "--dangerously-skip-permissions"])
    );
    // The printed command can be run by a shell unchanged: a fake client prints its arguments.
    let stand_in = bench.root().join("bin/claude");
    disk::write(&stand_in, b"#!/bin/sh\npwd\nprintf '%s\\n' \"$@\"\n");
    disk::set_mode(&stand_in, 0o755);
    let printed = bench.run(["resume", &session, "--print"]).ends(0).text();
    let output = std::process::Command::new("/bin/sh")
        .args(["-c", &printed])
        .env(
            "PATH",
            format!("{}:/bin:/usr/bin", bench.root().join("bin").display()),
        )
        .output()
        .unwrap();
    let real = here.canonicalize().unwrap();
    let said = format!(
        "{}\n--resume\n{ID}\n--permission-mode\ndefault\n",
        real.display()
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), said, "{output:?}");
    // Started without a shell, the client gets the same arguments.
    let mut command = bench.command(["resume", &session]);
    command.env(
        "PATH",
        format!("{}:/bin:/usr/bin", bench.root().join("bin").display()),
    );
    assert_eq!(crate::bench::finish(command).ends(0).text(), said);
    disk::remove(&here);
    bench
        .run(["resume", &session])
        .ends(2)
        .says("does not exist")
        .says("boswell move");
}
