//! `move`: data that agents store under a project's path follows it, and can be moved back.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use boswell_testkit::disk::{read, write};

use crate::bench::{Bench, Ran};
use crate::keep::{below, modified};

const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";
const SUB: &str = "aaaaaaaa-0002-4001-8001-000000000002";
const DUPLICATE: &str = "aaaaaaaa-0003-4001-8001-000000000003";
const THERE: &str = "aaaaaaaa-0004-4001-8001-000000000004";
const HISTORY: &[u8] = b"{\"display\":\"a\",\"project\":\"/srv/my_app\",\"n\":1.0}\nnot json \xff\xfe\n\n{\"project\":\"/srv/other\",\"display\":\"b\"}\n{\"display\":\"c\",\"project\":\"/srv/my_app/sub\"}\n{\"project\":\"/srv/my_app\",\"torn";

fn log(id: &str, cwd: &str) -> Vec<u8> {
    format!("{{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"hi\"}},\"uuid\":\"u\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"{cwd}\",\"sessionId\":\"{id}\"}}\n").into_bytes()
}

fn claude(bench: &Bench) -> PathBuf {
    bench.home().join(".claude")
}

/// Creates a store in which `/srv/my_app` and `/srv/my-app` share a folder.
fn plant(bench: &Bench) {
    let root = claude(bench);
    for (key, bytes) in [
        (
            format!("projects/-srv-my-app/{ID}.jsonl"),
            log(ID, "/srv/my_app"),
        ),
        (
            format!("projects/-srv-my-app/{ID}/tool-results/t.txt"),
            b"out".to_vec(),
        ),
        (
            format!("projects/-srv-my-app-sub/{SUB}.jsonl"),
            log(SUB, "/srv/my_app/sub"),
        ),
        ("history.jsonl".to_owned(), HISTORY.to_vec()),
    ] {
        write(&root.join(key), &bytes);
    }
    let table = "{\n  \"numStartups\": 5,\n  \"projects\": {\n    \"/srv/my_app\": {\"allowedTools\": [\"Bash\"]},\n    \"/srv/other\": {}\n  },\n  \"é\": 1.50\n}";
    write(&bench.home().join(".claude.json"), table.as_bytes());
}

fn tree(bench: &Bench) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    below(&bench.home())
        .into_iter()
        .map(|path| (path.clone(), read(&path), modified(&path)))
        .collect()
}

fn project_of(bench: &Bench, id: &str) -> serde_json::Value {
    let sessions = bench.run(["list", "--json"]).ends(0).of_type("session");
    sessions
        .into_iter()
        .find(|session| session["id"] == id)
        .unwrap()["project"]
        .clone()
}

#[test]
fn sessions_memory_history_and_the_table_of_projects_follow_and_undo_brings_all_back() {
    let bench = Bench::new();
    plant(&bench);
    let root = claude(&bench);
    write(
        &root.join("projects/-srv-my-app/memory/MEMORY.md"),
        b"# index\n",
    );
    let before = tree(&bench);
    let plan = bench
        .run(["move", "/srv/my_app", "/srv/new place", "--json"])
        .ends(2);
    assert!(plan.of_type("step").len() >= 6, "{plan:?}");
    assert_eq!(tree(&bench), before, "a plan changes nothing");
    bench
        .run(["move", "/srv/my_app", "/srv/new place", "--apply"])
        .ends(0)
        .says("undo");
    let moved = root.join(format!("projects/-srv-new-place/{ID}.jsonl"));
    assert!(
        read(&moved).starts_with(&log(ID, "/srv/my_app")),
        "lines that were written stay as they are"
    );
    let was = before
        .iter()
        .find(|(path, ..)| path.ends_with(format!("{ID}.jsonl")))
        .unwrap()
        .2;
    assert_eq!(
        std::fs::metadata(&moved).unwrap().modified().unwrap(),
        was,
        "the time is what the client sorts by"
    );
    assert!(
        root.join(format!("projects/-srv-new-place/{ID}/tool-results/t.txt"))
            .exists()
    );
    assert!(
        root.join("projects/-srv-new-place/memory/MEMORY.md")
            .exists()
    );
    assert!(
        root.join(format!("projects/-srv-new-place-sub/{SUB}.jsonl"))
            .exists()
    );
    assert!(!root.join("projects/-srv-my-app").exists());
    assert_eq!(project_of(&bench, ID), "/srv/new place");
    assert_eq!(project_of(&bench, SUB), "/srv/new place/sub");
    let history = String::from_utf8_lossy(HISTORY).replacen("/srv/my_app", "/srv/new place", 1);
    let history = history.replacen("/srv/my_app/sub", "/srv/new place/sub", 1);
    assert_eq!(
        String::from_utf8_lossy(&read(&root.join("history.jsonl"))),
        history,
        "garbage and all"
    );
    let table = String::from_utf8(read(&bench.home().join(".claude.json"))).unwrap();
    assert!(
        table.contains("\"/srv/new place\": {\"allowedTools\"")
            && table.ends_with("\"é\": 1.50\n}"),
        "{table}"
    );
    assert!(!table.contains("my_app"), "{table}");
    bench.run(["undo"]).ends(0);
    let bytes = |files: Vec<(PathBuf, Vec<u8>, _)>| {
        files
            .into_iter()
            .map(|(path, bytes, _)| (path, bytes))
            .collect::<Vec<_>>()
    };
    assert_eq!(bytes(tree(&bench)), bytes(before));
}

