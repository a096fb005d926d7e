//! Boswell and a Node process that follows the app's lock protocol write to one store concurrently.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use boswell_dialect::{Draft, EditRequest};
use boswell_store::Wait;
use boswell_store::disk::RealDisk;
use boswell_store::disk::SystemIds;
use boswell_store::locks::Owner;
use boswell_store::operations::Runner;
use boswell_testkit::peer;
use serde_json::json;

use crate::myagents::shop::{ROW, Shop, talk};

const TIMES: usize = 500;

/// Appends per plan: few enough that the two processes still contend some dozens of times.
const BATCH: usize = 10;

#[test]
fn ours_and_a_node_peer_append_and_count_five_hundred_times_each_and_nothing_is_lost() {
    let Some(node) = peer::node() else { return };
    let shop = Shop::with(ROW, &talk());
    let mut child = Command::new(node)
        .arg(peer::myagents())
        .arg(shop.place.root())
        .args(["s", &TIMES.to_string()])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let runner = Runner::new(
        Arc::new(RealDisk),
        shop.place.home(),
        Arc::new(SystemIds),
        Owner::this("boswell"),
    )
    .waiting(Wait::For(Duration::from_secs(30)));
    let store = shop.store();
    for batch in 0..TIMES / BATCH {
        let drafts = (0..BATCH)
            .map(|n| Draft::user(format!("ours {}", batch * BATCH + n)))
            .collect();
        runner
            .execute(&store, &shop.location(), &EditRequest::Append(drafts))
            .unwrap();
    }
    assert!(
        child.wait().unwrap().success(),
        "the peer lost something or could not get a lock"
    );
    let lines = shop.lines();
    for side in ["ours", "theirs"] {
        let said: Vec<String> = lines
            .iter()
            .filter_map(|line| line["content"].as_str())
            .filter(|text| text.starts_with(&format!("{side} ")))
            .map(str::to_owned)
            .collect();
        let wanted: Vec<String> = (0..TIMES).map(|n| format!("{side} {n}")).collect();
        assert_eq!(said, wanted, "each once, in its order");
    }
    assert_eq!(lines.len(), 4 + 2 * TIMES, "no line is torn or glued");
    let row = shop.row();
    assert_eq!(
        row["stats"]["messageCount"],
        2 + 2 * TIMES,
        "and both counted right"
    );
    assert_eq!(
        (&row["peerCount"], &row["unknownKey"]),
        (&json!(TIMES), &json!({"a": 1.5}))
    );
    shop.has_no_locks();
}

#[test]
fn a_lock_that_a_live_node_process_holds_is_waited_for() {
    let Some(node) = peer::node() else { return };
    let shop = Shop::with(ROW, &talk());
    let mut child = Command::new(node)
        .arg(peer::myagents())
        .arg(shop.place.root())
        .args(["s", "hold"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = [0; 5];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
    assert_eq!(&ready, b"held\n");
    let append = EditRequest::Append(vec![Draft::user("x")]);
    let runner = Runner::new(
        Arc::new(RealDisk),
        shop.place.home(),
        Arc::new(SystemIds),
        Owner::this("boswell"),
    );
    let error = runner
        .clone()
        .waiting(Wait::No)
        .execute(&shop.store(), &shop.location(), &append)
        .unwrap_err();
    assert!(
        error.reason().unwrap().contains(&child.id().to_string()),
        "{:?}",
        error.reason()
    );
    // Killed while it holds the lock: its owner is dead, so no process waits for the timeout.
    child.kill().unwrap();
    child.wait().unwrap();
    runner
        .waiting(Wait::No)
        .execute(&shop.store(), &shop.location(), &append)
        .unwrap();
    assert_eq!(shop.lines().len(), 5);
    shop.has_no_locks();
}
