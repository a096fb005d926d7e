//! An index in any state is rebuilt and hides no session.

use boswell_dialect::{EditRequest, NewSession, StoreRequest};
use boswell_testkit::disk;
use boswell_testkit::make::clinvoker::ClinvokerIndexState;
use serde_json::json;

use super::{INDEX, index_is_right, of};

#[test]
fn any_change_makes_a_missing_corrupt_foreign_or_ghostly_index_right() {
    for &state in ClinvokerIndexState::ALL {
        let (_folder, place, ids) = of(state);
        place
            .carry_out(&ids[1], &EditRequest::Title("x".into()))
            .unwrap();
        assert_eq!(
            place.json(INDEX)["index"].as_object().unwrap().len(),
            ids.len(),
            "{state:?}"
        );
        assert_eq!(place.problems(), [] as [String; 0], "{state:?}");
    }
}

#[test]
fn rebuilding_the_index_repairs_every_state_of_it_and_leaves_a_right_one_alone() {
    for &state in ClinvokerIndexState::ALL {
        let (_folder, place, _) = of(state);
        let done = place.carry_out_store(&StoreRequest::Index).unwrap();
        assert_eq!(
            done.operation.files().is_empty(),
            state == ClinvokerIndexState::Right,
            "{state:?}"
        );
        assert_eq!(
            done.planned.remarks.is_empty(),
            state == ClinvokerIndexState::Right,
            "{state:?}"
        );
        index_is_right(&place);
    }
}

#[test]
fn a_process_that_overwrote_the_index_with_one_row_hides_nothing_for_long() {
    let (_folder, place, ids) = of(ClinvokerIndexState::Right);
    let mut index = place.json(INDEX);
    let own = index["index"][&ids[2]].take();
    disk::write(
        &place.root.join(INDEX),
        json!({"version": 1, "index": {ids[2].as_str(): own}})
            .to_string()
            .as_bytes(),
    );
    assert_eq!(place.store.list().unwrap().sessions.len(), ids.len());
    place
        .carry_out_store(&StoreRequest::Create(NewSession::in_project("/p")))
        .unwrap();
    index_is_right(&place);
}
