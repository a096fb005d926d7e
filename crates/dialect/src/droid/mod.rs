//! Factory's Droid: messages in lines, and settings in a file beside them.
//!
//! The format is described in `docs/dialects/droid.md`.

use std::path::PathBuf;

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Framing, Instant, Result, SessionMeta, Usage};

use crate::chat_agent::{ChatAgent, ChatDialect};
use crate::members::{text, time};
use crate::{
    Capabilities, Capability, DialectFacts, Discovered, Environment, FileInfo, Files, Match,
    ResumeCommand, Sample, SessionLocation, SideFile, SideKind, Support,
};

const SETTINGS_LIMIT: u64 = 16 << 20;

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
        (Capability::Resume, Support::Native),
    ]),
    sessions_folder: Some("sessions"),
    ..DialectFacts::new("droid", "Factory Droid")
};

/// The dialect of Droid.
pub(crate) static DROID: ChatDialect<Droid> = ChatDialect(Droid);

/// Droid.
#[derive(Debug)]
pub(crate) struct Droid;

impl ChatAgent for Droid {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        env.in_home(".factory").into_iter().collect()
    }

    /// Sessions are in a folder for each project; old ones are not.
    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = Discovered::default();
        let mut open = vec!["sessions".to_owned()];
        while let Some(folder) = open.pop() {
            for info in files.list(&folder)? {
                if info.is_folder() && folder == "sessions" {
                    open.push(info.key);
                } else if let (true, Some(id)) = (info.is_file(), info.stem(".jsonl")) {
                    let mut location = SessionLocation::at(id, &info, Framing::Lines);
                    if let Some(key) = settings_key(&location) {
                        location.row = files.read_whole(&key, SETTINGS_LIMIT)?;
                    }
                    found.sessions.push(location);
                }
            }
        }
        Ok(found)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        let is_start = |object: &Object<'_>| {
            let is_it = object.get("type").is_some_and(|it| it.is("session_start"));
            is_it && object.get("id").is_some()
        };
        match sample.records.first() {
            Some(first) if is_start(first) => Match::Certain,
            _ => Match::No,
        }
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        let is = |word: &str| object.get("type").is_some_and(|it| it.is(word));
        is("session_start") || (is("message") && object.get("message").is_some())
    }

    fn framing(&self, _key: &str) -> Framing {
        Framing::Lines
    }

    fn message<'a>(&self, object: &Object<'a>) -> Option<Raw<'a>> {
        object.get("message").filter(|it| it.get("role").is_some())
    }

    fn other_kind(&self, object: &Object<'_>) -> EntryKind {
        match object.text("type").as_deref() {
            Some("session_start") => EntryKind::Header,
            Some("compaction_state") if self.summary(object).is_some() => EntryKind::Compaction,
            Some("todo_state" | "session_end" | "compaction_state") => EntryKind::Meta,
            _ => EntryKind::Unknown,
        }
    }

    fn summary(&self, object: &Object<'_>) -> Option<String> {
        text(object.raw(), "summaryText")
    }

    fn time(&self, object: &Object<'_>) -> Option<Instant> {
        object.get("timestamp").and_then(time)
    }

    fn collect(&self, object: &Object<'_>, meta: &mut SessionMeta) {
        if object.get("type").is_some_and(|it| it.is("session_start")) {
            let raw = object.raw();
            meta.id = text(raw, "id");
            meta.project = text(raw, "cwd");
            meta.title = text(raw, "sessionTitle").or_else(|| text(raw, "title"));
            meta.agent_version = raw.get("version").map(crate::members::plain);
        }
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        let mut meta = SessionMeta::default();
        let row = location.row.as_deref().map(<[u8]>::trim_ascii);
        if let Some(row) = row.and_then(|row| Raw::parse(row).ok()) {
            stated(row, &mut meta);
        }
        meta
    }

    fn side_meta(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        meta: &mut SessionMeta,
    ) -> Result<()> {
        let Some(key) = settings_key(location) else {
            return Ok(());
        };
        let bytes = files.read_whole(&key, SETTINGS_LIMIT)?.unwrap_or_default();
        if let Ok(settings) = Raw::parse(bytes.trim_ascii()) {
            stated(settings, meta);
        }
        Ok(())
    }

    fn side_files(&self, files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>> {
        let Some(key) = settings_key(location) else {
            return Ok(Vec::new());
        };
        let settings = files.stat(&key)?.filter(FileInfo::is_file);
        let side = settings.map(|info| SideFile {
            key: info.key,
            kind: SideKind::Meta,
            size: info.size,
        });
        Ok(side.into_iter().collect())
    }

    fn resume(&self, meta: &SessionMeta, location: &SessionLocation) -> Option<ResumeCommand> {
        let id = meta.id.as_ref().unwrap_or(&location.id);
        Some(ResumeCommand {
            argv: ["droid", "--resume", id].map(str::to_owned).to_vec(),
            cwd: meta.project.clone(),
        })
    }
}

fn settings_key(location: &SessionLocation) -> Option<String> {
    let stem = location.key.as_deref()?.strip_suffix(".jsonl")?;
    Some(format!("{stem}.settings.json"))
}

/// Adds what the settings of a session state.
fn stated(settings: Raw<'_>, meta: &mut SessionMeta) {
    if let Some(model) = text(settings, "model") {
        meta.saw_model(&model);
    }
    meta.permission_mode = text(settings, "autonomy").or_else(|| meta.permission_mode.take());
    if let Some(tokens) = settings.get("tokenUsage") {
        let count = |key: &str| tokens.get(key).and_then(|it| it.u64());
        meta.stated.usage = Usage {
            input: count("inputTokens"),
            output: count("outputTokens"),
            cache_read: count("cacheReadTokens"),
            cache_write: count("cacheCreationTokens"),
            reasoning: count("thinkingTokens"),
            ..Usage::default()
        };
    }
    let time = settings.get("assistantActiveTimeMs");
    meta.duration_ms = time.and_then(|it| it.u64()).or(meta.duration_ms);
}
