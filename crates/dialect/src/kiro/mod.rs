//! Kiro CLI, which was Amazon Q: a conversation is one document in a row of a database.
//!
//! The database also contains credentials, so nothing but conversations is read from it, and it is
//! never copied as a whole unless SQLite must roll back a crash. The format is described in
//! `docs/dialects/kiro.md`.

use std::path::PathBuf;

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Framing, Instant, Part, Result, SessionMeta};

use crate::content_blocks;
use crate::members::{lossy, plain, text, time};
use crate::row_agent::{RowAgent, RowDialect};
use crate::row_listing::{RowListing, row_of};
use crate::{
    Capabilities, Capability, DialectFacts, Discovered, Environment, Files, Match, ROW_DOCUMENT,
    RowDocument, RowLayout, RowTable, Sample, SessionLocation, StampRule, Support,
};

const DATABASE: &str = "data.sqlite3";
const LIST: &str = "history";

const CONVERSATIONS: RowTable = RowTable {
    stamp: StampRule::NewestRow(&["updated_at"]),
    ..RowTable::new("conversations_v2", "conversation_id")
};

const LAYOUT: RowLayout = RowLayout {
    document: Some(RowDocument {
        table: "conversations_v2",
        session: "conversation_id",
        column: "value",
        list: LIST,
        split: &["user", "assistant"],
    }),
    ..RowLayout::of(&[CONVERSATIONS])
};

const LISTING: RowListing = RowListing {
    layout: &LAYOUT,
    table: &CONVERSATIONS,
    updated: "updated_at",
    parent: None,
    archived: None,
    omitted: &["value"],
};

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
    ]),
    rows: Some(LAYOUT),
    document_framing: Some(Framing::Rows(LIST)),
    ..DialectFacts::new("kiro", "Kiro CLI")
};

/// The dialect of Kiro CLI.
pub(crate) static KIRO: RowDialect<Kiro> = RowDialect(Kiro);

/// Kiro CLI.
#[derive(Debug)]
pub(crate) struct Kiro;

/// Returns what the user sent: a prompt, or results of tools.
fn asked<'a>(object: &Object<'a>) -> Option<Raw<'a>> {
    object.get("user")?.get("content")
}

fn results<'a>(object: &Object<'a>) -> Option<Raw<'a>> {
    let content = asked(object)?;
    let results = content
        .get("ToolUseResults")
        .or_else(|| content.get("CancelledToolUses"))?;
    results.get("tool_use_results")
}

