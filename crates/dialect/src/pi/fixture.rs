//! Small sessions for the tests of this family.

use boswell_model::json::{Object, scan_object};
use boswell_model::{Context, Framing, Message, Slot, Tip};

use crate::{
    Clock, Depth, Dialect, IdSource, MemoryFiles, Plan, PlanInput, ReadSession, Reader,
    SessionLocation, Step,
};

use super::Pi;

/// Returns the location of a session as discovery would find it.
pub(super) fn location(id: &str) -> SessionLocation {
    SessionLocation {
        key: Some(format!(
            "sessions/--p--/2026-01-01T00-00-00-000Z_{id}.jsonl"
        )),
        ..SessionLocation::of(id, Framing::Lines, 0)
    }
}

/// Reads a text with all metadata.
pub(super) fn read(pi: Pi, text: &str) -> ReadSession {
    Reader::read(&pi, &location("S"), text.as_bytes(), Depth::Facts)
}

/// Parses a JSON object and passes it to `ask`.
pub(super) fn with_object<T>(json: &str, ask: impl FnOnce(&Object<'_>) -> T) -> T {
    let mut members = Vec::new();
    let end = scan_object(json.as_bytes(), &mut members).unwrap();
    ask(&Object::new(&json.as_bytes()[..end], &members))
}

/// A header of version 3.
pub(super) const HEADER: &str =
    r#"{"type":"session","version":3,"id":"S","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/p"}"#;

/// Returns a session of version 3: the header and one entry per line.
pub(super) fn v3(entries: &[String]) -> String {
    format!("{HEADER}\n{}\n", entries.join("\n"))
}

/// Returns an entry: the common members, then `rest`. An empty parent is `null`.
pub(super) fn entry(kind: &str, id: &str, parent: &str, rest: &str) -> String {
    let parent = if parent.is_empty() {
        "null".to_owned()
    } else {
        format!("\"{parent}\"")
    };
    let rest = if rest.is_empty() {
        String::new()
    } else {
        format!(",{rest}")
    };
    format!(
        r#"{{"type":"{kind}","id":"{id}","parentId":{parent},"timestamp":"2025-01-01T00:00:00Z"{rest}}}"#
    )
}

/// Returns a user message.
pub(super) fn user(id: &str, parent: &str, text: &str) -> String {
    entry(
        "message",
        id,
        parent,
        &format!(r#""message":{{"role":"user","content":"{text}","timestamp":1}}"#),
    )
}

/// Returns an assistant message of anthropic/claude-test.
pub(super) fn assistant(id: &str, parent: &str, text: &str) -> String {
    let usage =
        r#""usage":{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"cost":{"total":0.5}}"#;
    entry(
        "message",
        id,
        parent,
        &format!(
            r#""message":{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}],"provider":"anthropic","model":"claude-test",{usage},"stopReason":"stop","timestamp":2}}"#
        ),
    )
}

/// Returns a compaction entry.
pub(super) fn compaction(id: &str, parent: &str, summary: &str, kept: &str) -> String {
    entry(
        "compaction",
        id,
        parent,
        &format!(r#""summary":"{summary}","firstKeptEntryId":"{kept}","tokensBefore":1000"#),
    )
}

/// Returns the context at an entry, or at the tip.
pub(super) fn context(pi: Pi, text: &str, at: Option<&str>) -> Context {
    let read = read(pi, text);
    let bytes = Bytes(text);
    let view = read.view(&bytes);
    let tip = match at {
        Some(label) => Tip::At(read.log.find(label).unwrap()),
        None => pi.tip(&view).unwrap(),
    };
    pi.context(&view, tip).unwrap()
}

/// Returns the rendered messages of a context.
pub(super) fn messages(pi: Pi, text: &str, at: Option<&str>) -> Vec<Message> {
    let read = read(pi, text);
    context(pi, text, at)
        .items
        .iter()
        .map(|item| {
            let texts: Vec<String> = item
                .slots()
                .map(|Slot(slot)| {
                    let head = &read.log.heads[slot as usize];
                    text[head.at as usize..(head.at + head.len) as usize].to_owned()
                })
                .collect();
            let members: Vec<_> = texts
                .iter()
                .map(|t| {
                    let mut members = Vec::new();
                    scan_object(t.as_bytes(), &mut members).unwrap();
                    members
                })
                .collect();
            let objects: Vec<_> = texts
                .iter()
                .zip(&members)
                .map(|(t, m)| Object::new(t.as_bytes(), m))
                .collect();
            pi.render(item, &objects)
        })
        .collect()
}

/// Returns the text of each message of a context.
pub(super) fn texts(pi: Pi, text: &str, at: Option<&str>) -> Vec<String> {
    let plain = |part: &boswell_model::json::Json| {
        let bytes = part.to_bytes();
        let raw = boswell_model::json::Raw::parse(&bytes).unwrap();
        raw.get("text")
            .and_then(|t| t.text())
            .unwrap_or_default()
            .into_owned()
    };
    messages(pi, text, at)
        .iter()
        .map(|m| m.content.iter().map(plain).collect())
        .collect()
}

/// A log in memory, as a source of payloads.
pub(super) struct Bytes<'a>(pub(super) &'a str);

impl boswell_model::Payloads for Bytes<'_> {
    fn payload(&self, at: u64, len: u64) -> boswell_model::Result<std::borrow::Cow<'_, [u8]>> {
        self.0.as_bytes().payload(at, len)
    }
}

/// A clock that returns a constant, and random numbers that count up.
#[derive(Debug, Default)]
pub(super) struct Counting(std::sync::atomic::AtomicU64);

impl Clock for Counting {
    fn now(&self) -> boswell_model::Instant {
        boswell_model::Instant::from_millis(1_790_000_000_000)
    }
}

impl IdSource for Counting {
    fn random(&self) -> u64 {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
    }
}

/// Passes a session to `ask` as a [`PlanInput`]; its log is at [`location`].
pub(super) fn asking<T>(pi: Pi, text: &str, ask: impl FnOnce(&PlanInput<'_>) -> T) -> T {
    let location = location("S");
    let mut files = MemoryFiles::default();
    files.put(location.key.as_deref().unwrap(), text, None);
    asking_with(pi, text, &files, ask)
}

/// As [`asking`], with other files in the store.
pub(super) fn asking_with<T>(
    pi: Pi,
    text: &str,
    files: &MemoryFiles,
    ask: impl FnOnce(&PlanInput<'_>) -> T,
) -> T {
    let (location, read, bytes) = (location("S"), read(pi, text), Bytes(text));
    let id_source = Counting::default();
    ask(&PlanInput {
        files,
        location: &location,
        view: read.view(&bytes),
        meta: &read.meta,
        id_source: &id_source,
        running_app: None,
    })
}

/// Returns the text after the steps of a plan.
pub(super) fn apply(text: &str, plan: &Plan) -> String {
    let mut now = text.as_bytes().to_vec();
    for step in &plan.steps {
        match step {
            Step::Put { bytes, .. } => now.clone_from(bytes),
            Step::Edit {
                at: Some(at),
                old,
                new,
                ..
            } => {
                let at = usize::try_from(*at).unwrap();
                assert_eq!(&now[at..at + old.len()], old.as_slice());
                now.splice(at..at + old.len(), new.iter().copied());
            }
            other => panic!("{other}"),
        }
    }
    String::from_utf8(now).unwrap()
}
