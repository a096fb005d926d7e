//! The guarantees of writing, for every backend.

use std::path::Path;
use std::sync::Arc;

use boswell_dialect::EditRequest;
use boswell_store::disk::SystemIds;
use boswell_store::disk::{Disk, MemoryDisk};
use boswell_store::locks::Owner;
use boswell_store::operations::Runner;
use boswell_store::{Draft, ErrorKind, NewSession};
use boswell_testkit::conformance::{WritePlace, backend_writes};
use boswell_testkit::rows::Commit;

use crate::conformance::places::{Folder, Forgetful, Memory, Rows};

#[test]
fn files_keep_every_promise_of_writing() {
    backend_writes(&|| Box::new(Folder::new()));
}

#[test]
fn memory_keeps_every_promise_of_writing() {
    backend_writes(&|| Box::new(Memory::new()));
}

#[test]
fn a_disk_that_forgets_and_fails_keeps_every_promise_of_writing() {
    backend_writes(&|| Box::new(Forgetful::new(None)));
}

#[test]
fn a_disk_of_short_and_interrupted_calls_keeps_every_promise_of_writing() {
    for seed in 0..3 {
        backend_writes(&|| Box::new(Forgetful::new(Some(seed))));
    }
}

#[test]
fn rows_that_are_durable_with_their_statement_keep_every_promise_of_writing() {
    backend_writes(&|| Box::new(Rows::new(Commit::WithAppend)));
}

#[test]
fn rows_that_are_durable_with_a_later_sync_keep_every_promise_of_writing() {
    backend_writes(&|| Box::new(Rows::new(Commit::WithSync)));
}

#[test]
fn what_goes_by_a_plan_is_refused_where_sessions_are_not_files() {
    let place = Rows::new(Commit::WithAppend);
    let store = place.store();
    let _ = store
        .create(NewSession::in_project("/proj").with_id("s-1"))
        .unwrap();
    let location = store.find("s-1").unwrap();
    let (disk, id_source) = (Arc::new(MemoryDisk::default()), Arc::new(SystemIds));
    let runner = Runner::new(
        disk.clone(),
        "/home",
        id_source,
        Owner {
            pid: 1,
            program: "test".into(),
        },
    );
    let refused = runner
        .execute(&store, &location, &EditRequest::Delete)
        .unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused}");
    assert!(
        refused.advice().is_some(),
        "it says what can be done instead"
    );
    assert_eq!(
        disk.stat(Path::new("/home")).unwrap(),
        None,
        "and nothing was touched"
    );
    assert!(store.session("s-1").is_ok());
}

#[test]
fn large_values_stay_in_the_lines_where_there_is_no_disk_for_them() {
    let place = Rows::new(Commit::WithAppend);
    let writer = place
        .store()
        .create(NewSession::in_project("/proj").with_id("s-1"))
        .unwrap();
    let long = "会🦀".repeat(300_000);
    let draft = || Draft::user(long.as_str()).with_id("long");
    writer.append(draft()).unwrap();
    assert!(writer.append(draft()).unwrap().deduplicated);
    let session = place.store().session("s-1").unwrap();
    let entry = session.entry(session.find("long").unwrap()).unwrap();
    assert_eq!(entry.view.unwrap().text(), long);
    assert!(
        entry.bytes.len() > long.len(),
        "all of it stands in its line"
    );
}
