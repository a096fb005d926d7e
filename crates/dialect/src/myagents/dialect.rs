//! The implementation of [`Dialect`] and its powers for MyAgents.

use std::path::{Path, PathBuf};

use boswell_model::json::{Json, Object, Raw};
use boswell_model::{
    Context, ContextItem, EntryKind, Flags, Framing, Head, Interner, Log, Message, Problem,
    ProblemKind, Result, SessionMeta, SessionView, Settings, Slot, Tip, View,
};

use crate::DialectFacts;
use crate::resume_decision::Probe;
use crate::{
    Capabilities, Capability, Dialect, Discovered, EditRequest, Environment, Files, FoldLog,
    IdSource, LineSource, LinkKind, LockSpec, Match, Orphan, Permissions, PlanEdits, PlanInput,
    Planned, Powers, Refine, Repairer, ResumeCommand, Runtime, Sample, SessionLink,
    SessionLocation, SharedFiles, SideFile, SideFiles, StoreRequest, Support,
};

use super::content::Content;
use super::rewind_intent::{Engine, Intent, Recovery};
use super::row::{PENDING, Row};
use super::stats::Stats;
use super::{id, index, index_file, layout, leftovers, message, plan, resume, v2};

/// The dialect of the MyAgents desktop app, in all its generations.
#[derive(Debug)]
pub struct MyAgents;

/// Contains the process id of the desktop app while it runs.
const APP_LOCK: &str = "app.lock";

const CAN: Capabilities = Capabilities::new(&[
    (Capability::Read, Support::Native),
    (Capability::Context, Support::Native),
    (Capability::Append, Support::Native),
    (Capability::Rewind, Support::Rewrites),
    (Capability::Fork, Support::Native),
    (Capability::Title, Support::Native),
    (Capability::Tag, Support::Note),
    (Capability::Label, Support::Note),
    (Capability::Status, Support::Note),
    (Capability::Delete, Support::Native),
]);

/// Facts about the dialect that do not depend on a session.
static FACTS: DialectFacts = DialectFacts {
    capabilities: CAN,
    sessions_folder: Some("sessions"),
    ids_are_unique: false,
    creates_by_plan: true,
    forks_to_other_projects: true,
    ..DialectFacts::new("myagents", "MyAgents")
};

impl Dialect for MyAgents {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        let home = env
            .home
            .clone()
            .or_else(|| env.var("USERPROFILE").map(PathBuf::from));
        // Only the newest versions read the variable; older ones always use the home folder.
        let moved = env.path_var("MYAGENTS_DATA_DIR");
        let usual = home
            .map(|home| home.join(".myagents"))
            .filter(|usual| moved.as_ref() != Some(usual));
        moved.into_iter().chain(usual).collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        layout::discover(files)
    }

    fn id_is_valid(&self, id: &str) -> bool {
        id::is_valid(id)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        let stem = sample
            .name
            .strip_suffix(".jsonl")
            .or_else(|| sample.name.strip_suffix(".json"));
        let folder = |at: usize| sample.folders.get(at).map(String::as_str);
        let at_home = stem.is_some_and(id::is_valid)
            && matches!(folder(0), Some("sessions" | v2::FOLDER))
            && folder(1) == Some(".myagents");
        let first = sample.records.first();
        let rows = first.is_some_and(message::is_row);
        // No other program writes such a header.
        if first.is_some_and(|record| v2::is_header(record)) {
            return Match::Certain;
        }
        let document = first
            .and_then(|record| record.get("messages"))
            .is_some_and(holds_rows);
        match (rows || document, at_home) {
            (true, true) => Match::Certain,
            (true, false) if rows => Match::Likely,
            // Many programs have documents with a `messages` member.
            (true, false) => Match::Maybe,
            (false, true) => Match::Maybe,
            (false, false) => Match::No,
        }
    }

    fn framing(&self, key: &str) -> Framing {
        layout::framing(key)
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        message::is_row(object)
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        let row = location.row.as_deref().and_then(Row::parse);
        let mut meta = row.map(|row| row.meta()).unwrap_or_default();
        meta.hidden = location.hidden;
        meta
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        message::head(object, head, names);
    }

    fn collect_meta(
        &self,
        object: &Object<'_>,
        head: &Head,
        names: &mut Interner,
        meta: &mut SessionMeta,
    ) {
        message::collect_meta(object, head, names, meta);
    }

    /// Rows are a list: each follows the one before it in the file, regardless of ids.
    fn link(&self, log: &Log) -> Vec<Option<Slot>> {
        let said = |slot: &Slot| log.kind(*slot) != EntryKind::Header;
        log.slots()
            .map(|slot| slot.0.checked_sub(1).map(Slot).filter(said))
            .collect()
    }

    fn tip(&self, view: &SessionView<'_>) -> Result<Tip> {
        Ok(view.log.slots().next_back().map_or(Tip::Root, Tip::At))
    }

    fn view(&self, object: &Object<'_>) -> View {
        if v2::is_header(object) {
            v2::header_view(object.raw())
        } else if object.get("role").is_some() {
            message::view(object)
        } else {
            View::remark(super::content::lossy(object.raw().bytes()))
        }
    }

    /// Returns the rows in order, which is what the app shows as the conversation. Messages from
    /// before a compaction by the engine are included; the linked transcript has the real context
    /// of the model.
    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context> {
        let path = tip
            .slot()
            .map(|slot| view.tree.path(slot))
            .unwrap_or_default();
        let said =
            |slot: &Slot| matches!(view.log.kind(*slot), EntryKind::User | EntryKind::Assistant);
        let mut settings = Settings::default();
        for slot in path
            .iter()
            .rev()
            .filter(|slot| view.log.kind(**slot) == EntryKind::Assistant)
        {
            if let Some(model) = view.with_object(*slot, message::model)?.flatten() {
                settings.set_model("default", &model);
                break;
            }
        }
        let items = path
            .into_iter()
            .filter(said)
            .map(ContextItem::stored)
            .collect();
        Ok(Context {
            tip,
            items,
            settings,
        })
    }

    fn render(&self, _item: &ContextItem, records: &[Object<'_>]) -> Message {
        let role = records
            .first()
            .and_then(|r| r.text("role"))
            .unwrap_or_default()
            .into_owned();
        let content = records
            .iter()
            .flat_map(|record| parts(Content::of(record.get("content"))))
            .collect();
        let whole = records
            .first()
            .filter(|record| record.get("attachments").is_some());
        Message {
            role,
            content,
            native: whole.map(|record| Json::from(record.raw())),
        }
    }

    fn powers(&self) -> Powers<'_> {
        Powers {
            fold: Some(self),
            edits: Some(self),
            shared_files: Some(self),
            repair: Some(self),
            side_files: Some(self),
            runtime: Some(self),
            refine: self,
            ..Powers::default()
        }
    }
}

