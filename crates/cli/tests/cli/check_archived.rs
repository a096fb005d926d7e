//! `check` without arguments includes the vault: archived sessions, and whether they can be
//! restored.

use std::path::PathBuf;

use boswell_testkit::disk::{read, write};
use serde_json::Value;

use crate::bench::Bench;
use crate::keep::below;

const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";
const OTHER: &str = "aaaaaaaa-0002-4001-8001-000000000002";

fn line(session: &str, uuid: &str, parent: &str, text: &str) -> String {
    let parent = if parent.is_empty() {
        "null".to_owned()
    } else {
        format!("\"{parent}\"")
    };
    // Versions that resume the newest line need times that grow.
    let second = uuid.chars().last().unwrap_or('0');
    format!(
        "{{\"parentUuid\":{parent},\"isSidechain\":false,\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}},\"uuid\":\"{uuid}\",\"timestamp\":\"2026-01-01T00:00:0{second}.000Z\",\"cwd\":\"/w\",\"sessionId\":\"{session}\"}}\n"
    )
}

/// Creates a session with a subagent and a stored output, and a second session; the second line of
/// the first log is `second`.
fn plant(bench: &Bench, second: &str) -> PathBuf {
    let root = bench.home().join(".claude/projects/-w");
    let log = root.join(format!("{ID}.jsonl"));
    write(
        &log,
        format!("{}{second}", line(ID, "u1", "", "为什么？")).as_bytes(),
    );
    write(
        &root.join(format!("{ID}/subagents/agent-a1.jsonl")),
        line(ID, "s1", "", "task").as_bytes(),
    );
    write(
        &root.join(format!("{ID}/tool-results/b1.txt")),
        b"whole output",
    );
    write(
        &root.join(format!("{OTHER}.jsonl")),
        line(OTHER, "u1", "", "other").as_bytes(),
    );
    log
}

fn damage(bench: &Bench) -> Vec<Value> {
    bench.run(["check", "--json"]).of_type("damage")
}

#[test]
fn what_is_archived_is_checked_with_everything_else() {
    let bench = Bench::new();
    plant(&bench, &line(ID, "u2", "u1", "and then?"));
    let before = bench.run(["check"]).text();
    assert!(
        before.starts_with("3 sessions checked, all clean"),
        "{before}"
    );
    bench.run(["archive", ID, OTHER, "--apply"]).ends(0);
    let after = bench.run(["check"]).ends(0).text();
    assert!(
        after.starts_with("3 sessions checked, all clean"),
        "{after}"
    );
}

#[test]
fn damage_in_an_archived_session_is_told_and_names_the_way_back() {
    let bench = Bench::new();
    let glued = line(ID, "u2", "u1", "two").trim_end().to_owned() + &line(ID, "u3", "u2", "three");
    let log = plant(&bench, &glued);
    let session = format!("claude:{ID}");
    bench.run(["archive", &session, "--apply"]).ends(0);
    let before = below(&bench.own().join("vault"));
    let found = damage(&bench);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (
            &found[0]["session"],
            &found[0]["problem"],
            &found[0]["line"]
        ),
        (&session.clone().into(), &"glued_records".into(), &2.into())
    );
    assert_eq!(
        (&found[0]["archived"], &found[0]["path"]),
        (&true.into(), &log.to_str().unwrap().into())
    );
    assert_eq!(found[0]["next"], format!("boswell restore {session}"));
    let text = bench.run(["check"]).ends(1).text();
    assert!(
        text.contains(&format!("restore it with `boswell restore {session}`"))
            && !text.contains("boswell repair"),
        "{text}"
    );
    assert_eq!(
        below(&bench.own().join("vault")),
        before,
        "looking changes nothing"
    );
    bench.run(["restore", &session]).ends(0);
    let found = damage(&bench);
    assert_eq!(
        (&found[0]["next"], &found[0]["archived"]),
        (&format!("boswell repair {session}").into(), &Value::Null)
    );
    bench.run(["repair", &session, "--apply"]).ends(0);
    assert_eq!(damage(&bench), [] as [Value; 0]);
}

#[test]
fn copies_that_can_no_longer_be_put_back_are_told() {
    let bench = Bench::new();
    plant(&bench, "");
    bench.run(["archive", ID, OTHER, "--apply"]).ends(0);
    let holding = |text: &str| {
        let objects = below(&bench.own().join("vault/objects"));
        objects
            .into_iter()
            .find(|path| String::from_utf8_lossy(&read(path)).contains(text))
            .unwrap()
    };
    let (output, log) = (holding("whole output"), holding("为什么"));
    let sound = read(&output);
    write(&output, b"BOSWELL-OBJECT 1\ngarbage");
    let found = damage(&bench);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (&found[0]["problem"], &found[0]["next"]),
        (&"missing_file".into(), &Value::Null)
    );
    assert!(
        found[0]["detail"]
            .as_str()
            .unwrap()
            .contains("tool-results/b1.txt"),
        "{found:?}"
    );
    write(&output, &sound);
    std::fs::remove_file(log).unwrap();
    let found = damage(&bench);
    assert_eq!(
        found.len(),
        1,
        "its subagent and the other session are sound: {found:?}"
    );
    assert_eq!(
        (&found[0]["problem"], &found[0]["session"]),
        (&"unreadable".into(), &format!("claude:{ID}").into())
    );
    bench.run(["check"]).ends(1);
}

#[test]
fn sessions_that_are_named_are_checked_alone_archived_or_not() {
    let bench = Bench::new();
    plant(&bench, "{\"torn");
    bench.run(["archive", ID, "--apply"]).ends(0);
    assert!(
        bench
            .run(["check", OTHER])
            .ends(0)
            .text()
            .starts_with("1 session checked, all clean")
    );
    let found = bench.run(["check", ID, "--json"]).ends(1).of_type("damage");
    assert_eq!((found.len(), &found[0]["archived"]), (1, &true.into()));
    // The stores that are named contain nothing of this one.
    let pi = format!("pi={}", bench.tmp().display());
    assert!(
        bench
            .run(["--store", &pi, "check"])
            .ends(0)
            .text()
            .starts_with("0 sessions checked")
    );
}
