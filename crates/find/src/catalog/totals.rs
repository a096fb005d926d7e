//! The totals of all sessions in the catalog database: recomputed for the sessions that changed,
//! then read in one query per table.
//!
//! Table `account` contains one row of [totals](SessionTotals) per session, `claim` the hashes of
//! the messages that each session contains (its claims), and `shared` the messages that more than
//! one session contains, ordered by hash. When a session changes, its totals are recomputed. The
//! totals of another session are recomputed too if a message was its own until now and the changed
//! session contains it as well: the message moves from the sums of `account` to `shared`.
//!
//! The opposite move is not made: a message that is no longer shared may stay in `shared`, because
//! an aggregation of its only remaining copy gives the same result.
//!
//! This module reads no logs; `read_logs` must have read the sessions before.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use boswell_dialect::SessionLocation;
use boswell_model::{Error, ErrorKind, Result};
use boswell_store::Store;
use boswell_store::store::Stores;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::file_state::State;
use super::message_owners::{Fresh, MessageOwners, claim, claims_in, sum_of};
use super::message_usage::{self, Item};
use super::packed_meta::Packed;
use super::seen_folders::SeenFolders;
use super::session_totals::{Head, SessionTotals, Sums};
use super::{Catalog, CatalogRow, WantedRows, database};
use crate::stats::{Aggregate, Grouping, Tally};

impl Catalog {
    /// Sums over all conversations for which `meant` returns true. `meant` receives the places of a
    /// conversation's sides in `entries`, the side that lists show first. Sessions that were not
    /// [read as a whole](super::WantedRows::Whole) are left out, and the result is marked as
    /// partial.
    pub fn tally(
        &self,
        stores: &Stores,
        entries: &[CatalogRow],
        by: impl Into<Grouping>,
        meant: &dyn Fn(&[usize]) -> bool,
    ) -> Result<Tally> {
        let by = &by.into();
        // Rows that could not be written to the database exist only in memory, so the tables would
        // not include them.
        let unwritten =
            |entry: &CatalogRow| entry.is_current() && (entry.row == 0 || !entry.items.is_empty());
        if !entries.iter().any(unwritten) {
            let books = Books::new(self, &self.db, stores, entries, Numbers::OfRows);
            match books.tally(by, meant) {
                // For example a read-only or full disk: the totals cannot be updated there. Damage
                // is returned to the caller instead, which can rebuild the catalog.
                Err(error) if error.kind() != ErrorKind::Damaged => {}
                done => return done,
            }
        }
        // Computes everything in a temporary database for this call only.
        let apart = database::in_memory()?;
        Books::new(self, &apart, stores, entries, Numbers::OfPlaces).tally(by, meant)
    }

    /// The sums over sessions that no listing of their store finds, such as files that were named
    /// by their path. They are read now, and nothing is kept of them.
    ///
    /// # Errors
    ///
    /// The first of them that cannot be read: what is not known must not count as nothing.
    pub fn tally_unlisted(
        store: &Store,
        locations: &[SessionLocation],
        by: impl Into<Grouping>,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Tally> {
        let mut stores = Stores::default();
        stores.add_store(store.clone());
        let folders = Arc::new(SeenFolders::default());
        let mut entries = Vec::new();
        for (id, _) in stores.iter() {
            let locations = locations.iter().cloned();
            entries.extend(locations.map(|it| CatalogRow::new(id, it, &folders, &mut |_| true)));
        }
        let mut catalog = Catalog::in_memory()?;
        let whole = WantedRows::Whole;
        let mut read = catalog.read_missing(&stores, &mut entries, whole, 1, go_on)?;
        match read.errors.pop() {
            Some((_, error)) => Err(error),
            None => catalog.tally(&stores, &entries, by, &|_| true),
        }
    }
}

/// The numbers that identify sessions in the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    /// The row ids of the catalog.
    OfRows,
    /// The places in `entries`, for tables in memory: sessions that were not written have no row
    /// id.
    OfPlaces,
}

/// Access to the tables of totals for one call of [`Catalog::tally`].
struct Books<'c> {
    catalog: &'c Catalog,
    /// The database with the tables of totals; facts and usage of sessions are always read from
    /// `catalog`.
    db: &'c Connection,
    stores: &'c Stores,
    entries: &'c [CatalogRow],
    /// The place in `entries` of each session that was read as a whole, by its number.
    places: HashMap<i64, usize>,
}

