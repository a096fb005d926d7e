//! OpenHands: a folder for each conversation, with a file for each event.
//!
//! The format is described in `docs/dialects/openhands.md`. The log that boswell reads has the
//! events as lines, in the order of the numbers in their names.

mod event;

use std::path::PathBuf;

use boswell_model::json::{Object, Raw};
use boswell_model::{
    ContextForm, ContextItem, EntryKind, Framing, Instant, Part, Result, SessionMeta, SessionView,
    Slot, Usage,
};

use crate::chat_agent::{ChatAgent, ChatDialect};
use crate::members::{plain, text, time};
use crate::powers::{composed_location, push_line};
use crate::{
    Capabilities, Capability, DialectFacts, Discovered, Environment, FileInfo, Files, Match,
    ResumeCommand, Sample, SessionLocation, SideFile, Support, folder_files,
};

const EVENT_LIMIT: u64 = 64 << 20;
const STATE_LIMIT: u64 = 64 << 20;
/// Folders with conversations: of the newer program and of the older server. Each has the name of
/// the document in which a conversation's state is.
const FOLDERS: [(&str, &str); 2] = [
    ("conversations", "base_state.json"),
    ("sessions", "metadata.json"),
];

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
        (Capability::Resume, Support::Native),
    ]),
    sessions_folder: Some("conversations"),
    ..DialectFacts::new("openhands", "OpenHands")
};

/// The dialect of OpenHands.
pub(crate) static OPENHANDS: ChatDialect<OpenHands> = ChatDialect(OpenHands);

/// OpenHands.
#[derive(Debug)]
pub(crate) struct OpenHands;

impl ChatAgent for OpenHands {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        env.in_home(".openhands").into_iter().collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = Discovered::default();
        for (folder, state) in FOLDERS {
            for session in files.list(folder)?.into_iter().filter(FileInfo::is_folder) {
                let key = format!("{}/{state}", session.key);
                let sources = sources(files, &key)?;
                // A folder without events is no conversation yet.
                let has_events = sources.iter().any(|it| it.key != key);
                let location = composed_location(session.name(), &key, &sources);
                found.sessions.extend(location.filter(|_| has_events));
            }
        }
        Ok(found)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        let in_events = sample.folders.first().is_some_and(|it| it == "events");
        match sample.records.first() {
            Some(first) if self.is_record(first) && in_events => Match::Certain,
            Some(first) if self.is_record(first) => Match::Likely,
            _ => Match::No,
        }
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        let has = |key: &str| object.get(key).is_some();
        let is_event = has("kind") || has("action") || has("observation");
        has("id") && has("timestamp") && has("source") && is_event
    }

    fn framing(&self, _key: &str) -> Framing {
        Framing::Lines
    }

    fn other_kind(&self, object: &Object<'_>) -> EntryKind {
        event::kind(object)
    }

    fn own_parts(&self, object: &Object<'_>) -> Option<Vec<Part>> {
        event::parts(object)
    }

    fn summary(&self, object: &Object<'_>) -> Option<String> {
        text(object.raw(), "summary")
    }

    fn summaries_cut(&self) -> bool {
        false
    }

    fn hides(&self, object: &Object<'_>) -> bool {
        event::kind(object) == EntryKind::System
    }

    fn id(&self, object: &Object<'_>) -> Option<String> {
        object.get("id").map(plain)
    }

    fn time(&self, object: &Object<'_>) -> Option<Instant> {
        let stated = object.get("timestamp")?;
        // Older versions state no zone; the server runs in UTC.
        time(stated).or_else(|| Instant::parse(&format!("{}Z", stated.text()?)))
    }

    /// Events that a condensation forgot are not sent; its summary is, at a place that it states.
    fn context_items(
        &self,
        view: &SessionView<'_>,
        branch: &[Slot],
    ) -> Result<Option<Vec<ContextItem>>> {
        let (mut items, mut summary): (Vec<Slot>, _) = (Vec::new(), None);
        for slot in branch {
            match view.log.kind(*slot) {
                EntryKind::User | EntryKind::Assistant | EntryKind::ToolResult => items.push(*slot),
                EntryKind::Compaction => {
                    let stated = view.with_object(*slot, |it| {
                        let offset = it.get("summary_offset").and_then(|it| it.u64());
                        (event::forgotten(it), offset)
                    })?;
                    let Some((forgotten, offset)) = stated else {
                        continue;
                    };
                    let is_kept = |slot: &Slot| !forgotten.contains(&*view.log.label(*slot));
                    items.retain(is_kept);
                    summary = Some((*slot, offset.unwrap_or(0)));
                }
                _ => {}
            }
        }
        let mut items: Vec<ContextItem> = items.into_iter().map(ContextItem::stored).collect();
        if let Some((slot, offset)) = summary {
            // The offset counts the instructions, which are not part of the context here.
            let place = usize::try_from(offset.saturating_sub(1)).unwrap_or(usize::MAX);
            let item = ContextItem::with_form(slot, ContextForm::CompactionSummary);
            items.insert(place.min(items.len()), item);
        }
        Ok(Some(items))
    }

    fn side_meta(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        meta: &mut SessionMeta,
    ) -> Result<()> {
        let Some(key) = &location.key else {
            return Ok(());
        };
        let bytes = files.read_whole(key, STATE_LIMIT)?.unwrap_or_default();
        if let Ok(state) = Raw::parse(bytes.trim_ascii()) {
            self::state(state, meta);
        }
        Ok(())
    }

    fn side_files(&self, files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>> {
        folder_files::next_to(files, location)
    }

    fn resume(&self, meta: &SessionMeta, location: &SessionLocation) -> Option<ResumeCommand> {
        let is_new = location.key.as_deref()?.starts_with("conversations/");
        is_new.then(|| ResumeCommand {
            argv: ["openhands", "--resume", &location.id]
                .map(str::to_owned)
                .to_vec(),
            cwd: meta.project.clone(),
        })
    }

    fn composes(&self) -> bool {
        true
    }

    fn sources(&self, files: &dyn Files, key: &str) -> Result<Vec<FileInfo>> {
        sources(files, key)
    }

    fn compose(&self, files: &dyn Files, key: &str) -> Result<Vec<u8>> {
        let mut log = Vec::new();
        for event in sources(files, key)?.iter().filter(|it| it.key != key) {
            let bytes = files.read_whole(&event.key, EVENT_LIMIT)?;
            push_line(&bytes.unwrap_or_default(), &mut log);
        }
        Ok(log)
    }
}

