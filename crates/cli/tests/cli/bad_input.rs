//! Mistyped arguments, and files that are not sessions.

mod files;

use std::io::Read;
use std::process::{Command, Stdio};

use boswell_testkit::make::pi;
use boswell_testkit::{TestHome, disk};

use crate::bench::{BOSWELL, Bench, finish};

fn pi_bytes(shape: pi::PiShape, seed: u64) -> Vec<u8> {
    pi::file(
        shape,
        pi::PiFlavour::Pi,
        pi::PiLayout::of("/home/dev/proj/demo"),
        seed,
    )
    .bytes()
    .to_vec()
}

#[test]
fn ids_that_no_agent_gives_are_refused_with_a_hint() {
    let bench = Bench::new();
    let long = "a".repeat(300);
    for id in ["-rf", "--help", "-", "", &long] {
        for command in [
            "show",
            "export",
            "tree",
            "context",
            "check",
            "files",
            "attachments",
            "resume",
        ] {
            let ran = bench.run([command, "--", id]).ends(2);
            ran.says("error: ").says("hint: ");
        }
    }
    // Without the two dashes, the error is about an unknown option.
    bench
        .run(["show", "-rf"])
        .ends(2)
        .says("unexpected argument");
    // A NUL cannot be passed to a program; as JSON Lines the same errors have a kind.
    let error = bench.run(["show", "--json", "--", "-rf"]).ends(2);
    let line: serde_json::Value = serde_json::from_str(error.stderr.trim()).unwrap();
    assert_eq!(
        (&line["v"], &line["type"], &line["kind"]),
        (&1.into(), &"error".into(), &"invalid".into())
    );
    assert!(
        line["message"].is_string() && line["hint"].is_string(),
        "{line}"
    );
}

#[test]
fn an_unknown_session_is_an_error_with_a_hint() {
    let bench = Bench::new();
    TestHome::build(&bench.home(), 31);
    for name in [
        "zzzz",
        "pi:zzzz",
        "claude:0b7e",
        "codex:-x",
        "会话",
        "unknown:x",
    ] {
        let ran = bench.run(["show", name]).ends(2);
        ran.says("no session is called")
            .says("hint: see the sessions with `boswell list");
    }
    bench
        .run(["show", "nowhere.jsonl"])
        .ends(2)
        .says("there is no file");
    bench
        .run(["show", "/nowhere/at/all"])
        .ends(2)
        .says("there is no file");
    bench.run(["check", "nowhere/"]).ends(2).says("error: ");
    let here = bench.run(["show", "@here"]).ends(2);
    here.says("there is no session of the folder")
        .says("hint: see the folders that have sessions with `boswell projects`");
}

#[test]
fn a_beginning_that_fits_several_sessions_lists_their_refs() {
    let bench = Bench::new();
    let folder = "home/.pi/agent/sessions/--home-dev-proj-demo--".trim_start_matches("home/");
    for id in [
        "0197aaaa-0000-7000-8000-000000000001",
        "0197aaaa-0000-7000-8000-000000000002",
    ] {
        let header = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-10-05T08:00:00.000Z\",\"cwd\":\"/home/dev/proj/demo\"}}\n"
        );
        bench.plant(
            &format!("{folder}/2026-10-05T08-00-00-000Z_{id}.jsonl"),
            header.as_bytes(),
        );
    }
    let ran = bench.run(["show", "0197aaaa"]).ends(2);
    let ran = ran
        .says("`0197aaaa` fits 2 sessions")
        .says("hint: give more of the id");
    for last in ["1", "2"] {
        assert!(
            ran.stderr
                .contains(&format!("pi:0197aaaa-0000-7000-8000-00000000000{last} (")),
            "{}",
            ran.stderr
        );
    }
    bench
        .run(["show", "0197AAAA-0000-7000-8000-000000000001", "--records"])
        .ends(0);
    bench
        .run([
            "show",
            "pi:0197aaaa-0000-7000-8000-000000000002",
            "--records",
        ])
        .ends(0);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let bench = Bench::new();
    TestHome::build(&bench.home(), 32);
    let path = bench.plant("deep.jsonl", &pi::deep(pi::PiFlavour::Pi, 20_000, 3));
    let path = path.to_str().unwrap();
    for args in [
        &["show", path, "--records", "--json"] as &[&str],
        &["show", path],
        &["context", path, "--json"],
        &["export", path],
        &["list", "--json"],
        &["tree", path],
        &["check", "--json"],
    ] {
        let mut child = bench
            .command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 1];
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut first).unwrap();
        drop(stdout);
        let mut said = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        let status = child.wait().unwrap();
        let fine: &[i32] = if args[0] == "check" { &[0, 1] } else { &[0] };
        assert!(
            status.code().is_some_and(|code| fine.contains(&code)),
            "{args:?}: {status} {said}"
        );
        assert!(
            !said.contains("error") && !said.contains("ipe"),
            "{args:?}: {said}"
        );
    }
}

