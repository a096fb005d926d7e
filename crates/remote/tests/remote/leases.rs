//! Leases: renewed while a writer lives, lost when it was stopped past its time, and independent
//! of clocks of clients.

use std::sync::Arc;
use std::time::Duration;

use boswell_dialect::{Clock, IdSource, by_name};
use boswell_model::{ErrorKind, Instant};
use boswell_store::disk::SystemIds;
use boswell_store::{Draft, NewSession, Store, Wait, WritableStore};
use boswell_testkit::cutting_proxy::CuttingProxy;

use crate::bed::{self, entries};

#[test]
fn a_quiet_writer_keeps_its_lease_and_gives_it_back_when_it_is_dropped() {
    let Some(server) = bed::server() else { return };
    let tenant = bed::tenant();
    let open =
        || bed::backend(bed::options(server.port(), &tenant).lease(Duration::from_millis(600)));
    let (one, two) = (open(), open());
    let writer = bed::store(&one)
        .create(NewSession::in_project("/p").with_id("s"))
        .unwrap();
    // Three times as long as the lease.
    let waiting = bed::store(&two).writer("s", Wait::For(Duration::from_millis(1800)));
    let busy = waiting.map(drop).unwrap_err();
    assert_eq!(busy.kind(), ErrorKind::Busy, "{busy}");
    assert!(
        busy.reason()
            .is_some_and(|why| why.contains("boswell has its lease")),
        "{busy:?}"
    );
    writer.append(Draft::user("x").with_id("e0")).unwrap();
    drop(writer);
    bed::store(&two)
        .writer("s", Wait::No)
        .unwrap()
        .append(Draft::user("y").with_id("e1"))
        .unwrap();
    assert_eq!(entries(&bed::store(&one), "s"), ["e0", "e1"]);
}

#[test]
fn a_holder_that_was_cut_off_past_its_time_cannot_write_any_more() {
    let Some(server) = bed::server() else { return };
    let (tenant, proxy) = (bed::tenant(), CuttingProxy::to(server.port()));
    let lease = Duration::from_millis(500);
    let one = bed::backend(bed::options(proxy.port(), &tenant).lease(lease));
    let two = bed::backend(bed::options(server.port(), &tenant));
    let old = bed::store(&one)
        .create(NewSession::in_project("/p").with_id("s"))
        .unwrap();
    old.append(Draft::user("x").with_id("e0")).unwrap();
    // The network of the first holder is gone: its timer cannot renew.
    proxy.pause(true);
    let new = bed::store(&two)
        .writer("s", Wait::For(Duration::from_secs(20)))
        .unwrap();
    new.append(Draft::user("y").with_id("e1")).unwrap();
    proxy.pause(false);
    let late = old
        .append(Draft::user("z").with_id("e2"))
        .map(drop)
        .unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Conflict, "{late}");
    assert!(late.advice().is_some(), "it says what to do");
    drop(old);
    new.append(Draft::user("still mine").with_id("e3")).unwrap();
    assert_eq!(entries(&bed::store(&two), "s"), ["e0", "e1", "e3"]);
}

/// A clock that is wrong by a number of milliseconds.
#[derive(Debug)]
struct WrongClock(i64);

impl Clock for WrongClock {
    fn now(&self) -> Instant {
        Instant::from_millis(SystemIds.now().millis() + self.0)
    }
}

impl IdSource for WrongClock {
    fn random(&self) -> u64 {
        SystemIds.random()
    }
}

#[test]
fn clocks_of_clients_that_are_wrong_by_a_day_change_nothing() {
    let Some(server) = bed::server() else { return };
    let tenant = bed::tenant();
    let backend = bed::backend(bed::options(server.port(), &tenant));
    let day = 24 * 60 * 60 * 1000;
    let store = |wrong: i64| {
        let store = Store::on(by_name("boswell").unwrap(), backend.clone(), "postgres");
        WritableStore::on_logs(store, backend.clone(), Arc::new(WrongClock(wrong)))
    };
    let (early, late) = (store(-day), store(day));
    let writer = late
        .create(NewSession::in_project("/p").with_id("a"))
        .unwrap();
    writer.append(Draft::user("x").with_id("e0")).unwrap();
    let busy = early.writer("a", Wait::No).map(drop).unwrap_err();
    assert_eq!(
        busy.kind(),
        ErrorKind::Busy,
        "the lease is that of the server's clock"
    );
    drop(writer);
    let writer = early.writer("a", Wait::No).unwrap();
    writer.append(Draft::user("y").with_id("e1")).unwrap();
    assert_eq!(
        entries(&early, "a"),
        ["e0", "e1"],
        "the order is that of commits"
    );
    // The order of the list is that of the server's clock too.
    server.sql("postgres", &format!("UPDATE boswell.logs SET touched = touched - interval '1 hour' WHERE tenant = '{tenant}'"));
    early
        .create(NewSession::in_project("/p").with_id("b"))
        .unwrap()
        .release()
        .unwrap();
    let (page, _) = late.page(None, 10).unwrap();
    let ids: Vec<_> = page.iter().map(|it| it.reference.id.as_str()).collect();
    assert_eq!(ids, ["b", "a"]);
}
