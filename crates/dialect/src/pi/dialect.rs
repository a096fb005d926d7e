//! The implementation of [`Dialect`] and its powers for the pi family.

use std::path::{Path, PathBuf};

use boswell_model::json::Object;
use boswell_model::{
    Context, ContextItem, Flags, Head, Instant, Interner, Log, Message, Problem, Result,
    SessionMeta, SessionView, Slot, Tip, View,
};

use crate::{
    Append, Capability, ContextCoverage, Dialect, Discovered, Draft, EditRequest, EntryStamp,
    Environment, Files, IdSource, LockSpec, Match, NewLog, NewSession, Permissions, PlanEdits,
    PlanInput, Planned, Powers, ProviderMessage, Refine, Repairer, ResumeCommand, Runtime, Sample,
    SessionFacts, SessionLocation, SideFile, SideFiles, StoreRequest, Subagent, TextPiece,
    ToolLink,
};

use super::facts;
use super::{
    Pi, calls, check, context, context_window, head, layout, link_scheme, meta, orphans, plan,
    provider_messages, recognise, render, repair, resume, roots, side_files, subagents, text_piece,
    view,
};
use crate::{DialectFacts, Fix, ForkPlace, Orphan, RepairInput};

impl Dialect for Pi {
    fn facts(&self) -> &'static DialectFacts {
        facts::of(self.flavour)
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        roots::roots(self.flavour, env)
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        layout::discover(files)
    }

    fn id_is_valid(&self, id: &str) -> bool {
        layout::id_is_valid(id)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        recognise::recognises(*self, sample)
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        head::is_record(object)
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        SessionMeta {
            hidden: location.hidden,
            ..SessionMeta::default()
        }
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        head::head(object, head, names);
    }

    fn collect_meta(
        &self,
        object: &Object<'_>,
        head: &Head,
        names: &mut Interner,
        meta: &mut SessionMeta,
    ) {
        meta::collect_meta(self.flavour, object, head, names, meta);
    }

    fn link(&self, log: &Log) -> Vec<Option<Slot>> {
        link_scheme::link(log)
    }

    fn tip(&self, view: &SessionView<'_>) -> Result<Tip> {
        Ok(link_scheme::tip(view))
    }

    fn view(&self, object: &Object<'_>) -> View {
        view::view(object)
    }

    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context> {
        context::context(self.flavour, view, tip)
    }

    fn render(&self, item: &ContextItem, records: &[Object<'_>]) -> Message {
        render::render(self.flavour, item, records)
    }

    fn powers(&self) -> Powers<'_> {
        Powers {
            append: Some(self),
            edits: Some(self),
            repair: Some(self),
            side_files: Some(self),
            runtime: Some(self),
            refine: self,
            ..Powers::default()
        }
    }
}

impl Append for Pi {
    fn can_append(&self, meta: &SessionMeta) -> Result<()> {
        super::encode::can_append(meta)
    }

    fn has_plain_header(&self, bytes: &[u8]) -> bool {
        super::encode::has_plain_header(bytes)
    }

    fn fast_entry_id<'l>(&self, line: &'l [u8]) -> Option<&'l str> {
        super::encode::fast_entry_id(line)
    }

    fn encode(
        &self,
        draft: &Draft,
        stamp: EntryStamp<'_>,
        _session: Option<SessionFacts<'_>>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        super::encode::entry(*self, draft, stamp, out)
    }

    fn session_id(&self, id_source: &dyn IdSource) -> String {
        super::session_id::session_id(self.flavour, id_source)
    }

    fn new_log(&self, new: &NewSession, id: &str, now: Instant) -> Result<NewLog> {
        super::encode::new_log(*self, new, id, now)
    }

    fn resolve_key(&self, files: &dyn Files, key: String) -> Result<String> {
        layout::resolve_key(files, key)
    }
}

impl PlanEdits for Pi {
    fn plans(&self, operation: Capability) -> bool {
        plan::plans(self.flavour, operation)
    }

    fn locks(&self, location: &SessionLocation, request: &EditRequest) -> Vec<LockSpec> {
        plan::locks(*self, location, request)
    }

    fn plan(&self, asked: &PlanInput<'_>, request: &EditRequest) -> Result<Planned> {
        plan::plan(*self, asked, request)
    }

    fn plan_store(
        &self,
        files: &dyn Files,
        request: &StoreRequest,
        _id_source: &dyn IdSource,
    ) -> Result<Planned> {
        plan::plan_store(*self, files, request)
    }
}

impl Repairer for Pi {
    fn entries_agent_sees(&self, view: &SessionView<'_>, tip: Tip) -> Result<Vec<Slot>> {
        repair::entries_agent_sees(*self, view, tip)
    }

    fn fixes(&self, repair_input: &RepairInput<'_>) -> Result<Vec<Fix>> {
        repair::fixes(repair_input)
    }

    fn repaired_fork(
        &self,
        repair_input: &RepairInput<'_>,
        original: &str,
    ) -> Result<Option<ForkPlace>> {
        repair::fork(repair_input, original)
    }

    fn tool_links(
        &self,
        object: &Object<'_>,
        names: &mut Interner,
        sink: &mut dyn FnMut(ToolLink),
    ) -> Flags {
        calls::pairs(object, names, sink);
        Flags::default()
    }

    fn check(
        &self,
        view: &SessionView<'_>,
        _meta: &SessionMeta,
        problems: &mut Vec<Problem>,
    ) -> Result<()> {
        check::check(view, problems)
    }
}

impl SideFiles for Pi {
    fn side_files(&self, files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>> {
        side_files::side_files(files, location)
    }

    fn subagents(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        _view: &SessionView<'_>,
    ) -> Result<Vec<Subagent>> {
        subagents::of(files, location)
    }

    fn full_output_key(&self, location: &SessionLocation, object: &Object<'_>) -> Option<String> {
        subagents::full_output_key(location, object)
            .filter(|_| self.flavour == super::Flavour::Boswell)
    }

    fn orphans(&self, files: &dyn Files, found: &[SessionLocation]) -> Result<Vec<Orphan>> {
        orphans::orphans(files, found)
    }
}

impl Runtime for Pi {
    fn store_variables(&self, root: &Path, key: Option<&str>) -> Vec<(&'static str, PathBuf)> {
        roots::variables(self.flavour, root, key)
    }

    fn resume(
        &self,
        meta: &SessionMeta,
        location: &SessionLocation,
        _permissions: Permissions,
    ) -> Option<ResumeCommand> {
        resume::resume(self.flavour, meta, location)
    }
}

impl Refine for Pi {
    fn text_pieces<'a>(&self, object: &Object<'a>) -> Option<Vec<TextPiece<'a>>> {
        text_piece::text_pieces(object)
    }

    fn context_coverage(&self, view: &SessionView<'_>, tip: Tip) -> Result<ContextCoverage> {
        context_window::context_coverage(self.flavour, view, tip)
    }

    fn provider_messages(&self, messages: Vec<Message>) -> Vec<ProviderMessage> {
        provider_messages::provider_messages(self.flavour, messages)
    }
}
