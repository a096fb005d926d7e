//! The contract between a dialect and the rest: what each must be able to say.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use boswell_model::json::Object;
use boswell_model::{
    Context, ContextItem, Flags, Framing, Head, Instant, Interner, Log, Message, Problem, Result,
    SessionMeta, SessionView, Settings, Slot, Tip, View,
};

use crate::resume_decision::Probe;
use crate::{
    ActiveProcess, Capabilities, Capability, DialectFacts, Discovered, Draft, EditRequest,
    EntryStamp, Environment, Files, FilesAtEntry, Fix, ForkPlace, IdSource, LockSpec, Match,
    MemoryFile, NewLog, NewSession, Orphan, Parent, Permissions, PlanInput, Planned, RepairInput,
    ResumeCommand, Sample, SessionFacts, SessionLink, SessionLocation, SideFile, StoreRequest,
    Subagent, TextPiece, ToolLink, unsupported,
};

/// One agent family's way of writing sessions.
///
/// The order of calls when a session is read: [`begin`](Dialect::begin) from what the listing
/// knows; for each record [`head`](Dialect::head) and, if more than the tree is wanted,
/// [`collect_meta`](Dialect::collect_meta); [`link`](Dialect::link) once all heads are there; then
/// any question about tip, branch, context. No method may panic on any input.
pub trait Dialect: Send + Sync + fmt::Debug {
    /// What is always true of it.
    fn facts(&self) -> &'static DialectFacts;

