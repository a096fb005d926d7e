//! A dialect of an agent whose records are chat messages, from the little that differs between such
//! agents.
//!
//! [`ChatAgent`] states where the sessions are, which member of a record is its message, and what
//! else is known. [`ChatDialect`] answers everything else.

use std::fmt;
use std::path::{Path, PathBuf};

use boswell_model::json::{Json, Object, Raw};
use boswell_model::{
    Context, ContextForm, ContextItem, EntryKind, Flags, Framing, Head, Instant, Interner, Log,
    Message, Part, Result, Said, SessionMeta, SessionView, Slot, Tip, Usage, View,
};

use crate::members::text;
use crate::{
    ComposeLog, Dialect, DialectFacts, Discovered, Environment, FileInfo, Files, Match,
    Permissions, Powers, ResumeCommand, Runtime, Sample, SessionLocation, SideFile, SideFiles,
    chat_lines, content_blocks,
};

/// What differs between agents whose records are chat messages.
pub(crate) trait ChatAgent: Send + Sync + fmt::Debug + 'static {
    /// Returns the constants.
    fn facts(&self) -> &'static DialectFacts;

    /// Returns the folders with sessions.
    fn roots(&self, env: &Environment) -> Vec<PathBuf>;

    /// Finds every session.
    fn discover(&self, files: &dyn Files) -> Result<Discovered>;

    /// Rates how well a file matches.
    fn recognises(&self, sample: &Sample<'_>) -> Match;

    /// Whether an object is a record.
    fn is_record(&self, object: &Object<'_>) -> bool;

    /// Returns how a file is divided into records.
    fn framing(&self, key: &str) -> Framing;

    /// Returns the message of a record in the form of a provider's API; `None` if it is none.
    fn message<'a>(&self, _object: &Object<'a>) -> Option<Raw<'a>> {
        None
    }

    /// Returns the parts of a record that is a message in a form of the agent's own.
    fn own_parts(&self, _object: &Object<'_>) -> Option<Vec<Part>> {
        None
    }

    /// Returns the kind of a record without a message of a provider.
    fn other_kind(&self, _object: &Object<'_>) -> EntryKind {
        EntryKind::Unknown
    }

    /// Returns the summary of a record of the kind `Compaction`.
    fn summary(&self, _object: &Object<'_>) -> Option<String> {
        None
    }

    /// Returns the id of a record.
    fn id(&self, object: &Object<'_>) -> Option<String> {
        text(object.raw(), "id")
    }

    /// Returns the time of a record.
    fn time(&self, _object: &Object<'_>) -> Option<Instant> {
        None
    }

    /// Adds parts that are beside the message: results, say.
    fn more_parts(&self, _object: &Object<'_>, _parts: &mut Vec<Part>) {}

    /// Whether a record is not shown by default.
    fn hides(&self, _object: &Object<'_>) -> bool {
        false
    }

    /// Returns the parent of every entry. By default each follows the one before it.
    fn link(&self, log: &Log) -> Vec<Option<Slot>> {
        chat_lines::in_order(log)
    }

    /// Returns where the conversation stands: by default at the last entry.
    fn tip(&self, log: &Log) -> Option<Slot> {
        chat_lines::last(log)
    }

    /// Returns what is sent of a branch, for an agent that does not simply send its messages.
    fn context_items(
        &self,
        _view: &SessionView<'_>,
        _branch: &[Slot],
    ) -> Result<Option<Vec<ContextItem>>> {
        Ok(None)
    }

    /// Returns a message that is sent, for a record that is there only to be sent.
    fn sent(&self, _object: &Object<'_>) -> Option<Message> {
        None
    }

    /// Whether a summary replaces everything before it.
    fn summaries_cut(&self) -> bool {
        true
    }

    /// Returns the text that the user typed, without what the agent put around it.
    fn typed(&self, text: &str) -> String {
        text.to_owned()
    }

    /// Returns the model and the tokens of a record.
    fn spent(&self, _object: &Object<'_>) -> (Option<String>, Option<Usage>) {
        (None, None)
    }

    /// Whether a message is no longer sent, which its record states.
    fn is_dropped(&self, _object: &Object<'_>) -> bool {
        false
    }

    /// Returns what is known before the log is read.
    fn begin(&self, _location: &SessionLocation) -> SessionMeta {
        SessionMeta::default()
    }

    /// Adds the facts of a record without a message.
    fn collect(&self, _object: &Object<'_>, _meta: &mut SessionMeta) {}

    /// Adds what other files, or other members of a document, state.
    fn side_meta(
        &self,
        _files: &dyn Files,
        _location: &SessionLocation,
        _meta: &mut SessionMeta,
    ) -> Result<()> {
        Ok(())
    }

    /// Returns the other files of a session.
    fn side_files(&self, _files: &dyn Files, _location: &SessionLocation) -> Result<Vec<SideFile>> {
        Ok(Vec::new())
    }

    /// Returns the command that resumes a session.
    fn resume(&self, _meta: &SessionMeta, _location: &SessionLocation) -> Option<ResumeCommand> {
        None
    }

    /// Whether the agent's sessions are not one file of records.
    fn composes(&self) -> bool {
        false
    }

    /// Returns the files that the log at a key is made of, as [`ComposeLog::sources`].
    fn sources(&self, _files: &dyn Files, _key: &str) -> Result<Vec<FileInfo>> {
        Ok(Vec::new())
    }

    /// Returns the log at a key, as [`ComposeLog::compose`].
    fn compose(&self, _files: &dyn Files, _key: &str) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }

    /// Returns the variable that makes the agent use a root.
    fn variables(&self, _root: &Path) -> Vec<(&'static str, PathBuf)> {
        Vec::new()
    }
}

