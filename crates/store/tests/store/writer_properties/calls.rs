//! The random calls: how they are generated, and what they write.

use boswell_store::writer::AssistantMessage;
use boswell_store::{Body, Draft};
use proptest::prelude::*;

use super::{ANSWERING, Call, Place, Said, What};

impl Said {
    pub(super) fn body(&self) -> (Body, What) {
        let part = |text: &str| vec![boswell_store::Part::Text(text_pieces(text))];
        let says = |role, text: &str| What::Says(role, text_pieces(text));
        match self {
            Said::User(text) => (Body::User(part(text)), says("user", text)),
            Said::Assistant(text) => {
                let (provider, model) = ANSWERING.split_once('/').unwrap();
                let (provider, model) = (Some(provider.to_owned()), Some(model.to_owned()));
                let answer = AssistantMessage {
                    content: part(text),
                    provider,
                    model,
                    ..AssistantMessage::default()
                };
                (Draft::answer(answer).body, says("assistant", text))
            }
            Said::Extension(text) => {
                let body = Body::CustomMessage {
                    kind: "x".to_owned(),
                    content: part(text),
                    display: true,
                };
                (body, says("custom", text))
            }
            Said::Custom(n) => (
                Draft::custom(
                    "x",
                    boswell_store::model::json::Json::object().with("n", u32::from(*n)),
                )
                .body,
                What::Silent,
            ),
            Said::Title(text) => (Body::Title(text.clone()), What::Title(text.clone())),
            Said::Model(n) => (
                Body::Model {
                    model: format!("p/m{n}"),
                    role: None,
                },
                What::Model(format!("p/m{n}")),
            ),
            Said::Thinking(n) => {
                let level = ["off", "low", "high"][usize::from(*n) % 3].to_owned();
                (Body::ThinkingLevel(level.clone()), What::Thinking(level))
            }
        }
    }
}

/// A text with this prefix represents a text of many pages, so that a failing case stays readable.
const LONG: &str = "long:";

pub(super) fn text_pieces(text: &str) -> String {
    text.strip_prefix(LONG)
        .map_or_else(|| text.to_owned(), |letter| letter.repeat(20_000))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,12}",
        1 => "[ -~]{1,40}",
        1 => Just("line\nend \"quoted\" \\ \u{2028} 名前 🦀 \u{1}".to_owned()),
        1 => "[a-z]{1}".prop_map(|letter| format!("{LONG}{letter}")),
    ]
}

fn said() -> impl Strategy<Value = Said> {
    prop_oneof![
        4 => text().prop_map(Said::User),
        3 => text().prop_map(Said::Assistant),
        1 => text().prop_map(Said::Extension),
        1 => any::<u8>().prop_map(Said::Custom),
        1 => "[a-z]{1,9}".prop_map(Said::Title),
        1 => (0..3u8).prop_map(Said::Model),
        1 => (0..3u8).prop_map(Said::Thinking),
    ]
}

fn place() -> impl Strategy<Value = Place> {
    prop_oneof![
        5 => Just(Place::Tip),
        1 => Just(Place::Root),
        2 => any::<usize>().prop_map(Place::Below),
        1 => Just(Place::Before),
    ]
}

pub(super) fn call() -> impl Strategy<Value = Call> {
    let label = proptest::option::weighted(0.8, "[a-z]{1,6}");
    let id = 0..4u8;
    prop_oneof![
        6 => (place(), said()).prop_map(|(place, said)| Call::Append(place, said)),
        2 => said().prop_map(Call::Os),
        3 => proptest::collection::vec((place(), said()), 1..5).prop_map(Call::Batch),
        3 => any::<usize>().prop_map(Call::Branch),
        1 => Just(Call::Reset),
        2 => (proptest::option::weighted(0.8, any::<usize>()), text()).prop_map(|(at, text)| Call::Summary(at, text)),
        2 => any::<usize>().prop_map(Call::Rewind),
        2 => (any::<usize>(), label).prop_map(|(at, label)| Call::Label(at, label)),
        1 => "[a-z]{1,9}".prop_map(Call::Title),
        2 => (any::<usize>(), text()).prop_map(|(at, text)| Call::Compact(at, text)),
        4 => (id.clone(), place(), said()).prop_map(|(id, place, said)| Call::Given(id, place, said)),
        2 => (id, said()).prop_map(|(id, said)| Call::Native(id, said)),
        2 => (any::<bool>(), said()).prop_map(|(right, said)| Call::ExpectRevision { right, said }),
        2 => (any::<bool>(), said()).prop_map(|(right, said)| Call::ExpectLeaf { right, said }),
        1 => said().prop_map(Call::Nowhere),
        3 => said().prop_map(Call::Annotate),
        1 => proptest::option::of(any::<usize>()).prop_map(Call::Fork),
        2 => any::<bool>().prop_map(Call::Reopen),
    ]
}
