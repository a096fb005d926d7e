//! Crush: a database in the folder `.crush` of each project.
//!
//! The format is described in `docs/dialects/crush.md`.

use std::path::PathBuf;

use boswell_model::json::{Object, Raw, insert_member};
use boswell_model::{EntryKind, Instant, Part, Result, SessionMeta, Usage};

use crate::members::{lossy, plain, text, time};
use crate::row_agent::{RowAgent, RowDialect};
use crate::row_listing::{RowListing, row_of};
use crate::{
    Capabilities, Capability, DialectFacts, Discovered, Environment, Files, ROW_TABLE,
    ResumeCommand, RowLayout, RowTable, SessionLocation, StampRule, Support, media_part,
};

const DATABASE: &str = "crush.db";
/// The member of a session's row in the index that names the project, which the database does not.
const PROJECT: &str = "$project";

const SESSIONS: RowTable = RowTable {
    json: &["todos"],
    stamp: StampRule::NewestRow(&["updated_at"]),
    ..RowTable::new("sessions", "id")
};

const MESSAGES: RowTable = RowTable {
    order: &["created_at"],
    json: &["parts"],
    stamp: StampRule::OtherTables,
    ..RowTable::new("messages", "session_id")
};

/// The message that was added last: an answer is changed in place while it comes. The index of the
/// session's messages has no time, so the order is that of the keys.
const NEWEST_MESSAGE: RowTable = RowTable {
    stamp: StampRule::NewestRow(&["updated_at", "finished_at"]),
    ..RowTable::new("messages", "session_id")
};

const FILES: RowTable = RowTable {
    order: &["created_at"],
    stamp: StampRule::EveryRow(Some("updated_at")),
    ..RowTable::new("files", "session_id")
};

const READ_FILES: RowTable = RowTable {
    order: &["read_at"],
    stamp: StampRule::EveryRow(Some("read_at")),
    ..RowTable::new("read_files", "session_id")
};

const LAYOUT: RowLayout = RowLayout {
    watched: &[NEWEST_MESSAGE],
    ..RowLayout::of(&[SESSIONS, MESSAGES, FILES, READ_FILES])
};

const LISTING: RowListing = RowListing {
    layout: &LAYOUT,
    table: &SESSIONS,
    updated: "updated_at",
    parent: Some("parent_session_id"),
    archived: None,
    omitted: &["todos"],
};

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
        (Capability::Resume, Support::Native),
    ]),
    rows: Some(LAYOUT),
    ..DialectFacts::new("crush", "Crush")
};

/// The dialect of Crush.
pub(crate) static CRUSH: RowDialect<Crush> = RowDialect(Crush);

/// Crush.
#[derive(Debug)]
pub(crate) struct Crush;

fn is(object: &Object<'_>, table: &str) -> bool {
    object.get(ROW_TABLE).is_some_and(|it| it.is(table))
}

/// Returns the parts of a message, each with its type.
fn parts_of<'a>(object: &Object<'a>) -> impl Iterator<Item = (String, Raw<'a>)> {
    let parts = object.get("parts").into_iter().flat_map(|it| it.items());
    parts.map(|part| {
        let word = text(part, "type").unwrap_or_default();
        (word, part.get("data").unwrap_or(part))
    })
}

