//! Agents that write the files of another agent below a root of their own.

use std::path::PathBuf;

use boswell_model::json::Object;
use boswell_model::{
    Context, ContextItem, Framing, Head, Interner, Log, Message, Result, SessionMeta, SessionView,
    Slot, Tip, View,
};

use crate::{
    Dialect, DialectFacts, Discovered, Environment, Files, Match, Powers, Sample, SessionLocation,
};

/// An agent that writes the records of another one.
#[derive(Debug)]
pub(crate) struct OtherRoot {
    /// The dialect that reads the records.
    pub(crate) records: &'static dyn Dialect,
    /// The constants of the agent.
    pub(crate) facts: &'static DialectFacts,
    /// Where it keeps its sessions.
    pub(crate) roots: fn(&Environment) -> Vec<PathBuf>,
    /// Finds every session.
    pub(crate) discover: fn(&dyn Files) -> Result<Discovered>,
    /// Whether a folder is one that only this agent has above its sessions.
    pub(crate) is_home: fn(&str) -> bool,
    /// Whether only this agent writes such a record. Without such a mark, a file elsewhere is read
    /// as one of the other agent.
    pub(crate) is_own: fn(&Object<'_>) -> bool,
}

impl Dialect for OtherRoot {
    fn facts(&self) -> &'static DialectFacts {
        self.facts
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        (self.roots)(env)
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = (self.discover)(files)?;
        found.sessions.retain(|it| self.id_is_valid(&it.id));
        Ok(found)
    }

    fn id_is_valid(&self, id: &str) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        !id.is_empty() && !id.starts_with(['-', '.']) && id.bytes().all(plain)
    }

    /// Only the folder distinguishes its files.
    fn recognises(&self, sample: &Sample<'_>) -> Match {
        let at_home = sample.folders.iter().any(|folder| (self.is_home)(folder));
        let is_own = at_home || sample.records.iter().any(self.is_own);
        let elsewhere = Sample {
            name: sample.name,
            folders: &[],
            records: sample.records,
        };
        match is_own && self.records.recognises(&elsewhere) >= Match::Maybe {
            true => Match::Certain,
            false => Match::No,
        }
    }

    fn framing(&self, key: &str) -> Framing {
        self.records.framing(key)
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        self.records.is_record(object)
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        self.records.begin(location)
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        self.records.head(object, head, names);
    }

    fn collect_meta(
        &self,
        object: &Object<'_>,
        head: &Head,
        names: &mut Interner,
        meta: &mut SessionMeta,
    ) {
        self.records.collect_meta(object, head, names, meta);
    }

    fn link(&self, log: &Log) -> Vec<Option<Slot>> {
        self.records.link(log)
    }

    fn tip(&self, view: &SessionView<'_>) -> Result<Tip> {
        self.records.tip(view)
    }

    fn leaf(&self, view: &SessionView<'_>, tip: Tip) -> Option<Slot> {
        self.records.leaf(view, tip)
    }

    fn branch(&self, view: &SessionView<'_>, tip: Tip) -> Result<Vec<Slot>> {
        self.records.branch(view, tip)
    }

    fn view(&self, object: &Object<'_>) -> View {
        self.records.view(object)
    }

    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context> {
        self.records.context(view, tip)
    }

    fn render(&self, item: &ContextItem, records: &[Object<'_>]) -> Message {
        self.records.render(item, records)
    }

    fn powers(&self) -> Powers<'_> {
        Powers {
            refine: self.records.powers().refine,
            ..Powers::default()
        }
    }
}
