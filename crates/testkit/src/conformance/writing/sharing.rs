//! Several writers of one session.

use std::time::Duration;

use boswell_model::ErrorKind;
use boswell_store::{
    Body, Draft, Durability, Expect, Follower, NewSession, Receipt, SessionWriter, Wait,
    WritableStore,
};

use super::super::words::{branch, created, drafts, entries, kind_of, label, leaf, messages};
use super::super::{MakePlace, WritePlace, ok};

/// One writer has the lease at a time; titles, tags and labels need no lease.
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
    ok(writer.clone().release());
    assert_eq!(
        kind_of(writer.append(Draft::user("closed"))),
        Some(ErrorKind::Invalid),
        "a closed writer writes no more"
    );
    let next = ok(place.store().writer("s-1", Wait::No));
    ok(next.append(Draft::user("my turn").with_id("e2")));
    third_waits_for(place.as_ref(), next);
    assert_eq!(
        messages(&ok(place.store().session("s-1"))),
        ["e1", "e2", "e3"]
    );
}

fn third_waits_for(place: &dyn WritePlace, next: SessionWriter) {
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
}

/// A writer whose lease expired and was taken by another cannot write any more.
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
    // Once if the log is as the old writer knows it, and once if it is not.
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

/// Entries of other writers are read before the next entry is written, and by followers.
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
            titled.revision.end() > last.revision.end(),
            "a title stands behind the entry before it"
        );
        last = ok(writer.append(Draft::user(format!("turn {turn}")).with_id(format!("e{turn}"))));
        assert!(
            last.revision.end() > titled.revision.end(),
            "and before the one that comes next"
        );
        followed.extend(
            ok(follower.poll())
                .entries
                .into_iter()
                .filter_map(|entry| entry.id.map(String::from)),
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

/// Threads of one writer and others without a lease write concurrently: every receipt is correct.
pub fn many_writers(make: &MakePlace<'_>) {
    let place = make();
    let writer = created(place.as_ref(), "s-1");
    ok(writer.append(Draft::user("first").with_id("e0")));
    let receipts = written_at_once(place.as_ref(), &writer);
    let session = ok(place.store().session("s-1"));
    let there = entries(&session);
    let mut by_revision: Vec<(u64, &str)> = receipts
        .iter()
        .map(|receipt| (receipt.revision.end(), receipt.entry.as_str()))
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

/// Four threads of the writer append, and two without a lease label the entry `e0`.
fn written_at_once(place: &dyn WritePlace, writer: &SessionWriter) -> Vec<Receipt> {
    let append = |id: String| ok(writer.append(Draft::user("x").with_id(id)));
    let annotate = |id: String| ok(place.store().annotate("s-1", label("e0").with_id(id)));
    let (append, annotate) = (&append, &annotate);
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for thread in 0..4 {
            let ids = (0..15).map(move |turn| format!("t{thread}-{turn}"));
            threads.push(scope.spawn(move || ids.map(append).collect::<Vec<_>>()));
        }
        for thread in 0..2 {
            let ids = (0..10).map(move |turn| format!("l{thread}-{turn}"));
            threads.push(scope.spawn(move || ids.map(annotate).collect::<Vec<_>>()));
        }
        let mut receipts = Vec::new();
        for thread in threads {
            receipts.extend(thread.join().expect("a thread"));
        }
        receipts
    })
}

/// The leaf moves, a branch is abandoned with a summary, a session is forked, compacted and
/// switched to.
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
    ok(writer.branch_with_summary(Some(&"e2".into()), "went astray"));
    ok(writer.append(Draft::user("again").with_id("e5")));
    forked(&store);
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
    assert_eq!(
        switched.cursor.leaf.as_ref().map(|id| id.as_str()),
        Some("f1")
    );
    ok(ok(store.writer("s-1", Wait::No)).append(Draft::user("the lease is free again")));
}

fn forked(store: &WritableStore) {
    let fork = ok(store.fork("s-1", None, NewSession::in_project("/proj").with_id("s-2")));
    ok(fork.append(Draft::user("in the fork").with_id("f1")));
    drop(fork);
    let forked = messages(&ok(store.session("s-2")));
    assert_eq!(
        forked.last().map(String::as_str),
        Some("f1"),
        "a fork goes on by itself: {forked:?}"
    );
    let source = messages(&ok(store.session("s-1")));
    assert_eq!(
        source.last().map(String::as_str),
        Some("e5"),
        "and its source stays"
    );
}
