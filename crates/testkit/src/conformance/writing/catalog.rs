//! What is answered about many sessions: pages, ids, ends; and what a deletion leaves.

use std::collections::BTreeSet;

use boswell_model::{ErrorKind, SessionRef};
use boswell_store::backend::LogLookup;
use boswell_store::store::Summary;
use boswell_store::writer::Visibility;
use boswell_store::{Body, Draft, NewSession, Wait};

use super::super::words::{created, entries, kind_of};
use super::super::{MakePlace, WritePlace, ok};

/// Pages of any size have every visible session once, with what its log says about it.
pub fn pages(make: &MakePlace<'_>) {
    let place = make();
    let ids: Vec<String> = (0..7).map(|n| format!("p-{n}")).collect();
    for id in &ids {
        let writer = created(place.as_ref(), id);
        ok(writer.append(Draft::user(format!("prompt of {id}"))));
        ok(writer.append(Draft::assistant("yes")));
    }
    let title = Draft::new(Body::Title("named".to_owned()));
    ok(place.store().annotate("p-3", title));
    let hidden = NewSession {
        visible: Visibility::WithFirstAnswer,
        ..NewSession::in_project("/proj").with_id("p-hidden")
    };
    let hidden = ok(place.store().create(hidden));
    ok(hidden.append(Draft::user("nobody sees this yet")));
    for size in [1, 2, 3, 7, 50] {
        let shown = all_pages(place.as_ref(), size);
        let listed: BTreeSet<&str> = shown.iter().map(|it| it.reference.id.as_str()).collect();
        assert_eq!(
            listed,
            ids.iter().map(String::as_str).collect(),
            "every visible session is on a page of {size}"
        );
        assert_eq!(shown.len(), ids.len(), "and none twice");
        let times: Vec<_> = shown.iter().map(|it| it.location.modified).collect();
        assert!(
            times.windows(2).all(|two| two[0] >= two[1]),
            "what changed last comes first: {times:?}"
        );
    }
    described(&all_pages(place.as_ref(), 50));
}

/// Each summary has what the log of its session says.
fn described(shown: &[Summary]) {
    for summary in shown {
        let id = &summary.reference.id;
        let meta = &summary.meta;
        let title = (id == "p-3").then_some("named");
        assert_eq!(meta.title.as_deref(), title, "{id}");
        assert_eq!(meta.project.as_deref(), Some("/proj"), "{id}");
        let prompt = meta.first_prompt.clone().unwrap_or_default();
        assert_eq!(prompt, format!("prompt of {id}"), "a page names prompts");
        assert_eq!(meta.messages, 2, "and counts messages");
        assert_eq!(summary.records, 2 + u64::from(id == "p-3"), "and records");
    }
}

fn all_pages(place: &dyn WritePlace, size: usize) -> Vec<Summary> {
    let (store, mut shown, mut after) = (place.store(), Vec::new(), None);
    loop {
        let (page, next) = ok(store.page(after.as_ref(), size));
        assert!(page.len() <= size, "a page has at most {size} sessions");
        shown.extend(page);
        assert!(shown.len() <= 100, "pages come to an end");
        match next {
            Some(next) => after = Some(next),
            None => return shown,
        }
    }
}

/// An index of ids answers for whole ids only; ends are those of the logs.
pub fn found_by_id(make: &MakePlace<'_>) {
    let place = make();
    let writer = created(place.as_ref(), "s-10");
    ok(writer.append(Draft::user("one")));
    let store = place.store();
    let named = |id: &str| SessionRef::new(store.dialect().name(), id);
    for (id, is_there) in [
        ("s-10", true),
        ("s-1", false),
        ("s-100", false),
        ("", false),
    ] {
        assert_eq!(
            store.find(id).is_ok(),
            is_there,
            "`{id}` is found by its id"
        );
        let found = ok(store.backend().find_log(&named(id)));
        assert!(
            matches!(
                (&found, is_there),
                (LogLookup::NoIndex, _)
                    | (LogLookup::Found { .. }, true)
                    | (LogLookup::Absent, false)
            ),
            "`{id}`: {found:?}"
        );
    }
    let ends = || ok(store.backend().ends_of(&[named("s-10"), named("nobody")]));
    let Some(before) = ends() else { return };
    let receipt = ok(writer.append(Draft::user("two")));
    assert_eq!(
        ends(),
        Some(vec![Some(receipt.revision.end()), None]),
        "an end is that of the last receipt, it was {before:?}"
    );
}

/// A deleted session is gone, its writers are refused, and its id can be used again.
pub fn deletion(make: &MakePlace<'_>) {
    let place = make();
    let writer = created(place.as_ref(), "s-1");
    ok(writer.append(Draft::user("one").with_id("e1")));
    assert_eq!(
        kind_of(place.store().delete("s-1", Wait::No)),
        Some(ErrorKind::Busy),
        "who writes has the lease"
    );
    ok(writer.release());
    let late = ok(place.store().shared_writer("s-1"));
    ok(late.append(Draft::user("two").with_id("e2")));
    match place.store().delete("s-1", Wait::No) {
        // Files are deleted by a plan.
        Err(error) if error.kind() == ErrorKind::Unsupported => return,
        deleted => ok(deleted),
    }
    assert!(
        place
            .store()
            .session("s-1")
            .is_err_and(|error| error.is_not_found())
    );
    assert_eq!(
        ok(place.store().list()).sessions.len(),
        0,
        "no list shows it"
    );
    assert_eq!(
        kind_of(late.append(Draft::user("three"))),
        Some(ErrorKind::Conflict),
        "a writer that had it open is refused"
    );
    assert_eq!(
        kind_of(place.store().delete("s-1", Wait::No)),
        Some(ErrorKind::NotFound),
        "it is deleted once"
    );
    let again = created(place.as_ref(), "s-1");
    ok(again.append(Draft::user("new").with_id("n1")));
    assert!(
        late.append(Draft::user("four")).is_err(),
        "and stays refused"
    );
    assert_eq!(
        entries(&ok(place.store().session("s-1"))),
        ["n1"],
        "a session with that id begins empty"
    );
}
