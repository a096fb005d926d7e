//! The implementation of [`Dialect`] and its powers for Claude Code.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use boswell_model::json::Object;
use boswell_model::{
    Context, ContextItem, Flags, Head, Instant, Interner, Message, Problem, ProblemKind, Result,
    SessionMeta, SessionView, Slot, Tip, View,
};

use super::client::{self, Client};
use super::pairing::pairs;
use super::{
    active_processes, branch, check, context, create, delete, discover, encode, file_history, head,
    invalid_blocks, losses, meta, move_project, native_index, odd_records, orphans, plan,
    recognise, render, repair, resume, set_leaf, settings, side_files, subagents, text_piece, tip,
    title_window, unsent_records, view,
};
use crate::uuid::is_uuid;
use crate::{
    ActiveProcess, Append, Capabilities, Capability, Depth, Dialect, Discovered, Draft,
    EditRequest, EntryStamp, Environment, Files, FilesAtEntry, IdSource, ImageIntake, Intake,
    Match, MemoryFile, NewLog, NewSession, Parent, Permissions, PlanEdits, PlanInput, Planned,
    Powers, Refine, Repairer, ResumeCommand, Runtime, Sample, SessionFacts, SessionLocation,
    SharedFiles, SideFile, SideFiles, StoreRequest, Subagent, Support, TextPiece, ThinkingIntake,
};
use crate::{DialectFacts, HistoryKind, MemoryPolicy, UntiedFile};
use crate::{Fix, ForkPlace, Orphan, ReaderLoss, Reading, RepairInput, ToolLink, UnsentReason};

/// The dialect of Claude Code and of the Claude Agent SDK.
#[derive(Debug)]
pub struct Claude;

const CAPABILITIES: &[(Capability, Support)] = &[
    (Capability::Read, Support::Native),
    (Capability::Context, Support::Native),
    (Capability::Append, Support::Native),
    (Capability::Branch, Support::Native),
    (Capability::Rewind, Support::Native),
    (Capability::Fork, Support::Native),
    (Capability::Title, Support::Native),
    (Capability::Tag, Support::Native),
    (Capability::Label, Support::Note),
    (Capability::Status, Support::Note),
    (Capability::Delete, Support::Native),
    (Capability::Resume, Support::Native),
];

/// Facts about the dialect that do not depend on a session.
static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(CAPABILITIES),
    sessions_folder: Some("projects"),
    check_depth: Depth::Calls,
    readers: repair::READERS,
    parent_needs_full_log: true,
    creates_by_plan: true,
    lists_open_sessions: true,
    has_sdk_forks: true,
    prompt_history: HistoryKind::Lines,
    memory: MemoryPolicy::FrontMatter,
    untied_files: &[
        UntiedFile {
            path: "plans",
            what: "plans",
            is_database: false,
        },
        UntiedFile {
            path: "paste-cache",
            what: "texts that were pasted",
            is_database: false,
        },
    ],
    has_end_hook: true,
    intake: Some(Intake {
        // The provider refuses reasoning that it did not sign.
        thinking: ThinkingIntake::Signed("anthropic"),
        images: ImageIntake::PromptsAndResults,
        ..Intake::PLAIN
    }),
    provider: Some("anthropic"),
    ..DialectFacts::new("claude", "Claude Code")
};

impl Dialect for Claude {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        env.path_var("CLAUDE_CONFIG_DIR")
            .or_else(|| env.in_home(".claude"))
            .into_iter()
            .collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        discover::discover(files)
    }

    fn id_is_valid(&self, id: &str) -> bool {
        is_uuid(id)
    }

    fn is_usable(&self, location: &SessionLocation) -> bool {
        is_uuid(&location.id) || discover::is_agent_id(&location.id)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        recognise::recognises(sample)
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        recognise::is_record(object)
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        SessionMeta {
            hidden: location.hidden,
            ..SessionMeta::default()
        }
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        head::fill(object, head, names);
    }

    fn collect_meta(
        &self,
        object: &Object<'_>,
        head: &Head,
        names: &mut Interner,
        meta: &mut SessionMeta,
    ) {
        meta::collect_meta(object, head, names, meta);
    }

    fn tip(&self, view: &SessionView<'_>) -> Result<Tip> {
        tip::tip(view)
    }

    fn leaf(&self, view: &SessionView<'_>, tip: Tip) -> Option<Slot> {
        tip::leaf(view, tip)
    }

    fn branch(&self, view: &SessionView<'_>, tip: Tip) -> Result<Vec<Slot>> {
        branch::branch(view, tip)
    }

    fn view(&self, object: &Object<'_>) -> View {
        view::view(object)
    }

    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context> {
        context::context(view, tip)
    }

    fn render(&self, item: &ContextItem, records: &[Object<'_>]) -> Message {
        render::render(item, records)
    }

    fn powers(&self) -> Powers<'_> {
        Powers {
            append: Some(self),
            compose: None,
            fold: None,
            import: None,
            edits: Some(self),
            shared_files: Some(self),
            repair: Some(self),
            side_files: Some(self),
            inherit_history: None,
            runtime: Some(self),
            refine: self,
        }
    }
}

