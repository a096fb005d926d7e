//! The contract of writable backends.

mod catalog;
mod durability;
mod sharing;

use boswell_model::ErrorKind;
use boswell_store::writer::Parent;
use boswell_store::{Draft, Durability, Expect, NewSession, Outcome, SessionWriter, Wait};

use super::words::{branch, created, drafts, entries, kind_of, label, leaf, messages};
use super::{MakePlace, WritePlace, ok};

pub use catalog::{deletion, found_by_id, pages};
pub use durability::{acknowledged_survives, failures, visibility};
pub use sharing::{conversations, leases, lost_leases, many_writers, others_add};

/// Runs all checks of writing.
pub fn backend_writes(make: &MakePlace<'_>) {
    creation(make);
    receipts(make);
    what_is_said_comes_back(make);
    batches(make);
    expectations(make);
    same_ids(make);
    leases(make);
    lost_leases(make);
    others_add(make);
    many_writers(make);
    conversations(make);
    visibility(make);
    failures(make);
    acknowledged_survives(make);
    pages(make);
    found_by_id(make);
    deletion(make);
}

/// A session is created once, and immediately visible to other stores.
pub fn creation(make: &MakePlace<'_>) {
    let place = make();
    let writer = created(place.as_ref(), "s-1");
    let taken = place
        .store()
        .create(NewSession::in_project("/proj").with_id("s-1"))
        .map(drop);
    assert!(
        taken.is_err_and(|error| matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Busy)),
        "an id is given once"
    );
    assert_eq!(
        entries(&ok(place.store().session("s-1"))),
        [] as [&str; 0],
        "a new session is there and empty"
    );
    ok(writer.append(Draft::user("hi").with_id("e1")));
    drop(writer);
    let taken = place
        .store()
        .create(NewSession::in_project("/proj").with_id("s-1"))
        .map(drop);
    assert_eq!(
        kind_of(taken),
        Some(ErrorKind::Conflict),
        "an id stays taken"
    );
    assert_eq!(
        entries(&ok(place.store().session("s-1"))),
        ["e1"],
        "and what was there stays"
    );
    assert!(
        place
            .store()
            .writer("s-2", Wait::No)
            .is_err_and(|error| error.is_not_found()),
        "nobody made this one"
    );
    let listed = ok(place.store().list()).sessions;
    assert_eq!(
        listed
            .iter()
            .map(|location| location.id.as_str())
            .collect::<Vec<_>>(),
        ["s-1"],
        "a listing finds it"
    );
}

/// A receipt names the entry and its revision; both are visible to every reader.
pub fn receipts(make: &MakePlace<'_>) {
    let place = make();
    let writer = created(place.as_ref(), "s-1");
    let before = ok(writer.session());
    let mut last = before.revision().end();
    for durability in [Durability::Os, Durability::Fsync, Durability::Fsync] {
        let receipt = ok(writer.append_with(Draft::user("one more"), Expect::Any, durability));
        assert_eq!(receipt.durable, durability);
        assert!(!receipt.deduplicated);
        assert_eq!(receipt.session.id, "s-1");
        assert!(
            receipt.revision.end() > last,
            "a revision grows with every entry"
        );
        last = receipt.revision.end();
        let session = ok(place.store().session("s-1"));
        assert_eq!(
            session.revision(),
            receipt.revision,
            "others read the log at the revision of the receipt"
        );
        assert_eq!(
            entries(&session).last().map(String::as_str),
            Some(receipt.entry.as_str()),
            "and the entry is the last one"
        );
        assert_eq!(leaf(&session), Some(String::from(receipt.entry)));
    }
    assert_eq!(
        entries(&ok(writer.session())).len(),
        3,
        "the writer reads what others read"
    );
    assert_eq!(
        entries(&before),
        [] as [&str; 0],
        "a snapshot does not change"
    );
    submitted(&writer);
    ok(writer.finish(Outcome::Completed));
    let status = ok(place.store().session("s-1")).meta().status.clone();
    assert_eq!(
        status.as_deref(),
        Some("completed"),
        "closing says what came of it"
    );
}

fn submitted(writer: &SessionWriter) {
    let ticket = ok(writer.submit(Draft::user("later").with_id("later")));
    assert_eq!(
        ok(ticket.wait()).entry,
        "later",
        "what was submitted is acknowledged when it is waited for"
    );
    ok(writer.flush());
}

/// Texts of any script and length are read back unchanged, and the log consists of complete lines.
pub fn what_is_said_comes_back(make: &MakePlace<'_>) {
    let place = make();
    let writer = created(place.as_ref(), "s-1");
    let said = [
        "",
        "日志是唯一的记录",
        "line\nline\r\n\u{0}\u{7f}\u{2028}",
        "\u{1f600}é",
        &"长".repeat(100_000),
        "last",
    ];
    for text in said {
        ok(writer.append(Draft::user(text)));
    }
    let session = ok(place.store().session("s-1"));
    let views: Vec<String> = session
        .log()
        .slots()
        .skip(1)
        .map(|slot| ok(session.entry(slot)).view.expect("a view").text())
        .collect();
    assert!(
        views.iter().map(String::as_str).eq(said),
        "what was said is what is read"
    );
    let mut log = Vec::new();
    ok(session.export(&mut |piece| {
        log.extend_from_slice(piece);
        Ok(())
    }));
    assert!(
        log.ends_with(b"\n") && log.split(|byte| *byte == b'\n').count() == said.len() + 2,
        "one line an entry"
    );
}

