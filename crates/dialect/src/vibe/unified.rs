//! Sessions of version 3: generations of a state in chunks, and a journal of later changes.
//!
//! Only the newest generation is read. The log that boswell reads has a record with the facts of
//! the session, the messages that the model is sent, and then the entries that people see.

use std::collections::BTreeMap;

use boswell_model::json::{Json, Object, Raw};
use boswell_model::{
    EntryKind, Message, Part, Problem, ProblemKind, Result, SessionMeta, SessionView, Slot, Usage,
};

use crate::chat_lines;
use crate::members::{lossy, plain, text};
use crate::powers::{composed_location, push_line};
use crate::{Discovered, FileInfo, Files};

const CURRENT: &str = "CURRENT";
const FORMAT: &str = "mistral.vibe.unified-session-store/v1";
const LIMIT: u64 = 512 << 20;
/// Types of the records that are not entries.
pub(super) const SESSION: &str = "$session";
pub(super) const CONTEXT: &str = "$context";

/// Finds every session in the folder of this store.
pub(super) fn discover(files: &dyn Files, folder: &FileInfo, found: &mut Discovered) -> Result<()> {
    let listed = files.list(&folder.key)?.into_iter();
    for session in listed.filter(FileInfo::is_folder) {
        let key = format!("{}/{CURRENT}", session.key);
        if files.stat(&key)?.is_none() {
            continue;
        }
        let current = whole(files, &key)?;
        let format = Raw::parse(current.trim_ascii()).ok();
        let format = format.and_then(|it| text(it, "store_format"));
        if format.as_deref().is_some_and(|format| format != FORMAT) {
            let detail = "a session of a newer Mistral Vibe, whose store boswell cannot read yet";
            let problem = Problem::of_file(ProblemKind::NewerVersion, detail);
            found.problems.push((key, problem));
            continue;
        }
        let sources = sources(files, &key)?;
        found
            .sessions
            .extend(composed_location(session.name(), &key, &sources));
    }
    Ok(())
}

/// Whether a key is that of such a session.
pub(super) fn is_key(key: &str) -> bool {
    key == CURRENT || key.ends_with("/CURRENT")
}

/// Whether a file names the newest generation of a session.
pub(super) fn is_pointer(object: &Object<'_>) -> bool {
    object.get("store_format").is_some_and(|it| it.is(FORMAT))
}

fn folder_of(key: &str) -> &str {
    key.strip_suffix(CURRENT).unwrap_or_default()
}

fn whole(files: &dyn Files, key: &str) -> Result<Vec<u8>> {
    Ok(files.read_whole(key, LIMIT)?.unwrap_or_default())
}

/// Returns the files whose states are that of the session. Chunks have the names of their hashes,
/// so they do not change.
pub(super) fn sources(files: &dyn Files, key: &str) -> Result<Vec<FileInfo>> {
    let folder = folder_of(key);
    let current = files.stat(key)?.filter(FileInfo::is_file);
    let Some(current) = current.filter(|_| is_key(key)) else {
        return Ok(Vec::new());
    };
    let journal = files.list(&format!("{folder}journal"))?.into_iter();
    Ok(std::iter::once(current)
        .chain(journal.filter(FileInfo::is_file))
        .collect())
}

/// Returns the log of a session. What cannot be read becomes a line that is reported.
pub(super) fn compose(files: &dyn Files, key: &str) -> Result<Vec<u8>> {
    let (folder, mut log) = (folder_of(key), Vec::new());
    let current = whole(files, key)?;
    let Some(generation) = plain_name(&current, "generation") else {
        push_line(&current, &mut log);
        return Ok(log);
    };
    let place = format!("{folder}generations/{generation}");
    let manifest = whole(files, &format!("{place}/manifest.json"))?;
    let Ok(manifest) = Raw::parse(manifest.trim_ascii()) else {
        push_line(&manifest, &mut log);
        return Ok(log);
    };
    let read = Generation {
        files,
        folder,
        place: &place,
    };
    let projection = read.state(manifest.get("projection_state"), &mut log)?;
    let checkpoint = read.state(manifest.get("checkpoint"), &mut log)?;
    push_facts(&projection, &mut log);
    push_context(&checkpoint, &mut log);
    let entries = read.entries(manifest, projection, &mut log)?;
    entries
        .in_order
        .iter()
        .for_each(|it| push_line(it, &mut log));
    Ok(log)
}

/// Adds the record with the facts of the session.
fn push_facts(projection: &State, log: &mut Vec<u8>) {
    let session = Raw::parse(projection.own.trim_ascii()).ok();
    let session = session.and_then(|it| it.at(&["snapshot", "session"]));
    let facts = Json::object()
        .with("type", SESSION)
        .with_some("session", session);
    push_line(&facts.to_bytes(), log);
}

/// Adds the messages that the model is sent.
fn push_context(checkpoint: &State, log: &mut Vec<u8>) {
    for message in &checkpoint.items {
        let message = Raw::trusted(message);
        let message = message.get("message").unwrap_or(message);
        let line = Json::object()
            .with("type", CONTEXT)
            .with("message", message);
        push_line(&line.to_bytes(), log);
    }
}

