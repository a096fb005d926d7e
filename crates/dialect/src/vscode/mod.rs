//! Copilot Chat in VS Code: a document for each session, or a log of operations on one.
//!
//! The format is described in `docs/dialects/vscode.md`. The log that boswell reads has a record
//! for the session, and two for each request: what was asked, and the answer.

mod replay;
mod response;

use std::path::PathBuf;

use boswell_model::json::{Json, Object, Raw};
use boswell_model::{EntryKind, Framing, Instant, Log, Part, Result, SessionMeta, Slot, Usage};

use crate::chat_agent::{ChatAgent, ChatDialect};
use crate::members::{lossy, text, time};
use crate::powers::{composed_location, push_line};
use crate::{
    Capabilities, Capability, DialectFacts, Discovered, Environment, FileInfo, Files, Match,
    Sample, SessionLocation, Support, chat_lines, editors,
};

use replay::{Applied, Replayed, member, opened};

const LIMIT: u64 = 512 << 20;
const WORKSPACE_LIMIT: u64 = 1 << 20;
/// Folders with sessions of windows without a folder.
const WITHOUT_FOLDER: [&str; 2] = [
    "globalStorage/emptyWindowChatSessions",
    "globalStorage/transferredChatSessions",
];

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
    ]),
    sessions_folder: Some("workspaceStorage"),
    ..DialectFacts::new("vscode", "VS Code Copilot Chat")
};

/// The dialect of Copilot Chat in VS Code.
pub(crate) static VSCODE: ChatDialect<VsCode> = ChatDialect(VsCode);

/// Copilot Chat in VS Code.
#[derive(Debug)]
pub(crate) struct VsCode;

impl ChatAgent for VsCode {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        editors::user_folders(env)
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = Discovered::default();
        for workspace in files.list("workspaceStorage")? {
            if !workspace.is_folder() {
                continue;
            }
            let key = format!("{}/workspace.json", workspace.key);
            let row = || files.read_whole(&key, WORKSPACE_LIMIT);
            of_folder(
                files,
                &format!("{}/chatSessions", workspace.key),
                &row,
                &mut found,
            )?;
        }
        for folder in WITHOUT_FOLDER {
            of_folder(files, folder, &|| Ok(None), &mut found)?;
        }
        Ok(found)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        let is_document = |of: Raw<'_>| {
            of.get("requests").is_some()
                && [
                    "responderUsername",
                    "requesterUsername",
                    "initialLocation",
                    "creationDate",
                ]
                .iter()
                .any(|key| of.get(key).is_some())
        };
        match sample.records.first() {
            Some(first) if is_document(first.raw()) => Match::Certain,
            Some(first) if first.get("v").is_some_and(is_document) => Match::Certain,
            Some(first) if self.is_record(first) => Match::Certain,
            _ => Match::No,
        }
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        object.get("$role").is_some()
    }

    fn framing(&self, _key: &str) -> Framing {
        Framing::Lines
    }

    fn other_kind(&self, object: &Object<'_>) -> EntryKind {
        match object.text("$role").as_deref() {
            Some("session") => EntryKind::Header,
            Some("user") => EntryKind::User,
            Some("assistant") => EntryKind::Assistant,
            _ => EntryKind::Unknown,
        }
    }

    fn own_parts(&self, object: &Object<'_>) -> Option<Vec<Part>> {
        match object.text("$role").as_deref()? {
            "user" => Some(asked(object)),
            "assistant" => Some(response::parts(object)),
            _ => None,
        }
    }

    fn id(&self, object: &Object<'_>) -> Option<String> {
        let id = text(object.raw(), "requestId")?;
        let is_user = object.get("$role").is_some_and(|it| it.is("user"));
        Some(if is_user { id } else { format!("{id}.answer") })
    }

    fn time(&self, object: &Object<'_>) -> Option<Instant> {
        let key = match object.text("$role").as_deref() {
            Some("session") => "creationDate",
            _ => "timestamp",
        };
        object.get(key).and_then(time)
    }

    fn is_dropped(&self, object: &Object<'_>) -> bool {
        object.get("$removed").is_some()
    }

    /// Requests that were taken back are branches: the next one follows the one before them.
    fn link(&self, log: &Log) -> Vec<Option<Slot>> {
        let (mut last, mut aside) = (None, None);
        let mut parents = Vec::with_capacity(log.heads.len());
        for (slot, head) in log.entries() {
            let is_removed = head.flags.has(boswell_model::Flags::OWN);
            let parent = match is_removed {
                true => aside.or(last),
                false => last,
            };
            parents.push(parent);
            match (head.kind, is_removed) {
                (EntryKind::Header, _) => {}
                (_, true) => aside = Some(slot),
                (_, false) => (last, aside) = (Some(slot), None),
            }
        }
        parents
    }

    fn tip(&self, log: &Log) -> Option<Slot> {
        let is_live = |slot: &Slot| {
            let head = log.head(*slot);
            head.is_some_and(|head| !head.flags.has(boswell_model::Flags::OWN))
        };
        let mut slots = log.slots().rev();
        let live = slots.find(|slot| is_live(slot) && log.kind(*slot) != EntryKind::Header);
        live.or_else(|| chat_lines::last(log))
    }

    fn spent(&self, object: &Object<'_>) -> (Option<String>, Option<Usage>) {
        match object.text("$role").as_deref() {
            Some("assistant") => response::spent(object),
            _ => (None, None),
        }
    }

    fn collect(&self, object: &Object<'_>, meta: &mut SessionMeta) {
        if self.other_kind(object) != EntryKind::Header {
            return;
        }
        let raw = object.raw();
        meta.id = text(raw, "sessionId").or_else(|| meta.id.take());
        meta.title = text(raw, "customTitle").or_else(|| meta.title.take());
        for key in ["creationDate", "lastMessageDate"] {
            if let Some(time) = object.get(key).and_then(time) {
                meta.saw_time(time);
            }
        }
    }

    /// The folder that the window had open is in a file beside the sessions.
    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        let row = location.row.as_deref().map(<[u8]>::trim_ascii);
        let row = row.and_then(|row| Raw::parse(row).ok());
        let uri = row.and_then(|row| text(row, "folder").or_else(|| text(row, "workspace")));
        SessionMeta {
            project: uri.map(|uri| editors::path_of_uri(&uri)),
            ..SessionMeta::default()
        }
    }

    fn composes(&self) -> bool {
        true
    }

    fn sources(&self, files: &dyn Files, key: &str) -> Result<Vec<FileInfo>> {
        let is_session = key.ends_with(".json") || key.ends_with(".jsonl");
        let is_other = key.ends_with("workspace.json");
        if !is_session || is_other {
            return Ok(Vec::new());
        }
        let info = files.stat(key)?.filter(FileInfo::is_file);
        Ok(info.into_iter().collect())
    }

    fn compose(&self, files: &dyn Files, key: &str) -> Result<Vec<u8>> {
        let bytes = files.read_whole(key, LIMIT)?.unwrap_or_default();
        let (mut log, mut replayed) = (Vec::new(), Replayed::default());
        match Raw::parse(bytes.trim_ascii()) {
            Ok(document) if document.get("kind").is_none() => {
                replayed.state = Some(Json::from(document));
            }
            _ => {
                for line in bytes.split(|byte| *byte == b'\n') {
                    let is_blank = line.trim_ascii().is_empty();
                    let operation = Raw::parse(line.trim_ascii()).ok();
                    let applied = operation.map(|operation| replayed.apply(operation));
                    // What is no operation is reported as damage.
                    if !is_blank && applied != Some(Applied::Changed) {
                        push_line(line, &mut log);
                    }
                }
            }
        }
        records(replayed, &mut log);
        Ok(log)
    }
}

