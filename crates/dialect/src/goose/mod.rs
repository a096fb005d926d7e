//! Goose: sessions and messages are rows of a database; before version 1.10 lines of a file.
//!
//! The format is described in `docs/dialects/goose.md`.

mod export_document;
mod layout;
mod parts;

use std::path::{Path, PathBuf};

use boswell_model::json::{Json, Object, Raw};
use boswell_model::{EntryKind, Instant, Part, Result, SessionMeta, Usage};

use crate::content_blocks::is_results;
use crate::members::{plain, text, time};
use crate::row_agent::{RowAgent, RowDialect};
use crate::row_listing::{row_of, time_of};
use crate::{
    Capabilities, Capability, ChatMessage, DialectFacts, Discovered, Environment, Files, IdSource,
    ImageIntake, ImportSession, Intake, Match, ROW_TABLE, ResumeCommand, Sample, SessionLocation,
    SessionToImport, Support, ThinkingIntake,
};

use export_document::GooseExport;

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
        (Capability::Resume, Support::Native),
    ]),
    intake: Some(Intake {
        thinking: ThinkingIntake::Text,
        images: ImageIntake::Prompts,
        ..Intake::PLAIN
    }),
    sessions_folder: Some("sessions"),
    rows: Some(layout::LAYOUT),
    ..DialectFacts::new("goose", "Goose")
};

/// The dialect of Goose.
pub(crate) static GOOSE: RowDialect<Goose> = RowDialect(Goose);

/// Goose.
#[derive(Debug)]
pub(crate) struct Goose;

/// The table of a row; `None` for a line of a file.
fn table(object: &Object<'_>) -> Option<String> {
    text(object.raw(), ROW_TABLE)
}

/// Returns the list of parts: a column, or a member of a line.
fn content<'a>(object: &Object<'a>) -> Option<Raw<'a>> {
    object.get("content_json").or_else(|| object.get("content"))
}

/// Returns a statement about a message: a column, or a member of a line.
fn about<'a>(object: &Object<'a>, key: &str) -> Option<Raw<'a>> {
    let metadata = object
        .get("metadata_json")
        .or_else(|| object.get("metadata"));
    metadata?.get(key)
}

fn is_false(value: Option<Raw<'_>>) -> bool {
    value.and_then(|it| it.bool()) == Some(false)
}

impl RowAgent for Goose {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        layout::roots(env)
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        layout::discover(files)
    }

    /// The first line of a file describes the session.
    fn recognises_file(&self, sample: &Sample<'_>) -> Match {
        let is_header = |object: &Object<'_>| {
            object.get("working_dir").is_some() && object.get("message_count").is_some()
        };
        let created =
            |object: &Object<'_>| object.get("created").is_some_and(|it| it.i64().is_some());
        let is_message = |object: &Object<'_>| self.is_file_record(object) && created(object);
        match sample.records {
            [first, ..] if is_header(first) => Match::Certain,
            [first, ..] if is_message(first) => Match::Likely,
            _ => Match::No,
        }
    }

    fn is_file_record(&self, object: &Object<'_>) -> bool {
        let has = |key: &str| object.get(key).is_some();
        object.get(ROW_TABLE).is_none() && has("role") && has("created") && has("content")
    }

    fn has_columns(&self, object: &Object<'_>) -> bool {
        let has = |column: &str| object.get(column).is_some();
        has("working_dir") || has("content_json") || has("total_tokens")
    }

    fn kind(&self, object: &Object<'_>) -> EntryKind {
        match table(object).as_deref() {
            Some("sessions") => return EntryKind::Header,
            Some("usage_ledger") => return EntryKind::Meta,
            None if object.get("working_dir").is_some() => return EntryKind::Header,
            _ => {}
        }
        match object.text("role").as_deref() {
            Some("assistant") => EntryKind::Assistant,
            Some("tool") => EntryKind::ToolResult,
            Some("system") => EntryKind::System,
            Some("user") if is_results(&self.parts(object)) => EntryKind::ToolResult,
            Some("user") => EntryKind::User,
            _ => EntryKind::Unknown,
        }
    }

    fn parts(&self, object: &Object<'_>) -> Vec<Part> {
        parts::parts(content(object))
    }

    fn word(&self, object: &Object<'_>) -> String {
        let role = object.text("role").map(|role| role.into_owned());
        let word = role.or_else(|| table(object));
        word.unwrap_or_else(|| "session".to_owned())
    }

    /// The column `id` is a number of the table; messages have names of their own.
    fn id(&self, object: &Object<'_>) -> Option<String> {
        match table(object).as_deref() {
            Some("messages") => {
                text(object.raw(), "message_id").or_else(|| object.get("id").map(plain))
            }
            Some("usage_ledger") => object.get("id").map(|id| format!("usage-{}", plain(id))),
            _ => text(object.raw(), "id"),
        }
    }

    fn time(&self, object: &Object<'_>) -> Option<Instant> {
        let at = object
            .get("created_timestamp")
            .or_else(|| object.get("created"));
        at.and_then(time)
    }

    fn is_hidden(&self, object: &Object<'_>) -> bool {
        is_false(about(object, "userVisible"))
    }

    fn is_dropped(&self, object: &Object<'_>) -> bool {
        is_false(about(object, "agentVisible"))
    }

    fn sends_thinking(&self) -> bool {
        true
    }

    fn spent(&self, object: &Object<'_>) -> (Option<String>, Option<Usage>) {
        if table(object).as_deref() == Some("usage_ledger") {
            let model = text(object.raw(), "model");
            return (model, Some(usage(object.raw(), &layout::COLUMNS)));
        }
        let model = about(object, "inference").and_then(|it| text(it, "requestedModel"));
        let spent = about(object, "usage").map(|it| usage(it, &layout::MEMBERS));
        (model, spent)
    }

    /// The ledger has every call, also those for compactions; its rows come first.
    fn counts_usage(&self, object: &Object<'_>, meta: &SessionMeta) -> bool {
        let is_usage_row = table(object).as_deref() == Some("usage_ledger");
        is_usage_row || !meta.kinds.contains_key("usage_ledger")
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        let mut meta = SessionMeta::default();
        if let Some(row) = row_of(location) {
            state(row, &mut meta);
        }
        meta
    }

    fn collect(&self, object: &Object<'_>, meta: &mut SessionMeta) {
        if self.kind(object) == EntryKind::Header {
            state(object.raw(), meta);
        }
    }

    fn resume(&self, meta: &SessionMeta, location: &SessionLocation) -> Option<ResumeCommand> {
        let id = meta.id.as_ref().unwrap_or(&location.id);
        let argv = ["goose", "session", "--resume", "--session-id", id];
        Some(ResumeCommand {
            argv: argv.map(str::to_owned).to_vec(),
            cwd: meta.project.clone(),
        })
    }

    fn importer(&self) -> Option<&dyn ImportSession> {
        Some(self)
    }

    /// With the variable, the data folder is `data` below the folder that it names.
    fn variables(&self, root: &Path) -> Vec<(&'static str, PathBuf)> {
        let is_data = root.file_name().is_some_and(|name| name == "data");
        let above = root.parent().filter(|_| is_data);
        let above = above.map(|above| ("GOOSE_PATH_ROOT", above.to_owned()));
        above.into_iter().collect()
    }
}

