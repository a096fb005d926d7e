//! The implementation of [`Dialect`] and its powers for clinvoker.

use std::path::{Path, PathBuf};

use boswell_model::json::{Json, Object};
use boswell_model::{
    Advice, Context, ContextItem, EntryKind, Error, ErrorKind, Framing, Head, Interner, Message,
    Problem, ProblemKind, Result, SessionMeta, SessionView, Slot, Tip, View,
};

use crate::DialectFacts;
use crate::{
    Capabilities, Capability, Dialect, Discovered, EditRequest, Environment, Files, IdSource,
    LinkKind, LockSpec, Match, Permissions, PlanEdits, PlanInput, Planned, Powers, Repairer,
    ResumeCommand, Runtime, Sample, SessionLink, SessionLocation, SharedFiles, StoreRequest,
    Support,
};

use super::{document, id, index, layout, plan};

/// The dialect of clinvoker (`clinvk`).
#[derive(Debug)]
pub struct Clinvoker;

const CAN: Capabilities = Capabilities::new(&[
    (Capability::Read, Support::Native),
    (Capability::Fork, Support::Native),
    (Capability::Title, Support::Native),
    (Capability::Tag, Support::Native),
    (Capability::Status, Support::Native),
    (Capability::Delete, Support::Native),
    (Capability::Resume, Support::Native),
]);

/// Facts about the dialect that do not depend on a session.
static FACTS: DialectFacts = DialectFacts {
    capabilities: CAN,
    sessions_folder: Some("sessions"),
    creates_by_plan: true,
    forks_to_other_projects: true,
    ..DialectFacts::new("clinvoker", "clinvoker")
};

impl Dialect for Clinvoker {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        let home = env
            .home
            .clone()
            .or_else(|| env.var("USERPROFILE").map(PathBuf::from));
        // Without a home folder, clinvoker stores sessions in its working folder.
        vec![home.unwrap_or_else(|| env.cwd.clone()).join(".clinvk")]
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        layout::discover(files)
    }

    fn id_is_valid(&self, id: &str) -> bool {
        id::is_valid(id)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        let named = sample.name.strip_suffix(".json").is_some_and(id::is_valid);
        let folder = |at: usize| sample.folders.get(at).map(String::as_str);
        let at_home = folder(0) == Some("sessions") && folder(1) == Some(".clinvk");
        match sample.records.first().is_some_and(document::is_document) {
            true if named && at_home => Match::Certain,
            true => Match::Likely,
            false => Match::No,
        }
    }

    fn framing(&self, _key: &str) -> Framing {
        Framing::Document
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        document::is_document(object)
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        head.kind = EntryKind::Meta;
        head.word = names.intern("session");
        head.time = document::created(object).map(Into::into);
    }

    fn collect_meta(
        &self,
        object: &Object<'_>,
        head: &Head,
        names: &mut Interner,
        meta: &mut SessionMeta,
    ) {
        meta.count(head.word.map_or("", |w| names.text(w)));
        document::collect_meta(object, meta);
    }

    fn tip(&self, view: &SessionView<'_>) -> Result<Tip> {
        Ok(view.log.slots().next_back().map_or(Tip::Root, Tip::At))
    }

    fn view(&self, object: &Object<'_>) -> View {
        document::view(object)
    }

    fn context(&self, view: &SessionView<'_>, _tip: Tip) -> Result<Context> {
        let id = view
            .with_object(Slot(0), |o| {
                document::text(o, "id").map(|id| id.into_owned())
            })?
            .flatten();
        let session = id
            .filter(|id| id::is_valid(id))
            .map(|id| format!("clinvoker:{id}"));
        Err(Error::new(
            ErrorKind::Unsupported,
            "clinvoker keeps no messages, so its context is not known",
        )
        .because("the transcript is with the backend that it ran")
        .advising(Advice::ShowSession { session }))
    }

    fn render(&self, _item: &ContextItem, records: &[Object<'_>]) -> Message {
        let content = records
            .iter()
            .map(|record| Json::from(record.raw()))
            .collect();
        Message {
            role: "session".to_owned(),
            content,
            native: None,
        }
    }

    fn powers(&self) -> Powers<'_> {
        Powers {
            edits: Some(self),
            shared_files: Some(self),
            runtime: Some(self),
            repair: Some(self),
            ..Powers::default()
        }
    }
}

