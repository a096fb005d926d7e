//! Imports a session of another store into boswell's own, as a new log.
//!
//! The pi family has the same format: its records are copied byte for byte. Sessions of other
//! dialects are converted, so that a model is sent the same messages in the same order; a record
//! that the format has no place for becomes a `custom` entry that contains the original. The
//! current branch comes first, so that every reader finds it whole; other branches follow. Side
//! files of the source go into the artifact folder of the new session.

mod artifact;
mod branch;
mod convert;
mod message;
mod side_files;

use std::borrow::Cow;
use std::collections::HashMap;

use boswell_dialect::{Body, Draft, EntryStamp, NewLog, NewSession};
use boswell_model::json::{Json, Raw};
use boswell_model::{Advice, EntryKind, Error, ErrorKind, Result, Slot};

use crate::store::native::uuid_v7_time;
use crate::{Session, SessionWriter, WritableStore};

pub use side_files::{Imported, LeftBehind};

/// How much an import may bring over: the file may come from anywhere, and the
/// log is made in memory.
#[derive(Debug, Clone, Copy)]
pub struct ImportLimits {
    /// Records of each log of the source, and side files.
    pub records: usize,
    /// Containers within each other in one record. Programs that read sessions go that deep
    /// by calling themselves.
    pub depth: usize,
    /// Bytes of each log that is made, with all that is put back into its records; and of all
    /// files beside the source.
    pub bytes: usize,
}

impl Default for ImportLimits {
    fn default() -> Self {
        ImportLimits {
            records: 4_000_000,
            depth: 1_000,
            bytes: 2 << 30,
        }
    }
}

impl WritableStore {
    /// Imports a session. `origin` describes where it came from, and is recorded in its first
    /// entry.
    ///
    /// # Errors
    ///
    /// `Unsupported` if the source is too large; otherwise those of
    /// [`create`](WritableStore::create), and an I/O error if the source cannot be read.
    pub fn import(&self, source: &Session, new: NewSession, origin: Json) -> Result<SessionWriter> {
        self.import_within(source, new, origin, ImportLimits::default())
    }

    /// As [`import`](WritableStore::import), within other limits.
    ///
    /// # Errors
    ///
    /// Those of [`import`](WritableStore::import).
    pub fn import_within(
        &self,
        source: &Session,
        new: NewSession,
        origin: Json,
        limits: ImportLimits,
    ) -> Result<SessionWriter> {
        let (id, log) = self.converted_log(source, &new, origin, limits)?;
        self.create_log(&id, log, new.visible)
    }

    /// The log that a session becomes, under a new id.
    fn converted_log(
        &self,
        source: &Session,
        new: &NewSession,
        origin: Json,
        limits: ImportLimits,
    ) -> Result<(String, NewLog)> {
        refuse_too_large(source, limits)?;
        let id_source = self.id_source();
        let append = self.dialect().appender()?;
        let id = new
            .id
            .as_ref()
            .map_or_else(|| append.session_id(id_source), ToString::to_string);
        let now = uuid_v7_time(&id).unwrap_or_else(|| id_source.now());
        let mut log = self.first_lines(new, &id, now)?;
        let mut importing = Importing {
            store: self,
            source,
            limits,
            out: std::mem::take(&mut log.bytes),
            ids: HashMap::new(),
            firsts: HashMap::new(),
            earlier: message::EarlierFacts {
                model: source.meta().models.first().cloned(),
                ..message::EarlierFacts::default()
            },
        };
        importing.custom(
            "boswell.meta",
            Some(Json::object().with("import", origin)),
            None,
        )?;
        let leaf = if source.dialect().facts().has_own_records && importing.all_have_ids()? {
            importing.copy()?
        } else {
            importing.convert()?
        };
        if let Some(leaf) = leaf.filter(|leaf| importing.leaf() != Some(leaf.as_str().into())) {
            importing.custom("boswell.leaf", None, Some(&leaf))?;
        }
        log.bytes = importing.out;
        Ok((id, log))
    }
}

/// An import in progress.
struct Importing<'s> {
    store: &'s WritableStore,
    source: &'s Session,
    limits: ImportLimits,
    /// The log so far.
    out: Vec<u8>,
    /// Id of the last entry that each original became.
    ids: HashMap<Slot, String>,
    /// Id of the first entry that each original became.
    firsts: HashMap<Slot, String>,
    /// Facts of earlier messages that later ones need.
    earlier: message::EarlierFacts,
}

