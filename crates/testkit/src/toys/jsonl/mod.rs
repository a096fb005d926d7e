//! Jot: a log of lines, each of which names its parent.

mod append;

use std::path::PathBuf;

use boswell_dialect::{
    Capabilities, Capability, Dialect, DialectFacts, Discovered, Environment, Files, Match,
    Permissions, Powers, ResumeCommand, Runtime, Sample, SessionLocation, Support,
};
use boswell_model::json::{Json, Object, Raw};
use boswell_model::{
    Context, ContextItem, EntryKind, Flags, Framing, Head, Instant, Interner, Message, Part,
    Result, SessionMeta, SessionView, Tip, View,
};

/// The dialect of jot.
#[derive(Debug)]
pub struct Jot;

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
        (Capability::Append, Support::Native),
        (Capability::Title, Support::Native),
        (Capability::Resume, Support::Native),
    ]),
    ..DialectFacts::new("jot", "Jot")
};

impl Dialect for Jot {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        env.in_home(".jot").into_iter().collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = Discovered::default();
        for info in files.list("sessions")? {
            if let (true, Some(id)) = (info.is_file(), info.stem(".jsonl")) {
                (found.sessions).push(SessionLocation::at(id, &info, Framing::Lines));
            }
        }
        Ok(found)
    }

    fn id_is_valid(&self, id: &str) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !id.is_empty() && !id.starts_with('-') && id.bytes().all(plain)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        let own = sample.records.first().is_some_and(|it| self.is_record(it));
        if own { Match::Certain } else { Match::No }
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        object.get("jot").is_some() && object.get("id").is_some()
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        let mut name = |key| object.text(key).and_then(|text| names.intern(&text));
        let [id, parent, word] = ["id", "parent", "jot"].map(&mut name);
        let at = object.text("at").and_then(|at| Instant::parse(&at));
        (head.kind, head.word, head.time) = (kind_of(object), word, at.map(Into::into));
        // The header's id is that of the session: it is not an entry of the tree.
        if head.kind != EntryKind::Header {
            (head.id, head.parent) = (id, parent);
            head.flags.set(Flags::CHAIN);
        }
    }

    fn collect_meta(
        &self,
        object: &Object<'_>,
        head: &Head,
        names: &mut Interner,
        meta: &mut SessionMeta,
    ) {
        meta.saw(head);
        meta.count(head.word.map_or("header", |word| names.text(word)));
        let [id, cwd, title] = ["id", "cwd", "title"].map(|key| owned(object, key));
        match head.kind {
            EntryKind::Header => (meta.id, meta.project) = (id, cwd),
            EntryKind::Title => meta.title = title,
            EntryKind::User => {
                meta.saw_prompt(&object.text("text").unwrap_or_default());
                meta.turns += 1;
            }
            _ => {}
        }
        meta.messages += u64::from(matches!(head.kind, EntryKind::User | EntryKind::Assistant));
    }

    fn tip(&self, view: &SessionView<'_>) -> Result<Tip> {
        let mut entries = view.log.entries().rev();
        let last = entries.find(|(_, head)| head.flags.has(Flags::CHAIN));
        Ok(last.map_or(Tip::Root, |(slot, _)| Tip::At(slot)))
    }

    fn view(&self, object: &Object<'_>) -> View {
        let text = owned(object, "text").unwrap_or_default();
        match kind_of(object) {
            EntryKind::ToolResult => View::of([Part::Result {
                call: owned(object, "call").unwrap_or_default(),
                text,
                is_error: object.get("failed").and_then(|it| it.bool()) == Some(true),
            }]),
            EntryKind::User | EntryKind::Assistant => {
                let calls = object.get("calls").into_iter();
                let calls = calls.flat_map(|calls| calls.items()).map(call);
                View::of(std::iter::once(Part::Text(text)).chain(calls))
            }
            _ => View::remark(String::from_utf8_lossy(object.raw().bytes())),
        }
    }

    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context> {
        let mut branch = self.branch(view, tip)?;
        branch.retain(|slot| view.log.kind(*slot).is_conversation());
        Ok(Context::stored(tip, branch))
    }

    fn render(&self, _item: &ContextItem, records: &[Object<'_>]) -> Message {
        let role = records.first().and_then(|record| owned(record, "role"));
        let content = records.iter().map(|record| Json::from(record.raw()));
        Message::new(role.unwrap_or_default(), content)
    }

    fn powers(&self) -> Powers<'_> {
        let (append, runtime) = (Some(self as _), Some(self as _));
        Powers {
            append,
            runtime,
            ..Powers::default()
        }
    }
}

impl Runtime for Jot {
    fn resume(
        &self,
        meta: &SessionMeta,
        location: &SessionLocation,
        _permissions: Permissions,
    ) -> Option<ResumeCommand> {
        Some(ResumeCommand {
            argv: ["jot", "--resume", &location.id].map(str::to_owned).into(),
            cwd: meta.project.clone(),
        })
    }
}

fn owned(object: &Object<'_>, key: &str) -> Option<String> {
    object.text(key).map(std::borrow::Cow::into_owned)
}

fn kind_of(object: &Object<'_>) -> EntryKind {
    let [word, role] = ["jot", "role"].map(|key| object.text(key).unwrap_or_default());
    match (&*word, &*role) {
        ("title", _) => EntryKind::Title,
        ("say", "user") => EntryKind::User,
        ("say", "assistant") => EntryKind::Assistant,
        ("say", "tool") => EntryKind::ToolResult,
        _ if object.get("jot").is_some_and(|word| word.u64().is_some()) => EntryKind::Header,
        _ => EntryKind::Unknown,
    }
}

fn call(call: Raw<'_>) -> Part {
    let text = |key| call.get(key).and_then(|value| value.text());
    let input = call.get("args").map_or(&b"{}"[..], |args| args.bytes());
    Part::Call {
        id: text("id").unwrap_or_default().into_owned(),
        name: text("name").unwrap_or_default().into_owned(),
        input: String::from_utf8_lossy(input).into_owned().into(),
    }
}
