//! Rewinding: truncated before a prompt, with the app's own intent record, recovered by the number
//! of rows.

use boswell_dialect::{Draft, EditRequest};
use boswell_model::ErrorKind;
use boswell_testkit::make::myagents::MyAgentsShape;
use serde_json::json;

use crate::myagents::shop::{ROW, Shop, line, talk};

const SOURCE: &str = "33333333-3333-4333-8333-333333333333";

fn with_intent(rows: &str, before: u64, after: u64) -> Shop {
    let intent = format!(
        r#""pendingConversationMutation":{{"schemaVersion":1,"kind":"builtin-rewind","sourceSdkSessionId":"{SOURCE}","replacementSdkSessionId":"44444444-4444-4444-8444-444444444444","sourceMessageCount":{before},"targetMessageCount":{after}}},"forkFrom":{{"sourceSessionId":"x"}},"#
    );
    Shop::with(&ROW.replacen('{', &format!("{{{intent}"), 1), rows)
}

#[test]
fn a_rewind_to_an_answer_that_the_engine_knows_keeps_the_engines_session() {
    let shop = Shop::with(ROW, &talk());
    let done = shop.rewind(2).unwrap();
    assert_eq!(
        shop.log(),
        talk()[..shop.log().len()],
        "a prefix, byte for byte"
    );
    assert_eq!(shop.lines().len(), 2);
    let row = shop.row();
    assert_eq!(
        (&row["sdkSessionId"], &row["unifiedSession"]),
        (&json!(SOURCE), &json!(false))
    );
    assert_eq!(
        row["stats"],
        json!({"messageCount":1,"totalInputTokens":10,"totalOutputTokens":5})
    );
    assert_eq!(row["lastMessagePreview"], "one");
    assert!(
        done.planned.remarks[0].text.contains("a1"),
        "{:?}",
        done.planned.remarks
    );
    shop.runner().undo(&done.operation.id).unwrap();
    assert_eq!(shop.log(), talk(), "and back, bit for bit");
    shop.has_no_locks();
}

