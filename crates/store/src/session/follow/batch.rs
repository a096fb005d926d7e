//! The entries of one poll, linked as far as the records before them are known.

use std::borrow::Cow;
use std::sync::Arc;

use boswell_dialect::Dialect;
use boswell_model::json::{Object, scan_object};
use boswell_model::{
    EntryId, Flags, Head, Line, Log, Payloads, Result, Revision, SessionView, Slot, Splitter,
    Symbol, Tree, View,
};

use super::NewEntry;
use crate::backend::ObjectReader;
use crate::blobs::Blobs;

/// The bytes of a record, and what a person reads of it.
type NewRecord = (Arc<[u8]>, View);

/// Takes the lines of one poll.
pub(super) struct Batch<'f> {
    dialect: &'static dyn Dialect,
    blobs: Option<&'f Blobs>,
    splitter: Splitter,
    /// The new records, behind those that were returned before.
    log: Log,
    /// How many of them were.
    old: usize,
    records: Vec<NewRecord>,
    /// Where the line of each record begins and ends.
    lines: Vec<(u64, u64)>,
    /// Device and number of the file that the lines come from, if it is one.
    pub(super) file: Option<(u64, u64)>,
}

impl<'f> Batch<'f> {
    /// A batch that comes behind the records of `last`.
    pub(super) fn new(
        dialect: &'static dyn Dialect,
        blobs: Option<&'f Blobs>,
        last: Log,
    ) -> Batch<'f> {
        let old = last.heads.len();
        Batch {
            dialect,
            blobs,
            splitter: Splitter::default(),
            log: last,
            old,
            records: Vec::new(),
            lines: Vec::new(),
            file: None,
        }
    }

    /// Takes the next line.
    pub(super) fn line(&mut self, line: Line<'_>) {
        let Batch {
            dialect,
            blobs,
            splitter,
            log,
            records,
            lines,
            ..
        } = self;
        let place = (line.at, line.at + line.bytes.len() as u64);
        splitter.line(line, &|object| dialect.is_record(object), &mut |piece| {
            let Some(object) = &piece.object else { return };
            let mut head = Head::of(&piece.span);
            dialect.head(object, &mut head, &mut log.names);
            log.heads.push(head);
            let view =
                whole_view(*dialect, *blobs, piece.bytes).unwrap_or_else(|| dialect.view(object));
            records.push((piece.bytes.into(), view));
            lines.push(place);
        });
    }

    /// Whether a new record has no id.
    pub(super) fn has_nameless(&self) -> bool {
        self.log
            .heads
            .iter()
            .skip(self.old)
            .any(|head| head.id.is_none())
    }

    /// The new entries, and the last record for the next batch. `lines_before` is how many lines
    /// come before line 1 here.
    pub(super) fn finish(
        self,
        object: &dyn ObjectReader,
        lines_before: Option<u64>,
    ) -> (Vec<NewEntry>, Log) {
        let Batch {
            dialect,
            log,
            old,
            records,
            lines,
            file,
            ..
        } = self;
        if records.is_empty() {
            return (Vec::new(), log);
        }
        let tree = Tree::build(dialect.link(&log));
        let leaf = {
            let payloads = InMemory {
                heads: log.heads.get(old..).unwrap_or_default(),
                records: &records,
                object,
            };
            let view = SessionView {
                log: &log,
                tree: &tree,
                payloads: &payloads,
                pairs: None,
            };
            dialect
                .tip(&view)
                .ok()
                .and_then(|tip| dialect.leaf(&view, tip))
        };
        let names = Labels {
            log: &log,
            lines_before,
        };
        // A revision is at the end of a line, so a record that others follow on its line is at the
        // line's start.
        let revision = |nth: usize| {
            let (start, end) = lines.get(nth).copied().unwrap_or_default();
            let shared = lines.get(nth + 1).is_some_and(|next| next.0 == start);
            Revision::of_log(file, if shared { start } else { end })
        };
        let entry = |(nth, (slot, record)): (usize, (Slot, NewRecord))| {
            let (head, (bytes, view)) = (log.head(slot)?, record);
            Some(NewEntry {
                revision: revision(nth),
                id: head.id.map(|id| log.names.text(id).into()),
                label: names.of(slot),
                parent: names.of_parent(&tree, slot),
                kind: head.kind,
                word: log.word(slot).to_owned(),
                time: head.instant(),
                at: head.at,
                line: lines_before.map(|before| before + u64::from(head.line)),
                hidden: head.flags.has(Flags::HIDDEN),
                leaf: leaf == Some(slot),
                bytes,
                view,
            })
        };
        let entries = log
            .slots()
            .skip(old)
            .zip(records)
            .enumerate()
            .filter_map(entry)
            .collect();
        (entries, last_of(&log))
    }
}

/// How people name the records of a batch.
struct Labels<'l> {
    log: &'l Log,
    lines_before: Option<u64>,
}

impl Labels<'_> {
    fn of(&self, slot: Slot) -> Option<EntryId> {
        let head = self.log.head(slot)?;
        if let Some(id) = head.id {
            return Some(self.log.names.text(id).into());
        }
        let line = self.lines_before? + u64::from(head.line);
        let label = if head.nth > 0 {
            format!("#{line}.{}", head.nth + 1)
        } else {
            format!("#{line}")
        };
        Some(label.into())
    }

    fn of_parent(&self, tree: &Tree, slot: Slot) -> Option<EntryId> {
        match tree.parent(slot) {
            Some(parent) => self.of(parent),
            // The parent was returned in an earlier poll, or was there before the follower began.
            None => self
                .log
                .head(slot)?
                .parent
                .map(|parent| self.log.names.text(parent).into()),
        }
    }
}

/// A log of the last record alone.
fn last_of(log: &Log) -> Log {
    let mut last = Log::default();
    if let Some(head) = log.heads.last() {
        let mut keep =
            |name: Option<Symbol>| name.and_then(|name| last.names.intern(log.names.text(name)));
        let (id, parent, group, word) = (
            keep(head.id),
            keep(head.parent),
            keep(head.group),
            keep(head.word),
        );
        last.heads.push(Head {
            id,
            parent,
            group,
            word,
            ..*head
        });
    }
    last
}

/// The bytes of records: of new ones they are in memory, others are read again.
struct InMemory<'b> {
    heads: &'b [Head],
    records: &'b [(Arc<[u8]>, View)],
    object: &'b dyn ObjectReader,
}

impl Payloads for InMemory<'_> {
    fn payload(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>> {
        let found = self
            .heads
            .binary_search_by_key(&at, |head| head.at)
            .ok()
            .and_then(|nth| self.records.get(nth));
        match found {
            Some((bytes, _)) => Ok(Cow::Borrowed(bytes)),
            None => self.object.read(at, len).map(Cow::Owned),
        }
    }
}

/// Returns a record with the large values that are stored elsewhere; `None` if it has none, or they
/// are missing.
fn whole_view(dialect: &dyn Dialect, blobs: Option<&Blobs>, record: &[u8]) -> Option<View> {
    let Cow::Owned(record) = blobs?.whole(Cow::Borrowed(record)) else {
        return None;
    };
    let mut members = Vec::new();
    let end = scan_object(&record, &mut members).ok()?;
    Some(dialect.view(&Object::new(record.get(..end)?, &members)))
}
