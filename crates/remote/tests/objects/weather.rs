//! Bad weather between a client and object storage. What counts: an object that was acknowledged is
//! there with its bytes, and a failure says why.

use std::sync::Arc;
use std::time::Duration;

use boswell_model::{ErrorKind, Instant};
use boswell_remote::{Objects, PutOutcome};
use boswell_store::disk::{Clock, IdSource, SystemIds};
use boswell_testkit::object_proxy::{HttpFault, ObjectProxy};

use crate::bed;

const FAULTS: [HttpFault; 5] = [
    HttpFault::Status(500),
    HttpFault::Status(503),
    HttpFault::Status(429),
    HttpFault::Truncated,
    HttpFault::Lost,
];

#[test]
fn a_put_is_repeated_and_stored_once_whatever_happens_to_its_answer() {
    let Some((proxy, objects)) = bed::through_proxy() else {
        return;
    };
    for (n, fault) in FAULTS.into_iter().enumerate() {
        let key = format!("puts/{n}");
        proxy.fault_next("PUT", fault);
        let put = objects.put_if_absent(&key, b"bytes").unwrap();
        assert_eq!(put, PutOutcome::Stored, "{fault:?}");
        assert_eq!(objects.get(&key, None).unwrap().unwrap(), b"bytes");
        proxy.fault_next("PUT", fault);
        let put = objects.put_if_absent(&key, b"other").unwrap();
        assert_eq!(put, PutOutcome::Existed, "{fault:?}");
    }
    assert_eq!(proxy.faults_made(), 10, "every fault hit a put");
}

#[test]
fn a_get_a_head_a_list_and_a_delete_are_repeated() {
    let Some((proxy, objects)) = bed::through_proxy() else {
        return;
    };
    objects.put_if_absent("reads/a", b"bytes").unwrap();
    for fault in FAULTS {
        proxy.fault_next("GET", fault);
        assert_eq!(objects.get("reads/a", None).unwrap().unwrap(), b"bytes");
        proxy.fault_next("GET", fault);
        assert_eq!(objects.list("reads/", None).unwrap().objects.len(), 1);
        proxy.fault_next("HEAD", fault);
        assert_eq!(objects.head("reads/a").unwrap().unwrap().size, 5);
        proxy.fault_next("DELETE", fault);
        objects.delete("reads/b").unwrap();
    }
    assert_eq!(proxy.faults_made(), 20);
}

#[test]
fn an_answer_that_comes_too_late_is_asked_for_again() {
    let Some((proxy, _)) = bed::through_proxy() else {
        return;
    };
    let options = bed::options(proxy.port()).timeout(Duration::from_secs(3));
    let objects = Objects::open(options).unwrap();
    proxy.fault_next("PUT", HttpFault::Late(Duration::from_secs(6)));
    let put = objects.put_if_absent("late/a", b"bytes").unwrap();
    assert_eq!(put, PutOutcome::Stored);
    proxy.fault_next("GET", HttpFault::Late(Duration::from_secs(6)));
    assert_eq!(objects.get("late/a", None).unwrap().unwrap(), b"bytes");
}

#[test]
fn retries_are_bounded_and_the_last_reason_is_given() {
    let Some((proxy, _)) = bed::through_proxy() else {
        return;
    };
    let objects = Objects::open(bed::options(proxy.port()).attempts(3)).unwrap();
    for _ in 0..3 {
        proxy.fault_next("PUT", HttpFault::Status(503));
    }
    let error = objects.put_if_absent("bounded/a", b"x").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    assert!(error.reason().unwrap().contains("503"), "{error:?}");
    assert_eq!(proxy.faults_made(), 3, "sent three times");
    proxy.fault_next("PUT", HttpFault::Status(403));
    let error = objects.put_if_absent("bounded/a", b"x").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error:?}");
    assert_eq!(proxy.faults_made(), 4, "and not again where it cannot help");
    assert_eq!(objects.get("bounded/a", None).unwrap(), None);
}

/// A clock that is a day late.
#[derive(Debug)]
struct Yesterday;

impl Clock for Yesterday {
    fn now(&self) -> Instant {
        Instant::from_millis(SystemIds.now().millis() - 24 * 3600 * 1000)
    }
}

impl IdSource for Yesterday {
    fn random(&self) -> u64 {
        SystemIds.random()
    }
}

#[test]
fn a_clock_that_is_off_by_a_day_is_corrected_by_that_of_the_server() {
    let Some(server) = bed::server() else { return };
    let proxy = ObjectProxy::to(server.port());
    let today = SystemIds.now().to_rfc3339();
    proxy.require_day(&today[..10].replace('-', ""));
    let options = bed::options(proxy.port()).clock(Arc::new(Yesterday));
    let objects = Objects::open(options).unwrap();
    objects.put_if_absent("clock/a", b"bytes").unwrap();
    assert_eq!(objects.get("clock/a", None).unwrap().unwrap(), b"bytes");
}
