//! A page of conversations: one range of the index of its order.
//!
//! Every index ends with what breaks ties and with what rows are left out by, so that a page reads
//! no row of the table that it does not show, and sorts nothing. A test asks SQLite for its plan.

use boswell_model::{Error, ErrorKind, Instant, Result, SessionRef};
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row};

use super::packed::{Columns, UNKNOWN, descending};
use super::scope::Scope;
use super::{ConversationRow, ConversationScope};
use crate::catalog::Catalog;

/// The order of conversations. Refs break ties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConversationOrder {
    /// Last active first.
    #[default]
    Active,
    /// Last created first.
    Created,
    /// Most messages first.
    Messages,
    /// Largest first.
    Size,
    /// By name.
    Name,
}

/// The end of an earlier page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConversationCursor {
    /// Behind this time in milliseconds, or this count, and this session; none for an unknown one.
    Behind(Option<i64>, SessionRef),
    /// After the row of this session.
    Session(SessionRef),
}

/// A query for conversations.
pub struct ConversationQuery<'q> {
    /// In which order.
    pub order: ConversationOrder,
    /// Whether hidden ones are included.
    pub hidden: bool,
    /// Only those last active at or after this time.
    pub since: Option<Instant>,
    /// Only those last active before this time.
    pub until: Option<Instant>,
    /// Only those after this position.
    pub after: Option<ConversationCursor>,
    /// Number of rows to skip.
    pub offset: usize,
    /// Maximum number of rows.
    pub limit: usize,
    /// A filter for all other columns; `None` selects all.
    pub takes: Option<&'q dyn Fn(&ConversationRow) -> bool>,
}

/// A page of conversations.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationPage {
    /// The rows in order.
    pub rows: Vec<ConversationRow>,
    /// Whether more rows follow.
    pub more: bool,
    /// State of the scope.
    pub scope: ConversationScope,
}

/// The columns that a page reads.
const COLUMNS: &str = "dialect, session, active, created, messages, size, name, hidden, facts";

impl Catalog {
    /// Returns a page of the conversations of a scope; `None` if they were never completely
    /// computed.
    ///
    /// # Errors
    ///
    /// NotFound if the session of a cursor does not exist, Damaged if a row is damaged.
    pub fn conversation_page(
        &self,
        scope: &str,
        query: &ConversationQuery<'_>,
    ) -> Result<Option<ConversationPage>> {
        let fault = |error| self.fault(error);
        // Count, time and rows must be read in one transaction.
        let moment = self.db.unchecked_transaction().map_err(fault)?;
        let Some(here) = Scope::read(&moment, scope).map_err(fault)? else {
            return Ok(None);
        };
        let Some(known) = here.known() else {
            return Ok(None);
        };
        let (sql, values) = self.select(here.id, query)?;
        let mut page = ConversationPage {
            rows: Vec::new(),
            more: false,
            scope: known,
        };
        let mut select = moment.prepare_cached(&sql).map_err(fault)?;
        let mut rows = select
            .query(rusqlite::params_from_iter(values))
            .map_err(fault)?;
        let mut skip = query.offset;
        while let Some(row) = rows.next().map_err(fault)? {
            let row = verified(row).map_err(fault)?.ok_or_else(damaged)?;
            if query.takes.is_some_and(|takes| !takes(&row)) {
                continue;
            }
            if skip > 0 {
                skip -= 1;
            } else if page.rows.len() == query.limit {
                page.more = true;
                break;
            } else {
                page.rows.push(row);
            }
        }
        Ok(Some(page))
    }

    fn select(&self, scope: i64, query: &ConversationQuery<'_>) -> Result<(String, Vec<Value>)> {
        let column = query.order.column();
        // Which rows a time leaves out is unknown to the planner: it would sometimes choose the
        // index of times and sort what it finds.
        let mut sql = format!(
            "SELECT {COLUMNS} FROM conversation INDEXED BY conversation_by_{column} WHERE scope=?"
        );
        let mut values = vec![Value::Integer(scope)];
        if !query.hidden {
            sql.push_str(" AND hidden=0");
        }
        if query.since.is_some() || query.until.is_some() {
            let key = |at: Instant| descending(at.millis());
            // A conversation without a time is in no range of times.
            sql.push_str(" AND active<=? AND active>?");
            values.extend([
                Value::Integer(query.since.map_or(UNKNOWN - 1, key)),
                Value::Integer(query.until.map_or(i64::MIN, key)),
            ]);
        }
        if let Some(after) = &query.after {
            sql.push_str(&format!(" AND ({column}, dialect, session)>(?,?,?)"));
            values.extend(self.place(scope, query.order, after)?);
        }
        sql.push_str(&format!(" ORDER BY {column}, dialect, session"));
        if query.takes.is_none() {
            let most = query.offset.saturating_add(query.limit).saturating_add(1);
            sql.push_str(" LIMIT ?");
            values.push(Value::Integer(i64::try_from(most).unwrap_or(i64::MAX)));
        }
        Ok((sql, values))
    }

    /// What a page begins behind: the key of the order, dialect and session.
    fn place(
        &self,
        scope: i64,
        order: ConversationOrder,
        after: &ConversationCursor,
    ) -> Result<[Value; 3]> {
        let (key, session) = match after {
            ConversationCursor::Behind(number, session) => {
                (number.map_or(UNKNOWN, descending).into(), session)
            }
            ConversationCursor::Session(session) => {
                let column = order.column();
                let sql = format!(
                    "SELECT {column} FROM conversation WHERE session=?1 AND dialect=?2 AND scope=?3"
                );
                let found: Option<Value> = (self.db.prepare_cached(&sql))
                    .and_then(|mut one| {
                        let of = rusqlite::params![session.id, session.dialect, scope];
                        one.query_row(of, |row| row.get(0)).optional()
                    })
                    .map_err(|error| self.fault(error))?;
                let key = found.ok_or_else(|| {
                    Error::new(ErrorKind::NotFound, format!("{session} is not in the list"))
                })?;
                (key, session)
            }
        };
        Ok([
            key,
            session.dialect.clone().into(),
            session.id.clone().into(),
        ])
    }
}

impl ConversationOrder {
    /// The column of its key, which also names its index.
    fn column(self) -> &'static str {
        match self {
            ConversationOrder::Active => "active",
            ConversationOrder::Created => "created",
            ConversationOrder::Messages => "messages",
            ConversationOrder::Size => "size",
            ConversationOrder::Name => "name",
        }
    }
}

/// Returns a row if its checksum is correct and its columns match it.
fn verified(row: &Row<'_>) -> rusqlite::Result<Option<ConversationRow>> {
    let columns = Columns {
        dialect: row.get(0)?,
        session: row.get(1)?,
        active: row.get(2)?,
        created: row.get(3)?,
        messages: row.get(4)?,
        size: row.get(5)?,
        name: row.get(6)?,
        hidden: row.get(7)?,
    };
    let facts = row.get_ref(8)?.as_blob().ok();
    let unpacked = facts.and_then(ConversationRow::unpack);
    Ok(unpacked.filter(|row| Columns::of(row) == columns))
}

fn damaged() -> Error {
    Error::new(
        ErrorKind::Damaged,
        "the row of a conversation in the catalog is damaged",
    )
}

#[cfg(test)]
mod tests;
