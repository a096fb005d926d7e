//! Orphans of xcsh and MyAgents.

use boswell_testkit::disk::{make_dir, read, write};
use serde_json::Value;

use super::found;
use crate::bench::Bench;

/// A pid that no process has.
const NOBODY: u32 = i32::MAX.unsigned_abs();

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
    let problems = found(&bench, 0);
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
        .run(["clean", "--leftovers", "--agent", "xcsh", "--apply"])
        .ends(0);
    assert!(!artifacts.exists() && root.join("blobs").join(&named).exists());

    // A blob whose content does not match its name still belongs to the entry that names it.
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
    let told: Vec<_> = found(&bench, 0)
        .into_iter()
        .map(|(kind, path, _)| (kind, path))
        .collect();
    // A lock without an owner may have been acquired a moment ago.
    let left = root.join("attachments/gone");
    assert_eq!(
        told,
        [
            ("orphaned_file".to_owned(), left.clone()),
            ("stale_lock".to_owned(), dead.clone())
        ]
    );
    let clear = bench
        .run(["clean", "--leftovers", "--agent", "myagents"])
        .ends(2)
        .text();
    assert!(
        clear.contains("would break the lock") && dead.exists(),
        "{clear}"
    );
    bench
        .run(["clean", "--leftovers", "--agent", "myagents", "--apply"])
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
        .run(["clean", "--leftovers", "--agent", "myagents", "--apply"])
        .ends(0);
    assert!(root.join("attachments/s1/a.png").exists());
}