impl Importing<'_> {
    /// Whether records can be taken as they are: those of old versions have no ids or parents.
    fn all_have_ids(&self) -> Result<bool> {
        let header = self.source.header();
        let log = self.source.log();
        let has_parent = |slot: &Slot| log.head(*slot).is_some_and(|head| head.parent.is_some());
        let branch = self.source.branch(self.source.tip()?)?;
        Ok(log.gaps.is_empty()
            && branch
                .iter()
                .filter(|slot| Some(**slot) != header)
                .skip(1)
                .all(has_parent)
            && log.entries().all(|(slot, head)| {
                Some(slot) == header
                    || head.id.is_some()
                    || head.kind == EntryKind::Header
                    || log.word(slot) == "title"
            }))
    }

    /// Takes every record but the header as it is.
    fn copy(&mut self) -> Result<Option<String>> {
        let log = self.source.log();
        for (slot, head) in log.entries() {
            if Some(slot) == self.source.header() || head.id.is_none() {
                continue;
            }
            // The source's blobs are not in this store, so their content is copied.
            let bytes = self.source.entry(slot)?.bytes;
            self.line(self.source.whole(bytes.into()).trim_ascii())?;
        }
        Ok(self
            .source
            .tip()?
            .slot()
            .map(|tip| log.label(tip).into_owned()))
    }

    /// Converts every entry: first the current branch, then the others.
    fn convert(&mut self) -> Result<Option<String>> {
        let leaf = self.convert_branch()?;
        for slot in self.source.log().slots() {
            if self.ids.contains_key(&slot) || Some(slot) == self.source.header() {
                continue;
            }
            let above = std::iter::successors(self.source.tree().parent(slot), |it| {
                self.source.tree().parent(*it)
            })
            .take(self.limits.records)
            .find_map(|it| self.ids.get(&it).cloned());
            let bodies = convert::record(self.source, slot, &mut self.earlier)?;
            self.add(&[slot], bodies, above)?;
        }
        for gap in &self.source.log().gaps {
            let data = Json::object()
                .with("at", gap.at)
                .with("bytes", gap.len)
                .with("damaged", true);
            self.custom("boswell.import", Some(data), None)?;
        }
        Ok(leaf)
    }

    /// Appends what entries become below `parent`; returns the id of the last one.
    fn add(
        &mut self,
        slots: &[Slot],
        bodies: Vec<Body>,
        parent: Option<String>,
    ) -> Result<Option<String>> {
        let mut parent = parent;
        let at = slots
            .iter()
            .find_map(|slot| self.source.log().head(*slot)?.instant());
        let id_source = self.store.id_source();
        let mut first = None;
        for body in bodies {
            let id = id_source.hex16();
            let body = match body {
                // Nothing from before is kept: it names itself.
                Body::Compaction {
                    summary,
                    first_kept,
                    tokens_before,
                } if first_kept.as_str().is_empty() => Body::Compaction {
                    summary,
                    first_kept: id.as_str().into(),
                    tokens_before,
                },
                body => body,
            };
            let settled = EntryStamp {
                id: &id,
                parent: parent.as_deref(),
                at: at.unwrap_or_else(|| id_source.now()),
            };
            let record = self
                .store
                .dialect()
                .appender()?
                .encoded(&Draft::new(body), settled)?;
            self.line(&record)?;
            first.get_or_insert_with(|| id.clone());
            parent = Some(id);
        }
        for slot in slots {
            if let Some(first) = &first {
                self.firsts.insert(*slot, first.clone());
            }
            self.ids.insert(*slot, parent.clone().unwrap_or_default());
        }
        Ok(parent)
    }

    fn custom(&mut self, kind: &str, data: Option<Json>, parent: Option<&str>) -> Result<()> {
        let id_source = self.store.id_source();
        let (id, at) = (id_source.hex16(), id_source.now());
        let body = Body::Custom {
            kind: kind.to_owned(),
            data,
        };
        let record = self.store.dialect().appender()?.encoded(
            &Draft::new(body),
            EntryStamp {
                id: &id,
                parent,
                at,
            },
        )?;
        self.line(&record)
    }

    /// Returns the entry that every reader takes for the leaf: the last.
    fn leaf(&self) -> Option<Cow<'_, str>> {
        let last = self
            .out
            .trim_ascii_end()
            .rsplit(|byte| *byte == b'\n')
            .next()?;
        Raw::parse(last).ok()?.get("id")?.text()
    }

    fn line(&mut self, record: &[u8]) -> Result<()> {
        self.out.extend_from_slice(record);
        self.out.push(b'\n');
        if self.out.len() > self.limits.bytes {
            return Err(too_large(
                self.source,
                format!("it becomes longer than {} bytes", self.limits.bytes),
            ));
        }
        Ok(())
    }
}

fn refuse_too_large(source: &Session, limits: ImportLimits) -> Result<()> {
    let records = source.log().heads.len();
    if records > limits.records {
        let why = format!(
            "it has {records} records, and at most {} are imported",
            limits.records
        );
        return Err(too_large(source, why));
    }
    for slot in source.log().slots() {
        if depth_of(&source.entry(slot)?.bytes) > limits.depth {
            let why = format!(
                "the record {} is nested deeper than {}",
                source.log().label(slot),
                limits.depth
            );
            return Err(too_large(source, why));
        }
    }
    Ok(())
}

/// Returns the nesting depth of a record.
fn depth_of(record: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut quoted, mut escaped) = (false, false);
    for byte in record {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

fn too_large(source: &Session, why: String) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!("{} is too large to be imported", source.reference()),
    )
    .because(why)
    .advising(Advice::show(source.reference()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_that_of_containers_and_not_of_text() {
        for (record, depth) in [
            (r#"{}"#, 1),
            (r#"{"a":[{"b":[]}],"c":{}}"#, 4),
            (r#"{"a":"[[[[\"{{{{\\"}"#, 1),
            ("x", 0),
        ] {
            assert_eq!(depth_of(record.as_bytes()), depth, "{record}");
        }
    }
}
