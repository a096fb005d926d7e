//! Sessions of pi, oh-my-pi and xcsh, driven by commands in their own folders.

use std::path::{Path, PathBuf};

use boswell_testkit::{corpus, disk};
use serde_json::Value;

use crate::bench::finish;
use crate::pi_lab::{FAMILY, Lab, V1, answer, header, opened, text_of, user};

#[test]
fn every_command_works_on_every_flavour() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        assert_eq!(lab.session("0b7e")["messages"], 4, "{dialect}");
        assert!(
            lab.run(&["show", "0b7e"])
                .ends(0)
                .text()
                .contains("a rule is missing")
        );
        assert!(lab.run(&["tree", "0b7e"]).ends(0).text().contains("u1"));
        assert_eq!(lab.context("0b7e").len(), 4);
        lab.run(&["label", "0b7e", "u1", "start"]).ends(0);
        lab.run(&["rename", "0b7e", " the\tred build "]).ends(0);
        let row = lab.session("0b7e");
        assert_eq!(row["title"], "the red build", "{dialect}");
        lab.run(&["branch", "0b7e", "a1", "--summary", "tried a rule"])
            .ends(0);
        lab.run(&["append", "0b7e", "--user", "otherwise"]).ends(0);
        assert_eq!(
            lab.context("0b7e"),
            [
                "why is the build red?",
                "a rule is missing",
                "tried a rule",
                "otherwise"
            ]
        );
        lab.run(&["branch", "0b7e", "--root"]).ends(0);
        assert!(lab.context("0b7e").is_empty(), "{dialect}: reset");
        lab.run(&["branch", "0b7e", "a2"]).ends(0);
        let fork = lab
            .run(&["fork", "0b7e", "--at", "a1"])
            .ends(0)
            .text()
            .trim()
            .to_owned();
        assert_eq!(
            lab.context(&fork),
            ["why is the build red?", "a rule is missing"],
            "{dialect}"
        );
        let whole = lab
            .run(&["fork", "0b7e", "--whole", "--project", "/proj/other"])
            .ends(0)
            .text()
            .trim()
            .to_owned();
        assert_eq!(lab.context(&whole), lab.context("0b7e"), "{dialect}");
        let id = whole.split_once(':').unwrap().1;
        assert_eq!(lab.session(id)["project"], "/proj/other");
        let path = lab.session(id)["path"].as_str().unwrap().to_owned();
        let artifact = PathBuf::from(path.trim_end_matches(".jsonl")).join("1.bash.log");
        assert_eq!(
            text_of(&artifact),
            "whole output",
            "{dialect}: artifacts come along"
        );
        assert!(
            lab.run(&["prompts"])
                .ends(0)
                .text()
                .contains("why is the build red?")
        );
        lab.run(&["continue", "--print"]).ends(0);
        lab.run(&["check", "0b7e"]).ends(0);
        lab.run(&["stats", "0b7e", "--json"]).ends(0);
        lab.run(&["undo"]).ends(0);
        assert!(!artifact.exists(), "{dialect}: a fork can be taken back");
    }
}

#[test]
fn reading_version_1_shows_the_migrated_view_and_changes_nothing() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        assert_eq!(lab.context("old"), ["sum", "second", "third"], "{dialect}");
        lab.run(&["migrate", "old"])
            .ends(0)
            .says("nothing was changed");
        assert_eq!(text_of(&lab.old()), V1);
        lab.run(&["append", "old", "--user", "x"])
            .ends(2)
            .says("migrate");
        assert_eq!(text_of(&lab.old()), V1);
    }
}

