use std::sync::Arc;

use boswell_store::Draft;
use boswell_store::disk::{Disk, OpenMode, RealDisk, durable};
use boswell_store::session::SessionCache;

use crate::reading::Lab;

#[test]
fn a_session_that_did_not_change_is_handed_out_again_without_reading_it() {
    let lab = Lab::new();
    let _ = lab.session("a", 20);
    let cache = SessionCache::new(4);
    let first = cache.session(&lab.store, "a").unwrap();
    let (read, second) = lab.reads.count(|| cache.session(&lab.store, "a").unwrap());
    assert_eq!(read, 0);
    assert!(Arc::ptr_eq(&first, &second));
}

#[test]
fn a_session_that_grew_is_read_from_where_it_grew_and_equals_one_that_is_read_as_a_whole() {
    let lab = Lab::new();
    let writer = lab.session("a", 100);
    let cache = SessionCache::new(4);
    let old = cache.session(&lab.store, "a").unwrap();
    for number in 0..20 {
        let before = lab.reads.disk().stat(&writer.path()).unwrap().unwrap().len;
        let asked = writer
            .append(Draft::user(format!("more {number}")))
            .unwrap();
        if number % 3 == 0 {
            writer.branch(&asked.entry).unwrap();
        }
        let grown = lab.reads.disk().stat(&writer.path()).unwrap().unwrap().len - before;
        let (read, now) = lab.reads.count(|| cache.session(&lab.store, "a").unwrap());
        assert_eq!(
            read,
            grown + 2 * 64,
            "what is new, and a few bytes to know the log again"
        );
        let whole = lab.store.session("a").unwrap();
        assert_eq!(now.revision(), whole.revision());
        assert_eq!(now.log().lines, whole.log().lines);
        let heads = |session: &boswell_store::Session| {
            session
                .log()
                .slots()
                .map(|slot| {
                    format!(
                        "{:?} {:?}",
                        session.log().label(slot),
                        session.tree().parent(slot)
                    )
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(heads(&now), heads(&whole));
        assert_eq!(format!("{:?}", now.meta()), format!("{:?}", whole.meta()));
        let items = |session: &boswell_store::Session| {
            session.context(session.tip().unwrap()).unwrap().items
        };
        assert_eq!(items(&now), items(&whole));
        let last = now.log().slots().next_back().unwrap();
        assert_eq!(
            now.entry(last).unwrap().bytes,
            whole.entry(last).unwrap().bytes
        );
    }
    assert_eq!(
        old.log().heads.len(),
        101,
        "a snapshot that was handed out does not change"
    );
}

#[test]
fn a_log_that_was_cut_replaced_or_left_unfinished_is_read_as_a_whole() {
    let lab = Lab::new();
    let path = lab.session("a", 5).path();
    let cache = SessionCache::new(4);
    let entries = |cache: &SessionCache| cache.session(&lab.store, "a").unwrap().log().heads.len();
    assert_eq!(entries(&cache), 6);
    let bytes = durable::read(&RealDisk, &path).unwrap().unwrap();
    let first = bytes.iter().position(|b| *b == b'\n').unwrap() as u64 + 1;
    RealDisk
        .open(&path, OpenMode::Append)
        .unwrap()
        .truncate(first)
        .unwrap();
    assert_eq!(entries(&cache), 1);
    durable::put(&RealDisk, &path, &bytes, "other").unwrap();
    assert_eq!(entries(&cache), 6);
    lab.add(&path, "{\"type\":\"custom\",\"id\":\"q\"");
    assert_eq!(entries(&cache), 6, "the tail is pending");
    lab.add(&path, ",\"parentId\":null}\n");
    assert_eq!(entries(&cache), 7);
    RealDisk.remove(&path).unwrap();
    assert!(cache.session(&lab.store, "a").unwrap_err().is_not_found());
}

#[test]
fn what_was_used_longest_ago_makes_room() {
    let lab = Lab::new();
    for id in ["a", "b", "c"] {
        let _ = lab.session(id, 3);
    }
    let cache = SessionCache::new(2);
    let reads = |id: &str| lab.reads.count(|| cache.session(&lab.store, id).unwrap()).0 > 0;
    assert_eq!(
        ["a", "b", "a", "c", "a", "b"].map(reads),
        [true, true, false, true, false, true]
    );
    assert_eq!(cache.len(), 2);
    cache.clear();
    assert!(cache.is_empty());
    let none = SessionCache::new(0);
    none.session(&lab.store, "a").unwrap();
    assert!(none.is_empty(), "a cache of nothing still answers");
}
