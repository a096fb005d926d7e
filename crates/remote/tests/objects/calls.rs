//! The five calls, and servers that must be refused.

use boswell_model::ErrorKind;
use boswell_remote::{Objects, ObjectsOptions, PutOutcome};
use boswell_testkit::object_proxy::ObjectProxy;

use crate::bed;

#[test]
fn an_object_is_stored_once_read_in_ranges_listed_and_deleted() {
    let Some(objects) = bed::objects() else {
        return;
    };
    let put = |bytes: &[u8]| objects.put_if_absent("calls/a b+c", bytes).unwrap();
    assert_eq!(put(b"0123456789"), PutOutcome::Stored);
    assert_eq!(put(b"other"), PutOutcome::Existed);
    let get = |range| objects.get("calls/a b+c", range).unwrap().unwrap();
    assert_eq!(get(None), b"0123456789");
    assert_eq!(get(Some(2..5)), b"234");
    assert_eq!(get(Some(8..50)), b"89");
    assert_eq!(get(Some(50..60)), b"");
    assert_eq!(get(Some(3..3)), b"");
    let head = objects.head("calls/a b+c").unwrap().unwrap();
    assert_eq!((head.size, head.modified.is_some()), (10, true));
    assert_eq!(
        objects.put_if_absent("calls/b", b"").unwrap(),
        PutOutcome::Stored
    );
    assert_eq!(objects.get("calls/b", None).unwrap().unwrap(), b"");
    let keys = |after| {
        let page = objects.list("calls/", after).unwrap();
        assert!(page.now.is_some() && !page.more);
        let keys = page.objects.into_iter().map(|object| object.key);
        keys.collect::<Vec<_>>()
    };
    assert_eq!(keys(None), ["calls/a b+c", "calls/b"]);
    assert_eq!(keys(Some("calls/a b+c")), ["calls/b"]);
    for _ in 0..2 {
        objects.delete("calls/a b+c").unwrap();
        assert_eq!(objects.get("calls/a b+c", None).unwrap(), None);
        assert_eq!(objects.head("calls/a b+c").unwrap(), None);
    }
    assert_eq!(keys(None), ["calls/b"]);
}

#[test]
fn a_list_of_more_than_a_page_goes_on_behind_its_last_key() {
    let Some(server) = bed::server() else { return };
    let objects = Objects::open(bed::options(server.port()).page(3)).unwrap();
    let names: Vec<String> = (0..5).map(|n| format!("pages/{n}")).collect();
    for name in &names {
        objects.put_if_absent(name, b"x").unwrap();
    }
    let first = objects.list("pages/", None).unwrap();
    assert!(first.more);
    let last = &first.objects.last().unwrap().key;
    let second = objects.list("pages/", Some(last)).unwrap();
    assert!(!second.more);
    let both = first.objects.iter().chain(&second.objects);
    let keys: Vec<String> = both.map(|object| object.key.clone()).collect();
    assert_eq!(keys, names);
}

#[test]
fn a_server_that_ignores_conditions_is_refused_and_nothing_is_left_there() {
    let Some(server) = bed::server() else { return };
    let proxy = ObjectProxy::to(server.port());
    proxy.ignore_conditions();
    let error = Objects::open(bed::options(proxy.port())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error:?}");
    assert!(error.to_string().contains("If-None-Match"), "{error}");
    assert!(error.advice().is_some());
}

#[test]
fn a_bucket_that_is_not_there_is_named_as_the_reason() {
    let Some(server) = bed::server() else { return };
    let address = format!("s3://missing?endpoint=http://127.0.0.1:{}", server.port());
    let options = ObjectsOptions::parse(&address, "key", "s3cret", None).unwrap();
    assert!(!format!("{options:?}").contains("s3cret"));
    let error = Objects::open(options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error:?}");
    assert!(error.to_string().contains("bucket"), "{error}");
}

#[test]
fn a_key_that_leads_elsewhere_is_refused() {
    let Some(objects) = bed::objects() else {
        return;
    };
    for key in ["", "a//b", "../a", "a/../../b", "/a", "a/"] {
        let error = objects.delete(key).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{key}");
    }
}
