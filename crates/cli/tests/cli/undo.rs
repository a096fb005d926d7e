//! `undo` reverts the last operation or nothing, and every command that it suggests works.

use std::io::Write;
use std::path::{Path, PathBuf};

use boswell_testkit::damage::{self, Damage};
use boswell_testkit::make::pi;
use boswell_testkit::{Made, Rng, disk};

use crate::bench::{Bench, Ran};
use crate::keep::below;

const OTHER: &str = "aaaaaaaa-0001-4001-8001-000000000001";

fn log(id: &str, cwd: &str) -> Vec<u8> {
    format!("{{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"hi\"}},\"uuid\":\"u\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"{cwd}\",\"sessionId\":\"{id}\"}}\n").into_bytes()
}

/// Creates a session of Claude Code.
fn plant_claude(bench: &Bench) -> PathBuf {
    bench.plant(
        &format!(".claude/projects/-w/{OTHER}.jsonl"),
        &log(OTHER, "/w"),
    )
}

/// Creates a pi session that needs a repair in place and a fork.
fn plant_broken(bench: &Bench) -> (Made, PathBuf, Vec<u8>) {
    let made = pi::file(
        pi::PiShape::Linear,
        pi::PiFlavour::Pi,
        pi::PiLayout::of("/home/dev/p"),
        3,
    );
    let glued = damage::apply(Damage::GluedRecords, made.bytes(), 3, &mut Rng::new(1));
    let broken = damage::apply(Damage::PhantomParent, &glued, 6, &mut Rng::new(1));
    let path = made.write_to(&bench.home().join(".pi/agent"));
    disk::write(&path, &broken);
    (made, path, broken)
}

