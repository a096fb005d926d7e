//! What writing promises.

use std::time::Duration;

use boswell_model::ErrorKind;
use boswell_store::{
    Body, Draft, Durability, Expect, Follower, NewSession, Outcome, Parent, Receipt, Visibility,
    Wait,
};

use super::words::{
    branch, created, died, drafts, entries, kind_of, label, leaf, messages, number,
};
use super::{Failure, MakePlace, ok};

/// Everything about writing.
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
}

/// A session is made once, and there at once for others.
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

/// A receipt names the entry and the revision with it; both are there for everybody.
pub fn receipts(make: &MakePlace<'_>) {
    let place = make();
    let writer = created(place.as_ref(), "s-1");
    let before = ok(writer.session());
    let mut last = number(&before.revision());
    for (count, durability) in [Durability::Os, Durability::Fsync, Durability::Fsync]
        .into_iter()
        .enumerate()
    {
        let receipt = ok(writer.append_with(
            Draft::user(format!("turn {count}")),
            Expect::Any,
            durability,
        ));
        assert_eq!(
            (
                receipt.durable,
                receipt.deduplicated,
                receipt.session.id.as_str()
            ),
            (durability, false, "s-1")
        );
        assert!(
            number(&receipt.revision) > last,
            "a revision grows with every entry"
        );
        last = number(&receipt.revision);
        let session = ok(place.store().session("s-1"));
        assert_eq!(
            session.revision(),
            receipt.revision,
            "others read the log at the revision of the receipt"
        );
        assert_eq!(
            entries(&session).last(),
            Some(&receipt.entry),
            "and the entry is the last one"
        );
        assert_eq!(leaf(&session), Some(receipt.entry));
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
    let ticket = ok(writer.submit(Draft::user("later").with_id("later")));
    assert_eq!(
        ok(ticket.wait()).entry,
        "later",
        "what was submitted is acknowledged when it is waited for"
    );
    ok(writer.flush());
    ok(writer.close(Outcome::Completed));
    let status = ok(place.store().session("s-1")).meta().status.clone();
    assert_eq!(
        status.as_deref(),
        Some("completed"),
        "closing says what came of it"
    );
}

/// Texts of any script and length come back as they were said, and the log is made of whole lines.
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

/// A batch is there as a whole, once, in its order; or not at all.
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
        .map(|receipt| number(&receipt.revision))
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
        receipts.last().map(|receipt| receipt.revision.clone())
    );
    assert_eq!(branch(&session), ids, "and hangs below the one before it");
    let mut bad = drafts(&["b5", "b6"]);
    bad.push(Draft::user("an orphan").below(Parent::Entry("nobody".to_owned())));
    let refused = writer.append_all(bad, Expect::Any, Durability::Fsync);
    assert_eq!(
        kind_of(refused),
        Some(ErrorKind::NotFound),
        "a batch is checked as a whole"
    );
    assert_eq!(
        ok(place.store().session("s-1")).revision(),
        session.revision(),
        "and refused as a whole"
    );
    ok(writer.append(Draft::user("on").with_id("b7")));
    assert_eq!(
        entries(&ok(place.store().session("s-1"))),
        ["b1", "b2", "b3", "b4", "b7"],
        "it goes on after that"
    );
}