    /// Its name in refs and options, such as `claude`.
    fn name(&self) -> &'static str {
        self.facts().name
    }

    /// What it can express.
    fn capabilities(&self) -> Capabilities;

    /// Roots where the agent would keep its sessions in this environment, most likely one first.
    fn roots(&self, env: &Environment) -> Vec<PathBuf>;

    /// The variables that make the agent use the store of a session, with their values; none where
    /// no variable chooses its folder. `root` is the store's and `key` the session's below it: a
    /// root may lie deeper than the folder that the agent asks for.
    fn store_variables(&self, _root: &Path, _key: Option<&str>) -> Vec<(&'static str, PathBuf)> {
        Vec::new()
    }

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

    /// What side files of the session say about it (a title file, an archive mark); called
    /// after the log was read.
    fn collect_side_meta(
        &self,
        _files: &dyn Files,
        _location: &SessionLocation,
        _meta: &mut SessionMeta,
    ) -> Result<()> {
        Ok(())
    }

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

    /// The text of a record as its view would show it, where it stands in the record; none where
    /// only the view tells.
    fn text_pieces<'a>(&self, _object: &Object<'a>) -> Option<Vec<TextPiece<'a>>> {
        None
    }

    /// A record as it may be shown raw: credentials that the agent keeps inside are
    /// replaced, all else stays.
    ///
    /// For eyes only. An exact export hands out the record itself.
    fn redact<'a>(&self, record: &'a [u8]) -> Cow<'a, [u8]> {
        Cow::Borrowed(record)
    }

    /// What a model would be sent at a tip.
    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context>;

    /// Whether the end of a log is enough for the context at a tip. Asked about a log that holds
    /// its first line and everything from some line to its end; the answer must be the one that the
    /// whole log would give.
    fn context_coverage(&self, _view: &SessionView<'_>, _tip: Tip) -> Result<ContextCoverage> {
        Ok(ContextCoverage::Whole)
    }

    /// Settings that stand outside the log, such as in an index row; called on a
    /// context once it is built.
    fn side_settings(&self, _location: &SessionLocation, _settings: &mut Settings) {}

    /// Renders one message of a context from the records it is made of, in the order of
    /// [`ContextItem::slots`].
    fn render(&self, item: &ContextItem, records: &[Object<'_>]) -> Message;

    /// The messages of a context as they go to a provider: in the roles that providers know, every
    /// call followed by its answer. Storage is not concerned.
    fn provider_messages(&self, messages: Vec<Message>) -> Vec<ProviderMessage> {
        messages
            .into_iter()
            .enumerate()
            .map(|(at, message)| ProviderMessage {
                from: Some(at),
                joined: Vec::new(),
                message,
            })
            .collect()
    }

    /// Adds problems that only this dialect knows. Those of bytes, links and calls are found
    /// for all dialects alike.
    fn check(
        &self,
        _view: &SessionView<'_>,
        _meta: &SessionMeta,
        _problems: &mut Vec<Problem>,
    ) -> Result<()> {
        Ok(())
    }

    /// Calls and answers that an entry holds, by the ids of the calls. Gives what else is seen in
    /// passing: [`Flags::REFUSED`].
    fn tool_links(
        &self,
        object: &Object<'_>,
        names: &mut Interner,
        sink: &mut dyn FnMut(ToolLink),
    ) -> Flags {
        let view = self.view(object);
        view.calls()
            .filter_map(|(id, _, _)| names.intern(id))
            .map(ToolLink::Call)
            .for_each(&mut *sink);
        view.results()
            .filter_map(|id| names.intern(id))
            .map(ToolLink::Answer)
            .for_each(sink);
        Flags::default()
    }

    /// The entries of a branch that the agent's newest version itself reaches: fewer than
    /// [`branch`](Dialect::branch) gives where it loses records that are in the file.
    fn entries_agent_sees(&self, view: &SessionView<'_>, tip: Tip) -> Result<Vec<Slot>> {
        self.branch(view, tip)
    }

    /// What could be done about problems that only this dialect understands. Records that share a
    /// line, stand behind garbage or are there twice are seen to for all dialects alike, and
    /// before this is asked.
    fn fixes(&self, _repair_input: &RepairInput<'_>) -> Result<Vec<Fix>> {
        Ok(Vec::new())
    }

    /// Two goals that cannot both be reached for this session, and why.
    fn exclusive(
        &self,
        _repair_input: &RepairInput<'_>,
        _goals: &[&'static str],
    ) -> Result<Option<String>> {
        Ok(None)
    }

    /// Where a repaired fork of the session goes; `original` is how people name its log. None
    /// where none can be made.
    fn repaired_fork(
        &self,
        _repair_input: &RepairInput<'_>,
        _original: &str,
    ) -> Result<Option<ForkPlace>> {
        Ok(None)
    }

    /// Files that belong to a session beside its log.
    fn side_files(&self, _files: &dyn Files, _location: &SessionLocation) -> Result<Vec<SideFile>> {
        Ok(Vec::new())
    }

    /// Files of sessions that are not among those that were found.
    fn orphans(&self, _files: &dyn Files, _found: &[SessionLocation]) -> Result<Vec<Orphan>> {
        Ok(Vec::new())
    }

    /// Keys of the folders that the agent makes as locks, as far as there are some, in the order in
    /// which they are taken.
    fn lock_folders(&self, _files: &dyn Files) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Memory files of every project of the store.
    fn memory(&self, _files: &dyn Files) -> Result<Vec<MemoryFile>> {
        Ok(Vec::new())
    }

    /// Sessions in other stores that are the same conversation.
    fn links(&self, _meta: &SessionMeta, _id: &str) -> Vec<SessionLink> {
        Vec::new()
    }

    /// The agent's own command that takes the conversation up again; none where that
    /// cannot be done safely.
    fn resume(&self, _meta: &SessionMeta, _location: &SessionLocation) -> Option<ResumeCommand> {
        None
    }

    /// The same with a say in what the agent may do without asking.
    fn resume_with(
        &self,
        meta: &SessionMeta,
        location: &SessionLocation,
        _permissions: Permissions,
    ) -> Option<ResumeCommand> {
        self.resume(meta, location)
    }

    /// Processes that the agent's own registry says are at work on sessions; whether they still
    /// live is for the store to find out.
    fn active_processes(&self, _files: &dyn Files) -> Result<Vec<ActiveProcess>> {
        Ok(Vec::new())
    }

    /// The same for a front program that first looks into its engine's store; none where
    /// [`resume`](Dialect::resume) or the engine's own session decides. An error where starting
    /// either way could part the conversation.
    fn resume_by(
        &self,
        _location: &SessionLocation,
        _probe: &dyn Fn(&SessionLink) -> Probe,
    ) -> Result<Option<ResumeCommand>> {
        Ok(None)
    }

    /// Whether the log of a session can be appended to as it is; if not, why.
    fn can_append(&self, _meta: &SessionMeta) -> Result<()> {
        Ok(())
    }

    /// Whether a log that begins with these bytes is sure to take entries, none of which needs
    /// anything that its header says: then nobody need look at the header.
    fn has_plain_header(&self, _bytes: &[u8]) -> bool {
        false
    }

    /// The id of the entry that is all of a line, where that can be told at a
    /// glance; none says nothing.
    fn fast_entry_id<'l>(&self, _line: &'l [u8]) -> Option<&'l str> {
        None
    }

    /// Encodes a draft as a record of this dialect, without the line end, behind what `out` holds.
    fn encode(&self, _draft: &Draft, _settled: EntryStamp<'_>, _out: &mut Vec<u8>) -> Result<()> {
        Err(unsupported(
            self.name(),
            "be appended to",
            "see what each store can with `boswell stores`",
        ))
    }

    /// The record alone.
    fn encoded(&self, draft: &Draft, settled: EntryStamp<'_>) -> Result<Vec<u8>> {
        let mut record = Vec::new();
        self.encode(draft, settled, &mut record)?;
        Ok(record)
    }

    /// As [`encode`](Dialect::encode), for a session of which this much is known,
    /// where records repeat it.
    fn encode_in(
        &self,
        draft: &Draft,
        settled: EntryStamp<'_>,
        _session: SessionFacts<'_>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.encode(draft, settled, out)
    }

    /// An id for a new entry.
    fn entry_id(&self, id_source: &dyn IdSource) -> String {
        id_source.hex16()
    }

    /// The entry that a new one with that parent hangs below; none for a root.
    fn parent_of_new(&self, _view: &SessionView<'_>, _parent: &Parent) -> Result<Option<String>> {
        Ok(None)
    }

    /// A new id for a session, in the form that the agent gives its own.
    fn session_id(&self, id_source: &dyn IdSource) -> String {
        id_source.uuid_v7()
    }

    /// The log of a new session with that id.
    fn new_log(&self, _new: &NewSession, _id: &str, _now: Instant) -> Result<NewLog> {
        Err(unsupported(
            self.name(),
            "be made here",
            "see what each store can with `boswell stores`",
        ))
    }

    /// Where a new log goes in this store; by default where [`new_log`](Dialect::new_log) says.
    fn resolve_key(&self, _files: &dyn Files, key: String) -> Result<String> {
        Ok(key)
    }

    /// Whether [`plan`](Dialect::plan) knows this operation; if so it is preferred
    /// to appending drafts.
    fn plans(&self, _operation: Capability) -> bool {
        false
    }

    /// Locks under which a session is read and changed for an intention, in the order in
    /// which they are taken.
    fn locks(&self, location: &SessionLocation, request: &EditRequest) -> Vec<LockSpec> {
        request.own_locks(self.name(), &location.id)
    }

    /// What has to happen for an intention to come true. The locks that
    /// [`locks`](Dialect::locks) named are held.
    fn plan(&self, _asked: &PlanInput<'_>, _request: &EditRequest) -> Result<Planned> {
        Err(unsupported(
            self.name(),
            "be changed like that",
            "see what each store can with `boswell stores`",
        ))
    }

    /// Locks for a change of the store as a whole.
    fn store_locks(&self, _request: &StoreRequest) -> Vec<LockSpec> {
        Vec::new()
    }

    /// What has to happen for an intention about the whole store. The locks that it needs are held.
    fn plan_store(
        &self,
        _files: &dyn Files,
        _request: &StoreRequest,
        _id_source: &dyn IdSource,
    ) -> Result<Planned> {
        Err(unsupported(
            self.name(),
            "be changed like that",
            "see what each store can with `boswell stores`",
        ))
    }

    /// The folder that a change of the whole store happens in, where that is more than its root:
    /// the agent may keep a part of its state beside it. Keys of the plan are below this folder.
    fn plan_root(&self, root: &Path, _request: &StoreRequest) -> PathBuf {
        root.to_owned()
    }

    /// After how many days the agent itself deletes sessions that were not changed since;
    /// none if it never does.
    fn deletes_after(&self, _files: &dyn Files) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Files of the project as they stood at an entry, where the agent keeps copies of them.
    fn files_at(
        &self,
        _location: &SessionLocation,
        _view: &SessionView<'_>,
        _entry: Slot,
    ) -> Result<Option<FilesAtEntry>> {
        Ok(None)
    }

    /// Subagents of a session, with the calls that started them.
    fn subagents(
        &self,
        _files: &dyn Files,
        _location: &SessionLocation,
        _view: &SessionView<'_>,
    ) -> Result<Vec<Subagent>> {
        Ok(Vec::new())
    }

    /// Key of the file that holds the whole output of a tool, where the record
    /// has only its beginning.
    fn full_output_key(&self, _location: &SessionLocation, _object: &Object<'_>) -> Option<String> {
        None
    }

    /// Brings the change of a shared file from `base` to `ours` into what somebody else made of it
    /// since; none where that cannot be done. For indexes, which agents rewrite all the time.
    fn merge(&self, _key: &str, _base: &[u8], _ours: &[u8], _theirs: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// Whether a file of this key speaks of several sessions, such as an index or
    /// a history of prompts.
    fn is_shared(&self, _key: &str) -> bool {
        false
    }

    /// Keys of the shared files that are there.
    fn shared_files(&self, _files: &dyn Files) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// A shared file without what it says of sessions with these ids; none if it cannot be read.
    fn without(&self, _key: &str, _bytes: &[u8], _ids: &[String]) -> Option<Vec<u8>> {
        None
    }

    /// Files that an entry read or changed through a tool.
    fn touched_files(&self, view: &View) -> Vec<(String, String)> {
        view.calls()
            .flat_map(|(_, name, input)| tool_paths(name, input))
            .collect()
    }
}

/// Paths named by the arguments of a tool call, each with the tool's name.
pub fn tool_paths(name: &str, input: &str) -> Vec<(String, String)> {
    let Ok(raw) = boswell_model::json::Raw::parse(input.as_bytes()) else {
        return Vec::new();
    };
    ["file_path", "path", "notebook_path", "filePath", "filename"]
        .iter()
        .filter_map(|key| raw.get(key)?.text())
        .filter(|path| !path.is_empty())
        .map(|path| (path.into_owned(), name.to_owned()))
        .collect()
}

/// A message on its way to a provider.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderMessage {
    /// Its place among the messages of the context; none if it was made up.
    pub from: Option<usize>,
    /// The places of further messages of the context that became part of it.
    pub joined: Vec<usize>,
    /// The message.
    pub message: Message,
}

/// How far back a log must be read for a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextCoverage {
    /// What was read settles everything.
    Enough,
    /// More of it may.
    More,
    /// Only the whole log does.
    Whole,
}