#[test]
fn migrating_counts_in_and_out_and_can_be_undone() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        let before = std::fs::metadata(lab.old()).unwrap().modified().unwrap();
        lab.run(&["migrate", "old", "--apply"])
            .ends(0)
            .says("5 records before, 5 after");
        let now = text_of(&lab.old());
        assert!(
            now.contains("\"version\":3") && !now.contains("firstKeptEntryIndex"),
            "{now}"
        );
        assert_eq!(
            now.matches("{\"type\":\"mess\n").count(),
            1,
            "the damaged line stays"
        );
        assert_eq!(
            std::fs::metadata(lab.old()).unwrap().modified().unwrap(),
            before,
            "agents sort by it"
        );
        assert_eq!(lab.context("old"), ["sum", "second", "third"], "{dialect}");
        lab.run(&["append", "old", "--user", "more"]).ends(0);
        lab.run(&["undo", "--keep-new"]);
        let lab = Lab::new(dialect);
        lab.run(&["migrate", "old", "--apply"]).ends(0);
        lab.run(&["undo"]).ends(0);
        assert_eq!(text_of(&lab.old()), V1, "{dialect}");
        lab.run(&["migrate", "0b7e"])
            .ends(0)
            .says("version 3 already");
    }
}

#[test]
fn real_sessions_of_version_1_are_the_same_after_migrating() {
    let Some(root) = corpus::require_or_skip(corpus::CORPUS) else {
        return;
    };
    for name in [
        "pi-mono-large-session.jsonl",
        "pi-mono-before-compaction.jsonl",
    ] {
        let lab = Lab::new("pi");
        let bytes = disk::read(&root.join("pi").join(name));
        let path = lab.plant(
            &format!("--real--/{name}"),
            std::str::from_utf8(&bytes).unwrap(),
        );
        let told = |session: &str| {
            let lines = lab
                .run(&["context", session, "--json"])
                .ends(0)
                .of_type("message");
            lines
                .into_iter()
                .map(|line| (line["role"].clone(), line["content"].clone()))
                .collect::<Vec<_>>()
        };
        let session = path.to_str().unwrap();
        let before = told(session);
        assert!(before.len() > 100, "{name}: {}", before.len());
        lab.run(&["migrate", session, "--apply"]).ends(0);
        assert_eq!(told(session), before, "{name}");
        assert_eq!(
            text_of(&path).lines().count(),
            bytes.iter().filter(|byte| **byte == b'\n').count(),
            "{name}"
        );
        lab.run(&["undo"]).ends(0);
        assert_eq!(disk::read(&path), bytes, "{name}");
    }
}