#[test]
fn a_session_of_another_folder_under_the_same_key_stays() {
    let bench = Bench::new();
    plant(&bench);
    let root = claude(&bench);
    write(
        &root.join(format!("projects/-srv-my-app/{DUPLICATE}.jsonl")),
        &log(DUPLICATE, "/srv/my-app"),
    );
    write(
        &root.join("projects/-srv-my-app/memory/MEMORY.md"),
        b"shared\n",
    );
    bench
        .run(["move", "/srv/my_app", "/srv/elsewhere", "--apply"])
        .ends(0)
        .says("a session of another folder shares it");
    assert!(
        root.join(format!("projects/-srv-my-app/{DUPLICATE}.jsonl"))
            .exists()
    );
    assert!(root.join("projects/-srv-my-app/memory/MEMORY.md").exists());
    assert!(
        root.join(format!("projects/-srv-elsewhere/{ID}.jsonl"))
            .exists()
    );
    assert!(
        root.join(format!("projects/-srv-elsewhere/{ID}/tool-results/t.txt"))
            .exists()
    );
    assert_eq!(project_of(&bench, DUPLICATE), "/srv/my-app");
    // A second move finds the moved sessions, although their lines contain the first folder.
    bench
        .run(["move", "/srv/elsewhere", "/srv/third", "--apply"])
        .ends(0);
    assert_eq!(project_of(&bench, ID), "/srv/third");
}

#[test]
fn a_folder_that_is_there_already_is_joined_and_nothing_is_overwritten() {
    let bench = Bench::new();
    plant(&bench);
    let root = claude(&bench);
    write(
        &root.join(format!("projects/-srv-new/{THERE}.jsonl")),
        &log(THERE, "/srv/new"),
    );
    for (key, text) in [
        ("-srv-my-app/memory/MEMORY.md", "old index\n"),
        ("-srv-my-app/memory/both.md", "old fact\n"),
        ("-srv-my-app/memory/mine.md", "fact\n"),
        ("-srv-new/memory/MEMORY.md", "new index\n"),
        ("-srv-new/memory/both.md", "new fact\n"),
    ] {
        write(&root.join("projects").join(key), text.as_bytes());
    }
    bench
        .run(["move", "/srv/my_app", "/srv/new", "--apply"])
        .ends(0)
        .says("another page of that name");
    assert_eq!(
        read(&root.join("projects/-srv-new/memory/MEMORY.md")),
        b"new index\nold index\n"
    );
    assert_eq!(
        read(&root.join("projects/-srv-new/memory/both.md")),
        b"new fact\n"
    );
    assert_eq!(
        read(&root.join("projects/-srv-my-app/memory/both.md")),
        b"old fact\n"
    );
    assert!(root.join("projects/-srv-new/memory/mine.md").exists());
    for id in [ID, THERE] {
        assert!(root.join(format!("projects/-srv-new/{id}.jsonl")).exists());
    }
    write(
        &root.join(format!("projects/-srv-again/{ID}.jsonl")),
        &log(ID, "/srv/again"),
    );
    bench
        .run(["move", "/srv/again", "/srv/new", "--apply"])
        .ends(3)
        .says("same id");
    assert!(
        root.join(format!("projects/-srv-again/{ID}.jsonl"))
            .exists()
    );
}

