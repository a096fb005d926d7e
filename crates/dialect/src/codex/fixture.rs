//! Small sessions for tests.

use std::borrow::Cow;

use boswell_model::json::{Object, scan_object};
use boswell_model::{Framing, Message, Payloads, Result, View};

use crate::{Depth, Dialect, ReadSession, Reader, SessionLocation};

use super::Codex;

/// A log in memory, as a source of payloads.
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl Payloads for Bytes<'_> {
    fn payload(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>> {
        self.0.payload(at, len)
    }
}

/// Returns the location of a session that is only in memory.
pub(super) fn location() -> SessionLocation {
    SessionLocation {
        key: Some(
            "sessions/2026/04/11/rollout-2026-04-11T20-30-20-019d7e3d-0164-79d1-af76-e4ee6689b94f.jsonl".to_owned(),
        ),
        ..SessionLocation::of("019d7e3d-0164-79d1-af76-e4ee6689b94f", Framing::Lines, 0)
    }
}

/// Returns lines as a file; each is a type and a payload, or a whole record if the type is empty.
pub(super) fn log(lines: &[(&str, &str)]) -> Vec<u8> {
    let mut out = String::new();
    for (second, (word, payload)) in lines.iter().enumerate() {
        if word.is_empty() {
            out.push_str(payload);
        } else {
            out.push_str(&format!(
                r#"{{"timestamp":"2026-04-11T20:30:{:02}.000Z","type":"{word}","payload":{payload}}}"#,
                second % 60
            ));
        }
        out.push('\n');
    }
    out.into_bytes()
}

/// Returns a message item.
pub(super) fn said(role: &str, text: &str) -> String {
    let part = if role == "assistant" {
        "output_text"
    } else {
        "input_text"
    };
    format!(
        r#"{{"type":"message","role":"{role}","content":[{{"type":"{part}","text":"{text}"}}]}}"#
    )
}

pub(super) fn read(bytes: &[u8]) -> ReadSession {
    Reader::read(&Codex, &location(), bytes, Depth::Facts)
}

/// Returns the context at the end: role, and text or type, of each message.
pub(super) fn sent(bytes: &[u8]) -> Vec<(String, String)> {
    let (read, bytes) = (read(bytes), Bytes(bytes));
    let view = read.view(&bytes);
    let context = Codex.context(&view, Codex.tip(&view).unwrap()).unwrap();
    let render = |item: &boswell_model::ContextItem| {
        view.with_object(item.slot, |object| Codex.render(item, &[*object]))
            .unwrap()
            .unwrap()
    };
    context
        .items
        .iter()
        .map(render)
        .map(|message| (message.role.clone(), gist(&message)))
        .collect()
}

fn gist(message: &Message) -> String {
    let native = message
        .native
        .as_ref()
        .map(|n| n.to_bytes())
        .unwrap_or_default();
    let text: Vec<String> = message
        .content
        .iter()
        .map(|part| {
            let bytes = part.to_bytes();
            let raw = boswell_model::json::Raw::parse(&bytes).unwrap();
            let word = raw.get("text").or_else(|| raw.get("type"));
            word.and_then(|w| w.text())
                .map(|w| w.into_owned())
                .unwrap_or_default()
        })
        .collect();
    assert!(
        native.is_empty() || native.starts_with(b"{"),
        "a native message is an object"
    );
    text.join("|")
}

/// Returns the view of one record.
pub(super) fn view_of(record: &str) -> View {
    with(record, |object| Codex.view(object))
}

/// Parses one record and passes it to `ask`.
pub(super) fn with<T>(record: &str, ask: impl FnOnce(&Object<'_>) -> T) -> T {
    let mut members = Vec::new();
    let end = scan_object(record.as_bytes(), &mut members).unwrap();
    ask(&Object::new(&record.as_bytes()[..end], &members))
}
