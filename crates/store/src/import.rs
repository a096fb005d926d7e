//! Brings a session of another place into boswell's own store, as a log of its own.
//!
//! The pi family writes as we do: its records come byte for byte. Sessions of other dialects are told anew, entry by entry, each
//! below what it followed; what our format has no place for becomes a `custom` entry that holds the original record. The branch
//! on which the conversation stands comes first, in reading order, so that every reader finds it whole; other branches follow.

mod convert;

use std::collections::HashMap;

use boswell_dialect::{Body, Draft, NewSession, Settled};
use boswell_model::json::{Json, Raw};
use boswell_model::{EntryKind, Error, ErrorKind, Result, Slot};

use crate::native::uuid_v7_time;
use crate::{Session, SessionWriter, Store};

/// More records than this are not brought over at once.
const MOST_RECORDS: usize = 4_000_000;
/// A log that becomes longer than this is refused: it is made in memory.
const LONGEST: usize = 2 << 30;

/// Dialects whose records are written as ours are.
const FAMILY: [&str; 4] = ["boswell", "pi", "omp", "xcsh"];

impl Store {
    /// Makes a session of all that another one holds. `origin` says where it came from, and stands in its first entry.
    pub fn import(&self, source: &Session, new: NewSession, origin: Json) -> Result<SessionWriter> {
        let records = source.log().heads.len();
        if records > MOST_RECORDS {
            return Err(too_large(source, format!("it holds {records} records, and {MOST_RECORDS} are brought over")));
        }
        let chance = &self.writing()?.chance;
        let id = new.id.clone().unwrap_or_else(|| self.dialect().session_id(chance.as_ref()));
        let now = uuid_v7_time(&id).unwrap_or_else(|| chance.now());
        let mut log = self.first_lines(&new, &id, now)?;
        let mut importing = Importing {
            store: self,
            source,
            out: std::mem::take(&mut log.bytes),
            ids: HashMap::new(),
            firsts: HashMap::new(),
            sent: Vec::new(),
        };
        importing.custom("boswell.meta", Json::object().with("import", origin))?;
        let leaf = if FAMILY.contains(&source.dialect().name()) && importing.all_have_ids()? {
            importing.copy()?
        } else {
            importing.tell()?
        };
        log.bytes = importing.out;
        let last = log.bytes.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().map(<[u8]>::to_vec);
        let writer = self.create_log(&id, log, new.visible)?;
        let stands =
            last.as_deref().and_then(|line| Raw::parse(line).ok()?.get("id")?.text().map(|id| id.into_owned()));
        if let Some(leaf) = leaf.filter(|leaf| stands.as_ref() != Some(leaf)) {
            writer.branch(&leaf)?;
        }
        Ok(writer)
    }
}

/// A session on its way.
struct Importing<'s> {
    store: &'s Store,
    source: &'s Session,
    /// The log so far.
    out: Vec<u8>,
    /// Under which id the last entry stands that an original became.
    ids: HashMap<Slot, String>,
    /// Under which id the first entry stands that an original became.
    firsts: HashMap<Slot, String>,
    /// What a model is sent, in order.
    sent: Vec<Slot>,
}