#[test]
fn a_title_in_the_header_changes_nothing_else_and_can_be_undone() {
    for dialect in ["omp", "xcsh"] {
        let lab = Lab::new(dialect);
        let before = text_of(&lab.log());
        lab.run(&["rename", "0b7e", "会话恢复"]).ends(0);
        let now = text_of(&lab.log());
        let rest = |text: &str| text.split_once('\n').unwrap().1.to_owned();
        assert_eq!(rest(&now), rest(&before));
        assert!(
            now.lines()
                .next()
                .unwrap()
                .contains(r#""title":"会话恢复","titleSource":"user""#)
        );
        lab.run(&["undo"]).ends(0);
        assert_eq!(text_of(&lab.log()), before);
        lab.run(&["rename", "0b7e", " \n "]).ends(2);
        assert_eq!(text_of(&lab.log()), before);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_agent_that_holds_its_file_open_is_told_and_nothing_is_lost() {
    use std::io::Write;
    let lab = Lab::new("xcsh");
    let before = text_of(&lab.log());
    let mut agent = std::process::Command::new("sh")
        .args([
            "-c",
            "exec 3>>\"$1\"; echo ready; read line; echo \"$line\" >&3",
            "sh",
            lab.log().to_str().unwrap(),
        ])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = [0; 6];
    std::io::Read::read_exact(agent.stdout.as_mut().unwrap(), &mut ready).unwrap();
    lab.run(&["rename", "0b7e", "x"]).ends(3).says("at work");
    lab.run(&["append", "0b7e", "--user", "x"]).ends(3);
    lab.run(&["label", "0b7e", "u1", "mine"]).ends(0);
    let line = user("u3", "a2", "from the agent");
    writeln!(agent.stdin.take().unwrap(), "{line}").unwrap();
    agent.wait().unwrap();
    let now = text_of(&lab.log());
    assert!(
        now.starts_with(&before) && now.contains(&line) && now.contains("\"label\":\"mine\""),
        "{now}"
    );
}

#[test]
fn whatever_stands_in_the_place_of_a_session_is_read_and_never_written_over() {
    let good = user("u1", "", "kept");
    let head = header("S", "/proj/demo", "");
    let cases: [(&str, Vec<u8>); 8] = [
        ("empty", Vec::new()),
        ("binary", vec![0x7F, b'E', b'L', b'F', 0, 1, 2, 255, 254]),
        ("headerless", format!("{good}\n").into_bytes()),
        (
            "foreign",
            b"{\"type\":\"message\",\"id\":\"1\"}\n{\"sessionId\":\"x\"}\n".to_vec(),
        ),
        (
            "nul",
            [head.as_bytes(), b"\n", good.as_bytes(), b"\n", &[0; 64]].concat(),
        ),
        (
            "torn",
            format!("{head}\n{good}\n{{\"type\":\"mess").into_bytes(),
        ),
        (
            "glued",
            format!("{head}\n{good}{}\n", answer("a1", "u1", "glued")).into_bytes(),
        ),
        (
            "title-slot",
            format!(
                "{{\"type\":\"title\",\"v\":1,\"title\":\"T\",\"pad\":\"\"}}\n{head}\n{good}\n"
            )
            .into_bytes(),
        ),
    ];
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        for (name, bytes) in &cases {
            let path = lab.plant(&format!("--bad--/{name}.jsonl"), "");
            disk::write(&path, bytes);
            for args in [
                &["show", name][..],
                &["tree", name],
                &["context", name],
                &["migrate", name],
                &["continue", "--print"],
            ] {
                lab.run(args);
                assert_eq!(&disk::read(&path), bytes, "{dialect}: {args:?}");
            }
            for args in [
                &["append", name, "--user", "more"][..],
                &["rename", name, "t"],
                &["migrate", name, "--apply"],
            ] {
                lab.run(args);
                let now = disk::read(&path);
                // Every record that was there is there; only a header or a slot may
                // say more than it did.
                let kept = bytes.is_empty()
                    || String::from_utf8_lossy(bytes).contains("kept")
                        == String::from_utf8_lossy(&now).contains("kept");
                assert!(
                    kept && now.len() >= bytes.len(),
                    "{dialect}: {name}: {args:?}: {}",
                    now.escape_ascii()
                );
            }
        }
    }
}

#[test]
fn a_torn_tail_stays_on_a_line_of_its_own() {
    let lab = Lab::new("xcsh");
    let torn = format!("{}{{\"type\":\"mess", text_of(&lab.log()));
    disk::write(&lab.log(), torn.as_bytes());
    lab.run(&["append", "0b7e", "--user", "behind it"]).ends(0);
    let now = text_of(&lab.log());
    assert!(now.starts_with(&format!("{torn}\n{{")), "{now}");
    assert_eq!(lab.context("0b7e").last().unwrap(), "behind it");
}

#[test]
fn xcsh_gets_what_it_would_have_written_and_boswell_keeps_the_whole() {
    let lab = Lab::new("xcsh");
    let long = "会x".repeat(300_000);
    let input = lab.bench.tmp().join("input");
    disk::write(
        &input,
        format!("{{\"role\":\"user\",\"text\":\"{long}\"}}\n").as_bytes(),
    );
    let mut command = lab.bench.command(lab.args(&["append", "0b7e"]));
    command.stdin(opened(&input));
    finish(command).ends(0);
    let last = text_of(&lab.log()).lines().last().unwrap().to_owned();
    assert!(
        last.contains("[Session persistence truncated large content]") && last.len() < 1_100_000,
        "{}",
        last.len()
    );
    assert_eq!(
        lab.context("0b7e").last().unwrap(),
        &long,
        "what a model is sent is whole"
    );
    assert!(lab.run(&["show", "0b7e"]).ends(0).text().contains("会x会x"));
    disk::remove(&lab.bench.own());
    assert!(
        lab.context("0b7e")
            .last()
            .unwrap()
            .ends_with("truncated large content]"),
        "without our home it is as xcsh has it"
    );
}

#[test]
fn images_lie_in_the_blobs_of_the_agent_and_damage_to_them_is_told() {
    let lab = Lab::new("xcsh");
    let data = "A".repeat(2048);
    let image = format!(
        r#"{{"type":"message","message":{{"role":"user","content":[{{"type":"image","data":"{data}","mimeType":"image/png"}}],"timestamp":1}}}}"#
    );
    let fork = lab.run(&["fork", "0b7e"]).ends(0).text().trim().to_owned();
    for session in ["xcsh:0b7e", &fork] {
        let input = lab.bench.tmp().join("input");
        disk::write(&input, format!("{image}\n").as_bytes());
        let mut command = lab.bench.command(lab.args(&["append", session]));
        command.stdin(opened(&input));
        finish(command).ends(0);
    }
    let blobs = || -> Vec<PathBuf> { disk::list(&lab.root().join("blobs")) };
    let found = blobs();
    assert_eq!(found.len(), 1, "shared by both");
    assert_eq!(disk::read(&found[0]), vec![0; 1536], "the decoded bytes");
    let sent = lab
        .run(&["context", "0b7e", "--json"])
        .ends(0)
        .of_type("message");
    assert_eq!(
        sent.last().unwrap()["content"][0]["data"],
        data.as_str(),
        "put back when it is read"
    );
    let alone = lab.bench.tmp().join("alone.jsonl");
    disk::write(
        &alone,
        text_of(&lab.log())
            .replace(
                "/proj/demo\"",
                "/proj/demo\",\"titleSource\":\"user\",\"title\":\"x\"",
            )
            .as_bytes(),
    );
    lab.bench.run(["check", alone.to_str().unwrap()]).ends(0);
    lab.run(&["delete", &fork, "--purge", "--apply"]).ends(0);
    assert_eq!(blobs().len(), 1, "the other session still names it");
    disk::write(&found[0], b"short");
    lab.run(&["check", "0b7e"]).ends(1);
    lab.run(&["show", "0b7e"]).ends(0);
    std::fs::remove_file(&found[0]).unwrap();
    lab.run(&["check", "0b7e"]).ends(1);
    disk::write(&found[0], &[0; 1536]);
    lab.run(&["check", "0b7e"]).ends(0);
    lab.run(&["delete", "0b7e", "--purge", "--apply"]).ends(0);
    assert!(blobs().is_empty(), "nobody names it any more");
}

#[test]
fn a_deleted_session_goes_with_its_artifacts_and_comes_back_with_them() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        let log = text_of(&lab.log());
        let artifact = lab.log().with_extension("").join("1.bash.log");
        lab.run(&["delete", "0b7e"]).ends(0);
        assert!(!lab.log().exists() && !artifact.exists(), "{dialect}");
        lab.run(&["append", "0b7e", "--user", "x"]).ends(2);
        assert!(
            !lab.log().exists(),
            "{dialect}: nothing brings it back but `restore`"
        );
        lab.run(&["restore", &format!("{dialect}:0b7e")]).ends(0);
        assert_eq!(
            (text_of(&lab.log()), text_of(&artifact)),
            (log, "whole output".to_owned()),
            "{dialect}"
        );
    }
}

