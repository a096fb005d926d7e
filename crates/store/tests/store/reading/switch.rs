use boswell_store::store::launch::Launch;
use boswell_store::{Draft, Durability, ErrorKind, Expect, Outcome, Wait};

use crate::reading::Lab;

#[test]
fn saves_after_a_switch_go_on_where_the_stored_messages_end() {
    let lab = Lab::new();
    lab.session("b", 2).release().unwrap();
    let old = lab.session("a", 1);
    let ticket = old.submit(Draft::user("not waited for")).unwrap();
    let new = lab.store.switch(&old, "b", Wait::No).unwrap();
    drop(ticket);

    assert_eq!((new.cursor.entries, new.session.log().heads.len()), (2, 3));
    let expect = Expect::Revision(new.cursor.revision);
    let receipt = new
        .writer
        .append_with(Draft::user("third"), expect.clone(), Durability::Fsync)
        .unwrap();
    let session = lab.other().session("b").unwrap();
    let slot = session.find(&receipt.entry).unwrap();
    assert_eq!(
        session
            .tree()
            .parent(slot)
            .map(|p| session.log().label(p).into_owned()),
        new.cursor.leaf.clone().map(String::from)
    );
    let again = new
        .writer
        .append_with(Draft::user("fourth"), expect, Durability::Fsync);
    assert_eq!(
        again.unwrap_err().kind(),
        ErrorKind::Conflict,
        "the cursor is behind now"
    );
    assert!(matches!(new.launch().unwrap(), Launch::Resume { id, at: None } if id.as_str() == "b"));
}

#[test]
fn the_session_that_is_left_is_durable_free_and_of_the_same_status() {
    let lab = Lab::new();
    lab.session("b", 1).finish(Outcome::Completed).unwrap();
    let old = lab.session("a", 1);
    old.submit(Draft::user("last words"))
        .unwrap()
        .wait()
        .unwrap();
    let new = lab.store.switch(&old, "b", Wait::No).unwrap();
    assert_eq!(
        old.append(Draft::user("too late")).unwrap_err().kind(),
        ErrorKind::Invalid
    );
    let left = lab.other().session("a").unwrap();
    assert_eq!(left.log().heads.len(), 3);
    assert_eq!(left.meta().status, None);
    assert_eq!(
        new.session.meta().status.as_deref(),
        Some("completed"),
        "looking at a session does not reopen it"
    );
    let back = lab.store.switch(&new.writer, "a", Wait::No).unwrap();
    back.writer.append(Draft::user("and on")).unwrap();
}

#[test]
fn a_switch_that_fails_leaves_the_old_writer_as_it_was() {
    let lab = Lab::new();
    let busy = lab.session("busy", 1);
    let old = lab.session("a", 1);
    assert_eq!(
        lab.store.switch(&old, "busy", Wait::No).unwrap_err().kind(),
        ErrorKind::Busy
    );
    assert!(
        lab.store
            .switch(&old, "nobody", Wait::No)
            .unwrap_err()
            .is_not_found()
    );
    old.append(Draft::user("still here")).unwrap();
    assert_eq!(
        lab.other().writer("a", Wait::No).unwrap_err().kind(),
        ErrorKind::Busy,
        "and it holds its lease"
    );
    busy.append(Draft::user("me too")).unwrap();
    drop(busy);
    lab.store.switch(&old, "busy", Wait::No).unwrap();
}

#[test]
fn switching_to_the_same_session_loads_it_again_and_closes_nothing() {
    let lab = Lab::new();
    let old = lab.session("a", 1);
    let same = lab.other().switch(&old, "a", Wait::Forever).unwrap();
    assert_eq!(same.cursor.entries, 1);
    old.append(Draft::user("two")).unwrap();
    same.writer.append(Draft::user("three")).unwrap();
    assert_eq!(lab.other().session("a").unwrap().log().heads.len(), 4);
}
