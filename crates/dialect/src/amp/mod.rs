//! Amp: one document for each thread, as far as threads are kept on this machine.
//!
//! The format is described in `docs/dialects/amp.md`.

use std::path::PathBuf;

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Framing, Instant, Part, Result, SessionMeta, Usage};

use crate::chat_agent::{ChatAgent, ChatDialect};
use crate::content_blocks;
use crate::editors::path_of_uri;
use crate::members::{plain, text, time};
use crate::{
    Capabilities, Capability, DialectFacts, Discovered, Environment, Files, Match, ResumeCommand,
    Sample, SessionLocation, Support,
};

const LIMIT: u64 = 256 << 20;
const FRAMING: Framing = Framing::Rows("messages");

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
        (Capability::Resume, Support::Native),
    ]),
    sessions_folder: Some("threads"),
    document_framing: Some(FRAMING),
    ..DialectFacts::new("amp", "Amp")
};

/// The dialect of Amp.
pub(crate) static AMP: ChatDialect<Amp> = ChatDialect(Amp);

/// Amp.
#[derive(Debug)]
pub(crate) struct Amp;

impl ChatAgent for Amp {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        let data = env.path_var("XDG_DATA_HOME");
        let data = data.or_else(|| env.in_home(".local/share"));
        data.map(|data| data.join("amp")).into_iter().collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = Discovered::default();
        for info in files.list("threads")? {
            if let (true, Some(id)) = (info.is_file(), info.stem(".json")) {
                found.sessions.push(SessionLocation::at(id, &info, FRAMING));
            }
        }
        Ok(found)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        let is_thread = |object: &Object<'_>| {
            let id = object.text("id");
            id.is_some_and(|id| id.starts_with("T-")) && object.get("messages").is_some()
        };
        match sample.records.first() {
            Some(first) if is_thread(first) && first.get("v").is_some() => Match::Certain,
            Some(first) if is_thread(first) => Match::Likely,
            _ => Match::No,
        }
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        object.get("role").is_some() && object.get("content").is_some()
    }

    fn framing(&self, _key: &str) -> Framing {
        FRAMING
    }

    fn other_kind(&self, object: &Object<'_>) -> EntryKind {
        match object.text("role").as_deref() {
            Some("user") if content_blocks::is_results(&parts(object)) => EntryKind::ToolResult,
            Some("user") => EntryKind::User,
            Some("assistant") => EntryKind::Assistant,
            Some("system") => EntryKind::System,
            _ => EntryKind::Unknown,
        }
    }

    fn own_parts(&self, object: &Object<'_>) -> Option<Vec<Part>> {
        object.get("role").map(|_| parts(object))
    }

    fn id(&self, object: &Object<'_>) -> Option<String> {
        object.get("messageId").map(plain)
    }

    fn time(&self, object: &Object<'_>) -> Option<Instant> {
        let sent = object.get("meta").and_then(|it| it.get("sentAt"));
        let stated = object.get("usage").and_then(|it| it.get("timestamp"));
        sent.or(stated).and_then(time)
    }

    fn spent(&self, object: &Object<'_>) -> (Option<String>, Option<Usage>) {
        let Some(stated) = object.get("usage") else {
            return (None, None);
        };
        let count = |key: &str| stated.get(key).and_then(|it| it.u64());
        let usage = Usage {
            input: count("inputTokens"),
            output: count("outputTokens"),
            cache_read: count("cacheReadInputTokens"),
            cache_write: count("cacheCreationInputTokens"),
            ..Usage::default()
        };
        (
            text(stated, "model"),
            (!usage.is_unknown()).then_some(usage),
        )
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
        let Ok(thread) = Raw::parse(bytes.trim_ascii()) else {
            return Ok(());
        };
        meta.id = text(thread, "id").or_else(|| meta.id.take());
        meta.title = text(thread, "title").or_else(|| meta.title.take());
        if let Some(created) = thread.get("created").and_then(time) {
            meta.saw_time(created);
        }
        let initial = thread.at(&["env", "initial"]);
        let trees = initial.and_then(|it| it.get("trees"));
        let tree = trees.and_then(|it| text(it.items().next()?, "uri"));
        let cwd = initial.and_then(|it| text(it, "cwd"));
        let project = cwd.or(tree).map(|it| path_of_uri(&it));
        meta.project = project.or_else(|| meta.project.take());
        Ok(())
    }

    fn resume(&self, meta: &SessionMeta, location: &SessionLocation) -> Option<ResumeCommand> {
        let id = meta.id.as_ref().unwrap_or(&location.id);
        let argv = ["amp", "threads", "continue", id];
        Some(ResumeCommand {
            argv: argv.map(str::to_owned).to_vec(),
            cwd: meta.project.clone(),
        })
    }
}

/// Returns the parts of a message. Results state how their call ran.
fn parts(object: &Object<'_>) -> Vec<Part> {
    let content = object.get("content");
    let Some(content) = content.filter(|it| it.text().is_none()) else {
        return content_blocks::parts(content);
    };
    let blocks = content.items().flat_map(|block| {
        let run = block.get("run");
        let is_result = block.get("type").is_some_and(|it| it.is("tool_result"));
        let Some(run) = run.filter(|_| is_result) else {
            return content_blocks::parts(Some(block));
        };
        let call = text(block, "toolUseID").or_else(|| text(block, "tool_use_id"));
        let failed = text(run, "status").is_some_and(|status| {
            matches!(status.as_str(), "error" | "cancelled" | "rejected-by-user")
        });
        let said = run.get("result").or_else(|| run.get("error"));
        vec![Part::Result {
            call: call.unwrap_or_default(),
            text: said.map(plain).unwrap_or_default(),
            is_error: failed,
        }]
    });
    blocks.collect()
}
