//! The contract between a dialect and the rest: what each must be able to say.

use std::fmt;
use std::path::PathBuf;

use boswell_model::json::Object;
use boswell_model::{
    Context, ContextItem, Error, Flags, Framing, Head, Interner, Log, Message, Result, SessionMeta,
    SessionView, Slot, Tip, View,
};

use crate::draft::SEE_STORES;
use crate::{
    Append, DialectFacts, Discovered, EditRequest, Environment, Files, LockSpec, Match, PlanEdits,
    Powers, Sample, SessionLink, SessionLocation, unsupported,
};

/// One agent family's way of writing sessions.
///
/// The order of calls when a session is read: [`begin`](Dialect::begin) from what the listing
/// knows; for each record [`head`](Dialect::head) and, if more than the tree is wanted,
/// [`collect_meta`](Dialect::collect_meta); [`link`](Dialect::link) once all heads are there; then
/// any question about tip, branch, context. No method may panic on any input.
///
/// This is all that an agent needs which is only read. What else it allows are its
/// [`powers`](Dialect::powers); what is always true of it are its [`facts`](Dialect::facts).
pub trait Dialect: Send + Sync + fmt::Debug {
    /// What is always true of it.
    fn facts(&self) -> &'static DialectFacts;

    /// Its name in refs and options, such as `claude`.
    fn name(&self) -> &'static str {
        self.facts().name
    }

    /// Roots where the agent would keep its sessions in this environment, most likely one first.
    fn roots(&self, env: &Environment) -> Vec<PathBuf>;

    /// Finds every session below a root from names and small index files, without reading logs.
    fn discover(&self, files: &dyn Files) -> Result<Discovered>;

    /// Whether `id` is one that the agent itself would accept. Never true for an id
    /// that starts with `-`.
    fn id_is_valid(&self, id: &str) -> bool;

    /// Whether a session that was found may be listed under its id. Subagents may have ids of
    /// another form; none may start with `-`.
    fn is_usable(&self, location: &SessionLocation) -> bool {
        self.id_is_valid(&location.id)
    }

    /// How much a file given by path looks like a session of this dialect.
    fn recognises(&self, sample: &Sample<'_>) -> Match;

    /// How records stand in a session file of this name.
    fn framing(&self, _key: &str) -> Framing {
        Framing::Lines
    }

    /// Whether an object found behind garbage is a record of its own, not a part of a torn one.
    fn is_record(&self, object: &Object<'_>) -> bool;

    /// What is known before the log is read: from the row or document of an index,
    /// from the file's name.
    fn begin(&self, _location: &SessionLocation) -> SessionMeta {
        SessionMeta::default()
    }

    /// Fills in the head of a record. Runs for every record of every file: fast, no look at
    /// payloads beyond need.
    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner);

    /// Gathers what the record says about the session.
    fn collect_meta(
        &self,
        object: &Object<'_>,
        head: &Head,
        names: &mut Interner,
        meta: &mut SessionMeta,
    );

    /// The parent of every entry. By default that which it names; of doubled ids
    /// the last one counts.
    fn link(&self, log: &Log) -> Vec<Option<Slot>> {
        let by_id = log.by_id();
        log.heads
            .iter()
            .map(|head| head.parent.and_then(|parent| by_id.last(parent)))
            .collect()
    }

    /// Where the conversation stands according to the agent's newest version.
    fn tip(&self, view: &SessionView<'_>) -> Result<Tip>;

    /// The entry that the user means by "where it stands": the tip with metadata folded away.
    fn leaf(&self, view: &SessionView<'_>, tip: Tip) -> Option<Slot> {
        let conversation = |slot: &Slot| {
            view.log
                .head(*slot)
                .is_some_and(|h| h.kind.is_conversation() && !h.flags.has(Flags::HIDDEN))
        };
        tip.slot()
            .and_then(|slot| view.tree.ancestors(slot).find(conversation))
    }

    /// The entries of a branch in reading order, also those before a compaction.
    fn branch(&self, view: &SessionView<'_>, tip: Tip) -> Result<Vec<Slot>> {
        Ok(tip
            .slot()
            .map(|slot| view.tree.path(slot))
            .unwrap_or_default())
    }

    /// What a person reads of a record.
    fn view(&self, object: &Object<'_>) -> View;

    /// What a model would be sent at a tip.
    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context>;

    /// Renders one message of a context from the records it is made of, in the order of
    /// [`ContextItem::slots`].
    fn render(&self, item: &ContextItem, records: &[Object<'_>]) -> Message;

    /// What the agent allows besides being read. An agent that is only read has no power.
    fn powers(&self) -> Powers<'_> {
        Powers::default()
    }
}

impl dyn Dialect + '_ {
    /// The power to append to logs.
    ///
    /// # Errors
    ///
    /// Unsupported where logs of this dialect are not appended to.
    pub fn appender(&self) -> Result<&dyn Append> {
        self.powers()
            .append
            .ok_or_else(|| self.cannot("be appended to"))
    }

    /// The power to change sessions by plans.
    ///
    /// # Errors
    ///
    /// Unsupported where sessions of this dialect are not changed.
    pub fn planner(&self) -> Result<&dyn PlanEdits> {
        self.powers()
            .edits
            .ok_or_else(|| self.cannot("be changed like that"))
    }

    /// Locks under which a session is changed for a request, also where no plan knows it: repairs
    /// of bytes are made for every dialect.
    pub fn locks_for(&self, location: &SessionLocation, request: &EditRequest) -> Vec<LockSpec> {
        match self.powers().edits {
            Some(edits) => edits.locks(location, request),
            None => request.own_locks(self.name(), &location.id),
        }
    }

    /// Sessions in other stores that are the same conversation.
    pub fn linked_sessions(&self, meta: &SessionMeta, id: &str) -> Vec<SessionLink> {
        let runtime = self.powers().runtime;
        runtime.map_or_else(Vec::new, |runtime| runtime.links(meta, id))
    }

    /// Adds what side files say about a session.
    ///
    /// # Errors
    ///
    /// As far as they cannot be read.
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
        unsupported(self.name(), what, SEE_STORES)
    }
}
