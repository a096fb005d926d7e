//! Logs of operations: what may be written to them, and what is refused.

use boswell_dialect::{Draft, EditRequest, NewSession};
use boswell_model::Tip;
use boswell_store::ErrorKind;
use boswell_testkit::make::myagents::OperationsLog;
use serde_json::{Value, json};

use crate::myagents::shop::{ROW, Shop};

const KEY: &str = "sessions-v2/s.jsonl";

fn log() -> OperationsLog {
    let message = json!({"id": "q", "role": "user", "timestamp": "2026-01-01T00:00:00.000Z",
        "content": "first", "turnId": "q", "transcriptState": "complete"});
    OperationsLog::new("s").batch(vec![json!({"kind": "message-create", "message": message})])
}

fn shop(log: OperationsLog, more: &str) -> Shop {
    let shop = Shop::with(
        &ROW.replacen('{', &format!("{{\"transcriptFormat\":2,{more}"), 1),
        "",
    );
    let text = String::from_utf8(log.into_bytes()).unwrap();
    shop.place.put(KEY, &text);
    shop
}

/// The batches of the log, without their frames.
fn batches(shop: &Shop) -> Vec<Value> {
    let text = shop.place.read(KEY);
    let lines = text.lines().skip(1);
    let batch = |line| serde_json::from_str::<Value>(line).unwrap()["batch"].clone();
    lines.map(batch).collect()
}

#[test]
fn an_append_is_a_batch_with_the_next_revision_that_the_app_takes_for_complete() {
    let shop = shop(log(), "");
    let before = shop.place.read(KEY);
    let done = shop.append(vec![Draft::user("second 🔑"), Draft::assistant("yes")]);
    assert_eq!(done.planned.entries.len(), 2);
    assert!(
        shop.place.read(KEY).starts_with(&before),
        "no byte is changed"
    );
    let batches = batches(&shop);
    assert_eq!(batches.len(), 3);
    assert_eq!(
        (&batches[1]["fromRevision"], &batches[1]["revision"]),
        (&json!(2), &json!(3))
    );
    assert_eq!(
        (&batches[2]["fromRevision"], &batches[2]["revision"]),
        (&json!(4), &json!(4))
    );
    let id = &done.planned.entries[0];
    let [turn, message] = [0, 1].map(|at| &batches[1]["operations"][at]);
    assert_eq!(turn["turn"]["rootUserMessageId"], json!(id));
    assert_eq!(turn["turn"]["status"], "complete");
    assert_eq!(message["message"]["content"], "second 🔑");
    let answer = &batches[2]["operations"][0]["message"];
    assert_eq!(
        (&answer["turnId"], &answer["transcriptState"]),
        (&json!(id), &json!("complete"))
    );
    assert_eq!(shop.row()["lastMessagePreview"], "second 🔑");
    assert_eq!(
        shop.said(),
        ["first", "second 🔑", "yes"],
        "it is read back"
    );
    shop.has_no_locks();
}

#[test]
fn an_exact_retry_adds_nothing_and_an_id_with_other_content_is_a_conflict() {
    let shop = shop(log(), "");
    let draft = |text: &str| Draft::user(text).with_id("mine");
    shop.append(vec![draft("x")]);
    let once = shop.place.read(KEY);
    let again = shop.append(vec![draft("x")]);
    assert_eq!((again.planned.already, shop.place.read(KEY)), (1, once));
    let other = shop.wants(&EditRequest::Append(vec![draft("y")]));
    assert_eq!(other.unwrap_err().kind(), ErrorKind::Conflict);
}

#[test]
fn a_torn_batch_is_replaced_and_nothing_is_added_behind_damage() {
    let torn = shop(log().raw(b"{\"batch\":{\"id"), "");
    torn.append(vec![Draft::user("second")]);
    assert_eq!(torn.said(), ["first", "second"]);
    let damaged = shop(log().raw(b"{\"batch\":{}\n"), "");
    let before = damaged.place.read(KEY);
    let error = damaged.wants(&EditRequest::Append(vec![Draft::user("x")]));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Damaged);
    assert_eq!(damaged.place.read(KEY), before);
}

#[test]
fn what_only_the_app_can_finish_or_follow_is_refused() {
    let append = || EditRequest::Append(vec![Draft::user("x")]);
    for more in [
        "\"pendingConversationMutation\":{},",
        "\"materializationState\":\"prepared\",",
        "\"pendingDshInputs\":[],",
    ] {
        let shop = shop(log(), more);
        let error = shop.wants(&append()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict, "{more}");
    }
    let shop = shop(log(), "");
    let before = shop.place.read(KEY);
    for request in [
        EditRequest::Rewind(Tip::Root),
        EditRequest::Migrate,
        EditRequest::Fork {
            at: Tip::Root,
            new: NewSession::default(),
        },
    ] {
        let error = shop.wants(&request).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
    shop.place.put("app.lock", &std::process::id().to_string());
    for request in [append(), EditRequest::Delete] {
        let error = shop.wants(&request).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Busy, "{error}");
    }
    shop.wants(&EditRequest::Title("new".to_owned())).unwrap();
    assert_eq!(shop.row()["title"], "new");
    assert_eq!(shop.place.read(KEY), before);
}

#[test]
fn a_deletion_takes_the_log_its_files_and_its_row() {
    let shop = shop(log(), "");
    shop.place.put("generated/tool-attachments/s/t1/a.png", "x");
    shop.wants(&EditRequest::Delete).unwrap();
    let files: Vec<String> = shop.place.tree().into_keys().collect();
    let of_session = |key: &String| key.contains("/s/") || key.contains("/s.");
    assert!(!files.iter().any(of_session), "{files:?}");
    assert!(!shop.place.read("sessions.json").contains("\"s\""));
}
