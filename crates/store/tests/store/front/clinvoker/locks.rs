//! clinvoker's own lock is respected.

use boswell_dialect::EditRequest;
use boswell_store::disk::{Disk, LockMode, OpenMode, RealDisk};
use boswell_store::{ErrorKind, Wait};
use boswell_testkit::disk;
use boswell_testkit::make::clinvoker::ClinvokerIndexState;
use serde_json::json;

use super::{key, of};

#[test]
fn their_lock_is_waited_for_never_unlinked_and_survives_a_holder_that_died() {
    let (_folder, place, ids) = of(ClinvokerIndexState::Right);
    let path = place.root.join("sessions/store.lock");
    // A lock file that a dead clinvoker left does not block.
    disk::write(&path, b"");
    let left = RealDisk.stat(&path).unwrap().unwrap().identity;
    place
        .carry_out(&ids[0], &EditRequest::Title("x".into()))
        .unwrap();
    assert_eq!(
        RealDisk.stat(&path).unwrap().unwrap().identity,
        left,
        "the file that was there is used and stays"
    );
    let theirs = RealDisk.open(&path, OpenMode::Lock).unwrap();
    assert!(theirs.try_lock(LockMode::Exclusive).unwrap());
    let impatient = place.runner.clone().waiting(Wait::No);
    let refused = impatient
        .execute(
            &place.store,
            &place.find(&ids[0]),
            &EditRequest::Title("y".into()),
        )
        .unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Busy);
    drop(theirs);
    impatient
        .execute(
            &place.store,
            &place.find(&ids[0]),
            &EditRequest::Title("y".into()),
        )
        .unwrap();
}

#[test]
fn a_lock_that_is_unlinked_under_us_is_noticed_and_everything_is_read_again() {
    let (_folder, place, ids) = of(ClinvokerIndexState::Right);
    let lock = place.root.join("sessions/store.lock");
    let document = place.root.join(key(&ids[0]));
    let calls = std::cell::Cell::new(0);
    let add = |meta: &boswell_model::SessionMeta| {
        calls.set(calls.get() + 1);
        if calls.get() == 1 {
            // Another process unlinks the lock file that it released, and writes under a new one.
            RealDisk.remove(&lock).unwrap();
            let mut theirs = place.json(&key(&ids[0]));
            theirs["tags"] = json!(["theirs"]);
            disk::write(&document, theirs.to_string().as_bytes());
        }
        EditRequest::Tags(
            meta.tags
                .iter()
                .cloned()
                .chain(["ours".to_owned()])
                .collect(),
        )
    };
    let like = EditRequest::Tags(Vec::new());
    place
        .runner
        .execute_with(&place.store, &place.find(&ids[0]), &like, &add)
        .unwrap();
    assert_eq!(calls.get(), 2);
    assert_eq!(place.meta(&ids[0]).tags, ["theirs", "ours"]);
    assert_eq!(
        place.runner.operations().unwrap().0.len(),
        1,
        "the first attempt left nothing"
    );
}
