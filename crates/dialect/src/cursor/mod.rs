//! Cursor: the transcripts of its agent, which it writes as lines.
//!
//! They have no ids, no times and no model. The format is described in `docs/dialects/cursor.md`.

use std::path::PathBuf;

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Framing, Instant, Part, Result};

use crate::content_blocks;
use crate::members::{lossy, plain, text, time};
use crate::row_agent::{RowAgent, RowDialect};
use crate::{
    Capabilities, Capability, DialectFacts, Discovered, Environment, Files, Match, ResumeCommand,
    Sample, SessionLocation, Support,
};

const TRANSCRIPTS: &str = "agent-transcripts";

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
        (Capability::Resume, Support::Native),
    ]),
    sessions_folder: Some("projects"),
    ..DialectFacts::new("cursor", "Cursor")
};

/// The dialect of Cursor.
pub(crate) static CURSOR: RowDialect<Cursor> = RowDialect(Cursor);

/// Cursor.
#[derive(Debug)]
pub(crate) struct Cursor;

fn content<'a>(object: &Object<'a>) -> Option<Raw<'a>> {
    object.get("message")?.get("content")
}

/// Adds the transcripts in a folder, and those of its subagents.
fn add(files: &dyn Files, folder: &str, found: &mut Discovered) -> Result<()> {
    for info in files.list(folder)? {
        if info.is_file() && info.stem(".jsonl").is_some() {
            let id = info.stem(".jsonl").unwrap_or_default().to_owned();
            let location = SessionLocation::of_file(id, info, Framing::Lines);
            found.sessions.push(location);
            continue;
        }
        if !info.is_folder() {
            continue;
        }
        let owner = info.name().to_owned();
        for inner in files.list(&info.key)? {
            let Some(id) = inner.stem(".jsonl").filter(|_| inner.is_file()) else {
                continue;
            };
            let id = id.to_owned();
            let location = SessionLocation::of_file(id, inner, Framing::Lines);
            found.sessions.push(location);
        }
        for inner in files.list(&format!("{}/subagents", info.key))? {
            let Some(id) = inner.stem(".jsonl").filter(|_| inner.is_file()) else {
                continue;
            };
            let id = id.to_owned();
            found.sessions.push(SessionLocation {
                owner: Some(owner.clone()),
                hidden: Some("subagent"),
                ..SessionLocation::of_file(id, inner, Framing::Lines)
            });
        }
    }
    Ok(())
}

impl RowAgent for Cursor {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        env.in_home(".cursor").into_iter().collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = Discovered::default();
        for project in files.list("projects")? {
            if project.is_folder() {
                add(files, &format!("{}/{TRANSCRIPTS}", project.key), &mut found)?;
            }
        }
        Ok(found)
    }

    fn recognises_file(&self, sample: &Sample<'_>) -> Match {
        let at_home = sample.folders.iter().any(|folder| folder == TRANSCRIPTS);
        match sample.records.first() {
            Some(first) if self.is_file_record(first) && at_home => Match::Certain,
            Some(first) if self.is_file_record(first) => Match::Likely,
            _ => Match::No,
        }
    }

    /// Other agents have a type or an id beside the role.
    fn is_file_record(&self, object: &Object<'_>) -> bool {
        let has = |key: &str| object.get(key).is_some();
        let is_other = has("type") || has("uuid") || has("id") || has("parentId");
        has("role") && content(object).is_some() && !is_other
    }

    fn has_columns(&self, _object: &Object<'_>) -> bool {
        false
    }

    fn kind(&self, object: &Object<'_>) -> EntryKind {
        match object.text("role").as_deref() {
            Some("user") if content_blocks::is_results(&self.parts(object)) => {
                EntryKind::ToolResult
            }
            Some("user") => EntryKind::User,
            Some("assistant") => EntryKind::Assistant,
            Some("tool") => EntryKind::ToolResult,
            Some("system") => EntryKind::System,
            Some(_) => EntryKind::Unknown,
            None if object.get("event").is_some() => EntryKind::Meta,
            None => EntryKind::Unknown,
        }
    }

    fn parts(&self, object: &Object<'_>) -> Vec<Part> {
        let is_user = object.get("role").is_some_and(|it| it.is("user"));
        let mut parts = Vec::new();
        let Some(content) = content(object) else {
            return parts;
        };
        if content.text().is_some() {
            parts = content_blocks::parts(Some(content));
        }
        for block in content.items() {
            parts.extend(part(block));
        }
        for part in parts.iter_mut().filter(|_| is_user) {
            if let Part::Text(said) = part {
                *said = typed(said);
            }
        }
        parts
    }

    fn word(&self, object: &Object<'_>) -> String {
        let word = object.text("role").or_else(|| object.text("event"));
        word.unwrap_or_default().into_owned()
    }

    fn id(&self, _object: &Object<'_>) -> Option<String> {
        None
    }

    fn time(&self, object: &Object<'_>) -> Option<Instant> {
        object.get("timestamp").and_then(time)
    }

    fn spent(&self, object: &Object<'_>) -> (Option<String>, Option<boswell_model::Usage>) {
        (text(object.raw(), "model"), None)
    }

    fn resume(
        &self,
        _meta: &boswell_model::SessionMeta,
        location: &SessionLocation,
    ) -> Option<ResumeCommand> {
        Some(ResumeCommand {
            argv: vec![
                "cursor-agent".to_owned(),
                format!("--resume={}", location.id),
            ],
            cwd: None,
        })
    }
}

/// Reads a block. Calls have no id in most versions, and some blocks have names of their own.
fn part(block: Raw<'_>) -> Vec<Part> {
    match text(block, "type").as_deref() {
        Some("tool_call") => vec![Part::Call {
            id: text(block, "id").unwrap_or_default(),
            name: text(block, "name").unwrap_or_default(),
            input: block.get("input").map(plain).unwrap_or_default().into(),
        }],
        Some("tool-result") => {
            let id = text(block, "tool_use_id").or_else(|| text(block, "id"));
            content_blocks::result(id.unwrap_or_default(), block.get("content"), false)
        }
        Some("text" | "thinking" | "tool_use" | "tool_result" | "image") => {
            content_blocks::parts(Some(block))
        }
        word => vec![Part::Other {
            word: word.unwrap_or_default().to_owned(),
            json: lossy(block),
        }],
    }
}

/// Returns what the user typed, without the tag around it.
fn typed(said: &str) -> String {
    let inner = said.trim().strip_prefix("<user_query>");
    let inner = inner.and_then(|it| it.strip_suffix("</user_query>"));
    inner.map_or_else(|| said.to_owned(), |it| it.trim().to_owned())
}
