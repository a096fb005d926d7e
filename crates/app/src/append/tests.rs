//! Appending through the application layer, as a server or a binding does it.

use std::collections::BTreeMap;

use boswell_dialect::Environment;
use boswell_model::ErrorKind;

use super::*;
use crate::AppConfig;
use crate::new_session::NewSessionRequest;

fn app(temp: &tempfile::TempDir) -> App {
    let env = Environment {
        home: Some(temp.path().to_owned()),
        cwd: temp.path().to_owned(),
        tmp: temp.path().to_owned(),
        terminal: None,
        vars: BTreeMap::new(),
    };
    App::open(AppConfig::new(env, Some(temp.path().join("boswell")))).unwrap()
}

fn new_session(app: &App) -> String {
    let made = app.new_session(&NewSessionRequest::default()).unwrap();
    made.value.reference.to_string()
}

fn opened(app: &App, session: &str, expect: Expect) -> Appender {
    let request = AppendRequest {
        session: session.to_owned(),
        expect,
        ..AppendRequest::default()
    };
    app.append(&request).unwrap().value
}

fn settled(appender: &mut Appender) -> Vec<ReceiptShape> {
    let mut all = Vec::new();
    let answer = appender.settle(&mut |receipts| {
        all.extend(receipts);
        Ok(())
    });
    assert!(answer.unwrap().notices.is_empty());
    all
}

#[test]
fn an_appender_can_be_moved_to_another_thread() {
    fn sent<T: Send>() {}
    sent::<Appender>();
}

#[test]
fn entries_are_acknowledged_in_order_a_batch_at_a_time() {
    let temp = tempfile::tempdir().unwrap();
    let app = app(&temp);
    let session = new_session(&app);
    let mut appender = opened(&app, &session, Expect::Any);
    appender.submit(Draft::user("one")).unwrap();
    appender.submit(Draft::assistant("two")).unwrap();
    let first = settled(&mut appender);
    assert_eq!(first.len(), 2);
    assert!(first.iter().all(|receipt| receipt.session == session));
    assert!(first.iter().all(|receipt| receipt.durable == "fsync"));
    assert!(settled(&mut appender).is_empty());
    appender.submit(Draft::user("three")).unwrap();
    assert_eq!(settled(&mut appender).len(), 1);
    appender.close().unwrap();
}

#[test]
fn a_session_is_busy_until_its_appender_is_closed() {
    let temp = tempfile::tempdir().unwrap();
    let app = app(&temp);
    let session = new_session(&app);
    let appender = opened(&app, &session, Expect::Any);
    let request = AppendRequest {
        session: session.clone(),
        ..AppendRequest::default()
    };
    let refused = app.append(&request).unwrap_err();
    assert_eq!(refused.error.kind(), ErrorKind::Busy);
    appender.close().unwrap();
    app.append(&request).unwrap().value.close().unwrap();
}

