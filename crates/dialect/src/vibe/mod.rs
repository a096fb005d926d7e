//! Mistral Vibe: messages in lines up to 2.x, a store of generations in 3.x, and facts in
//! `meta.json` beside them.
//!
//! The format is described in `docs/dialects/vibe.md`.

mod unified;

use std::path::{Path, PathBuf};

use boswell_model::json::{Object, Raw};
use boswell_model::{
    ContextItem, EntryKind, Framing, Instant, Message, Part, Result, SessionMeta, SessionView,
    Slot, Usage,
};

use crate::chat_agent::{ChatAgent, ChatDialect};
use crate::members::{text, time};
use crate::{
    Capabilities, Capability, DialectFacts, Discovered, Environment, FileInfo, Files, Match,
    ResumeCommand, Sample, SessionLocation, SideFile, Support, folder_files,
};

const META_LIMIT: u64 = 4 << 20;
const SESSIONS: &str = "logs/session";
const LOG: &str = "messages.jsonl";

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
        (Capability::Resume, Support::Native),
    ]),
    sessions_folder: Some("logs"),
    ..DialectFacts::new("vibe", "Mistral Vibe")
};

/// The dialect of Mistral Vibe.
pub(crate) static VIBE: ChatDialect<Vibe> = ChatDialect(Vibe);

/// Mistral Vibe.
#[derive(Debug)]
pub(crate) struct Vibe;

impl ChatAgent for Vibe {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        let root = env.path_var("VIBE_HOME").or_else(|| env.in_home(".vibe"));
        root.into_iter().collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = Discovered::default();
        for folder in files
            .list(SESSIONS)?
            .into_iter()
            .filter(FileInfo::is_folder)
        {
            if folder.name() == "unified" {
                unified::discover(files, &folder, &mut found)?;
                continue;
            }
            let log = files.stat(&format!("{}/{LOG}", folder.key))?;
            if let Some(log) = log.filter(FileInfo::is_file) {
                found.sessions.push(SessionLocation {
                    row: files.read_whole(&format!("{}/meta.json", folder.key), META_LIMIT)?,
                    ..SessionLocation::at(folder.name(), &log, Framing::Lines)
                });
            }
        }
        Ok(found)
    }

    /// Messages in this form are written by many programs: the name of the file and of its folder
    /// decide.
    fn recognises(&self, sample: &Sample<'_>) -> Match {
        let in_session = sample
            .folders
            .first()
            .is_some_and(|folder| folder.starts_with("session_"));
        let is_message = |object: &Object<'_>| self.is_record(object);
        match sample.records.first() {
            Some(first) if unified::is_pointer(first) => Match::Certain,
            Some(first) if sample.name == LOG && in_session && is_message(first) => Match::Certain,
            _ => Match::No,
        }
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        object.get("role").is_some_and(|it| it.text().is_some())
    }

    fn framing(&self, _key: &str) -> Framing {
        Framing::Lines
    }

    fn message<'a>(&self, object: &Object<'a>) -> Option<Raw<'a>> {
        self.is_record(object).then(|| object.raw())
    }

    fn other_kind(&self, object: &Object<'_>) -> EntryKind {
        unified::kind(object)
    }

    fn own_parts(&self, object: &Object<'_>) -> Option<Vec<Part>> {
        unified::parts(object)
    }

    fn hides(&self, object: &Object<'_>) -> bool {
        unified::kind(object) == EntryKind::Meta
    }

    fn context_items(
        &self,
        view: &SessionView<'_>,
        branch: &[Slot],
    ) -> Result<Option<Vec<ContextItem>>> {
        let sent = unified::sent(view, branch);
        Ok(sent.map(|slots| slots.into_iter().map(ContextItem::stored).collect()))
    }

    fn sent(&self, object: &Object<'_>) -> Option<Message> {
        unified::message(object)
    }

    fn collect(&self, object: &Object<'_>, meta: &mut SessionMeta) {
        unified::facts(object, meta);
    }

    fn id(&self, object: &Object<'_>) -> Option<String> {
        text(object.raw(), "message_id").or_else(|| text(object.raw(), "id"))
    }

    fn time(&self, object: &Object<'_>) -> Option<Instant> {
        object.get("createdAt").and_then(time)
    }

    fn composes(&self) -> bool {
        true
    }

    fn sources(&self, files: &dyn Files, key: &str) -> Result<Vec<FileInfo>> {
        unified::sources(files, key)
    }

    fn compose(&self, files: &dyn Files, key: &str) -> Result<Vec<u8>> {
        unified::compose(files, key)
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        let mut meta = SessionMeta::default();
        let row = location.row.as_deref().map(<[u8]>::trim_ascii);
        if let Some(row) = row.and_then(|row| Raw::parse(row).ok()) {
            facts(row, &mut meta);
        }
        meta
    }

    fn side_meta(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        meta: &mut SessionMeta,
    ) -> Result<()> {
        let Some(folder) = folder(location) else {
            return Ok(());
        };
        let bytes = files.read_whole(&format!("{folder}/meta.json"), META_LIMIT)?;
        if let Ok(stated) = Raw::parse(bytes.unwrap_or_default().trim_ascii()) {
            facts(stated, meta);
        }
        Ok(())
    }

    fn side_files(&self, files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>> {
        let Some(folder) = folder(location) else {
            return Ok(Vec::new());
        };
        folder_files::below(files, folder, location)
    }

    fn resume(&self, meta: &SessionMeta, _location: &SessionLocation) -> Option<ResumeCommand> {
        let id = meta.id.as_ref()?;
        Some(ResumeCommand {
            argv: ["vibe", "--resume", id].map(str::to_owned).to_vec(),
            cwd: meta.project.clone(),
        })
    }

    fn variables(&self, root: &Path) -> Vec<(&'static str, PathBuf)> {
        vec![("VIBE_HOME", root.to_owned())]
    }
}

fn folder(location: &SessionLocation) -> Option<&str> {
    Some(location.key.as_deref()?.rsplit_once('/')?.0)
}

fn facts(stated: Raw<'_>, meta: &mut SessionMeta) {
    meta.id = text(stated, "session_id");
    meta.parent = text(stated, "parent_session_id");
    meta.title = text(stated, "title").or_else(|| meta.title.take());
    meta.title_source = text(stated, "title_source");
    meta.git_branch = text(stated, "git_branch");
    let environment = stated.get("environment");
    meta.project = environment.and_then(|it| text(it, "working_directory"));
    for key in ["start_time", "end_time"] {
        if let Some(time) = stated.get(key).and_then(time) {
            meta.saw_time(time);
        }
    }
    let config = stated.get("config").and_then(|it| text(it, "model_name"));
    if let Some(model) = text(stated, "model").or(config) {
        meta.saw_model(&model);
    }
    let Some(stats) = stated.get("stats") else {
        return;
    };
    let count = |key: &str| stats.get(key).and_then(|it| it.u64());
    meta.stated.usage = Usage {
        input: count("session_prompt_tokens"),
        output: count("session_completion_tokens"),
        cost: stats.get("session_cost").and_then(|it| it.f64()),
        ..Usage::default()
    };
}