impl Append for Claude {
    fn can_append(&self, meta: &SessionMeta) -> Result<()> {
        encode::can_append(meta)
    }

    fn entry_id(&self, id_source: &dyn IdSource) -> String {
        id_source.uuid_v4()
    }

    fn parent_of_new(&self, view: &SessionView<'_>, parent: &Parent) -> Result<Option<String>> {
        set_leaf::parent_of_new(view, parent)
    }

    fn encode(
        &self,
        draft: &Draft,
        stamp: EntryStamp<'_>,
        session: Option<SessionFacts<'_>>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let nothing = SessionMeta::default();
        let session = session.unwrap_or(SessionFacts {
            id: "",
            meta: &nothing,
        });
        out.extend(encode::line(draft, stamp, session)?);
        Ok(())
    }

    fn new_log(&self, new: &NewSession, id: &str, now: Instant) -> Result<NewLog> {
        encode::new_log(new, id, now)
    }
}

impl PlanEdits for Claude {
    fn plan_root(&self, root: &Path, request: &StoreRequest) -> PathBuf {
        match (request, root.parent()) {
            // The table of projects (`.claude.json`) is next to the folder, unless an environment
            // variable sets the place of both.
            (StoreRequest::Move { .. }, Some(above))
                if root.file_name().is_some_and(|name| name == ".claude") =>
            {
                above.to_owned()
            }
            _ => root.to_owned(),
        }
    }

    fn plans(&self, operation: Capability) -> bool {
        plan::plans(operation)
    }

    fn plan(&self, asked: &PlanInput<'_>, request: &EditRequest) -> Result<Planned> {
        plan::plan(asked, request)
    }

    fn plan_store(
        &self,
        files: &dyn Files,
        request: &StoreRequest,
        id_source: &dyn IdSource,
    ) -> Result<Planned> {
        match request {
            StoreRequest::Create(new) => create::create(files, new, id_source),
            StoreRequest::Move { from, to } => move_project::plan(files, from, to),
            StoreRequest::Index => native_index::plan(files, &BTreeMap::new()),
            StoreRequest::IndexWith { summaries } => native_index::plan(files, summaries),
        }
    }
}

impl SharedFiles for Claude {
    fn is_shared(&self, key: &str) -> bool {
        delete::is_shared(key)
    }

    fn shared_files(&self, files: &dyn Files) -> Result<Vec<String>> {
        delete::shared_files(files)
    }

    fn without(&self, key: &str, bytes: &[u8], ids: &[String]) -> Option<Vec<u8>> {
        delete::without(key, bytes, ids)
    }
}

impl Repairer for Claude {
    fn tool_links(
        &self,
        object: &Object<'_>,
        names: &mut Interner,
        sink: &mut dyn FnMut(ToolLink),
    ) -> Flags {
        pairs(object, names, sink)
    }

    fn entries_agent_sees(&self, view: &SessionView<'_>, tip: Tip) -> Result<Vec<Slot>> {
        repair::entries_agent_sees(view, tip)
    }

    fn fixes(&self, repair_input: &RepairInput<'_>) -> Result<Vec<Fix>> {
        repair::fixes(repair_input)
    }

    fn predicts(&self, reader: &str) -> bool {
        Client::named(reader).is_some()
    }

    fn reading(&self, view: &SessionView<'_>, reader: &str) -> Result<Option<Reading>> {
        match Client::named(reader) {
            Some(client) => client::reading(view, client).map(Some),
            None => Ok(None),
        }
    }

    fn losses(&self, view: &SessionView<'_>, problems: &[Problem]) -> Result<Vec<ReaderLoss>> {
        losses::losses(view, problems)
    }

    fn unsent_records(
        &self,
        view: &SessionView<'_>,
        reader: &str,
    ) -> Result<Option<Vec<(Slot, UnsentReason)>>> {
        match Client::named(reader) {
            Some(client) => unsent_records::unsent_records(view, client).map(Some),
            None => Ok(None),
        }
    }

    fn repaired_fork(
        &self,
        repair_input: &RepairInput<'_>,
        _original: &str,
    ) -> Result<Option<ForkPlace>> {
        repair::fork(repair_input)
    }

