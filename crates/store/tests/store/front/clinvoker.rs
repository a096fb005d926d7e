//! clinvoker's documents and index, changed as its own program would change them, but without
//! losing rows.

mod deleting;
mod index;
mod locks;

use boswell_dialect::{EditRequest, NewSession, StoreRequest};
use boswell_store::ErrorKind;
use boswell_store::disk::{Disk, RealDisk};
use boswell_testkit::disk;
use boswell_testkit::make::clinvoker::{ClinvokerIndexState, store};
use serde_json::{Value, json};

use crate::front::support::{Place, fork, real};

const INDEX: &str = "sessions/index.json";

fn of(state: ClinvokerIndexState) -> (tempfile::TempDir, Place, Vec<String>) {
    let batch = store(state, 7);
    let ids = batch.sessions.iter().map(|made| made.id.clone()).collect();
    let (folder, place) = real("clinvoker", &batch);
    (folder, place, ids)
}

fn key(id: &str) -> String {
    format!("sessions/{id}.json")
}

/// Checks that every document has a correct row, and that there is no other row.
pub(crate) fn index_is_right(place: &Place) {
    let index = place.json(INDEX);
    assert_eq!(index["version"], 1);
    let rows = index["index"].as_object().unwrap();
    let ids: Vec<String> = place
        .store
        .list()
        .unwrap()
        .sessions
        .into_iter()
        .map(|location| location.id)
        .collect();
    let mut named: Vec<&String> = rows.keys().collect();
    named.sort();
    assert_eq!(named, ids.iter().collect::<Vec<_>>());
    for id in ids {
        let (document, row) = (place.json(&key(&id)), &rows[&id]);
        let text = |name: &str| document.get(name).cloned().unwrap_or_else(|| json!(""));
        assert_eq!(row["ID"], id.as_str());
        for (field, member) in [
            ("Backend", "backend"),
            ("Status", "status"),
            ("LastUsed", "last_used"),
            ("Model", "model"),
            ("WorkDir", "working_dir"),
            ("Title", "title"),
            ("CreatedAt", "created_at"),
        ] {
            assert_eq!(row[field], text(member), "{field} of {id}");
        }
        assert_eq!(
            row["Tags"],
            document.get("tags").cloned().unwrap_or(Value::Null),
            "{id}"
        );
    }
    assert_eq!(place.problems(), [] as [String; 0]);
}