#[test]
fn stores_that_are_named_wrongly_are_explained() {
    let bench = Bench::new();
    bench
        .run(["list", "--store", "nonsense"])
        .ends(2)
        .says("has no path")
        .says("hint: write `--store claude=");
    bench
        .run(["list", "--store", "pi="])
        .ends(2)
        .says("has no path");
    bench
        .run(["list", "--store", "emacs=/tmp"])
        .ends(2)
        .says("there is no dialect `emacs`")
        .says("hint: known dialects:");
    bench
        .run(["list", "--store", "pi=/nowhere"])
        .ends(0)
        .says("no sessions found")
        .says("/nowhere (does not exist)");
    bench
        .run(["stores", "--store", "pi=/nowhere", "--json"])
        .ends(0)
        .lines();
    for args in [
        &["frobnicate"] as &[&str],
        &["list", "--sort", "colour"],
        &["show"],
        &["list", "--limit", "-1"],
        &["export", "x", "--format", "pdf"],
    ] {
        bench.run(args).ends(2).says("error: ");
    }
    for when in ["soon", "", "2026-13-45", "-3d", "99999999999999999999d"] {
        bench
            .run(["list", &format!("--since={when}")])
            .ends(2)
            .says("is not a valid time");
    }
    bench
        .run(["memory", "a", "b"])
        .ends(2)
        .says("`memory a b` is not a command");
}

#[test]
fn an_empty_environment_is_enough() {
    let bench = Bench::new();
    let path = bench.plant("s.jsonl", &pi_bytes(pi::PiShape::Linear, 9));
    let run = |args: &[&str]| {
        let mut command = Command::new(BOSWELL);
        command
            .args(args)
            .env_clear()
            .current_dir(bench.cwd())
            .stdin(Stdio::null());
        finish(command)
    };
    run(&["show", path.to_str().unwrap()]).ends(0);
    run(&["--store", "pi=/nowhere"])
        .ends(0)
        .says("no sessions found");
    run(&["stores", "--store", "pi=/nowhere"]).ends(0);
    run(&["--help"]).ends(0);
    // The home folder then comes from the system's list of users, or is unknown: both are fine.
    for args in [&["stores"] as &[&str], &["stores", "--json"]] {
        run(args).ends(0);
    }
    assert_eq!(disk::list(&bench.cwd()), Vec::<std::path::PathBuf>::new());
}

#[test]
fn with_nothing_found_the_places_that_were_looked_at_are_named() {
    let bench = Bench::new();
    for args in [&[] as &[&str], &["list"]] {
        let ran = bench.run(args).ends(0);
        assert_eq!(ran.text(), "");
        let ran = ran
            .says("no sessions found")
            .says("hint: name a store with `--store");
        for place in [".pi/agent", ".codex", ".myagents", ".clinvk", ".open-agent"] {
            assert!(ran.stderr.contains(place), "{place}: {}", ran.stderr);
        }
    }
    bench
        .run(["show", "@last"])
        .ends(2)
        .says("there are no sessions")
        .says("hint:");
    bench.run(["check"]).ends(0);
    bench.run(["projects"]).ends(0);
}

#[test]
fn a_format_that_is_not_known_is_never_shown_as_an_empty_conversation() {
    let bench = Bench::new();
    let document = "{\n  \"messages\": [\n    {\"who\": \"me\", \"said\": \"hello\"}\n  ]\n}\n";
    for (name, bytes) in [
        ("other.json", document),
        ("line.json", r#"{"messages":[{"who":"me","said":"hello"}]}"#),
        ("list.json", r#"[{"who":"me"},{"who":"you"}]"#),
        (
            "lines.jsonl",
            "{\"type\":\"odd\",\"said\":\"hello\"}\n{\"type\":\"odder\"}\n",
        ),
        ("text.jsonl", "hello\nworld\n"),
    ] {
        let path = bench.cwd().join(name);
        disk::write(&path, bytes.as_bytes());
        let path = path.to_str().unwrap();
        for more in [&[][..], &["--tools", "full"], &["--json"]] {
            let ran = bench.run([&["show", path], more].concat()).ends(4);
            assert!(
                ran.stderr.contains("is not known"),
                "{name} {more:?} {ran:?}"
            );
        }
    }
    // Its records can be shown all the same.
    let lines = bench.cwd().join("lines.jsonl");
    let lines = lines.to_str().unwrap();
    let records = bench.run(["show", lines, "--records"]).ends(0);
    assert!(records.text().contains("hello"), "{records:?}");
    // An empty file is an empty session, not an unknown format.
    let empty = bench.cwd().join("empty.jsonl");
    disk::write(&empty, b"");
    bench.run(["show", empty.to_str().unwrap()]).ends(0);
}