fn is_result(part: &Part) -> bool {
    matches!(part, Part::Result { .. })
}

/// Returns the tool whose result a message contains.
fn tool(message: Raw<'_>) -> Option<String> {
    let first = message.get("content").and_then(|it| it.items().next());
    let result = first.filter(|it| it.get("type").is_some_and(|word| word.is("tool_result")));
    text(message, "name").or_else(|| text(result?, "name"))
}

/// The dialect of such an agent.
#[derive(Debug)]
pub(crate) struct ChatDialect<A>(pub(crate) A);

impl<A: ChatAgent> ChatDialect<A> {
    fn kind(&self, object: &Object<'_>) -> EntryKind {
        match self.0.message(object) {
            Some(message) => chat_lines::kind(message),
            None => self.0.other_kind(object),
        }
    }

    fn parts(&self, object: &Object<'_>) -> Vec<Part> {
        if let Some(parts) = self.0.own_parts(object) {
            return parts;
        }
        let message = self.0.message(object);
        let mut parts = message.map(chat_lines::message_parts).unwrap_or_default();
        let is_user = message.is_some_and(|it| chat_lines::kind(it) == EntryKind::User);
        for part in parts.iter_mut().filter(|_| is_user) {
            if let Part::Text(text) = part {
                *text = self.0.typed(text);
            }
        }
        self.0.more_parts(object, &mut parts);
        parts
    }

    /// Returns the results that are recorded beside a message: they are sent after it.
    fn results(&self, object: &Object<'_>) -> Vec<Part> {
        let mut parts = match self.kind(object) {
            EntryKind::Assistant => self.0.own_parts(object).unwrap_or_default(),
            _ => Vec::new(),
        };
        self.0.more_parts(object, &mut parts);
        parts.retain(is_result);
        parts
    }

    /// Whether a record of the agent's own form has nothing that is sent: a thought alone, say.
    fn is_silent(&self, object: &Object<'_>) -> bool {
        let own = self.0.own_parts(object);
        own.is_some_and(|parts| {
            let mut said = parts.iter().filter(|part| !is_result(part));
            self.kind(object) == EntryKind::Assistant
                && !said.any(|part| chat_lines::sent(part).is_some())
        })
    }

