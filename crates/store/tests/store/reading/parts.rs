//! Parts that were read can be written again, and are read again as the same parts.

use boswell_store::model::json::Json;
use boswell_store::model::{EntryKind, View};
use boswell_store::writer::{AssistantMessage, MediaSource, ToolInput};
use boswell_store::{
    Body, ChatMessage, Draft, ErrorKind, Home, NewSession, Part, Role, Session, Store,
    WritableStore,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Agents leave out texts that say nothing when they send them, so every text begins with a letter.
fn said() -> impl Strategy<Value = String> {
    "[a-zé会][ -~\\n\\t\u{1}é会🦀\u{2028}]{0,12}"
}

fn text() -> impl Strategy<Value = Part> {
    said().prop_map(Part::Text)
}

fn image() -> impl Strategy<Value = Part> {
    let mime = prop_oneof![Just("image/png"), Just("image/jpeg")];
    (vec("[A-Za-z0-9+/]{4}", 1..8), mime).prop_map(|(data, mime)| Part::image(data.concat(), mime))
}

fn thinking() -> impl Strategy<Value = Part> {
    (said(), "[A-Za-z0-9+/\"\\\\]{1,20}").prop_map(|(text, signature)| Part::Thinking {
        text,
        signature: Some(signature),
    })
}

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        (-1e9..1e9).prop_map(Json::Float),
        any::<String>().prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Json::Array),
            vec((any::<String>(), inner), 0..4).prop_map(object),
        ]
    })
}

fn object(members: Vec<(String, Json)>) -> Json {
    let members = members.into_iter();
    Json::Object(members.map(|(name, it)| (name.into(), it)).collect())
}

/// Arguments: those of a caller, and those of an agent that spaces, repeats and escapes otherwise.
fn input() -> impl Strategy<Value = ToolInput> {
    prop_oneof![
        vec((any::<String>(), json()), 0..4).prop_map(|members| object(members).into()),
        Just(ToolInput::from(
            r#"{ "a" : 1.0,  "a": 1e2, "b":"\u4f1a\ud83d"}"#
        )),
    ]
}

/// A round of a conversation: a prompt, an answer with calls, and what the tools say.
#[derive(Debug, Clone)]
struct Round {
    asked: Vec<Part>,
    answered: Vec<Part>,
    called: Vec<(ToolInput, Vec<Part>, bool)>,
}

fn round() -> impl Strategy<Value = Round> {
    let parts = || vec(prop_oneof![text(), image()], 1..4);
    let answered = (vec(thinking(), 0..2), text()).prop_map(|(mut parts, text)| {
        parts.push(text);
        parts
    });
    let called = vec((input(), parts(), any::<bool>()), 0..3);
    (parts(), answered, called).prop_map(|(asked, answered, called)| Round {
        asked,
        answered,
        called,
    })
}