/// Returns the files of a conversation: its state, if it is there, and its events in order. Empty
/// for every other key.
fn sources(files: &dyn Files, key: &str) -> Result<Vec<FileInfo>> {
    let Some((folder, name)) = key.rsplit_once('/') else {
        return Ok(Vec::new());
    };
    if !FOLDERS.iter().any(|(_, state)| *state == name) {
        return Ok(Vec::new());
    }
    let mut events: Vec<(u64, FileInfo)> = Vec::new();
    for info in files.list(&format!("{folder}/events"))? {
        let number = info.stem(".json").and_then(number);
        if let Some(number) = number.filter(|_| info.is_file()) {
            events.push((number, info));
        }
    }
    events.sort_by_key(|(number, _)| *number);
    let state = files.stat(key)?.filter(FileInfo::is_file);
    Ok(state
        .into_iter()
        .chain(events.into_iter().map(|(_, info)| info))
        .collect())
}

/// Returns the number of an event from the name of its file: `event-00012-…`, or `12`.
fn number(stem: &str) -> Option<u64> {
    let rest = stem.strip_prefix("event-").unwrap_or(stem);
    rest.split('-').next()?.parse().ok()
}

/// Adds what the state of a conversation states.
fn state(state: Raw<'_>, meta: &mut SessionMeta) {
    let workspace = state
        .get("workspace")
        .and_then(|it| text(it, "working_dir"));
    meta.project = workspace.or_else(|| meta.project.take());
    meta.title = text(state, "title").or_else(|| meta.title.take());
    let model = state.at(&["agent", "llm"]).and_then(|it| text(it, "model"));
    if let Some(model) = model.or_else(|| text(state, "llm_model")) {
        meta.saw_model(&model);
    }
    if let Some(uses) = state.at(&["stats", "usage_to_metrics"]) {
        add_usage(uses, meta);
    }
}

/// Adds up the usage of all models.
fn add_usage(uses: Raw<'_>, meta: &mut SessionMeta) {
    let mut sum = Usage::default();
    for (_, metrics) in uses.members() {
        let tokens = metrics.get("accumulated_token_usage");
        let count = |key: &str| tokens.and_then(|it| it.get(key)?.u64());
        let cached = count("cache_read_tokens");
        let usage = Usage {
            input: count("prompt_tokens").map(|n| n.saturating_sub(cached.unwrap_or(0))),
            output: count("completion_tokens"),
            cache_read: cached,
            cache_write: count("cache_write_tokens"),
            reasoning: count("reasoning_tokens"),
            cost: metrics.get("accumulated_cost").and_then(|it| it.f64()),
            ..Usage::default()
        };
        sum.add(&usage);
    }
    if !sum.is_unknown() {
        meta.stated.usage = sum;
    }
}