    fn check(
        &self,
        view: &SessionView<'_>,
        _meta: &SessionMeta,
        problems: &mut Vec<Problem>,
    ) -> Result<()> {
        check::check(view, problems)?;
        invalid_blocks::check(view, problems)?;
        odd_records::check(view, problems)?;
        if let Some((slot, _)) = title_window::lost(view)? {
            let line = view.log.head(slot).map(|head| u64::from(head.line));
            let detail = "the title is stored where the client no longer reads it".to_owned();
            problems.push(Problem {
                kind: ProblemKind::LostTitle,
                line,
                slot: Some(slot),
                advice: None,
                detail,
            });
        }
        Ok(())
    }
}

impl SideFiles for Claude {
    fn collect_side_meta(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        meta: &mut SessionMeta,
    ) -> Result<()> {
        side_files::collect_meta(files, location, meta)
    }

    fn side_files(&self, files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>> {
        side_files::list(files, location)
    }

    fn orphans(&self, files: &dyn Files, found: &[SessionLocation]) -> Result<Vec<Orphan>> {
        orphans::orphans(files, found)
    }

    fn memory(&self, files: &dyn Files) -> Result<Vec<MemoryFile>> {
        side_files::memory(files)
    }

    fn files_at(
        &self,
        location: &SessionLocation,
        view: &SessionView<'_>,
        entry: Slot,
    ) -> Result<Option<FilesAtEntry>> {
        file_history::files_at(location, view, entry).map(Some)
    }

    fn subagents(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        view: &SessionView<'_>,
    ) -> Result<Vec<Subagent>> {
        subagents::of(files, location, view)
    }

    fn full_output_key(&self, location: &SessionLocation, object: &Object<'_>) -> Option<String> {
        subagents::full_output_key(location, object)
    }
}

impl Runtime for Claude {
    /// `root` may be the configuration folder, its `projects` folder, or the folder of one project.
    fn store_variables(&self, root: &Path, key: Option<&str>) -> Vec<(&'static str, PathBuf)> {
        let above = match key {
            Some(key) if !key.starts_with("projects/") => 2 - usize::from(key.contains('/')),
            _ => 0,
        };
        root.ancestors()
            .nth(above)
            .map(|folder| ("CLAUDE_CONFIG_DIR", folder.to_owned()))
            .into_iter()
            .collect()
    }

    fn deletes_after(&self, files: &dyn Files) -> Result<Option<u64>> {
        settings::deletes_after(files).map(Some)
    }

    fn resume(
        &self,
        meta: &SessionMeta,
        location: &SessionLocation,
        permissions: Permissions,
    ) -> Option<ResumeCommand> {
        resume::resume(meta, location, permissions)
    }

    fn active_processes(&self, files: &dyn Files) -> Result<Vec<ActiveProcess>> {
        active_processes::registered(files)
    }
}

impl Refine for Claude {
    fn text_pieces<'a>(&self, object: &Object<'a>) -> Option<Vec<TextPiece<'a>>> {
        text_piece::text_pieces(object)
    }
}

#[cfg(test)]
mod tests {
    use boswell_model::Framing;

    use super::*;

    const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";

    fn location(id: &str, hidden: Option<&'static str>) -> SessionLocation {
        SessionLocation {
            hidden,
            ..SessionLocation::of(id, Framing::Lines, 1)
        }
    }

    #[test]
    fn sessions_are_looked_for_where_the_variable_says_else_at_home() {
        let mut env = Environment {
            home: Some("/home/me".into()),
            ..Environment::default()
        };
        assert_eq!(Claude.roots(&env), [PathBuf::from("/home/me/.claude")]);
        env.vars.insert("CLAUDE_CONFIG_DIR".into(), "/cfg".into());
        assert_eq!(Claude.roots(&env), [PathBuf::from("/cfg")]);
    }

    #[test]
    fn only_a_checked_id_reaches_the_command_line() {
        let meta = SessionMeta {
            project: Some("/w".into()),
            ..SessionMeta::default()
        };
        let command = Claude
            .resume(&meta, &location(ID, None), Permissions::Asked)
            .unwrap();
        assert_eq!(command.argv, ["claude", "--resume", ID]);
        assert_eq!(command.cwd.as_deref(), Some("/w"));
        assert_eq!(
            Claude.resume(&meta, &location("--evil", None), Permissions::Asked),
            None
        );
        assert_eq!(
            Claude.resume(&meta, &location(ID, Some("subagent")), Permissions::Asked),
            None
        );
        assert!(Claude.id_is_valid(ID) && !Claude.id_is_valid("-x"));
    }

    #[test]
    fn labels_and_status_have_no_place_in_the_format() {
        for operation in Capability::ALL {
            let expected = match operation {
                Capability::Label | Capability::Status => Support::Note,
                _ => Support::Native,
            };
            assert_eq!(Claude.facts().capabilities.support(operation), expected);
        }
    }
}
