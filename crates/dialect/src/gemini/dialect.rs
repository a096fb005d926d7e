//! The implementation of [`Dialect`] and its powers for Gemini CLI.

use std::path::{Path, PathBuf};

use boswell_model::json::{Object, Raw};
use boswell_model::{
    Context, ContextItem, Framing, Head, Interner, Log, Message, Problem, Result, SessionMeta,
    SessionView, Slot, Tip, View,
};

use crate::uuid::is_uuid;
use crate::{
    Capabilities, Capability, Dialect, DialectFacts, Discovered, Environment, Files, ImageIntake,
    Intake, Match, Permissions, Powers, Refine, Repairer, ResumeCommand, Runtime, Sample,
    SessionLocation, SideFile, SideFiles, SideKind, Subagent, Support, ThinkingIntake,
};

use super::{check, context, layout, message, meta, record, retention, view};

/// The dialect of Gemini CLI.
#[derive(Debug)]
pub struct Gemini;

/// A larger document is not read for its metadata.
const DOCUMENT_LIMIT: u64 = 256 << 20;

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
        (Capability::Append, Support::Native),
        (Capability::Branch, Support::Native),
        (Capability::Rewind, Support::Native),
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
    sessions_folder: Some("tmp"),
    ids_are_unique: false,
    document_framing: Some(layout::DOCUMENT),
    resume_endangers: true,
    intake: Some(Intake {
        thinking: ThinkingIntake::Text,
        images: ImageIntake::Prompts,
        // <https://ai.google.dev/gemini-api/docs/image-understanding#supported-formats>
        image_types: &["image/png", "image/jpeg", "image/webp"],
        unsent_prompts: &message::INJECTED,
        ..Intake::PLAIN
    }),
    provider: Some("google"),
    ..DialectFacts::new("gemini", "Gemini CLI")
};

/// Whether an id has only characters that are safe in a name and on a command line.
pub(super) fn is_plain_id(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !id.is_empty() && !id.starts_with('-') && id.bytes().all(plain)
}

impl Dialect for Gemini {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        let moved = env.path_var("GEMINI_CLI_HOME");
        let home = moved.map(|home| home.join(".gemini"));
        home.or_else(|| env.in_home(".gemini"))
            .into_iter()
            .collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        layout::discover(files)
    }

    fn id_is_valid(&self, id: &str) -> bool {
        is_plain_id(id)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        let in_chats = sample.folders.iter().take(2).any(|it| it == "chats");
        let named = sample.name.starts_with("session-") && in_chats;
        let likeness = sample.records.iter().take(4).map(|it| likeness(it)).max();
        match likeness.unwrap_or(Match::No) {
            Match::Maybe if named => Match::Likely,
            other => other,
        }
    }

    fn framing(&self, key: &str) -> Framing {
        layout::framing(key)
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        let is_message = object.get("id").is_some()
            && object.get("timestamp").is_some()
            && object.get("type").is_some_and(message::is_type);
        is_message
            || object.get("$set").is_some()
            || object.get("$rewindTo").is_some()
            || is_header(object)
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        let mut meta = SessionMeta {
            project: layout::known(location, "project"),
            parent: location.owner.clone(),
            ..SessionMeta::default()
        };
        if let Some(stub) = layout::known(location, check::DOOMED_BY) {
            meta.metadata.insert(check::DOOMED_BY.to_owned(), stub);
        }
        meta
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
            repair: Some(self),
            side_files: Some(self),
            runtime: Some(self),
            refine: self,
            ..Powers::default()
        }
    }
}

fn is_header(object: &Object<'_>) -> bool {
    ["sessionId", "projectHash", "startTime"]
        .iter()
        .all(|key| object.text(key).is_some())
}