/// The entries of a session by their ids, in the order in which they came.
#[derive(Default)]
struct Entries {
    in_order: Vec<Vec<u8>>,
    places: BTreeMap<String, usize>,
}

impl Entries {
    fn put(&mut self, entry: Vec<u8>) {
        let id = text(Raw::trusted(&entry), "id");
        let known = id.as_ref().and_then(|id| self.places.get(id));
        match known.and_then(|place| self.in_order.get_mut(*place)) {
            Some(old) => *old = entry,
            None => {
                self.places.extend(id.map(|id| (id, self.in_order.len())));
                self.in_order.push(entry);
            }
        }
    }
}

/// Applies the changes behind the snapshot.
fn changes(journal: &[u8], sequence: u64, entries: &mut Entries, log: &mut Vec<u8>) {
    for line in journal.split(|byte| *byte == b'\n') {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let Ok(record) = Raw::parse(line.trim_ascii()) else {
            push_line(line, log);
            continue;
        };
        let is_new = record.get("sequence").and_then(|it| it.u64()) > Some(sequence);
        let delta = record.at(&["payload", "delta"]).filter(|_| is_new);
        for change in delta.into_iter().flat_map(|it| it.items()) {
            if let Some(entry) = change.get("entry") {
                entries.put(entry.bytes().to_vec());
            }
        }
    }
}

/// A document of a generation: its own bytes, and its items, which are in chunks.
#[derive(Default)]
struct State {
    own: Vec<u8>,
    items: Vec<Vec<u8>>,
}

struct Generation<'f> {
    files: &'f dyn Files,
    folder: &'f str,
    place: &'f str,
}

impl Generation<'_> {
    fn state(&self, named: Option<Raw<'_>>, log: &mut Vec<u8>) -> Result<State> {
        let Some(named) = named else {
            return Ok(State::default());
        };
        let mut state = State::default();
        if let Some(path) = text(named, "path").filter(|path| is_inside(path)) {
            state.own = whole(self.files, &format!("{}/{path}", self.place))?;
        }
        for chunk in named.get("chunks").into_iter().flat_map(|it| it.items()) {
            self.read_chunk(&plain(chunk), &mut state.items, log)?;
        }
        let own = Raw::parse(state.own.trim_ascii()).ok();
        let inline = own.and_then(|own| {
            let entries = own.at(&["snapshot", "history", "entries"]);
            entries.or_else(|| own.at(&["context", "messages"]))
        });
        let inline = inline.into_iter().flat_map(|it| it.items());
        let inline: Vec<Vec<u8>> = inline.map(|it| it.bytes().to_vec()).collect();
        state.items.extend(inline);
        Ok(state)
    }

    /// Adds the items of a chunk. One that cannot be read becomes a line of the log.
    fn read_chunk(&self, name: &str, items: &mut Vec<Vec<u8>>, log: &mut Vec<u8>) -> Result<()> {
        let bytes = match is_inside(name) {
            true => whole(self.files, &format!("{}chunks/{name}.json", self.folder))?,
            false => Vec::new(),
        };
        match Raw::parse(bytes.trim_ascii()) {
            Ok(chunk) => items.extend(chunk.items().map(|it| it.bytes().to_vec())),
            Err(_) => {
                let what = format!("the chunk {name} is missing or not valid JSON");
                push_line(what.as_bytes(), log);
            }
        }
        Ok(())
    }

    /// Returns the entries of the snapshot, with the later changes of the journal.
    fn entries(&self, manifest: Raw<'_>, snapshot: State, log: &mut Vec<u8>) -> Result<Entries> {
        let sequence = manifest.get("snapshot_sequence").and_then(|it| it.u64());
        let segment = manifest.at(&["recovery_journal_segment"]);
        let segment = segment.and_then(|it| text(it, "path"));
        let mut entries = Entries::default();
        snapshot.items.into_iter().for_each(|it| entries.put(it));
        if let Some(segment) = segment.filter(|path| is_inside(path)) {
            let journal = whole(self.files, &format!("{}{segment}", self.folder))?;
            changes(&journal, sequence.unwrap_or(0), &mut entries, log);
        }
        Ok(entries)
    }
}

/// Returns a member of a document that is a name without folders.
fn plain_name(document: &[u8], key: &str) -> Option<String> {
    let document = Raw::parse(document.trim_ascii()).ok()?;
    text(document, key).filter(|name| is_inside(name) && !name.contains('/'))
}

/// Whether a path that a file names leads to a file of the session.
fn is_inside(path: &str) -> bool {
    !path.starts_with('/') && !path.contains('\\') && path.split('/').all(|it| it != "..")
}

/// Returns the kind of a record without a role.
pub(super) fn kind(object: &Object<'_>) -> EntryKind {
    match object.text("type").as_deref() {
        Some(SESSION) => EntryKind::Header,
        Some(CONTEXT) => EntryKind::Meta,
        Some("reasoning" | "effect" | "tool_call") => EntryKind::Assistant,
        _ => EntryKind::Unknown,
    }
}