impl FoldLog for MyAgents {
    fn folds(&self, key: &str, first: &[u8]) -> bool {
        v2::session_of(key).is_some() || v2::begins_log(first)
    }

    fn folded_framing(&self) -> Framing {
        layout::DOCUMENT
    }

    fn fold(&self, key: &str, read: LineSource<'_>) -> Result<Vec<u8>> {
        match v2::fold(v2::session_of(key), read)? {
            Ok(folded) => Ok(v2::document(&folded)),
            Err(fault) => Err(v2::refused(key, &fault)),
        }
    }

    fn shortfall(&self, header: &Object<'_>) -> Option<String> {
        v2::shortfall(header.raw())
    }

    fn require_readable(&self, location: &SessionLocation) -> Result<()> {
        layout::require_readable(location)
    }
}

impl PlanEdits for MyAgents {
    fn plans(&self, operation: Capability) -> bool {
        plan::plans(operation)
    }

    fn locks(&self, location: &SessionLocation, request: &EditRequest) -> Vec<LockSpec> {
        plan::locks(location, request)
    }

    fn plan(&self, asked: &PlanInput<'_>, request: &EditRequest) -> Result<Planned> {
        plan::plan(asked, request)
    }

    fn store_locks(&self, request: &StoreRequest) -> Vec<LockSpec> {
        plan::store_locks(request)
    }

    fn plan_store(
        &self,
        files: &dyn Files,
        request: &StoreRequest,
        id_source: &dyn IdSource,
    ) -> Result<Planned> {
        plan::plan_store(files, request, id_source)
    }
}

impl SharedFiles for MyAgents {
    fn is_shared(&self, key: &str) -> bool {
        index::is_index(key)
    }

    fn shared_files(&self, files: &dyn Files) -> Result<Vec<String>> {
        Ok(files
            .list("")?
            .into_iter()
            .filter(|info| info.is_file() && index::is_index(&info.key))
            .map(|i| i.key)
            .collect())
    }

    fn without(&self, key: &str, bytes: &[u8], ids: &[String]) -> Option<Vec<u8>> {
        index::is_index(key).then(|| index::without(bytes, ids))?
    }

    fn merge(&self, key: &str, base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
        (key == index::MAIN).then(|| index_file::merge(base, ours, theirs))?
    }
}

