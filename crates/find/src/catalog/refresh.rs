//! Looks at every log once, and opens only those that changed.

use std::collections::HashMap;
use std::sync::Arc;

use boswell_model::{Error, ErrorKind, Instant, Result};
use boswell_store::{Store, StoreId, Stores};
use rusqlite::{OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::entry::UNSETTLED;
use super::folders::Folders;
use super::glance::Glance;
use super::listed::{Listed, place_name};
use super::state::{Change, State, change, windows};
use super::{Catalog, Entry};

/// What a refresh gave.
#[derive(Debug, Default)]
pub struct Refreshed {
    /// Every session of every store, in the order of the stores.
    pub entries: Vec<Entry>,
    /// Stores that could not be listed.
    pub store_errors: Vec<(StoreId, Error)>,
    /// Why what was seen could not be written down; the answer is right all the same.
    pub unwritten: Option<Error>,
}

/// A row as it was written down.
struct Known {
    row: i64,
    state: State,
    young: bool,
    windows: (i64, i64),
    generation: i64,
    upto: i64,
    gone: bool,
}

const COLUMNS: &str = "id, dev, ino, size, mtime, ctime, digest, young, head, tail, generation, upto, gone";

fn known(row: &Row<'_>) -> rusqlite::Result<Known> {
    let state = State {
        dev: row.get(1)?,
        ino: row.get(2)?,
        size: row.get(3)?,
        mtime: row.get(4)?,
        ctime: row.get(5)?,
        digest: row.get(6)?,
    };
    Ok(Known {
        row: row.get(0)?,
        state,
        young: row.get(7)?,
        windows: (row.get(8)?, row.get(9)?),
        generation: row.get(10)?,
        upto: row.get(11)?,
        gone: row.get(12)?,
    })
}

/// By the name of a store what was listed in it.
type Places = HashMap<String, Listed>;

/// How a store is written down.
fn store_name(store: &Store) -> String {
    format!("{}\n{}", store.dialect().name(), store.root().display())
}

impl Catalog {
    /// Brings generations up to date with every log of these stores. What a log says is read by [`fill`](Catalog::fill).
    pub fn refresh(&mut self, stores: &Stores, now: Instant) -> Result<Refreshed> {
        match self.refresh_once(stores, now) {
            Err(error) if error.kind() == ErrorKind::Damaged => {
                self.make_anew()?;
                self.refresh_once(stores, now)
            }
            done => done,
        }
    }

    /// Throws everything away and begins again.
    pub fn rebuild(&mut self, stores: &Stores, now: Instant) -> Result<Refreshed> {
        self.make_anew()?;
        self.refresh_once(stores, now)
    }

    fn refresh_once(&mut self, stores: &Stores, now: Instant) -> Result<Refreshed> {
        let mut refreshed = Refreshed::default();
        let mut places = Places::new();
        for (id, store) in stores.iter_with_archived() {
            match Folders::list(store) {
                Ok((found, folders)) => {
                    let folders = Arc::new(folders);
                    let first = refreshed.entries.len();
                    let new = found.sessions.into_iter().map(|located| Entry::new(id, located, &folders));
                    refreshed.entries.extend(new);
                    // Two stores in one place have one set of rows.
                    let here = places.entry(store_name(store)).or_default();
                    for (index, entry) in refreshed.entries.iter().enumerate().skip(first) {
                        here.add(index, &State::of(&entry.located));
                    }
                }
                Err(error) => refreshed.store_errors.push((id, error)),
            }
        }
        let (changed, gone) = self.compare(&mut refreshed.entries, places)?;
        if changed.is_empty() && gone.is_empty() {
            return Ok(refreshed);
        }
        if let Err(error) = self.write(stores, &mut refreshed.entries, &changed, &gone, now) {
            if error.kind() == ErrorKind::Damaged {
                return Err(error);
            }
            for index in changed {
                if let Some(entry) = refreshed.entries.get_mut(index) {
                    (entry.generation, entry.upto) = (UNSETTLED, None);
                }
            }
            refreshed.unwritten = Some(error);
        }
        Ok(refreshed)
    }

    /// Holds what was listed against what is written down: which entries are new or changed, and which rows are gone.
    fn compare(&self, entries: &mut [Entry], mut places: Places) -> Result<(Vec<usize>, Vec<i64>)> {
        let fault = |error| self.fault(error);
        let (mut gone, mut seen) = (Vec::new(), vec![false; entries.len()]);
        let mut names = self.db.prepare_cached("SELECT id, name FROM store").map_err(fault)?;
        let names = names.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(fault)?;
        let mut stores: Vec<(i64, Listed)> = Vec::new();
        for name in names {
            let (id, name): (i64, String) = name.map_err(fault)?;
            stores.extend(places.remove(&name).map(|listed| (id, listed)));
        }
        let sql = format!("SELECT {COLUMNS}, store, place, glance FROM session");
        let mut all = self.db.prepare_cached(&sql).map_err(fault)?;
        let mut rows = all.query([]).map_err(fault)?;
        while let Some(row) = rows.next().map_err(fault)? {
            let store: i64 = row.get(13).map_err(fault)?;
            // Rows of stores that were not looked at say nothing.
            let Some((_, listed)) = stores.iter_mut().find(|(id, _)| *id == store) else { continue };
            let known = known(row).map_err(fault)?;
            let place = row.get_ref(14).map_err(fault)?.as_str().unwrap_or("");
            let Some(index) = listed.find(entries, &known.state, place) else {
                gone.extend((!known.gone).then_some(known.row));
                continue;
            };
            let Some((entry, seen)) = entries.get_mut(index).zip(seen.get_mut(index)) else { continue };
            let now = State::of(&entry.located);
            *seen = !known.gone && change(&known.state, known.young, &now, &entry.located) == Change::None;
            entry.generation = known.generation.cast_unsigned();
            entry.row = known.row;
            entry.glance = row.get_ref(15).map_err(fault)?.as_blob().ok().and_then(Glance::from_bytes);
            entry.upto = u64::try_from(known.upto).ok();
        }
        let changed = seen.iter().enumerate().filter(|(_, same)| !**same).map(|(index, _)| index).collect();
        Ok((changed, gone))
    }

    fn write(
        &mut self,
        stores: &Stores,
        entries: &mut [Entry],
        changed: &[usize],
        gone: &[i64],
        now: Instant,
    ) -> Result<()> {
        let path = self.path.clone();
        let fault = |error| super::database::fault(&path, error);
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fault)?;
        let mut names: HashMap<StoreId, i64> = HashMap::new();
        for index in changed {
            let Some(entry) = entries.get_mut(*index) else { continue };
            let Some(store) = stores.get(entry.store) else { continue };
            let name = match names.get(&entry.store) {
                Some(name) => *name,
                None => *names.entry(entry.store).or_insert(store_row(&tx, store).map_err(fault)?),
            };
            settle(&tx, store, name, entry, now).map_err(fault)?;
        }
        for row in gone {
            tx.prepare_cached("UPDATE session SET gone=1 WHERE id=?1")
                .and_then(|mut s| s.execute([row]))
                .map_err(fault)?;
        }
        tx.commit().map_err(fault)
    }
}

