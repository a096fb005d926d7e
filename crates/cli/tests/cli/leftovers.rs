//! What agents leave behind: `check` tells it, `clean --leftovers` moves it into the vault,
//! `undo` puts it back.

use std::path::{Path, PathBuf};

use boswell_testkit::corpus;
use boswell_testkit::disk::{list, make_dir, read, set_modified, write};
use boswell_testkit::home::Home;
use boswell_testkit::snapshot::TreeSnapshot;
use serde_json::Value;

use crate::bench::Bench;
use crate::keep::modified;

const HERE: &str = "aaaaaaaa-0001-4001-8001-000000000001";
const GONE: &str = "bbbbbbbb-0001-4001-8001-000000000002";
const DAY: i64 = 86_400_000;

/// No process has this number.
const NOBODY: u32 = i32::MAX.unsigned_abs();

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

/// Kinds and paths of what `check` finds, without those of sessions themselves.
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
    Home::build(&bench.home(), 7);
    // Its sessions are of long ago.
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
            .run(["clean", "--leftovers", "--dialect", dialect])
            .ends(0)
            .text();
        assert_eq!(clean, "nothing is left behind\n", "{dialect}");
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
    let problems = found(&bench, 1);
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
    assert_eq!(first["next"], "boswell clean --leftovers --dialect claude");
    assert!(
        first["detail"].as_str().unwrap().contains("2 files"),
        "{first}"
    );
    let text = bench.run(["check"]).ends(1).text();
    assert!(
        text.contains("boswell clean --leftovers --dialect claude"),
        "{text}"
    );

    let before = TreeSnapshot::take(&root);
    bench
        .run(["clean", "--leftovers", "--dialect", "claude"])
        .ends(0)
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
        .run(["clean", "--leftovers", "--dialect", "claude", "--apply"])
        .ends(0)
        .says("boswell undo");
    assert!(!side.exists() && !copies.exists());
    assert_eq!(
        read(&root.join(format!("projects/-w/{HERE}/tool-results/a.txt"))),
        b"kept"
    );
    assert!(found(&bench, 0).is_empty());
    bench
        .run(["clean", "--leftovers", "--dialect", "claude", "--apply"])
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
    assert_eq!(found(&bench, 1).len(), 2);
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
        .run(["clean", "--leftovers", "--dialect", "claude", "--apply"])
        .ends(0);
    assert!(root.join(format!("file-history/{GONE}/1@v1")).exists());
    // The client was killed and its registry entry stayed.
    write(
        &registry,
        format!(r#"{{"pid":{pid},"sessionId":"{GONE}","procStart":"1"}}"#).as_bytes(),
    );
    assert_eq!(found(&bench, 1).len(), 2);
}

#[cfg(unix)]
#[test]
fn what_links_lead_to_and_what_holds_keys_is_left_alone() {
    let bench = Bench::new();
    let root = with_orphans(&bench);
    let outside = bench.home().join("precious");
    write(&outside.join("thesis.txt"), b"years");
    std::os::unix::fs::symlink(
        &outside,
        root.join(format!("projects/-w/{GONE}/tool-results/link")),
    )
    .unwrap();
    write(
        &root.join(format!("file-history/{GONE}/session.key")),
        b"SECRET",
    );
    let kinds: Vec<_> = found(&bench, 1)
        .into_iter()
        .map(|(kind, _, _)| kind)
        .collect();
    assert_eq!(kinds, ["orphaned_file", "orphaned_file", "outside_link"]);
    let clear = bench
        .run(["clean", "--leftovers", "--dialect", "claude", "--apply"])
        .ends(0);
    clear
        .clone()
        .says("links among them lead elsewhere")
        .says("keys among them");
    assert_eq!(read(&outside.join("thesis.txt")), b"years");
    assert!(
        root.join(format!("projects/-w/{GONE}/tool-results/b.txt"))
            .exists()
    );
    assert!(
        root.join(format!("file-history/{GONE}/session.key"))
            .exists()
    );
    let kept = crate::keep::below(&bench.root().join("boswell"));
    assert!(
        kept.iter()
            .all(|path| !read(path).windows(6).any(|it| it == b"SECRET")),
        "{kept:?}"
    );
}

