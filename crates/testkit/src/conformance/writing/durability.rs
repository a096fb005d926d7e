//! Visibility, the state after a failure, and durability.

use boswell_store::writer::Visibility;
use boswell_store::{Body, Draft, Durability, Expect, NewSession, Wait};

use super::super::words::{created, died, drafts, entries, label};
use super::super::{Failure, MakePlace, WritePlace, ok};

/// A deferred session can be opened by its id, but is not listed before its first assistant
/// message.
pub fn visibility(make: &MakePlace<'_>) {
    let place = make();
    let new = NewSession {
        visible: Visibility::WithFirstAnswer,
        ..NewSession::in_project("/proj").with_id("s-1")
    };
    let writer = ok(place.store().create(new));
    ok(writer.append(Draft::user("anybody there?").with_id("e1")));
    assert_eq!(
        ok(place.store().list()).sessions.len(),
        0,
        "no list shows it yet"
    );
    assert_eq!(
        entries(&ok(place.store().session("s-1"))),
        ["e1"],
        "who knows its id reads it"
    );
    ok(place.store().annotate(
        "s-1",
        Draft::new(Body::Title("hello".to_owned())).with_id("t1"),
    ));
    drop(writer);
    let writer = ok(place.store().writer("s-1", Wait::No));
    ok(writer.append(Draft::assistant("yes").with_id("e2")));
    assert_eq!(
        ok(place.store().list()).sessions.len(),
        1,
        "the first answer makes it visible"
    );
    ok(writer.append(Draft::user("good").with_id("e3")));
    drop(writer);
    assert_eq!(
        entries(&ok(place.store().session("s-1"))),
        ["e1", "t1", "e2", "e3"]
    );
    ok(ok(place.store().writer("s-1", Wait::No)).append(Draft::user("on").with_id("e4")));
}

/// The first failure ends a writer and names the entries that may not be durable; a retry with the
/// same ids writes them once.
pub fn failures(make: &MakePlace<'_>) {
    for failure in [Failure::Before, Failure::After] {
        let place = make();
        let writer = created(place.as_ref(), "s-1");
        ok(writer.append(Draft::user("first").with_id("e1")));
        if !place.fail_next_append(failure) {
            return;
        }
        let batch = || drafts(&["e2", "e3"]);
        assert!(
            writer
                .append_all(batch(), Expect::Any, Durability::Fsync)
                .is_err(),
            "{failure:?}: it fails"
        );
        assert_eq!(
            writer.in_doubt(),
            ["e2", "e3"],
            "{failure:?}: what is in doubt is named"
        );
        assert!(
            writer.append(Draft::user("x").with_id("x")).is_err(),
            "{failure:?}: the writer has ended"
        );
        drop(writer);
        let writer = ok(place.store().writer("s-1", Wait::No));
        let receipts = ok(writer.append_all(batch(), Expect::Any, Durability::Fsync));
        assert_eq!(
            receipts.len(),
            2,
            "{failure:?}: the next writer brings it about"
        );
        ok(writer.append(Draft::user("on").with_id("e4")));
        drop(writer);
        died(place.as_ref());
        assert_eq!(
            entries(&ok(place.store().session("s-1"))),
            ["e1", "e2", "e3", "e4"],
            "{failure:?}: once"
        );
    }
}

/// Acknowledged entries exist after a crash; others exist completely or not at all, and can be sent
/// again.
pub fn acknowledged_survives(make: &MakePlace<'_>) {
    let place = make();
    let writer = created(place.as_ref(), "s-1");
    ok(writer.append(Draft::user("one").with_id("e1")));
    ok(writer.append_all(drafts(&["e2", "e3"]), Expect::Any, Durability::Fsync));
    ok(place.store().annotate("s-1", label("e1").with_id("l1")));
    let ticket = ok(writer.submit_all(drafts(&["e4", "e5"]), Expect::Any, Durability::Fsync));
    drop((ticket, writer));
    died(place.as_ref());
    let there = entries(&ok(place.store().session("s-1")));
    let all = ["e1", "e2", "e3", "l1", "e4", "e5"];
    assert!(
        there.len() >= 4 && all.iter().take(there.len()).eq(&there),
        "what was acknowledged is there: {there:?}"
    );
    let writer = ok(place.store().writer("s-1", Wait::No));
    ok(writer.append_all(
        drafts(&["e2", "e3", "e4", "e5"]),
        Expect::Any,
        Durability::Fsync,
    ));
    drop(writer);
    died(place.as_ref());
    assert_eq!(
        entries(&ok(place.store().session("s-1"))),
        all,
        "sent again, it is there once"
    );
    duplicate_survives(place.as_ref());
}

/// A duplicate is acknowledged like any other entry: it is durable by then, regardless of its
/// writer.
fn duplicate_survives(place: &dyn WritePlace) {
    let writer = ok(place.store().writer("s-1", Wait::No));
    ok(writer.append_with(Draft::user("e6").with_id("e6"), Expect::Any, Durability::Os));
    drop(writer);
    let writer = ok(place.store().writer("s-1", Wait::No));
    ok(writer.append(Draft::user("e6").with_id("e6")));
    drop(writer);
    died(place);
    assert_eq!(
        entries(&ok(place.store().session("s-1")))
            .last()
            .map(String::as_str),
        Some("e6"),
        "a duplicate too"
    );
}