/// The rows of `account` that are out of date: changed or new sessions as (number, place), and
/// numbers of sessions that no longer exist.
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

    /// Recomputes the totals of `stale` sessions and of the sessions that they affect, in one
    /// transaction.
    fn bring_up_to_date(&self, stale: Stale) -> Result<()> {
        let tx = self.catalog.begin_on(self.db)?;
        for number in &stale.gone {
            self.close(*number)?;
        }
        // First collect the new claims of all changed sessions: whether a message is shared is only
        // known when every changed session and every stored claim was compared.
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
                // The session belongs to a store that this call does not include, so its messages
                // cannot be read now. Without a row it is recomputed the next time that it is
                // included.
                None => _ = self.close(number)?,
            }
        }
        for (number, place) in changed {
            self.account(number, place, &fresh)?;
        }
        tx.commit().map_err(|error| self.fault(error))
    }

    /// Registers every session with a row in `account`, and returns the rows that do not describe
    /// the current state of their session.
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
                // Either deleted, or of a store that is not included in this call.
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

    /// Returns which of the `strange` sessions were deleted. The others are in stores that this
    /// call does not include; their totals remain valid.
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

    /// Returns the sessions whose totals contain a message as their own that is now shared, and
    /// marks all such messages in `fresh` as shared.
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
                // `meets` must be called for every claim, because it also marks the claim as
                // shared; the database is asked only until the first message that is not in
                // `shared` yet.
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

    /// Returns the claims of a session as of its last update.
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

    /// Removes the totals of a session and returns those of its claims that were in `shared`.
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

    /// Replaces the totals of a session by those of its current state.
    fn account(&self, number: i64, place: usize, fresh: &Fresh) -> Result<()> {
        let fault = |error| self.fault(error);
        // What was shared before stays shared: the other session's copy is in `shared`, and adding
        // this copy to the own sums would count the message twice.
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
        // A stated cost covers all messages of its session. Their own cost becomes zero instead of
        // unknown, or a price would be computed for them in addition.
        if kept.meta.stated.usage.cost.is_some() {
            items
                .iter_mut()
                .for_each(|item| _ = item.usage.cost.get_or_insert(0.0));
        }
        let is_shared =
            |item: &Item| claim(item).is_some_and(|it| fresh.is_shared(it) || before.contains(&it));
        let (shared, alone): (Vec<Item>, Vec<Item>) = items.into_iter().partition(is_shared);
        let account = SessionTotals::of(store.dialect(), &entry.location, &kept, &alone, &shared);
        let (state, head, sums) = (state_of(entry), account.head, account.sums);
        (self.db)
            .prepare_cached("INSERT INTO account VALUES(?1,?2,?3,?4)")
            .and_then(|mut add| add.execute(params![number, state, head, sums]))
            .map_err(fault)?;
        self.put_claims(number, &claims)?;
        self.put_shared(number, shared)
    }

    fn put_claims(&self, number: i64, claims: &MessageOwners) -> Result<()> {
        if !claims.is_empty() {
            let add = self.db.prepare_cached("INSERT INTO claim VALUES(?1,?2)");
            add.and_then(|mut add| add.execute(params![number, claims.to_bytes()]))
                .map_err(|error| self.fault(error))?;
        }
        Ok(())
    }

    /// Writes the messages that other sessions contain too, those with the same hash in one row.
    fn put_shared(&self, number: i64, mut shared: Vec<Item>) -> Result<()> {
        shared.sort_by_cached_key(claim);
        for same in shared.chunk_by(|one, next| claim(one) == claim(next)) {
            let Some(claim) = same.first().and_then(claim) else {
                continue;
            };
            let (claim, messages) = (claim.cast_signed(), message_usage::pack(same));
            let add = (self.db).prepare_cached("INSERT INTO shared VALUES(?1,?2,?3)");
            add.and_then(|mut add| add.execute(params![claim, number, messages]))
                .map_err(|error| self.fault(error))?;
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

    /// Returns the usage of every message of a session.
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

    /// Reads one blob of a session from the catalog, which can be another database than `self.db`.
    fn in_catalog(&self, sql: &str, entry: &CatalogRow) -> Result<Option<Vec<u8>>> {
        (self.catalog.db.prepare_cached(sql))
            .and_then(|mut one| one.query_row([entry.row], |row| row.get(0)).optional())
            .map_err(|error| self.fault(error))
    }

    /// Updates the totals if necessary, then runs the passes of [`Aggregate`] over them.
    fn tally(&self, by: &Grouping, meant: &dyn Fn(&[usize]) -> bool) -> Result<Tally> {
        // One read transaction for all passes: they must see the same state.
        let begin = || {
            Transaction::new_unchecked(self.db, TransactionBehavior::Deferred)
                .map_err(|error| self.fault(error))
        };
        let mut tx = begin()?;
        let mut aggregate = Aggregate::new(self.stores, self.entries, by);
        let stale = self.enter(&mut aggregate)?;
        if !stale.changed.is_empty() || !stale.gone.is_empty() {
            // A read transaction cannot be upgraded reliably: another process may have written
            // since it began. So the update runs in a transaction of its own, and the sessions are
            // read again.
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

    /// Calls `sink` with the own sums of every session in `places`.
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

    /// Calls `sink` with the shared messages, once per hash: all copies of a message are in one
    /// call.
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
            // Rows are ordered by hash (the primary key), so a new hash ends the group.
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

/// Returns a hash of the fields that distinguish one state of a session from another.
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

pub(super) fn damaged() -> Error {
    Error::new(
        ErrorKind::Damaged,
        "the usage of messages in the catalog is damaged",
    )
}

#[cfg(test)]
mod tests;
