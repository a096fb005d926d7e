//! Fork, delete, restore, and locks of other processes.

use boswell_dialect::{Draft, EditRequest};
use boswell_model::{Advice, ErrorKind};
use boswell_store::disk::{Disk, RealDisk};
use boswell_testkit::disk;
use boswell_testkit::make::myagents::MyAgentsShape;
use serde_json::json;

use crate::myagents::shop::{ROW, Shop, line, talk};

#[test]
fn a_fork_copies_rows_and_settings_and_tells_the_engine_where_to_part() {
    let row = ROW.replacen(
        '{',
        r#"{"model":"m","permissionMode":"plan","favorite":true,"cronTaskId":"c","#,
        1,
    );
    let shop = Shop::with(&row, &talk());
    let before = (shop.log(), shop.row());
    let fork = shop.fork(1).unwrap().planned.session.unwrap();
    assert_eq!((shop.log(), shop.row()), before, "the source is as it was");
    let made = shop.row_of(&fork);
    assert_eq!(
        shop.place.read(&format!("sessions/{fork}.jsonl")),
        talk()
            .lines()
            .take(2)
            .map(|l| format!("{l}\n"))
            .collect::<String>()
    );
    assert_eq!(
        (&made["title"], &made["titleSource"]),
        (&json!("🌿 Mine"), &json!("auto"))
    );
    assert_eq!(
        made["forkFrom"],
        json!({"sourceSessionId":"33333333-3333-4333-8333-333333333333","messageUuid":"a1"})
    );
    assert_eq!(
        (&made["model"], &made["permissionMode"], &made["agentDir"]),
        (&json!("m"), &json!("plan"), &json!("/p"))
    );
    assert_eq!(
        made["origin"],
        json!({"kind":"desktop","surface":"session_fork"})
    );
    for not in ["providerEnvJson", "favorite", "cronTaskId", "sdkSessionId"] {
        assert!(made.get(not).is_none(), "{not} was taken over");
    }
    assert_eq!(made["stats"]["messageCount"], 1);
}

#[test]
fn a_fork_without_a_message_to_part_at_says_that_the_engine_forgets() {
    let shop = Shop::with(ROW, &talk());
    let done = shop.fork(2).unwrap();
    assert!(
        shop.row_of(done.planned.session.as_deref().unwrap())
            .get("forkFrom")
            .is_none()
    );
    assert!(done.planned.remarks[0].text.contains("without a memory"));
    let error = shop.wants(&EditRequest::Fork {
        at: boswell_model::Tip::Root,
        new: boswell_store::NewSession::default().with_id("s"),
    });
    assert_eq!(
        error.unwrap_err().kind(),
        ErrorKind::Conflict,
        "never onto a session that is there"
    );
}

#[test]
fn a_deleted_session_comes_back_though_the_app_wrote_its_index_meanwhile() {
    for shape in [
        MyAgentsShape::E1,
        MyAgentsShape::E2,
        MyAgentsShape::E3,
        MyAgentsShape::LegacyJson,
        MyAgentsShape::TornTranscript,
    ] {
        let shop = Shop::of(shape);
        let (before, row) = (shop.place.tree(), shop.row());
        let done = shop.wants(&EditRequest::Delete).unwrap();
        assert_eq!(shop.rows().len(), 2, "{shape:?}");
        assert!(
            !shop.place.tree().keys().any(|key| key.contains(&shop.id)),
            "{shape:?}"
        );
        let theirs =
            shop.place
                .read("sessions.json")
                .replacen("\"title\": \"", "\"title\": \"New ", 1);
        shop.place.put("sessions.json", &theirs);
        let session = done.operation.session.clone();
        shop.runner().restore(&session).unwrap();
        assert_eq!(shop.row(), row, "{shape:?}");
        assert!(
            shop.rows()[0]["title"]
                .as_str()
                .unwrap()
                .starts_with("New "),
            "what they wrote stays"
        );
        for (key, was) in before.iter().filter(|(key, _)| key.contains(&shop.id)) {
            assert_eq!(shop.place.tree().get(key), Some(was), "{shape:?} {key}");
        }
    }
}

#[test]
fn what_the_app_keeps_for_itself_is_not_deleted() {
    let shop = Shop::with(
        &ROW.replacen('{', r#"{"systemMaintenanceKind":"memory_gardener","#, 1),
        &talk(),
    );
    assert_eq!(
        shop.wants(&EditRequest::Delete).unwrap_err().kind(),
        ErrorKind::Denied
    );
    assert_eq!(shop.lines().len(), 4);
}

#[test]
fn a_lock_of_a_live_process_is_respected_and_that_of_a_dead_one_is_not() {
    let shop = Shop::with(ROW, &talk());
    for lock in ["sessions.lock", "session-locks/s.jsonl.lock"] {
        let folder = shop.place.root().join(lock);
        disk::make_dir(&folder);
        disk::write(&folder.join("owner"), b"node:77:1\n");
        let error = shop
            .wants(&EditRequest::Append(vec![Draft::user("x")]))
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Busy, "{lock}");
        assert_eq!(shop.lines().len(), 4);
        disk::write(&folder.join("owner"), b"node:4242\n");
        shop.append(vec![Draft::user("x").with_id("4")]);
        shop.has_no_locks();
        shop.place.put("sessions/s.jsonl", &talk());
    }
}

