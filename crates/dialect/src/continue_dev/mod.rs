//! Continue: one document for each session, and a list of them.
//!
//! The format is described in `docs/dialects/continue.md`.

use std::path::{Path, PathBuf};

use boswell_model::json::{Object, Raw};
use boswell_model::{Framing, Part, Result, SessionMeta, Usage};

use crate::chat_agent::{ChatAgent, ChatDialect};
use crate::editors::path_of_uri;
use crate::members::{lossy, text, time};
use crate::{
    Capabilities, Capability, DialectFacts, Discovered, Environment, Files, Match, Sample,
    SessionLocation, Support,
};

const INDEX: &str = "sessions/sessions.json";
const LIMIT: u64 = 256 << 20;
const FRAMING: Framing = Framing::Rows("history");

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
    ]),
    sessions_folder: Some("sessions"),
    document_framing: Some(FRAMING),
    ..DialectFacts::new("continue", "Continue")
};

/// The dialect of Continue.
pub(crate) static CONTINUE: ChatDialect<Continue> = ChatDialect(Continue);

/// Continue.
#[derive(Debug)]
pub(crate) struct Continue;

impl ChatAgent for Continue {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        env.path_var("CONTINUE_GLOBAL_DIR")
            .or_else(|| env.in_home(".continue"))
            .into_iter()
            .collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = Discovered::default();
        let index = files.read_whole(INDEX, LIMIT)?.unwrap_or_default();
        let rows = Raw::parse(index.trim_ascii()).ok();
        for info in files.list("sessions")? {
            let Some(id) = info
                .stem(".json")
                .filter(|_| info.is_file() && info.key != INDEX)
            else {
                continue;
            };
            let mut listed = rows.into_iter().flat_map(|it| it.items());
            let row = listed.find(|row| row.get("sessionId").is_some_and(|it| it.is(id)));
            found.sessions.push(SessionLocation {
                row: row.map(|row| row.bytes().to_vec()),
                ..SessionLocation::at(id, &info, FRAMING)
            });
        }
        Ok(found)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        let is_document = |object: &Object<'_>| {
            let first = object.get("history").and_then(|it| it.items().next());
            object.get("sessionId").is_some()
                && object.get("workspaceDirectory").is_some()
                && first.is_none_or(|it| it.get("message").is_some())
                && object.get("history").is_some()
        };
        match sample.records.first() {
            Some(first) if is_document(first) => Match::Certain,
            _ => Match::No,
        }
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        object.get("message").is_some()
    }

    fn framing(&self, _key: &str) -> Framing {
        FRAMING
    }

    fn message<'a>(&self, object: &Object<'a>) -> Option<Raw<'a>> {
        object.get("message").filter(|it| it.get("role").is_some())
    }

    fn id(&self, _object: &Object<'_>) -> Option<String> {
        None
    }

    /// Results are kept with the calls; files that were attached, beside the message.
    fn more_parts(&self, object: &Object<'_>, parts: &mut Vec<Part>) {
        let list = |key: &str| object.get(key).into_iter().flat_map(|it| it.items());
        for state in list("toolCallStates") {
            let call = text(state, "toolCallId").unwrap_or_default();
            let said: Vec<String> = state
                .get("output")
                .into_iter()
                .flat_map(|it| it.items())
                .filter_map(|it| text(it, "content"))
                .collect();
            let status = text(state, "status").unwrap_or_default();
            if !said.is_empty() || matches!(status.as_str(), "done" | "errored" | "canceled") {
                parts.push(Part::Result {
                    call,
                    text: said.join("\n"),
                    is_error: matches!(status.as_str(), "errored" | "canceled"),
                });
            }
        }
        for item in list("contextItems") {
            parts.push(Part::Other {
                word: "context".to_owned(),
                json: lossy(item),
            });
        }
        let thought = object.get("reasoning").and_then(|it| text(it, "text"));
        parts.extend(thought.map(Part::thinking));
        let summary = text(object.raw(), "conversationSummary");
        parts.extend(summary.map(Part::Text));
    }

    fn spent(&self, object: &Object<'_>) -> (Option<String>, Option<Usage>) {
        let Some(stated) = object.get("message").and_then(|it| it.get("usage")) else {
            return (None, None);
        };
        let count = |path: &[&str]| stated.at(path).and_then(|it| it.u64());
        let cached = count(&["prompt_tokens_details", "cached_tokens"]);
        let usage = Usage {
            input: count(&["prompt_tokens"]).map(|n| n.saturating_sub(cached.unwrap_or(0))),
            output: count(&["completion_tokens"]),
            cache_read: cached,
            reasoning: count(&["completion_tokens_details", "reasoning_tokens"]),
            cost: stated
                .get("cost_cents")
                .and_then(|it| it.f64())
                .map(|it| it / 100.0),
            ..Usage::default()
        };
        let usage = (!usage.is_unknown()).then_some(usage);
        (text(stated, "model"), usage)
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        let mut meta = SessionMeta::default();
        if let Some(row) = location.row.as_deref().and_then(|it| Raw::parse(it).ok()) {
            facts(row, &mut meta);
            let made = text(row, "dateCreated").and_then(|it| it.parse::<i64>().ok());
            if let Some(made) = made {
                meta.saw_time(boswell_model::Instant::from_millis(made));
            }
        }
        meta
    }

    fn side_meta(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        meta: &mut SessionMeta,
    ) -> Result<()> {
        let Some(key) = &location.key else {
            return Ok(());
        };
        let bytes = files.read_whole(key, LIMIT)?.unwrap_or_default();
        if let Ok(document) = Raw::parse(bytes.trim_ascii()) {
            facts(document, meta);
        }
        if let Some(modified) = location.modified {
            meta.saw_time(modified);
        }
        Ok(())
    }

    fn variables(&self, root: &Path) -> Vec<(&'static str, PathBuf)> {
        vec![("CONTINUE_GLOBAL_DIR", root.to_owned())]
    }
}

fn facts(stated: Raw<'_>, meta: &mut SessionMeta) {
    meta.id = text(stated, "sessionId").or_else(|| meta.id.take());
    meta.title = text(stated, "title").or_else(|| meta.title.take());
    // Editors write an address.
    let folder = text(stated, "workspaceDirectory");
    let folder = folder.map(|it| path_of_uri(&it));
    meta.project = folder.or_else(|| meta.project.take());
    if let Some(created) = stated.get("dateCreated").filter(|it| it.text().is_none()) {
        time(created).into_iter().for_each(|at| meta.saw_time(at));
    }
}