impl PlanEdits for Clinvoker {
    fn plans(&self, operation: Capability) -> bool {
        use Capability::{Delete, Fork, Status, Tag, Title};
        matches!(operation, Title | Tag | Status | Fork | Delete)
    }

    /// clinvoker has one lock for the whole store.
    fn locks(&self, _location: &SessionLocation, _request: &EditRequest) -> Vec<LockSpec> {
        plan::lock()
    }

    fn plan(&self, asked: &PlanInput<'_>, request: &EditRequest) -> Result<Planned> {
        plan::of_session(asked, request)
    }

    fn store_locks(&self, _request: &StoreRequest) -> Vec<LockSpec> {
        plan::lock()
    }

    fn plan_store(
        &self,
        files: &dyn Files,
        request: &StoreRequest,
        id_source: &dyn IdSource,
    ) -> Result<Planned> {
        plan::of_store(files, request, id_source)
    }
}

impl Repairer for Clinvoker {
    fn check(
        &self,
        view: &SessionView<'_>,
        _meta: &SessionMeta,
        problems: &mut Vec<Problem>,
    ) -> Result<()> {
        for slot in view.log.slots() {
            let refused = view.with_object(slot, document::refused)?;
            if let Some(key) = refused.flatten() {
                let detail = format!(
                    "`{key}` is not of the type that clinvoker reads, so clinvoker skips this session"
                );
                problems.push(Problem::of_file(ProblemKind::BadHeader, detail));
            }
        }
        Ok(())
    }
}

impl SharedFiles for Clinvoker {
    fn is_shared(&self, key: &str) -> bool {
        key == index::KEY
    }

    fn shared_files(&self, files: &dyn Files) -> Result<Vec<String>> {
        Ok(files
            .stat(index::KEY)?
            .filter(crate::FileInfo::is_file)
            .map(|info| info.key)
            .into_iter()
            .collect())
    }

    fn without(&self, key: &str, bytes: &[u8], ids: &[String]) -> Option<Vec<u8>> {
        (key == index::KEY).then(|| crate::without_sessions::members(bytes, "index", ids))?
    }
}

impl Runtime for Clinvoker {
    /// clinvoker reads no variable but its home folder: a store elsewhere was written with another
    /// `HOME`.
    fn store_variables(&self, root: &Path, _key: Option<&str>) -> Vec<(&'static str, PathBuf)> {
        let home = root
            .parent()
            .filter(|_| root.file_name().is_some_and(|name| name == ".clinvk"));
        home.map(|home| ("HOME", home.to_owned()))
            .into_iter()
            .collect()
    }

    fn links(&self, meta: &SessionMeta, _id: &str) -> Vec<SessionLink> {
        let dialect = match meta.agent.as_deref() {
            Some("claude") => "claude",
            Some("codex") => "codex",
            _ => return Vec::new(),
        };
        let known = meta.external_ids.get("backend");
        known
            .map(|id| SessionLink {
                kind: LinkKind::Transcript,
                dialect,
                id: id.clone(),
            })
            .into_iter()
            .collect()
    }

    /// Returns the resume command. clinvoker resumes only documents with a session at the backend,
    /// and a new fork has none.
    fn resume(
        &self,
        meta: &SessionMeta,
        location: &SessionLocation,
        _permissions: Permissions,
    ) -> Option<ResumeCommand> {
        meta.external_ids.get("backend")?;
        if !id::is_valid(&location.id) {
            return None;
        }
        let argv = ["clinvk", "resume", &location.id]
            .map(str::to_owned)
            .to_vec();
        Some(ResumeCommand {
            argv,
            cwd: meta.project.clone(),
        })
    }
}
