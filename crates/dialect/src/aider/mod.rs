//! Aider: one Markdown file for all chats of a project.
//!
//! The format is described in `docs/dialects/aider.md`. Each chat is a session; the log that
//! boswell reads has its prompts, answers and notices as records with the Markdown that they were
//! written as.

mod markdown;
mod notice;

use std::path::PathBuf;

use boswell_model::json::Object;
use boswell_model::{EntryKind, Framing, Instant, Part, Result, SessionMeta, Usage};

use crate::chat_agent::{ChatAgent, ChatDialect};
use crate::members::text;
use crate::powers::composed_location;
use crate::{
    Capabilities, Capability, DialectFacts, Discovered, Environment, FileInfo, Files, Match,
    RowLayout, Sample, SessionLocation, Support,
};

const HISTORY: &str = ".aider.chat.history.md";
const LIMIT: u64 = 256 << 20;
/// How many folders above the working one are looked at: the file is in the root of a repository.
const DEEPEST: usize = 6;

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
    ]),
    marked_by: Some(HISTORY),
    ..DialectFacts::new("aider", "Aider")
};

/// The dialect of Aider.
pub(crate) static AIDER: ChatDialect<Aider> = ChatDialect(Aider);

/// Aider.
#[derive(Debug)]
pub(crate) struct Aider;

impl ChatAgent for Aider {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    /// The working folder and those above it, up to the home folder; and the folder of the file
    /// that the user's variable names.
    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        let is_inside = |folder: &&std::path::Path| {
            env.home.as_deref().is_none_or(|home| *folder != home) && folder.parent().is_some()
        };
        let above = env.cwd.ancestors().take_while(is_inside).take(DEEPEST);
        let named = env.path_var("AIDER_CHAT_HISTORY_FILE");
        let named = named.filter(|file| file.ends_with(HISTORY));
        let named = named.and_then(|file| Some(file.parent()?.to_owned()));
        let home = env.home.clone();
        named
            .into_iter()
            .chain(above.map(std::path::Path::to_owned))
            .chain(home)
            .collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = Discovered::default();
        let Some(info) = files.stat(HISTORY)?.filter(FileInfo::is_file) else {
            return Ok(found);
        };
        let history = history(files, HISTORY)?;
        let chats = markdown::chats(&history);
        let sources = [info];
        for id in markdown::ids(&chats) {
            let key = RowLayout::key(HISTORY, &id);
            found.sessions.extend(composed_location(id, &key, &sources));
        }
        Ok(found)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        match sample.records.first() {
            Some(first) if self.is_record(first) => Match::Certain,
            None if sample.name.ends_with("aider.chat.history.md") => Match::Certain,
            _ => Match::No,
        }
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        object.get("markdown").is_some() && object.get("line").is_some()
    }

    fn framing(&self, _key: &str) -> Framing {
        Framing::Lines
    }

    fn other_kind(&self, object: &Object<'_>) -> EntryKind {
        match object.text("type").as_deref() {
            Some("session") => EntryKind::Header,
            Some("user") => EntryKind::User,
            Some("assistant") => EntryKind::Assistant,
            Some("notice") => EntryKind::System,
            _ => EntryKind::Unknown,
        }
    }

    fn own_parts(&self, object: &Object<'_>) -> Option<Vec<Part>> {
        let markdown = text(object.raw(), "markdown").unwrap_or_default();
        match self.other_kind(object) {
            EntryKind::User => Some(vec![Part::Text(markdown::unmarked(&markdown, "####"))]),
            EntryKind::System => Some(vec![Part::Text(markdown::unmarked(&markdown, ">"))]),
            EntryKind::Assistant => Some(answer(&markdown)),
            _ => None,
        }
    }

    fn id(&self, _object: &Object<'_>) -> Option<String> {
        None
    }

    fn time(&self, object: &Object<'_>) -> Option<Instant> {
        let markdown = text(object.raw(), "markdown")?;
        markdown::time(&markdown).filter(|_| self.other_kind(object) == EntryKind::Header)
    }

    fn spent(&self, object: &Object<'_>) -> (Option<String>, Option<Usage>) {
        if self.other_kind(object) != EntryKind::System {
            return (None, None);
        }
        let said = text(object.raw(), "markdown").unwrap_or_default();
        let said = markdown::unmarked(&said, ">");
        (notice::model(&said), notice::usage(&said))
    }

    fn collect(&self, object: &Object<'_>, meta: &mut SessionMeta) {
        if self.other_kind(object) == EntryKind::System {
            let said = text(object.raw(), "markdown").unwrap_or_default();
            let version = notice::version(&markdown::unmarked(&said, ">"));
            meta.agent_version = version.or_else(|| meta.agent_version.take());
        }
    }

    fn side_meta(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        meta: &mut SessionMeta,
    ) -> Result<()> {
        // The file is in the folder that the chats are about.
        let path = files.describe(HISTORY);
        let folder = path
            .strip_suffix(HISTORY)
            .filter(|_| location.key.is_some());
        let folder = folder.map(|it| it.trim_end_matches(['/', '\\']).to_owned());
        meta.project = folder
            .filter(|it| !it.is_empty())
            .or_else(|| meta.project.take());
        Ok(())
    }

    fn composes(&self) -> bool {
        true
    }

    fn sources(&self, files: &dyn Files, key: &str) -> Result<Vec<FileInfo>> {
        let file = RowLayout::split(key).map_or(key, |(file, _)| file);
        let is_history = file.ends_with("aider.chat.history.md");
        let info = files
            .stat(file)?
            .filter(|info| is_history && info.is_file());
        Ok(info.into_iter().collect())
    }

    /// A key without a session is that of a file outside a project, which is read as a whole.
    fn compose(&self, files: &dyn Files, key: &str) -> Result<Vec<u8>> {
        let (file, id) = match RowLayout::split(key) {
            Some((file, id)) => (file, Some(id)),
            None => (key, None),
        };
        let history = history(files, file)?;
        let chats = markdown::chats(&history);
        let mut log = Vec::new();
        for (chat, own) in chats.iter().zip(markdown::ids(&chats)) {
            if id.is_none_or(|id| id == own) {
                markdown::records(chat, &mut log);
            }
        }
        Ok(log)
    }
}

fn history(files: &dyn Files, key: &str) -> Result<String> {
    let bytes = files.read_whole(key, LIMIT)?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the parts of an answer: thoughts are between tags of their own.
fn answer(markdown: &str) -> Vec<Part> {
    const OPEN: &str = "<thinking-content-";
    let (mut parts, mut rest) = (Vec::new(), markdown);
    let said = |text: &str, parts: &mut Vec<Part>| {
        if !text.trim().is_empty() {
            parts.push(Part::Text(text.trim().to_owned()));
        }
    };
    while let Some(at) = rest.find(OPEN) {
        let (before, inner) = rest.split_at(at);
        let tag = inner
            .split_once('>')
            .map(|(tag, _)| tag)
            .unwrap_or_default();
        let close = format!("</{}>", tag.trim_start_matches('<'));
        let thought = inner
            .get(tag.len() + 1..)
            .and_then(|it| it.split_once(&close));
        let Some((thought, after)) = thought else {
            break;
        };
        said(before, &mut parts);
        parts.push(Part::thinking(thought.trim().to_owned()));
        rest = after;
    }
    said(rest, &mut parts);
    parts
}
