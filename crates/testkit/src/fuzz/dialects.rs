//! Any bytes, read as a session of a dialect, with every method called.

use std::collections::HashSet;
use std::sync::Arc;

use boswell_dialect::{
    Depth, Dialect, MemoryFiles, Permissions, Reader, Sample, SessionLocation, by_name, recognise,
};
use boswell_model::json::{Member, Object, scan_object};
use boswell_model::{ContextItem, Framing, Message, SessionMeta, SessionView, Slot, Tip};
use boswell_store::Store;
use boswell_store::backend::MemoryBackend;
use boswell_store::repair::check;

const ID: &str = "01990000-1234-7abc-8def-0123456789ab";

/// Names under which some dialect has a log, an index or a side file.
const KEYS: [&str; 52] = [
    "sessions.json",
    "index.json",
    "history.jsonl",
    "sessions-index.json",
    "sessions/01990000-1234-7abc-8def-0123456789ab.jsonl",
    "sessions/01990000-1234-7abc-8def-0123456789ab.json",
    "sessions/index.json",
    "01990000-1234-7abc-8def-0123456789ab.jsonl",
    "01990000-1234-7abc-8def-0123456789ab.json",
    "-p/01990000-1234-7abc-8def-0123456789ab.jsonl",
    "--p--/2026-10-05T08-00-00-000Z_01990000-1234-7abc-8def-0123456789ab.jsonl",
    "projects/-p/01990000-1234-7abc-8def-0123456789ab.jsonl",
    "projects/-p/sessions-index.json",
    "projects/-p/memory/MEMORY.md",
    "session_index.jsonl",
    "sessions/2026/10/05/rollout-2026-10-05T08-00-00-01990000-1234-7abc-8def-0123456789ab.jsonl",
    "projects.json",
    "settings.json",
    "workspaces.json",
    "kimi.json",
    "tmp/p/chats/session-2026-10-05T08-00-01990000.jsonl",
    "tmp/p/chats/session-2026-10-05T09-00-01990000.jsonl",
    "tmp/p/chats/session-2026-10-05T08-00-01990000.json",
    "projects/-p/chats/01990000-1234-7abc-8def-0123456789ab.jsonl",
    "session-state/01990000-1234-7abc-8def-0123456789ab/events.jsonl",
    "session-state/01990000-1234-7abc-8def-0123456789ab/workspace.yaml",
    "sessions/wd_p_0/session_1/agents/main/wire.jsonl",
    "sessions/wd_p_0/session_1/state.json",
    "sessions/0/01990000-1234-7abc-8def-0123456789ab/context.jsonl",
    "sessions/0/01990000-1234-7abc-8def-0123456789ab/wire.jsonl",
    "sessions/1_a/1_a.messages.json",
    "sessions/1_a/1_a.json",
    "tasks/1/api_conversation_history.json",
    "tasks/1/history_item.json",
    "logs/session/session_1/messages.jsonl",
    "logs/session/session_1/meta.json",
    "agents/main/sessions/01990000-1234-7abc-8def-0123456789ab.jsonl",
    "workspaceStorage/1/chatSessions/01990000-1234-7abc-8def-0123456789ab.jsonl",
    "workspaceStorage/1/chatSessions/1.json",
    "workspaceStorage/1/workspace.json",
    ".aider.chat.history.md",
    "conversations/1/base_state.json",
    "conversations/1/events/event-00001-1.json",
    "sessions/1_a/metadata.json",
    "sessions/1_a/events/1.json",
    "brain/1/.system_generated/logs/transcript.jsonl",
    "sessions/%2Fp/01990000-1234-7abc-8def-0123456789ab/chat_history.jsonl",
    "sessions/%2Fp/01990000-1234-7abc-8def-0123456789ab/summary.json",
    "threads/T-1.json",
    "logs/session/unified/1/CURRENT",
    "logs/session/unified/1/generations/1/manifest.json",
    "logs/session/unified/1/journal/1.jsonl",
];

/// Reads the bytes as the dialect of that name; does nothing if it does not exist.
pub(super) fn named(name: &str, bytes: &[u8]) {
    let Some(dialect) = by_name(name) else { return };
    of(dialect, bytes);
    whose(bytes);
}