impl Repairer for MyAgents {
    fn check(
        &self,
        view: &SessionView<'_>,
        meta: &SessionMeta,
        problems: &mut Vec<Problem>,
    ) -> Result<()> {
        if let Some(about) = folded_header(view) {
            let pending = meta.metadata.get(PENDING);
            let found = view.with_object(about, |about| {
                v2::problems(about.raw(), pending.map(String::as_str))
            })?;
            problems.extend(found.unwrap_or_default());
            return Ok(());
        }
        let Some(json) = meta.metadata.get(PENDING) else {
            return check_sums(view, meta, problems);
        };
        let intent = Raw::parse(json.as_bytes()).ok().and_then(Intent::parse);
        let detail = match intent {
            None => {
                "a change of the conversation was started in a format that is not known".to_owned()
            }
            Some(intent) => {
                let bound = meta.external_ids.get(if intent.engine == Engine::Sdk {
                    "sdk"
                } else {
                    "runtime"
                });
                let rows = view.log.heads.len() as u64;
                // The app parses line by line: records that share a line or follow garbage are
                // malformed to it.
                let torn =
                    |head: &Head| head.flags.has(Flags::GLUED) || head.flags.has(Flags::SALVAGED);
                let sound = view.log.gaps.is_empty() && !view.log.heads.iter().any(torn);
                let then = match intent.recovery(bound.map(String::as_str), rows, sound) {
                    Recovery::RollBack => "nothing was cut yet, so MyAgents will drop it",
                    Recovery::RollForward => "the rows are cut, so MyAgents will finish it",
                    Recovery::Inconsistent(why) => why,
                };
                format!(
                    "a rewind from {} to {} rows was started: {then}",
                    intent.rows_before, intent.rows_after
                )
            }
        };
        problems.push(Problem::of_file(ProblemKind::PendingChange, detail));
        Ok(())
    }
}

impl SideFiles for MyAgents {
    fn orphans(&self, files: &dyn Files, found: &[SessionLocation]) -> Result<Vec<Orphan>> {
        leftovers::orphans(files, found)
    }

    fn lock_folders(&self, files: &dyn Files) -> Result<Vec<String>> {
        leftovers::locks(files)
    }

    fn side_files(&self, files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>> {
        layout::side_files(files, location)
    }
}

impl Refine for MyAgents {
    fn side_settings(&self, location: &SessionLocation, settings: &mut Settings) {
        if let Some(row) = location.row.as_deref().and_then(Row::parse) {
            row.settings(settings);
        }
    }
}

impl Runtime for MyAgents {
    /// Returns no command: only the engine that the app drives can be started, see `resume_by`.
    fn resume(
        &self,
        _meta: &SessionMeta,
        _location: &SessionLocation,
        _permissions: Permissions,
    ) -> Option<ResumeCommand> {
        None
    }

    fn store_variables(&self, root: &Path, _key: Option<&str>) -> Vec<(&'static str, PathBuf)> {
        vec![("MYAGENTS_DATA_DIR", root.to_owned())]
    }

    fn links(&self, meta: &SessionMeta, _id: &str) -> Vec<SessionLink> {
        let runtime = meta.metadata.get("runtime").map(String::as_str);
        let (dialect, keys): (_, &[&str]) = match runtime {
            Some("builtin") => ("claude", &["sdk"]),
            Some("claude-code") => ("claude", &["runtime", "sdk"]),
            Some("codex") => ("codex", &["runtime"]),
            _ => return Vec::new(),
        };
        let known = keys.iter().find_map(|key| meta.external_ids.get(*key));
        known
            .map(|id| SessionLink {
                kind: LinkKind::Transcript,
                dialect,
                id: id.clone(),
            })
            .into_iter()
            .collect()
    }

    fn app_process(&self, files: &dyn Files) -> Result<Option<u32>> {
        let lock = files.read_whole(APP_LOCK, 64)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&lock);
        Ok(text.trim().parse().ok())
    }

    fn resume_by(
        &self,
        location: &SessionLocation,
        probe: &dyn Fn(&SessionLink) -> Probe,
    ) -> Result<Option<ResumeCommand>> {
        resume::resume(location, probe)
    }
}

/// Checks the sums of the index against the transcript. A row without sums is not wrong.
fn check_sums(
    view: &SessionView<'_>,
    meta: &SessionMeta,
    problems: &mut Vec<Problem>,
) -> Result<()> {
    let Some(stated) = Stats::of_facts(&meta.stated) else {
        return Ok(());
    };
    let mut counted = Stats::default();
    for slot in view.log.slots() {
        view.with_object(slot, |row| counted.count(row))?;
    }
    if counted != stated {
        let detail = format!("the index counts {stated}, the transcript holds {counted}");
        problems.push(Problem::of_file(ProblemKind::StaleIndex, detail));
    }
    Ok(())
}

/// Returns the record about a log of operations, if the session is one.
fn folded_header(view: &SessionView<'_>) -> Option<Slot> {
    let first = view.log.slots().next()?;
    (view.log.kind(first) == EntryKind::Header).then_some(first)
}

fn holds_rows(messages: Raw<'_>) -> bool {
    let row = |item: Raw<'_>| {
        ["id", "role", "content", "timestamp"]
            .iter()
            .all(|key| item.get(key).is_some_and(|v| v.string().is_some()))
    };
    messages.items().next().is_some_and(row)
}

fn parts(content: Content<'_>) -> Vec<Json> {
    match &content {
        Content::Blocks(_) => content.items().map(super::content::with_input).collect(),
        Content::Text(text) => vec![
            Json::object()
                .with("type", "text")
                .with("text", text.clone()),
        ],
        Content::Other(value) => vec![Json::from(*value)],
        Content::Absent => Vec::new(),
    }
}
