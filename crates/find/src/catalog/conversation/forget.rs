//! Removes conversation rows of sessions that are removed from the catalog.

use std::collections::BTreeSet;

use boswell_model::Result;
use rusqlite::{Connection, OptionalExtension, Transaction};

use super::scope::{RowCount, remove_row};
use super::{key, session_of};
use crate::catalog::{Catalog, database, listing_snapshot};

/// Removes every conversation with one of these sessions, in every scope.
///
/// Its other sessions stay. Their notes may repeat text of the removed session, so their rows are
/// removed as well, and the next refresh computes them again.
pub(in crate::catalog) fn forget_sessions(
    tx: &Transaction<'_>,
    sessions: &[i64],
) -> rusqlite::Result<()> {
    let scopes: Vec<i64> = tx
        .prepare("SELECT id FROM scope")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut all: BTreeSet<i64> = sessions.iter().copied().collect();
    for scope in &scopes {
        for session in sessions {
            all.extend(family(tx, key(*scope, *session))?);
        }
    }
    let rev = listing_snapshot::next_rev(tx)?;
    for session in &all {
        for scope in &scopes {
            let id = key(*scope, *session);
            let mut count = RowCount::default();
            for conversation in [id, conversation_of(tx, id)?] {
                remove_row(tx, conversation, &mut count)?;
            }
            count.write(tx, *scope)?;
            for sql in [
                "DELETE FROM side WHERE id=?1 OR conversation=?1",
                "DELETE FROM link WHERE id=?1",
                "DELETE FROM beside WHERE id=?1",
            ] {
                tx.prepare_cached(sql)?.execute([id])?;
            }
        }
        tx.prepare_cached("UPDATE session SET rev=?2 WHERE id=?1")?
            .execute([*session, rev])?;
    }
    Ok(())
}

/// Returns the sessions of the conversation of `id`.
fn family(tx: &Transaction<'_>, id: i64) -> rusqlite::Result<Vec<i64>> {
    let conversation = conversation_of(tx, id)?;
    let mut family = vec![session_of(conversation)];
    let mut sides = tx.prepare_cached("SELECT id FROM side WHERE conversation=?1")?;
    let mut sides = sides.query([conversation])?;
    while let Some(row) = sides.next()? {
        family.push(session_of(row.get(0)?));
    }
    Ok(family)
}

/// The conversation that a session is in, or would be alone.
pub(super) fn conversation_of(db: &Connection, id: i64) -> rusqlite::Result<i64> {
    let led = db
        .prepare_cached("SELECT conversation FROM side WHERE id=?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    Ok(led.unwrap_or(id))
}

impl Catalog {
    /// Removes all conversation rows, because one is damaged. The next refresh computes them again.
    ///
    /// # Errors
    ///
    /// If the catalog cannot be written.
    pub fn drop_conversations(&mut self) -> Result<()> {
        let fault = |error| self.fault(error);
        let tx = self.begin()?;
        tx.execute_batch(database::WITHOUT_CONVERSATIONS)
            .map_err(fault)?;
        tx.commit().map_err(fault)
    }
}