impl RowAgent for Crush {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    /// The folder of this project, or of one above it. Those of other projects are not known to any
    /// fixed place.
    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        let mut roots = Vec::new();
        for folder in env.cwd.ancestors() {
            roots.push(folder.join(".crush"));
            if env.home.as_deref() == Some(folder) {
                break;
            }
        }
        // Without a working folder there is still the home.
        roots.extend(env.in_home(".crush").filter(|it| !roots.contains(it)));
        roots
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = Discovered::default();
        LISTING.add(files, DATABASE, &mut found);
        let path = files.describe(DATABASE);
        let folder = path.strip_suffix(DATABASE).and_then(|it| {
            let above = it.trim_end_matches(['/', '\\']).strip_suffix(".crush")?;
            Some(above.trim_end_matches(['/', '\\']))
        });
        if let Some(project) = folder.filter(|it| !it.is_empty()) {
            let value = boswell_model::json::Json::from(project).to_bytes();
            for location in &mut found.sessions {
                let row = location.row.as_deref();
                let with = row.and_then(|row| insert_member(row, PROJECT, &value).ok());
                location.row = with.or_else(|| location.row.take());
            }
        }
        Ok(found)
    }

    fn has_columns(&self, object: &Object<'_>) -> bool {
        let has = |column: &str| object.get(column).is_some();
        match object.text(ROW_TABLE).as_deref() {
            Some("sessions") => has("completion_tokens") && has("summary_message_id"),
            Some("messages") => has("parts"),
            _ => has("session_id") && has("path"),
        }
    }

    fn kind(&self, object: &Object<'_>) -> EntryKind {
        match object.text(ROW_TABLE).as_deref() {
            Some("sessions") => EntryKind::Header,
            Some("messages") => match object.text("role").as_deref() {
                Some("user") => EntryKind::User,
                Some("assistant") => EntryKind::Assistant,
                Some("tool") => EntryKind::ToolResult,
                Some("system") => EntryKind::System,
                _ => EntryKind::Unknown,
            },
            Some("files") => EntryKind::FileSnapshot,
            Some("read_files") => EntryKind::Meta,
            _ => EntryKind::Unknown,
        }
    }

    fn parts(&self, object: &Object<'_>) -> Vec<Part> {
        parts_of(object)
            .filter_map(|(word, data)| part(&word, data))
            .collect()
    }

    fn word(&self, object: &Object<'_>) -> String {
        let role = object.text("role").filter(|_| is(object, "messages"));
        let word = role.or_else(|| object.text(ROW_TABLE));
        word.unwrap_or_default().into_owned()
    }

    fn time(&self, object: &Object<'_>) -> Option<Instant> {
        let at = object.get("created_at").or_else(|| object.get("read_at"));
        at.and_then(time).filter(|_| !is(object, "sessions"))
    }

    fn is_summary(&self, object: &Object<'_>) -> bool {
        object.get("is_summary_message").and_then(|it| it.i64()) == Some(1)
    }

    /// The summary is sent as if the user had written it.
    fn role(&self, object: &Object<'_>) -> &'static str {
        match self.kind(object) {
            EntryKind::Assistant if !self.is_summary(object) => "assistant",
            EntryKind::System => "system",
            _ => "user",
        }
    }

    fn spent(&self, object: &Object<'_>) -> (Option<String>, Option<Usage>) {
        let model = text(object.raw(), "model").filter(|_| is(object, "messages"));
        let provider = text(object.raw(), "provider").filter(|it| !it.is_empty());
        let named = model.map(|model| match provider {
            Some(provider) => format!("{provider}/{model}"),
            None => model,
        });
        (named, None)
    }

    fn stop(&self, object: &Object<'_>) -> Option<String> {
        let mut parts = parts_of(object);
        let finish = parts.find(|(word, _)| word == "finish");
        finish.and_then(|(_, data)| text(data, "reason"))
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

    fn resume(&self, meta: &SessionMeta, location: &SessionLocation) -> Option<ResumeCommand> {
        let id = meta.id.as_ref().unwrap_or(&location.id);
        Some(ResumeCommand {
            argv: ["crush", "--session", id].map(str::to_owned).to_vec(),
            cwd: meta.project.clone(),
        })
    }
}

fn part(word: &str, data: Raw<'_>) -> Option<Part> {
    let known = match word {
        "text" => return text(data, "text").map(Part::Text),
        "reasoning" => text(data, "thinking").map(|thought| Part::Thinking {
            text: thought,
            signature: text(data, "signature"),
        }),
        "tool_call" => Some(Part::Call {
            id: text(data, "id").unwrap_or_default(),
            name: text(data, "name").unwrap_or_default(),
            input: data.get("input").map(plain).unwrap_or_default().into(),
        }),
        "tool_result" => Some(Part::Result {
            call: text(data, "tool_call_id").unwrap_or_default(),
            text: data.get("content").map(plain).unwrap_or_default(),
            is_error: data.get("is_error").and_then(|it| it.bool()) == Some(true),
        }),
        "image_url" => text(data, "url").map(|url| media_part::of_url(&url)),
        "binary" => {
            let bytes = text(data, "Data");
            bytes.map(|bytes| Part::image(bytes, text(data, "MIMEType").unwrap_or_default()))
        }
        // Why the model stopped; a message of it is kept.
        "finish" if text(data, "message").is_none() => return None,
        _ => None,
    };
    let other = || Part::Other {
        word: word.to_owned(),
        json: lossy(data),
    };
    Some(known.unwrap_or_else(other))
}

/// Adds what the row of a session states. Its tokens are those of the last call alone, so only the
/// cost is a sum.
fn state(session: Raw<'_>, meta: &mut SessionMeta) {
    meta.id = text(session, "id");
    meta.title = text(session, "title");
    meta.project = text(session, PROJECT).or_else(|| meta.project.take());
    meta.parent = text(session, "parent_session_id").or_else(|| meta.parent.take());
    meta.stated.usage.cost = session.get("cost").and_then(|it| it.f64());
    meta.stated.messages = session.get("message_count").and_then(|it| it.u64());
    for key in ["created_at", "updated_at"] {
        if let Some(at) = session.get(key).and_then(time) {
            meta.saw_time(at);
        }
    }
}
