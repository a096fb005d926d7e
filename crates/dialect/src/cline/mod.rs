//! Cline, Roo Code and Kilo Code: documents with messages.
//!
//! Newer versions of Cline keep a folder of documents for each session (`cline`), older ones and
//! the programs that came from them a folder for each task in the storage of an editor (`roo`,
//! `kilo-code`; Cline's are of the dialect `cline` too). The format is described in
//! `docs/dialects/cline.md`.

mod facts;
mod session;
mod task;

use std::path::{Path, PathBuf};

use boswell_model::json::{Object, Raw};
use boswell_model::{Framing, Instant, Part, Result, SessionMeta, Usage};

use crate::chat_agent::{ChatAgent, ChatDialect};
use crate::members::{text, time};
use crate::{
    Capability, DialectFacts, Discovered, Environment, Files, Match, ResumeCommand, Sample,
    SessionLocation, SideFile, SideKind, Support,
};

/// The dialect of Cline.
pub(crate) static CLINE: ChatDialect<ClineFamily> = ChatDialect(ClineFamily::Cline);
/// The dialect of Roo Code.
pub(crate) static ROO: ChatDialect<ClineFamily> = ChatDialect(ClineFamily::Roo);
/// The dialect of Kilo Code, as long as it was an extension like Cline.
pub(crate) static KILO: ChatDialect<ClineFamily> = ChatDialect(ClineFamily::Kilo);

/// A document is a list, or has its messages in this member.
const FRAMING: Framing = Framing::Rows("messages");

/// A program of the family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClineFamily {
    /// Cline.
    Cline,
    /// Roo Code.
    Roo,
    /// Kilo Code.
    Kilo,
}

impl ClineFamily {
    /// The id of the extension, which names its folder in the storage of an editor.
    fn extension(self) -> &'static str {
        match self {
            ClineFamily::Cline => "saoudrizwan.claude-dev",
            ClineFamily::Roo => "rooveterinaryinc.roo-cline",
            ClineFamily::Kilo => "kilocode.kilo-code",
        }
    }
}

impl ChatAgent for ClineFamily {
    fn facts(&self) -> &'static DialectFacts {
        facts::of(*self)
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        let own = match self {
            ClineFamily::Cline => session::root(env),
            _ => None,
        };
        own.into_iter()
            .chain(task::roots(env, self.extension()))
            .collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = Discovered::default();
        session::discover(files, &mut found)?;
        task::discover(files, &mut found)?;
        Ok(found)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        let in_extension = sample.folders.iter().any(|it| it == self.extension());
        let is_task = sample.name == task::LOG && !sample.records.is_empty();
        match () {
            () if is_task && in_extension => Match::Certain,
            () if *self != ClineFamily::Cline => Match::No,
            () if session::is_document(sample) => Match::Certain,
            // Which of the programs wrote it is not in the file.
            () if is_task => Match::Likely,
            () => Match::No,
        }
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        object.get("role").is_some() && object.get("content").is_some()
    }

    fn framing(&self, _key: &str) -> Framing {
        FRAMING
    }

    fn message<'a>(&self, object: &Object<'a>) -> Option<Raw<'a>> {
        object
            .get("role")
            .and_then(|it| it.text())
            .map(|_| object.raw())
    }

    fn time(&self, object: &Object<'_>) -> Option<Instant> {
        object.get("ts").and_then(time)
    }

    /// The prompt stands between tags.
    fn typed(&self, text: &str) -> String {
        session::unwrapped(text).unwrap_or(text).to_owned()
    }

    /// Roo Code states what was said of a condensation beside the content.
    fn more_parts(&self, object: &Object<'_>, parts: &mut Vec<Part>) {
        let said = text(object.raw(), "text").filter(|_| parts.is_empty());
        parts.extend(said.map(Part::Text));
    }

    fn spent(&self, object: &Object<'_>) -> (Option<String>, Option<Usage>) {
        session::spent(object)
    }

    /// A message that a summary or a truncation replaced names it.
    fn is_dropped(&self, object: &Object<'_>) -> bool {
        ["condenseParent", "truncationParent"]
            .iter()
            .any(|key| object.get(key).is_some_and(|it| it.text().is_some()))
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        let mut meta = SessionMeta::default();
        if let Some(row) = location
            .row
            .as_deref()
            .and_then(|it| Raw::parse(it.trim_ascii()).ok())
        {
            task::history_item(row, &mut meta);
        }
        meta
    }

    fn side_meta(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        meta: &mut SessionMeta,
    ) -> Result<()> {
        match task::folder(location) {
            Some(folder) => task::side_meta(files, folder, meta),
            None => session::side_meta(files, location, meta),
        }
    }

    fn side_files(&self, files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>> {
        let Some((folder, _)) = location.key.as_deref().and_then(|it| it.rsplit_once('/')) else {
            return Ok(Vec::new());
        };
        let others = files.list(folder)?.into_iter();
        let others = others.filter(|it| it.is_file() && Some(&it.key) != location.key.as_ref());
        let side = others.map(|info| SideFile {
            key: info.key,
            kind: SideKind::Meta,
            size: info.size,
        });
        Ok(side.collect())
    }

    /// Tasks are resumed in the editor alone.
    fn resume(&self, meta: &SessionMeta, location: &SessionLocation) -> Option<ResumeCommand> {
        let can = self.facts().capabilities.support(Capability::Resume) != Support::No;
        let is_session = can && task::folder(location).is_none();
        let id = meta.id.as_ref().unwrap_or(&location.id);
        is_session.then(|| ResumeCommand {
            argv: ["cline", "--id", id].map(str::to_owned).to_vec(),
            cwd: meta.project.clone(),
        })
    }

    fn variables(&self, root: &Path) -> Vec<(&'static str, PathBuf)> {
        match self {
            ClineFamily::Cline => vec![("CLINE_DATA_DIR", root.to_owned())],
            _ => Vec::new(),
        }
    }
}