    fn is_hidden(&self, object: &Object<'_>) -> bool {
        if self.0.hides(object) {
            return true;
        }
        let message = self.0.message(object);
        message.is_some_and(|message| match chat_lines::kind(message) {
            EntryKind::User => chat_lines::is_injected(&chat_lines::prompt(message)),
            EntryKind::System => true,
            _ => false,
        })
    }
}

impl<A: ChatAgent> Dialect for ChatDialect<A> {
    fn facts(&self) -> &'static DialectFacts {
        self.0.facts()
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        self.0.roots(env)
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = self.0.discover(files)?;
        found.sessions.retain(|it| self.id_is_valid(&it.id));
        Ok(found)
    }

    fn id_is_valid(&self, id: &str) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        !id.is_empty() && !id.starts_with(['-', '.']) && id.bytes().all(plain)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        self.0.recognises(sample)
    }

    fn framing(&self, key: &str) -> Framing {
        self.0.framing(key)
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        self.0.is_record(object)
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        SessionMeta {
            parent: location.owner.clone(),
            ..self.0.begin(location)
        }
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        let message = self.0.message(object);
        let word = message.and_then(|it| it.get("role"));
        let word = word.or_else(|| object.get("type")).and_then(|it| it.text());
        head.word = word.and_then(|word| names.intern(&word));
        head.kind = self.kind(object);
        head.id = self.0.id(object).and_then(|id| names.intern(&id));
        head.time = self.0.time(object).map(Into::into);
        head.flags.set_if(self.is_hidden(object), Flags::HIDDEN);
        head.flags.set_if(self.0.is_dropped(object), Flags::OWN);
        if head.kind == EntryKind::Compaction {
            head.flags.set_if(self.0.summaries_cut(), Flags::CUT);
            head.flags.set(Flags::SUMMARY);
        }
    }

    fn collect_meta(
        &self,
        object: &Object<'_>,
        head: &Head,
        names: &mut Interner,
        meta: &mut SessionMeta,
    ) {
        meta.saw(head);
        meta.count(head.word.map_or("", |word| names.text(word)));
        match head.kind {
            EntryKind::User if !head.flags.has(Flags::HIDDEN) => {
                let said = match self.0.message(object) {
                    Some(message) => self.0.typed(&chat_lines::prompt(message)),
                    None => content_blocks::said_text(&self.parts(object)),
                };
                meta.saw_prompt(&said);
                (meta.turns, meta.messages) = (meta.turns + 1, meta.messages + 1);
            }
            EntryKind::Assistant => {
                meta.messages += 1;
                meta.tool_calls += View::of(self.parts(object)).calls().count() as u64;
            }
            _ => {}
        }
        self.0.collect(object, meta);
        let (model, usage) = self.0.spent(object);
        if let Some(model) = &model {
            meta.saw_model(model);
        }
        if let Some(usage) = usage {
            let said = Said {
                at: head.instant(),
                model: model.and_then(|model| names.intern(&model)),
                ..Said::default()
            };
            meta.usage.note_said(head.id, usage, said);
        }
    }

    fn link(&self, log: &Log) -> Vec<Option<Slot>> {
        self.0.link(log)
    }

    fn tip(&self, view: &SessionView<'_>) -> Result<Tip> {
        Ok(self.0.tip(view.log).map_or(Tip::Root, Tip::At))
    }

    fn view(&self, object: &Object<'_>) -> View {
        let kind = self.kind(object);
        if kind == EntryKind::Compaction {
            return View {
                remark: Some("a summary replaces what came before".to_owned()),
                ..View::of(self.0.summary(object).map(Part::Text))
            };
        }
        if kind == EntryKind::Header {
            let id = self.0.id(object).unwrap_or_default();
            return View::remark(format!("session {id}"));
        }
        let own = self.0.own_parts(object);
        if (self.0.message(object).is_none() && own.is_none()) || kind == EntryKind::Unknown {
            let word = object.text("type").unwrap_or_default();
            return chat_lines::other(&word, object.raw());
        }
        let (model, usage) = self.0.spent(object);
        let parts = own.unwrap_or_else(|| self.parts(object));
        let remark = parts
            .is_empty()
            .then(|| "a message without content".to_owned());
        View {
            parts,
            remark,
            model,
            usage,
            tool: self.0.message(object).and_then(tool),
            hidden: self.is_hidden(object),
            ..View::default()
        }
    }

    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context> {
        let mut context = Context::stored(tip, None);
        let branch = self.branch(view, tip)?;
        if let Some(items) = self.0.context_items(view, &branch)? {
            context.items = items;
            return Ok(context);
        }
        for slot in branch {
            let Some(head) = view.log.head(slot) else {
                continue;
            };
            if head.flags.has(Flags::OWN) {
                continue;
            }
            match head.kind {
                EntryKind::Compaction => {
                    let summary = ContextForm::CompactionSummary;
                    context.items = vec![ContextItem::with_form(slot, summary)];
                }
                EntryKind::User | EntryKind::Assistant | EntryKind::ToolResult => {
                    let is_silent = view.with_object(slot, |it| self.is_silent(it))?;
                    let stored = ContextItem::stored(slot);
                    context
                        .items
                        .extend((is_silent != Some(true)).then_some(stored));
                    let has_results = view.with_object(slot, |it| !self.results(it).is_empty())?;
                    let results = ContextItem::with_form(slot, ContextForm::Part(1));
                    context
                        .items
                        .extend((has_results == Some(true)).then_some(results));
                }
                _ => {}
            }
        }
        Ok(context)
    }

    fn render(&self, item: &ContextItem, records: &[Object<'_>]) -> Message {
        let Some(record) = records.first() else {
            return Message::new("", None);
        };
        if item.form == ContextForm::CompactionSummary {
            let said = |text: String| Json::object().with("type", "text").with("text", text);
            return Message::new("user", self.0.summary(record).map(said));
        }
        if item.form == ContextForm::Part(1) {
            let results = self.results(record);
            return Message::new("tool", results.iter().filter_map(chat_lines::sent));
        }
        if let Some(message) = self.0.sent(record) {
            return message;
        }
        if let Some(parts) = self.0.own_parts(record) {
            let role = match self.kind(record) {
                EntryKind::Assistant => "assistant",
                EntryKind::ToolResult => "tool",
                _ => "user",
            };
            // The results in an answer are a message after it.
            let is_sent = |part: &&Part| role != "assistant" || !is_result(part);
            let parts = parts.iter().filter(is_sent);
            return Message::new(role, parts.filter_map(chat_lines::sent));
        }
        let message = self.0.message(record).unwrap_or(record.raw());
        chat_lines::render(message)
    }

    fn powers(&self) -> Powers<'_> {
        let compose: &dyn ComposeLog = self;
        Powers {
            compose: self.0.composes().then_some(compose),
            side_files: Some(self),
            runtime: Some(self),
            ..Powers::default()
        }
    }
}

impl<A: ChatAgent> ComposeLog for ChatDialect<A> {
    fn sources(&self, files: &dyn Files, key: &str) -> Result<Vec<FileInfo>> {
        self.0.sources(files, key)
    }

    fn compose(&self, files: &dyn Files, key: &str) -> Result<Vec<u8>> {
        self.0.compose(files, key)
    }
}

impl<A: ChatAgent> SideFiles for ChatDialect<A> {
    fn side_files(&self, files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>> {
        self.0.side_files(files, location)
    }

    fn collect_side_meta(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        meta: &mut SessionMeta,
    ) -> Result<()> {
        self.0.side_meta(files, location, meta)
    }
}

impl<A: ChatAgent> Runtime for ChatDialect<A> {
    fn resume(
        &self,
        meta: &SessionMeta,
        location: &SessionLocation,
        _permissions: Permissions,
    ) -> Option<ResumeCommand> {
        let id = meta.id.as_ref().unwrap_or(&location.id);
        let usable = location.owner.is_none() && self.id_is_valid(id);
        usable.then(|| self.0.resume(meta, location)).flatten()
    }

    fn store_variables(&self, root: &Path, _key: Option<&str>) -> Vec<(&'static str, PathBuf)> {
        self.0.variables(root)
    }
}
