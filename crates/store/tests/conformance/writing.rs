//! The promises of writing, kept by every backend.

use boswell_testkit::conformance::backend_writes;
use boswell_testkit::rows::Commit;

use crate::places::{Folder, Forgetful, Memory, Rows};

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
