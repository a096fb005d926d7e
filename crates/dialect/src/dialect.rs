//! The [`Dialect`] trait: how one agent's session files are found, recognised and read.
//!
//! The trait contains only what reading needs, so that an agent without any other support is a few
//! methods. Everything optional (append, edit, repair, resume) is a power, returned by
//! [`Dialect::powers`]; constants are data in [`Dialect::facts`]. The inherent methods on `dyn
//! Dialect` are shortcuts over powers for callers. See `docs/adr/0012`.

use std::fmt;
use std::path::PathBuf;

use boswell_model::json::Object;
use boswell_model::{
    Advice, Context, ContextItem, Error, Flags, Framing, Head, Interner, Log, Message, Result,
    SessionMeta, SessionView, Slot, Tip, View,
};

use crate::{
    Append, DialectFacts, Discovered, EditRequest, Environment, Files, LockSpec, Match, PlanEdits,
    Powers, Sample, SessionLink, SessionLocation, unsupported,
};

/// The session format of one agent family.
///
/// Order of calls when a session is read: [`begin`](Dialect::begin) with what the listing found;
/// for each record [`head`](Dialect::head) and, if metadata is wanted,
/// [`collect_meta`](Dialect::collect_meta); [`link`](Dialect::link) after all heads; then any
/// question about tip, branch and context. Input is not trusted: no method may panic on any bytes.
///
/// An agent that is only read implements nothing else. Optional abilities are its
/// [`powers`](Dialect::powers), constants its [`facts`](Dialect::facts).
pub trait Dialect: Send + Sync + fmt::Debug {
    /// Returns the constants of the dialect, which other crates decide by.
    fn facts(&self) -> &'static DialectFacts;

    /// Returns the name used in references and options, such as `claude`.
    fn name(&self) -> &'static str {
        self.facts().name
    }

    /// Returns the folders where the agent stores its sessions in this environment, the most likely
    /// first.
    fn roots(&self, env: &Environment) -> Vec<PathBuf>;

    /// Finds every session below a root by file names and small index files, without reading logs.
    fn discover(&self, files: &dyn Files) -> Result<Discovered>;

    /// Whether the agent itself would accept `id`. Must be false for an id that starts with `-`,
    /// which a command line would parse as an option.
    fn id_is_valid(&self, id: &str) -> bool;

    /// Whether a discovered session may be listed under its id. Subagents may have ids of another
    /// form; no id may start with `-`.
    fn is_usable(&self, location: &SessionLocation) -> bool {
        self.id_is_valid(&location.id)
    }

    /// Rates how well a file that was given by path matches this dialect.
    fn recognises(&self, sample: &Sample<'_>) -> Match;

    /// Returns how a session file with this key is divided into records.
    fn framing(&self, _key: &str) -> Framing {
        Framing::Lines
    }

    /// Whether an object found after garbage is a record of its own, and not a nested object of a
    /// torn record.
    fn is_record(&self, object: &Object<'_>) -> bool;

    /// Returns the metadata that is known before the log is read: from an index row or document, or
    /// from the file name.
    fn begin(&self, _location: &SessionLocation) -> SessionMeta {
        SessionMeta::default()
    }

    /// Fills in the head of a record. Called for every record of every file, so it must be fast and
    /// must not read payloads without need.
    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner);

    /// Adds the metadata that a record contains. Called after [`head`](Dialect::head) for the same
    /// record, in file order.
    fn collect_meta(
        &self,
        object: &Object<'_>,
        head: &Head,
        names: &mut Interner,
        meta: &mut SessionMeta,
    );

    /// Returns the parent of every entry. By default the entry with the id that the record names;
    /// of duplicate ids the last one.
    fn link(&self, log: &Log) -> Vec<Option<Slot>> {
        let by_id = log.by_id();
        log.heads
            .iter()
            .map(|head| head.parent.and_then(|parent| by_id.last(parent)))
            .collect()
    }

    /// Returns the tip that the agent's newest version would choose.
    fn tip(&self, view: &SessionView<'_>) -> Result<Tip>;

    /// Returns the entry that users see as the current position: the tip, or its nearest ancestor
    /// that is a visible part of the conversation.
    fn leaf(&self, view: &SessionView<'_>, tip: Tip) -> Option<Slot> {
        let conversation = |slot: &Slot| {
            view.log
                .head(*slot)
                .is_some_and(|h| h.kind.is_conversation() && !h.flags.has(Flags::HIDDEN))
        };
        tip.slot()
            .and_then(|slot| view.tree.ancestors(slot).find(conversation))
    }

    /// Returns the entries of a branch in reading order, including those before a compaction.
    fn branch(&self, view: &SessionView<'_>, tip: Tip) -> Result<Vec<Slot>> {
        Ok(tip
            .slot()
            .map(|slot| view.tree.path(slot))
            .unwrap_or_default())
    }

    /// Returns the readable view of a record.
    fn view(&self, object: &Object<'_>) -> View;

    /// Returns the context for a tip: the messages that the agent would send.
    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context>;

    /// Renders one message of a context. `records` are those of [`ContextItem::slots`], in that
    /// order.
    fn render(&self, item: &ContextItem, records: &[Object<'_>]) -> Message;

    /// Returns the optional abilities. The default has none.
    fn powers(&self) -> Powers<'_> {
        Powers::default()
    }
}

impl dyn Dialect + '_ {
    /// Returns the power to append to logs.
    ///
    /// # Errors
    ///
    /// `Unsupported` if logs of this dialect cannot be appended to.
    pub fn appender(&self) -> Result<&dyn Append> {
        self.powers()
            .append
            .ok_or_else(|| self.cannot("be appended to"))
    }

    /// Returns the power to change sessions by plans.
    ///
    /// # Errors
    ///
    /// `Unsupported` if sessions of this dialect cannot be changed.
    pub fn planner(&self) -> Result<&dyn PlanEdits> {
        self.powers()
            .edits
            .ok_or_else(|| self.cannot("be changed like that"))
    }

    /// Returns the locks that must be held while `request` changes a session. Dialects without
    /// plans get boswell's own locks, because byte-level repairs are possible in every dialect.
    pub fn locks_for(&self, location: &SessionLocation, request: &EditRequest) -> Vec<LockSpec> {
        match self.powers().edits {
            Some(edits) => edits.locks(location, request),
            None => request.own_locks(self.name(), &location.id),
        }
    }

    /// Returns the sessions in other stores that belong to the same conversation.
    pub fn linked_sessions(&self, meta: &SessionMeta, id: &str) -> Vec<SessionLink> {
        let runtime = self.powers().runtime;
        runtime.map_or_else(Vec::new, |runtime| runtime.links(meta, id))
    }

    /// Adds the metadata that side files contain.
    ///
    /// # Errors
    ///
    /// If a side file cannot be read.
    pub fn add_side_meta(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        meta: &mut SessionMeta,
    ) -> Result<()> {
        match self.powers().side_files {
            Some(side_files) => side_files.collect_side_meta(files, location, meta),
            None => Ok(()),
        }
    }

    fn cannot(&self, what: &str) -> Error {
        unsupported(self.name(), what, Advice::SeeCapabilities)
    }
}