fn likeness(object: &Object<'_>) -> Match {
    if is_header(object) {
        return Match::Certain;
    }
    let is_operation = object
        .get("$rewindTo")
        .is_some_and(|it| it.text().is_some())
        || object
            .get("$set")
            .is_some_and(|set| set.get("lastUpdated").is_some());
    let is_message = object.get("id").is_some()
        && object.get("timestamp").is_some()
        && object.get("content").is_some()
        && object.get("uuid").is_none();
    let is = |word: &str| object.get("type").is_some_and(|it| it.is(word));
    match () {
        () if is_operation => Match::Likely,
        () if is_message && is("gemini") => Match::Likely,
        () if is_message && is("user") => Match::Maybe,
        () => Match::No,
    }
}

impl Repairer for Gemini {
    fn check(
        &self,
        view: &SessionView<'_>,
        meta: &SessionMeta,
        problems: &mut Vec<Problem>,
    ) -> Result<()> {
        check::check(view, meta, problems);
        Ok(())
    }
}

impl SideFiles for Gemini {
    fn side_files(&self, files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>> {
        let mut found = Vec::new();
        for location in subagent_logs(files, location)? {
            found.extend(location.key.map(|key| SideFile {
                key,
                kind: SideKind::Subagent,
                size: location.size,
            }));
        }
        Ok(found)
    }

    /// The members of a document beside its messages: they are no records.
    fn collect_side_meta(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        meta: &mut SessionMeta,
    ) -> Result<()> {
        if location.framing != layout::DOCUMENT {
            return Ok(());
        }
        let Some(key) = &location.key else {
            return Ok(());
        };
        let bytes = files.read_whole(key, DOCUMENT_LIMIT)?.unwrap_or_default();
        if let Ok(document) = Raw::parse(bytes.trim_ascii()) {
            meta::session(document, meta);
        }
        Ok(())
    }

    fn subagents(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        _view: &SessionView<'_>,
    ) -> Result<Vec<Subagent>> {
        let logs = subagent_logs(files, location)?;
        let subagent = |location| Subagent {
            location,
            call: None,
            task: None,
        };
        Ok(logs.into_iter().map(subagent).collect())
    }
}

/// Returns the logs of subagents: they are in a folder with the id of the session.
fn subagent_logs(files: &dyn Files, location: &SessionLocation) -> Result<Vec<SessionLocation>> {
    let folder = location.key.as_deref().and_then(|key| key.rsplit_once('/'));
    let Some((chats, _)) = folder.filter(|_| location.owner.is_none()) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for info in files.list(&format!("{chats}/{}", location.id))? {
        if let (true, Some(stem)) = (info.is_file(), info.stem(".jsonl")) {
            found.push(SessionLocation {
                hidden: Some("subagent"),
                owner: Some(location.id.clone()),
                ..SessionLocation::at(stem, &info, Framing::Lines)
            });
        }
    }
    Ok(found)
}

impl Runtime for Gemini {
    /// The variable names the folder that contains `.gemini`.
    fn store_variables(&self, root: &Path, _key: Option<&str>) -> Vec<(&'static str, PathBuf)> {
        let home = root.parent().filter(|_| root.ends_with(".gemini"));
        let home = home.map(|home| ("GEMINI_CLI_HOME", home.to_owned()));
        home.into_iter().collect()
    }

    /// Sessions are found only in the project's own folder.
    fn resume(
        &self,
        meta: &SessionMeta,
        location: &SessionLocation,
        _permissions: Permissions,
    ) -> Option<ResumeCommand> {
        let id = meta.id.as_ref().unwrap_or(&location.id);
        let is_main =
            location.owner.is_none() && location.hidden.is_none() && meta.hidden.is_none();
        let project = meta.project.clone().filter(|_| is_main && is_uuid(id))?;
        Some(ResumeCommand {
            argv: ["gemini", "--resume", id].map(str::to_owned).to_vec(),
            cwd: Some(project),
        })
    }

    fn deletes_after(&self, files: &dyn Files) -> Result<Option<u64>> {
        retention::deletes_after(files)
    }

    fn deletes_at_next_start(&self, location: &SessionLocation) -> bool {
        layout::known(location, check::DOOMED_BY).is_some()
    }
}

impl Refine for Gemini {
    fn settle(&self, log: &mut Log, meta: Option<&mut SessionMeta>) {
        meta::settle(log, meta);
    }
}
