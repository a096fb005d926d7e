//! Compares the catalog with every log of the listing, and opens only those that changed.
//!
//! A log is read again if its size, times or inode changed (`file_state.rs`).

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use boswell_model::{Error, ErrorKind, Instant, Result};
use boswell_store::Store;
use boswell_store::store::{StoreId, Stores};
use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::database::PATIENCE;
use super::file_state::{Change, State, change, windows};
use super::filter_keys::Shared;
use super::listing_match::{Listed, place_name};
use super::listing_snapshot::{self, Line};
use super::row::UNSETTLED;
use super::schema::{self, SESSION_IS_SOUND};
use super::seen_folders::SeenFolders;
use super::{Catalog, CatalogRow};

/// How many rows, and one in thirty-two, may be newer than a listing snapshot before it is written
/// again.
const MOST_LATER: usize = 64;

/// The result of a refresh.
#[derive(Debug, Default)]
pub struct Refreshed {
    /// Every session of every store, in the order of the stores.
    pub entries: Vec<CatalogRow>,
    /// Stores that could be listed.
    pub listed: Vec<StoreId>,
    /// Stores that could not be listed, and folders of others.
    pub store_errors: Vec<(StoreId, Error)>,
    /// Why the changes could not be written; the result is correct all the same.
    pub unwritten: Option<Error>,
}

impl Refreshed {
    /// Lists a store and adds its sessions; returns their range among the rows.
    fn list(&mut self, id: StoreId, store: &Store) -> Result<Range<usize>> {
        let (found, folders) = SeenFolders::list(store)?;
        for error in boswell_store::store::unlisted(&found.unlisted, store) {
            self.store_errors.push((id, error));
        }
        self.listed.push(id);
        let folders = Arc::new(folders);
        let mut side_files = folders.side_files();
        let first = self.entries.len();
        self.entries.reserve(found.sessions.len());
        for location in found.sessions {
            let row = CatalogRow::new(id, location, &folders, &mut side_files);
            self.entries.push(row);
        }
        Ok(first..self.entries.len())
    }
}

/// A row as stored, with the data that distinguishes a log that grew from one that was rewritten.
struct Known {
    row: i64,
    state: State,
    young: bool,
    windows: (i64, i64),
    generation: i64,
    upto: i64,
}

const KNOWN: &str = "id, dev, ino, size, mtime, ctime, digest, young, head, tail, generation, upto";

const INSERT: &str = "INSERT INTO session(place, store, dialect, name, dev, ino, size, mtime, ctime, digest, young, head, tail, generation, upto, gone, rev)
     VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,-1,0,?15)";

const UPDATE: &str = "UPDATE session SET dev=?2, ino=?3, size=?4, mtime=?5, ctime=?6, digest=?7, young=?8, head=?9, tail=?10,
     generation=?11, upto=?12, gone=0, rev=?13 WHERE id=?1";

fn known(row: &Row<'_>) -> rusqlite::Result<Known> {
    schema::sound(row, 12)?;
    Ok(Known {
        row: row.get(0)?,
        state: State::of_row(row)?,
        young: row.get(7)?,
        windows: (row.get(8)?, row.get(9)?),
        generation: row.get(10)?,
        upto: row.get(11)?,
    })
}

/// The result of comparing the listing with the catalog.
#[derive(Default)]
struct Compared {
    /// Entries that are new or changed.
    changed: Vec<usize>,
    /// Rows whose sessions no longer exist.
    gone: Vec<i64>,
    /// The revision of the comparison, and the stores without a usable listing snapshot: their
    /// rows, and their entries.
    rev: i64,
    without_listing_snapshot: Vec<(i64, Range<usize>)>,
}

/// The listing of each store, by its name.
type Places = HashMap<String, Listed>;

/// Returns the name of a store in the database.
pub(super) fn store_name(store: &Store) -> String {
    format!("{}\n{}", store.dialect().name(), store.root().display())
}

impl Catalog {
    /// Updates the generations for every log of these stores. [`fill`](Catalog::fill) reads the
    /// logs.
    pub fn refresh(&mut self, stores: &Stores, now: Instant) -> Result<Refreshed> {
        match self.refresh_once(stores, now) {
            Err(error) if error.kind() == ErrorKind::Damaged => {
                self.recreate()?;
                self.refresh_once(stores, now)
            }
            done => done,
        }
    }

    /// Deletes everything and starts again.
    pub fn rebuild(&mut self, stores: &Stores, now: Instant) -> Result<Refreshed> {
        self.recreate()?;
        self.refresh_once(stores, now)
    }

