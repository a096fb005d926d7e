//! open-agent-sdk sessions: created, appended to, rewound, forked and deleted, with the index of
//! their folder.

use boswell_dialect::{Depth, Draft, EditRequest, NewSession, Parent, StoreRequest};
use boswell_model::{EntryKind, Tip};
use boswell_store::ErrorKind;
use boswell_testkit::disk;
use boswell_testkit::jsonl;
use boswell_testkit::make::oas::{OasIndexState, SECRET, store};
use serde_json::{Value, json};

use crate::front::support::{Place, fork, real};

const CWD: &str = "/home/dev/proj/demo";
const FOLDER: &str = "projects/-home-dev-proj-demo";

fn of(state: OasIndexState) -> (tempfile::TempDir, Place, Vec<String>) {
    let batch = store(state, CWD, 3);
    let ids = batch.sessions.iter().map(|made| made.id.clone()).collect();
    let (folder, place) = real("oas", &batch);
    (folder, place, ids)
}

fn key(id: &str) -> String {
    format!("{FOLDER}/{id}.jsonl")
}

fn lines(place: &Place, id: &str) -> Vec<Value> {
    jsonl::parse(&place.read(&key(id)))
}

/// Checks that every file has a correct row, and that there is no other row.
fn index_is_right(place: &Place) {
    assert_eq!(place.problems(), [] as [String; 0]);
    let index = place.json(&format!("{FOLDER}/sessions-index.json"));
    for row in index["sessions"].as_array().unwrap() {
        let lines = lines(place, row["id"].as_str().unwrap());
        assert_eq!(row["messageCount"], lines.len() - 1, "{row}");
        let prompt = lines
            .iter()
            .find(|line| line["type"] == "user")
            .map(|line| line["message"]["content"].clone());
        assert_eq!(row["firstPrompt"], prompt.unwrap_or(json!("")), "{row}");
        assert_eq!(row["created"], lines[0]["createdAt"], "{row}");
    }
}

/// Returns the request to rewind to before the first prompt of the second session.
pub(crate) fn first_prompt(place: &Place) -> EditRequest {
    let listing = place.store.list().unwrap();
    for location in &listing.sessions {
        let session = place.store.read(location, Depth::Heads).unwrap();
        let slot = session
            .log()
            .entries()
            .find(|(_, head)| head.kind == EntryKind::User)
            .map(|(slot, _)| slot);
        if let Some(slot) = slot {
            return EditRequest::Rewind(Tip::At(slot));
        }
    }
    panic!("no session has a prompt")
}

