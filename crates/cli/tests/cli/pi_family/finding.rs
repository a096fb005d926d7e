//! Sessions are found by id, name, path and breadcrumb.

use std::path::Path;

use boswell_testkit::disk;

use crate::bench::finish;
use crate::pi_lab::{Lab, answer, header, text_of, user};

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
        &String::from_utf8(disk::read(&log))
            .unwrap()
            .replace("0b7e", "0b7f"),
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
