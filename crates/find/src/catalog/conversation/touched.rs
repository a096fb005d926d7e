//! Finds conversations that must be computed again: those of sessions that changed, and of sessions
//! linked to them.
//!
//! Every change of a session's row has a revision, so the changes are a range of an index. Notes
//! and side files have no revision: their hashes are compared. A set of sessions is complete if it
//! contains every session of the conversations that they were in, every session that they name and
//! every session that names them: links outside of it cannot affect it.

use std::collections::{BTreeSet, HashMap, HashSet};

use boswell_model::{Instant, Result, SessionRef};
use boswell_store::store::{StoreId, Stores};
use rusqlite::{Connection, OptionalExtension};

use super::scope::Scope;
use super::{key, session_of};
use crate::catalog::{Catalog, CatalogRow};

/// If this many sessions and a quarter of all changed, all are computed.
const FEW: usize = 256;

/// The state of the notes, to detect changes.
#[derive(Debug, Clone, Default)]
pub struct NotesState {
    /// State of the notes' file.
    pub mark: i64,
    /// By session a hash of its notes.
    pub sums: HashMap<SessionRef, i64>,
}

/// The conversations of a scope that must be computed again.
#[derive(Debug, Default)]
pub struct ConversationTouches {
    /// Sessions whose conversations are computed, by their indexes among the rows; complete except
    /// for unreadable sessions.
    pub entries: Vec<usize>,
    /// Whether these are all sessions.
    pub all: bool,
    /// Whether there was no row of the scope, so that none must be looked for or removed.
    pub(super) is_new: bool,
    /// When the rows were last complete.
    pub(super) as_of: Option<Instant>,
    pub(super) scope: String,
    /// The state of the scope at that time; `None` if there was none.
    pub(super) before: Option<i64>,
    /// The state of the scope after the conversations were written.
    pub(super) next: Scope,
    /// Conversations that are removed unless they are written again, by their keys.
    pub(super) old: HashSet<i64>,
    /// Sessions without a conversation unless one with them is written, by their keys.
    pub(super) loose: HashSet<i64>,
    /// Changed hashes of side files.
    pub(super) side_files: Vec<(i64, i64)>,
}

impl ConversationTouches {
    /// Whether there is nothing to write: no conversation changed, and the last refresh was at
    /// about that time. Writing the exact time of each refresh would cost more than the refresh.
    pub fn is_current(&self, as_of: Instant) -> bool {
        const EXACT: i64 = 1000;
        let nothing = self.entries.is_empty() && self.old.is_empty() && self.side_files.is_empty();
        let apart = |at: Instant| (as_of.millis() - at.millis()).abs();
        nothing && self.as_of.is_some_and(|at| apart(at) < EXACT)
    }
}

impl Catalog {
    /// Finds the conversations that must be computed again after a refresh with these entries and
    /// listed stores.
    ///
    /// # Errors
    ///
    /// If the catalog or the log of a linked session cannot be read.
    pub fn conversation_touches(
        &self,
        stores: &Stores,
        entries: &mut [CatalogRow],
        scope: &str,
        (listed, notes): (&[StoreId], &NotesState),
    ) -> Result<ConversationTouches> {
        let fault = |error| self.fault(error);
        let names = listed.iter().filter_map(|id| stores.get(*id));
        let mut names: Vec<String> = names.map(crate::catalog::refresh::store_name).collect();
        names.sort();
        names.dedup();
        let before = Scope::read(&self.db, scope).map_err(fault)?;
        let mut touches = ConversationTouches {
            scope: scope.to_owned(),
            before: before.as_ref().map(|scope| scope.rev),
            as_of: before.as_ref().and_then(|scope| scope.as_of),
            next: Scope {
                rev: self.base_rev,
                notes: notes.mark,
                stores: names,
                ..before.clone().unwrap_or_default()
            },
            ..ConversationTouches::default()
        };
        let sums =
            SideFileSums::probe(&self.db, stores, entries, touches.next.id).map_err(fault)?;
        touches.side_files = sums.changed;
        let mut search = match before.filter(|scope| scope.as_of.is_some()) {
            Some(before) => {
                let mut search = Search::new(self, &before);
                search.changed(&touches.next.stores).map_err(fault)?;
                search.ids.extend(sums.touched);
                if before.notes != notes.mark {
                    search.noted(stores, entries, notes).map_err(fault)?;
                }
                Some(search)
            }
            None => None,
        };
        let most = FEW.max(entries.len() / 4);
        if let Some(search) = search.as_mut().filter(|it| it.ids.len() <= most) {
            search.complete(stores, entries)?;
        }
        match search.filter(|it| it.ids.is_empty() && it.found.len() <= most) {
            Some(search) => search.into_touches(&mut touches),
            None => touches.take_all(&self.db, entries.len()).map_err(fault)?,
        }
        Ok(touches)
    }
}

