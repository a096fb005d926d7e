//! Hermes: sessions and messages are rows of a database; before, one document for each session.
//!
//! The format is described in `docs/dialects/hermes.md`.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Framing, Instant, Part, Result, SessionMeta, Usage};

use crate::content_blocks::{self, tool_calls};
use crate::members::{plain, text, time};
use crate::row_agent::{RowAgent, RowDialect};
use crate::row_listing::{RowListing, row_of};
use crate::{
    Capabilities, Capability, DialectFacts, Discovered, Environment, FileInfo, Files, Match,
    ROW_TABLE, ResumeCommand, RowLayout, RowSelect, RowTable, Sample, SessionLocation, StampRule,
    Support,
};

const DATABASE: &str = "state.db";
const LIST: &str = "messages";
const DOCUMENT_LIMIT: usize = 256 << 20;

const SESSIONS: RowTable = RowTable {
    stamp: StampRule::NewestRow(&[
        "message_count",
        "ended_at",
        "title",
        "archived",
        "rewind_count",
    ]),
    ..RowTable::new("sessions", "id")
};

const MESSAGES: RowTable = RowTable {
    order: &["timestamp", "id"],
    json: &[
        "tool_calls",
        "reasoning_details",
        "codex_reasoning_items",
        "codex_message_items",
    ],
    stamp: StampRule::NewestRow(&["active", "compacted"]),
    ..RowTable::new("messages", "session_id")
};

const LAYOUT: RowLayout = RowLayout::of(&[SESSIONS, MESSAGES]);

const LISTING: RowListing = RowListing {
    layout: &LAYOUT,
    table: &SESSIONS,
    updated: "ended_at",
    parent: None,
    archived: Some("archived"),
    omitted: &["system_prompt"],
};

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
        (Capability::Resume, Support::Native),
    ]),
    rows: Some(LAYOUT),
    document_framing: Some(Framing::Rows(LIST)),
    ..DialectFacts::new("hermes", "Hermes")
};

/// The dialect of Hermes.
pub(crate) static HERMES: RowDialect<Hermes> = RowDialect(Hermes);

/// Hermes.
#[derive(Debug)]
pub(crate) struct Hermes;

fn is(object: &Object<'_>, table: &str) -> bool {
    object.get(ROW_TABLE).is_some_and(|it| it.is(table))
}

/// Adds the sessions of a database that has messages alone.
fn without_sessions(files: &dyn Files, database: &str, found: &mut Discovered) -> Result<()> {
    let Some(source) = files.rows(database)? else {
        return Ok(());
    };
    if source.tables()?.iter().any(|table| table == SESSIONS.name) {
        return Ok(());
    }
    let all = RowSelect {
        table: MESSAGES.name,
        only: None,
        order: &[],
    };
    let mut ids = BTreeSet::new();
    source.each(&all, &mut |columns| {
        let id = columns.iter().find_map(|(name, cell)| match cell {
            crate::Cell::Text(id) if *name == MESSAGES.session => Some((*id).to_owned()),
            _ => None,
        });
        ids.extend(id);
    })?;
    for id in ids {
        let stamp = LAYOUT.stamp(source.as_ref(), &id)?;
        let location = SessionLocation::of_rows(id, database, stamp, None);
        found.sessions.push(location);
    }
    Ok(())
}

