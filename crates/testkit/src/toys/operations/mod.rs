//! Opal: a log of operations. Later lines replace, rewind and compact earlier ones.
//!
//! ```text
//! {"opal":"open","session":"o-1","cwd":"/proj","at":1767254400000}
//! {"opal":"message","id":"a","at":1767254401000,"role":"user","text":"…"}   an id again: replaced
//! {"opal":"rewind","to":"a"}                      drops that message and all after it
//! {"opal":"replace","messages":[{"role":"…","text":"…"}]}   these instead of all before
//! ```

use std::borrow::Cow;
use std::path::PathBuf;

use boswell_dialect::{
    Capabilities, Capability, Dialect, DialectFacts, Discovered, Environment, Files, Match, Sample,
    SessionLocation, Support,
};
use boswell_model::json::{Json, Object, Raw};
use boswell_model::{
    Context, ContextForm, ContextItem, EntryKind, Framing, Head, Instant, Interner, Log, Message,
    Part, Result, SessionMeta, SessionView, Slot, Tip, View,
};

mod replay;

/// The dialect of opal.
#[derive(Debug)]
pub struct Opal;

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
    ]),
    sessions_folder: Some("chats"),
    ids_are_unique: false,
    ..DialectFacts::new("opal", "Opal")
};

impl Dialect for Opal {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        env.in_home(".opal").into_iter().collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = Discovered::default();
        for info in files.list("chats")? {
            if let (true, Some(id)) = (info.is_file(), info.stem(".jsonl")) {
                let location = SessionLocation::at(id, &info, Framing::Lines);
                found.sessions.push(location);
            }
        }
        Ok(found)
    }

    fn id_is_valid(&self, id: &str) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !id.is_empty() && !id.starts_with('-') && id.bytes().all(plain)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        match sample.records.first() {
            Some(first) if self.is_record(first) => Match::Certain,
            _ => Match::No,
        }
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        object.get("opal").is_some()
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        let mut name = |key| object.text(key).and_then(|text| names.intern(&text));
        (head.word, head.id) = (name("opal"), name("id"));
        head.kind = kind_of(object);
        if head.kind == EntryKind::Leaf {
            // The target of a rewind is not its parent, so it is not a link of the tree.
            head.group = name("to");
        }
        let at = object.get("at").and_then(|at| at.i64());
        head.time = at.map(|at| Instant::from_millis(at).into());
    }

    fn collect_meta(
        &self,
        object: &Object<'_>,
        head: &Head,
        names: &mut Interner,
        meta: &mut SessionMeta,
    ) {
        meta.saw(head);
        meta.count(head.word.map_or("", |word| names.text(word)));
        let text = |key| object.text(key).map(Cow::into_owned);
        match head.kind {
            EntryKind::Header => (meta.id, meta.project) = (text("session"), text("cwd")),
            EntryKind::User => {
                meta.saw_prompt(&text("text").unwrap_or_default());
                (meta.turns, meta.messages) = (meta.turns + 1, meta.messages + 1);
            }
            EntryKind::Assistant => meta.messages += 1,
            _ => {}
        }
    }

    fn link(&self, log: &Log) -> Vec<Option<Slot>> {
        replay::replay(log).parents
    }

    fn tip(&self, view: &SessionView<'_>) -> Result<Tip> {
        let live = replay::replay(view.log).live;
        Ok(live.last().map_or(Tip::Root, |slot| Tip::At(*slot)))
    }

    fn view(&self, object: &Object<'_>) -> View {
        let text = |raw: Raw<'_>| {
            raw.get("text")
                .and_then(|text| text.text())
                .map(Cow::into_owned)
        };
        match kind_of(object) {
            EntryKind::User | EntryKind::Assistant => {
                View::text_only(text(object.raw()).unwrap_or_default())
            }
            EntryKind::Compaction => View::of(messages(object).filter_map(text).map(Part::Text)),
            _ => View::remark(String::from_utf8_lossy(object.raw().bytes())),
        }
    }

    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context> {
        let mut context = Context::stored(tip, None);
        let branch = self.branch(view, tip)?;
        let is_cut = |slot: &Slot| view.log.kind(*slot) == EntryKind::Compaction;
        let cut = branch.iter().rposition(is_cut).unwrap_or(0);
        for slot in branch.into_iter().skip(cut) {
            match view.log.kind(slot) {
                EntryKind::Compaction => {
                    let count = view.with_object(slot, |object| messages(object).count())?;
                    let count = u32::try_from(count.unwrap_or(0)).unwrap_or(u32::MAX);
                    let part = |at| ContextItem::with_form(slot, ContextForm::Part(at));
                    context.items.extend((0..count).map(part));
                }
                kind if kind.is_conversation() => context.items.push(ContextItem::stored(slot)),
                _ => {}
            }
        }
        Ok(context)
    }

    fn render(&self, item: &ContextItem, records: &[Object<'_>]) -> Message {
        let record = records.first();
        let message = match item.form {
            ContextForm::Part(at) => record.and_then(|record| messages(record).nth(at as usize)),
            _ => record.map(Object::raw),
        };
        let member = |key| message.and_then(|message| message.get(key)?.text());
        let text = member("text").map(|text| Json::from(text.into_owned()));
        Message::new(member("role").unwrap_or_default(), text)
    }
}

fn kind_of(object: &Object<'_>) -> EntryKind {
    let [word, role] = ["opal", "role"].map(|key| object.text(key).unwrap_or_default());
    match (&*word, &*role) {
        ("open", _) => EntryKind::Header,
        ("message", "user") => EntryKind::User,
        ("message", "assistant") => EntryKind::Assistant,
        ("rewind", _) => EntryKind::Leaf,
        ("replace", _) => EntryKind::Compaction,
        _ => EntryKind::Unknown,
    }
}

/// Iterates over the messages of a replacement.
fn messages<'o>(object: &Object<'o>) -> impl Iterator<Item = Raw<'o>> + use<'o> {
    let list = object.get("messages").into_iter();
    list.flat_map(|list| list.items())
}