#[cfg(unix)]
#[test]
fn a_session_is_not_deleted_through_a_link_to_a_folder_elsewhere() {
    let bench = Bench::new();
    let root = with_orphans(&bench);
    let outside = bench.home().join("precious");
    write(&outside.join("thesis.txt"), b"years");
    write(
        &root.join(format!("projects/-w/{HERE}/subagents/agent-1.jsonl")),
        claude(HERE).as_bytes(),
    );
    std::os::unix::fs::symlink(&outside, root.join(format!("projects/-w/{HERE}/workflows")))
        .unwrap();
    for verb in [&["delete"] as &[&str], &["archive", "--apply"]] {
        let args: Vec<&str> = verb.iter().copied().chain([HERE]).collect();
        bench
            .run(&args)
            .ends(2)
            .says("is a link to a folder elsewhere")
            .says("take the link away");
        assert_eq!(read(&outside.join("thesis.txt")), b"years");
        assert!(
            root.join(format!("projects/-w/{HERE}/subagents/agent-1.jsonl"))
                .exists()
        );
    }
    std::fs::remove_file(root.join(format!("projects/-w/{HERE}/workflows"))).unwrap();
    bench.run(["delete", HERE]).ends(0);
    assert_eq!(read(&outside.join("thesis.txt")), b"years");
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_looked_into_hides_nothing_else() {
    let bench = Bench::new();
    let root = with_orphans(&bench);
    // A link that leads back to itself cannot be listed by anybody, not even by root.
    boswell_testkit::disk::remove(&root.join("file-history"));
    std::os::unix::fs::symlink("tasks", root.join("tasks")).unwrap();
    write(
        &root.join(format!("projects/-w/{HERE}.jsonl")),
        claude(HERE).trim_end().get(..60).unwrap().as_bytes(),
    );
    let kinds: Vec<_> = found(&bench, 1)
        .into_iter()
        .map(|(kind, _, _)| kind)
        .collect();
    assert!(
        kinds.contains(&"torn_tail".to_owned()) && kinds.contains(&"unreadable".to_owned()),
        "{kinds:?}"
    );
    bench
        .run(["clean", "--leftovers", "--dialect", "nobody"])
        .ends(2)
        .says("boswell stores");
}

#[test]
fn artifacts_and_blobs_that_no_session_of_xcsh_names_are_told() {
    let bench = Bench::new();
    let root = bench.home().join(".xcsh/agent");
    let stem = "sessions/--w--/2026-02-16T10-20-30-000Z_1470cb256c001234";
    let log = |blob: &str| {
        format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"1470cb256c001234\",\"timestamp\":\"2026-02-16T10:20:30.000Z\",\"cwd\":\"/w\"}}\n{{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"2026-02-16T10:20:31.000Z\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"blob:sha256:{blob}\"}}]}}}}\n"
        )
    };
    let blob = |bytes: &[u8]| {
        let name = boswell_testkit::sha256::hex(bytes);
        write(&root.join("blobs").join(&name), bytes);
        name
    };
    let named = blob(b"a picture");
    write(&root.join(format!("{stem}.jsonl")), log(&named).as_bytes());
    write(&root.join(format!("{stem}/1.bash.log")), b"kept");
    assert!(found(&bench, 0).is_empty());

    blob(b"another picture");
    write(
        &root.join("sessions/--w--/2026-02-17T10-20-30-000Z_1470cb256c009999/1.bash.log"),
        b"left",
    );
    let problems = found(&bench, 1);
    let told: Vec<_> = problems
        .iter()
        .map(|(kind, path, _)| (kind.as_str(), path.clone()))
        .collect();
    let artifacts = root.join("sessions/--w--/2026-02-17T10-20-30-000Z_1470cb256c009999");
    assert_eq!(
        told,
        [
            ("orphaned_file", artifacts.clone()),
            ("orphaned_file", root.join("blobs"))
        ]
    );
    assert!(
        problems[1].2["detail"]
            .as_str()
            .unwrap()
            .starts_with("1 blobs (15 bytes)"),
        "{problems:?}"
    );
    bench
        .run(["clean", "--leftovers", "--dialect", "xcsh", "--apply"])
        .ends(0);
    assert!(!artifacts.exists() && root.join("blobs").join(&named).exists());

    // A blob that is not what its name says belongs to the entry that names it.
    write(&root.join("blobs").join(&named), b"a pic");
    let damaged = found(&bench, 1);
    let at: Vec<_> = damaged
        .iter()
        .map(|(kind, _, it)| (kind.as_str(), &it["line"], &it["entry"]))
        .collect();
    assert_eq!(at[0], ("missing_file", &Value::from(2), &Value::from("a")));
}

