//! Files in the place of a session: not regular, unreadable, huge, deeply nested, or of another
//! format.

use std::process::{Command, Stdio};

use boswell_testkit::make::pi;
use boswell_testkit::{TestHome, corpus, disk};

use super::pi_bytes;
use crate::bench::{BOSWELL, Bench, finish};

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
    // A folder is checked recursively; links to folders are not followed, so this ends.
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
    let home = TestHome::build(&bench.home(), 21);
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
    let home = TestHome::build(&bench.home(), 22);
    let sessions = home.codex.join("sessions");
    // Root can read everything, so the program runs as another user, from a copy, because its own
    // folder may not be accessible.
    let program = bench.root().join("boswell-copy");
    // By another process: a child started on another thread would inherit our descriptor, and a
    // file that is open for writing cannot be run (ETXTBSY).
    let copied = Command::new("cp").arg(BOSWELL).arg(&program).status();
    assert!(copied.unwrap().success());
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

/// Makes files readable for all users; the generators use the agents' restrictive modes.
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
            .says("the format of this file is not known")
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