/// Reads the bytes as sessions, indexes and side files of a dialect.
pub(super) fn of(dialect: &'static dyn Dialect, bytes: &[u8]) {
    let mut framings = vec![Framing::Lines, Framing::Document, Framing::Rows("messages")];
    for key in ["x.jsonl", "x.json"] {
        let own = dialect.framing(key);
        if !framings.contains(&own) {
            framings.push(own);
        }
    }
    for framing in framings {
        session(dialect, framing, bytes);
    }
    through_the_store(dialect, bytes);
    files(dialect, bytes);
}

fn location(framing: Framing, bytes: &[u8]) -> SessionLocation {
    let row = bytes
        .split(|byte| *byte == b'\n')
        .next()
        .map(<[u8]>::to_vec);
    SessionLocation {
        key: Some("x".to_owned()),
        row,
        ..SessionLocation::of(ID, framing, bytes.len() as u64)
    }
}

fn session(dialect: &dyn Dialect, framing: Framing, bytes: &[u8]) {
    let location = location(framing, bytes);
    let read = Reader::read(dialect, &location, bytes, Depth::Facts);
    let heads = Reader::read(dialect, &location, bytes, Depth::Heads);
    assert_eq!(
        read.log.heads.len(),
        heads.log.heads.len(),
        "depth does not change what is a record"
    );
    let count = read.log.heads.len();
    assert_eq!(
        read.tree.len(),
        count,
        "each record has its place in the tree"
    );
    let payloads = Payload(bytes);
    let view = read.view(&payloads);
    for (slot, head) in read.log.entries() {
        assert!(
            head.at + head.len <= bytes.len() as u64,
            "records lie inside the file"
        );
        record(dialect, &view, slot);
    }
    if let Ok(tip) = dialect.tip(&view) {
        ask_at(dialect, &view, tip);
    }
    ask_at(dialect, &view, Tip::Root);
    // Some entries besides the tip, spread over the file.
    for slot in read.log.slots().step_by(count / 4 + 1) {
        ask_at(dialect, &view, Tip::At(slot));
    }
    if let Some(repair) = dialect.powers().repair {
        let _ = repair.check(&view, &read.meta, &mut Vec::new());
    }
    let _ = dialect.linked_sessions(&read.meta, ID);
    resume(dialect, &read.meta, &location);
}

fn resume(dialect: &dyn Dialect, meta: &SessionMeta, location: &SessionLocation) {
    let Some(runtime) = dialect.powers().runtime else {
        return;
    };
    if let Some(command) = runtime.resume(meta, location, Permissions::Asked) {
        assert!(!command.argv.is_empty() && command.argv.iter().all(|word| !word.contains('\0')));
    }
}

fn record(dialect: &dyn Dialect, view: &SessionView<'_>, slot: Slot) {
    let Ok(payload) = view.payload(slot) else {
        return;
    };
    let read = view.with_object(slot, |object| {
        let shown = dialect.view(object);
        let _ = (
            shown.text(),
            dialect.powers().refine.touched_files(&shown),
            dialect.is_record(object),
        );
    });
    assert!(
        matches!(read, Ok(Some(()))),
        "the bytes of a head are a record"
    );
    let mut members = Vec::new();
    assert!(
        scan_object(&dialect.powers().refine.redact(&payload), &mut members).is_ok(),
        "a redacted record is a record"
    );
}

fn ask_at(dialect: &dyn Dialect, view: &SessionView<'_>, tip: Tip) {
    let inside = |slot: Slot| slot.index() < view.log.heads.len();
    assert!(tip.slot().is_none_or(inside), "the tip is an entry");
    assert!(
        dialect.leaf(view, tip).is_none_or(inside),
        "the leaf is an entry"
    );
    if let Ok(branch) = dialect.branch(view, tip) {
        let mut seen = HashSet::new();
        assert!(
            branch
                .iter()
                .all(|slot| inside(*slot) && seen.insert(*slot)),
            "a branch holds each entry once"
        );
    }
    let Ok(context) = dialect.context(view, tip) else {
        return;
    };
    let mut messages = Vec::new();
    for item in &context.items {
        assert!(item.slots().all(inside), "a message is made of entries");
        let message = rendered(dialect, view, item);
        is_json(&message);
        messages.push(message);
    }
    let count = messages.len();
    let mut seen = HashSet::new();
    for sent in dialect.powers().refine.provider_messages(messages) {
        is_json(&sent.message);
        let mut places = sent.from.into_iter().chain(sent.joined);
        assert!(
            places.all(|place| place < count && seen.insert(place)),
            "a message is sent once"
        );
    }
}

