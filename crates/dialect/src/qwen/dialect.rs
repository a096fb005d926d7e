//! The implementation of [`Dialect`] and its powers for Qwen Code.

use std::path::{Path, PathBuf};

use boswell_model::json::Object;
use boswell_model::{
    Context, ContextItem, EntryKind, Flags, Head, Interner, Log, Message, Result, SessionMeta,
    SessionView, Slot, Tip, View,
};

use crate::uuid::is_uuid;
use crate::{
    Capabilities, Capability, Dialect, DialectFacts, Discovered, Environment, Files, ImageIntake,
    Intake, Match, Permissions, Powers, Refine, ResumeCommand, Runtime, Sample, SessionLocation,
    Support, ThinkingIntake,
};

use super::{context, layout, record};

/// The dialect of Qwen Code.
#[derive(Debug)]
pub struct Qwen;

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
    sessions_folder: Some("projects"),
    ids_are_unique: false,
    forks_to_other_projects: true,
    intake: Some(Intake {
        thinking: ThinkingIntake::Text,
        images: ImageIntake::Prompts,
        ..Intake::PLAIN
    }),
    ..DialectFacts::new("qwen", "Qwen Code")
};

impl Dialect for Qwen {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        env.path_var("QWEN_RUNTIME_DIR")
            .or_else(|| env.path_var("QWEN_HOME"))
            .or_else(|| env.in_home(".qwen"))
            .into_iter()
            .collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        layout::discover(files)
    }

    fn id_is_valid(&self, id: &str) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        !id.is_empty() && !id.starts_with('-') && id.bytes().all(plain)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        let at_home = sample.folders.iter().any(|folder| folder == ".qwen");
        let likeness = sample.records.iter().take(8).map(|it| likeness(it)).max();
        match likeness.unwrap_or(Match::No) {
            // Forks of Claude Code write such records too.
            Match::Maybe if at_home => Match::Certain,
            Match::Maybe => Match::No,
            other => other,
        }
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        object.get("uuid").is_some()
            && object.get("sessionId").is_some()
            && object.get("type").is_some()
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        SessionMeta {
            archived: location.hidden == Some("archived"),
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
        record::collect_meta(object, head, names, meta);
    }

    /// Records with one id are fragments of one message, each below the one before it.
    fn link(&self, log: &Log) -> Vec<Option<Slot>> {
        let by_id = log.by_id();
        let mut last = vec![None; log.names.len()];
        let mut parents = Vec::with_capacity(log.heads.len());
        for (slot, head) in log.entries() {
            let named = head.parent.and_then(|parent| by_id.last(parent));
            let before = head.id.and_then(|id| last.get_mut(id.index()));
            let before = before.and_then(|before| before.replace(slot));
            parents.push(before.or(named));
        }
        parents
    }

    /// The last record, except those of subagents and those beside the conversation.
    fn tip(&self, view: &SessionView<'_>) -> Result<Tip> {
        let stands = |head: &Head| {
            !head.flags.has(Flags::SIDECHAIN)
                && !head.flags.has(record::ASIDE)
                && head.kind != EntryKind::Unknown
        };
        let mut entries = view.log.entries().rev();
        let last = entries.find(|(_, head)| stands(head));
        Ok(last.map_or(Tip::Root, |(slot, _)| Tip::At(slot)))
    }

    fn view(&self, object: &Object<'_>) -> View {
        record::view(object)
    }

    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context> {
        context::context(view, tip)
    }

    fn render(&self, item: &ContextItem, records: &[Object<'_>]) -> Message {
        context::render(item, records)
    }

    fn powers(&self) -> Powers<'_> {
        Powers {
            append: Some(self),
            edits: Some(self),
            runtime: Some(self),
            refine: self,
            ..Powers::default()
        }
    }
}

/// Claude Code writes the same members around other messages.
fn likeness(object: &Object<'_>) -> Match {
    let has = |key: &str| object.get(key).is_some();
    if !has("uuid") || !has("parentUuid") || !has("sessionId") || !has("type") {
        return Match::No;
    }
    let message = object.get("message");
    let google = message.is_some_and(|message| message.get("parts").is_some());
    let own = has("systemPayload") || has("toolCallResult") || has("usageMetadata");
    match google || own {
        true => Match::Certain,
        false if has("isSidechain") || has("userType") => Match::No,
        false => Match::Maybe,
    }
}

impl Runtime for Qwen {
    fn store_variables(&self, root: &Path, _key: Option<&str>) -> Vec<(&'static str, PathBuf)> {
        vec![("QWEN_RUNTIME_DIR", root.to_owned())]
    }

    /// Qwen Code resumes sessions of the folder that it runs in.
    fn resume(
        &self,
        meta: &SessionMeta,
        location: &SessionLocation,
        _permissions: Permissions,
    ) -> Option<ResumeCommand> {
        let id = meta.id.as_ref().unwrap_or(&location.id);
        let usable = is_uuid(id) && location.hidden.is_none() && location.owner.is_none();
        let project = meta.project.clone().filter(|_| usable)?;
        Some(ResumeCommand {
            argv: ["qwen", "--resume", id].map(str::to_owned).to_vec(),
            cwd: Some(project),
        })
    }
}

impl Refine for Qwen {
    /// Fragments of one message count once.
    fn settle(&self, log: &mut Log, meta: Option<&mut SessionMeta>) {
        let Some(meta) = meta else { return };
        let mut known = std::collections::HashSet::new();
        (meta.messages, meta.turns) = (0, 0);
        for head in &log.heads {
            let is_prompt = head.kind == EntryKind::User && !head.flags.has(Flags::HIDDEN);
            let is_message = is_prompt || head.kind == EntryKind::Assistant;
            if is_message && head.id.is_none_or(|id| known.insert(id)) {
                meta.messages += 1;
                meta.turns += u64::from(is_prompt);
            }
        }
    }
}
