//! The implementation of [`Dialect`] and its powers for GitHub Copilot CLI.

use std::path::{Path, PathBuf};

use boswell_model::json::{Object, RawKind};
use boswell_model::{
    Context, ContextItem, Head, Interner, Log, Message, Problem, Result, SessionMeta, SessionView,
    Slot, Tip, View,
};

use crate::uuid::is_uuid;
use crate::{
    Capabilities, Capability, Dialect, DialectFacts, Discovered, Environment, Files, Intake, Match,
    Permissions, Powers, Repairer, ResumeCommand, Runtime, Sample, SessionLocation, SideFile,
    SideFiles, Support, ThinkingIntake, UntiedFile,
};

use super::{check, context, event, layout, meta, view};

/// The dialect of GitHub Copilot CLI.
#[derive(Debug)]
pub struct Copilot;

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
        (Capability::Append, Support::Native),
        (Capability::Fork, Support::Native),
        (Capability::Title, Support::Native),
        (Capability::Tag, Support::Note),
        (Capability::Label, Support::Note),
        (Capability::Status, Support::Note),
        (Capability::Delete, Support::Native),
        (Capability::Resume, Support::Native),
    ]),
    creates_by_plan: true,
    forks_to_other_projects: true,
    intake: Some(Intake {
        thinking: ThinkingIntake::Text,
        ..Intake::PLAIN
    }),
    sessions_folder: Some("session-state"),
    untied_files: &[UntiedFile {
        path: "session-store.db",
        what: "what Copilot CLI keeps of all sessions in a database",
        is_database: true,
    }],
    ..DialectFacts::new("copilot", "GitHub Copilot CLI")
};

impl Dialect for Copilot {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        env.path_var("COPILOT_HOME")
            .or_else(|| env.in_home(".copilot"))
            .into_iter()
            .collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        layout::discover(files)
    }

    fn id_is_valid(&self, id: &str) -> bool {
        layout::is_usable_id(id)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        let first = sample.records.iter().take(8);
        first.map(|it| likeness(it)).max().unwrap_or(Match::No)
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        let has_data = object
            .get("data")
            .is_some_and(|data| data.kind() == RawKind::Object);
        has_data && object.get("type").is_some() && object.get("timestamp").is_some()
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        event::head(object, head, names);
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

    fn link(&self, log: &Log) -> Vec<Option<Slot>> {
        event::replayed(log, usize::MAX).parents
    }

    fn tip(&self, view: &SessionView<'_>) -> Result<Tip> {
        let tip = event::replayed(view.log, usize::MAX).tip();
        Ok(tip.map_or(Tip::Root, Tip::At))
    }

    fn view(&self, object: &Object<'_>) -> View {
        view::view(object)
    }

    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context> {
        context::context(view, tip)
    }

    fn render(&self, item: &ContextItem, records: &[Object<'_>]) -> Message {
        context::render(item, records)
    }

    fn powers(&self) -> Powers<'_> {
        Powers {
            edits: Some(self),
            repair: Some(self),
            side_files: Some(self),
            runtime: Some(self),
            ..Powers::default()
        }
    }
}

fn likeness(object: &Object<'_>) -> Match {
    let Some(word) = object.text("type") else {
        return Match::No;
    };
    let data = object.get("data").filter(|it| it.kind() == RawKind::Object);
    let Some(data) = data else { return Match::No };
    let begins = [
        "session.",
        "user.",
        "assistant.",
        "tool.",
        "hook.",
        "system.",
    ];
    let is_own = begins.iter().any(|begin| word.starts_with(begin));
    match &*word {
        "session.start" if data.get("sessionId").is_some() => Match::Certain,
        _ if is_own && object.get("parentId").is_some() => Match::Likely,
        _ if is_own && object.get("id").is_some() => Match::Maybe,
        _ => Match::No,
    }
}

impl Repairer for Copilot {
    fn check(
        &self,
        view: &SessionView<'_>,
        _meta: &SessionMeta,
        problems: &mut Vec<Problem>,
    ) -> Result<()> {
        check::check(view, problems)
    }
}

impl SideFiles for Copilot {
    fn side_files(&self, files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>> {
        layout::side_files(files, location)
    }

    fn collect_side_meta(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        meta: &mut SessionMeta,
    ) -> Result<()> {
        layout::side_meta(files, location, meta)
    }
}

impl Runtime for Copilot {
    fn store_variables(&self, root: &Path, _key: Option<&str>) -> Vec<(&'static str, PathBuf)> {
        vec![("COPILOT_HOME", root.to_owned())]
    }

    fn resume(
        &self,
        meta: &SessionMeta,
        location: &SessionLocation,
        _permissions: Permissions,
    ) -> Option<ResumeCommand> {
        let id = meta.id.as_ref().unwrap_or(&location.id);
        is_uuid(id).then(|| ResumeCommand {
            argv: vec!["copilot".to_owned(), format!("--resume={id}")],
            cwd: meta.project.clone(),
        })
    }
}