/// Appends a line, like an agent that continues.
fn add_line(path: &Path, line: &str) {
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

const LINE: &str =
    r#"{"type":"custom","id":"new","parentId":null,"timestamp":"2026-01-01T00:00:00Z"}"#;

/// Returns the files in a folder of sessions.
fn logs(path: &Path) -> Vec<PathBuf> {
    let mut found = below(path.parent().unwrap());
    found.sort();
    found
}

fn the_fork(path: &Path) -> PathBuf {
    logs(path).into_iter().find(|it| it != path).unwrap()
}

/// Returns the commands that a refusal suggests, as a user would copy them.
fn suggested(ran: &Ran) -> Vec<String> {
    let hint = ran
        .stderr
        .lines()
        .find(|line| line.starts_with("hint: "))
        .unwrap_or_default();
    hint.split('`')
        .filter(|part| part.starts_with("boswell "))
        .map(str::to_owned)
        .collect()
}

/// Runs a suggestion unchanged through a shell.
fn follow(bench: &Bench, command: &str) -> Ran {
    let like = bench.command(["ops"]);
    let mut shell = std::process::Command::new("/bin/sh");
    shell.arg("-c").arg(format!(
        "{} {}",
        env!("CARGO_BIN_EXE_boswell"),
        command.strip_prefix("boswell ").unwrap()
    ));
    shell.env_clear().envs(
        like.get_envs()
            .filter_map(|(key, value)| Some((key, value?))),
    );
    shell
        .current_dir(bench.cwd())
        .stdin(std::process::Stdio::null());
    crate::bench::finish(shell)
}

fn title_of(bench: &Bench, session: &str) -> serde_json::Value {
    let listed = bench.run(["list", "--json"]).ends(0).of_type("session");
    listed.iter().find(|it| it["id"] == session).unwrap()["title"].clone()
}

#[test]
fn bare_undo_takes_back_nothing_else_when_the_last_operation_must_stay() {
    let bench = Bench::new();
    plant_claude(&bench);
    let (_, path, broken) = plant_broken(&bench);
    bench.run(["rename", OTHER, "The other one"]).ends(0);
    bench
        .run(["repair", path.to_str().unwrap(), "--apply"])
        .ends(0);
    let fork = the_fork(&path);
    add_line(&fork, LINE);
    let (repaired, continued) = (disk::read(&path), disk::read(&fork));

    let refused = bench.run(["undo"]).ends(3);
    assert!(
        refused.stderr.contains("the last operation, \"repair"),
        "{refused:?}"
    );
    assert_eq!(
        title_of(&bench, OTHER),
        "The other one",
        "nothing else is taken back"
    );
    assert_eq!(
        (disk::read(&path), disk::read(&fork)),
        (repaired, continued.clone())
    );

    let commands = suggested(&refused);
    assert_eq!(commands.len(), 2, "{refused:?}");
    assert!(commands[0].ends_with("--keep-new"), "{commands:?}");
    assert!(
        refused.stderr.contains("call it The other one"),
        "the next one is named: {refused:?}"
    );
    follow(&bench, &commands[1]).ends(0);
    assert_ne!(title_of(&bench, OTHER), "The other one");
    follow(&bench, &commands[0]).ends(0);
    assert_eq!(
        disk::read(&path),
        broken,
        "the repair in place is taken back"
    );
    assert_eq!(disk::read(&fork), continued, "and what was continued stays");
    bench.run(["undo"]).ends(2).says("there is nothing to undo");
}

#[test]
fn a_repair_in_place_and_into_a_fork_is_one_operation_with_one_undo() {
    let bench = Bench::new();
    let (_, path, broken) = plant_broken(&bench);
    let done = bench
        .run(["repair", path.to_str().unwrap(), "--apply", "--json"])
        .ends(0)
        .of_type("op");
    assert_eq!(done.len(), 1, "{done:?}");
    bench
        .run(["check", done[0]["made"].as_str().unwrap()])
        .ends(0);
    assert_ne!(disk::read(&path), broken);
    assert_eq!(bench.run(["ops", "--json"]).ends(0).of_type("op").len(), 1);
    bench.run(["undo"]).ends(0);
    assert_eq!(disk::read(&path), broken);
    assert_eq!(logs(&path), [path.as_path()], "the fork is gone");
}

#[test]
fn a_fork_that_was_deleted_does_not_keep_the_rest_of_its_repair() {
    let bench = Bench::new();
    let (_, path, broken) = plant_broken(&bench);
    bench
        .run(["repair", path.to_str().unwrap(), "--apply"])
        .ends(0);
    std::fs::remove_file(the_fork(&path)).unwrap();
    bench.run(["undo"]).ends(0);
    assert_eq!(disk::read(&path), broken);
}

#[test]
fn every_command_that_a_refused_undo_suggests_is_one_that_works() {
    type Case = (&'static str, fn(&Bench));
    let cases: [Case; 5] = [
        ("a title, and the client went on", |bench| {
            let path = plant_claude(bench);
            bench.run(["rename", OTHER, "T"]).ends(0);
            add_line(&path, r#"{"type":"tag","tag":"x","sessionId":"s"}"#);
        }),
        ("a fork, and the client went on in it", |bench| {
            let path = plant_claude(bench);
            bench.run(["fork", OTHER]).ends(0);
            add_line(
                &the_fork(&path),
                r#"{"type":"tag","tag":"x","sessionId":"s"}"#,
            );
        }),
        ("a deletion, and its place is taken", |bench| {
            let path = plant_claude(bench);
            bench.run(["delete", "--apply", OTHER]).ends(0);
            disk::write(&path, &log(OTHER, "/elsewhere"));
        }),
        (
            "a move, and the client rewrote the table of projects",
            |bench| {
                plant_claude(bench);
                bench.plant(".claude.json", br#"{"projects":{"/w":{}}}"#);
                bench
                    .run(["move", "/w", "/the new 'place", "--apply"])
                    .ends(0);
                bench.plant(
                    ".claude.json",
                    br#"{"projects":{"/the new 'place":{}},"n":1}"#,
                );
            },
        ),
        ("a repaired fork without a change in place", |bench| {
            let made = pi::file(
                pi::PiShape::Linear,
                pi::PiFlavour::Pi,
                pi::PiLayout::of("/home/dev/p"),
                3,
            );
            let path = made.write_to(&bench.home().join(".pi/agent"));
            disk::write(
                &path,
                &damage::apply(Damage::PhantomParent, made.bytes(), 6, &mut Rng::new(1)),
            );
            bench
                .run(["repair", path.to_str().unwrap(), "--apply"])
                .ends(0);
            add_line(&the_fork(&path), LINE);
        }),
    ];
    for (what, arrange) in cases {
        let bench = Bench::new();
        arrange(&bench);
        let refused = bench.run(["undo"]).ends(3);
        let commands = suggested(&refused);
        assert!(!commands.is_empty(), "{what}: {refused:?}");
        if what.contains("taken") {
            let path = bench
                .home()
                .join(format!(".claude/projects/-w/{OTHER}.jsonl"));
            assert!(
                refused
                    .stderr
                    .contains(&format!("move `{}` away", path.display())),
                "{refused:?}"
            );
            std::fs::remove_file(path).unwrap();
        }
        for command in commands {
            // It asks on a terminal, and there is none here.
            let asks = if command.starts_with("boswell delete") {
                " --apply"
            } else {
                ""
            };
            let ran = follow(&bench, &format!("{command}{asks}"));
            assert_eq!(
                ran.code,
                Some(0),
                "{what}: `{command}` was suggested and refuses: {ran:?}"
            );
        }
    }
}

#[test]
fn keep_new_is_not_suggested_where_it_would_refuse() {
    let bench = Bench::new();
    let path = plant_claude(&bench);
    bench.run(["rename", OTHER, "T"]).ends(0);
    // Not only appended to, but overwritten: the two changes cannot be separated any more.
    disk::write(&path, &log(OTHER, "/somewhere/else entirely"));
    let refused = bench.run(["undo"]).ends(3);
    assert!(!refused.stderr.contains("--keep-new"), "{refused:?}");
    bench.run(["undo", "--keep-new"]).ends(3);
}

#[test]
fn several_operations_are_taken_back_by_name_newest_first() {
    let bench = Bench::new();
    let path = plant_claude(&bench);
    let before = disk::read(&path);
    for title in ["one", "two"] {
        bench.run(["rename", OTHER, title]).ends(0);
    }
    let listed = bench.run(["ops", "--json"]).ends(0).of_type("op");
    let ids: Vec<String> = listed
        .iter()
        .map(|op| op["op"].as_str().unwrap().to_owned())
        .collect();
    // The older one is named first, but must be undone after the newer one.
    bench.run(["undo", &ids[1], &ids[0]]).ends(0);
    assert_eq!(disk::read(&path), before);
}

#[test]
fn a_command_that_made_several_operations_names_them_all_for_undo() {
    let bench = Bench::new();
    let claude = plant_claude(&bench);
    let before = disk::read(&claude);
    let made = pi::file(
        pi::PiShape::Linear,
        pi::PiFlavour::Pi,
        pi::PiLayout::of("/w"),
        3,
    );
    let pi = made.write_to(&bench.home().join(".pi/agent"));
    let moved = bench.run(["move", "/w", "/v", "--apply"]).ends(0);
    let way_back = moved
        .stderr
        .split('`')
        .find(|part| part.starts_with("boswell undo "))
        .unwrap()
        .to_owned();
    assert_eq!(
        way_back.split(' ').count(),
        4,
        "two stores, two operations: {moved:?}"
    );
    follow(&bench, &way_back).ends(0);
    assert_eq!(disk::read(&claude), before);
    assert_eq!(disk::read(&pi), made.bytes());
}