/// A batch is written completely, once and in order, or not at all.
pub fn batches(make: &MakePlace<'_>) {
    let place = make();
    let writer = created(place.as_ref(), "s-1");
    let ids = ["b1", "b2", "b3", "b4"];
    let receipts = ok(writer.append_all(drafts(&ids), Expect::Any, Durability::Fsync));
    assert_eq!(
        receipts
            .iter()
            .map(|receipt| receipt.entry.as_str())
            .collect::<Vec<_>>(),
        ids
    );
    let revisions: Vec<u64> = receipts
        .iter()
        .map(|receipt| receipt.revision.end())
        .collect();
    assert!(
        revisions.windows(2).all(|two| two[0] < two[1]),
        "each entry of a batch has a revision of its own"
    );
    let session = ok(place.store().session("s-1"));
    assert_eq!(
        entries(&session),
        ids,
        "every entry stands there once, in order"
    );
    assert_eq!(
        Some(session.revision()),
        receipts.last().map(|receipt| receipt.revision)
    );
    assert_eq!(branch(&session), ids, "and hangs below the one before it");
    bad_batch_is_refused(place.as_ref(), &writer);
    ok(writer.append(Draft::user("on").with_id("b7")));
    assert_eq!(
        entries(&ok(place.store().session("s-1"))),
        ["b1", "b2", "b3", "b4", "b7"],
        "it goes on after that"
    );
}

fn bad_batch_is_refused(place: &dyn WritePlace, writer: &SessionWriter) {
    let before = ok(place.store().session("s-1")).revision();
    let mut bad = drafts(&["b5", "b6"]);
    bad.push(Draft::user("an orphan").below(Parent::Entry("nobody".into())));
    let refused = writer.append_all(bad, Expect::Any, Durability::Fsync);
    assert_eq!(
        kind_of(refused),
        Some(ErrorKind::NotFound),
        "a batch is checked as a whole"
    );
    assert_eq!(
        ok(place.store().session("s-1")).revision(),
        before,
        "and refused as a whole"
    );
}

/// The expected state is compared, and nothing is written if it differs.
pub fn expectations(make: &MakePlace<'_>) {
    let place = make();
    let writer = created(place.as_ref(), "s-1");
    let first = ok(writer.append(Draft::user("one").with_id("e1")));
    let on = |id: &str, expect: Expect| {
        writer.append_with(Draft::user(id).with_id(id), expect, Durability::Fsync)
    };
    let second = ok(on("e2", Expect::Revision(first.revision)));
    let refused = |expect: Expect, why: &str| {
        assert_eq!(kind_of(on("x", expect)), Some(ErrorKind::Conflict), "{why}");
    };
    refused(Expect::Revision(first.revision), "a stale revision");
    refused(Expect::Leaf("e1".into()), "a leaf that was left");
    let third = ok(on("e3", Expect::Leaf(second.entry)));
    // Another writer appends an entry that the writer has not seen.
    let annotate = |id: &str| ok(place.store().annotate("s-1", label(id)));
    let labelled = annotate("e1");
    refused(
        Expect::Revision(third.revision),
        "a revision is stale also if others made it so",
    );
    ok(on("e4", Expect::Revision(labelled.revision)));
    let again = annotate("e2");
    ok(on("e5", Expect::Revision(again.revision)));
    let again = annotate("e3");
    ok(writer.append(
        Draft::user("below what others added")
            .with_id("e6")
            .below(Parent::Entry(again.entry)),
    ));
    let all = ["e1", "e2", "e3", "e4", "e5", "e6"];
    assert_eq!(
        messages(&ok(place.store().session("s-1"))),
        all,
        "what is so is taken for so, and nothing else was written"
    );
}

/// An id that was sent before with the same content is acknowledged again and stored once
/// (idempotent); other content is refused.
pub fn same_ids(make: &MakePlace<'_>) {
    let place = make();
    let writer = created(place.as_ref(), "s-1");
    let first = ok(writer.append(Draft::user("one").with_id("e1")));
    let again = ok(writer.append(Draft::user("one").with_id("e1")));
    assert!(
        again.deduplicated && again.revision == first.revision,
        "{again:?}"
    );
    assert_eq!(
        kind_of(writer.append(Draft::user("other").with_id("e1"))),
        Some(ErrorKind::Conflict),
        "other content"
    );
    drop(writer);
    let writer = ok(place.store().writer("s-1", Wait::No));
    let receipts = ok(writer.append_all(
        vec![
            Draft::user("one").with_id("e1"),
            Draft::user("two").with_id("e2"),
        ],
        Expect::Any,
        Durability::Fsync,
    ));
    assert_eq!(
        receipts
            .iter()
            .map(|receipt| receipt.deduplicated)
            .collect::<Vec<_>>(),
        [true, false]
    );
    assert_eq!(entries(&ok(place.store().session("s-1"))), ["e1", "e2"]);
}
