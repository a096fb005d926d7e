//! Iterates over entries from both ends, by branch and by page.

use boswell_store::model::{EntryId, EntryKind};
use boswell_store::session::Entry;
use boswell_store::{Draft, ErrorKind, Home, NewSession, Result, Session};

fn session() -> Session {
    let store = Home::in_memory().unwrap().sessions().unwrap();
    let writer = store.create(NewSession::in_project("/proj/demo")).unwrap();
    writer.append(Draft::user("why?").with_id("ask")).unwrap();
    writer.append(Draft::assistant("no").with_id("no")).unwrap();
    writer.branch("ask").unwrap();
    writer
        .append(Draft::assistant("yes").with_id("yes"))
        .unwrap();
    writer.session().unwrap()
}

/// Returns the ids of messages; the header and the moved leaf have random ids.
fn ids(entries: impl Iterator<Item = Result<Entry>>) -> Vec<EntryId> {
    entries
        .map(Result::unwrap)
        .filter(|entry| matches!(entry.kind, EntryKind::User | EntryKind::Assistant))
        .map(|entry| entry.id)
        .collect()
}

#[test]
fn entries_come_in_file_order_and_from_the_end() {
    let session = session();
    assert_eq!(ids(session.entries()), ["ask", "no", "yes"]);
    assert_eq!(ids(session.entries().rev()), ["yes", "no", "ask"]);
    assert_eq!(session.entries().len(), session.log().heads.len());
    let last = session.entries().next_back().unwrap().unwrap();
    assert_eq!(last.view.unwrap().text(), "yes");
}

#[test]
fn the_branch_leaves_out_what_was_left() {
    let session = session();
    assert_eq!(ids(session.branch_entries().unwrap()), ["ask", "yes"]);
}

#[test]
fn pages_follow_each_other_and_end() {
    let session = session();
    let mut paged = Vec::new();
    let mut after = None;
    loop {
        let page = session.entries_after(after.as_ref(), 2).unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.id.clone());
        paged.extend(page.into_iter().map(|entry| entry.id));
    }
    let whole: Vec<EntryId> = session.entries().map(|entry| entry.unwrap().id).collect();
    assert_eq!(paged, whole);
    let missing = session
        .entries_after(Some(&"nowhere".into()), 2)
        .unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
}

#[test]
fn pages_from_the_end_follow_each_other_and_end() {
    let session = session();
    let mut paged = Vec::new();
    let mut before = None;
    loop {
        let page = session.entries_before(before.as_ref(), 2).unwrap();
        assert!(page.len() <= 2);
        let Some(last) = page.last() else { break };
        before = Some(last.id.clone());
        paged.extend(page.into_iter().map(|entry| entry.id));
    }
    let whole: Vec<EntryId> = session
        .entries()
        .rev()
        .map(|entry| entry.unwrap().id)
        .collect();
    assert_eq!(paged, whole);
    let missing = session
        .entries_before(Some(&"nowhere".into()), 2)
        .unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
}
