//! What is said in databases is found by search, with and without an index.

use boswell_find::{Catalog, CatalogRow, Effort, Index, Query, StoreSources, WantedRows};
use boswell_model::Instant;
use boswell_store::Store;
use boswell_store::store::Stores;

use super::*;

/// The sources of a store, as a search makes them.
fn sources(lab: &Lab) -> StoreSources {
    let mut stores = Stores::default();
    stores.add_store(lab.store.clone());
    let mut catalog = Catalog::in_memory().unwrap();
    let now = Instant::from_millis(4_000_000_000_000);
    let mut refreshed = catalog.refresh(&stores, now).unwrap();
    let entries = &mut refreshed.entries;
    catalog
        .fill(&stores, entries, WantedRows::Whole, 1, &|| true)
        .unwrap();
    let mut sources = StoreSources::with_capacity(entries.len());
    for (place, entry) in entries.iter().enumerate() {
        sources.add_log(place, &lab.store, entry);
    }
    sources
}

/// Returns the places of sessions in which a text is found.
fn found(index: &Index, sources: &StoreSources, text: &str) -> Vec<String> {
    let effort = Effort {
        workers: 2,
        go_on: &|| true,
    };
    let mut query = Query::substring(text).unwrap();
    query.limit = 10_000;
    let results = index.search(&query, sources.sources(), sources, &effort);
    let hits = results.unwrap().hits;
    hits.iter().map(|hit| hit.reference.id.clone()).collect()
}

/// Something that was said in each message of a session.
fn said(session: &Session) -> Vec<String> {
    let mut said = Vec::new();
    for slot in session.log().slots() {
        let view = session.entry(slot).unwrap().view.unwrap_or_default();
        let text = view.text();
        let line = text.lines().find(|line| line.trim().chars().count() > 4);
        let is_message = session.log().kind(slot).is_conversation();
        said.extend(
            line.filter(|_| is_message)
                .map(|line| line.trim().to_owned()),
        );
    }
    said
}

#[test]
fn what_is_said_in_databases_is_found_with_and_without_an_index() {
    let Some(labs) = real() else { return };
    let mut asked = 0;
    for (from, _, lab) in &labs {
        let sources = sources(lab);
        let index = Index::open(&lab.folder.path().join("index"));
        let ask = |asked: &mut usize| {
            for session in lab.sessions() {
                for text in said(&session) {
                    let found = found(&index, &sources, &text);
                    let is_it = |place: &String| place.contains(session.id().as_str());
                    let in_file = session.location().key.as_deref().unwrap_or_default();
                    let is_file = |place: &String| place.ends_with(in_file);
                    let is_found = found.iter().any(|it| is_it(it) || is_file(it));
                    assert!(is_found, "{from}: {text:?} is not in {found:?}");
                    *asked += 1;
                }
            }
        };
        ask(&mut asked);
        let mut all = sources.settled().cloned();
        let done = index.update(&mut all, &sources, &mut || true).unwrap();
        assert!(done.complete && done.failed == 0, "{from}: {done:?}");
        ask(&mut asked);
        // Nothing is read again.
        let mut all = sources.settled().cloned();
        let again = index.update(&mut all, &sources, &mut || true).unwrap();
        assert_eq!(again.sources, 0, "{from}: {again:?}");
    }
    assert!(asked > 60, "{asked}");
}

#[test]
fn every_message_of_a_long_session_is_found_once() {
    let lab = Lab::empty("opencode");
    let db = super::trace::opencode(&lab, "opencode.db", "ses_1");
    let long = "filler ".repeat(3000);
    for nth in 0..40 {
        super::scale::add_session(&db, &format!("ses_long_{nth}"), 30, &long);
    }
    db.execute_batch(
        "UPDATE part SET data = '{\"type\":\"text\",\"text\":\"needle in the middle\"}' \
         WHERE id = 'prt_msg_ses_long_7_17'",
    )
    .unwrap();
    drop(db);
    let sources = sources(&lab);
    let index = Index::open(&lab.folder.path().join("index"));
    let expected = |found: Vec<String>| {
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].ends_with("opencode.db#ses_long_7"), "{found:?}");
    };
    expected(found(&index, &sources, "needle in the middle"));
    let mut all = sources.settled().cloned();
    let done = index.update(&mut all, &sources, &mut || true).unwrap();
    assert!(done.complete && done.failed == 0, "{done:?}");
    expected(found(&index, &sources, "needle in the middle"));
    assert_eq!(found(&index, &sources, "filler filler").len(), 40 * 30 - 1);
}

/// The summaries of a catalog, as text.
fn summaries(catalog: &Catalog, store: &Store, entries: &mut [CatalogRow]) -> Vec<String> {
    catalog.load_all(entries).unwrap();
    let summary = |entry: &CatalogRow| format!("{:?}", entry.summary(store).unwrap());
    entries.iter().map(summary).collect()
}

#[test]
fn a_first_index_reads_rows_for_search_and_catalog() {
    let lab = Lab::empty("opencode");
    let db = super::trace::opencode(&lab, "opencode.db", "ses_1");
    for nth in 0..20 {
        super::scale::add_session(&db, &format!("ses_full_{nth}"), 30, "a needle here");
    }
    drop(db);
    let mut stores = Stores::default();
    stores.add_store(lab.store.clone());
    let now = Instant::from_millis(4_000_000_000_000);
    let mut expected = Catalog::in_memory().unwrap();
    let mut rows = expected.refresh(&stores, now).unwrap().entries;
    expected
        .fill(&stores, &mut rows, WantedRows::Whole, 1, &|| true)
        .unwrap();
    let expected = summaries(&expected, &lab.store, &mut rows);

    let mut catalog = Catalog::in_memory().unwrap();
    let mut rows = catalog.refresh(&stores, now).unwrap().entries;
    let mut sources = StoreSources::with_capacity(rows.len());
    for (place, row) in rows.iter().enumerate() {
        sources.add_log(place, &lab.store, row);
    }
    let index = Index::open(&lab.folder.path().join("index"));
    let behind = sources.settled().cloned().collect();
    let (done, unwritten) = catalog
        .read_with_index(
            (&stores, &mut rows),
            (&index, &sources),
            behind,
            2,
            &mut || true,
        )
        .unwrap();
    assert!(
        done.complete && done.failed == 0 && unwritten.is_none(),
        "{done:?}"
    );
    // The catalog needs no other pass over the rows.
    assert!(rows.iter().all(CatalogRow::is_current));
    assert_eq!(summaries(&catalog, &lab.store, &mut rows), expected);
    // The index covers them, and it has their words.
    assert!(index.backlog(sources.settled()).behind.is_empty());
    assert_eq!(found(&index, &sources, "needle").len(), 20 * 30);
}
