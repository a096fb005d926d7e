//! Looks at every log once, and opens only those that changed.

use std::collections::HashMap;

use boswell_model::{Error, ErrorKind, Instant, Result};
use boswell_store::{Held, Store, StoreId, Stores};
use rusqlite::{OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::entry::UNSETTLED;
use super::kept::Kept;
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
    kept: Option<Vec<u8>>,
}

const COLUMNS: &str =
    "id, dev, ino, size, mtime, ctime, digest, young, head, tail, generation, upto, gone, kept, place, store";

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
        kept: row.get(13)?,
    })
}

/// How a store is written down.
pub(super) fn store_name(store: &Store) -> String {
    format!("{}\n{}", store.dialect().name(), store.root().display())
}

fn place_name(store: &str, held: &Held) -> String {
    format!("{store}\n{}\n{}", held.located.key.as_deref().unwrap_or(""), held.located.id)
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
        let (held, store_errors) = stores.held();
        let names: Vec<String> = stores.iter().map(|(_, store)| store_name(store)).collect();
        let mut rows = self.load()?;
        let mut refreshed = Refreshed { store_errors, ..Refreshed::default() };
        let mut changed: Vec<(usize, String)> = Vec::new();
        for held in held {
            let name = names.get(held.store.0).map_or("", String::as_str);
            let place = place_name(name, &held);
            let state = State::of(&held.located);
            let entry = Entry {
                store: held.store,
                located: held.located,
                generation: UNSETTLED,
                row: 0,
                kept: None,
                upto: None,
                items: Vec::new(),
            };
            let entry = match rows.remove(&place) {
                Some((row, _)) => {
                    if row.gone || change(&row.state, row.young, &state, &entry.located) != Change::None {
                        changed.push((refreshed.entries.len(), place));
                    }
                    with_row(entry, row)
                }
                None => {
                    changed.push((refreshed.entries.len(), place));
                    entry
                }
            };
            refreshed.entries.push(entry);
        }
        let failed: Vec<&str> =
            refreshed.store_errors.iter().filter_map(|(id, _)| names.get(id.0).map(String::as_str)).collect();
        let gone: Vec<i64> = (rows.values())
            .filter(|(row, store)| !row.gone && names.contains(store) && !failed.contains(&store.as_str()))
            .map(|(row, _)| row.row)
            .collect();
        if changed.is_empty() && gone.is_empty() {
            return Ok(refreshed);
        }
        if let Err(error) = self.write(stores, &names, &mut refreshed.entries, &changed, &gone, now) {
            if error.kind() == ErrorKind::Damaged {
                return Err(error);
            }
            for (index, _) in &changed {
                if let Some(entry) = refreshed.entries.get_mut(*index) {
                    (entry.generation, entry.upto) = (UNSETTLED, None);
                }
            }
            refreshed.unwritten = Some(error);
        }
        Ok(refreshed)
    }

    fn load(&self) -> Result<HashMap<String, (Known, String)>> {
        let fault = |error| self.fault(error);
        let mut all = self.db.prepare_cached(&format!("SELECT {COLUMNS} FROM session")).map_err(fault)?;
        let rows = all.query_map([], |row| Ok((row.get(14)?, (known(row)?, row.get(15)?)))).map_err(fault)?;
        rows.collect::<rusqlite::Result<_>>().map_err(fault)
    }

    fn write(
        &mut self,
        stores: &Stores,
        names: &[String],
        entries: &mut [Entry],
        changed: &[(usize, String)],
        gone: &[i64],
        now: Instant,
    ) -> Result<()> {
        let path = self.path.clone();
        let fault = |error| super::database::fault(&path, error);
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fault)?;
        for (index, place) in changed {
            let Some(entry) = entries.get_mut(*index) else { continue };
            let Some(store) = stores.get(entry.store) else { continue };
            let name = names.get(entry.store.0).map_or("", String::as_str);
            settle(&tx, store, name, place, entry, now).map_err(fault)?;
        }
        for row in gone {
            tx.prepare_cached("UPDATE session SET gone=1 WHERE id=?1")
                .and_then(|mut s| s.execute([row]))
                .map_err(fault)?;
        }
        tx.commit().map_err(fault)
    }
}

fn with_row(entry: Entry, row: Known) -> Entry {
    Entry {
        generation: row.generation.cast_unsigned(),
        row: row.row,
        kept: row.kept.as_deref().and_then(Kept::decode),
        upto: u64::try_from(row.upto).ok(),
        ..entry
    }
}

/// Decides what became of a log, by what is written down now: another process may have been faster.
fn settle(
    tx: &Transaction<'_>,
    store: &Store,
    store_name: &str,
    place: &str,
    entry: &mut Entry,
    now: Instant,
) -> rusqlite::Result<()> {
    let state = State::of(&entry.located);
    let before = tx
        .prepare_cached(&format!("SELECT {COLUMNS} FROM session WHERE place=?1"))?
        .query_row([place], known)
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
            place, store_name, store.dialect().name(), entry.located.id, state.dev, state.ino, state.size, state.mtime,
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