fn conversation(rounds: Vec<Round>) -> Vec<ChatMessage> {
    let (mut messages, mut number) = (Vec::new(), 0);
    for round in rounds {
        messages.push(ChatMessage::new(Role::User, round.asked));
        let (mut answer, mut results) = (round.answered, Vec::new());
        for (input, said, is_error) in round.called {
            number += 1;
            let (id, name) = (format!("call-{number}"), "bash".to_owned());
            let role = Role::Tool {
                call: id.clone(),
                tool: name.clone(),
                is_error,
            };
            answer.push(Part::Call { id, name, input });
            results.push(ChatMessage::new(role, said));
        }
        messages.push(ChatMessage::new(Role::Assistant, answer));
        messages.append(&mut results);
    }
    messages
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

fn written(store: &WritableStore, messages: &[ChatMessage]) -> Session {
    let writer = store.create(NewSession::in_project("/proj/demo")).unwrap();
    for message in messages {
        writer.append(draft(message)).unwrap();
    }
    writer.session().unwrap()
}

/// The views of the messages in a session.
fn views(session: &Session) -> Vec<View> {
    let kinds = [EntryKind::User, EntryKind::Assistant, EntryKind::ToolResult];
    let entries = session.entries().map(Result::unwrap);
    entries
        .filter(|entry| kinds.contains(&session.log().kind(entry.slot)))
        .map(|entry| entry.view.unwrap())
        .collect()
}

/// What a view shows of a message: its parts, and of a result the texts as one and the rest.
fn shown(message: &ChatMessage) -> Vec<Part> {
    let Role::Tool { call, is_error, .. } = &message.role else {
        return message.parts.clone();
    };
    let (mut texts, mut shown) = (Vec::new(), Vec::new());
    for part in &message.parts {
        match part {
            Part::Text(text) => texts.push(text.as_str()),
            other => shown.push(other.clone()),
        }
    }
    let result = Part::Result {
        call: call.clone(),
        text: texts.join("\n"),
        is_error: *is_error,
    };
    shown.insert(0, result);
    shown
}

fn check(store: &WritableStore, messages: &[ChatMessage]) -> Result<(), TestCaseError> {
    let first = written(store, messages);
    prop_assert_eq!(&first.messages().unwrap(), messages);
    let parts: Vec<_> = views(&first).into_iter().map(|view| view.parts).collect();
    let expected: Vec<_> = messages.iter().map(shown).collect();
    prop_assert_eq!(&parts, &expected);
    let second = written(store, &first.messages().unwrap());
    prop_assert_eq!(&second.messages().unwrap(), messages);
    let parts: Vec<_> = views(&second).into_iter().map(|view| view.parts).collect();
    prop_assert_eq!(parts, expected);
    Ok(())
}

fn in_folder(name: &str, folder: &std::path::Path) -> WritableStore {
    let dialect = boswell_dialect::by_name(name).unwrap();
    Home::at(folder).writable(Store::in_folder(dialect, folder.join("agent")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn parts_of_our_own_sessions_can_be_written_again(rounds in vec(round(), 1..4)) {
        check(&Home::in_memory().unwrap().sessions().unwrap(), &conversation(rounds))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn parts_of_agents_sessions_can_be_written_again(rounds in vec(round(), 1..4)) {
        let messages = conversation(rounds);
        for name in ["pi", "omp", "xcsh", "claude"] {
            let folder = tempfile::tempdir().unwrap();
            check(&in_folder(name, folder.path()), &messages)?;
        }
    }
}

#[test]
fn free_text_for_a_tool_becomes_an_object_once() {
    let answer = |input: &str| {
        let (id, name) = ("c".to_owned(), "apply_patch".to_owned());
        let input = input.into();
        ChatMessage::new(Role::Assistant, vec![Part::Call { id, name, input }])
    };
    let read = |messages: &[ChatMessage]| {
        let mut read = written(&Home::in_memory().unwrap().sessions().unwrap(), messages)
            .messages()
            .unwrap();
        // What the store says for a tool that never answered.
        read.retain(|message| message.role == Role::Assistant);
        read
    };
    let once = read(&[answer("*** Begin Patch\n")]);
    assert_eq!(once, [answer(r#"{"input":"*** Begin Patch\n"}"#)]);
    assert_eq!(read(&once), once);
}

#[test]
fn parts_that_can_only_be_read_are_refused_with_what_to_write() {
    let reference = Part::Media {
        mime: Some("image/png".to_owned()),
        source: MediaSource::Reference("blob:sha256:ab".to_owned()),
    };
    let untyped = Part::Media {
        mime: None,
        source: MediaSource::Inline("AAAA".to_owned()),
    };
    let result = Part::Result {
        call: "c".to_owned(),
        text: "out".to_owned(),
        is_error: false,
    };
    let other = Part::Other {
        word: "smell".to_owned(),
        json: r#"{"type":"smell"}"#.to_owned(),
    };
    for name in ["boswell", "pi", "claude"] {
        let folder = tempfile::tempdir().unwrap();
        let store = in_folder(name, folder.path());
        let writer = store.create(NewSession::in_project("/proj/demo")).unwrap();
        for (part, instead) in [
            (&reference, "base64"),
            (&untyped, "image/png"),
            (&result, "Body::ToolResult"),
            (&other, "Body::Native"),
        ] {
            let draft = Draft::new(Body::User(vec![part.clone()]));
            let refused = writer.append(draft).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Unsupported, "{name}: {part:?}");
            let Some(boswell_model::Advice::Plain(advice)) = refused.advice() else {
                panic!("{name}: {part:?} is refused without advice");
            };
            assert!(advice.contains(instead), "{name}: {advice}");
        }
    }
}