impl Importing<'_> {
    /// Whether records can be taken as they are: those of old versions have no ids or parents.
    fn all_have_ids(&self) -> Result<bool> {
        let header = self.source.header();
        let log = self.source.log();
        let hangs = |slot: &Slot| log.head(*slot).is_some_and(|head| head.parent.is_some());
        let branch = self.source.branch(self.source.tip()?)?;
        Ok(log.gaps.is_empty()
            && branch.iter().filter(|slot| Some(**slot) != header).skip(1).all(hangs)
            && log.entries().all(|(slot, head)| {
                Some(slot) == header || head.id.is_some() || head.kind == EntryKind::Header || log.word(slot) == "title"
            }))
    }

    /// Takes every record but the header as it is.
    fn copy(&mut self) -> Result<Option<String>> {
        let log = self.source.log();
        for (slot, head) in log.entries() {
            if Some(slot) == self.source.header() || head.id.is_none() {
                continue;
            }
            let bytes = self.source.entry(slot)?.bytes;
            self.line(bytes.trim_ascii())?;
        }
        Ok(self.source.leaf()?.map(|leaf| log.label(leaf).into_owned()))
    }

    /// Tells every entry anew: first the branch on which it stands, then the others.
    fn tell(&mut self) -> Result<Option<String>> {
        let tip = self.source.tip()?;
        let branch = self.source.branch(tip)?;
        let items = self.source.context(tip)?.items;
        self.sent = items.iter().flat_map(boswell_model::ContextItem::slots).collect();
        let mut told = convert::Telling::new(self.source, items);
        let mut parent = None;
        for (at, slot) in branch.iter().enumerate() {
            let next = branch.get(at + 1).copied();
            parent = self.add(*slot, parent, &mut told, next)?;
        }
        for slot in self.source.log().slots() {
            if self.ids.contains_key(&slot) || Some(slot) == self.source.header() {
                continue;
            }
            let above = std::iter::successors(self.source.tree().parent(slot), |it| self.source.tree().parent(*it))
                .take(MOST_RECORDS)
                .find_map(|it| self.ids.get(&it).cloned());
            self.add(slot, above, &mut told, None)?;
        }
        for gap in &self.source.log().gaps {
            self.custom(
                "boswell.import",
                Json::object().with("at", gap.at).with("bytes", gap.len).with("damaged", true),
            )?;
        }
        Ok(parent)
    }

    /// Adds what an entry becomes, below `parent`; gives the id of the last of it.
    fn add(
        &mut self,
        slot: Slot,
        parent: Option<String>,
        told: &mut convert::Telling<'_>,
        next: Option<Slot>,
    ) -> Result<Option<String>> {
        let mut parent = parent;
        if let Some(id) = self.ids.get(&slot) {
            return Ok(Some(id.clone()));
        }
        let at = self.source.log().head(slot).and_then(boswell_model::Head::instant);
        let chance = &self.store.writing()?.chance;
        let telling = told.tell(slot, next)?;
        for body in telling.bodies {
            let id = chance.hex16();
            let body = match body {
                Body::Compaction { summary, tokens_before, .. } => {
                    // Of what came before, the first that is still sent; otherwise it names itself, and nothing is kept.
                    let kept = self.sent.iter().find_map(|slot| self.firsts.get(slot));
                    Body::Compaction { summary, first_kept: kept.unwrap_or(&id).clone(), tokens_before }
                }
                body => body,
            };
            let settled = Settled { id: &id, parent: parent.as_deref(), at: at.unwrap_or_else(|| chance.now()) };
            let record = self.store.dialect().encode(&Draft::new(body), settled)?;
            self.line(&record)?;
            self.firsts.entry(slot).or_insert_with(|| id.clone());
            parent = Some(id);
        }
        for slot in telling.slots {
            self.ids.insert(slot, parent.clone().unwrap_or_default());
        }
        Ok(parent)
    }

    fn custom(&mut self, kind: &str, data: Json) -> Result<()> {
        let chance = &self.store.writing()?.chance;
        let (id, at) = (chance.hex16(), chance.now());
        let settled = Settled { id: &id, parent: None, at };
        let record = self.store.dialect().encode(&Draft::custom(kind, data), settled)?;
        self.line(&record)
    }

    fn line(&mut self, record: &[u8]) -> Result<()> {
        self.out.extend_from_slice(record);
        self.out.push(b'\n');
        if self.out.len() > LONGEST {
            return Err(too_large(self.source, format!("it becomes longer than {LONGEST} bytes")));
        }
        Ok(())
    }
}

fn too_large(source: &Session, why: String) -> Error {
    Error::new(ErrorKind::Unsupported, format!("{} is too large to be imported", source.reference()))
        .because(why)
        .hinting(format!("read it where it is with `boswell show {}`", source.reference()))
}
