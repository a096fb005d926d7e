//! Orphans that agents leave behind: `check` reports them, `clean --leftovers` moves them into the
//! vault, `undo` restores them.

mod links;
mod other_agents;

use std::path::{Path, PathBuf};

use boswell_testkit::corpus;
use boswell_testkit::disk::{list, read, set_modified, write};
use boswell_testkit::home::TestHome;
use boswell_testkit::snapshot::TreeSnapshot;
use serde_json::Value;

use crate::bench::Bench;
use crate::keep::modified;

const HERE: &str = "aaaaaaaa-0001-4001-8001-000000000001";
const GONE: &str = "bbbbbbbb-0001-4001-8001-000000000002";
const DAY: i64 = 86_400_000;

fn now() -> i64 {
    let since = modified(Path::new("/proc/self"))
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

fn claude(id: &str) -> String {
    format!(
        "{{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"hello\"}},\"uuid\":\"{id}-0\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\",\"sessionId\":\"{id}\"}}\n"
    )
}

/// Returns kinds and paths of the findings of `check`, without those about sessions.
fn found(bench: &Bench, code: i32) -> Vec<(String, PathBuf, Value)> {
    let lines = bench.run(["check", "--json"]).ends(code).lines();
    lines
        .into_iter()
        .map(|it| {
            (
                it["problem"].as_str().unwrap().to_owned(),
                it["path"].as_str().unwrap().into(),
                it,
            )
        })
        .collect()
}

fn with_orphans(bench: &Bench) -> PathBuf {
    let root = bench.home().join(".claude");
    for (key, text) in [
        (format!("projects/-w/{HERE}.jsonl"), claude(HERE)),
        (
            format!("projects/-w/{HERE}/tool-results/a.txt"),
            "kept".to_owned(),
        ),
        (format!("file-history/{HERE}/0@v1"), "kept".to_owned()),
        (
            format!("projects/-w/{GONE}/subagents/agent-b.jsonl"),
            claude(GONE),
        ),
        (
            format!("projects/-w/{GONE}/tool-results/b.txt"),
            "left".to_owned(),
        ),
        (format!("file-history/{GONE}/1@v1"), "left".to_owned()),
    ] {
        write(&root.join(key), text.as_bytes());
    }
    set_modified(
        &root.join(format!("projects/-w/{GONE}/tool-results/b.txt")),
        1_700_000_000_000,
    );
    root
}

#[test]
fn a_sound_home_of_every_agent_has_nothing_left_behind() {
    let bench = Bench::new();
    TestHome::build(&bench.home(), 7);
    // The sessions are old, so the client must not expire them.
    bench.plant(".claude/settings.json", br#"{"cleanupPeriodDays":36500}"#);
    let lines = bench.run(["check", "--json"]).lines();
    let told: Vec<&Value> = lines
        .iter()
        .filter(|it| {
            ["orphaned_file", "stale_lock", "lost_soon", "pending_change"]
                .contains(&it["problem"].as_str().unwrap())
        })
        .collect();
    assert_eq!(told, [] as [&Value; 0]);
    for dialect in [
        "claude",
        "pi",
        "omp",
        "xcsh",
        "myagents",
        "clinvoker",
        "oas",
        "codex",
        "boswell",
    ] {
        let clean = bench
            .run(["clean", "--leftovers", "--agent", dialect])
            .ends(0)
            .text();
        assert_eq!(clean, "no leftovers found\n", "{dialect}");
    }
}

#[test]
fn side_files_of_a_session_that_is_gone_are_told_cleared_and_put_back_bit_for_bit() {
    let bench = Bench::new();
    let root = with_orphans(&bench);
    let (side, copies) = (
        root.join(format!("projects/-w/{GONE}")),
        root.join(format!("file-history/{GONE}")),
    );
    // Nobody loses anything because of leftovers.
    let problems = found(&bench, 0);
    let told: Vec<_> = problems
        .iter()
        .map(|(kind, path, _)| (kind.as_str(), path.clone()))
        .collect();
    assert_eq!(
        told,
        [
            ("orphaned_file", side.clone()),
            ("orphaned_file", copies.clone())
        ]
    );
    let (_, _, first) = &problems[0];
    assert_eq!(first["next"], "boswell clean --leftovers --agent claude");
    assert!(
        first["detail"].as_str().unwrap().contains("2 files"),
        "{first}"
    );
    let text = bench.run(["check"]).ends(0).text();
    assert!(
        text.contains("boswell clean --leftovers --agent claude"),
        "{text}"
    );

    let before = TreeSnapshot::take(&root);
    bench
        .run(["clean", "--leftovers", "--agent", "claude"])
        .ends(2)
        .says("--apply");
    assert_eq!(
        before.diff(&TreeSnapshot::take(&root)),
        [] as [&str; 0],
        "looking changes nothing"
    );
    bench.run(["clean", "--leftovers", "--apply"]).ends(0);
    assert!(
        side.exists(),
        "without a dialect only boswell's own store is cleaned"
    );

    bench
        .run(["clean", "--leftovers", "--agent", "claude", "--apply"])
        .ends(0)
        .says("boswell undo");
    assert!(!side.exists() && !copies.exists());
    assert_eq!(
        read(&root.join(format!("projects/-w/{HERE}/tool-results/a.txt"))),
        b"kept"
    );
    assert!(found(&bench, 0).is_empty());
    bench
        .run(["clean", "--leftovers", "--agent", "claude", "--apply"])
        .ends(0);

    bench.run(["undo"]).ends(0);
    let file = side.join("tool-results/b.txt");
    assert_eq!(
        (read(&file), read(&copies.join("1@v1"))),
        (b"left".to_vec(), b"left".to_vec())
    );
    assert_eq!(
        modified(&file),
        std::time::UNIX_EPOCH + std::time::Duration::from_millis(1_700_000_000_000)
    );
    assert_eq!(found(&bench, 0).len(), 2);
}

#[test]
fn a_session_that_a_client_has_just_begun_is_not_taken_for_gone() {
    let bench = Bench::new();
    let root = with_orphans(&bench);
    let pid = std::process::id();
    let stat = String::from_utf8(read(Path::new(&format!("/proc/{pid}/stat")))).unwrap();
    let start = stat
        .rsplit_once(')')
        .unwrap()
        .1
        .split_whitespace()
        .nth(19)
        .unwrap()
        .to_owned();
    let registry = root.join(format!("sessions/{pid}.json"));
    write(
        &registry,
        format!(r#"{{"pid":{pid},"sessionId":"{GONE}","procStart":"{start}"}}"#).as_bytes(),
    );
    assert!(found(&bench, 0).is_empty());
    bench
        .run(["clean", "--leftovers", "--agent", "claude", "--apply"])
        .ends(0);
    assert!(root.join(format!("file-history/{GONE}/1@v1")).exists());
    // The client was killed, and its registry entry stayed.
    write(
        &registry,
        format!(r#"{{"pid":{pid},"sessionId":"{GONE}","procStart":"1"}}"#).as_bytes(),
    );
    assert_eq!(found(&bench, 0).len(), 2);
}

#[test]
fn sessions_that_their_agent_is_about_to_delete_are_a_warning_with_the_days_that_are_left() {
    let bench = Bench::new();
    let root = bench.home().join(".claude");
    let log = root.join(format!("projects/-w/{HERE}.jsonl"));
    write(&log, claude(HERE).as_bytes());
    write(
        &root.join(format!("projects/-w/{GONE}.jsonl")),
        claude(GONE).as_bytes(),
    );
    set_modified(&log, now() - 27 * DAY - DAY / 2);
    let problems = found(&bench, 0);
    assert_eq!(problems.len(), 1, "{problems:?}");
    let (_, _, warning) = &problems[0];
    assert_eq!(
        (&warning["type"], &warning["problem"]),
        (&Value::from("warning"), &Value::from("lost_soon"))
    );
    assert_eq!(warning["session"], format!("claude:{HERE}"));
    assert_eq!(
        warning["detail"],
        "Claude Code deletes it in 3 days, and no copy is kept"
    );
    assert_eq!(warning["next"], "boswell keep on");
    let text = bench.run(["check"]).ends(0).text();
    assert!(
        text.contains("boswell keep on") && text.contains("all clean; their agent will delete 1"),
        "{text}"
    );
    bench.run(["check", HERE]).ends(0);

    write(&root.join("settings.json"), br#"{"cleanupPeriodDays":365}"#);
    assert!(found(&bench, 0).is_empty());
    write(&root.join("settings.json"), br#"{"cleanupPeriodDays":3}"#);
    let due = found(&bench, 0);
    assert!(
        due[0].2["detail"]
            .as_str()
            .unwrap()
            .contains("any time now"),
        "{due:?}"
    );
    bench.run(["keep", "run"]).ends(0);
    assert!(
        found(&bench, 0)
            .iter()
            .all(|(kind, _, _)| kind != "lost_soon"),
        "what is kept is not lost"
    );
}

#[test]
fn a_change_of_ours_that_stopped_in_the_middle_is_told() {
    let bench = Bench::new();
    let session = bench
        .run([
            "new",
            "--dialect",
            "boswell",
            "--project",
            "/w",
            "--title",
            "T",
        ])
        .ends(0)
        .text();
    bench.run(["check"]).ends(0);
    write(&bench.own().join("ops/intent-00000000000000aa.json"), b"{}");
    let problems = found(&bench, 1);
    let (kind, _, it) = &problems[0];
    assert_eq!(
        (problems.len(), kind.as_str()),
        (1, "pending_change"),
        "{session}"
    );
    assert!(
        it["detail"].as_str().unwrap().contains("00000000000000aa"),
        "{it}"
    );
}

#[test]
fn no_store_that_the_real_client_left_has_anything_orphaned() {
    let Some(captures) = corpus::require_or_skip(corpus::CAPTURES) else {
        return;
    };
    let bench = Bench::new();
    let mut stores = 0;
    for folder in list(&captures.join("claude-code"))
        .into_iter()
        .filter(|path| path.is_dir())
    {
        let store = format!("claude={}", folder.display());
        let lines = bench.run(["check", "--json", "--store", &store]).lines();
        let orphaned: Vec<&Value> = lines
            .iter()
            .filter(|it| it["problem"] == "orphaned_file")
            .collect();
        assert_eq!(orphaned, [] as [&Value; 0]);
        stores += 1;
    }
    assert!(stores > 30, "{stores}");
}