impl ConversationTouches {
    fn take_all(&mut self, db: &Connection, entries: usize) -> rusqlite::Result<()> {
        self.all = true;
        self.entries = (0..entries).collect();
        let range = [key(self.next.id, 0), key(self.next.id + 1, 0)];
        let ids = |table: &str| -> rusqlite::Result<HashSet<i64>> {
            db.prepare(&format!("SELECT id FROM {table} WHERE id>=?1 AND id<?2"))?
                .query_map(range, |row| row.get(0))?
                .collect()
        };
        self.old = ids("conversation")?;
        self.loose = ids("side")?;
        self.loose.extend(ids("link")?);
        self.is_new = self.old.is_empty() && self.loose.is_empty();
        Ok(())
    }
}

/// Hashes of side files, compared with the stored ones.
#[derive(Default)]
struct SideFileSums {
    changed: Vec<(i64, i64)>,
    touched: Vec<i64>,
}

impl SideFileSums {
    fn probe(
        db: &Connection,
        stores: &Stores,
        entries: &[CatalogRow],
        scope: i64,
    ) -> rusqlite::Result<SideFileSums> {
        let mut known: HashMap<i64, i64> = db
            .prepare_cached("SELECT id, sum FROM beside WHERE id>=?1 AND id<?2")?
            .query_map([key(scope, 0), key(scope + 1, 0)], |row| {
                Ok((session_of(row.get(0)?), row.get(1)?))
            })?
            .collect::<rusqlite::Result<_>>()?;
        let mut found = SideFileSums::default();
        for entry in entries.iter().filter(|entry| entry.has_folder()) {
            let Some(store) = stores.get(entry.store) else {
                continue;
            };
            let sum = entry.side_sum(store);
            if known.remove(&entry.row).unwrap_or(0) != sum {
                found.changed.push((entry.row, sum));
                found.touched.push(entry.row);
            }
        }
        for session in known.into_keys() {
            found.changed.push((session, 0));
            found.touched.push(session);
        }
        Ok(found)
    }
}

/// The search for all sessions whose conversations may have changed.
struct Search<'c> {
    catalog: &'c Catalog,
    scope: i64,
    rev: i64,
    stores: Vec<String>,
    /// Affected sessions, by their row ids.
    ids: BTreeSet<i64>,
    /// Names that affected sessions use for others, each with the dialects that they refer to.
    wanted: HashMap<String, HashSet<&'static str>>,
    /// Finished sessions, by their indexes among the rows.
    found: BTreeSet<usize>,
    done: HashSet<i64>,
    old: HashSet<i64>,
}