/// Finds the sessions of one folder. A log of operations replaces the document of an older version.
fn of_folder(
    files: &dyn Files,
    folder: &str,
    row: &dyn Fn() -> Result<Option<Vec<u8>>>,
    found: &mut Discovered,
) -> Result<()> {
    let listed = files.list(folder)?;
    let mut workspace = None;
    for info in listed.iter().filter(|info| info.is_file()) {
        let (id, is_log) = match (info.stem(".jsonl"), info.stem(".json")) {
            (Some(id), _) => (id, true),
            (None, Some(id)) => (id, false),
            (None, None) => continue,
        };
        let newer = format!("{id}.jsonl");
        if !is_log && listed.iter().any(|it| it.is_file() && it.name() == newer) {
            continue;
        }
        let workspace = match &workspace {
            Some(known) => known,
            None => workspace.insert(row()?),
        };
        let location = composed_location(id, &info.key, std::slice::from_ref(info));
        found
            .sessions
            .extend(location.map(|location| SessionLocation {
                row: workspace.clone(),
                ..location
            }));
    }
    Ok(())
}

/// Appends the records of a document.
fn records(mut replayed: Replayed, log: &mut Vec<u8>) {
    let Some(mut state) = replayed.state.take() else {
        return;
    };
    let requests = match member(opened(&mut state), "requests").map(opened) {
        Some(Json::Array(items)) => std::mem::take(items),
        _ => Vec::new(),
    };
    let mut header = Json::object().with("$role", "session");
    if let Json::Object(members) = state {
        for (key, value) in members.into_iter().filter(|(key, _)| key != "requests") {
            header = header.with(&key, value);
        }
    }
    push_line(&header.to_bytes(), log);
    replayed.removed.sort_by_key(|(place, _)| *place);
    let mut removed = replayed.removed.into_iter().peekable();
    for (at, request) in requests.iter().enumerate() {
        while let Some((_, request)) = removed.next_if(|(place, _)| *place <= at) {
            split(&request, true, log);
        }
        split(request, false, log);
    }
    removed.for_each(|(_, request)| split(&request, true, log));
}

/// Appends the two records of a request: what was asked, and everything else.
fn split(request: &Json, is_removed: bool, log: &mut Vec<u8>) {
    let bytes = request.to_bytes();
    let request = Raw::trusted(&bytes);
    let begin = |role: &str| {
        let record = Json::object().with("$role", role);
        record.with_some("$removed", is_removed.then_some(true))
    };
    let (mut user, mut answer) = (begin("user"), begin("assistant"));
    for (key, value) in request.members() {
        let key = key.to_text();
        match &*key {
            "message" | "variableData" => user = user.with(&key, value),
            "requestId" | "timestamp" => {
                user = user.with(&key, value);
                answer = answer.with(&key, value);
            }
            _ => answer = answer.with(&key, value),
        }
    }
    push_line(&user.to_bytes(), log);
    push_line(&answer.to_bytes(), log);
}

/// Returns the parts of a request: its text, and what was attached to it.
fn asked(object: &Object<'_>) -> Vec<Part> {
    let message = object.get("message");
    let said = message.and_then(|it| match it.text() {
        Some(said) => Some(said.into_owned()),
        None => text(it, "text"),
    });
    let mut parts: Vec<Part> = said.map(Part::Text).into_iter().collect();
    let variables = object
        .get("variableData")
        .and_then(|it| it.get("variables"));
    for variable in variables.into_iter().flat_map(|it| it.items()) {
        parts.push(Part::Other {
            word: "attachment".to_owned(),
            json: lossy(variable),
        });
    }
    parts
}
