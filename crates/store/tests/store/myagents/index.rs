//! The index: salvaged, backed up, repaired, rebuilt, and never lost.

use boswell_dialect::{Draft, EditRequest, StoreRequest};
use boswell_model::{Advice, ErrorKind};
use boswell_store::NewSession;
use boswell_testkit::disk;
use boswell_testkit::make::myagents::MyAgentsShape;
use serde_json::json;

use crate::myagents::shop::{ROW, Shop, talk};

fn aside(shop: &Shop) -> Vec<String> {
    shop.place
        .tree_names()
        .into_iter()
        .filter(|name| name.starts_with("sessions.json.corrupt-"))
        .collect()
}

fn create(shop: &Shop) -> String {
    let new = NewSession::in_project("/新").titled(" red\n build ");
    shop.wants_of_store(&StoreRequest::Create(new))
        .unwrap()
        .planned
        .session
        .unwrap()
}

#[test]
fn backs_up_a_corrupt_index_before_creating_metadata_for_a_new_session() {
    let shop = Shop::of(MyAgentsShape::IndexTruncated);
    let id = create(&shop);
    assert_eq!(shop.rows().len(), 1, "nothing could be saved from it");
    assert_eq!(
        shop.place.read(&aside(&shop)[0]),
        "{\"truncated\"",
        "the original bytes"
    );
    let row = shop.row_of(&id);
    assert_eq!(
        (&row["title"], &row["titleSource"], &row["agentDir"]),
        (&json!("red build"), &json!("user"), &json!("/新"))
    );
    assert_eq!(
        (&row["unifiedSession"], &row["runtime"]),
        (&json!(true), &json!("builtin"))
    );
    create(&shop);
    assert_eq!(aside(&shop).len(), 1, "one damage, one copy");
}

#[test]
fn salvages_valid_metadata_from_a_malformed_array_and_from_a_truncated_one() {
    for (shape, rows) in [
        (MyAgentsShape::IndexWithNull, 3),
        (MyAgentsShape::IndexCutInRow, 2),
    ] {
        let shop = Shop::of(shape);
        let damaged = shop.place.read("sessions.json");
        assert_eq!(
            shop.store()
                .list()
                .unwrap()
                .sessions
                .iter()
                .filter(|s| s.row.is_some())
                .count(),
            rows,
            "before any write"
        );
        assert_eq!(
            shop.place.read("sessions.json"),
            damaged,
            "reading repairs nothing"
        );
        create(&shop);
        assert_eq!(shop.rows().len(), rows + 1, "{shape:?}");
        assert_eq!(shop.place.read(&aside(&shop)[0]), damaged);
    }
}

#[test]
fn writes_a_repaired_index_even_when_nothing_else_changes() {
    let shop = Shop::with(ROW, &talk());
    shop.place.put("sessions.json", &format!("[{ROW},null]"));
    shop.wants(&EditRequest::Migrate).unwrap();
    assert_eq!((shop.rows().len(), aside(&shop).len()), (1, 1));
}

#[test]
fn a_newer_temporary_index_wins_over_salvage_and_a_stale_one_is_ignored() {
    let shop = Shop::of(MyAgentsShape::TmpNewer);
    create(&shop);
    assert_eq!(shop.rows().len(), 4, "the temporary one had all three");
    let shop = Shop::of(MyAgentsShape::IndexCutInRow);
    shop.place.put("sessions.json.tmp", "[{\"id\":\"old\"}]");
    disk::set_modified(&shop.place.root().join("sessions.json.tmp"), 1_000);
    create(&shop);
    assert_eq!(shop.rows().len(), 3);
    assert!(shop.rows().iter().all(|row| row["id"] != "old"));
}

#[test]
fn a_byte_order_mark_goes_with_the_next_write_and_nothing_else_does() {
    let shop = Shop::of(MyAgentsShape::BomIndex);
    create(&shop);
    assert_eq!(shop.rows().len(), 4);
    assert!(aside(&shop).is_empty(), "a mark is no damage");
}