#[test]
fn a_title_changes_two_lines_of_the_document_and_one_field_of_the_index() {
    let (_folder, place, ids) = of(ClinvokerIndexState::Right);
    for id in &ids {
        let before = String::from_utf8(place.read(&key(id))).unwrap();
        place
            .carry_out(id, &EditRequest::Title("a <b> 会话".into()))
            .unwrap();
        let after = String::from_utf8(place.read(&key(id))).unwrap();
        assert!(
            after.contains("\"title\": \"a \\u003cb\\u003e 会话\""),
            "{after}"
        );
        let without = |text: &str| {
            let lines = text.lines().filter(|line| !line.contains("\"title\""));
            lines
                .map(|line| line.trim_end_matches(',').to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            without(&before),
            without(&after),
            "times, order and all other bytes stay"
        );
        assert_eq!(place.meta(id).title.as_deref(), Some("a <b> 会话"));
    }
    index_is_right(&place);
    place
        .carry_out(&ids[0], &EditRequest::Title(String::new()))
        .unwrap();
    assert!(
        place.json(&key(&ids[0])).get("title").is_none(),
        "Go leaves out what is empty"
    );
    let same = place
        .carry_out(&ids[1], &EditRequest::Title("a <b> 会话".into()))
        .unwrap();
    assert_eq!(
        same.operation.files(),
        [],
        "what is so already is not written"
    );
}

#[test]
fn unknown_fields_and_layout_survive_every_change() {
    let (_folder, place, ids) = of(ClinvokerIndexState::Right);
    let odd = "{\"later\" : {\"a\":1.50,\"b\":[ ]}, \"id\":\"x\",\n\"tags\":[\"a\" , 7,\"a\"],\"last_used\":\"2026-01-31T23:45:41.123456789+09:00\"}\n";
    disk::write(&place.root.join(key(&ids[0])), odd.as_bytes());
    place
        .carry_out(&ids[0], &EditRequest::Tags(vec!["b".into(), "a".into()]))
        .unwrap();
    let set = EditRequest::Status {
        status: "error".into(),
        message: Some("no credit".into()),
    };
    place.carry_out(&ids[0], &set).unwrap();
    let text = String::from_utf8(place.read(&key(&ids[0]))).unwrap();
    assert_eq!(
        text,
        "{\"later\" : {\"a\":1.50,\"b\":[ ]}, \"id\":\"x\",\n\"tags\":[\"a\",7,\"b\"],\"last_used\":\"2026-01-31T23:45:41.123456789+09:00\",\"status\" : \"error\",\"error_message\" : \"no credit\"}\n"
    );
}

#[test]
fn tags_are_set_and_taken_away_and_absent_is_null_in_the_index() {
    let (_folder, place, ids) = of(ClinvokerIndexState::Right);
    place
        .carry_out(&ids[0], &EditRequest::Tags(vec!["x".into(), "夜".into()]))
        .unwrap();
    assert_eq!(
        place.json(INDEX)["index"][&ids[0]]["Tags"],
        json!(["x", "夜"])
    );
    assert!(
        String::from_utf8(place.read(&key(&ids[0])))
            .unwrap()
            .contains("\"tags\": [\n    \"x\",\n    \"夜\"\n  ]")
    );
    place
        .carry_out(&ids[0], &EditRequest::Tags(Vec::new()))
        .unwrap();
    assert!(place.json(&key(&ids[0])).get("tags").is_none());
    assert_eq!(place.json(INDEX)["index"][&ids[0]]["Tags"], Value::Null);
    index_is_right(&place);
}

#[test]
fn two_who_tag_at_once_are_both_heard() {
    let (_folder, place, ids) = of(ClinvokerIndexState::Right);
    let like = EditRequest::Tags(Vec::new());
    let location = place.find(&ids[0]);
    for tag in ["one", "two"] {
        let add = |meta: &boswell_model::SessionMeta| {
            EditRequest::Tags(meta.tags.iter().cloned().chain([tag.to_owned()]).collect())
        };
        place
            .runner
            .execute_with(&place.store, &location, &like, &add)
            .unwrap();
    }
    let tags = place.meta(&ids[0]).tags;
    assert!(
        tags.contains(&"one".to_owned()) && tags.contains(&"two".to_owned()),
        "{tags:?}"
    );
}

#[test]
fn status_follows_the_design_or_says_so_and_an_old_error_message_stays() {
    let (_folder, place, ids) = of(ClinvokerIndexState::Right);
    let set = |id: &str, status: &str, message: Option<&str>| {
        place.carry_out(
            id,
            &EditRequest::Status {
                status: status.into(),
                message: message.map(str::to_owned),
            },
        )
    };
    // active → completed is a transition of the design, completed → active is not.
    let done = set(&ids[2], "completed", None).unwrap();
    assert_eq!(done.planned.remarks, []);
    let back = set(&ids[2], "active", None).unwrap();
    assert!(
        back.planned.remarks[0]
            .text
            .contains("no way from completed to active"),
        "{:?}",
        back.planned.remarks
    );
    set(&ids[2], "error", Some("no credit")).unwrap();
    let meta = place.meta(&ids[2]);
    assert_eq!(
        (meta.status.as_deref(), meta.error.as_deref()),
        (Some("error"), Some("no credit"))
    );
    set(&ids[2], "completed", None).unwrap();
    assert_eq!(
        place.json(&key(&ids[2]))["error_message"],
        "no credit",
        "as clinvoker leaves it"
    );
    assert_eq!(
        set(&ids[2], "expired", None).unwrap_err().kind(),
        ErrorKind::Invalid
    );
    index_is_right(&place);
}

#[test]
fn a_new_session_has_every_field_that_theirs_is_born_with() {
    let (_folder, place, ids) = of(ClinvokerIndexState::Right);
    let new = NewSession {
        backend: Some("codex".into()),
        ..NewSession::in_project("/proj/a").titled("T")
    };
    let made = place.carry_out_store(&StoreRequest::Create(new)).unwrap();
    let id = made.planned.session.unwrap();
    assert!(
        id.len() == 32 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')),
        "{id}"
    );
    let document = place.json(&key(&id));
    assert_eq!(document["backend"], "codex");
    assert_eq!(document["status"], "active");
    assert_eq!(document["working_dir"], "/proj/a");
    assert_eq!(
        document["token_usage"],
        json!({"input_tokens": 0, "output_tokens": 0})
    );
    assert_eq!(document["created_at"], document["last_used"]);
    assert!(
        document.get("tags").is_none()
            && document.get("metadata").is_none()
            && document.get("parent_id").is_none()
    );
    let stat = RealDisk.stat(&place.root.join(key(&id))).unwrap().unwrap();
    assert_eq!(stat.mode & 0o777, 0o600);
    assert!(
        !place.read(&key(&id)).ends_with(b"\n"),
        "Go writes no newline at the end"
    );
    let taken = NewSession {
        id: Some(ids[0].as_str().into()),
        ..NewSession::in_project("/x")
    };
    assert_eq!(
        place
            .carry_out_store(&StoreRequest::Create(taken))
            .unwrap_err()
            .kind(),
        ErrorKind::Conflict
    );
    for bad in ["index", "../x", "-rf", "A1B2C3D4E5F67890", ""] {
        let new = NewSession {
            id: Some(bad.into()),
            ..NewSession::in_project("/x")
        };
        let refused = place
            .carry_out_store(&StoreRequest::Create(new))
            .unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid, "{bad}");
    }
    index_is_right(&place);
}

