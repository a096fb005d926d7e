//! The family seen through the contract of all dialects.

use std::path::{Path, PathBuf};

use boswell_model::json::Object;
use boswell_model::{
    Context, ContextItem, SessionMeta, Flags, Head, Instant, Log, Message, Interner, Problem, Result,
    SessionView, Slot, Tip, View,
};

use crate::{
    Asked, Capabilities, Chance, Depth, Dialect, Draft, Environment, Files, Found, Intention,
    Likeness, Located, LockSpec, NewLog, NewSession, Operation, ToolLink, Planned, Reach,
    ResumeCommand, Sample, Sent, Settled, SideFile, StoreIntention, Subagent,
};

use super::{
    Flavour, Pi, calls, check, context, fold, head, layout, orphans, outgoing, places, plan, reach,
    recognise, render, repair, resume, shape, side, subagents, view,
};
use crate::{ForkPlace, KnownReader, Mend, Mending, Orphan};

impl Dialect for Pi {
    fn name(&self) -> &'static str {
        self.word()
    }

    fn title(&self) -> &'static str {
        self.people_name()
    }

    fn capabilities(&self) -> Capabilities {
        self.table()
    }

    fn places(&self, env: &Environment) -> Vec<PathBuf> {
        places::places(self.flavour, env)
    }

    fn store_variables(&self, root: &Path, key: Option<&str>) -> Vec<(&'static str, PathBuf)> {
        places::variables(self.flavour, root, key)
    }

    fn sessions_folder(&self) -> Option<&'static str> {
        (self.flavour != Flavour::Boswell).then_some("sessions")
    }

    fn discover(&self, files: &dyn Files) -> Result<Found> {
        layout::discover(files)
    }

    fn id_is_valid(&self, id: &str) -> bool {
        layout::id_is_valid(id)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Likeness {
        recognise::recognises(*self, sample)
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        head::is_record(object)
    }

    fn begin(&self, located: &Located) -> SessionMeta {
        SessionMeta {
            hidden: located.hidden,
            ..SessionMeta::default()
        }
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        head::head(object, head, names);
    }

    fn fold(&self, object: &Object<'_>, head: &Head, names: &mut Interner, facts: &mut SessionMeta) {
        fold::fold(self.flavour, object, head, names, facts);
    }

    fn link(&self, log: &Log) -> Vec<Option<Slot>> {
        shape::link(log)
    }

    fn tip(&self, view: &SessionView<'_>) -> Result<Tip> {
        Ok(shape::tip(view))
    }

    fn view(&self, object: &Object<'_>) -> View {
        view::view(object)
    }

    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context> {
        context::context(self.flavour, view, tip)
    }

    fn reach(&self, view: &SessionView<'_>, tip: Tip) -> Result<Reach> {
        reach::reach(self.flavour, view, tip)
    }

    fn render(&self, item: &ContextItem, records: &[Object<'_>]) -> Message {
        render::render(self.flavour, item, records)
    }

    fn sent(&self, messages: Vec<Message>) -> Vec<Sent> {
        outgoing::sent(self.flavour, messages)
    }

    fn reached(&self, view: &SessionView<'_>, tip: Tip) -> Result<Vec<Slot>> {
        repair::reached(*self, view, tip)
    }

    fn readers(&self) -> &'static [KnownReader] {
        repair::READERS
    }

    fn mends(&self, mending: &Mending<'_>) -> Result<Vec<Mend>> {
        repair::mends(mending)
    }

    fn repaired_fork(&self, mending: &Mending<'_>, original: &str) -> Result<Option<ForkPlace>> {
        repair::fork(mending, original)
    }

    fn pairs(&self, object: &Object<'_>, names: &mut Interner, sink: &mut dyn FnMut(ToolLink)) -> Flags {
        calls::pairs(object, names, sink);
        Flags::default()
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
        check::check(view, problems)
    }

    fn side_files(&self, files: &dyn Files, located: &Located) -> Result<Vec<SideFile>> {
        side::side_files(files, located)
    }

    fn subagents(
        &self,
        files: &dyn Files,
        located: &Located,
        _view: &SessionView<'_>,
    ) -> Result<Vec<Subagent>> {
        subagents::of(files, located)
    }

    fn spilled(&self, located: &Located, object: &Object<'_>) -> Option<String> {
        subagents::spilled(located, object).filter(|_| self.flavour == super::Flavour::Boswell)
    }

    fn orphans(&self, files: &dyn Files, found: &[Located]) -> Result<Vec<Orphan>> {
        orphans::orphans(files, found)
    }

    fn resume(&self, facts: &SessionMeta, located: &Located) -> Option<ResumeCommand> {
        resume::resume(self.flavour, facts, located)
    }

    fn appends(&self) -> bool {
        true
    }

    fn can_append(&self, facts: &SessionMeta) -> Result<()> {
        super::encode::can_append(facts)
    }

    fn is_own_beginning(&self, bytes: &[u8]) -> bool {
        super::encode::is_own_beginning(bytes)
    }

    fn id_at_a_glance<'l>(&self, line: &'l [u8]) -> Option<&'l str> {
        super::encode::id_at_a_glance(line)
    }

    fn encode(&self, draft: &Draft, settled: Settled<'_>, out: &mut Vec<u8>) -> Result<()> {
        super::encode::entry(*self, draft, settled, out)
    }

    fn session_id(&self, chance: &dyn Chance) -> String {
        super::session_id::session_id(self.flavour, chance)
    }

    fn new_log(&self, new: &NewSession, id: &str, now: Instant) -> Result<NewLog> {
        super::encode::new_log(*self, new, id, now)
    }

    fn key_here(&self, files: &dyn Files, key: String) -> Result<String> {
        layout::key_here(files, key)
    }

    fn plans(&self, operation: Operation) -> bool {
        plan::plans(self.flavour, operation)
    }

    fn locks(&self, located: &Located, intention: &Intention) -> Vec<LockSpec> {
        plan::locks(*self, located, intention)
    }

    fn plan(&self, asked: &Asked<'_>, intention: &Intention) -> Result<Planned> {
        plan::plan(*self, asked, intention)
    }

    fn plan_store(
        &self,
        files: &dyn Files,
        intention: &StoreIntention,
        _chance: &dyn Chance,
    ) -> Result<Planned> {
        plan::plan_store(*self, files, intention)
    }
}