impl RowAgent for Hermes {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        match env.path_var("HERMES_HOME") {
            Some(home) => vec![home],
            None => env.in_home(".hermes").into_iter().collect(),
        }
    }

    /// Each profile has a database of its own.
    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = Discovered::default();
        let mut folders = vec![String::new()];
        for profile in files.list("profiles")? {
            if profile.is_folder() {
                folders.push(format!("{}/", profile.key));
            }
        }
        for folder in &folders {
            let database = format!("{folder}{DATABASE}");
            LISTING.add(files, &database, &mut found);
            if found.unlisted.is_empty() {
                without_sessions(files, &database, &mut found)?;
            }
        }
        let known: HashSet<String> = found.sessions.iter().map(|it| it.id.clone()).collect();
        for folder in folders {
            for info in files.list(&format!("{folder}sessions"))? {
                let id = document_id(&info).map(str::to_owned);
                if let Some(id) = id.filter(|id| !known.contains(id)) {
                    let location = SessionLocation::of_file(id, info, Framing::Rows(LIST));
                    found.sessions.push(location);
                }
            }
        }
        Ok(found)
    }

    fn recognises_file(&self, sample: &Sample<'_>) -> Match {
        let is_document = |object: &Object<'_>| {
            let has = |key: &str| object.get(key).is_some();
            has("session_id") && has("session_start") && has(LIST)
        };
        match sample.records.first() {
            Some(first) if is_document(first) => Match::Certain,
            _ => Match::No,
        }
    }

    fn is_file_record(&self, object: &Object<'_>) -> bool {
        object.get(ROW_TABLE).is_none() && object.get("role").is_some()
    }

    fn framing(&self, key: &str) -> Framing {
        match key.ends_with(".json") {
            true => Framing::Rows(LIST),
            false => Framing::Lines,
        }
    }

    fn has_columns(&self, object: &Object<'_>) -> bool {
        let has = |column: &str| object.get(column).is_some();
        match is(object, "sessions") {
            true => has("end_reason") || has("started_at"),
            false => has("tool_calls") && has("finish_reason"),
        }
    }

    fn kind(&self, object: &Object<'_>) -> EntryKind {
        if is(object, "sessions") {
            return EntryKind::Header;
        }
        match object.text("role").as_deref() {
            Some("user") => EntryKind::User,
            Some("assistant") => EntryKind::Assistant,
            Some("tool") => EntryKind::ToolResult,
            Some("system") => EntryKind::System,
            Some("session_meta") => EntryKind::Meta,
            _ => EntryKind::Unknown,
        }
    }

    fn parts(&self, object: &Object<'_>) -> Vec<Part> {
        let raw = object.raw();
        let mut parts = Vec::new();
        let thought = text(raw, "reasoning_content").or_else(|| text(raw, "reasoning"));
        let content = raw.get("content").filter(|it| !it.is_null());
        if self.kind(object) == EntryKind::ToolResult {
            let call = text(raw, "tool_call_id").unwrap_or_default();
            let failed = text(raw, "finish_reason").as_deref() == Some("error");
            return content_blocks::result(call, content, failed);
        }
        parts.extend(thought.map(Part::thinking));
        parts.extend(content_blocks::parts(content));
        let calls = raw.get("tool_calls");
        // A list that is a text inside a text.
        let inner = calls.and_then(|calls| calls.text()).unwrap_or_default();
        match Raw::parse(inner.as_bytes()) {
            Ok(inner) => parts.extend(tool_calls(Some(inner))),
            Err(_) => parts.extend(tool_calls(calls)),
        }
        parts
    }

    fn word(&self, object: &Object<'_>) -> String {
        let word = object.text("role").or_else(|| object.text(ROW_TABLE));
        word.unwrap_or_default().into_owned()
    }

    fn id(&self, object: &Object<'_>) -> Option<String> {
        object.get("id").filter(|it| !it.is_null()).map(plain)
    }

    fn time(&self, object: &Object<'_>) -> Option<Instant> {
        object.get("timestamp").and_then(time)
    }

    fn is_dropped(&self, object: &Object<'_>) -> bool {
        object.get("active").and_then(|it| it.i64()) == Some(0)
    }

    fn stop(&self, object: &Object<'_>) -> Option<String> {
        text(object.raw(), "finish_reason")
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        let mut meta = SessionMeta::default();
        if let Some(row) = row_of(location) {
            state(row, &mut meta);
        }
        meta
    }

    fn collect(&self, object: &Object<'_>, meta: &mut SessionMeta) {
        if is(object, "sessions") {
            state(object.raw(), meta);
        }
    }

    /// Other members of a document describe the session.
    fn side_meta(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        meta: &mut SessionMeta,
    ) -> Result<()> {
        let key = location.key.as_deref().filter(|key| key.ends_with(".json"));
        let Some(key) = key else { return Ok(()) };
        let bytes = files.read(key, 0, DOCUMENT_LIMIT)?;
        let Ok(document) = Raw::parse(bytes.trim_ascii()) else {
            return Ok(());
        };
        meta.id = text(document, "session_id");
        let configured = document.get("model_config").and_then(|it| text(it, "cwd"));
        meta.project = text(document, "cwd").or(configured);
        if let Some(model) = text(document, "model") {
            meta.saw_model(&model);
        }
        for key in ["session_start", "last_updated"] {
            if let Some(at) = document.get(key).and_then(time) {
                meta.saw_time(at);
            }
        }
        Ok(())
    }

    fn resume(&self, meta: &SessionMeta, location: &SessionLocation) -> Option<ResumeCommand> {
        let id = meta.id.as_ref().unwrap_or(&location.id);
        Some(ResumeCommand {
            argv: ["hermes", "--resume", id].map(str::to_owned).to_vec(),
            cwd: meta.project.clone(),
        })
    }

    fn variables(&self, root: &Path) -> Vec<(&'static str, PathBuf)> {
        vec![("HERMES_HOME", root.to_owned())]
    }
}

/// Returns the id in the name of a session's document.
fn document_id(info: &FileInfo) -> Option<&str> {
    let id = info.stem(".json")?.strip_prefix("session_")?;
    info.is_file().then_some(id)
}

/// Adds what the row of a session states.
fn state(session: Raw<'_>, meta: &mut SessionMeta) {
    meta.id = text(session, "id");
    meta.title = text(session, "title");
    meta.project = text(session, "cwd");
    meta.git_branch = text(session, "git_branch");
    meta.parent = text(session, "parent_session_id");
    meta.archived = session.get("archived").and_then(|it| it.i64()) == Some(1);
    meta.stated.messages = session.get("message_count").and_then(|it| it.u64());
    if let Some(model) = text(session, "model") {
        meta.saw_model(&model);
    }
    for key in ["started_at", "ended_at"] {
        if let Some(at) = session.get(key).and_then(time) {
            meta.saw_time(at);
        }
    }
    let count = |key: &str| session.get(key).and_then(|it| it.u64());
    let cost = |key: &str| session.get(key).and_then(|it| it.f64());
    meta.stated.usage = Usage {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cache_read_tokens"),
        cache_write: count("cache_write_tokens"),
        reasoning: count("reasoning_tokens"),
        cost: cost("actual_cost_usd").or_else(|| cost("estimated_cost_usd")),
        ..Usage::default()
    };
}
