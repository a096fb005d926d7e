//! Rook: rows of a database, a session in one table and its messages in another.
//!
//! `session(id, title, cwd, updated)` and `message(id, session_id, at, data)`, where `data` is
//! JSON: `{"role":"user","text":"…"}`, with `"dropped":true` once a message is no longer sent.

use std::borrow::Cow;
use std::path::PathBuf;

use boswell_dialect::{
    Capabilities, Capability, Dialect, DialectFacts, Discovered, Environment, Files, Match,
    ROW_TABLE, RowLayout, RowSelect, RowTable, Sample, SessionLocation, StampRule, Support,
};
use boswell_model::json::{Json, Object, Raw};
use boswell_model::{
    Context, ContextItem, EntryKind, Flags, Head, Instant, Interner, Log, Message, Result,
    SessionMeta, SessionView, Slot, Tip, View,
};

/// The database below the root.
pub const DATABASE: &str = "rook.db";

/// The dialect of rook.
#[derive(Debug)]
pub struct Rook;

const SESSION: RowTable = RowTable {
    name: "session",
    session: "id",
    order: &[],
    json: &[],
    stamp: StampRule::EveryRow(Some("updated")),
    children: None,
};

const MESSAGE: RowTable = RowTable {
    name: "message",
    session: "session_id",
    order: &["at", "id"],
    json: &["data"],
    stamp: StampRule::EveryRow(None),
    children: None,
};

const LAYOUT: RowLayout = RowLayout::of(&[SESSION, MESSAGE]);

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
    ]),
    rows: Some(LAYOUT),
    ..DialectFacts::new("rook", "Rook")
};

impl Dialect for Rook {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        env.in_home(".rook").into_iter().collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = Discovered::default();
        let Some(source) = files.rows(DATABASE)? else {
            return Ok(found);
        };
        let all = RowSelect {
            table: SESSION.name,
            only: None,
            order: &[],
        };
        for key in source.keys(&all)? {
            let mut row = Vec::new();
            source.row(SESSION.name, key, &mut |columns| {
                SESSION.write_record(columns, &mut row);
            })?;
            let of = Raw::trusted(&row);
            let Some(id) = of.get("id").and_then(|id| id.text()) else {
                continue;
            };
            let updated = of.get("updated").and_then(|at| at.i64());
            let stamp = LAYOUT.stamp(source.as_ref(), &id)?;
            let at = updated.map(Instant::from_millis);
            let location = SessionLocation::of_rows(id, DATABASE, stamp, at);
            found.sessions.push(SessionLocation {
                row: Some(row),
                ..location
            });
        }
        Ok(found)
    }

    fn id_is_valid(&self, id: &str) -> bool {
        // A `#` would end the name of the database in the key of the session.
        !id.is_empty() && !id.starts_with('-') && !id.contains('#')
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        match sample.records.first() {
            Some(first) if self.is_record(first) => Match::Certain,
            _ => Match::No,
        }
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        let table = object.get(ROW_TABLE);
        table.is_some_and(|table| table.is(SESSION.name) || table.is(MESSAGE.name))
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        let word = object.text(ROW_TABLE);
        head.word = word.and_then(|word| names.intern(&word));
        head.kind = kind_of(object);
        if head.kind == EntryKind::Header {
            return;
        }
        let at = object.get("at").and_then(|at| at.i64());
        head.time = at.map(|at| Instant::from_millis(at).into());
        head.id = object.text("id").and_then(|id| names.intern(&id));
        head.flags.set(Flags::CHAIN);
        let dropped = data(object, "dropped").and_then(|dropped| dropped.bool());
        head.flags.set_if(dropped == Some(true), Flags::OWN);
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
            EntryKind::Header => {
                (meta.id, meta.title, meta.project) = (text("id"), text("title"), text("cwd"));
            }
            EntryKind::User => {
                meta.saw_prompt(&said(object));
                (meta.turns, meta.messages) = (meta.turns + 1, meta.messages + 1);
            }
            EntryKind::Assistant => meta.messages += 1,
            _ => {}
        }
    }

    /// Rows are in order: each message follows the one before it.
    fn link(&self, log: &Log) -> Vec<Option<Slot>> {
        let mut last = None;
        let link = |(slot, head): (Slot, &Head)| {
            let is_message = head.flags.has(Flags::CHAIN);
            let parent = last.filter(|_| is_message);
            last = if is_message { Some(slot) } else { last };
            parent
        };
        log.entries().map(link).collect()
    }

    fn tip(&self, view: &SessionView<'_>) -> Result<Tip> {
        let mut entries = view.log.entries().rev();
        let last = entries.find(|(_, head)| head.flags.has(Flags::CHAIN));
        Ok(last.map_or(Tip::Root, |(slot, _)| Tip::At(slot)))
    }

    fn view(&self, object: &Object<'_>) -> View {
        match kind_of(object) {
            EntryKind::User | EntryKind::Assistant => View::text_only(said(object)),
            _ => View::remark(String::from_utf8_lossy(object.raw().bytes())),
        }
    }

    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context> {
        let mut branch = self.branch(view, tip)?;
        branch.retain(|slot| {
            let head = view.log.head(*slot);
            head.is_some_and(|head| head.kind.is_conversation() && !head.flags.has(Flags::OWN))
        });
        Ok(Context::stored(tip, branch))
    }

    fn render(&self, _item: &ContextItem, records: &[Object<'_>]) -> Message {
        let role = records.first().and_then(|record| data(record, "role"));
        let role = role.and_then(|role| role.text()).unwrap_or_default();
        Message::new(role, records.iter().map(|record| Json::from(said(record))))
    }
}

fn kind_of(object: &Object<'_>) -> EntryKind {
    let is_session = |table: Raw<'_>| table.is(SESSION.name);
    match data(object, "role").and_then(|role| role.text()).as_deref() {
        _ if object.get(ROW_TABLE).is_some_and(is_session) => EntryKind::Header,
        Some("user") => EntryKind::User,
        Some("assistant") => EntryKind::Assistant,
        _ => EntryKind::Unknown,
    }
}

fn data<'o>(object: &Object<'o>, key: &str) -> Option<Raw<'o>> {
    object.get("data")?.get(key)
}

fn said(object: &Object<'_>) -> String {
    let text = data(object, "text").and_then(|text| text.text());
    text.map(Cow::into_owned).unwrap_or_default()
}
