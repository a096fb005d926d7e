//! Claude Code's answers to the contract of dialects.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use boswell_model::json::Object;
use boswell_model::{
    Context, ContextItem, SessionMeta, Flags, Head, Instant, Message, Interner, Problem, ProblemKind,
    Result, SessionView, Slot, Tip, View,
};

use super::pairing::pairs;
use super::{
    branch, check, context, create, delete, discover, encode, file_history, fold, head, live,
    move_project, native_index, orphans, plan, recognise, refused, render, repair, resume,
    settings, side_files, spoken, stand, subagents, tip, title_window, view,
};
use crate::uuid::is_uuid;
use crate::{
    Asked, AtWork, Capabilities, Chance, Depth, Dialect, Draft, Environment, Files, FilesThen,
    Found, Intention, Likeness, Located, MemoryFile, NewLog, NewSession, Operation, Parent,
    Permissions, Planned, ResumeCommand, Sample, Settled, SideFile, Spoken, StoreIntention,
    Subagent, Support, Within,
};
use crate::{ForkPlace, KnownReader, Mend, Mending, Orphan, ToolLink};

/// The dialect of Claude Code and of the Claude Agent SDK.
#[derive(Debug)]
pub struct Claude;

const CAPABILITIES: &[(Operation, Support)] = &[
    (Operation::Read, Support::Native),
    (Operation::Context, Support::Native),
    (Operation::Append, Support::Native),
    (Operation::Branch, Support::Native),
    (Operation::Rewind, Support::Native),
    (Operation::Fork, Support::Native),
    (Operation::Title, Support::Native),
    (Operation::Tag, Support::Native),
    (Operation::Label, Support::Note),
    (Operation::Status, Support::Note),
    (Operation::Delete, Support::Native),
    (Operation::Resume, Support::Native),
];