#[test]
fn a_fork_copies_what_theirs_copies_and_nothing_else() {
    let (_folder, place, ids) = of(ClinvokerIndexState::Right);
    let mut document = place.json(&key(&ids[0]));
    document["metadata"] = json!({"k": "v<1>"});
    document["tags"] = json!(["a", "b"]);
    document["working_dir"] = json!("/p");
    document["title"] = json!("T");
    disk::write(
        &place.root.join(key(&ids[0])),
        serde_json::to_string_pretty(&document).unwrap().as_bytes(),
    );
    let made = place
        .carry_out(&ids[0], &fork(&place, &ids[0], NewSession::default()))
        .unwrap();
    let id = made.planned.session.unwrap();
    let copy = place.json(&key(&id));
    for same in ["backend", "working_dir", "model", "tags", "metadata"] {
        assert_eq!(copy[same], document[same], "{same}");
    }
    assert_eq!(copy["parent_id"], ids[0].as_str());
    assert_eq!(copy["status"], "active");
    for gone in [
        "title",
        "initial_prompt",
        "backend_session_id",
        "turn_count",
        "error_message",
    ] {
        assert!(copy.get(gone).is_none(), "{gone}");
    }
    assert!(
        made.planned.remarks[0]
            .text
            .contains("without a transcript")
    );
    place.carry_out_store(&StoreRequest::Index).unwrap();
    index_is_right(&place);
}

#[test]
fn a_document_that_is_no_json_is_refused_and_left_alone() {
    let (_folder, place, ids) = of(ClinvokerIndexState::Right);
    disk::write(&place.root.join(key(&ids[0])), b"{\"id\":\"half");
    let refused = place
        .carry_out(&ids[0], &EditRequest::Title("x".into()))
        .unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Damaged);
    assert_eq!(place.read(&key(&ids[0])), b"{\"id\":\"half");
    place.carry_out(&ids[0], &EditRequest::Delete).unwrap();
    index_is_right(&place);
}

#[test]
fn what_the_format_has_no_place_for_is_refused() {
    let (_folder, place, ids) = of(ClinvokerIndexState::Right);
    let label = EditRequest::Label {
        entry: "#1".into(),
        label: Some("x".into()),
    };
    for request in [label, EditRequest::Append(Vec::new()), EditRequest::Migrate] {
        assert_eq!(
            place.carry_out(&ids[0], &request).unwrap_err().kind(),
            ErrorKind::Unsupported
        );
    }
}
