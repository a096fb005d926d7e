//! Reads the logs that the catalog does not know well enough yet, and writes their facts to the
//! catalog.
//!
//! A refresh (`refresh.rs`) only compares file states. This module reads logs on several threads,
//! the most recently changed first, and writes after each batch of [`BATCH`] logs, so that a run
//! that is interrupted keeps its progress. Another process can do the same at the same time: a row
//! is written only if the session is still in the state that was read.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use boswell_dialect::{Depth, Dialect, ReadSession, Reader, SessionLocation};
use boswell_model::{Error, ErrorKind, Framing, Payloads, Result};
use boswell_store::Store;
use boswell_store::backend::ObjectReader;
use boswell_store::store::{Stores, Summary};
use rusqlite::params;

use super::filter_keys::{FilterKeys, Shared};
use super::listing_snapshot::next_rev;
use super::message_usage::{self, Item};
use super::packed_meta::{Packed, PackedMeta};
use super::sort_keys::SortKeys;
use super::{Catalog, CatalogRow};

/// How much of each log a caller needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantedRows {
    /// Any facts, even of an earlier state of the log.
    Hint,
    /// Facts of the current state; for a large log its beginning and end are enough.
    Ends,
    /// The whole log in its current state, for counts and totals.
    Whole,
}

/// The result of reading logs.
#[derive(Debug, Default)]
pub struct ReadLogs {
    /// Number of logs that were read.
    pub read: usize,
    /// Logs that could not be read, by their place in the entries.
    pub errors: Vec<(usize, Error)>,
    /// Whether everything that was requested is known now, except for `errors`.
    pub complete: bool,
    /// Why the facts could not be written to the catalog; they are in the entries all the same.
    pub unwritten: Option<Error>,
}

/// Number of logs that are read between two writes.
pub(super) const BATCH: usize = 128;
/// Logs up to this length are always read whole: their two ends would be most of them.
const SMALL: u64 = 128 << 10;