impl Dialect for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn title(&self) -> &'static str {
        "Claude Code"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::new(CAPABILITIES)
    }

    fn places(&self, env: &Environment) -> Vec<PathBuf> {
        env.path_var("CLAUDE_CONFIG_DIR")
            .or_else(|| env.in_home(".claude"))
            .into_iter()
            .collect()
    }

    /// The root may be its folder, `projects` in it, or the folder of one project.
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

    fn sessions_folder(&self) -> Option<&'static str> {
        Some("projects")
    }

    fn discover(&self, files: &dyn Files) -> Result<Found> {
        discover::discover(files)
    }

    fn id_is_valid(&self, id: &str) -> bool {
        is_uuid(id)
    }

    fn is_usable(&self, located: &Located) -> bool {
        is_uuid(&located.id) || discover::is_agent_id(&located.id)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Likeness {
        recognise::recognises(sample)
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        recognise::is_record(object)
    }

    fn begin(&self, located: &Located) -> SessionMeta {
        SessionMeta {
            hidden: located.hidden,
            ..SessionMeta::default()
        }
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        head::fill(object, head, names);
    }

    fn fold(&self, object: &Object<'_>, head: &Head, names: &mut Interner, facts: &mut SessionMeta) {
        fold::fold(object, head, names, facts);
    }

    fn fold_side_files(
        &self,
        files: &dyn Files,
        located: &Located,
        facts: &mut SessionMeta,
    ) -> Result<()> {
        side_files::fold(files, located, facts)
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

    fn spoken<'a>(&self, object: &Object<'a>) -> Option<Vec<Spoken<'a>>> {
        spoken::spoken(object)
    }

    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context> {
        context::context(view, tip)
    }

    fn render(&self, item: &ContextItem, records: &[Object<'_>]) -> Message {
        render::render(item, records)
    }

    fn pairs(&self, object: &Object<'_>, names: &mut Interner, sink: &mut dyn FnMut(ToolLink)) -> Flags {
        pairs(object, names, sink)
    }

    fn reached(&self, view: &SessionView<'_>, tip: Tip) -> Result<Vec<Slot>> {
        repair::reached(view, tip)
    }

    fn readers(&self) -> &'static [KnownReader] {
        repair::READERS
    }

    fn mends(&self, mending: &Mending<'_>) -> Result<Vec<Mend>> {
        repair::mends(mending)
    }

    fn exclusive(&self, mending: &Mending<'_>, goals: &[&'static str]) -> Result<Option<String>> {
        repair::exclusive(mending, goals)
    }

    fn repaired_fork(&self, mending: &Mending<'_>, _original: &str) -> Result<Option<ForkPlace>> {
        repair::fork(mending)
    }

    fn check_depth(&self) -> Depth {
        Depth::Calls
    }

    fn check(
        &self,
        view: &SessionView<'_>,
        _facts: &SessionMeta,
        problems: &mut Vec<Problem>,
    ) -> Result<()> {
        check::check(view, problems)?;
        refused::check(view, problems)?;
        if let Some((slot, _)) = title_window::lost(view)? {
            let line = view.log.head(slot).map(|head| u64::from(head.line));
            let detail = "the title stands where the client no longer looks for it".to_owned();
            problems.push(Problem {
                kind: ProblemKind::LostTitle,
                line,
                slot: Some(slot),
                detail,
            });
        }
        Ok(())
    }

    fn is_shared(&self, key: &str) -> bool {
        delete::is_shared(key)
    }

    fn shared_files(&self, files: &dyn Files) -> Result<Vec<String>> {
        delete::shared_files(files)
    }

    fn without(&self, key: &str, bytes: &[u8], ids: &[String]) -> Option<Vec<u8>> {
        delete::without(key, bytes, ids)
    }

    fn side_files(&self, files: &dyn Files, located: &Located) -> Result<Vec<SideFile>> {
        side_files::list(files, located)
    }

    fn orphans(&self, files: &dyn Files, found: &[Located]) -> Result<Vec<Orphan>> {
        orphans::orphans(files, found)
    }

    fn memory(&self, files: &dyn Files) -> Result<Vec<MemoryFile>> {
        side_files::memory(files)
    }

    fn plan_root(&self, root: &Path, intention: &StoreIntention) -> PathBuf {
        match (intention, root.parent()) {
            // The table of projects lies beside the folder unless a variable says where both are.
            (StoreIntention::Move { .. }, Some(above))
                if root.file_name().is_some_and(|name| name == ".claude") =>
            {
                above.to_owned()
            }
            _ => root.to_owned(),
        }
    }

    fn deletes_after(&self, files: &dyn Files) -> Result<Option<u64>> {
        settings::deletes_after(files).map(Some)
    }

    fn files_at(
        &self,
        located: &Located,
        view: &SessionView<'_>,
        entry: Slot,
    ) -> Result<Option<FilesThen>> {
        file_history::files_at(located, view, entry).map(Some)
    }

    fn subagents(
        &self,
        files: &dyn Files,
        located: &Located,
        view: &SessionView<'_>,
    ) -> Result<Vec<Subagent>> {
        subagents::of(files, located, view)
    }

    fn spilled(&self, located: &Located, object: &Object<'_>) -> Option<String> {
        subagents::spilled(located, object)
    }

    fn resume(&self, facts: &SessionMeta, located: &Located) -> Option<ResumeCommand> {
        resume::resume(facts, located, Permissions::Asked)
    }

    fn resume_with(
        &self,
        facts: &SessionMeta,
        located: &Located,
        permissions: Permissions,
    ) -> Option<ResumeCommand> {
        resume::resume(facts, located, permissions)
    }

    fn at_work(&self, files: &dyn Files) -> Result<Vec<AtWork>> {
        live::registered(files)
    }

    fn can_append(&self, facts: &SessionMeta) -> Result<()> {
        encode::can_append(facts)
    }

    fn appends(&self) -> bool {
        true
    }

    fn entry_id(&self, chance: &dyn Chance) -> String {
        chance.uuid_v4()
    }

    fn hangs_by_view(&self) -> bool {
        true
    }

    fn hang(&self, view: &SessionView<'_>, parent: &Parent) -> Result<Option<String>> {
        stand::hang(view, parent)
    }

    fn encode(&self, draft: &Draft, settled: Settled<'_>, out: &mut Vec<u8>) -> Result<()> {
        self.encode_in(
            draft,
            settled,
            Within {
                id: "",
                facts: &SessionMeta::default(),
            },
            out,
        )
    }

    fn encode_in(
        &self,
        draft: &Draft,
        settled: Settled<'_>,
        session: Within<'_>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.extend(encode::line(draft, settled, session)?);
        Ok(())
    }

    fn new_log(&self, new: &NewSession, id: &str, now: Instant) -> Result<NewLog> {
        encode::new_log(new, id, now)
    }

    fn plans(&self, operation: Operation) -> bool {
        plan::plans(operation)
    }

    fn plan(&self, asked: &Asked<'_>, intention: &Intention) -> Result<Planned> {
        plan::plan(asked, intention)
    }

    fn creates_by_plan(&self) -> bool {
        true
    }

    fn plan_store(
        &self,
        files: &dyn Files,
        intention: &StoreIntention,
        chance: &dyn Chance,
    ) -> Result<Planned> {
        match intention {
            StoreIntention::Create(new) => create::create(files, new, chance),
            StoreIntention::Move { from, to } => move_project::plan(files, from, to),
            StoreIntention::Index => native_index::plan(files, &BTreeMap::new()),
            StoreIntention::IndexWith { summaries } => native_index::plan(files, summaries),
        }
    }
}

#[cfg(test)]
mod tests {
    use boswell_model::Framing;

    use super::*;

    const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";

    fn located(id: &str, hidden: Option<&'static str>) -> Located {
        Located {
            hidden,
            ..Located::of(id, Framing::Lines, 1)
        }
    }

    #[test]
    fn sessions_are_looked_for_where_the_variable_says_else_at_home() {
        let mut env = Environment {
            home: Some("/home/me".into()),
            ..Environment::default()
        };
        assert_eq!(Claude.places(&env), [PathBuf::from("/home/me/.claude")]);
        env.vars.insert("CLAUDE_CONFIG_DIR".into(), "/cfg".into());
        assert_eq!(Claude.places(&env), [PathBuf::from("/cfg")]);
    }

    #[test]
    fn only_a_checked_id_reaches_the_command_line() {
        let facts = SessionMeta {
            project: Some("/w".into()),
            ..SessionMeta::default()
        };
        let command = Claude.resume(&facts, &located(ID, None)).unwrap();
        assert_eq!(command.argv, ["claude", "--resume", ID]);
        assert_eq!(command.cwd.as_deref(), Some("/w"));
        assert_eq!(Claude.resume(&facts, &located("--evil", None)), None);
        assert_eq!(Claude.resume(&facts, &located(ID, Some("subagent"))), None);
        assert!(Claude.id_is_valid(ID) && !Claude.id_is_valid("-x"));
    }

    #[test]
    fn labels_and_status_have_no_place_in_the_format() {
        for operation in Operation::ALL {
            let expected = match operation {
                Operation::Label | Operation::Status => Support::Note,
                _ => Support::Native,
            };
            assert_eq!(Claude.capabilities().support(operation), expected);
        }
    }
}
