//! A purge that was interrupted is finished or reported by the next command.

use boswell_testkit::{disk, sha256};
use serde_json::json;

use super::{ID, claude};
use crate::traces::holding;

#[test]
fn a_purge_that_was_interrupted_is_finished_by_the_next_command_that_writes_and_told_by_others() {
    let case = claude();
    let made = case.live();
    let copies = ["delete", "--apply", "--purge"]
        .into_iter()
        .chain(made.iter().skip(1).map(String::as_str));
    case.run(&copies.collect::<Vec<_>>()).ends(0);
    case.run(&["delete", "--apply", &case.session]).ends(0);
    // The state after the process was killed when the files were already deleted.
    let marker = json!({
        "op": "00000000000000ab", "at": "2026-01-01T00:00:00.000Z", "kind": "purge", "refs": [case.session.as_str(), "claude:agent-a1"],
        "root": case.root, "log": format!("projects/-w/{ID}.jsonl"), "paths": [], "blobs": [], "wholes": [], "linked": [],
    });
    disk::write(
        &case.bench.own().join("ops/purge-00000000000000ab.json"),
        marker.to_string().as_bytes(),
    );
    case.run(&["list"])
        .ends(0)
        .says("was interrupted and is not finished");
    case.run(&["check"]).says("was interrupted");
    assert!(
        case.bench
            .own()
            .join("ops/purge-00000000000000ab.json")
            .exists(),
        "reading finishes nothing"
    );
    case.run(&["tag", case.other.as_deref().unwrap(), "x"])
        .ends(0)
        .says("was interrupted, and was finished now");
    assert_eq!(
        holding(
            &case.bench.own().join("vault"),
            &["vicunaoutput", "uakarifile"]
        ),
        []
    );
    let left = disk::list(&case.bench.own().join("ops"));
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_purge_that_was_interrupted_before_it_began_leaves_the_session_and_says_so() {
    let case = claude();
    case.run(&["index"]).ends(0);
    let log = case.root.join(format!("projects/-w/{ID}.jsonl"));
    let before = sha256::hex(&disk::read(&log));
    let marker = json!({
        "op": "00000000000000ab", "at": "2026-01-01T00:00:00.000Z", "kind": "purge", "refs": [case.session.as_str()],
        "root": case.root, "log": format!("projects/-w/{ID}.jsonl"), "paths": [], "blobs": [], "wholes": [], "linked": [],
    });
    disk::write(
        &case.bench.own().join("ops/purge-00000000000000ab.json"),
        marker.to_string().as_bytes(),
    );
    case.run(&["tag", case.other.as_deref().unwrap(), "x"])
        .ends(0)
        .says("before anything was removed");
    assert_eq!(sha256::hex(&disk::read(&log)), before);
    case.run(&["list"]).ends(0);
    assert!(disk::list(&case.bench.own().join("ops")).is_empty());
}
