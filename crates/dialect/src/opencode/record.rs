//! The members of a record: a row of a table, or a file of the time before tables.

use boswell_model::json::Raw;
use boswell_model::{EntryKind, Instant, SessionMeta, Usage};

use crate::ROW_TABLE;
use crate::members::{plain, text, time};

use super::layout::PARTS;

/// A record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a>(pub(super) Raw<'a>);

impl<'a> Record<'a> {
    fn table(self) -> Option<String> {
        text(self.0, ROW_TABLE)
    }

    fn is(self, table: &str) -> bool {
        self.0.get(ROW_TABLE).is_some_and(|it| it.is(table))
    }

    /// Returns the JSON of a row.
    pub(super) fn data(self) -> Option<Raw<'a>> {
        self.0.get("data")
    }

    /// Returns a member of a message's JSON.
    pub(super) fn info(self, key: &str) -> Option<Raw<'a>> {
        self.data()?.get(key)
    }

    /// Returns a text of a message's JSON.
    pub(super) fn info_text(self, key: &str) -> Option<String> {
        text(self.data()?, key)
    }

    /// Returns a column, or the member of the same meaning in a file.
    fn field(self, column: &str, member: &[&str]) -> Option<Raw<'a>> {
        let column = self.0.get(column).filter(|it| !it.is_null());
        let from_file = || self.data()?.at(member).filter(|it| !it.is_null());
        column.or_else(from_file)
    }

    pub(super) fn has_columns(self) -> bool {
        let has = |column: &str| self.0.get(column).is_some();
        match self.table().as_deref() {
            Some("session") => has("slug") || has("project_id") || has("directory"),
            Some("message" | "part" | "session_message") => {
                has("data") && (has("session_id") || has("message_id"))
            }
            Some("todo") => has("position"),
            Some("session_input") => has("admitted_seq"),
            _ => false,
        }
    }

    pub(super) fn kind(self) -> EntryKind {
        match self.table().as_deref() {
            Some("session") => EntryKind::Header,
            Some("message") => kind_of(self.info_text("role").as_deref()),
            Some("session_message") => kind_of(text(self.0, "type").as_deref()),
            Some("todo" | "session_input") => EntryKind::Meta,
            _ => EntryKind::Unknown,
        }
    }

    /// Returns the type of a record: the role of a message, and the table of another row.
    pub(super) fn word(self) -> String {
        let word = match self.is("message") {
            true => self.info_text("role"),
            false => None,
        };
        word.or_else(|| self.table()).unwrap_or_default()
    }

    pub(super) fn created(self) -> Option<Instant> {
        if self.is("session") {
            return None;
        }
        self.field("time_created", &["time", "created"])
            .and_then(time)
    }

    /// Returns the JSON of each part.
    pub(super) fn parts(self) -> impl Iterator<Item = Raw<'a>> {
        let rows = self.0.get(PARTS).into_iter().flat_map(|it| it.items());
        rows.filter_map(|row| row.get("data"))
    }

    /// Whether it is the summary that replaces the messages before it.
    pub(super) fn is_summary(self) -> bool {
        let states = self.info("summary").and_then(|it| it.bool()) == Some(true);
        states && self.info_text("role").as_deref() == Some("assistant")
    }

    pub(super) fn model(self) -> Option<String> {
        let stated = self.info("model");
        let named = |key: &str| {
            let inside = stated.and_then(|model| text(model, key));
            self.info_text(key).or(inside)
        };
        let model = named("modelID").or_else(|| stated.and_then(|it| text(it, "id")))?;
        Some(match named("providerID") {
            Some(provider) => format!("{provider}/{model}"),
            None => model,
        })
    }

    /// Returns what an answer cost. The input does not contain what the cache had, nor the output
    /// the reasoning.
    pub(super) fn usage(self) -> Option<Usage> {
        let tokens = self.info("tokens")?;
        let count = |path: &[&str]| tokens.at(path).and_then(|it| it.u64());
        Some(Usage {
            input: count(&["input"]),
            output: count(&["output"]),
            reasoning: count(&["reasoning"]),
            cache_read: count(&["cache", "read"]),
            cache_write: count(&["cache", "write"]),
            cost: self.info("cost").and_then(|it| it.f64()),
            ..Usage::default()
        })
    }
}

fn kind_of(role: Option<&str>) -> EntryKind {
    match role {
        Some("user") => EntryKind::User,
        Some("assistant") => EntryKind::Assistant,
        Some("system" | "synthetic") => EntryKind::System,
        Some("compaction") => EntryKind::Compaction,
        Some("shell") => EntryKind::Shell,
        _ => EntryKind::Unknown,
    }
}

/// Adds what the row of a session states.
pub(super) fn state(session: Record<'_>, meta: &mut SessionMeta) {
    let field = |column: &str, member: &[&str]| session.field(column, member).map(plain);
    let is_new = |title: &String| !title.starts_with("New session - ");
    meta.id = text(session.0, "id");
    meta.title = field("title", &["title"]).filter(|it| !it.is_empty() && is_new(it));
    meta.project = field("directory", &["directory"]).filter(|it| !it.is_empty());
    meta.agent_version = field("version", &["version"]);
    meta.permission_mode = field("agent", &["agent"]);
    meta.parent = field("parent_id", &["parentID"]).or_else(|| meta.parent.take());
    meta.archived = session
        .field("time_archived", &["time", "archived"])
        .is_some();
    if let Some(model) = session.0.get("model") {
        let (id, provider) = (text(model, "id"), text(model, "providerID"));
        if let (Some(id), Some(provider)) = (id, provider) {
            meta.saw_model(&format!("{provider}/{id}"));
        }
    }
    let times = [
        session.field("time_created", &["time", "created"]),
        session.field("time_updated", &["time", "updated"]),
    ];
    for at in times.into_iter().flatten().filter_map(time) {
        meta.saw_time(at);
    }
    let count = |column: &str| session.0.get(column).and_then(|it| it.u64());
    meta.stated.usage = Usage {
        input: count("tokens_input"),
        output: count("tokens_output"),
        reasoning: count("tokens_reasoning"),
        cache_read: count("tokens_cache_read"),
        cache_write: count("tokens_cache_write"),
        cost: session.0.get("cost").and_then(|it| it.f64()),
        ..Usage::default()
    };
}

/// What the file of a session states for a list.
pub(super) struct StatedByFile {
    pub(super) updated: Option<Instant>,
    pub(super) parent: Option<String>,
}

/// Reads the record of a session that is a file.
pub(super) fn stated(row: &[u8]) -> Option<StatedByFile> {
    let record = Record(Raw::parse(row).ok()?);
    let updated = record.field("time_updated", &["time", "updated"]);
    Some(StatedByFile {
        updated: updated.and_then(time),
        parent: record.info_text("parentID"),
    })
}
