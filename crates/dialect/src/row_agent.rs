//! A dialect of an agent that keeps its messages in rows, from the little that differs between such
//! agents.
//!
//! [`RowAgent`] states which record is a message and what its parts are. [`RowDialect`] answers
//! everything else. Files of the same agent, from before it had a database, are records too.

use std::fmt;
use std::path::{Path, PathBuf};

use boswell_model::json::{Json, Object};
use boswell_model::{
    Context, ContextForm, ContextItem, EntryKind, Flags, Framing, Head, Instant, Interner, Log,
    Message, Part, Result, Said, SessionMeta, SessionView, Slot, Tip, Usage, View,
};

use crate::content_blocks::said_text;
use crate::members::text;
use crate::{
    Dialect, DialectFacts, Discovered, Environment, Files, ImportSession, Match, Permissions,
    Powers, ROW_DOCUMENT, ROW_TABLE, ResumeCommand, Runtime, Sample, SessionLocation, SideFile,
    SideFiles, chat_lines,
};

/// What differs between agents that keep messages in rows.
pub(crate) trait RowAgent: Send + Sync + fmt::Debug + 'static {
    /// Returns the constants.
    fn facts(&self) -> &'static DialectFacts;

    /// Returns the folders with databases.
    fn roots(&self, env: &Environment) -> Vec<PathBuf>;

    /// Finds every session.
    fn discover(&self, files: &dyn Files) -> Result<Discovered>;

    /// Rates how well the records of a file match that are not rows.
    fn recognises_file(&self, _sample: &Sample<'_>) -> Match {
        Match::No
    }

    /// Whether an object that is not a row is a record.
    fn is_file_record(&self, _object: &Object<'_>) -> bool {
        false
    }

    /// Whether the columns of a row are those of this agent: others have tables of the same name.
    fn has_columns(&self, object: &Object<'_>) -> bool;

    /// Returns how a file is divided into records.
    fn framing(&self, _key: &str) -> Framing {
        Framing::Lines
    }

    /// Returns the kind of a record.
    fn kind(&self, object: &Object<'_>) -> EntryKind;

    /// Returns the parts of a message.
    fn parts(&self, object: &Object<'_>) -> Vec<Part>;

    /// Returns the agent's own word for the type of a record.
    fn word(&self, object: &Object<'_>) -> String;

    /// Returns the id of a record.
    fn id(&self, object: &Object<'_>) -> Option<String> {
        text(object.raw(), "id")
    }

    /// Returns the time of a record.
    fn time(&self, object: &Object<'_>) -> Option<Instant>;

    /// Whether the agent does not show a message to its user.
    fn is_hidden(&self, _object: &Object<'_>) -> bool {
        false
    }

    /// Whether a message is no longer sent, which its record states.
    fn is_dropped(&self, _object: &Object<'_>) -> bool {
        false
    }

    /// Whether a message is a summary that replaces those before it.
    fn is_summary(&self, _object: &Object<'_>) -> bool {
        false
    }

    /// Returns the model and the tokens of a record.
    fn spent(&self, _object: &Object<'_>) -> (Option<String>, Option<Usage>) {
        (None, None)
    }

    /// Whether the usage of a record counts. `meta` has what earlier records said: an agent may
    /// record the same tokens twice.
    fn counts_usage(&self, _object: &Object<'_>, _meta: &SessionMeta) -> bool {
        true
    }

    /// Returns why the model stopped.
    fn stop(&self, _object: &Object<'_>) -> Option<String> {
        None
    }

    /// Returns what is known before the log is read.
    fn begin(&self, _location: &SessionLocation) -> SessionMeta {
        SessionMeta::default()
    }

    /// Adds the facts of a record besides its message.
    fn collect(&self, _object: &Object<'_>, _meta: &mut SessionMeta) {}

    /// Adds what other members of a document state, which are no records.
    fn side_meta(
        &self,
        _files: &dyn Files,
        _location: &SessionLocation,
        _meta: &mut SessionMeta,
    ) -> Result<()> {
        Ok(())
    }

    /// Returns the entries that are sent, in order: the conversation of the branch, from the newest
    /// summary on, unless the agent has rules of its own.
    fn sent(&self, view: &SessionView<'_>, branch: &[Slot]) -> Result<Vec<Slot>> {
        Ok(from_the_newest_summary(view, branch))
    }

    /// Whether reasoning is sent back, with each provider in its own form.
    fn sends_thinking(&self) -> bool {
        false
    }

    /// Returns the parts of a message as they are sent, one list for each step: its calls are sent
    /// before their results, and both before the next step.
    fn steps(&self, object: &Object<'_>) -> Vec<Vec<Part>> {
        vec![self.parts(object)]
    }

    /// Returns the role of a message that is sent.
    fn role(&self, object: &Object<'_>) -> &'static str {
        match self.kind(object) {
            EntryKind::Assistant => "assistant",
            EntryKind::System => "system",
            _ => "user",
        }
    }

    /// Returns the command that resumes a session.
    fn resume(&self, _meta: &SessionMeta, _location: &SessionLocation) -> Option<ResumeCommand> {
        None
    }

    /// Returns how its program takes new sessions, if it does.
    fn importer(&self) -> Option<&dyn ImportSession> {
        None
    }

    /// Returns the variable that makes the agent use a root.
    fn variables(&self, _root: &Path) -> Vec<(&'static str, PathBuf)> {
        Vec::new()
    }
}

/// Whether an entry is sent as a message.
pub(crate) fn is_sent(view: &SessionView<'_>, slot: Slot) -> bool {
    view.log.head(slot).is_some_and(|head| {
        let is_message = matches!(
            head.kind,
            EntryKind::User | EntryKind::Assistant | EntryKind::ToolResult | EntryKind::Compaction
        );
        is_message && !head.flags.has(Flags::OWN)
    })
}

/// Returns the entries of a branch that are sent if the newest summary replaces those before it.
pub(crate) fn from_the_newest_summary(view: &SessionView<'_>, branch: &[Slot]) -> Vec<Slot> {
    let cuts = |slot: &Slot| {
        let head = view.log.head(*slot);
        head.is_some_and(|head| head.flags.has(Flags::CUT))
    };
    let start = branch.iter().rposition(cuts).unwrap_or(0);
    let rest = branch.get(start..).unwrap_or_default();
    let sent = rest.iter().filter(|slot| is_sent(view, **slot));
    sent.copied().collect()
}

/// The dialect of such an agent.
#[derive(Debug)]
pub(crate) struct RowDialect<A>(pub(crate) A);

impl<A: RowAgent> RowDialect<A> {
    fn is_row(&self, object: &Object<'_>) -> bool {
        let Some(layout) = self.0.facts().rows else {
            return false;
        };
        if layout.document.is_some() {
            return object.get(ROW_DOCUMENT).is_some();
        }
        let table = object.get(ROW_TABLE);
        let is = |name: &str| table.is_some_and(|table| table.is(name));
        let children = layout.tables.iter().filter_map(|it| it.children);
        let mut names = (layout.tables.iter().map(|it| it.name))
            .chain(children.map(|children| children.table.name));
        names.any(is)
    }
}

impl<A: RowAgent> Dialect for RowDialect<A> {
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
        // A `#` would end the name of the database in the key of the session.
        let plain = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'$' | b':')
        };
        !id.is_empty() && !id.starts_with(['-', '.']) && id.bytes().all(plain)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        match sample.records.first() {
            Some(first) if self.is_row(first) && self.0.has_columns(first) => Match::Certain,
            Some(first) if self.is_row(first) => Match::Maybe,
            _ => self.0.recognises_file(sample),
        }
    }

    fn framing(&self, key: &str) -> Framing {
        self.0.framing(key)
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        self.is_row(object) || self.0.is_file_record(object)
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        SessionMeta {
            parent: location.owner.clone(),
            ..self.0.begin(location)
        }
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        head.word = names.intern(&self.0.word(object));
        head.kind = self.0.kind(object);
        head.id = self.0.id(object).and_then(|id| names.intern(&id));
        head.time = self.0.time(object).map(Into::into);
        let is_message = head.kind.is_conversation() || head.kind == EntryKind::System;
        head.flags.set_if(is_message, Flags::CHAIN);
        head.flags.set_if(self.0.is_hidden(object), Flags::HIDDEN);
        head.flags.set_if(self.0.is_dropped(object), Flags::OWN);
        if self.0.is_summary(object) {
            head.flags.set(Flags::CUT);
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
                if !head.flags.has(Flags::SUMMARY) {
                    meta.saw_prompt(&said_text(&self.0.parts(object)));
                    meta.turns += 1;
                }
                meta.messages += 1;
            }
            EntryKind::Assistant => {
                meta.messages += 1;
                meta.tool_calls += View::of(self.0.parts(object)).calls().count() as u64;
            }
            _ => {}
        }
        self.0.collect(object, meta);
        let (model, usage) = self.0.spent(object);
        if let Some(model) = &model {
            meta.saw_model(model);
        }
        if let Some(usage) = usage.filter(|_| self.0.counts_usage(object, meta)) {
            let said = Said {
                at: head.instant(),
                model: model.and_then(|model| names.intern(&model)),
                ..Said::default()
            };
            meta.usage.note_said(head.id, usage, said);
        }
    }

    /// Rows are in order: each message follows the one before it.
    fn link(&self, log: &Log) -> Vec<Option<Slot>> {
        let mut last = None;
        let mut parents = Vec::with_capacity(log.heads.len());
        for (slot, head) in log.entries() {
            let is_message = head.flags.has(Flags::CHAIN);
            parents.push(last.filter(|_| is_message));
            last = if is_message { Some(slot) } else { last };
        }
        parents
    }

    fn tip(&self, view: &SessionView<'_>) -> Result<Tip> {
        let mut entries = view.log.entries().rev();
        let last = entries.find(|(_, head)| head.flags.has(Flags::CHAIN));
        Ok(last.map_or(Tip::Root, |(slot, _)| Tip::At(slot)))
    }

    fn view(&self, object: &Object<'_>) -> View {
        let kind = self.0.kind(object);
        if !kind.is_conversation() && kind != EntryKind::System {
            return chat_lines::other(&self.0.word(object), object.raw());
        }
        let (model, usage) = self.0.spent(object);
        let parts = self.0.parts(object);
        let remark = match parts.is_empty() {
            true => Some("a message without content".to_owned()),
            false if self.0.is_summary(object) => {
                Some("a summary replaces what came before".to_owned())
            }
            false => None,
        };
        View {
            parts,
            remark,
            model,
            usage,
            stop: self.0.stop(object),
            hidden: self.0.is_hidden(object),
            ..View::default()
        }
    }

    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context> {
        let mut context = Context::stored(tip, None);
        let branch = self.branch(view, tip)?;
        for slot in self.0.sent(view, &branch)? {
            let steps = view.with_object(slot, |it| self.0.steps(it))?;
            for (step, parts) in (0..).zip(steps.unwrap_or_default()) {
                let is_result = |part: &Part| matches!(part, Part::Result { .. });
                let results = parts.iter().any(is_result);
                let others = parts.iter().any(|part| !is_result(part));
                let item = |half: u32| ContextItem::with_form(slot, ContextForm::Part(half));
                context.items.extend(others.then(|| item(2 * step)));
                context.items.extend(results.then(|| item(2 * step + 1)));
            }
        }
        Ok(context)
    }

    fn render(&self, item: &ContextItem, records: &[Object<'_>]) -> Message {
        let (Some(record), ContextForm::Part(half)) = (records.first(), &item.form) else {
            return Message::new("", None);
        };
        let step = usize::try_from(half / 2).unwrap_or(usize::MAX);
        let parts = self.0.steps(record).into_iter().nth(step);
        let mut parts = parts.unwrap_or_default();
        let results = half % 2 == 1;
        parts.retain(|part| matches!(part, Part::Result { .. }) == results);
        let role = match results {
            true => "tool",
            false => self.0.role(record),
        };
        let sent = |part: &Part| match part {
            Part::Thinking { text, .. } if self.0.sends_thinking() => {
                Some(chat_lines::thought(text))
            }
            part => chat_lines::sent(part),
        };
        let content: Vec<Json> = parts.iter().filter_map(sent).collect();
        Message::new(role, content)
    }

    fn powers(&self) -> Powers<'_> {
        Powers {
            import: self.0.importer(),
            side_files: Some(self),
            runtime: Some(self),
            ..Powers::default()
        }
    }
}

impl<A: RowAgent> SideFiles for RowDialect<A> {
    fn side_files(&self, _files: &dyn Files, _location: &SessionLocation) -> Result<Vec<SideFile>> {
        Ok(Vec::new())
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

impl<A: RowAgent> Runtime for RowDialect<A> {
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
