//! The implementation of [`Dialect`] and its powers for kimi-cli.

use std::path::PathBuf;

use boswell_model::json::{Object, Raw};
use boswell_model::{
    Context, ContextItem, EntryKind, Flags, Head, Interner, Log, Message, Result, SessionMeta,
    SessionView, Slot, Tip, View,
};

use crate::members::text;
use crate::{
    Capabilities, Capability, Dialect, DialectFacts, Discovered, Environment, Files, Match, Powers,
    Sample, SessionLocation, SideFile, SideFiles, SideKind, Support, chat_lines,
};

use super::{layout, wire};

/// The dialect of kimi-cli.
#[derive(Debug)]
pub struct KimiCli;

const SIDE_LIMIT: u64 = 256 << 20;

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
    ]),
    sessions_folder: Some("sessions"),
    ..DialectFacts::new("kimi-cli", "kimi-cli")
};

impl Dialect for KimiCli {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        env.path_var("KIMI_SHARE_DIR")
            .or_else(|| env.in_home(".kimi"))
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

    /// Only the marks between messages distinguish a context from other chats.
    fn recognises(&self, sample: &Sample<'_>) -> Match {
        let is_mark = |object: &Object<'_>| kind(object) == EntryKind::Meta && is_own(object);
        match sample.records.iter().take(8).any(is_mark) {
            true => Match::Certain,
            false => Match::No,
        }
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        object.get("role").is_some_and(|it| it.text().is_some())
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        SessionMeta {
            project: layout::project(location),
            parent: location.owner.clone(),
            ..SessionMeta::default()
        }
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        head.word = object.text("role").and_then(|role| names.intern(&role));
        head.kind = kind(object);
        let hidden = match head.kind {
            EntryKind::User => chat_lines::is_injected(&chat_lines::prompt(object.raw())),
            EntryKind::System => true,
            _ => false,
        };
        head.flags.set_if(hidden, Flags::HIDDEN);
    }

    fn collect_meta(
        &self,
        object: &Object<'_>,
        head: &Head,
        names: &mut Interner,
        meta: &mut SessionMeta,
    ) {
        meta.count(head.word.map_or("", |word| names.text(word)));
        match head.kind {
            EntryKind::User if !head.flags.has(Flags::HIDDEN) => {
                meta.saw_prompt(&chat_lines::prompt(object.raw()));
                (meta.turns, meta.messages) = (meta.turns + 1, meta.messages + 1);
            }
            EntryKind::Assistant => {
                meta.messages += 1;
                let calls = object.get("tool_calls").into_iter();
                meta.tool_calls += calls.flat_map(|it| it.items()).count() as u64;
            }
            _ => {}
        }
    }

    fn link(&self, log: &Log) -> Vec<Option<Slot>> {
        chat_lines::in_order(log)
    }

    fn tip(&self, view: &SessionView<'_>) -> Result<Tip> {
        Ok(chat_lines::last(view.log).map_or(Tip::Root, Tip::At))
    }

    fn view(&self, object: &Object<'_>) -> View {
        let role = object.text("role").unwrap_or_default();
        match kind(object) {
            EntryKind::System => View {
                hidden: true,
                ..chat_lines::view(object.raw())
            },
            EntryKind::Meta | EntryKind::Unknown => chat_lines::other(&role, object.raw()),
            _ => View {
                hidden: chat_lines::is_injected(&chat_lines::prompt(object.raw())),
                ..chat_lines::view(object.raw())
            },
        }
    }

    /// The file is the context.
    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context> {
        use EntryKind::{Assistant, ToolResult, User};
        let mut branch = self.branch(view, tip)?;
        branch.retain(|slot| matches!(view.log.kind(*slot), User | Assistant | ToolResult));
        Ok(Context::stored(tip, branch))
    }

    fn render(&self, _item: &ContextItem, records: &[Object<'_>]) -> Message {
        chat_lines::render_record(records)
    }

    fn powers(&self) -> Powers<'_> {
        Powers {
            side_files: Some(self),
            ..Powers::default()
        }
    }
}

fn is_own(object: &Object<'_>) -> bool {
    let role = object.text("role").unwrap_or_default();
    matches!(&*role, "_checkpoint" | "_usage" | "_system_prompt")
}

fn kind(object: &Object<'_>) -> EntryKind {
    match object.text("role").as_deref() {
        Some("_system_prompt") => EntryKind::System,
        Some(role) if role.starts_with('_') => EntryKind::Meta,
        _ => chat_lines::kind(object.raw()),
    }
}

impl SideFiles for KimiCli {
    fn side_files(&self, files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>> {
        let Some(folder) = layout::folder(location) else {
            return Ok(Vec::new());
        };
        let own =
            |info: &crate::FileInfo| info.is_file() && Some(&info.key) != location.key.as_ref();
        let found = files.list(folder)?.into_iter().filter(own);
        let side = found.map(|info| SideFile {
            key: info.key,
            kind: SideKind::Meta,
            size: info.size,
        });
        Ok(side.collect())
    }

    fn collect_side_meta(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        meta: &mut SessionMeta,
    ) -> Result<()> {
        let Some(folder) = layout::folder(location) else {
            return Ok(());
        };
        let read = |name: &str| files.read_whole(&format!("{folder}/{name}"), SIDE_LIMIT);
        wire::collect(&read("wire.jsonl")?.unwrap_or_default(), meta);
        let state = read("state.json")?.unwrap_or_default();
        if let Ok(state) = Raw::parse(state.trim_ascii()) {
            meta.title = text(state, "custom_title").or_else(|| meta.title.take());
            meta.archived |= state.get("archived").and_then(|it| it.bool()) == Some(true);
        }
        Ok(())
    }
}