impl Catalog {
    /// Reads the logs that are not known well enough for `wanted`, the most recently changed first,
    /// until `go_on` returns false, and loads the facts of all entries.
    pub fn fill(
        &mut self,
        stores: &Stores,
        entries: &mut [CatalogRow],
        wanted: WantedRows,
        workers: usize,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<ReadLogs> {
        let filled = self.read_missing(stores, entries, wanted, workers, go_on)?;
        self.load_all(entries)?;
        Ok(filled)
    }

    /// As [`Catalog::fill`], without loading the facts: for most sessions the sort keys are enough.
    pub fn read_missing(
        &mut self,
        stores: &Stores,
        entries: &mut [CatalogRow],
        wanted: WantedRows,
        workers: usize,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<ReadLogs> {
        let mut work: Vec<usize> = (entries.iter().enumerate())
            .filter(|(_, entry)| match wanted {
                WantedRows::Hint => !entry.is_known(),
                WantedRows::Ends => !entry.is_fresh(),
                WantedRows::Whole => !entry.is_current(),
            })
            .map(|(index, _)| index)
            .collect();
        work.sort_by_key(|index| {
            std::cmp::Reverse(
                entries
                    .get(*index)
                    .and_then(|entry| entry.location.modified),
            )
        });
        let mut filled = ReadLogs {
            complete: true,
            ..ReadLogs::default()
        };
        for batch in work.chunks(BATCH) {
            let mut done = read_batch(stores, entries, batch, wanted, workers, go_on);
            filled.complete &= done.len() == batch.len();
            filled.read += done.len();
            self.keep(entries, &mut done, &mut filled)?;
            if !filled.complete {
                break;
            }
        }
        Ok(filled)
    }

    /// Writes the facts of a batch to the catalog and to the entries.
    fn keep(
        &mut self,
        entries: &mut [CatalogRow],
        done: &mut Vec<Done>,
        filled: &mut ReadLogs,
    ) -> Result<()> {
        let mut fine: Vec<Fine> = Vec::new();
        for (index, result) in done.drain(..) {
            let id = entries.get(index).map_or("", |entry| &entry.location.id);
            match result {
                Ok((kept, items)) => fine.push(Fine::of(index, id, &kept, items)),
                Err(error) => filled.errors.push((index, error)),
            }
        }
        let mut kept = Kept {
            unwritten: filled.unwritten.take(),
            ..Kept::default()
        };
        kept.write(self, entries, fine)?;
        filled.unwritten = kept.note(entries);
        Ok(())
    }

    /// Writes a batch in one transaction and returns for each session whether it was written.
    fn write_kept(&mut self, entries: &[CatalogRow], fine: &[Fine]) -> Result<Vec<Written>> {
        let mut written = Vec::with_capacity(fine.len());
        let path = self.path.clone();
        let fault = |error| super::database::fault(&path, error);
        let tx = self.begin()?;
        let rev = next_rev(&tx).map_err(fault)?;
        for Fine {
            index,
            sort_keys,
            filter_keys,
            kept,
            items,
        } in fine
        {
            let Some(entry) = entries.get(*index).filter(|entry| entry.row != 0) else {
                written.push(Written::No);
                continue;
            };
            let size = i64::try_from(entry.location.size).unwrap_or(i64::MAX);
            // Another process may have recorded a newer state since: then the `UPDATE` matches no
            // row and the facts that we read are out of date.
            let changed = tx
                .prepare_cached(
                    "UPDATE session SET glance=?1, upto=?2, rev=?5 WHERE id=?3 AND generation=?4 AND size=?2",
                )
                .and_then(|mut update| {
                    let generation = entry.generation.cast_signed();
                    update.execute(params![sort_keys.to_bytes(filter_keys), size, entry.row, generation, rev])
                })
                .map_err(fault)?;
            written.push(if changed > 0 {
                Written::Kept
            } else {
                Written::Outrun
            });
            if changed > 0 {
                tx.prepare_cached("INSERT OR REPLACE INTO kept VALUES(?1,?2)")
                    .and_then(|mut keep| {
                        keep.execute(params![entry.row, kept.as_ref().map(Packed::to_bytes)])
                    })
                    .map_err(fault)?;
                message_usage::write(&tx, entry.row, items).map_err(fault)?;
            }
        }
        tx.commit().map_err(fault)?;
        self.own_revs += 1;
        Ok(written)
    }
}

/// Facts that were written, or could not be, and that the entries do not have yet.
#[derive(Default)]
pub(super) struct Kept {
    facts: Vec<(Fine, Written)>,
    /// Why facts could not be written.
    unwritten: Option<Error>,
    /// Most sessions of a project have the same filter keys.
    shared: Shared,
}

impl Kept {
    /// Writes facts to the catalog. After one failed write the later ones are not tried: they stay
    /// in memory. Only damage is an error.
    pub(super) fn write(
        &mut self,
        catalog: &mut Catalog,
        entries: &[CatalogRow],
        fine: Vec<Fine>,
    ) -> Result<()> {
        let mut written = Vec::new();
        if self.unwritten.is_none() && !fine.is_empty() {
            match catalog.write_kept(entries, &fine) {
                Ok(done) => written = done,
                Err(error) if error.kind() == ErrorKind::Damaged => return Err(error),
                Err(error) => self.unwritten = Some(error),
            }
        }
        let mut written = written.into_iter();
        let shared = &mut self.shared;
        self.facts.extend(fine.into_iter().map(|mut fine| {
            if let Some(keys) = shared.unpack(&fine.filter_keys.pack()) {
                fine.filter_keys = keys;
            }
            let written = written.next().unwrap_or(Written::No);
            // Facts in the database can be loaded later; keeping those of a hundred thousand
            // sessions would fill the memory.
            if written == Written::Kept {
                fine.kept = None;
            }
            // After `Outrun` the database contains usage of a newer state, so this usage is not
            // kept.
            if written != Written::No {
                fine.items = Vec::new();
            }
            (fine, written)
        }));
        Ok(())
    }

    /// Passes the facts on to their entries, and returns why some could not be written.
    pub(super) fn note(self, entries: &mut [CatalogRow]) -> Option<Error> {
        for (fine, written) in self.facts {
            let Some(entry) = entries.get_mut(fine.index) else {
                continue;
            };
            (entry.sort_keys, entry.filter_keys, entry.upto) = (
                Some(fine.sort_keys),
                Some(fine.filter_keys),
                Some(entry.location.size),
            );
            entry.kept = fine.kept;
            if written == Written::No {
                entry.items = fine.items;
            }
        }
        self.unwritten
    }
}

/// Whether the facts of a session were written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    /// The catalog contains them.
    Kept,
    /// Another process recorded a newer state of the session.
    Outrun,
    /// The session has no row in the catalog.
    No,
}

/// The facts of one session in the form in which they are written.
pub(super) struct Fine {
    index: usize,
    sort_keys: SortKeys,
    filter_keys: Arc<FilterKeys>,
    /// `None` once it was written.
    kept: Option<Packed>,
    items: Vec<Item>,
}

impl Fine {
    pub(super) fn of(index: usize, id: &str, kept: &PackedMeta, items: Vec<Item>) -> Fine {
        Fine {
            index,
            sort_keys: SortKeys::of(kept, id),
            filter_keys: Arc::new(FilterKeys::of(&kept.meta)),
            kept: Some(kept.pack()),
            items,
        }
    }
}

type Done = (usize, Result<(PackedMeta, Vec<Item>)>);

/// Reads a batch of logs on `workers` threads; a log that is missing in the result was not read
/// because `go_on` returned false.
fn read_batch(
    stores: &Stores,
    entries: &[CatalogRow],
    batch: &[usize],
    wanted: WantedRows,
    workers: usize,
    go_on: &(dyn Fn() -> bool + Sync),
) -> Vec<Done> {
    // Threads take the next log from a shared counter, so that one large log does not delay the
    // others.
    let next = AtomicUsize::new(0);
    let work = || {
        let mut mine = Vec::new();
        while let Some(index) = batch
            .get(next.fetch_add(1, Ordering::Relaxed))
            .filter(|_| go_on())
        {
            let Some(entry) = entries.get(*index) else {
                continue;
            };
            let Some(store) = stores.get(entry.store) else {
                continue;
            };
            mine.push((*index, read(store, entry, wanted)));
        }
        mine
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers.clamp(1, batch.len().max(1)))
            .map(|_| scope.spawn(work))
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_default())
            .collect()
    })
}

