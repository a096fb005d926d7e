//! What is typed wrongly, and what stands where a session should be.

use std::io::Read;
use std::process::{Command, Stdio};

use boswell_testkit::make::pi;
use boswell_testkit::{Home, corpus, disk};

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

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_refused_and_never_opened() {
    let bench = Bench::new();
    let folder = bench.home().join("traps");
    disk::make_dir(&folder);
    crate::silence::traps(&folder);
    std::os::unix::fs::symlink(".", folder.join("again")).unwrap();
    let expected = [
        (
            "00000000-0000-4000-8000-00000000f1f0.jsonl",
            "is not a regular file",
        ),
        ("s.jsonl", "is not a regular file"),
        ("folder.jsonl", "is a folder"),
        ("loop.jsonl", "is not a regular file"),
        ("dangling.jsonl", "there is no file"),
    ];
    for (name, message) in expected {
        let path = folder.join(name);
        for command in ["show", "export", "tree", "context", "files", "attachments"] {
            bench
                .run([command, path.to_str().unwrap()])
                .ends(2)
                .says(message);
        }
    }
    // A folder is checked as what lies below it; links to folders are not followed, so this ends.
    bench.run(["check", folder.to_str().unwrap()]).ends(0);
    bench
        .run(["check", folder.join("loop.jsonl").to_str().unwrap()])
        .ends(2)
        .says("is not a regular file");
}

#[cfg(unix)]
#[test]
fn stores_full_of_traps_are_listed_without_them() {
    let bench = Bench::new();
    let home = Home::build(&bench.home(), 21);
    let before = bench
        .run(["list", "--hidden", "--json"])
        .ends(0)
        .of_type("session")
        .len();
    for folder in [
        home.pi.join("sessions/--home-dev-proj-demo--"),
        home.myagents.join("sessions"),
        home.oas.join("sessions"),
    ] {
        crate::silence::traps(&folder);
    }
    assert_eq!(
        bench
            .run(["list", "--hidden", "--json"])
            .ends(0)
            .of_type("session")
            .len(),
        before
    );
    bench.run(["stores"]).ends(0);
}

#[cfg(unix)]
#[test]
fn an_unreadable_folder_is_named_and_the_rest_is_listed() {
    use std::os::unix::process::CommandExt;
    let bench = Bench::new();
    let home = Home::build(&bench.home(), 22);
    let sessions = home.codex.join("sessions");
    // Root may read everything, so the program has to run as somebody else: a copy of it, for its
    // own place may be closed.
    let program = bench.root().join("boswell-copy");
    std::fs::copy(BOSWELL, &program).unwrap();
    for path in [bench.root().to_path_buf(), program.clone()] {
        disk::set_mode(&path, 0o755);
    }
    open_up(&home.root);
    disk::set_mode(&sessions, 0o000);
    let run = |args: &[&str]| {
        let mut command = Command::new(&program);
        command
            .args(args)
            .env_clear()
            .env("HOME", &home.root)
            .env("COLUMNS", "100")
            .current_dir(bench.root());
        command
            .env("BOSWELL_HOME", bench.own())
            .stdin(Stdio::null());
        if sessions.read_dir().is_ok() {
            command.uid(65_534);
        }
        finish(command)
    };
    let listed = run(&["list", "--json"]).ends(0);
    let (rows, warnings) = (listed.of_type("session"), listed.stderr.clone());
    let stores = run(&["stores"]).ends(0);
    let checked = run(&["check", "--json"]).ends(1).of_type("damage");
    let asked = run(&["show", sessions.to_str().unwrap()]);
    disk::set_mode(&sessions, 0o755);
    assert!(rows.iter().any(|row| row["dialect"] == "pi"));
    assert!(rows.iter().all(|row| row["dialect"] != "codex"));
    for said in [warnings, stores.stderr] {
        assert!(
            said.contains("warning: ") && said.contains(sessions.to_str().unwrap()),
            "{said}"
        );
    }
    assert!(checked.iter().any(|line| line["problem"] == "unreadable"));
    assert!(matches!(asked.code, Some(2 | 3)), "{asked:?}");
}

/// Lets everybody read what the generators wrote with the agents' own narrow modes.
#[cfg(unix)]
fn open_up(folder: &std::path::Path) {
    disk::set_mode(folder, 0o755);
    for path in disk::list(folder) {
        if path.is_dir() && !path.is_symlink() {
            open_up(&path);
        } else if path.is_file() {
            disk::set_mode(&path, 0o644);
        }
    }
}

#[test]
fn a_line_of_sixty_megabytes_is_read_and_exported() {
    let bench = Bench::new();
    let mut bytes = pi_bytes(pi::PiShape::HeaderOnly, 1);
    let text = "x".repeat(60 << 20);
    let record = r#"{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-10-05T08:00:00.000Z","message":{"role":"user","content":""#;
    bytes.extend_from_slice(format!("{record}{text}\"}}}}\n").as_bytes());
    let path = bench.plant("long.jsonl", &bytes);
    let path = path.to_str().unwrap();
    assert!(bench.run(["export", path]).ends(0).stdout == bytes);
    let shown = bench.run(["show", path, "--records", "--json"]).ends(0);
    assert!(shown.stdout.len() > 60 << 20);
    bench.run(["check", path]).ends(0);
}

