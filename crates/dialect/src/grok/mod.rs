//! Grok Build: messages in lines, and facts in `summary.json` beside them.
//!
//! The format is described in `docs/dialects/grok.md`.

use std::path::PathBuf;

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Framing, Part, Result, SessionMeta, Usage};

use crate::chat_agent::{ChatAgent, ChatDialect};
use crate::content_blocks::{self, tool_calls};
use crate::members::{lossy, text, time};
use crate::{
    Capabilities, Capability, DialectFacts, Discovered, Environment, FileInfo, Files, Match,
    Sample, SessionLocation, SideFile, Support, editors, folder_files,
};

const LIMIT: u64 = 16 << 20;
const LOG: &str = "chat_history.jsonl";
const SUMMARY: &str = "summary.json";

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
    ]),
    sessions_folder: Some("sessions"),
    ..DialectFacts::new("grok", "Grok Build")
};

/// The dialect of Grok Build.
pub(crate) static GROK: ChatDialect<Grok> = ChatDialect(Grok);

/// Grok Build.
#[derive(Debug)]
pub(crate) struct Grok;

impl ChatAgent for Grok {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        env.in_home(".grok").into_iter().collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = Discovered::default();
        let folders = |key: &str| {
            let listed = files.list(key)?.into_iter();
            Ok::<_, boswell_model::Error>(listed.filter(FileInfo::is_folder).collect::<Vec<_>>())
        };
        for project in folders("sessions")? {
            for session in folders(&project.key)? {
                let log = files.stat(&format!("{}/{LOG}", session.key))?;
                if let Some(log) = log.filter(FileInfo::is_file) {
                    let summary = files.read_whole(&format!("{}/{SUMMARY}", session.key), LIMIT)?;
                    found.sessions.push(SessionLocation {
                        row: summary,
                        ..SessionLocation::at(session.name(), &log, Framing::Lines)
                    });
                }
            }
        }
        Ok(found)
    }

    /// Records of this form have no mark of their own: the name of the file decides.
    fn recognises(&self, sample: &Sample<'_>) -> Match {
        match sample.records.first() {
            Some(first) if sample.name == LOG && self.is_record(first) => Match::Certain,
            _ => Match::No,
        }
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        object.text("type").as_deref().is_some_and(|word| {
            matches!(
                word,
                "system" | "user" | "assistant" | "tool_result" | "reasoning"
            ) || word == "backend_tool_call"
        })
    }

    fn framing(&self, _key: &str) -> Framing {
        Framing::Lines
    }

    fn other_kind(&self, object: &Object<'_>) -> EntryKind {
        match object.text("type").as_deref() {
            Some("system") => EntryKind::System,
            Some("user") => EntryKind::User,
            Some("assistant" | "reasoning" | "backend_tool_call") => EntryKind::Assistant,
            Some("tool_result") => EntryKind::ToolResult,
            _ => EntryKind::Unknown,
        }
    }

    fn own_parts(&self, object: &Object<'_>) -> Option<Vec<Part>> {
        let content = object.get("content");
        match object.text("type").as_deref()? {
            "system" | "user" => Some(content_blocks::parts(content)),
            "assistant" => {
                let mut parts = content_blocks::parts(content);
                parts.extend(tool_calls(object.get("tool_calls")));
                Some(parts)
            }
            "reasoning" => {
                let summary = object.get("summary").into_iter().flat_map(|it| it.items());
                let texts: Vec<String> = summary.filter_map(|it| text(it, "text")).collect();
                Some(vec![Part::thinking(texts.join("\n"))])
            }
            "tool_result" => {
                let call = text(object.raw(), "tool_call_id").unwrap_or_default();
                Some(content_blocks::result(call, content, false))
            }
            // The provider ran it, and its result is in no record.
            "backend_tool_call" => {
                let kind = object.get("kind")?;
                Some(vec![Part::Other {
                    word: text(kind, "tool_type").unwrap_or_default(),
                    json: lossy(kind),
                }])
            }
            _ => None,
        }
    }

    /// What the program puts in the user's place is hidden, except what the user typed while the
    /// model worked.
    fn hides(&self, object: &Object<'_>) -> bool {
        let reason = object.text("synthetic_reason");
        let is_injected = reason.is_some_and(|reason| reason != "interjection");
        is_injected || object.get("type").is_some_and(|it| it.is("system"))
    }

    fn spent(&self, object: &Object<'_>) -> (Option<String>, Option<Usage>) {
        (text(object.raw(), "model_id"), None)
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        let mut meta = SessionMeta::default();
        let row = location.row.as_deref().map(<[u8]>::trim_ascii);
        if let Some(row) = row.and_then(|row| Raw::parse(row).ok()) {
            summary(row, &mut meta);
        }
        // Without the summary, the name of the folder is the path of the project.
        let folders = location.key.as_deref().map(|key| key.split('/'));
        let project = folders.and_then(|mut folders| folders.nth(1).map(editors::decoded));
        meta.project = meta.project.or(project);
        meta
    }

    fn side_meta(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        meta: &mut SessionMeta,
    ) -> Result<()> {
        let Some((folder, _)) = location.key.as_deref().and_then(|it| it.rsplit_once('/')) else {
            return Ok(());
        };
        let bytes = files.read_whole(&format!("{folder}/{SUMMARY}"), LIMIT)?;
        if let Ok(stated) = Raw::parse(bytes.unwrap_or_default().trim_ascii()) {
            summary(stated, meta);
        }
        Ok(())
    }

    fn side_files(&self, files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>> {
        folder_files::next_to(files, location)
    }
}

/// Adds what the summary of a session states.
fn summary(stated: Raw<'_>, meta: &mut SessionMeta) {
    let info = stated.get("info");
    let of_info = |key: &str| info.and_then(|it| text(it, key));
    meta.id = of_info("id").or_else(|| meta.id.take());
    meta.project = of_info("cwd").or_else(|| meta.project.take());
    meta.parent = text(stated, "parent_session_id").or_else(|| meta.parent.take());
    meta.git_branch = text(stated, "head_branch").or_else(|| meta.git_branch.take());
    let title = text(stated, "generated_title").or_else(|| text(stated, "session_summary"));
    meta.title = title.or_else(|| meta.title.take());
    for key in ["created_at", "updated_at", "last_active_at"] {
        if let Some(time) = stated.get(key).and_then(time) {
            meta.saw_time(time);
        }
    }
    if let Some(model) = text(stated, "current_model_id") {
        meta.saw_model(&model);
    }
}
