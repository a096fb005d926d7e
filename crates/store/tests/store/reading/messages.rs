//! Appended entries are read back as the messages of a context.

use boswell_store::model::json::Json;
use boswell_store::writer::AssistantMessage;
use boswell_store::{
    Body, ChatMessage, Draft, ErrorKind, Home, NewSession, Part, Role, Session, Store,
    WritableStore,
};

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

fn image() -> Part {
    Part::image("iVBORw0KGgo=", "image/png")
}

fn tool(is_error: bool) -> Role {
    Role::Tool {
        call: "c1".to_owned(),
        tool: "bash".to_owned(),
        is_error,
    }
}

/// Returns a conversation with every kind of part.
fn conversation() -> Vec<ChatMessage> {
    let thinking = Part::Thinking {
        text: "hm".to_owned(),
        signature: Some("sig".to_owned()),
    };
    let call = Part::Call {
        id: "c1".to_owned(),
        name: "bash".to_owned(),
        input: Json::object()
            .with("command", "make")
            .with("times", 2)
            .into(),
    };
    vec![
        ChatMessage::new(Role::User, vec![text("why is it red?"), image()]),
        ChatMessage::new(Role::Assistant, vec![thinking, text("let me look"), call]),
        ChatMessage::new(tool(true), vec![text("no rule"), image()]),
        ChatMessage::new(Role::Assistant, vec![text("the rule is missing")]),
    ]
}

fn draft(message: &ChatMessage) -> Draft {
    let content = message.parts.clone();
    match &message.role {
        Role::Assistant => Draft::answer(AssistantMessage {
            content,
            ..AssistantMessage::default()
        }),
        Role::Tool {
            call,
            tool,
            is_error,
        } => Draft::new(Body::ToolResult {
            call: call.clone(),
            tool: tool.clone(),
            content,
            is_error: *is_error,
        }),
        _ => Draft::new(Body::User(content)),
    }
}

fn written(store: &WritableStore) -> Session {
    let writer = store.create(NewSession::in_project("/proj/demo")).unwrap();
    for message in conversation() {
        writer.append(draft(&message)).unwrap();
    }
    writer.session().unwrap()
}

#[test]
fn what_was_appended_is_what_is_read() {
    let session = written(&Home::in_memory().unwrap().sessions().unwrap());
    assert_eq!(session.messages().unwrap(), conversation());
}

#[test]
fn agents_sessions_give_the_same_messages() {
    for name in ["pi", "omp", "xcsh", "claude"] {
        let folder = tempfile::tempdir().unwrap();
        let dialect = boswell_dialect::by_name(name).unwrap();
        let store = Store::in_folder(dialect, folder.path().join("agent"));
        let store = Home::at(folder.path()).writable(store);
        assert_eq!(
            written(&store).messages().unwrap(),
            conversation(),
            "{name}"
        );
    }
}

#[test]
fn a_compaction_is_read_as_its_summary_and_what_it_kept() {
    let store = Home::in_memory().unwrap().sessions().unwrap();
    let writer = store.create(NewSession::in_project("/proj/demo")).unwrap();
    writer.append(Draft::user("one")).unwrap();
    let kept = writer.append(Draft::assistant("two")).unwrap();
    writer.compact("they counted", &kept.entry, 9).unwrap();
    let messages = writer.session().unwrap().messages().unwrap();
    let said: Vec<(Role, String)> = messages
        .into_iter()
        .map(|message| (message.role.clone(), message.text()))
        .collect();
    assert_eq!(
        said,
        [
            (Role::User, "they counted".to_owned()),
            (Role::Assistant, "two".to_owned()),
        ]
    );
}

#[test]
fn a_part_that_only_its_agent_knows_is_read_as_json_and_not_written() {
    let store = Home::in_memory().unwrap().sessions().unwrap();
    let writer = store.create(NewSession::in_project("/proj/demo")).unwrap();
    let native = br#"{"type":"message","message":{"role":"user","content":[{"type":"smell"}]}}"#;
    writer
        .append(Draft::new(Body::Native(native.to_vec())))
        .unwrap();
    let messages = writer.session().unwrap().messages().unwrap();
    let smell = Part::Other {
        word: "smell".to_owned(),
        json: r#"{"type":"smell"}"#.to_owned(),
    };
    assert_eq!(
        messages,
        [ChatMessage::new(Role::User, vec![smell.clone()])]
    );
    let refused = writer
        .append(Draft::new(Body::User(vec![smell])))
        .unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
}