#[test]
fn a_lock_that_was_taken_from_us_stops_the_change() {
    let shop = Shop::with(ROW, &talk());
    let root = shop.place.root();
    let stolen = crate::myagents::crash::Thief {
        after: "intent-",
        root: root.clone(),
    };
    let error = stolen.runner(&shop).execute(
        &shop.store(),
        &shop.location(),
        &EditRequest::Append(vec![Draft::user("x")]),
    );
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy, "{error}");
    assert!(error.to_string().contains("was lost"), "{error}");
    assert_eq!(
        shop.log(),
        talk(),
        "nothing was written under a lock that is somebody else's"
    );
    assert_eq!(
        disk::read(&root.join("sessions.lock/owner")),
        b"node:77:1\n",
        "theirs stays"
    );
}

#[test]
fn every_state_that_the_app_leaves_can_be_appended_to_renamed_and_deleted() {
    for &shape in MyAgentsShape::ALL {
        let shop = Shop::of(shape);
        let done = shop.wants(&EditRequest::Append(vec![
            Draft::user("hello"),
            Draft::assistant("hi"),
        ]));
        done.unwrap_or_else(|error| panic!("{shape:?}: {error}: {:?}", error.reason()));
        let session = shop
            .store()
            .read(&shop.location(), boswell_dialect::Depth::Facts)
            .unwrap();
        assert_eq!(
            session.meta().last_prompt.as_deref(),
            Some("hello"),
            "{shape:?}"
        );
        if shop.row() != json!(null) {
            shop.wants(&EditRequest::Title("mine".into())).unwrap();
            assert_eq!(shop.row()["title"], "mine", "{shape:?}");
        }
        shop.wants(&EditRequest::Delete).unwrap();
        assert!(shop.store().find(&shop.id).is_err(), "{shape:?}");
        shop.has_no_locks();
    }
}

#[test]
fn a_row_of_six_megabytes_is_appended_to_like_any_other() {
    let shop = Shop::with(ROW, &line("0", "user", &"长".repeat(2_000_000), ""));
    shop.append(vec![Draft::user("短")]);
    assert_eq!(shop.lines().len(), 2);
    assert_eq!(shop.row()["lastMessagePreview"], "短");
}

#[test]
fn a_deleted_session_comes_back_from_the_vault_alone_into_the_index_as_the_app_left_it() {
    for shape in [
        MyAgentsShape::E1,
        MyAgentsShape::E3,
        MyAgentsShape::LegacyJson,
        MyAgentsShape::TornTranscript,
    ] {
        let shop = Shop::of(shape);
        let (before, row) = (shop.place.tree(), shop.row());
        let session = shop.wants(&EditRequest::Delete).unwrap().operation.session;
        RealDisk
            .remove(&shop.place.home().join("ops.jsonl"))
            .unwrap();
        let theirs =
            shop.place
                .read("sessions.json")
                .replacen("\"title\": \"", "\"title\": \"New ", 1);
        shop.place.put("sessions.json", &theirs);
        let restored = shop.runner().restore(&session).unwrap();
        assert_eq!(restored.operation.kind, "restore", "{shape:?}");
        assert_eq!(shop.row(), row, "{shape:?}");
        assert!(
            shop.place
                .read("sessions.json")
                .contains("\"title\": \"New "),
            "{shape:?}: theirs stays"
        );
        let files = |tree: crate::myagents::support::Tree| -> Vec<_> {
            tree.into_iter()
                .filter(|(key, it)| it.is_some() && key != "sessions.json")
                .collect()
        };
        assert_eq!(files(shop.place.tree()), files(before), "{shape:?}");
        shop.has_no_locks();
        shop.runner().undo(&restored.operation.id).unwrap();
        assert_eq!(
            (shop.rows().len(), shop.row()),
            (2, json!(null)),
            "{shape:?}: and it can be taken back"
        );
    }
}

#[test]
fn without_the_record_of_a_deletion_an_untouched_index_is_as_before_and_a_torn_one_is_left_alone() {
    for shape in [MyAgentsShape::E3, MyAgentsShape::IndexWithNull] {
        let shop = Shop::of(shape);
        let before = shop.place.read("sessions.json");
        let session = shop.wants(&EditRequest::Delete).unwrap().operation.session;
        let left = shop.place.tree();
        RealDisk
            .remove(&shop.place.home().join("ops.jsonl"))
            .unwrap();
        let deleted = shop.place.read("sessions.json");
        shop.place.put("sessions.json", "[{\"id\":\"torn");
        let error = shop.runner().restore(&session).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged, "{shape:?}: {error}");
        assert!(
            matches!(error.advice(), Some(Advice::InOrder(steps)) if steps[0] == Advice::RebuildAgentIndex),
            "{shape:?}"
        );
        shop.place.put("sessions.json", &deleted);
        assert_eq!(
            shop.place.tree(),
            left,
            "{shape:?}: nothing was put back halfway"
        );
        shop.runner().restore(&session).unwrap();
        assert_eq!(shop.place.read("sessions.json"), before, "{shape:?}");
    }
}