/// Reads one log: its ends if they are enough for `wanted` and the log is large, else all of it.
pub(super) fn read(
    store: &Store,
    entry: &CatalogRow,
    wanted: WantedRows,
) -> Result<(PackedMeta, Vec<Item>)> {
    let location = &entry.location;
    if wanted != WantedRows::Whole
        && location.framing == Framing::Lines
        && is_large(store, location)?
    {
        // No leaf and no usage: both need the whole log, and `complete` is false.
        return Ok((read_ends(store, location)?, Vec::new()));
    }
    read_whole(store, location)
}

/// Whether a log is too large to be read as a whole for a list.
fn is_large(store: &Store, location: &SessionLocation) -> Result<bool> {
    match &location.key {
        // The listing does not state how long rows of a database are.
        Some(key) if location.is_of_rows(store.dialect()) => {
            store.backend().open(key)?.is_longer_than(SMALL)
        }
        _ => Ok(location.size > SMALL),
    }
}

fn read_ends(store: &Store, location: &SessionLocation) -> Result<PackedMeta> {
    let seen = store.summary(location)?;
    Ok(PackedMeta {
        records: seen.records,
        gaps: seen.gaps,
        conversation: seen.conversation,
        meta: seen.meta,
        leaf: None,
        complete: false,
    })
}

fn read_whole(store: &Store, location: &SessionLocation) -> Result<(PackedMeta, Vec<Item>)> {
    let dialect = store.dialect();
    if let Some(fold) = dialect.powers().fold {
        fold.require_readable(location)?;
    }
    let mut reader = Reader::new(dialect, location, Depth::Facts);
    let object = location
        .key
        .as_ref()
        .map(|key| store.backend().open(key))
        .transpose()?;
    if let Some(object) = &object {
        if location.framing == Framing::Lines {
            object.lines(0, 1, &mut |line| reader.line(line))?;
        } else {
            reader.document(&object.read(0, object.end()?)?);
        }
    }
    let read = reader.finish();
    Ok(match object.as_deref() {
        Some(object) => facts_of(dialect, read, &Open(object)),
        None => facts_of(dialect, read, &NoLog),
    })
}

/// Returns what the catalog stores of a session that was read as a whole.
pub(super) fn facts_of(
    dialect: &dyn Dialect,
    read: ReadSession,
    payloads: &dyn Payloads,
) -> (PackedMeta, Vec<Item>) {
    let items = message_usage::items(&read);
    let view = read.view(payloads);
    let tip = dialect.tip(&view).ok();
    let leaf = tip.and_then(|tip| dialect.leaf(&view, tip));
    let leaf = leaf.map(|slot| read.log.label(slot).into_owned());
    let mut heads = read.log.heads.iter();
    let kept = PackedMeta {
        records: Summary::records_of(&read.log),
        gaps: read.log.gaps.len() as u64,
        conversation: heads.any(|head| head.kind.is_conversation()),
        meta: Box::new(read.meta),
        leaf,
        complete: true,
    };
    (kept, items)
}

/// Reads payloads from an open log.
struct Open<'o>(&'o dyn ObjectReader);

impl Payloads for Open<'_> {
    fn payload(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>> {
        self.0.read(at, len).map(Cow::Owned)
    }
}

/// The payloads of a session without a log.
struct NoLog;

impl Payloads for NoLog {
    fn payload(&self, _at: u64, _len: u64) -> Result<Cow<'_, [u8]>> {
        Err(Error::new(ErrorKind::NotFound, "the session has no log"))
    }
}