#[test]
fn sessions_are_found_by_id_name_and_path_and_never_guessed() {
    let lab = Lab::new("xcsh");
    let log = lab.log();
    for name in [
        "0b7e",
        "0B7E",
        "0b",
        "2026-02-16T10-20",
        "xcsh:0b7e",
        log.to_str().unwrap(),
    ] {
        assert!(
            lab.run(&["show", name]).ends(0).text().contains("red?"),
            "{name}"
        );
    }
    lab.plant(
        "--proj-demo--/2026-02-17T00-00-00-000Z_0b7f.jsonl",
        &format!("{}\n", header("0b7f", "/proj/demo", "")),
    );
    lab.run(&["show", "0b7"]).ends(2).says("0b7e").says("0b7f");
    lab.run(&["show", "2026-02"])
        .ends(2)
        .says("fits 2 sessions");
    for name in [
        "index",
        "xcsh:../../../etc/passwd",
        "..",
        "../nowhere.jsonl",
        "nobody",
    ] {
        assert_ne!(lab.run(&["show", name]).code, Some(0), "{name}");
    }
    lab.plant(
        "--proj-demo--/2026-02-18T00-00-00-000Z_V1St_XR8.jsonl",
        &format!("{}\n", header("V1St_XR8", "/proj/demo", "")),
    );
    lab.run(&["show", "V1St_X"]).ends(0);
    lab.run(&["show", "xr8"]).ends(0);
}