/// What the caller expects is compared, and nothing is written if it is not so.
pub fn expectations(make: &MakePlace<'_>) {
    let place = make();
    let writer = created(place.as_ref(), "s-1");
    let first = ok(writer.append(Draft::user("one").with_id("e1")));
    let on = |id: &str, expect: Expect| {
        writer.append_with(Draft::user(id).with_id(id), expect, Durability::Fsync)
    };
    let second = ok(on("e2", Expect::Revision(first.revision.clone())));
    assert_eq!(
        kind_of(on("x", Expect::Revision(first.revision.clone()))),
        Some(ErrorKind::Conflict),
        "a stale revision"
    );
    assert_eq!(
        kind_of(on("x", Expect::Leaf("e1".to_owned()))),
        Some(ErrorKind::Conflict),
        "a leaf that was left"
    );
    let third = ok(on("e3", Expect::Leaf(second.entry)));
    // Somebody else adds something that the writer has not seen.
    let labelled = ok(place.store().annotate("s-1", label("e1")));
    let stale = on("x", Expect::Revision(third.revision));
    assert_eq!(
        kind_of(stale),
        Some(ErrorKind::Conflict),
        "a revision is stale also if others made it so"
    );
    ok(on("e4", Expect::Revision(labelled.revision)));
    let again = ok(place.store().annotate("s-1", label("e2")));
    ok(on("e5", Expect::Revision(again.revision)));
    let again = ok(place.store().annotate("s-1", label("e3")));
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

/// An id that was sent before with the same content is acknowledged again and stands there once;
/// other content is refused.
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

/// One drives at a time; titles, tags and labels need no lease.
pub fn leases(make: &MakePlace<'_>) {
    let place = make();
    let writer = created(place.as_ref(), "s-1");
    let other = created(place.as_ref(), "s-2");
    ok(other.append(Draft::user("sessions do not wait for each other")));
    assert_eq!(
        kind_of(place.store().writer("s-1", Wait::No)),
        Some(ErrorKind::Busy),
        "one drives at a time"
    );
    let soon = Wait::For(Duration::from_millis(20));
    assert_eq!(
        kind_of(place.store().writer("s-1", soon)),
        Some(ErrorKind::Busy),
        "also after a while"
    );
    ok(writer.append(Draft::user("still driving").with_id("e1")));
    ok(place.store().annotate("s-1", label("e1")));
    let moves = place
        .store()
        .annotate("s-1", Draft::user("a prompt needs the lease"));
    assert_eq!(kind_of(moves), Some(ErrorKind::Invalid));
    ok(writer.clone().close(Outcome::Open));
    assert_eq!(
        kind_of(writer.append(Draft::user("closed"))),
        Some(ErrorKind::Invalid),
        "a closed writer writes no more"
    );
    let next = ok(place.store().writer("s-1", Wait::No));
    ok(next.append(Draft::user("my turn").with_id("e2")));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            place
                .store()
                .writer("s-1", Wait::For(Duration::from_secs(20)))
        });
        drop(next);
        let third = ok(waiting.join().expect("the one who waits"));
        ok(third.append(Draft::user("and mine").with_id("e3")));
    });
    assert_eq!(
        messages(&ok(place.store().session("s-1"))),
        ["e1", "e2", "e3"]
    );
}

/// One whose lease ran out and was taken by another writes no more, whatever it knows.
pub fn lost_leases(make: &MakePlace<'_>) {
    let place = make();
    let old = created(place.as_ref(), "s-1");
    ok(old.append(Draft::user("mine").with_id("e1")));
    if !place.expire_leases() {
        return;
    }
    ok(old.append(Draft::user("nobody took it").with_id("e2")));
    assert_eq!(
        kind_of(place.store().writer("s-1", Wait::No)),
        Some(ErrorKind::Busy),
        "who writes keeps its lease"
    );
    assert!(place.expire_leases());
    let new = ok(place.store().writer("s-1", Wait::No));
    // Once where the log is as the old one knows it, and once where it is not.
    assert_eq!(
        kind_of(old.append(Draft::user("too late").with_id("x1"))),
        Some(ErrorKind::Conflict),
        "the lease is gone"
    );
    ok(new.append(Draft::user("mine now").with_id("e3")));
    let late = old.append_all(drafts(&["x2", "x3"]), Expect::Any, Durability::Fsync);
    assert_eq!(kind_of(late), Some(ErrorKind::Conflict), "and stays gone");
    assert_eq!(
        old.in_doubt(),
        [] as [&str; 0],
        "nothing that was refused is in doubt"
    );
    drop(old);
    assert_eq!(
        kind_of(place.store().writer("s-1", Wait::No)),
        Some(ErrorKind::Busy),
        "it gave nothing up by leaving"
    );
    ok(new.append(Draft::user("still mine").with_id("e4")));
    assert_eq!(
        entries(&ok(place.store().session("s-1"))),
        ["e1", "e2", "e3", "e4"],
        "what was refused is not there"
    );
}

/// What others add is read before the next entry is written, and by those who follow.
pub fn others_add(make: &MakePlace<'_>) {
    let place = make();
    let writer = created(place.as_ref(), "s-1");
    let mut last = ok(writer.append(Draft::user("first").with_id("e0")));
    let mut follower = ok(Follower::new(&place.store(), "s-1"));
    let mut followed: Vec<String> = Vec::new();
    for turn in 1..20 {
        let titled = ok(place
            .store()
            .annotate("s-1", Draft::new(Body::Title(format!("title {turn}")))));
        assert!(
            number(&titled.revision) > number(&last.revision),
            "a title stands behind the entry before it"
        );
        last = ok(writer.append(Draft::user(format!("turn {turn}")).with_id(format!("e{turn}"))));
        assert!(
            number(&last.revision) > number(&titled.revision),
            "and before the one that comes next"
        );
        followed.extend(
            ok(follower.poll())
                .entries
                .into_iter()
                .filter_map(|entry| entry.id),
        );
    }
    let session = ok(place.store().session("s-1"));
    assert_eq!(session.meta().title.as_deref(), Some("title 19"));
    assert_eq!(
        messages(&session),
        (0..20).map(|turn| format!("e{turn}")).collect::<Vec<_>>()
    );
    assert_eq!(
        branch(&session).len(),
        session.log().slots().count() - 1,
        "the conversation is one line"
    );
    assert_eq!(
        followed,
        entries(&session),
        "who follows sees every entry once"
    );
}