#[test]
fn an_id_that_is_taken_or_none_is_refused() {
    let shop = Shop::with(ROW, "");
    shop.place.put("sessions/orphan.jsonl", &talk());
    for (id, kind) in [
        ("s", ErrorKind::Conflict),
        ("orphan", ErrorKind::Conflict),
        ("-rf", ErrorKind::Invalid),
        ("../x", ErrorKind::Invalid),
        ("", ErrorKind::Invalid),
        (&"x".repeat(100), ErrorKind::Invalid),
    ] {
        let made = shop.wants_of_store(&StoreRequest::Create(
            NewSession::in_project("/p").with_id(id),
        ));
        assert_eq!(made.unwrap_err().kind(), kind, "{id}");
    }
    let made = shop.wants_of_store(&StoreRequest::Create(
        NewSession::in_project("/p").with_id("cron-standalone-1"),
    ));
    assert_eq!(
        shop.row_of(&made.unwrap().planned.session.unwrap())
            .get("unifiedSession"),
        None,
        "no engine takes that id"
    );
    shop.has_no_locks();
}

#[test]
fn the_rebuilt_index_counts_again_and_adds_what_had_no_row() {
    let shop = Shop::with(
        &ROW.replace("\"messageCount\":2", "\"messageCount\":9"),
        &talk(),
    );
    shop.place.put("sessions/lost.jsonl", &talk());
    let done = shop.wants_of_store(&StoreRequest::Index).unwrap();
    assert_eq!(done.planned.remarks.len(), 1);
    assert_eq!(shop.row()["stats"]["messageCount"], 2);
    assert_eq!(shop.row()["lastMessagePreview"], "two");
    assert_eq!(
        (&shop.row()["providerEnvJson"], &shop.row()["title"]),
        (&json!("{\"k\":\"hunter2\"}"), &json!("Mine"))
    );
    let lost = shop.row_of("lost");
    assert_eq!(
        (&lost["title"], &lost["stats"]["totalInputTokens"]),
        (&json!("one"), &json!(20))
    );
    let again = shop.wants_of_store(&StoreRequest::Index).unwrap();
    assert!(
        again.operation.files().is_empty(),
        "an index that is right is left alone"
    );
}

#[test]
fn a_project_that_moved_takes_its_rows_along() {
    let rows =
        r#"{"id":"s","agentDir":"/p"},{"id":"b","agentDir":"/p/sub"},{"id":"c","agentDir":"/pq"}"#;
    let shop = Shop::with(rows, "");
    shop.wants_of_store(&StoreRequest::Move {
        from: "/p".into(),
        to: "/new".into(),
    })
    .unwrap();
    let folders: Vec<_> = shop
        .rows()
        .iter()
        .map(|row| row["agentDir"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(folders, ["/new", "/new/sub", "/pq"]);
}

#[test]
fn a_title_that_a_person_gives_is_final() {
    let shop = Shop::with(&ROW.replace("Mine", "New Chat"), "");
    shop.wants(&EditRequest::Title("New\u{1b}\tChat ".into()))
        .unwrap();
    assert_eq!(
        (&shop.row()["title"], &shop.row()["titleSource"]),
        (&json!("New Chat"), &json!("user"))
    );
    shop.append(vec![Draft::user("something else")]);
    assert_eq!(shop.row()["title"], "New Chat");
    assert_eq!(
        shop.wants(&EditRequest::Title(" \n".into()))
            .unwrap_err()
            .kind(),
        ErrorKind::Invalid
    );
    let unindexed = Shop::with(r#"{"id":"other"}"#, &talk());
    let error = unindexed
        .wants(&EditRequest::Title("x".into()))
        .unwrap_err();
    assert_eq!(error.advice(), Some(&Advice::RebuildAgentIndex));
}
