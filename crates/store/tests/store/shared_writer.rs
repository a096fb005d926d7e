//! Several writers without the lease on one session, and the deletion of a session in use.

use boswell_store::model::{SessionRef, Tip};
use boswell_store::{Draft, ErrorKind, Home, NewSession, Outcome, Wait, WritableStore};

fn home() -> (tempfile::TempDir, Home) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::open(folder.path()).unwrap();
    (folder, home)
}

fn created(store: &WritableStore, id: &str) {
    let new = NewSession::in_project("/proj/demo").with_id(id);
    let writer = store.create(new).unwrap();
    writer
        .append(Draft::user("hello").with_id("first"))
        .unwrap();
    writer.release().unwrap();
}

/// Returns the texts of the branch that ends at the tip.
fn said(store: &WritableStore, id: &str) -> Vec<String> {
    let messages = store.session(id).unwrap().messages().unwrap();
    messages.iter().map(|message| message.text()).collect()
}

#[test]
fn entries_of_several_writers_form_one_branch_in_the_order_of_their_commits() {
    let (_folder, home) = home();
    let store = home.sessions().unwrap();
    created(&store, "shared");
    let other_process = Home::at(home.path()).sessions().unwrap();
    let writers = [
        store.shared_writer("shared").unwrap(),
        other_process.shared_writer("shared").unwrap(),
        store.writer("shared", Wait::No).unwrap(),
    ];
    let mut expected = vec!["hello".to_owned()];
    for round in 0..4 {
        for (number, writer) in writers.iter().enumerate() {
            let text = format!("{round}.{number}");
            writer.append(Draft::user(text.clone())).unwrap();
            expected.push(text);
        }
    }
    assert_eq!(said(&store, "shared"), expected);
}

#[test]
fn threads_that_share_no_handle_lose_nothing() {
    let (_folder, home) = home();
    created(&home.sessions().unwrap(), "shared");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let path = home.path();
            scope.spawn(move || {
                let store = Home::at(path).sessions().unwrap();
                let writer = store.shared_writer("shared").unwrap();
                for count in 0..10 {
                    let id = format!("{thread}-{count}");
                    writer.append(Draft::user(id.clone()).with_id(id)).unwrap();
                }
            });
        }
    });
    let store = home.sessions().unwrap();
    assert_eq!(said(&store, "shared").len(), 41);
    let session = store.session("shared").unwrap();
    let leaf = session.leaf().unwrap().unwrap();
    assert_eq!(session.tip().unwrap(), Tip::At(leaf));
}

#[test]
fn a_shared_writer_needs_a_session() {
    let (_folder, home) = home();
    let error = home
        .sessions()
        .unwrap()
        .shared_writer("nowhere")
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn a_deleted_session_is_gone_for_its_writers_and_can_be_restored() {
    let (_folder, home) = home();
    let store = home.sessions().unwrap();
    created(&store, "shared");
    let writer = store.shared_writer("shared").unwrap();
    let location = store.find("shared").unwrap();
    home.runner().delete_session(&store, &location).unwrap();
    assert_eq!(
        store.find("shared").unwrap_err().kind(),
        ErrorKind::NotFound
    );
    let refused = writer.append(Draft::user("too late")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    home.runner()
        .restore(&SessionRef::new("boswell", "shared"))
        .unwrap();
    assert_eq!(said(&store, "shared"), ["hello"]);
}

#[test]
fn a_session_that_is_driven_is_not_deleted() {
    let (_folder, home) = home();
    let store = home.sessions().unwrap();
    created(&store, "driven");
    let other_process = Home::at(home.path()).sessions().unwrap();
    let driver = other_process.writer("driven", Wait::No).unwrap();
    let location = store.find("driven").unwrap();
    let refused = home.runner().delete_session(&store, &location).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Busy);
    driver.finish(Outcome::Completed).unwrap();
    home.runner().delete_session(&store, &location).unwrap();
    assert!(store.list().unwrap().sessions.is_empty());
}