fn rendered(dialect: &dyn Dialect, view: &SessionView<'_>, item: &ContextItem) -> Message {
    let mut payloads = Vec::new();
    for slot in item.slots() {
        payloads.extend(view.payload(slot).ok());
    }
    let scanned: Vec<Vec<Member>> = payloads.iter().map(|bytes| members(bytes)).collect();
    let objects: Vec<Object<'_>> = payloads
        .iter()
        .zip(&scanned)
        .map(|(bytes, members)| Object::new(bytes, members))
        .collect();
    dialect.render(item, &objects)
}

fn is_json(message: &Message) {
    for json in message.content.iter().chain(&message.native) {
        assert!(
            boswell_model::json::Raw::parse(&json.to_bytes()).is_ok(),
            "a rendered message is JSON"
        );
    }
}

fn members(bytes: &[u8]) -> Vec<Member> {
    let mut members = Vec::new();
    let _ = scan_object(bytes, &mut members);
    members
}

/// The same bytes behind a backend: summary, check, and an export that contains every byte.
fn through_the_store(dialect: &'static dyn Dialect, bytes: &[u8]) {
    let mut backend = MemoryBackend::default();
    backend.put("x", bytes, None);
    let store = Store::on(dialect, Arc::new(backend), "memory");
    let location = location(dialect.framing("x"), bytes);
    let _ = store.summary(&location);
    let Ok(session) = store.read(&location, Depth::Facts) else {
        return;
    };
    let _ = check(&session);
    let mut exported = Vec::new();
    let done = session.export(&mut |piece| {
        exported.extend_from_slice(piece);
        Ok(())
    });
    assert!(
        done.is_ok() && exported == bytes,
        "an export gives every byte back"
    );
}

/// The same bytes as every file that a listing might read.
fn files(dialect: &dyn Dialect, bytes: &[u8]) {
    let mut files = MemoryFiles::default();
    for key in KEYS {
        files.put(key, bytes, None);
    }
    let side_files = dialect.powers().side_files;
    let _ = side_files.map(|side_files| side_files.memory(&files));
    let Ok(found) = dialect.discover(&files) else {
        return;
    };
    for location in found.sessions.iter().take(20) {
        composed(dialect, &files, location);
        let _ = side_files.map(|side_files| side_files.side_files(&files, location));
        let mut meta = dialect.begin(location);
        let _ = dialect.add_side_meta(&files, location, &mut meta);
        assert!(
            !location.id.starts_with('-') || !dialect.id_is_valid(&location.id),
            "no valid id looks like an option"
        );
    }
}

/// A session whose log is made of its files.
fn composed(dialect: &dyn Dialect, files: &MemoryFiles, location: &SessionLocation) {
    let (Some(compose), Some(key)) = (dialect.powers().compose, &location.key) else {
        return;
    };
    if let Ok(log) = compose.compose(files, key) {
        session(dialect, Framing::Lines, &log);
    }
}

fn whose(bytes: &[u8]) {
    let lines: Vec<(&[u8], Vec<Member>)> = bytes
        .split(|byte| *byte == b'\n')
        .take(8)
        .filter_map(|line| {
            let mut members = Vec::new();
            let end = scan_object(line, &mut members).ok()?;
            Some((&line[..end], members))
        })
        .collect();
    let records: Vec<Object<'_>> = lines
        .iter()
        .map(|(line, members)| Object::new(line, members))
        .collect();
    let folders = ["-p".to_owned(), "projects".to_owned()];
    let _ = recognise(&Sample {
        name: "x.jsonl",
        folders: &folders,
        records: &records,
    });
}

struct Payload<'b>(&'b [u8]);

impl boswell_model::Payloads for Payload<'_> {
    fn payload(&self, at: u64, len: u64) -> boswell_model::Result<std::borrow::Cow<'_, [u8]>> {
        self.0.payload(at, len)
    }
}
