//! Small sessions for tests: three turns, the second with two parallel tool calls.

use std::borrow::Cow;

use boswell_model::json::{Member, Object, scan_object};
use boswell_model::{Context, Framing, Message, Part, Payloads, SessionView, Tip};

use super::Claude;
use super::view::blocks;
use crate::{Depth, Dialect, ReadSession, Reader, SessionLocation};

pub(super) fn read(text: &str) -> ReadSession {
    read_bytes(text.as_bytes())
}

pub(super) fn read_bytes(bytes: &[u8]) -> ReadSession {
    let location = SessionLocation::of("s", Framing::Lines, 0);
    Reader::read(&Claude, &location, bytes, Depth::Facts)
}

/// A log in memory, as a source of payloads.
pub(super) struct Bytes<'a>(pub &'a [u8]);

impl Payloads for Bytes<'_> {
    fn payload(&self, at: u64, len: u64) -> boswell_model::Result<Cow<'_, [u8]>> {
        self.0.payload(at, len)
    }
}

/// Returns a line of the chain. Its position in the list decides its time.
pub(super) fn line(
    word: &str,
    uuid: &str,
    parent: Option<&str>,
    second: usize,
    rest: &str,
) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{word}","uuid":"{uuid}","timestamp":"2026-01-01T00:00:{second:02}.000Z",{rest}}}"#
    )
}

pub(super) fn user(uuid: &str, parent: Option<&str>, second: usize, text: &str) -> String {
    line(
        "user",
        uuid,
        parent,
        second,
        &format!(r#""message":{{"role":"user","content":"{text}"}}"#),
    )
}

pub(super) fn assistant(
    uuid: &str,
    parent: &str,
    second: usize,
    message: &str,
    block: &str,
) -> String {
    let rest = format!(
        r#""message":{{"id":"{message}","role":"assistant","model":"big","content":[{block}]}}"#
    );
    line("assistant", uuid, Some(parent), second, &rest)
}

pub(super) fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

pub(super) fn call(id: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{}}}}"#)
}

/// A valid image of one pixel.
pub(super) const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

pub(super) fn image(data: &str) -> String {
    format!(
        r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{data}"}}}}"#
    )
}

/// Returns `line` with this `content` as its message content.
pub(super) fn with_content(line: &str, content: &str) -> String {
    let (before, _) = line.split_once("\"content\":").unwrap();
    format!("{before}\"content\":[{content}]}}}}")
}

pub(super) fn result(uuid: &str, parent: &str, second: usize, call: &str) -> String {
    let rest = format!(
        r#""message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{call}","content":"out {call}"}}]}}"#
    );
    line("user", uuid, Some(parent), second, &rest)
}

/// Returns the base session: ONE, TWO with two parallel calls, THREE.
pub(super) fn base() -> Vec<String> {
    vec![
        user("u1", None, 1, "ONE"),
        assistant("a1", "u1", 2, "m1", &text("one done")),
        user("u2", Some("a1"), 3, "TWO"),
        assistant("a2", "u2", 4, "m2", &call("t1")),
        assistant("a3", "a2", 5, "m2", &call("t2")),
        result("r1", "a2", 6, "t1"),
        result("r2", "a3", 7, "t2"),
        assistant("a4", "r2", 8, "m3", &text("two done")),
        user("u3", Some("a4"), 9, "THREE"),
        assistant("a5", "u3", 10, "m4", &text("three done")),
    ]
}

/// Joins the lines to the bytes of a file.
pub(super) fn file(lines: &[String]) -> Vec<u8> {
    (lines.join("\n") + "\n").into_bytes()
}

/// Returns what the newest client would send, one string per message: `U text`, `A text`, `A call
/// t1`, `U result t1: text`.
pub(super) fn sent(bytes: &[u8]) -> Vec<String> {
    let read = read_bytes(bytes);
    let payloads = Bytes(bytes);
    let view = read.view(&payloads);
    let tip = Claude.tip(&view).unwrap();
    let context = Claude.context(&view, tip).unwrap();
    messages(&view, &context).iter().map(shown).collect()
}

pub(super) fn tip_label(bytes: &[u8]) -> String {
    let read = read_bytes(bytes);
    match Claude.tip(&read.view(&Bytes(bytes))).unwrap() {
        Tip::Root => "root".to_owned(),
        Tip::At(slot) => read.log.label(slot).into_owned(),
    }
}

pub(super) fn messages(view: &SessionView<'_>, context: &Context) -> Vec<Message> {
    let render = |item: &boswell_model::ContextItem| {
        let payloads: Vec<_> = item
            .slots()
            .map(|slot| view.payload(slot).unwrap().into_owned())
            .collect();
        let scanned: Vec<(&[u8], Vec<Member>)> = payloads
            .iter()
            .map(|bytes| {
                let mut members = Vec::new();
                let end = scan_object(bytes, &mut members).unwrap();
                (&bytes[..end], members)
            })
            .collect();
        let records: Vec<_> = scanned
            .iter()
            .map(|(bytes, members)| Object::new(bytes, members))
            .collect();
        Claude.render(item, &records)
    };
    context.items.iter().map(render).collect()
}

fn shown(message: &Message) -> String {
    let json = boswell_model::json::Json::Array(message.content.clone()).to_bytes();
    let parts = blocks(boswell_model::json::Raw::trusted(&json))
        .into_iter()
        .map(|block| match block {
            Part::Text(text) => text,
            Part::Thinking { text, .. } => format!("think {text}"),
            Part::Call { id, .. } => format!("call {id}"),
            Part::Result { call, text, .. } => format!("result {call}: {text}"),
            other => format!("{other:?}"),
        });
    let role = message
        .role
        .chars()
        .next()
        .unwrap_or('?')
        .to_ascii_uppercase();
    format!("{role} {}", parts.collect::<Vec<_>>().join(" + "))
}