/// The row of a store, made if it is new.
fn store_row(tx: &Transaction<'_>, store: &Store) -> rusqlite::Result<i64> {
    let name = store_name(store);
    tx.execute("INSERT OR IGNORE INTO store(name) VALUES(?1)", [&name])?;
    tx.query_row("SELECT id FROM store WHERE name=?1", [&name], |row| row.get(0))
}

/// Decides what became of a log, by what is written down now: another process may have been faster.
fn settle(
    tx: &Transaction<'_>,
    store: &Store,
    store_row: i64,
    entry: &mut Entry,
    now: Instant,
) -> rusqlite::Result<()> {
    let state = State::of(&entry.located);
    let place = place_name(&entry.located);
    let before = tx
        .prepare_cached(&format!("SELECT {COLUMNS} FROM session WHERE store=?1 AND place=?2"))?
        .query_row(params![store_row, place], known)
        .optional()?;
    // A log that cannot be opened is told so when it is read; here it only must not count as known.
    let window = |end: i64| windows(store.backend(), &entry.located, end).unwrap_or((-1, -1));
    let ends = window(state.size);
    let young = state.is_young(now);
    let Some(before) = before else {
        // A catalog that was lost must not give out the numbers it gave out before.
        let generation = now.millis() << 12;
        tx.prepare_cached(
            "INSERT INTO session(place, store, dialect, name, dev, ino, size, mtime, ctime, digest, young, head, tail, generation, upto, gone)
             VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,-1,0)",
        )?
        .execute(params![
            place, store_row, store.dialect().name(), entry.located.id, state.dev, state.ino, state.size, state.mtime,
            state.ctime, state.digest, young, ends.0, ends.1, generation
        ])?;
        (entry.row, entry.generation) = (tx.last_insert_rowid(), generation.cast_unsigned());
        return Ok(());
    };
    let is_same = |end: i64| ends != (-1, -1) && window(end) == before.windows;
    let (grew, upto) = match change(&before.state, before.young, &state, &entry.located) {
        Change::None => (true, before.upto),
        Change::Look => (is_same(state.size), -1),
        Change::Grown => (is_same(before.state.size), before.upto),
        Change::Other => (false, -1),
    };
    let generation = if grew { before.generation } else { before.generation + 1 };
    let upto = if grew { upto } else { -1 };
    tx.prepare_cached(
        "UPDATE session SET dev=?2, ino=?3, size=?4, mtime=?5, ctime=?6, digest=?7, young=?8, head=?9, tail=?10,
         generation=?11, upto=?12, gone=0 WHERE id=?1",
    )?
    .execute(params![
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
        upto
    ])?;
    entry.row = before.row;
    entry.generation = generation.cast_unsigned();
    entry.upto = u64::try_from(upto).ok();
    Ok(())
}
