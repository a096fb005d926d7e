//! Antigravity: the transcript of each conversation in lines, one per step.
//!
//! The format is described in `docs/dialects/antigravity.md`. The conversations themselves are
//! encrypted; the transcripts are what the agent reads of earlier ones.

use std::path::PathBuf;

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Framing, Instant, Part, Result};

use crate::chat_agent::{ChatAgent, ChatDialect};
use crate::members::{plain, text, time};
use crate::{
    Capabilities, Capability, DialectFacts, Discovered, Environment, FileInfo, Files, Match,
    Sample, SessionLocation, SideFile, Support, folder_files,
};

const BRAIN: &str = "brain";
const LOGS: &str = ".system_generated/logs";
/// The complete transcript, and the one with long fields cut off.
const NAMES: [&str; 2] = ["transcript_full.jsonl", "transcript.jsonl"];

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
    ]),
    sessions_folder: Some(BRAIN),
    ..DialectFacts::new("antigravity", "Antigravity")
};

/// The dialect of Antigravity.
pub(crate) static ANTIGRAVITY: ChatDialect<Antigravity> = ChatDialect(Antigravity);

/// Antigravity.
#[derive(Debug)]
pub(crate) struct Antigravity;

impl ChatAgent for Antigravity {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        let names = ["antigravity-cli", "antigravity"];
        let in_home = |name: &&str| env.in_home(&format!(".gemini/{name}"));
        names.iter().filter_map(in_home).collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = Discovered::default();
        for folder in files.list(BRAIN)?.into_iter().filter(FileInfo::is_folder) {
            for name in NAMES {
                let log = files.stat(&format!("{}/{LOGS}/{name}", folder.key))?;
                if let Some(log) = log.filter(FileInfo::is_file) {
                    let location = SessionLocation::at(folder.name(), &log, Framing::Lines);
                    found.sessions.push(location);
                    break;
                }
            }
        }
        Ok(found)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        let mut records = sample.records.iter();
        match records.next() {
            Some(first) if self.is_record(first) => Match::Certain,
            _ => Match::No,
        }
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        ["step_index", "source", "type", "status"]
            .iter()
            .all(|key| object.get(key).is_some())
    }

    fn framing(&self, _key: &str) -> Framing {
        Framing::Lines
    }

    /// Steps of the model are answers; every other step that it made is the result of a tool.
    fn other_kind(&self, object: &Object<'_>) -> EntryKind {
        let source = object.text("source").unwrap_or_default().to_lowercase();
        match object.text("type").as_deref() {
            Some("USER_INPUT") => EntryKind::User,
            Some("PLANNER_RESPONSE") => EntryKind::Assistant,
            Some("CHECKPOINT" | "CONVERSATION_HISTORY") => EntryKind::Meta,
            Some("SYSTEM_MESSAGE") => EntryKind::System,
            Some(_) if object.get("tool_calls").is_some() => EntryKind::Assistant,
            Some(_) if source == "model" || source == "planner" => EntryKind::ToolResult,
            Some(_) if source == "system" => EntryKind::System,
            _ => EntryKind::Unknown,
        }
    }

    fn id(&self, _object: &Object<'_>) -> Option<String> {
        None
    }

    fn time(&self, object: &Object<'_>) -> Option<Instant> {
        object.get("created_at").and_then(time)
    }

    fn own_parts(&self, object: &Object<'_>) -> Option<Vec<Part>> {
        let said = object.get("content").map(plain).filter(|it| !it.is_empty());
        match self.other_kind(object) {
            EntryKind::User => {
                let said = said.unwrap_or_default();
                Some(vec![Part::Text(request(&said).unwrap_or(&said).to_owned())])
            }
            EntryKind::ToolResult => Some(vec![Part::Result {
                // Results do not name their calls.
                call: String::new(),
                text: said.unwrap_or_default(),
                is_error: object.get("status").is_some_and(|it| it.is("ERROR")),
            }]),
            EntryKind::Unknown => None,
            _ => {
                let thought = text(object.raw(), "thinking").map(Part::thinking);
                let mut parts: Vec<Part> = thought.into_iter().collect();
                parts.extend(said.map(Part::Text));
                let calls = object.get("tool_calls").into_iter();
                parts.extend(calls.flat_map(|it| it.items()).map(call));
                Some(parts)
            }
        }
    }

    fn hides(&self, object: &Object<'_>) -> bool {
        self.other_kind(object) == EntryKind::System
    }

    fn side_files(&self, files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>> {
        let key = location.key.as_deref().unwrap_or_default();
        match key.split_once(&format!("/{LOGS}/")) {
            Some((folder, _)) => folder_files::below(files, folder, location),
            None => Ok(Vec::new()),
        }
    }
}

fn call(call: Raw<'_>) -> Part {
    Part::Call {
        id: text(call, "id").unwrap_or_default(),
        name: text(call, "name").unwrap_or_default(),
        input: call.get("args").map(plain).unwrap_or_default().into(),
    }
}

/// Returns what the user typed, without the settings that are sent with it.
fn request(said: &str) -> Option<&str> {
    let (_, rest) = said.split_once("<USER_REQUEST>")?;
    let (request, _) = rest.split_once("</USER_REQUEST>")?;
    Some(request.trim_matches('\n'))
}
