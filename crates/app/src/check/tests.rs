//! The output of a check, and when it stops.

use boswell_dialect::by_name;
use boswell_model::Error;
use boswell_store::Store;
use boswell_store::store::Stores;
use boswell_testkit::disk;

use super::{CheckEvent, CheckRequest, CheckSummary, CheckVerdict};
use crate::{App, Cancel};

/// Creates sessions of one record each; every second one ends in the middle of a line.
fn app(sessions: u32) -> (tempfile::TempDir, App) {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("claude");
    for number in 0..sessions {
        let id = format!("aaaaaaaa-0001-4001-8001-{number:012}");
        let mut log = format!(
            "{{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"hello\"}},\"uuid\":\"{id}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\",\"sessionId\":\"{id}\"}}\n"
        );
        if number % 2 == 1 {
            log.push_str("{\"type\":\"us");
        }
        disk::write(
            &root.join(format!("projects/-w/{id}.jsonl")),
            log.as_bytes(),
        );
    }
    let mut stores = Stores::default();
    stores.add_store(Store::in_folder(by_name("claude").unwrap(), &root));
    let cwd = temp.path().to_path_buf();
    let app = App::of_test(stores, Some(cwd.join("boswell")), cwd);
    (temp, app)
}

fn checked(app: &App, cancel: &Cancel, most: usize) -> (CheckSummary, Vec<String>) {
    let mut seen = Vec::new();
    let summary = app.check(&CheckRequest::default(), cancel, &mut |event| {
        if let CheckEvent::Session(session) = event {
            seen.push(session.reference);
        }
        Ok(seen.len() < most)
    });
    (summary.unwrap().value, seen)
}

#[test]
fn sessions_are_handed_out_in_the_order_of_the_list_and_counted() {
    let (_temp, app) = app(40);
    let (summary, seen) = checked(&app, &Cancel::new(), usize::MAX);
    assert_eq!((summary.sessions, summary.damaged), (40, 20));
    assert_eq!(summary.verdict(), CheckVerdict::Damaged);
    assert!(seen.is_sorted(), "{seen:?}");
}

#[test]
fn a_sink_that_wants_no_more_is_not_called_again() {
    let (_temp, app) = app(40);
    let (summary, seen) = checked(&app, &Cancel::new(), 3);
    assert_eq!((summary.sessions, seen.len()), (3, 3));
}

#[test]
fn a_check_that_is_cancelled_hands_out_nothing_more() {
    let (_temp, app) = app(4);
    let cancel = Cancel::new();
    cancel.cancel();
    let (summary, seen) = checked(&app, &cancel, usize::MAX);
    assert_eq!(summary, CheckSummary::default());
    assert!(seen.is_empty());
}

#[test]
fn an_error_of_the_sink_ends_the_check() {
    let (_temp, app) = app(40);
    let mut calls = 0;
    let request = CheckRequest::default();
    let ended = app.check(&request, &Cancel::new(), &mut |event| {
        if matches!(event, CheckEvent::Session(_)) {
            calls += 1;
            return Err(Error::new(boswell_model::ErrorKind::Unavailable, "full"));
        }
        Ok(true)
    });
    assert_eq!(ended.unwrap_err().error.to_string(), "full");
    assert_eq!(calls, 1);
}

#[test]
fn a_check_that_could_read_nothing_is_more_than_damage() {
    let counts = |sessions, problems, unreadable| CheckSummary {
        sessions,
        problems,
        unreadable,
        ..CheckSummary::default()
    };
    assert_eq!(counts(0, 0, 0).verdict(), CheckVerdict::Clean);
    assert_eq!(counts(0, 1, 0).verdict(), CheckVerdict::Damaged);
    assert_eq!(counts(2, 2, 2).verdict(), CheckVerdict::Unreadable);
    assert_eq!(counts(2, 3, 2).verdict(), CheckVerdict::Damaged);
    assert_eq!(counts(2, 1, 1).verdict(), CheckVerdict::Damaged);
}