#[test]
fn a_chain_of_a_hundred_thousand_entries_is_walked_without_recursion() {
    let bench = Bench::new();
    let path = bench.plant("deep.jsonl", &pi::deep(pi::PiFlavour::Pi, 100_000, 3));
    let path = path.to_str().unwrap();
    let nodes = bench.run(["tree", path, "--json"]).ends(0).of_type("node");
    assert_eq!(
        nodes
            .iter()
            .map(|node| 1 + node["between"].as_u64().unwrap())
            .sum::<u64>(),
        100_000
    );
    let context = bench.run(["context", path, "--json"]).ends(0);
    let first = context.text().lines().next().map(str::to_owned).unwrap();
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&first).unwrap()["messages"],
        100_000
    );
    assert_eq!(
        bench
            .run(["show", path, "--tools=off"])
            .ends(0)
            .text()
            .matches("deeper still")
            .count(),
        50_000
    );
    bench.run(["check", path]).ends(0);
}

#[test]
fn json_nested_a_hundred_thousand_deep_is_one_record() {
    let bench = Bench::new();
    let deep = format!(
        "{{\"type\":\"x\",\"a\":{}{}}}\n",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let path = bench.plant("nested.jsonl", deep.as_bytes());
    let path = path.to_str().unwrap();
    assert_eq!(
        bench
            .run(["show", path, "--records"])
            .ends(0)
            .text()
            .matches("#1")
            .count(),
        1
    );
    bench.run(["show", path, "--records", "--json"]).ends(0);
    bench.run(["check", path]).ends(0);
}

#[test]
fn a_file_that_only_looks_like_pi_is_read_as_unknown() {
    let Some(folder) = corpus::require_or_skip(corpus::CORPUS) else {
        return;
    };
    let bench = Bench::new();
    for file in corpus::files(&folder.join("deepseek-harness")) {
        let path = file.to_str().unwrap();
        let entries = bench
            .run(["show", path, "--records", "--json"])
            .ends(0)
            .of_type("entry");
        assert!(entries.iter().all(|entry| {
            entry["session"]
                .as_str()
                .is_some_and(|s| s.starts_with("unknown:"))
        }));
        let refused = bench.run(["context", path]).ends(2);
        refused
            .says("no dialect that boswell knows")
            .says("hint: see its records");
    }
}

#[test]
fn a_json_document_under_the_name_of_a_log_is_one_record() {
    let bench = Bench::new();
    let inside = "{\n  \"id\": \"x\",\n  \"parts\": [\n    {\"type\": \"text\", \"text\": \"inline\"}\n  ]\n}\n";
    for (name, bytes, records) in [
        (
            "doc.jsonl",
            "{\n  \"id\": \"x\",\n  \"title\": \"a document\"\n}\n",
            1,
        ),
        ("inline.jsonl", inside, 1),
        ("inline.json", inside, 1),
        (
            "rows.json",
            "[\n  {\"role\": \"user\"},\n  {\"role\": \"assistant\"}\n]\n",
            2,
        ),
        ("short.jsonl", "{\"role\":\"user\"}", 1),
    ] {
        let path = bench.plant(name, bytes.as_bytes());
        let path = path.to_str().unwrap();
        let entries = bench
            .run(["show", path, "--records", "--json"])
            .ends(0)
            .of_type("entry");
        assert_eq!(entries.len(), records, "{name}: {entries:?}");
        assert_eq!(
            bench.run(["export", path]).ends(0).stdout,
            bytes.as_bytes(),
            "{name}"
        );
    }
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
    // Without the two dashes an option that does not exist is said to be one.
    bench
        .run(["show", "-rf"])
        .ends(2)
        .says("unexpected argument");
    // No program can be given a NUL; as JSON Lines the same errors have a kind.
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
    Home::build(&bench.home(), 31);
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
    here.says("no session was held in")
        .says("hint: see the folders that have some with `boswell projects`");
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
    Home::build(&bench.home(), 32);
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
        .says("names no place")
        .says("hint: write `--store claude=");
    bench
        .run(["list", "--store", "pi="])
        .ends(2)
        .says("names no place");
    bench
        .run(["list", "--store", "emacs=/tmp"])
        .ends(2)
        .says("there is no dialect `emacs`")
        .says("hint: known dialects:");
    bench
        .run(["list", "--store", "pi=/nowhere"])
        .ends(0)
        .says("no sessions found")
        .says("/nowhere (not there)");
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
            .says("is no time");
    }
    bench
        .run(["memory", "a", "b"])
        .ends(2)
        .says("memory cannot `a b`");
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
    // The home folder then comes from the system's list of users, or nowhere: either is fine.
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
            .says("hint: point boswell at a store with `--store");
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
