//! Deleting, undoing and restoring.

use boswell_dialect::{EditRequest, NewSession, StoreRequest};
use boswell_store::disk::{Disk, RealDisk};
use boswell_testkit::make::clinvoker::ClinvokerIndexState;

use super::{INDEX, index_is_right, key, of};

#[test]
fn what_is_deleted_is_gone_from_folder_and_index_and_comes_back_whatever_happened_meanwhile() {
    let (_folder, place, ids) = of(ClinvokerIndexState::Right);
    let before = place.read(&key(&ids[1]));
    let done = place.carry_out(&ids[1], &EditRequest::Delete).unwrap();
    assert!(
        done.planned.remarks[0]
            .text
            .contains("the transcript stays with codex"),
        "{:?}",
        done.planned.remarks
    );
    assert!(place.json(INDEX)["index"].get(&ids[1]).is_none());
    index_is_right(&place);
    // The index changes in the meantime: it is rebuilt, not restored.
    place
        .carry_out(&ids[0], &EditRequest::Title("later".into()))
        .unwrap();
    place.runner.restore(&done.operation.session).unwrap();
    assert_eq!(place.read(&key(&ids[1])), before, "bit for bit");
    assert_eq!(place.json(INDEX)["index"][&ids[0]]["Title"], "later");
    index_is_right(&place);
}

#[test]
fn undoing_a_title_restores_the_document_and_rebuilds_the_index() {
    let (_folder, place, ids) = of(ClinvokerIndexState::Right);
    let before = place.read(&key(&ids[0]));
    let done = place
        .carry_out(&ids[0], &EditRequest::Title("mine".into()))
        .unwrap();
    place
        .carry_out(&ids[1], &EditRequest::Title("other".into()))
        .unwrap();
    assert!(
        place
            .runner
            .operations()
            .unwrap()
            .0
            .iter()
            .all(|listed| listed.undoable)
    );
    place.runner.undo(&done.operation.id).unwrap();
    assert_eq!(place.read(&key(&ids[0])), before);
    index_is_right(&place);
    let made = place
        .carry_out_store(&StoreRequest::Create(NewSession::in_project("/p")))
        .unwrap();
    place.runner.undo(&made.operation.id).unwrap();
    index_is_right(&place);
}

#[test]
fn a_session_that_was_deleted_meanwhile_is_not_brought_back_by_a_change() {
    let (_folder, place, ids) = of(ClinvokerIndexState::Right);
    let location = place.find(&ids[0]);
    place.carry_out(&ids[0], &EditRequest::Delete).unwrap();
    for request in [
        EditRequest::Title("x".into()),
        EditRequest::Tags(vec!["x".into()]),
        EditRequest::Delete,
    ] {
        let refused = place
            .runner
            .execute(&place.store, &location, &request)
            .unwrap_err();
        assert!(refused.is_not_found(), "{refused}");
    }
    assert!(
        RealDisk
            .stat(&place.root.join(key(&ids[0])))
            .unwrap()
            .is_none()
    );
}

#[test]
fn a_deleted_session_comes_back_from_the_vault_alone_and_the_index_is_rebuilt() {
    for &state in ClinvokerIndexState::ALL {
        let (folder, place, ids) = of(state);
        let document = place.read(&key(&ids[0]));
        let session = place
            .carry_out(&ids[0], &EditRequest::Delete)
            .unwrap()
            .operation
            .session;
        place
            .carry_out(&ids[1], &EditRequest::Title("meanwhile".into()))
            .unwrap();
        place
            .disk
            .remove(&folder.path().join("home/ops.jsonl"))
            .unwrap();
        let restored = place.runner.restore(&session).unwrap();
        assert_eq!(place.read(&key(&ids[0])), document, "{state:?}");
        assert_eq!(
            place.json(INDEX)["index"][&ids[1]]["Title"],
            "meanwhile",
            "{state:?}"
        );
        index_is_right(&place);
        place.runner.undo(&restored.operation.id).unwrap();
        assert!(
            place.json(INDEX)["index"].get(&ids[0]).is_none(),
            "{state:?}"
        );
        index_is_right(&place);
    }
}