    fn refresh_once(&mut self, stores: &Stores, now: Instant) -> Result<Refreshed> {
        let mut refreshed = Refreshed::default();
        let mut places = Places::new();
        for (id, store) in stores.iter_with_archived() {
            match refreshed.list(id, store) {
                // Two stores in one folder share their rows.
                Ok(listed) => places.entry(store_name(store)).or_default().add(listed),
                Err(error) => refreshed.store_errors.push((id, error)),
            }
        }
        let compared = self.compare(&mut refreshed.entries, places)?;
        (self.base_rev, self.own_revs) = (compared.rev, 0);
        let is_quiet = compared.changed.is_empty() && compared.gone.is_empty();
        let written = if is_quiet {
            Ok(())
        } else {
            self.write(stores, &mut refreshed.entries, &compared, now)
        };
        match written {
            // Only now: rows of deleted sessions are in no listing snapshot, so they must be marked
            // themselves.
            Ok(()) => self.keep_listing_snapshots(&refreshed.entries, &compared),
            Err(error) if error.kind() == ErrorKind::Damaged => return Err(error),
            Err(error) => {
                for index in compared.changed {
                    if let Some(entry) = refreshed.entries.get_mut(index) {
                        (entry.generation, entry.upto) = (UNSETTLED, None);
                    }
                }
                refreshed.unwritten = Some(error);
            }
        }
        Ok(refreshed)
    }

    /// Compares the listing with the stored rows.
    fn compare(&self, entries: &mut [CatalogRow], mut places: Places) -> Result<Compared> {
        let fault = |error| self.fault(error);
        // Listing snapshots and rows must be read in one transaction.
        let moment = self.db.unchecked_transaction().map_err(fault)?;
        let mut compared = Compared {
            rev: listing_snapshot::rev(&moment).map_err(fault)?,
            ..Compared::default()
        };
        let mut names = moment
            .prepare_cached("SELECT id, name FROM store")
            .map_err(fault)?;
        let names = names
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(fault)?;
        let mut unclear: Vec<(i64, Listed)> = Vec::new();
        for name in names {
            let (id, name): (i64, String) = name.map_err(fault)?;
            let Some(listed) = places.remove(&name) else {
                continue;
            };
            let Some(range) = listed.range() else {
                unclear.push((id, listed));
                continue;
            };
            let here = entries.get_mut(range.clone()).unwrap_or_default();
            match listing_snapshot::compare(&moment, id, here).map_err(fault)? {
                Some((changed, later)) => {
                    compared
                        .changed
                        .extend(changed.into_iter().map(|index| range.start + index));
                    compared
                        .without_listing_snapshot
                        .extend((later > MOST_LATER + range.len() / 32).then_some((id, range)));
                }
                None => {
                    here.iter_mut().for_each(CatalogRow::unsettle);
                    compared.without_listing_snapshot.push((id, range));
                    unclear.push((id, listed));
                }
            }
        }
        // Stores without rows have no known sessions.
        compared.changed.extend(
            places
                .into_values()
                .flat_map(|listed| listed.indexes().collect::<Vec<_>>()),
        );
        if !unclear.is_empty() {
            self.compare_rows(&moment, entries, unclear, &mut compared)?;
        }
        compared.changed.sort_unstable();
        Ok(compared)
    }

    /// As above, by reading all rows.
    fn compare_rows(
        &self,
        moment: &Transaction<'_>,
        entries: &mut [CatalogRow],
        mut stores: Vec<(i64, Listed)>,
        compared: &mut Compared,
    ) -> Result<()> {
        let fault = |error| self.fault(error);
        let (mut seen, mut shared) = (vec![false; entries.len()], Shared::default());
        let sql = format!(
            "SELECT {}, store, place, {SESSION_IS_SOUND} FROM session",
            listing_snapshot::COLUMNS
        );
        let mut all = moment.prepare_cached(&sql).map_err(fault)?;
        let mut rows = all.query([]).map_err(fault)?;
        while let Some(row) = rows.next().map_err(fault)? {
            let store: i64 = row.get(12).map_err(fault)?;
            // Rows of stores that were not listed are ignored.
            let Some((_, listed)) = stores.iter_mut().find(|(id, _)| *id == store) else {
                continue;
            };
            schema::sound(row, 14).map_err(fault)?;
            let line = Line::of_row(row, &mut shared).map_err(fault)?;
            let place = row.get_ref(13).map_err(fault)?.as_str().unwrap_or("");
            let Some(index) = listed.find(entries, &line.state, place) else {
                compared.gone.extend((!line.gone).then_some(line.row));
                continue;
            };
            let Some((entry, seen)) = entries.get_mut(index).zip(seen.get_mut(index)) else {
                continue;
            };
            *seen = line.claim(entry);
        }
        let unseen = |index: &usize| seen.get(*index) == Some(&false);
        compared.changed.extend(
            stores
                .iter()
                .flat_map(|(_, listed)| listed.indexes())
                .filter(unseen),
        );
        Ok(())
    }

