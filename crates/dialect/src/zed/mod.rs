//! Zed's own agent: a thread is one document, compressed, in a row of a database.
//!
//! The format is described in `docs/dialects/zed.md`.

mod parts;

use std::path::PathBuf;

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Framing, Instant, Part, Result, SessionMeta, Usage};

use crate::members::text;
use crate::row_agent::{RowAgent, RowDialect};
use crate::row_listing::{RowListing, row_of, time_of};
use crate::{
    Capabilities, Capability, DialectFacts, Discovered, Environment, Files, Match, ROW_DOCUMENT,
    RowDocument, RowLayout, RowTable, Sample, SessionLocation, StampRule, Support,
};

const DATABASE: &str = "threads/threads.db";
const LIST: &str = "messages";

const THREADS: RowTable = RowTable {
    stamp: StampRule::NewestRow(&["updated_at", "summary"]),
    ..RowTable::new("threads", "id")
};

const LAYOUT: RowLayout = RowLayout {
    document: Some(RowDocument {
        table: "threads",
        session: "id",
        column: "data",
        list: LIST,
        split: &[],
    }),
    ..RowLayout::of(&[THREADS])
};

const LISTING: RowListing = RowListing {
    layout: &LAYOUT,
    table: &THREADS,
    updated: "updated_at",
    parent: Some("parent_id"),
    archived: None,
    omitted: &["data"],
};

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
    ]),
    sessions_folder: Some("threads"),
    rows: Some(LAYOUT),
    document_framing: Some(Framing::Rows(LIST)),
    ..DialectFacts::new("zed", "Zed")
};

/// The dialect of Zed.
pub(crate) static ZED: RowDialect<Zed> = RowDialect(Zed);

/// Zed.
#[derive(Debug)]
pub(crate) struct Zed;

impl RowAgent for Zed {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        let mut roots = Vec::new();
        match env.path_var("XDG_DATA_HOME") {
            Some(data) => roots.push(data.join("zed")),
            None => roots.extend(env.in_home(".local/share/zed")),
        }
        roots.extend(env.in_home("Library/Application Support/Zed"));
        roots.extend(env.path_var("LOCALAPPDATA").map(|data| data.join("Zed")));
        roots
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = Discovered::default();
        LISTING.add(files, DATABASE, &mut found);
        for location in &mut found.sessions {
            location.framing = Framing::Rows(LIST);
        }
        Ok(found)
    }

    fn recognises_file(&self, sample: &Sample<'_>) -> Match {
        let is_thread = |object: &Object<'_>| {
            let has = |key: &str| object.get(key).is_some();
            has("updated_at") && has(LIST) && (has("title") || has("summary")) && has("version")
        };
        let is_records = |object: &Object<'_>| {
            let mut items = object.get(LIST).into_iter().flat_map(|it| it.items());
            items
                .next()
                .is_some_and(|first| first.get(ROW_DOCUMENT).is_some())
        };
        match sample.records.first() {
            Some(first) if is_thread(first) || is_records(first) => Match::Certain,
            Some(first) if parts::message(first.raw()).is_some() => Match::Likely,
            _ => Match::No,
        }
    }

    fn is_file_record(&self, object: &Object<'_>) -> bool {
        parts::message(object.raw()).is_some()
    }

    fn has_columns(&self, object: &Object<'_>) -> bool {
        let document = object.get(ROW_DOCUMENT);
        document.is_some_and(|it| it.get("updated_at").is_some())
    }

    fn framing(&self, _key: &str) -> Framing {
        Framing::Rows(LIST)
    }

    fn kind(&self, object: &Object<'_>) -> EntryKind {
        if object.get(ROW_DOCUMENT).is_some() {
            return EntryKind::Header;
        }
        parts::kind(object.raw())
    }

    fn parts(&self, object: &Object<'_>) -> Vec<Part> {
        parts::parts(object.raw())
    }

    fn word(&self, object: &Object<'_>) -> String {
        match object.get(ROW_DOCUMENT) {
            Some(_) => "thread".to_owned(),
            None => parts::word(object.raw()),
        }
    }

    fn id(&self, object: &Object<'_>) -> Option<String> {
        parts::id(object.raw())
    }

    /// Messages have no times.
    fn time(&self, _object: &Object<'_>) -> Option<Instant> {
        None
    }

    fn is_summary(&self, object: &Object<'_>) -> bool {
        parts::kind(object.raw()) == EntryKind::Compaction
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        let mut meta = SessionMeta::default();
        let Some(row) = row_of(location) else {
            return meta;
        };
        meta.id = text(row, "id");
        meta.title = text(row, "summary");
        let folders = text(row, "folder_paths").unwrap_or_default();
        meta.project = folders.lines().next().map(str::to_owned);
        for key in ["created_at", "updated_at"] {
            if let Some(at) = row.get(key).and_then(time_of) {
                meta.saw_time(at);
            }
        }
        meta
    }

    fn collect(&self, object: &Object<'_>, meta: &mut SessionMeta) {
        let Some(thread) = object.get(ROW_DOCUMENT) else {
            return;
        };
        let title = text(thread, "title").or_else(|| text(thread, "summary"));
        meta.title = meta.title.take().or(title);
        meta.permission_mode = text(thread, "profile");
        if let Some(model) = thread.get("model") {
            let named = text(model, "model").map(|name| match text(model, "provider") {
                Some(provider) => format!("{provider}/{name}"),
                None => name,
            });
            meta.saw_model(&named.unwrap_or_default());
        }
        if let Some(at) = thread.get("updated_at").and_then(time_of) {
            meta.saw_time(at);
        }
        if let Some(spent) = thread.get("cumulative_token_usage") {
            meta.stated.usage = usage(spent);
        }
    }
}

fn usage(of: Raw<'_>) -> Usage {
    let count = |key: &str| of.get(key).and_then(|it| it.u64());
    Usage {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_write: count("cache_creation_input_tokens"),
        ..Usage::default()
    }
}