#[test]
fn of_the_rows_of_one_turn_the_last_one_tells_the_engine_where_to_go_on() {
    let answer =
        |id: &str, uuid: &str| line(id, "assistant", "part", &format!(r#","sdkUuid":"{uuid}""#));
    let rows = [
        line("0", "user", "one", ""),
        answer("1", "first-of-turn"),
        answer("2", "last-of-turn"),
    ]
    .concat();
    let shop = Shop::with(ROW, &(rows.clone() + &line("3", "user", "two", "")));
    let done = shop.rewind(3).unwrap();
    assert_eq!(
        shop.log(),
        rows,
        "ids of the engine stand in their rows and are cut with them"
    );
    assert!(
        done.planned.remarks[0].text.contains("last-of-turn"),
        "{:?}",
        done.planned.remarks
    );
    let fork = shop.fork(2).unwrap().planned.session.unwrap();
    assert_eq!(
        shop.row_of(&fork)["forkFrom"]["messageUuid"],
        "last-of-turn"
    );
}

#[test]
fn keeps_product_session_identity_while_replacing_only_the_sdk_binding() {
    let more = r#""forkFrom":{"sourceSessionId":"x"},"runtimeUsageTotals":{"inputTokens":1},"lastContextUsage":{"contextTokens":2},"#;
    let shop = Shop::with(&ROW.replacen('{', &format!("{{{more}"), 1), &talk());
    shop.rewind(0).unwrap();
    let row = shop.row();
    assert_eq!(row["id"], "s");
    assert_ne!(row["sdkSessionId"], SOURCE);
    assert_eq!(row["unifiedSession"], false);
    for gone in [
        "forkFrom",
        "runtimeUsageTotals",
        "lastContextUsage",
        "pendingConversationMutation",
        "lastMessagePreview",
    ] {
        assert!(row.get(gone).is_none(), "{gone} stays: {row}");
    }
    assert_eq!(
        (shop.lines().len(), &row["stats"]["messageCount"]),
        (0, &json!(0))
    );
}

#[test]
fn a_codex_session_loses_its_thread_and_other_engines_are_not_told() {
    let codex = ROW.replacen('{', r#"{"runtime":"codex","runtimeSessionId":"thread","#, 1);
    let shop = Shop::with(&codex, &talk());
    shop.rewind(2).unwrap();
    assert!(shop.row().get("runtimeSessionId").is_none());
    assert_eq!(shop.row()["sdkSessionId"], SOURCE);
    let shop = Shop::with(&codex.replace("\"codex\"", "\"gemini\""), &talk());
    let done = shop.rewind(2).unwrap();
    assert_eq!(shop.row()["runtimeSessionId"], "thread");
    assert!(done.planned.remarks[0].text.contains("not notified"));
}

#[test]
fn an_announced_rewind_is_written_down_before_anything_is_cut() {
    let shop = Shop::with(ROW, &talk());
    let plan = shop
        .store()
        .plan(
            &shop.location(),
            &EditRequest::Rewind(boswell_model::Tip::At(boswell_model::Slot(0))),
        )
        .unwrap()
        .plan;
    let keys: Vec<_> = plan.steps.iter().flat_map(|step| step.keys()).collect();
    assert_eq!(keys, ["sessions.json", "sessions/s.jsonl", "sessions.json"]);
    let boswell_dialect::Step::Put { bytes, .. } = &plan.steps[0] else {
        panic!("{plan}")
    };
    let text = String::from_utf8_lossy(bytes);
    assert!(
        text.contains("builtin-rewind") && text.contains("\"sourceMessageCount\": 4"),
        "{text}"
    );
}

#[test]
fn recovers_both_crash_windows_without_inventing_another_sdk_identity() {
    let shop = with_intent(&talk(), 4, 2);
    shop.append(vec![Draft::user("x")]);
    assert_eq!(
        (&shop.row()["sdkSessionId"], shop.lines().len()),
        (&json!(SOURCE), 5),
        "rolled back"
    );
    let two: String = talk()
        .lines()
        .take(2)
        .map(|line| format!("{line}\n"))
        .collect();
    let shop = with_intent(&two, 4, 2);
    shop.append(vec![Draft::user("x")]);
    let row = shop.row();
    assert_eq!(
        row["sdkSessionId"], "44444444-4444-4444-8444-444444444444",
        "rolled forward"
    );
    assert!(row.get("forkFrom").is_none() && row.get("pendingConversationMutation").is_none());
    assert_eq!(
        row["stats"]["messageCount"], 2,
        "one that stayed, one that came"
    );
    for (shape, same) in [
        (MyAgentsShape::IntentBefore, true),
        (MyAgentsShape::IntentAfter, false),
    ] {
        let shop = Shop::of(shape);
        let before = shop.row()["sdkSessionId"].clone();
        shop.wants(&EditRequest::Migrate).unwrap();
        assert_eq!(shop.row()["sdkSessionId"] == before, same, "{shape:?}");
        assert!(shop.row().get("pendingConversationMutation").is_none());
    }
}

#[test]
fn fails_closed_for_inconsistent_recovery_evidence() {
    let three: String = talk()
        .lines()
        .take(3)
        .map(|line| format!("{line}\n"))
        .collect();
    let wrong = [
        with_intent(&three, 4, 2),
        with_intent(&(talk() + "{\"broken\"\n"), 4, 2),
        Shop::with(
            &ROW.replacen(
                '{',
                r#"{"pendingConversationMutation":{"schemaVersion":9},"#,
                1,
            ),
            &talk(),
        ),
        {
            let shop = with_intent(&talk(), 4, 2);
            let index = shop
                .place
                .read("sessions.json")
                .replacen(SOURCE, "other-binding", 1);
            shop.place.put("sessions.json", &index);
            shop
        },
    ];
    for shop in wrong {
        let before = (shop.log(), shop.place.read("sessions.json"));
        for request in [
            EditRequest::Append(vec![Draft::user("x")]),
            EditRequest::Migrate,
        ] {
            let error = shop.wants(&request).unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::Damaged | ErrorKind::TooNew),
                "{error}"
            );
        }
        assert_eq!(
            (shop.log(), shop.place.read("sessions.json")),
            before,
            "the evidence stays"
        );
    }
}

#[test]
fn refuses_to_cut_what_cannot_be_read_or_has_no_row() {
    let malformed = line("0", "user", "one", "") + "{\"broken\"\n" + &line("1", "user", "two", "");
    let shop = Shop::with(ROW, &malformed);
    assert_eq!(shop.rewind(0).unwrap_err().kind(), ErrorKind::Damaged);
    assert_eq!(shop.log(), malformed);
    let shop = Shop::with(r#"{"id":"other"}"#, &talk());
    assert_eq!(
        shop.rewind(0).unwrap_err().kind(),
        ErrorKind::Conflict,
        "its counts stand in the row"
    );
    let shop = Shop::with(ROW, &talk());
    assert_eq!(
        shop.rewind(1).unwrap_err().kind(),
        ErrorKind::Invalid,
        "an answer is no prompt"
    );
}

#[test]
fn a_legacy_document_is_moved_and_cut_in_one() {
    let shop = Shop::of(MyAgentsShape::LegacyJson);
    shop.rewind(2).unwrap();
    assert_eq!(shop.lines().len(), 2);
    assert!(
        !shop
            .place
            .tree()
            .contains_key(&format!("sessions/{}.json", shop.id))
    );
}