#[test]
fn a_client_that_runs_in_the_folder_stops_the_move() {
    let bench = Bench::new();
    plant(&bench);
    let pid = std::process::id();
    let stat = String::from_utf8(read(std::path::Path::new("/proc/self/stat"))).unwrap();
    let start = stat
        .rsplit_once(')')
        .unwrap()
        .1
        .split_whitespace()
        .nth(19)
        .unwrap()
        .to_owned();
    let registry = |start: &str| {
        format!(
            "{{\"pid\":{pid},\"sessionId\":\"{ID}\",\"procStart\":\"{start}\",\"cwd\":\"/srv/my_app/sub\"}}"
        )
    };
    let path = claude(&bench).join(format!("sessions/{pid}.json"));
    write(&path, registry(&start).as_bytes());
    bench
        .run(["move", "/srv/my_app", "/srv/new", "--apply"])
        .ends(3)
        .says(&format!("pid {pid}"));
    // Another process has that pid now.
    write(&path, registry("1").as_bytes());
    bench
        .run(["move", "/srv/my_app", "/srv/new", "--apply"])
        .ends(0);
}

/// Moves the project, which must be refused because of that process.
fn refused(bench: &Bench, pid: u32) -> Ran {
    let before = tree(bench);
    let ran = bench
        .run(["move", "/srv/my_app", "/srv/new", "--apply"])
        .ends(3);
    let named = ran
        .stderr
        .split(|c: char| !c.is_ascii_digit())
        .any(|number| number == pid.to_string());
    assert!(named, "pid {pid} is not named: {ran:?}");
    assert_eq!(tree(bench), before);
    ran
}

#[test]
fn a_client_elsewhere_that_holds_a_session_of_the_project_stops_the_move() {
    let bench = Bench::new();
    plant(&bench);
    let pid = std::process::id();
    let registry = format!("{{\"pid\":{pid},\"sessionId\":\"{ID}\",\"cwd\":\"/srv/elsewhere\"}}");
    let path = claude(&bench).join(format!("sessions/{pid}.json"));
    write(&path, registry.as_bytes());
    refused(&bench, pid);
    // An open session that does not move has no effect.
    write(&path, registry.replace(ID, THERE).as_bytes());
    bench
        .run(["move", "/srv/my_app", "/srv/new", "--apply"])
        .ends(0);
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_that_has_a_log_open_for_writing_stops_the_move() {
    let bench = Bench::new();
    plant(&bench);
    let log = claude(&bench).join(format!("projects/-srv-my-app/{ID}.jsonl"));
    let open = std::fs::OpenOptions::new().append(true).open(log).unwrap();
    let mut writer = Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(open)
        .spawn()
        .unwrap();
    refused(&bench, writer.id());
    drop(writer.stdin.take());
    writer.wait().unwrap();
    bench
        .run(["move", "/srv/my_app", "/srv/new", "--apply"])
        .ends(0);
}

#[test]
fn a_writer_of_ours_that_holds_the_lease_stops_the_move() {
    let bench = Bench::new();
    plant(&bench);
    let mut command = bench.command(["append", &format!("claude:{ID}"), "--json"]);
    let mut writer = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = writer.stdin.take().unwrap();
    writeln!(input, "{{\"role\":\"user\",\"text\":\"more\"}}").unwrap();
    let mut receipt = String::new();
    BufReader::new(writer.stdout.take().unwrap())
        .read_line(&mut receipt)
        .unwrap();
    assert!(receipt.contains("\"v\":1"), "{receipt}");
    refused(&bench, writer.id()).says("is locked by another process");
    drop(input);
    writer.wait().unwrap();
    bench
        .run(["move", "/srv/my_app", "/srv/new", "--apply"])
        .ends(0);
}

#[test]
fn a_project_that_nobody_knows_or_that_moves_into_itself_is_told_so() {
    let bench = Bench::new();
    plant(&bench);
    bench
        .run(["move", "/srv/nowhere", "/srv/new"])
        .ends(0)
        .says("boswell projects");
    bench
        .run(["move", "/srv/my_app", "/srv/my_app/deeper"])
        .ends(2)
        .says("into itself");
    bench
        .run(["--read-only", "move", "/srv/my_app", "/srv/new", "--apply"])
        .ends(2);
}

#[test]
fn boswells_own_memory_of_the_project_follows() {
    let bench = Bench::new();
    bench
        .run([
            "memory",
            "add",
            "build",
            "use make -j2",
            "--project",
            "/srv/my_app",
        ])
        .ends(0);
    bench
        .run(["move", "/srv/my_app", "/srv/new", "--apply"])
        .ends(0);
    assert!(
        bench
            .run(["memory", "/srv/new", "show"])
            .ends(0)
            .text()
            .contains("use make -j2")
    );
    bench.run(["undo"]).ends(0);
    assert!(
        bench
            .run(["memory", "/srv/my_app", "show"])
            .ends(0)
            .text()
            .contains("use make -j2")
    );
}
