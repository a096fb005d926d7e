//! Bad weather: servers that die, connections that are cut, several writers at once.
//!
//! What counts is always the same: every acknowledged entry is there once, and what was refused is
//! not there.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use boswell_store::{Body, Draft, NewSession, Store, Wait, WritableStore};
use boswell_testkit::cutting_proxy::{Cut, CuttingProxy};

use crate::bed::{self, entries};

/// Fails unless each of these entries is in the session once, and nothing else is.
fn there_once(store: &Store, session: &str, expected: &[String]) {
    let mut counts = BTreeMap::new();
    for id in entries(store, session) {
        *counts.entry(id).or_insert(0) += 1;
    }
    let doubled: Vec<_> = counts.iter().filter(|(_, count)| **count > 1).collect();
    assert!(doubled.is_empty(), "doubled: {doubled:?}");
    let lost: Vec<_> = expected
        .iter()
        .filter(|id| !counts.contains_key(*id))
        .collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    assert_eq!(counts.len(), expected.len(), "nothing else is there");
}

fn session(store: &WritableStore, id: &str) -> boswell_store::SessionWriter {
    let new = NewSession::in_project("/proj").with_id(id);
    store.create(new).unwrap()
}

#[test]
fn ten_kills_of_the_postmaster_under_load_lose_and_double_nothing() {
    let Some(server) = bed::ready_server() else {
        return;
    };
    // A server takes its time to recover on a machine that is busy.
    let patient = bed::options(server.port(), &bed::tenant()).patience(Duration::from_secs(180));
    let backend = bed::backend(patient);
    let writer = session(&bed::store(&backend), "s");
    let (done, count) = (AtomicBool::new(false), AtomicUsize::new(0));
    let acknowledged = std::thread::scope(|scope| {
        let load = scope.spawn(|| {
            let mut ids = Vec::new();
            while !done.load(Ordering::Acquire) {
                let id = format!("e{}", ids.len());
                let draft = Draft::user("x").with_id(id.as_str());
                writer.append(draft).unwrap();
                ids.push(id);
                count.store(ids.len(), Ordering::Release);
            }
            ids
        });
        for kill in 1..=10 {
            // Under load: some appends are acknowledged between two kills.
            while count.load(Ordering::Acquire) < 5 * kill && !load.is_finished() {
                std::thread::yield_now();
            }
            server.kill();
            server.start();
        }
        done.store(true, Ordering::Release);
        load.join().unwrap()
    });
    assert!(acknowledged.len() >= 50, "only {}", acknowledged.len());
    there_once(&bed::store(&backend), "s", &acknowledged);
}

#[test]
fn fifty_cuts_at_every_moment_of_an_append_lose_and_double_nothing() {
    let Some(server) = bed::server() else { return };
    let proxy = CuttingProxy::to(server.port());
    let backend = bed::backend(bed::options(proxy.port(), &bed::tenant()));
    let writer = session(&bed::store(&backend), "s");
    let moments = [
        Cut::BeforeStatement,
        Cut::BeforeCommit,
        Cut::AfterCommit,
        Cut::HalfClosed,
        Cut::Late(Duration::from_millis(20)),
    ];
    let mut acknowledged = Vec::new();
    for (n, cut) in (0..50).zip(moments.iter().cycle()) {
        proxy.cut_next(*cut);
        let batch: Vec<String> = (0..=n % 3).map(|line| format!("e{n}-{line}")).collect();
        let drafts = batch.iter().map(|id| Draft::user("x").with_id(id.as_str()));
        let receipts = writer
            .append_all(
                drafts.collect(),
                boswell_store::Expect::Any,
                boswell_store::Durability::Fsync,
            )
            .unwrap();
        assert_eq!(receipts.len(), batch.len());
        acknowledged.extend(batch);
    }
    assert_eq!(proxy.cuts(), 50, "every cut hit an append");
    assert_eq!(
        entries(&bed::store(&backend), "s"),
        acknowledged,
        "in order"
    );
}

#[test]
fn eight_writers_on_two_backends_share_a_session_and_every_entry_is_there_once() {
    let Some(server) = bed::server() else { return };
    let tenant = bed::tenant();
    let backends = [0, 1].map(|_| bed::backend(bed::options(server.port(), &tenant)));
    let driver = session(&bed::store(&backends[0]), "s");
    driver.append(Draft::user("first").with_id("e")).unwrap();
    let mut acknowledged = vec!["e".to_owned()];
    std::thread::scope(|scope| {
        let write = |thread: usize| {
            let writer = bed::store(&backends[thread % 2])
                .shared_writer("s")
                .unwrap();
            let append = |turn: usize| {
                let id = format!("e{thread}-{turn}");
                let draft = Draft::new(Body::Title(id.clone())).with_id(id.as_str());
                writer.append(draft).map(|_| id)
            };
            (0..15).map(append).collect::<Result<Vec<_>, _>>().unwrap()
        };
        let threads: Vec<_> = (0..8)
            .map(|thread| scope.spawn(move || write(thread)))
            .collect();
        for thread in threads {
            acknowledged.extend(thread.join().unwrap());
        }
    });
    let store = bed::store(&backends[1]);
    there_once(&store, "s", &acknowledged);
    let session = store.session("s").unwrap();
    let tip = session.tip().unwrap().slot().unwrap();
    assert_eq!(
        session.tree().path(tip).len(),
        acknowledged.len(),
        "the conversation is one line"
    );
}

#[test]
fn a_statement_that_waits_longer_than_the_server_allows_is_sent_again() {
    let Some(server) = bed::server() else { return };
    let tenant = bed::tenant();
    let address = boswell_testkit::postgres_server::address(server.port(), bed::USER, "postgres");
    let address = format!("{address} options='-c statement_timeout=200'");
    let options = boswell_remote::PostgresOptions::parse(&address, tenant.clone()).unwrap();
    let backend = bed::backend(options.patience(Duration::from_secs(20)));
    let writer = session(&bed::store(&backend), "s");
    writer.append(Draft::user("x").with_id("e0")).unwrap();
    std::thread::scope(|scope| {
        // Another connection has the row of the session locked for longer than
        // a statement may take.
        let locked = format!(
            "BEGIN; SELECT 1 FROM boswell.logs WHERE tenant = '{tenant}' FOR UPDATE; \
             SELECT pg_sleep(1); COMMIT"
        );
        let holds = scope.spawn(move || server.sql("postgres", &locked));
        while server.sql("postgres", "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(1)%' AND pid <> pg_backend_pid()") == "0" {}
        writer.append(Draft::user("x").with_id("e1")).unwrap();
        holds.join().unwrap();
    });
    assert_eq!(entries(&bed::store(&backend), "s"), ["e0", "e1"]);
    let again = bed::store(&backend);
    drop(writer);
    again
        .writer("s", Wait::No)
        .unwrap()
        .append(Draft::user("x").with_id("e2"))
        .unwrap();
}
