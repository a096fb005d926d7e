//! The totals of all sessions: recomputed for the sessions that changed, then read in one query.
//!
//! The table `account` has one row per session, `claim` the messages that each session holds, and
//! `shared` the messages that more than one session holds, ordered by id. When a session changes,
//! its totals are recomputed, and so are those of a session whose message was its own until another
//! session came to hold it too. A message that is no longer shared may stay in `shared`: answers do
//! not depend on it.

use std::collections::{BTreeSet, HashMap, HashSet};

use boswell_model::{Error, ErrorKind, Result};
use boswell_store::store::Stores;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::file_state::State;
use super::message_owners::{Fresh, MessageOwners, claim, claims_in, sum_of};
use super::message_usage::{self, Item};
use super::packed_meta::Packed;
use super::session_totals::{Head, SessionTotals, Sums};
use super::{Catalog, CatalogRow, database};
use crate::stats::{Aggregate, By, Tally};

impl Catalog {
    /// The sums over all conversations that are `meant`. A conversation is told by the places of
    /// its sides among the entries, the one that a list shows first. Sessions that were not
    /// [read as a whole](super::WantedRows::Whole) are left out.
    pub fn tally(
        &self,
        stores: &Stores,
        entries: &[CatalogRow],
        by: By,
        meant: &dyn Fn(&[usize]) -> bool,
    ) -> Result<Tally> {
        let unwritten =
            |entry: &CatalogRow| entry.is_current() && (entry.row == 0 || !entry.items.is_empty());
        if !entries.iter().any(unwritten) {
            let books = Books::new(self, &self.db, stores, entries, Numbers::OfRows);
            match books.tally(by, meant) {
                Err(error) if error.kind() != ErrorKind::Damaged => {}
                done => return done,
            }
        }
        // Where nothing can be written, everything is counted for this once.
        let apart = database::in_memory()?;
        Books::new(self, &apart, stores, entries, Numbers::OfPlaces).tally(by, meant)
    }
}

/// How sessions are numbered in the accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    /// By their rows in the catalog.
    OfRows,
    /// By their places among the entries, in accounts that nobody keeps.
    OfPlaces,
}

struct Books<'c> {
    catalog: &'c Catalog,
    /// Where the accounts are; what sessions say is always in the catalog.
    db: &'c Connection,
    stores: &'c Stores,
    entries: &'c [CatalogRow],
    /// By its number the place of each session that was read.
    places: HashMap<i64, usize>,
}

/// Sessions whose accounts do not hold any more, by their numbers and places, and accounts of
/// sessions that are gone.
#[derive(Default)]
struct Stale {
    changed: BTreeSet<(i64, usize)>,
    gone: Vec<i64>,
}