    /// Writes listing snapshots where there are no usable ones, so that the next refresh need not
    /// read every row. Does not wait for another process that writes the catalog, and is skipped
    /// while much is about to change anyway.
    fn keep_listing_snapshots(&mut self, entries: &[CatalogRow], compared: &Compared) {
        let restless =
            compared.changed.len() + compared.gone.len() > MOST_LATER + entries.len() / 32;
        if compared.without_listing_snapshot.is_empty() || restless || self.is_in_memory() {
            return;
        }
        let write = || {
            let fault = |error| self.fault(error);
            self.db.busy_timeout(Duration::ZERO).map_err(fault)?;
            let tx = self.begin_within(Duration::ZERO)?;
            for (store, range) in &compared.without_listing_snapshot {
                let here = range
                    .clone()
                    .filter(|index| compared.changed.binary_search(index).is_err());
                listing_snapshot::write(
                    &tx,
                    *store,
                    compared.rev,
                    here.filter_map(|index| entries.get(index)),
                )
                .map_err(fault)?;
            }
            tx.commit().map_err(fault)
        };
        // The next refresh writes it again.
        let _: Result<()> = write();
        let _ = self.db.busy_timeout(PATIENCE);
    }

    fn write(
        &mut self,
        stores: &Stores,
        entries: &mut [CatalogRow],
        compared: &Compared,
        now: Instant,
    ) -> Result<()> {
        let path = self.path.clone();
        let fault = |error| super::database::fault(&path, error);
        let tx = self.begin()?;
        let rev = listing_snapshot::next_rev(&tx).map_err(fault)?;
        let mut names: HashMap<StoreId, i64> = HashMap::new();
        for index in &compared.changed {
            let Some(entry) = entries.get_mut(*index) else {
                continue;
            };
            let Some(store) = stores.get(entry.store) else {
                continue;
            };
            let name = match names.get(&entry.store) {
                Some(name) => *name,
                None => *names
                    .entry(entry.store)
                    .or_insert(store_row(&tx, store).map_err(fault)?),
            };
            settle(&tx, store, (name, rev), entry, now).map_err(fault)?;
        }
        for row in &compared.gone {
            tx.prepare_cached("UPDATE session SET gone=1, rev=?2 WHERE id=?1")
                .and_then(|mut s| s.execute([*row, rev]))
                .map_err(fault)?;
        }
        tx.commit().map_err(fault)?;
        self.own_revs += 1;
        Ok(())
    }
}

/// Returns the row id of a store, which is created if it is new.
fn store_row(tx: &Transaction<'_>, store: &Store) -> rusqlite::Result<i64> {
    let name = store_name(store);
    tx.execute("INSERT OR IGNORE INTO store(name) VALUES(?1)", [&name])?;
    tx.query_row("SELECT id FROM store WHERE name=?1", [&name], |row| {
        row.get(0)
    })
}

/// Decides how a log changed, by the current stored row: another process may have updated it.
fn settle(
    tx: &Transaction<'_>,
    store: &Store,
    (store_row, rev): (i64, i64),
    entry: &mut CatalogRow,
    now: Instant,
) -> rusqlite::Result<()> {
    let state = State::of(&entry.location);
    let place = place_name(&entry.location);
    let before = tx
        .prepare_cached(&format!(
            "SELECT {KNOWN}, {SESSION_IS_SOUND} FROM session WHERE store=?1 AND place=?2"
        ))?
        .query_row(params![store_row, place], known)
        .optional()?;
    // A log that cannot be opened is reported when it is read; here it only must not count as
    // known.
    let window = |end: i64| windows(store.backend(), &entry.location, end).unwrap_or((-1, -1));
    let ends = window(state.size);
    let young = state.is_young(now);
    let Some(before) = before else {
        // A catalog that was lost must not use the same generation numbers again.
        let generation = now.millis() << 12;
        let mut insert = tx.prepare_cached(INSERT)?;
        insert.execute(params![
            place,
            store_row,
            store.dialect().name(),
            entry.location.id,
            state.dev,
            state.ino,
            state.size,
            state.mtime,
            state.ctime,
            state.digest,
            young,
            ends.0,
            ends.1,
            generation,
            rev
        ])?;
        (entry.row, entry.generation) = (tx.last_insert_rowid(), generation.cast_unsigned());
        return Ok(());
    };
    let is_same = |end: i64| ends != (-1, -1) && window(end) == before.windows;
    let (grew, upto) = match change(&before.state, before.young, &state, &entry.location) {
        Change::None => (true, before.upto),
        Change::Look => (is_same(state.size), -1),
        Change::Grown => (is_same(before.state.size), before.upto),
        Change::Other => (false, -1),
    };
    let generation = if grew {
        before.generation
    } else {
        before.generation + 1
    };
    let upto = if grew { upto } else { -1 };
    tx.prepare_cached(UPDATE)?.execute(params![
        before.row,
        state.dev,
        state.ino,
        state.size,
        state.mtime,
        state.ctime,
        state.digest,
        young,
        ends.0,
        ends.1,
        generation,
        upto,
        rev
    ])?;
    entry.row = before.row;
    entry.generation = generation.cast_unsigned();
    entry.upto = u64::try_from(upto).ok();
    Ok(())
}