impl<'c> Search<'c> {
    fn new(catalog: &'c Catalog, before: &Scope) -> Search<'c> {
        Search {
            catalog,
            scope: before.id,
            rev: before.rev,
            stores: before.stores.clone(),
            ids: BTreeSet::new(),
            wanted: HashMap::new(),
            found: BTreeSet::new(),
            done: HashSet::new(),
            old: HashSet::new(),
        }
    }

    fn numbers(&self, sql: &str, of: impl rusqlite::Params) -> rusqlite::Result<Vec<i64>> {
        self.catalog
            .db
            .prepare_cached(sql)?
            .query_map(of, |row| row.get(0))?
            .collect()
    }

    /// Finds sessions whose rows changed, and those of added or removed stores.
    fn changed(&mut self, listed: &[String]) -> rusqlite::Result<()> {
        let later = self.numbers("SELECT id FROM session WHERE rev>?1", [self.rev])?;
        self.ids.extend(later);
        let before: HashSet<&String> = self.stores.iter().collect();
        let now: HashSet<&String> = listed.iter().collect();
        let mut other = Vec::new();
        for name in before.symmetric_difference(&now) {
            other.extend(self.numbers(
                "SELECT id FROM session WHERE store=(SELECT id FROM store WHERE name=?1)",
                [name],
            )?);
        }
        self.ids.extend(other);
        Ok(())
    }

    /// Finds sessions of conversations whose notes changed.
    fn noted(
        &mut self,
        stores: &Stores,
        entries: &[CatalogRow],
        notes: &NotesState,
    ) -> rusqlite::Result<()> {
        let mut now: HashMap<i64, (i64, i64)> = HashMap::new();
        for entry in entries.iter().take_while(|_| !notes.sums.is_empty()) {
            let Some(sum) = notes.sums.get(&reference(stores, entry)) else {
                continue;
            };
            let conversation = self.conversation_of(entry.row)?;
            let (_, all) = now.entry(conversation).or_insert((entry.row, 0));
            *all = all.wrapping_add(*sum);
        }
        let mut before = self.catalog.db.prepare_cached(
            "SELECT id, notes FROM conversation WHERE notes<>0 AND id>=?1 AND id<?2",
        )?;
        let mut rows = before.query([key(self.scope, 0), key(self.scope + 1, 0)])?;
        while let Some(row) = rows.next()? {
            let (id, sum): (i64, i64) = (row.get(0)?, row.get(1)?);
            if now.remove(&id).map(|(_, sum)| sum) != Some(sum) {
                self.ids.insert(session_of(id));
            }
        }
        self.ids
            .extend(now.into_values().map(|(session, _)| session));
        Ok(())
    }

    /// Returns the conversation of a session, or the one that it would form alone.
    fn conversation_of(&self, session: i64) -> rusqlite::Result<i64> {
        super::forget::conversation_of(&self.catalog.db, key(self.scope, session))
    }

    /// Continues until no found session leads to another one.
    fn complete(&mut self, stores: &Stores, entries: &mut [CatalogRow]) -> Result<()> {
        while !self.ids.is_empty() || !self.wanted.is_empty() {
            let ids = std::mem::take(&mut self.ids);
            let wanted = std::mem::take(&mut self.wanted);
            let mut places = BTreeSet::new();
            for (place, entry) in entries.iter().enumerate() {
                let is_wanted = || {
                    let dialects = wanted.get(&entry.location.id)?;
                    let store = stores.get(entry.store)?;
                    dialects.get(store.dialect().name())
                };
                if ids.contains(&entry.row) || (!wanted.is_empty() && is_wanted().is_some()) {
                    places.insert(place);
                }
            }
            let catalog = self.catalog;
            for session in &ids {
                self.leads(*session).map_err(|error| catalog.fault(error))?;
            }
            for place in places {
                if self.found.insert(place)
                    && let Some(entry) = entries.get_mut(place)
                {
                    self.entry(stores, entry)?;
                }
            }
        }
        Ok(())
    }

    /// Finds sessions that the rows of the scope connect with one.
    fn leads(&mut self, session: i64) -> rusqlite::Result<()> {
        if !self.done.insert(session) {
            return Ok(());
        }
        let conversation = self.conversation_of(session)?;
        self.old.insert(conversation);
        let sides = self.numbers("SELECT id FROM side WHERE conversation=?1", [conversation])?;
        let family = sides.into_iter().chain([conversation]).map(session_of);
        let family: Vec<i64> = family.filter(|id| !self.done.contains(id)).collect();
        self.ids.extend(family);
        let own: Option<(String, String)> = self
            .catalog
            .db
            .prepare_cached("SELECT dialect, name FROM session WHERE id=?1")?
            .query_row([session], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let aliases = self
            .catalog
            .db
            .prepare_cached("SELECT dialect, name FROM link WHERE id=?1 AND alias=1")?
            .query_map([key(self.scope, session)], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?
            .collect::<rusqlite::Result<Vec<(String, String)>>>()?;
        for (dialect, name) in own.into_iter().chain(aliases) {
            self.named(&dialect, &name, 0)?;
        }
        Ok(())
    }

    /// Finds sessions that use a name: for another one (`alias` 0), or for themselves.
    fn named(&mut self, dialect: &str, name: &str, alias: i64) -> rusqlite::Result<()> {
        let (from, to) = (key(self.scope, 0), key(self.scope + 1, 0));
        let found = self.numbers(
            "SELECT id FROM link WHERE name=?1 AND dialect=?2 AND alias=?3 AND id>=?4 AND id<?5",
            rusqlite::params![name, dialect, alias, from, to],
        )?;
        let found = found.into_iter().map(session_of);
        self.ids.extend(found.filter(|id| !self.done.contains(id)));
        Ok(())
    }

    /// Finds sessions that the log of one names, and those that refer to it by the id in its log.
    fn entry(&mut self, stores: &Stores, entry: &mut CatalogRow) -> Result<()> {
        if !self.done.contains(&entry.row) {
            self.ids.insert(entry.row);
        }
        let Some(store) = stores.get(entry.store) else {
            return Ok(());
        };
        let keys = entry.sort_keys;
        if keys.is_some_and(|keys| !keys.is_linked() && !keys.is_renamed()) {
            return Ok(());
        }
        self.catalog.load(entry)?;
        // Lists omit unreadable sessions too.
        let Ok(summary) = entry.summary(store) else {
            return Ok(());
        };
        let dialect = store.dialect();
        let catalog = self.catalog;
        let fault = |error| catalog.fault(error);
        for link in dialect.linked_sessions(&summary.meta, &summary.location.id) {
            self.named(link.dialect, &link.id, 1).map_err(fault)?;
            self.wanted.entry(link.id).or_default().insert(link.dialect);
        }
        if let Some(own) = &summary.meta.id {
            self.named(dialect.name(), own, 0).map_err(fault)?;
        }
        Ok(())
    }

    fn into_touches(self, touches: &mut ConversationTouches) {
        let scope = self.scope;
        touches.entries = self.found.into_iter().collect();
        touches.old = self.old;
        touches.loose = self.done.iter().map(|id| key(scope, *id)).collect();
    }
}

fn reference(stores: &Stores, entry: &CatalogRow) -> SessionRef {
    let store = stores.get(entry.store);
    SessionRef::new(
        store.map_or("", |store| store.dialect().name()),
        &entry.location.id,
    )
}
