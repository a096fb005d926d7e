//! The scopes of conversation rows.

use boswell_model::{Instant, Result, SessionRef};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::SCOPES;
use crate::catalog::Catalog;
use crate::catalog::database::CONVERSATION_INDEXES;
use crate::catalog::schema::{self, SCOPE_IS_SOUND};

/// The stored state of a scope.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    pub(super) id: i64,
    /// The rows contain changes up to this revision of the catalog.
    pub(super) rev: i64,
    /// The state of the notes that the rows contain.
    pub(super) notes: i64,
    /// Time of the last refresh; `None` while the rows are not complete.
    pub(super) as_of: Option<Instant>,
    /// Names of the stores whose sessions the rows contain.
    pub(super) stores: Vec<String>,
    pub(super) shown: u64,
    pub(super) hidden: u64,
}

/// The state of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConversationScope {
    /// Time of the last refresh.
    pub as_of: Instant,
    /// Number of conversations that lists show.
    pub shown: u64,
    /// Number of hidden conversations.
    pub hidden: u64,
}

impl Catalog {
    /// Returns the state of a scope; `None` if its conversations were never completely computed.
    pub fn conversation_scope(&self, name: &str) -> Result<Option<ConversationScope>> {
        let scope = Scope::read(&self.db, name).map_err(|error| self.fault(error))?;
        Ok(scope.and_then(|scope| scope.known()))
    }

    /// Returns the state of the notes that the rows of a scope contain.
    pub fn notes_mark(&self, name: &str) -> Result<Option<i64>> {
        let scope = Scope::read(&self.db, name).map_err(|error| self.fault(error))?;
        Ok(scope.map(|scope| scope.notes))
    }
}

impl Scope {
    pub(super) fn read(db: &Connection, name: &str) -> rusqlite::Result<Option<Scope>> {
        let found = db
            .prepare_cached(&format!(
                "SELECT id, rev, notes, as_of, shown, hidden, {SCOPE_IS_SOUND} FROM scope
                 WHERE name=?1"
            ))?
            .query_row([name], |row| {
                schema::sound(row, 6)?;
                Ok(Scope {
                    id: row.get(0)?,
                    rev: row.get(1)?,
                    notes: row.get(2)?,
                    as_of: row.get::<_, Option<i64>>(3)?.map(Instant::from_millis),
                    stores: Vec::new(),
                    shown: row.get::<_, i64>(4)?.cast_unsigned(),
                    hidden: row.get::<_, i64>(5)?.cast_unsigned(),
                })
            })
            .optional()?;
        let Some(mut scope) = found else {
            return Ok(None);
        };
        scope.stores = db
            .prepare_cached(
                "SELECT store.name FROM scope_store JOIN store ON store.id=scope_store.store
                 WHERE scope=?1",
            )?
            .query_map([scope.id], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        Ok(Some(scope))
    }

    pub(super) fn known(&self) -> Option<ConversationScope> {
        Some(ConversationScope {
            as_of: self.as_of?,
            shown: self.shown,
            hidden: self.hidden,
        })
    }

    /// Creates a scope; it replaces the least recently used one if there are too many.
    pub(super) fn make(tx: &Transaction<'_>, name: &str, now: Instant) -> rusqlite::Result<i64> {
        let used: Vec<i64> = tx
            .prepare("SELECT id FROM scope ORDER BY used")?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for id in used.iter().take((used.len() + 1).saturating_sub(SCOPES)) {
            drop_scope(tx, *id)?;
        }
        tx.execute(
            "INSERT INTO scope(name, rev, notes, used) VALUES(?1, -1, 0, ?2)",
            params![name, now.millis()],
        )?;
        Ok(tx.last_insert_rowid())
    }

    /// Records up to which revision the rows are complete.
    pub(super) fn complete(
        &self,
        tx: &Transaction<'_>,
        as_of: Option<Instant>,
    ) -> rusqlite::Result<()> {
        // A page is read from complete scopes only, so it never misses its index.
        if self.as_of.is_none() && as_of.is_some() {
            tx.execute_batch(CONVERSATION_INDEXES)?;
        }
        tx.prepare_cached(
            "UPDATE scope SET rev=?2, notes=?3, as_of=COALESCE(?4, as_of), used=COALESCE(?4, used)
             WHERE id=?1",
        )?
        .execute(params![
            self.id,
            self.rev,
            self.notes,
            as_of.map(Instant::millis)
        ])?;
        tx.execute("DELETE FROM scope_store WHERE scope=?1", [self.id])?;
        for store in &self.stores {
            tx.prepare_cached(
                "INSERT OR IGNORE INTO scope_store SELECT ?1, id FROM store WHERE name=?2",
            )?
            .execute(params![self.id, store])?;
        }
        Ok(())
    }
}

/// By how much the number of rows of a scope changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RowCount {
    shown: i64,
    hidden: i64,
}

impl RowCount {
    pub(super) fn add(&mut self, is_hidden: bool, rows: i64) {
        if is_hidden {
            self.hidden += rows;
        } else {
            self.shown += rows;
        }
    }

    /// Adds it to what the scope has.
    pub(super) fn write(self, tx: &Transaction<'_>, scope: i64) -> rusqlite::Result<()> {
        if self == RowCount::default() {
            return Ok(());
        }
        tx.prepare_cached("UPDATE scope SET shown=shown+?2, hidden=hidden+?3 WHERE id=?1")?
            .execute([scope, self.shown, self.hidden])
            .map(drop)
    }
}

/// Removes the row of a conversation, and says which session it showed.
pub(super) fn remove_row(
    tx: &Transaction<'_>,
    id: i64,
    count: &mut RowCount,
) -> rusqlite::Result<Option<SessionRef>> {
    let gone = tx
        .prepare_cached("DELETE FROM conversation WHERE id=?1 RETURNING dialect, session, hidden")?
        .query_row([id], |row| {
            let session: (String, String) = (row.get(0)?, row.get(1)?);
            Ok((SessionRef::new(session.0, session.1), row.get(2)?))
        })
        .optional()?;
    Ok(gone.map(|(session, is_hidden)| {
        count.add(is_hidden, -1);
        session
    }))
}

/// Removes a scope with all of its rows.
pub(super) fn drop_scope(tx: &Transaction<'_>, id: i64) -> rusqlite::Result<()> {
    let (from, to) = (super::key(id, 0), super::key(id + 1, 0));
    for table in ["conversation", "side", "link", "beside"] {
        tx.execute(
            &format!("DELETE FROM {table} WHERE id>=?1 AND id<?2"),
            [from, to],
        )?;
    }
    tx.execute("DELETE FROM scope_store WHERE scope=?1", [id])?;
    tx.execute("DELETE FROM scope WHERE id=?1", [id])?;
    Ok(())
}