#[test]
fn appended_rows_have_the_sdks_shape_and_the_index_counts_them() {
    let (_folder, place, ids) = of(OasIndexState::Right);
    let before = place.read(&key(&ids[2]));
    let drafts = vec![
        Draft::user("why <会>?").with_id("mine"),
        Draft::assistant("a flaky test"),
    ];
    let done = place
        .carry_out(&ids[2], &EditRequest::Append(drafts.clone()))
        .unwrap();
    assert_eq!(done.planned.entries[0], "mine");
    assert!(
        place.read(&key(&ids[2])).starts_with(&before),
        "what was there is not touched"
    );
    let rows = lines(&place, &ids[2]);
    assert_eq!(rows.len(), 3);
    assert_eq!(
        rows[1]["message"],
        json!({"role": "user", "content": "why <会>?"})
    );
    assert_eq!(
        (&rows[1]["session_id"], &rows[1]["parent_tool_use_id"]),
        (&json!(ids[2]), &Value::Null)
    );
    assert_eq!(
        rows[2]["message"]["content"],
        json!([{"type": "text", "text": "a flaky test"}])
    );
    assert_eq!(
        (&rows[2]["message"]["tool_calls"], &rows[2]["stop_reason"]),
        (&json!([]), &json!("end_turn"))
    );
    index_is_right(&place);
    let again = place
        .carry_out(&ids[2], &EditRequest::Append(drafts[..1].to_vec()))
        .unwrap();
    assert_eq!(
        (again.operation.files().len(), again.planned.entries.len()),
        (0, 1),
        "the same id is written once"
    );
    let other = EditRequest::Append(vec![Draft::user("something else").with_id("mine")]);
    assert_eq!(
        place.carry_out(&ids[2], &other).unwrap_err().kind(),
        ErrorKind::Conflict
    );
    let elsewhere = EditRequest::Append(vec![Draft::user("x").below(Parent::Entry("mine".into()))]);
    assert_eq!(
        place.carry_out(&ids[2], &elsewhere).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
    assert_eq!(lines(&place, &ids[2]).len(), 3);
}

#[test]
fn a_torn_line_stays_and_the_next_row_stands_on_a_line_of_its_own() {
    let (_folder, place, ids) = of(OasIndexState::Right);
    let mut bytes = place.read(&key(&ids[0]));
    bytes.extend_from_slice(b"{\"type\":\"assist");
    disk::write(&place.root.join(key(&ids[0])), &bytes);
    place
        .carry_out(&ids[0], &EditRequest::Append(vec![Draft::user("next")]))
        .unwrap();
    let after = place.read(&key(&ids[0]));
    assert!(after.starts_with(&bytes) && after[bytes.len()] == b'\n');
    assert_eq!(place.meta(&ids[0]).last_prompt.as_deref(), Some("next"));
}

#[test]
fn a_rewind_cuts_the_rows_from_the_prompt_on_and_can_be_undone() {
    let (_folder, place, ids) = of(OasIndexState::Right);
    let before = place.read(&key(&ids[0]));
    let session = place
        .store
        .read(&place.find(&ids[0]), Depth::Heads)
        .unwrap();
    let second = session
        .log()
        .entries()
        .filter(|(_, head)| head.kind == EntryKind::User)
        .nth(1)
        .unwrap();
    let cut = usize::try_from(second.1.at).unwrap();
    let done = place
        .carry_out(&ids[0], &EditRequest::Rewind(Tip::At(second.0)))
        .unwrap();
    assert_eq!(place.read(&key(&ids[0])), before[..cut]);
    index_is_right(&place);
    place
        .carry_out(
            &ids[1],
            &EditRequest::Append(vec![Draft::user("meanwhile")]),
        )
        .unwrap();
    place.runner.undo(&done.operation.id).unwrap();
    assert_eq!(place.read(&key(&ids[0])), before);
    index_is_right(&place);
    let header = session.log().entries().next().unwrap().0;
    assert_eq!(
        place
            .carry_out(&ids[0], &EditRequest::Rewind(Tip::At(header)))
            .unwrap_err()
            .kind(),
        ErrorKind::Invalid
    );
}

#[test]
fn a_fork_copies_rows_verbatim_and_no_secret() {
    let (_folder, place, ids) = of(OasIndexState::Right);
    let source = lines(&place, &ids[1]);
    assert!(
        source[0].to_string().contains(SECRET),
        "the generated header holds one"
    );
    let done = place
        .carry_out(&ids[1], &fork(&place, &ids[1], NewSession::default()))
        .unwrap();
    let id = done.planned.session.unwrap();
    let copy = lines(&place, &id);
    assert_eq!(
        copy[1..],
        source[1..],
        "ids and session ids of the rows are those of the source, as the SDK leaves them"
    );
    assert_eq!(copy[0]["parentSessionId"], ids[1].as_str());
    assert_eq!(copy[0]["forkedAt"], copy[0]["createdAt"]);
    assert_eq!(
        copy[0]["options"],
        json!({"model": "gpt-4o", "provider": "openai", "systemPrompt": "Be brief.", "maxTurns": 10, "cwd": CWD})
    );
    assert!(
        !String::from_utf8(place.read(&key(&id)))
            .unwrap()
            .contains(SECRET)
    );
    assert!(
        done.planned.remarks[0].text.contains("2 options"),
        "{:?}",
        done.planned.remarks
    );
    index_is_right(&place);
}

#[test]
fn a_fork_of_a_damaged_session_is_one_that_the_sdk_reads() {
    let (_folder, place, ids) = of(OasIndexState::Right);
    let mut bytes = place.read(&key(&ids[0]));
    bytes.extend_from_slice(b"garbage\n{\"type\":\"user\",\"uuid\":\"z\",\"session_id\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"late\"},\"parent_tool_use_id\":null}\n");
    disk::write(&place.root.join(key(&ids[0])), &bytes);
    let done = place
        .carry_out(&ids[0], &fork(&place, &ids[0], NewSession::default()))
        .unwrap();
    let copy = lines(&place, &done.planned.session.unwrap());
    assert_eq!(
        copy.last().unwrap()["uuid"],
        "z",
        "one bad line does not lose what follows it"
    );
    assert!(
        place
            .read(&key(&ids[0]))
            .ends_with(&bytes[bytes.len() - 20..])
    );
}

#[test]
fn a_new_session_is_a_header_and_a_row_in_the_index() {
    let (_folder, place, _) = of(OasIndexState::Right);
    let new = NewSession {
        backend: Some("openai/gpt-4o".into()),
        ..NewSession::in_project(CWD)
    };
    let id = place
        .carry_out_store(&StoreRequest::Create(new))
        .unwrap()
        .planned
        .session
        .unwrap();
    let header = &lines(&place, &id)[0];
    assert_eq!(
        (&header["provider"], &header["model"]),
        (&json!("openai"), &json!("gpt-4o"))
    );
    index_is_right(&place);
    place
        .carry_out(&id, &EditRequest::Append(vec![Draft::user("first")]))
        .unwrap();
    index_is_right(&place);
    for (id, backend) in [
        (None, None),
        (None, Some("openai")),
        (Some("nope"), Some("a/b")),
        (Some("--x"), Some("a/b")),
    ] {
        let new = NewSession {
            id: id.map(str::to_owned).map(Into::into),
            backend: backend.map(str::to_owned),
            ..NewSession::in_project(CWD)
        };
        let refused = place
            .carry_out_store(&StoreRequest::Create(new))
            .unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid, "{refused}");
    }
}