#[test]
fn only_the_first_entry_has_to_meet_what_is_expected() {
    let temp = tempfile::tempdir().unwrap();
    let app = app(&temp);
    let session = new_session(&app);
    let mut appender = opened(&app, &session, Expect::Any);
    appender.submit(Draft::user("one")).unwrap();
    let leaf = settled(&mut appender).remove(0).entry;
    appender.close().unwrap();

    let mut appender = opened(&app, &session, Expect::Leaf(leaf.as_str().into()));
    appender.submit(Draft::user("two")).unwrap();
    appender.submit(Draft::user("three")).unwrap();
    assert_eq!(settled(&mut appender).len(), 2);
    appender.close().unwrap();

    let mut appender = opened(&app, &session, Expect::Leaf(leaf.into()));
    let refused = appender.submit(Draft::user("late")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
}

#[test]
fn a_line_is_a_role_with_text_a_record_or_nothing() {
    assert!(draft_of_line(b" \t\n", 1).unwrap().is_none());
    let draft = draft_of_line(br#"{"role":"user","text":"hi","id":"a","parent":"b"}"#, 1);
    let draft = draft.unwrap().unwrap();
    assert_eq!(draft.id.as_ref().map(|id| id.as_str()), Some("a"));
    assert!(matches!(draft.body, Body::User(_)));
    assert!(matches!(&draft.parent, Parent::Entry(entry) if entry == "b"));
    let draft = draft_of_line(
        b"{\"type\":\"message\",\"role\":\"user\",\"text\":\"hi\"}\n",
        1,
    );
    assert!(matches!(draft.unwrap().unwrap().body, Body::Native(_)));
    let call = br#"{"role":"assistant","calls":[{"id":"c","name":"ls","input":{"dir":"."}}]}"#;
    let draft = draft_of_line(call, 1).unwrap().unwrap();
    assert!(matches!(draft.body.parts(), [Part::Call { id, .. }] if id == "c"));
    let result = br#"{"role":"tool","call":"c","tool":"ls","text":"none","is_error":true}"#;
    let draft = draft_of_line(result, 1).unwrap().unwrap();
    assert!(matches!(&draft.body, Body::ToolResult { call, is_error: true, .. } if call == "c"));
    for (line, why) in [
        (&br#"{"role":"system","text":"hi"}"#[..], "system"),
        (br#"{"role":"tool","text":"hi"}"#, "call"),
        (br#"{"role":"assistant","calls":[{"id":"c"}]}"#, "name"),
        (b"[]", "object"),
    ] {
        let error = draft_of_line(line, 7).unwrap_err();
        assert_eq!(error.to_string(), "line 7 of the input is not an entry");
        assert!(
            error.reason().unwrap_or_default().contains(why),
            "{error:?}"
        );
    }
}

/// Returns the model of each answer in a session, as its records state it.
fn models_of(app: &App, session: &str) -> Vec<String> {
    let cx = app.request().unwrap();
    let found = cx.resolve(session).unwrap();
    let session = found
        .store
        .read(&found.location, boswell_dialect::Depth::Heads);
    let session = session.unwrap();
    let entries = session.entries().map(Result::unwrap);
    let answers = entries.filter(|entry| entry.kind == boswell_model::EntryKind::Assistant);
    let model = |bytes: &[u8]| {
        let record: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        let text = |key: &str| record["message"][key].as_str().unwrap_or("-").to_owned();
        format!("{} {}", text("provider"), text("model"))
    };
    answers.map(|entry| model(&entry.bytes)).collect()
}

#[test]
fn an_assistant_without_a_model_keeps_the_model_in_force() {
    let temp = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(temp.path().join(".pi/agent/sessions")).unwrap();
    let app = app(&temp);
    for (dialect, unknown) in [("pi", "unknown unknown"), ("boswell", "unknown unknown")] {
        let made = app.new_session(&NewSessionRequest {
            dialect: dialect.to_owned(),
            ..NewSessionRequest::default()
        });
        let session = made.unwrap().value.reference.to_string();
        let answer = |model: Option<&str>| {
            Draft::answer(boswell_dialect::AssistantMessage {
                content: vec![Part::Text("yes".to_owned())],
                model: model.map(str::to_owned),
                ..Default::default()
            })
        };
        for drafts in [
            vec![answer(None)],
            vec![answer(Some("anthropic/m1")), answer(None)],
            vec![answer(None)],
            vec![
                Draft::new(Body::Model {
                    model: "openai/m2".to_owned(),
                    role: None,
                }),
                answer(None),
            ],
        ] {
            let mut appender = opened(&app, &session, Expect::default());
            for draft in drafts {
                appender.submit(draft).unwrap();
            }
            settled(&mut appender);
            appender.close().unwrap();
        }
        let kept = ["anthropic m1"; 3];
        let wanted = [&[unknown], kept.as_slice(), &["openai m2"]].concat();
        assert_eq!(models_of(&app, &session), wanted, "{dialect}");
    }
}

#[test]
fn an_assistant_of_claude_without_a_model_is_synthetic_until_one_is_known() {
    let temp = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(temp.path().join(".claude/projects")).unwrap();
    let app = app(&temp);
    let made = app.new_session(&NewSessionRequest {
        dialect: "claude".to_owned(),
        ..NewSessionRequest::default()
    });
    let session = made.unwrap().value.reference.to_string();
    let mut appender = opened(&app, &session, Expect::default());
    appender.submit(Draft::user("why?")).unwrap();
    appender.submit(Draft::assistant("because")).unwrap();
    settled(&mut appender);
    appender.close().unwrap();
    assert_eq!(models_of(&app, &session), ["- <synthetic>"]);
}