impl ImportSession for Goose {
    fn new_id(&self, id_source: &dyn IdSource) -> String {
        id_source.hex16()
    }

    fn keeps_id(&self) -> bool {
        false
    }

    fn document(&self, session: &SessionToImport<'_>, messages: &[ChatMessage]) -> Json {
        let export = GooseExport {
            id: session.id,
            name: session.title,
            working_dir: session.project,
            created: session.created,
        };
        export.encode(messages)
    }

    fn import_words(&self, document: &str) -> Vec<String> {
        ["goose", "session", "import", document]
            .map(str::to_owned)
            .to_vec()
    }

    fn removal_words(&self, id: &str) -> Vec<String> {
        ["goose", "session", "remove", "--session-id", id]
            .map(str::to_owned)
            .to_vec()
    }

    fn removal_asks(&self) -> bool {
        true
    }
}

/// Reads tokens by the names of their columns or members. The input contains what the cache had.
fn usage(of: Raw<'_>, names: &layout::UsageNames) -> Usage {
    let count = |key: &str| of.get(key).and_then(|it| it.u64());
    let (read, write) = (count(names.cache_read), count(names.cache_write));
    let cached = read.unwrap_or(0).saturating_add(write.unwrap_or(0));
    Usage {
        input: count(names.input).map(|input| input.saturating_sub(cached)),
        output: count(names.output),
        cache_read: read,
        cache_write: write,
        cost: of.get(names.cost).and_then(|it| it.f64()),
        ..Usage::default()
    }
}

/// Adds what the row of a session states, or the first line of a file.
fn state(session: Raw<'_>, meta: &mut SessionMeta) {
    meta.id = text(session, "id").or_else(|| meta.id.take());
    meta.title = text(session, "name").or_else(|| text(session, "description"));
    let by_user = session
        .get("user_set_name")
        .is_some_and(|it| it.bool() == Some(true) || it.i64() == Some(1));
    meta.title_source = (by_user && meta.title.is_some()).then(|| "user".to_owned());
    meta.project = text(session, "working_dir");
    meta.permission_mode = text(session, "goose_mode");
    meta.parent = text(session, "parent_session_id").or_else(|| meta.parent.take());
    meta.archived = session.get("archived_at").is_some_and(|it| !it.is_null());
    let model = session.get("model_config_json");
    if let Some(model) = model.and_then(|model| text(model, "model_name")) {
        meta.saw_model(&model);
    }
    for key in ["created_at", "updated_at"] {
        if let Some(at) = session.get(key).and_then(time_of) {
            meta.saw_time(at);
        }
    }
    meta.stated.usage = usage(session, &layout::ACCUMULATED);
}