#[test]
fn continuing_follows_this_terminals_breadcrumb_past_every_trap() {
    let lab = Lab::new("xcsh");
    let cwd = lab.bench.cwd().canonicalize().unwrap();
    let here = cwd.to_str().unwrap();
    let newest = lab.plant(
        "-x/2026-03-01T00-00-00-000Z_newest.jsonl",
        &format!(
            "{}\n{}\n{}\n",
            header("newest", here, ""),
            user("1", "", "n"),
            answer("2", "1", "n")
        ),
    );
    let crumbed = lab.plant(
        "-x/2026-02-01T00-00-00-000Z_crumbed.jsonl",
        &format!(
            "{}\n{}\n{}\n",
            header("crumbed", here, ""),
            user("1", "", "c").replace("17712372", "17000000"),
            answer("2", "1", "c").replace("17712372", "17000000")
        ),
    );
    let subagent = lab.plant(
        "-x/2026-02-01T00-00-00-000Z_crumbed/0-Task.jsonl",
        &format!("{}\n", header("sub", here, "")),
    );
    let other = lab.bench.plant(
        ".other/sessions/-x/other.jsonl",
        format!("{}\n", header("other", here, "")).as_bytes(),
    );
    let continued = |crumb: Option<String>| {
        let path = lab.root().join("terminal-sessions/kitty-7");
        match crumb {
            Some(text) => disk::write(&path, text.as_bytes()),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let mut command = lab.bench.command(lab.args(&["continue", "--print"]));
        command.env("KITTY_WINDOW_ID", "7");
        finish(command).ends(0).text()
    };
    let crumb = |cwd: &str, path: &Path| Some(format!("{cwd}\n{}\n", path.display()));
    assert!(
        continued(crumb(here, &crumbed)).contains("crumbed"),
        "a good one"
    );
    for (why, text) in [
        ("another folder", crumb("/elsewhere", &crumbed)),
        (
            "a file that is gone",
            crumb(here, &lab.root().join("sessions/-x/gone.jsonl")),
        ),
        ("a subagent's transcript", crumb(here, &subagent)),
        ("another store", crumb(here, &other)),
        ("one line", Some(format!("{here}\n"))),
        ("none", None),
    ] {
        let text = continued(text);
        assert!(
            text.contains("newest"),
            "{why}: {text}, not {}",
            newest.display()
        );
    }
}

#[test]
fn prompts_of_xcsh_are_read_from_its_database_without_a_trace() {
    let lab = Lab::new("xcsh");
    let database = lab.root().join("history.db");
    let at = boswell_model::Instant::parse("2026-02-16T10:00:00Z").unwrap();
    assert!(
        boswell_find::remember(&database, "会话 from the history", Some("/proj/demo"), at).unwrap()
    );
    let before = disk::read(&database);
    let found = lab
        .run(&["prompts", "会话", "--json"])
        .ends(0)
        .of_type("prompt");
    assert_eq!(
        (found.len(), &found[0]["source"], &found[0]["project"]),
        (1, &Value::from("history"), &Value::from("/proj/demo"))
    );
    assert_eq!(disk::read(&database), before);
    assert!(!lab.root().join("history.db-shm").exists());
    disk::write(&database, b"this is no database, but somebody's file");
    lab.run(&["prompts", "build"])
        .ends(0)
        .says("cannot be used");
}

#[test]
fn two_processes_on_one_file_lose_no_line() {
    let lab = Lab::new("xcsh");
    let children: Vec<_> = (0..4)
        .map(|number| {
            let mut command = lab.bench.command(lab.args(&[
                "append",
                "0b7e",
                "--wait",
                "60s",
                "--user",
                &format!("p{number}"),
            ]));
            command
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null());
            command.spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let mut said = lab.context("0b7e").split_off(4);
    said.sort();
    assert_eq!(said, ["p0", "p1", "p2", "p3"]);
    lab.run(&["check", "0b7e"]).ends(0);
}

#[test]
fn a_root_that_is_a_folder_of_sessions_keeps_all_of_them_in_sight() {
    let lab = Lab::new("pi");
    let store = format!("pi={}", lab.root().join("sessions").display());
    let count = || {
        lab.bench
            .run(["--store", &store, "list", "--json", "--hidden"])
            .ends(0)
            .of_type("session")
            .len()
    };
    assert_eq!(count(), 2);
    lab.bench
        .run([
            "--store",
            &store,
            "new",
            "--dialect",
            "pi",
            "--project",
            "/proj/new",
        ])
        .ends(0);
    lab.bench.run(["--store", &store, "fork", "0b7e"]).ends(0);
    assert_eq!(count(), 4);
}

#[cfg(unix)]
#[test]
fn resuming_leaves_a_breadcrumb_that_continue_follows() {
    let lab = Lab::new("pi");
    let cwd = lab.bench.cwd().canonicalize().unwrap();
    let here = cwd.to_str().unwrap();
    for (id, year) in [("young", "2026"), ("older", "2025")] {
        let said = [
            header(id, here, ""),
            user("1", "", "a"),
            answer("2", "1", "b"),
        ]
        .join("\n");
        let said = if id == "older" {
            said.replace("17712372", "17000000")
        } else {
            said
        };
        lab.plant(
            &format!("--x--/{year}-02-01T00-00-00-000Z_{id}.jsonl"),
            &format!("{said}\n"),
        );
    }
    let program = lab
        .bench
        .plant("bin/pi", b"#!/bin/sh\necho started \"$@\"\n");
    disk::set_mode(&program, 0o700);
    let run = |args: &[&str]| {
        let mut command = lab.bench.command(lab.args(args));
        let path = format!("{}:/bin:/usr/bin", program.parent().unwrap().display());
        finish({
            command.env("KITTY_WINDOW_ID", "7").env("PATH", path);
            command
        })
        .ends(0)
        .text()
    };
    assert!(run(&["continue", "--print"]).contains("young"));
    assert!(run(&["resume", "older"]).contains("started --session older"));
    let crumb = text_of(&lab.bench.own().join("terminal-sessions/kitty-7"));
    assert!(
        crumb.starts_with(&format!("{here}\n")) && crumb.ends_with("_older.jsonl\n"),
        "{crumb}"
    );
    assert!(run(&["continue", "--print"]).contains("older"));
    run(&["--read-only", "resume", "young"]);
    assert!(
        run(&["continue", "--print"]).contains("older"),
        "nothing is noted when nothing may be written"
    );
}