/// Returns the parts of an entry that is not a message.
pub(super) fn parts(object: &Object<'_>) -> Option<Vec<Part>> {
    match object.text("type").as_deref()? {
        // The same text is in the entries.
        CONTEXT => Some(Vec::new()),
        "reasoning" => {
            let summary = object.get("summary").into_iter().flat_map(|it| it.items());
            let mut said: Vec<String> = text(object.raw(), "text").into_iter().collect();
            said.extend(summary.map(|it| text(it, "text").unwrap_or_else(|| plain(it))));
            Some(vec![Part::thinking(said.join("\n"))])
        }
        "effect" | "tool_call" => Some(effect(object)),
        _ => None,
    }
}

/// A tool that ran: its call, and what came of it.
fn effect(object: &Object<'_>) -> Vec<Part> {
    let id = text(object.raw(), "id").unwrap_or_default();
    let detail = object.get("detail");
    let name = detail.and_then(|it| text(it, "toolName"));
    let name = name.or_else(|| text(object.raw(), "title"));
    let input = detail.and_then(|it| it.get("input"));
    let mut parts = vec![Part::Call {
        id: id.clone(),
        name: name.unwrap_or_default(),
        input: input.map(plain).unwrap_or_default().into(),
    }];
    if let Some(state) = object.get("state").filter(|it| !it.is_null()) {
        parts.push(outcome(state, id));
    }
    parts
}

/// Returns what a tool answered, from the state of its call.
fn outcome(state: Raw<'_>, call: String) -> Part {
    let output = state.get("output");
    let structured = output.and_then(|it| it.get("structured_content"));
    let said = text(state, "outputText")
        .or_else(|| structured.filter(|it| !it.is_null()).map(lossy))
        .or_else(|| output.map(plain));
    let succeeded = state.at(&["display", "success"]).and_then(|it| it.bool());
    let is_error = text(state, "status").is_some_and(|it| it == "failed");
    Part::Result {
        call,
        text: said.unwrap_or_default(),
        is_error: is_error || succeeded == Some(false),
    }
}

/// Returns the messages that the model is sent, if the branch ends with the last entry: they are
/// those of the newest state.
pub(super) fn sent(view: &SessionView<'_>, branch: &[Slot]) -> Option<Vec<Slot>> {
    let last = view.log.slots().next_back()?;
    let is_whole = branch.last() == Some(&last);
    let is_sent = |slot: &Slot| view.log.word(*slot) == CONTEXT;
    let found: Vec<Slot> = branch.iter().copied().filter(is_sent).collect();
    (is_whole && !found.is_empty()).then_some(found)
}

/// Renders a message that the model is sent.
pub(super) fn message(object: &Object<'_>) -> Option<Message> {
    let is_it = object.get("type").is_some_and(|it| it.is(CONTEXT));
    let message = object.get("message").filter(|_| is_it)?;
    let role = text(message, "role").unwrap_or_default();
    let content = message.get("content").into_iter().flat_map(|it| it.items());
    let parts: Vec<Part> = match role.as_str() {
        "tool" => {
            let call = text(message, "tool_call_id").unwrap_or_default();
            let failed = text(message, "outcome").is_some_and(|it| it != "success");
            crate::content_blocks::result(call, message.get("content"), failed)
        }
        _ => content.filter_map(block).collect(),
    };
    Some(Message::new(
        role,
        parts.iter().filter_map(chat_lines::sent),
    ))
}

fn block(block: Raw<'_>) -> Option<Part> {
    if block.get("type").is_some_and(|it| it.is("tool_call")) {
        let arguments = block.get("arguments");
        let raw = arguments.and_then(|it| text(it, "raw"));
        return Some(Part::Call {
            id: text(block, "id").unwrap_or_default(),
            name: text(block, "name").unwrap_or_default(),
            input: raw
                .or_else(|| arguments.map(plain))
                .unwrap_or_default()
                .into(),
        });
    }
    crate::content_blocks::parts(Some(block)).into_iter().next()
}

/// Adds the facts of a session: its title, and what it cost.
pub(super) fn facts(object: &Object<'_>, meta: &mut SessionMeta) {
    let Some(session) = object.get("session") else {
        return;
    };
    meta.id = text(session, "id").or_else(|| meta.id.take());
    meta.title = text(session, "title").or_else(|| meta.title.take());
    meta.parent = text(session, "parentSessionId").or_else(|| meta.parent.take());
    for key in ["createdAt", "updatedAt"] {
        if let Some(time) = session.get(key).and_then(crate::members::time) {
            meta.saw_time(time);
        }
    }
    let Some(tokens) = session.get("tokenUsage") else {
        return;
    };
    let count = |key: &str| tokens.get(key).and_then(|it| it.u64());
    let cached = count("cachedInputTokens");
    meta.stated.usage = Usage {
        input: count("inputTokens").map(|n| n.saturating_sub(cached.unwrap_or(0))),
        output: count("outputTokens"),
        cache_read: cached,
        ..Usage::default()
    };
}