impl RowAgent for Kiro {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        let mut roots = Vec::new();
        match env.path_var("XDG_DATA_HOME") {
            Some(data) => roots.push(data.join("kiro-cli")),
            None => roots.extend(env.in_home(".local/share/kiro-cli")),
        }
        roots.extend(env.in_home("Library/Application Support/kiro-cli"));
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
        let is_conversation = |object: &Object<'_>| {
            object.get("conversation_id").is_some() && object.get(LIST).is_some()
        };
        let is_records = |object: &Object<'_>| {
            let mut items = object.get(LIST).into_iter().flat_map(|it| it.items());
            items
                .next()
                .is_some_and(|first| first.get(ROW_DOCUMENT).is_some())
        };
        match sample.records.first() {
            Some(first) if is_conversation(first) || is_records(first) => Match::Certain,
            _ => Match::No,
        }
    }

    fn is_file_record(&self, object: &Object<'_>) -> bool {
        asked(object).is_some() || object.get("assistant").is_some()
    }

    fn has_columns(&self, object: &Object<'_>) -> bool {
        let document = object.get(ROW_DOCUMENT);
        document.is_some_and(|it| it.get("conversation_id").is_some())
    }

    fn framing(&self, _key: &str) -> Framing {
        Framing::Rows(LIST)
    }

    fn kind(&self, object: &Object<'_>) -> EntryKind {
        match object {
            it if it.get(ROW_DOCUMENT).is_some() => EntryKind::Header,
            it if it.get("assistant").is_some() => EntryKind::Assistant,
            it if results(it).is_some() => EntryKind::ToolResult,
            it if it.get("user").is_some() => EntryKind::User,
            _ => EntryKind::Unknown,
        }
    }

    fn parts(&self, object: &Object<'_>) -> Vec<Part> {
        if let Some(answer) = object.get("assistant") {
            return answered(answer);
        }
        let mut parts = Vec::new();
        let prompt = asked(object).and_then(|content| {
            let prompt = content
                .get("Prompt")
                .or_else(|| content.get("CancelledToolUses"))?;
            text(prompt, "prompt")
        });
        parts.extend(prompt.map(Part::Text));
        for result in results(object).into_iter().flat_map(|it| it.items()) {
            let id = text(result, "tool_use_id").unwrap_or_default();
            let failed = text(result, "status").as_deref() == Some("Error");
            parts.extend(said(id, result.get("content"), failed));
        }
        let is_known = !parts.is_empty() || asked(object).is_none();
        if let Some(content) = asked(object).filter(|_| !is_known) {
            parts.push(Part::Other {
                word: "user".to_owned(),
                json: lossy(content),
            });
        }
        parts
    }

    fn word(&self, object: &Object<'_>) -> String {
        match self.kind(object) {
            EntryKind::Header => "conversation".to_owned(),
            kind => kind.word().to_owned(),
        }
    }

    fn id(&self, object: &Object<'_>) -> Option<String> {
        let answer = object.get("assistant")?;
        let inner = answer.get("Response").or_else(|| answer.get("ToolUse"))?;
        text(inner, "message_id")
    }

    fn time(&self, object: &Object<'_>) -> Option<Instant> {
        let own = object.get("user").or_else(|| object.get("assistant"));
        let stated = own.and_then(|it| time(it.get("timestamp")?));
        let ended = || {
            let about = object.get("request_metadata")?;
            time(about.get("stream_end_timestamp_ms")?)
        };
        stated.or_else(ended)
    }

    fn spent(&self, object: &Object<'_>) -> (Option<String>, Option<boswell_model::Usage>) {
        let about = object.get("request_metadata");
        (about.and_then(|it| text(it, "model_id")), None)
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        let mut meta = SessionMeta::default();
        let Some(row) = row_of(location) else {
            return meta;
        };
        meta.id = text(row, "conversation_id");
        meta.project = text(row, "key");
        for key in ["created_at", "updated_at"] {
            if let Some(at) = row.get(key).and_then(time) {
                meta.saw_time(at);
            }
        }
        meta
    }

    fn collect(&self, object: &Object<'_>, meta: &mut SessionMeta) {
        if let Some(document) = object.get(ROW_DOCUMENT) {
            meta.id = meta.id.take().or_else(|| text(document, "conversation_id"));
        }
        let cwd = object.get("user").and_then(|user| {
            let state = user.at(&["env_context", "env_state"])?;
            text(state, "current_working_directory")
        });
        meta.project = meta.project.take().or(cwd);
    }
}

fn answered(answer: Raw<'_>) -> Vec<Part> {
    let Some(inner) = answer.get("Response").or_else(|| answer.get("ToolUse")) else {
        return vec![Part::Other {
            word: "assistant".to_owned(),
            json: lossy(answer),
        }];
    };
    let mut parts: Vec<Part> = text(inner, "content").map(Part::Text).into_iter().collect();
    let calls = inner.get("tool_uses").into_iter();
    parts.extend(
        calls
            .flat_map(|calls| calls.items())
            .map(|call| Part::Call {
                id: text(call, "id").unwrap_or_default(),
                name: text(call, "name").unwrap_or_default(),
                input: call.get("args").map(plain).unwrap_or_default().into(),
            }),
    );
    parts
}

/// The content of a result is a list of `{"Text":…}` and `{"Json":…}`.
fn said(call: String, content: Option<Raw<'_>>, is_error: bool) -> Vec<Part> {
    let Some(list) = content.filter(|it| it.items().next().is_some()) else {
        return content_blocks::result(call, content, is_error);
    };
    let texts = list.items().map(|item| {
        let inner = item.get("Text").or_else(|| item.get("Json"));
        plain(inner.unwrap_or(item))
    });
    vec![Part::Result {
        call,
        text: texts.collect::<Vec<_>>().join("\n"),
        is_error,
    }]
}