/// Threads of one writer and others without a lease write at the same time: every receipt is true.
pub fn many_writers(make: &MakePlace<'_>) {
    let place = make();
    let writer = created(place.as_ref(), "s-1");
    ok(writer.append(Draft::user("first").with_id("e0")));
    let receipts: Vec<Receipt> = std::thread::scope(|scope| {
        let turns = (0..4).map(|thread| {
            let writer = writer.clone();
            scope.spawn(move || {
                let append =
                    |turn| writer.append(Draft::user("x").with_id(format!("t{thread}-{turn}")));
                (0..15).map(append).map(ok).collect::<Vec<_>>()
            })
        });
        let place = place.as_ref();
        let labels = (0..2).map(|thread| {
            scope.spawn(move || {
                let annotate = |turn| {
                    place
                        .store()
                        .annotate("s-1", label("e0").with_id(format!("l{thread}-{turn}")))
                };
                (0..10).map(annotate).map(ok).collect::<Vec<_>>()
            })
        });
        let threads: Vec<_> = turns.chain(labels).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("a thread"))
            .collect()
    });
    let session = ok(place.store().session("s-1"));
    let there = entries(&session);
    let mut by_revision: Vec<(u64, &str)> = receipts
        .iter()
        .map(|receipt| (number(&receipt.revision), receipt.entry.as_str()))
        .collect();
    by_revision.sort_unstable();
    assert!(
        by_revision.windows(2).all(|two| two[0].0 < two[1].0),
        "no two entries share a revision"
    );
    let by_revision: Vec<&str> = by_revision.into_iter().map(|(_, id)| id).collect();
    assert_eq!(
        there[1..],
        by_revision,
        "every entry stands there once, in the order of the revisions"
    );
    assert_eq!(
        branch(&session).len(),
        there.len(),
        "and hangs below the one before it"
    );
}

/// The leaf moves, a branch is left with a summary, a session is forked, compacted and switched to.
pub fn conversations(make: &MakePlace<'_>) {
    let place = make();
    let store = place.store();
    let writer = created(place.as_ref(), "s-1");
    ok(writer.append_all(drafts(&["e1", "e2", "e3"]), Expect::Any, Durability::Fsync));
    ok(writer.branch("e1"));
    ok(writer.append(Draft::user("from the first").with_id("e4")));
    assert_eq!(
        ok(writer.rewind("e4")),
        "from the first",
        "a rewind gives the prompt back"
    );
    assert_eq!(
        leaf(&ok(store.session("s-1"))).as_deref(),
        Some("e1"),
        "and stands before it"
    );
    ok(writer.branch_with_summary(Some("e2"), "went astray"));
    ok(writer.append(Draft::user("again").with_id("e5")));
    let fork = ok(store.fork("s-1", None, NewSession::in_project("/proj").with_id("s-2")));
    ok(fork.append(Draft::user("in the fork").with_id("f1")));
    drop(fork);
    let forked = messages(&ok(store.session("s-2")));
    assert_eq!(
        forked.last().map(String::as_str),
        Some("f1"),
        "a fork goes on by itself: {forked:?}"
    );
    assert_eq!(
        messages(&ok(store.session("s-1")))
            .last()
            .map(String::as_str),
        Some("e5"),
        "and its source stays"
    );
    ok(writer.compact("all of it", "e5", 1_000));
    let (session, tip) = ok(writer.read_for_context(None));
    assert!(
        ok(session.context(tip)).items.len() < 4,
        "a compaction shortens the context"
    );
    let switched = ok(store.switch(&writer, "s-2", Wait::No));
    assert_eq!(
        switched.cursor.revision,
        switched.session.revision(),
        "a cursor is where the log ends"
    );
    assert_eq!(switched.cursor.leaf.as_deref(), Some("f1"));
    ok(ok(store.writer("s-1", Wait::No)).append(Draft::user("the lease is free again")));
}

/// A session that waits for its first answer is known by its id and in no list before.
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

/// The first failure ends a writer and names what is in doubt; the same ids again
/// bring it about, once.
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

/// What was acknowledged is there after the machine died; what was not is there whole, or not at
/// all, and can be sent again.
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
    // A duplicate is acknowledged like anything else: it is durable by then, whoever wrote it.
    let writer = ok(place.store().writer("s-1", Wait::No));
    ok(writer.append_with(Draft::user("e6").with_id("e6"), Expect::Any, Durability::Os));
    drop(writer);
    let writer = ok(place.store().writer("s-1", Wait::No));
    ok(writer.append(Draft::user("e6").with_id("e6")));
    drop(writer);
    died(place.as_ref());
    assert_eq!(
        entries(&ok(place.store().session("s-1")))
            .last()
            .map(String::as_str),
        Some("e6"),
        "a duplicate too"
    );
}