#[test]
fn what_is_deleted_is_gone_from_folder_and_index_and_comes_back() {
    let (_folder, place, ids) = of(OasIndexState::Right);
    let before = place.read(&key(&ids[1]));
    let done = place.carry_out(&ids[1], &EditRequest::Delete).unwrap();
    index_is_right(&place);
    place
        .carry_out(
            &ids[0],
            &EditRequest::Append(vec![Draft::user("meanwhile")]),
        )
        .unwrap();
    place.runner.restore(&done.operation.session).unwrap();
    assert_eq!(place.read(&key(&ids[1])), before);
    index_is_right(&place);
}

#[test]
fn rebuilding_the_indexes_repairs_every_state_of_them_and_keeps_unknown_fields() {
    for &state in OasIndexState::ALL {
        let (_folder, place, _) = of(state);
        place.carry_out_store(&StoreRequest::Index).unwrap();
        index_is_right(&place);
        let again = place.carry_out_store(&StoreRequest::Index).unwrap();
        assert_eq!(
            again.operation.files(),
            [],
            "{state:?}: a right one is left alone"
        );
    }
    let (_folder, place, ids) = of(OasIndexState::Right);
    let path = place.root.join(FOLDER).join("sessions-index.json");
    let mut index = place.json(&format!("{FOLDER}/sessions-index.json"));
    index["later"] = json!({"a": 1});
    index["sessions"][0]["messageCount"] = json!(999);
    index["sessions"][0]["starred"] = json!(true);
    disk::write(
        &path,
        serde_json::to_string_pretty(&index).unwrap().as_bytes(),
    );
    place.carry_out_store(&StoreRequest::Index).unwrap();
    let fixed = place.json(&format!("{FOLDER}/sessions-index.json"));
    assert_eq!(
        (&fixed["later"], &fixed["sessions"][0]["starred"]),
        (&json!({"a": 1}), &json!(true))
    );
    assert_eq!(fixed["sessions"][0]["id"], ids[0].as_str());
    index_is_right(&place);
}

#[test]
fn a_deleted_session_comes_back_from_the_vault_alone_and_its_row_with_it() {
    let (folder, place, ids) = of(OasIndexState::Right);
    let before = place.read(&key(&ids[0]));
    let session = place
        .carry_out(&ids[0], &EditRequest::Delete)
        .unwrap()
        .operation
        .session;
    place
        .carry_out(
            &ids[1],
            &EditRequest::Append(vec![Draft::user("meanwhile")]),
        )
        .unwrap();
    place
        .disk
        .remove(&folder.path().join("home/ops.jsonl"))
        .unwrap();
    place.runner.restore(&session).unwrap();
    assert_eq!(place.read(&key(&ids[0])), before);
    index_is_right(&place);
    let rows = place.json(&format!("{FOLDER}/sessions-index.json"))["sessions"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(
        rows,
        place
            .store
            .list()
            .unwrap()
            .sessions
            .iter()
            .filter(|it| it.key.as_ref().unwrap().starts_with(FOLDER))
            .count()
    );
}
