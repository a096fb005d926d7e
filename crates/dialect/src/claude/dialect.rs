//! Claude Code's answers to the contract of dialects.

use std::path::PathBuf;

use boswell_model::json::Object;
use boswell_model::{Context, ContextItem, Facts, Head, Message, Names, Problem, Result, SessionView, Slot, Tip, View};

use super::{branch, check, context, discover, fold, head, recognise, render, resume, side_files, tip, view};
use crate::{
    Capabilities, Dialect, Environment, Files, Found, Likeness, Located, MemoryFile, Operation, ResumeCommand, Sample,
    SideFile, Support,
};

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
        env.path_var("CLAUDE_CONFIG_DIR").or_else(|| env.in_home(".claude")).into_iter().collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Found> {
        discover::discover(files)
    }

    fn id_is_valid(&self, id: &str) -> bool {
        discover::is_uuid(id)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Likeness {
        recognise::recognises(sample)
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        recognise::is_record(object)
    }

    fn begin(&self, located: &Located) -> Facts {
        Facts { hidden: located.hidden, ..Facts::default() }
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Names) {
        head::fill(object, head, names);
    }

    fn fold(&self, object: &Object<'_>, head: &Head, names: &mut Names, facts: &mut Facts) {
        fold::fold(object, head, names, facts);
    }

    fn fold_side_files(&self, files: &dyn Files, located: &Located, facts: &mut Facts) -> Result<()> {
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

    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context> {
        context::context(view, tip)
    }

    fn render(&self, item: &ContextItem, records: &[Object<'_>]) -> Message {
        render::render(item, records)
    }

    fn check(&self, view: &SessionView<'_>, _facts: &Facts, problems: &mut Vec<Problem>) -> Result<()> {
        check::check(view, problems)
    }

    fn side_files(&self, files: &dyn Files, located: &Located) -> Result<Vec<SideFile>> {
        side_files::list(files, located)
    }

    fn memory(&self, files: &dyn Files) -> Result<Vec<MemoryFile>> {
        side_files::memory(files)
    }

    fn resume(&self, facts: &Facts, located: &Located) -> Option<ResumeCommand> {
        resume::resume(facts, located)
    }
}
