//! The conversations that were active since a time, and the rows of their sessions.

use boswell_model::{Instant, Result, SessionRef};
use rusqlite::{OptionalExtension, params};

use super::packed::descending;
use super::scope::Scope;
use super::{key, session_of};
use crate::catalog::Catalog;

/// The rows of the sessions of one conversation, the front first.
#[derive(Debug)]
pub(in crate::catalog) struct ActiveConversation {
    pub(in crate::catalog) sides: Vec<i64>,
}

impl Catalog {
    /// Returns the conversations of a scope that were active at a time or later, hidden ones too.
    pub(in crate::catalog) fn active_since(
        &self,
        scope: &str,
        since: Instant,
    ) -> Result<Vec<ActiveConversation>> {
        let fault = |error| self.fault(error);
        let Some(scope) = Scope::read(&self.db, scope).map_err(fault)? else {
            return Ok(Vec::new());
        };
        let mut fronts = (self.db)
            .prepare_cached(
                "SELECT id FROM conversation INDEXED BY conversation_by_active
                 WHERE scope=?1 AND active<=?2",
            )
            .map_err(fault)?;
        let mut linked = (self.db)
            .prepare_cached("SELECT id FROM side WHERE conversation=?1")
            .map_err(fault)?;
        let until = descending(since.millis());
        let rows = fronts.query_map(params![scope.id, until], |row| row.get::<_, i64>(0));
        let mut active = Vec::new();
        for front in rows.map_err(fault)? {
            let front = front.map_err(fault)?;
            let others = linked.query_map([front], |row| row.get::<_, i64>(0));
            let others: rusqlite::Result<Vec<i64>> = others.map_err(fault)?.collect();
            let all = std::iter::once(front).chain(others.map_err(fault)?);
            active.push(ActiveConversation {
                sides: all.map(session_of).collect(),
            });
        }
        Ok(active)
    }

    /// Returns the row of the session that a conversation of a scope shows.
    pub(in crate::catalog) fn front_row(
        &self,
        scope: &str,
        session: &SessionRef,
    ) -> Result<Option<i64>> {
        let fault = |error| self.fault(error);
        let Some(scope) = Scope::read(&self.db, scope).map_err(fault)? else {
            return Ok(None);
        };
        let (from, to) = (key(scope.id, 0), key(scope.id + 1, 0));
        let found: Option<i64> = (self.db)
            .prepare_cached(
                "SELECT id FROM conversation
                 WHERE session=?1 AND dialect=?2 AND id>=?3 AND id<?4",
            )
            .and_then(|mut one| {
                let which = params![session.id, session.dialect, from, to];
                one.query_row(which, |row| row.get(0)).optional()
            })
            .map_err(fault)?;
        Ok(found.map(session_of))
    }
}
