//! Dory: one document a session, rewritten as a whole, and an index with titles.
//!
//! `tasks/<id>.json` is `{"dory":1,"messages":[{"dory":"message","id":"a","at":…,"role":"user",
//! "text":"…"}]}`, written to `<id>.json.tmp` first; `index.json` is `[{"id","title","cwd"}]`.
//! A truncated document has no record: its bytes stay, and `check` reports them.

use std::borrow::Cow;
use std::path::PathBuf;

use boswell_dialect::{
    Capabilities, Capability, Dialect, DialectFacts, Discovered, Environment, Files, Match, Sample,
    SessionLocation, Support,
};
use boswell_model::json::{Json, Object, Raw};
use boswell_model::{
    Context, ContextItem, EntryKind, Framing, Head, Instant, Interner, Log, Message, Problem,
    ProblemKind, Result, SessionMeta, SessionView, Slot, Tip, View,
};

/// A larger index is not read.
const LARGEST_INDEX: u64 = 16 << 20;
const INDEX: &str = "index.json";
const FRAMING: Framing = Framing::Rows("messages");

/// The dialect of dory.
#[derive(Debug)]
pub struct Dory;

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
    ]),
    sessions_folder: Some("tasks"),
    ..DialectFacts::new("dory", "Dory")
};

impl Dialect for Dory {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        env.in_home(".dory").into_iter().collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = Discovered::default();
        let index = files.read_whole(INDEX, LARGEST_INDEX)?.unwrap_or_default();
        let rows = Raw::parse(&index);
        if rows.is_err() && !index.is_empty() {
            let problem = Problem::of_file(ProblemKind::NotJson, "the index is not JSON");
            found.problems.push((INDEX.to_owned(), problem));
        }
        let rows: Vec<Raw<'_>> = rows.map(|rows| rows.items().collect()).unwrap_or_default();
        // A document that is being written ends with `.tmp` and is not a session.
        for info in files.list("tasks")? {
            if let (true, Some(id)) = (info.is_file(), info.stem(".json")) {
                let is_it = |row: &&Raw<'_>| row.get("id").is_some_and(|it| it.is(id));
                let row = rows.iter().find(is_it).map(|row| row.bytes().to_vec());
                found.sessions.push(SessionLocation {
                    row,
                    ..SessionLocation::at(id, &info, FRAMING)
                });
            }
        }
        Ok(found)
    }

    fn id_is_valid(&self, id: &str) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !id.is_empty() && !id.starts_with('-') && id.bytes().all(plain)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        let is_document =
            |object: &Object<'_>| object.get("dory").is_some() && object.get("messages").is_some();
        match sample.records.first() {
            Some(first) if is_document(first) || self.is_record(first) => Match::Certain,
            _ => Match::No,
        }
    }

    fn framing(&self, _key: &str) -> Framing {
        FRAMING
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        object.get("dory").is_some_and(|word| word.is("message"))
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        let row = location.row.as_deref().and_then(|row| Raw::parse(row).ok());
        let text = |key| {
            row.and_then(|row| row.get(key)?.text())
                .map(Cow::into_owned)
        };
        SessionMeta {
            title: text("title"),
            project: text("cwd"),
            ..SessionMeta::default()
        }
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        head.id = object.text("id").and_then(|id| names.intern(&id));
        head.word = object.text("role").and_then(|role| names.intern(&role));
        head.kind = kind_of(object);
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
        if head.kind == EntryKind::User {
            meta.saw_prompt(&object.text("text").unwrap_or_default());
            meta.turns += 1;
        }
        meta.messages += u64::from(head.kind.is_conversation());
    }

    /// Messages are a list: each follows the one before it.
    fn link(&self, log: &Log) -> Vec<Option<Slot>> {
        let before = |slot: Slot| slot.0.checked_sub(1).map(Slot);
        log.slots().map(before).collect()
    }

    fn tip(&self, view: &SessionView<'_>) -> Result<Tip> {
        Ok(view.log.slots().next_back().map_or(Tip::Root, Tip::At))
    }

    fn view(&self, object: &Object<'_>) -> View {
        match kind_of(object) {
            EntryKind::Unknown => View::remark(String::from_utf8_lossy(object.raw().bytes())),
            _ => View::text_only(object.text("text").unwrap_or_default()),
        }
    }

    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context> {
        let mut branch = self.branch(view, tip)?;
        branch.retain(|slot| view.log.kind(*slot).is_conversation());
        Ok(Context::stored(tip, branch))
    }

    fn render(&self, _item: &ContextItem, records: &[Object<'_>]) -> Message {
        let role = records.first().and_then(|record| record.text("role"));
        let texts = records.iter().filter_map(|record| record.text("text"));
        let content = texts.map(|text| Json::from(text.into_owned()));
        Message::new(role.unwrap_or_default(), content)
    }
}

fn kind_of(object: &Object<'_>) -> EntryKind {
    match object.text("role").as_deref() {
        Some("user") => EntryKind::User,
        Some("assistant") => EntryKind::Assistant,
        _ => EntryKind::Unknown,
    }
}