#[test]
fn locks_of_myagents_whose_owner_is_gone_are_told_and_broken_and_others_are_not() {
    let bench = Bench::new();
    let root = bench.home().join(".myagents");
    let row = r#"[{"id":"s1","agentDir":"/w","title":"T","createdAt":"2026-01-01T00:00:00.000Z","lastActiveAt":"2026-01-01T00:00:00.000Z"}]"#;
    write(&root.join("sessions.json"), row.as_bytes());
    assert!(found(&bench, 0).is_empty());
    let (dead, live, nameless) = (
        root.join("session-locks/s1.jsonl.lock"),
        root.join("session-locks/s2.jsonl.lock"),
        root.join("session-locks/s3.jsonl.lock"),
    );
    write(&dead.join("owner"), format!("node:{NOBODY}:1\n").as_bytes());
    write(
        &live.join("owner"),
        format!("node:{}:1\n", std::process::id()).as_bytes(),
    );
    make_dir(&nameless);
    write(&root.join("attachments/gone/a.png"), b"left");
    let told: Vec<_> = found(&bench, 1)
        .into_iter()
        .map(|(kind, path, _)| (kind, path))
        .collect();
    // One that names nobody may have been taken a moment ago.
    let left = root.join("attachments/gone");
    assert_eq!(
        told,
        [
            ("orphaned_file".to_owned(), left.clone()),
            ("stale_lock".to_owned(), dead.clone())
        ]
    );
    let clear = bench
        .run(["clean", "--leftovers", "--dialect", "myagents"])
        .ends(0)
        .text();
    assert!(
        clear.contains("would break the lock") && dead.exists(),
        "{clear}"
    );
    bench
        .run(["clean", "--leftovers", "--dialect", "myagents", "--apply"])
        .ends(0);
    assert!(!dead.exists() && live.exists() && nameless.exists() && !left.exists());
    assert!(found(&bench, 0).is_empty());
    bench.run(["undo"]).ends(0);
    assert_eq!(read(&left.join("a.png")), b"left");
}

#[test]
fn attachments_are_nobodys_only_if_the_index_could_be_read() {
    let bench = Bench::new();
    let root = bench.home().join(".myagents");
    write(&root.join("sessions.json"), b"\x00\x00\x00 not an index");
    write(&root.join("attachments/s1/a.png"), b"whose?");
    let told: Vec<_> = found(&bench, 1)
        .into_iter()
        .map(|(kind, _, _)| kind)
        .collect();
    assert!(!told.contains(&"orphaned_file".to_owned()), "{told:?}");
    bench
        .run(["clean", "--leftovers", "--dialect", "myagents", "--apply"])
        .ends(0);
    assert!(root.join("attachments/s1/a.png").exists());
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
        text.contains("boswell keep on") && text.contains("all clean; 1 will be deleted"),
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
