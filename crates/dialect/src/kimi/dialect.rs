//! The implementation of [`Dialect`] and its powers for Kimi Code.

use std::path::{Path, PathBuf};

use boswell_model::json::{Object, Raw};
use boswell_model::{
    Context, ContextItem, Head, Interner, Log, Message, Result, SessionMeta, SessionView, Slot,
    Tip, View,
};

use crate::{
    Capabilities, Capability, Dialect, DialectFacts, Discovered, Environment, Files, Intake, Match,
    Permissions, Powers, Refine, ResumeCommand, Runtime, Sample, SessionLocation, SideFile,
    SideFiles, SideKind, Subagent, Support, ThinkingIntake,
};

use super::{context, layout, meta, record, view};

/// The dialect of Kimi Code.
#[derive(Debug)]
pub struct Kimi;

pub(super) const STATE_LIMIT: u64 = 16 << 20;

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
        // The model is sent the text of a stored result alone.
        marks_failed_results: false,
        ..Intake::PLAIN
    }),
    sessions_folder: Some("sessions"),
    ..DialectFacts::new("kimi", "Kimi Code")
};

impl Dialect for Kimi {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        env.path_var("KIMI_CODE_HOME")
            .or_else(|| env.in_home(".kimi-code"))
            .into_iter()
            .collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        layout::discover(files)
    }

    fn id_is_valid(&self, id: &str) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        !id.is_empty() && !id.starts_with(['-', '.']) && id.bytes().all(plain)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        let first = sample.records.iter().take(16);
        first.map(|it| likeness(it)).max().unwrap_or(Match::No)
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        let has_time = object.get("time").is_some() || object.get("protocol_version").is_some();
        has_time && object.get("type").is_some_and(|it| it.text().is_some())
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        SessionMeta {
            project: layout::project(location),
            parent: location.owner.clone(),
            ..SessionMeta::default()
        }
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        record::head(object, head, names);
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
        record::replayed(log, usize::MAX).parents
    }

    fn tip(&self, view: &SessionView<'_>) -> Result<Tip> {
        let tip = record::replayed(view.log, usize::MAX).tip();
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
            side_files: Some(self),
            runtime: Some(self),
            refine: self,
            ..Powers::default()
        }
    }
}

fn likeness(object: &Object<'_>) -> Match {
    let word = object.text("type");
    let has = |key: &str| object.get(key).is_some();
    match word.as_deref() {
        Some("metadata") if has("protocol_version") && has("created_at") => Match::Certain,
        Some("context.append_message" | "context.append_loop_event") => Match::Likely,
        _ => Match::No,
    }
}

impl SideFiles for Kimi {
    fn side_files(&self, files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>> {
        let Some(folder) = layout::folder(location) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        let mut open = vec![folder.to_owned()];
        while let Some(folder) = open.pop() {
            for info in files.list(&folder)? {
                let is_log = info.name() == "wire.jsonl";
                let kind = if is_log {
                    SideKind::Subagent
                } else {
                    SideKind::Meta
                };
                if info.is_folder() {
                    open.push(info.key);
                } else if info.is_file() && Some(&info.key) != location.key.as_ref() {
                    let (key, size) = (info.key, info.size);
                    found.push(SideFile { key, kind, size });
                }
            }
        }
        Ok(found)
    }

    fn collect_side_meta(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        meta: &mut SessionMeta,
    ) -> Result<()> {
        let folder = layout::folder(location).filter(|_| location.owner.is_none());
        let Some(folder) = folder else {
            return Ok(());
        };
        let bytes = files.read_whole(&format!("{folder}/state.json"), STATE_LIMIT)?;
        if let Ok(state) = Raw::parse(bytes.unwrap_or_default().trim_ascii()) {
            meta::state(state, meta);
        }
        Ok(())
    }

    fn subagents(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        _view: &SessionView<'_>,
    ) -> Result<Vec<Subagent>> {
        let sessions = layout::discover(files)?.sessions.into_iter();
        let own = sessions.filter(|it| it.owner.as_deref() == Some(&*location.id));
        let subagent = |location| Subagent {
            location,
            call: None,
            task: None,
        };
        Ok(own.map(subagent).collect())
    }
}

impl Runtime for Kimi {
    fn store_variables(&self, root: &Path, _key: Option<&str>) -> Vec<(&'static str, PathBuf)> {
        vec![("KIMI_CODE_HOME", root.to_owned())]
    }

    fn resume(
        &self,
        meta: &SessionMeta,
        location: &SessionLocation,
        _permissions: Permissions,
    ) -> Option<ResumeCommand> {
        let id = meta.id.as_ref().unwrap_or(&location.id);
        let usable = location.owner.is_none() && self.id_is_valid(id);
        usable.then(|| ResumeCommand {
            argv: ["kimi", "-r", id].map(str::to_owned).to_vec(),
            cwd: meta.project.clone(),
        })
    }
}

impl Refine for Kimi {
    fn settle(&self, log: &mut Log, meta: Option<&mut SessionMeta>) {
        if let Some(meta) = meta {
            meta::count(log, meta);
        }
    }
}