impl<'c> Books<'c> {
    fn new(
        catalog: &'c Catalog,
        db: &'c Connection,
        stores: &'c Stores,
        entries: &'c [CatalogRow],
        numbers: Numbers,
    ) -> Books<'c> {
        let read = entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| entry.is_current());
        let number = |(place, entry): (usize, &CatalogRow)| match numbers {
            Numbers::OfRows => (entry.row, place),
            Numbers::OfPlaces => (i64::try_from(place).unwrap_or(i64::MAX), place),
        };
        Books {
            catalog,
            db,
            stores,
            entries,
            places: read.map(number).collect(),
        }
    }

    fn fault(&self, error: rusqlite::Error) -> Error {
        self.catalog.fault(error)
    }

    fn bring_up_to_date(&self, stale: Stale) -> Result<()> {
        let tx = Transaction::new_unchecked(self.db, TransactionBehavior::Immediate)
            .map_err(|it| self.fault(it))?;
        for number in &stale.gone {
            self.close(*number)?;
        }
        let mut fresh = Fresh::default();
        for (number, place) in &stale.changed {
            fresh.add(
                &MessageOwners::of(&self.items(*place)?),
                &self.claims(*number)?,
            );
        }
        let mut changed = stale.changed;
        for number in self.affected(&mut fresh)? {
            match self.places.get(&number) {
                Some(place) => _ = changed.insert((number, *place)),
                // Of a session that is not looked at now nothing is known but this: it is
                // accounted for when it is.
                None => _ = self.close(number)?,
            }
        }
        for (number, place) in changed {
            self.account(number, place, &fresh)?;
        }
        tx.commit().map_err(|error| self.fault(error))
    }

    /// Tells of every session, and finds the accounts that are not those of the
    /// sessions as they are now.
    fn enter(&self, aggregate: &mut Aggregate<'_>) -> Result<Stale> {
        let fault = |error| self.fault(error);
        let (mut fresh, mut strange) = (vec![false; self.entries.len()], HashSet::new());
        let mut all = self
            .db
            .prepare_cached("SELECT session, state, head FROM account")
            .map_err(fault)?;
        let mut rows = all.query([]).map_err(fault)?;
        while let Some(row) = rows.next().map_err(fault)? {
            let (number, state): (i64, i64) =
                (row.get(0).map_err(fault)?, row.get(1).map_err(fault)?);
            let Some(place) = self.places.get(&number) else {
                strange.insert(number);
                continue;
            };
            if let Some((entry, fresh)) = self.entries.get(*place).zip(fresh.get_mut(*place)) {
                *fresh = state_of(entry) == state;
            }
            let head = row.get_ref(2).map_err(fault)?.as_blob().unwrap_or(b"");
            aggregate.enter(*place, Head::unpack(head).ok_or_else(damaged)?);
        }
        let changed = self
            .places
            .iter()
            .filter(|(_, place)| fresh.get(**place) == Some(&false));
        let changed = changed.map(|(number, place)| (*number, *place)).collect();
        Ok(Stale {
            changed,
            gone: self.gone(&strange)?,
        })
    }

    /// Which of the sessions that are not looked at are gone: stores may be left out.
    fn gone(&self, strange: &HashSet<i64>) -> Result<Vec<i64>> {
        if strange.is_empty() {
            return Ok(Vec::new());
        }
        let fault = |error| self.fault(error);
        let mut all = self
            .db
            .prepare_cached("SELECT id FROM session WHERE gone=1")
            .map_err(fault)?;
        let ids = all.query_map([], |row| row.get(0)).map_err(fault)?;
        let ids = ids.collect::<rusqlite::Result<Vec<i64>>>().map_err(fault)?;
        Ok(ids.into_iter().filter(|id| strange.contains(id)).collect())
    }

    /// Sessions that held a message alone which now stands in another too.
    fn affected(&self, fresh: &mut Fresh) -> Result<Vec<i64>> {
        let mut affected = Vec::new();
        if fresh.is_empty() {
            return Ok(affected);
        }
        let fault = |error| self.fault(error);
        let mut known = self
            .db
            .prepare_cached("SELECT 1 FROM shared WHERE key=?1 AND session=?2")
            .map_err(fault)?;
        let mut all = self
            .db
            .prepare_cached("SELECT session, keys FROM claim")
            .map_err(fault)?;
        let mut rows = all.query([]).map_err(fault)?;
        while let Some(row) = rows.next().map_err(fault)? {
            let number: i64 = row.get(0).map_err(fault)?;
            let mut alone = false;
            for claim in claims_in(row.get_ref(1).map_err(fault)?.as_blob().unwrap_or(b"")) {
                if fresh.meets(claim) && !alone {
                    alone = !known
                        .exists(params![claim.cast_signed(), number])
                        .map_err(fault)?;
                }
            }
            affected.extend(alone.then_some(number));
        }
        Ok(affected)
    }

    /// What a session claimed when it was last accounted for.
    fn claims(&self, number: i64) -> Result<MessageOwners> {
        let keys: Option<Vec<u8>> = (self
            .db
            .prepare_cached("SELECT keys FROM claim WHERE session=?1"))
        .and_then(|mut one| one.query_row([number], |row| row.get(0)).optional())
        .map_err(|error| self.fault(error))?;
        Ok(keys
            .map(|keys| MessageOwners::from_bytes(&keys))
            .unwrap_or_default())
    }

    /// Removes an account. Answers those of its claims that were shared.
    fn close(&self, number: i64) -> Result<HashSet<u64>> {
        let fault = |error| self.fault(error);
        let mut shared = HashSet::new();
        let mut remove = self
            .db
            .prepare_cached("DELETE FROM shared WHERE key=?1 AND session=?2")
            .map_err(fault)?;
        for claim in self.claims(number)?.iter() {
            if remove
                .execute(params![claim.cast_signed(), number])
                .map_err(fault)?
                > 0
            {
                shared.insert(claim);
            }
        }
        for table in ["account", "claim"] {
            (self
                .db
                .prepare_cached(&format!("DELETE FROM {table} WHERE session=?1")))
            .and_then(|mut remove| remove.execute([number]))
            .map_err(fault)?;
        }
        Ok(shared)
    }

    /// Writes down what a session adds.
    fn account(&self, number: i64, place: usize, fresh: &Fresh) -> Result<()> {
        let fault = |error| self.fault(error);
        let before = self.close(number)?;
        let Some(entry) = self.entries.get(place) else {
            return Ok(());
        };
        let Some(store) = self.stores.get(entry.store) else {
            return Ok(());
        };
        let kept = self.kept(entry)?.unpack();
        let mut items = self.items(place)?;
        let claims = MessageOwners::of(&items);
        // A cost that is stated stands for all messages of its session.
        if kept.meta.stated.usage.cost.is_some() {
            items
                .iter_mut()
                .for_each(|item| _ = item.usage.cost.get_or_insert(0.0));
        }
        let is_shared =
            |item: &Item| claim(item).is_some_and(|it| fresh.is_shared(it) || before.contains(&it));
        let (mut shared, alone): (Vec<Item>, Vec<Item>) = items.into_iter().partition(is_shared);
        let account = SessionTotals::of(store.dialect(), &entry.location, &kept, &alone, &shared);
        (self
            .db
            .prepare_cached("INSERT INTO account VALUES(?1,?2,?3,?4)"))
        .and_then(|mut add| {
            add.execute(params![number, state_of(entry), account.head, account.sums])
        })
        .map_err(fault)?;
        if !claims.is_empty() {
            (self.db.prepare_cached("INSERT INTO claim VALUES(?1,?2)"))
                .and_then(|mut add| add.execute(params![number, claims.to_bytes()]))
                .map_err(fault)?;
        }
        shared.sort_by_cached_key(claim);
        for same in shared.chunk_by(|one, next| claim(one) == claim(next)) {
            let Some(claim) = same.first().and_then(claim) else {
                continue;
            };
            (self
                .db
                .prepare_cached("INSERT INTO shared VALUES(?1,?2,?3)"))
            .and_then(|mut add| {
                add.execute(params![
                    claim.cast_signed(),
                    number,
                    message_usage::pack(same)
                ])
            })
            .map_err(fault)?;
        }
        Ok(())
    }

    fn kept(&self, entry: &CatalogRow) -> Result<Packed> {
        if let Some(kept) = &entry.kept {
            return Ok(kept.clone());
        }
        let kept: Option<Vec<u8>> =
            self.in_catalog("SELECT facts FROM kept WHERE session=?1", entry)?;
        kept.and_then(Packed::from_bytes).ok_or_else(damaged)
    }

    /// What every message of a session cost.
    fn items(&self, place: usize) -> Result<Vec<Item>> {
        let Some(entry) = self.entries.get(place) else {
            return Ok(Vec::new());
        };
        if !entry.items.is_empty() {
            return Ok(entry.items.clone());
        }
        let bytes = self.in_catalog("SELECT items FROM usage WHERE session=?1", entry)?;
        bytes.map_or(Ok(Vec::new()), |bytes| {
            message_usage::unpack(&bytes).ok_or_else(damaged)
        })
    }

    fn in_catalog(&self, sql: &str, entry: &CatalogRow) -> Result<Option<Vec<u8>>> {
        (self.catalog.db.prepare_cached(sql))
            .and_then(|mut one| one.query_row([entry.row], |row| row.get(0)).optional())
            .map_err(|error| self.fault(error))
    }

    fn tally(&self, by: By, meant: &dyn Fn(&[usize]) -> bool) -> Result<Tally> {
        // All that is read is of one state.
        let begin = || {
            Transaction::new_unchecked(self.db, TransactionBehavior::Deferred)
                .map_err(|error| self.fault(error))
        };
        let mut tx = begin()?;
        let mut aggregate = Aggregate::new(self.stores, self.entries, by);
        let stale = self.enter(&mut aggregate)?;
        if !stale.changed.is_empty() || !stale.gone.is_empty() {
            drop(tx);
            self.bring_up_to_date(stale)?;
            tx = begin()?;
            aggregate = Aggregate::new(self.stores, self.entries, by);
            self.enter(&mut aggregate)?;
        }
        aggregate.choose(meant);
        if aggregate.must_look() {
            self.each_shared(&mut |held| aggregate.look(held))?;
        }
        aggregate.settle();
        self.each_alone(&mut |place, sums| aggregate.add(place, sums))?;
        self.each_shared(&mut |held| aggregate.add_shared(held))?;
        tx.commit().map_err(|error| self.fault(error))?;
        Ok(aggregate.done())
    }

    /// Hands over what every session that is among the entries holds alone, by its place.
    fn each_alone(&self, sink: &mut dyn FnMut(usize, &Sums<'_>)) -> Result<()> {
        let fault = |error| self.fault(error);
        let mut all = self
            .db
            .prepare_cached("SELECT session, sums FROM account")
            .map_err(fault)?;
        let mut rows = all.query([]).map_err(fault)?;
        while let Some(row) = rows.next().map_err(fault)? {
            let Some(place) = self.places.get(&row.get(0).map_err(fault)?) else {
                continue;
            };
            let bytes = row.get_ref(1).map_err(fault)?.as_blob().unwrap_or(b"");
            sink(*place, &Sums::unpack(bytes).ok_or_else(damaged)?);
        }
        Ok(())
    }

    /// Hands over what sessions share, all that may be one message at once.
    fn each_shared(&self, sink: &mut dyn FnMut(Vec<(usize, Item)>)) -> Result<()> {
        let fault = |error| self.fault(error);
        let mut all = self
            .db
            .prepare_cached("SELECT key, session, item FROM shared")
            .map_err(fault)?;
        let mut rows = all.query([]).map_err(fault)?;
        let (mut last, mut held) = (None, Vec::new());
        while let Some(row) = rows.next().map_err(fault)? {
            let (key, number): (i64, i64) =
                (row.get(0).map_err(fault)?, row.get(1).map_err(fault)?);
            if last.replace(key) != Some(key) && !held.is_empty() {
                sink(std::mem::take(&mut held));
            }
            let Some(place) = self.places.get(&number) else {
                continue;
            };
            let items =
                message_usage::unpack(row.get_ref(2).map_err(fault)?.as_blob().unwrap_or(b""))
                    .ok_or_else(damaged)?;
            held.extend(items.into_iter().map(|item| (*place, item)));
        }
        if !held.is_empty() {
            sink(held);
        }
        Ok(())
    }
}

/// A sum of all that tells one state of a session from another.
fn state_of(entry: &CatalogRow) -> i64 {
    let State {
        size,
        mtime,
        digest,
        ..
    } = State::of(&entry.location);
    let parts = [entry.generation.cast_signed(), size, mtime, digest];
    sum_of(parts.into_iter().flat_map(i64::to_le_bytes)).cast_signed()
}

fn damaged() -> Error {
    Error::new(
        ErrorKind::Damaged,
        "the catalog's account of messages is damaged",
    )
}

#[cfg(test)]
mod tests;
