//! A page of conversations, by the index of its order.

use boswell_model::{Error, ErrorKind, Instant, Result, SessionRef};
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row};

use super::packed::{Columns, UNKNOWN};
use super::scope::Scope;
use super::{ConversationRow, ConversationScope};
use crate::catalog::Catalog;

/// What conversations are ordered by. Refs break ties.
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

/// Where an earlier page ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConversationCursor {
    /// Behind this key of the order and this session.
    Behind(i64, SessionRef),
    /// Behind the row of this session.
    Session(SessionRef),
}

/// Which conversations are asked for.
pub struct ConversationQuery<'q> {
    /// In which order.
    pub order: ConversationOrder,
    /// Whether also those that lists leave out.
    pub hidden: bool,
    /// Only those last active at or after this time.
    pub since: Option<Instant>,
    /// Only those last active before this time.
    pub until: Option<Instant>,
    /// Only those behind this place.
    pub after: Option<ConversationCursor>,
    /// Leave out the first so many.
    pub offset: usize,
    /// At most so many.
    pub limit: usize,
    /// Chooses by anything else that a row says; none takes all.
    pub takes: Option<&'q dyn Fn(&ConversationRow) -> bool>,
}

/// A page of conversations.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationPage {
    /// In order.
    pub rows: Vec<ConversationRow>,
    /// Whether others follow.
    pub more: bool,
    /// What is known of the scope.
    pub scope: ConversationScope,
}

/// The columns that a page is made of.
const COLUMNS: &str =
    "dialect, session, active, created, messages, size, name, rest, hidden, facts";

impl Catalog {
    /// A page of the conversations of a scope; none if they were never all worked out.
    ///
    /// # Errors
    ///
    /// NotFound if the session of a cursor is not there, Damaged if a row is not what was written.
    pub fn conversation_page(
        &self,
        scope: &str,
        query: &ConversationQuery<'_>,
    ) -> Result<Option<ConversationPage>> {
        let fault = |error| self.fault(error);
        // Count, time and rows must be of one moment.
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
        let mut sql = format!("SELECT {COLUMNS} FROM conversation WHERE scope=?1");
        let mut values = vec![Value::Integer(scope)];
        if !query.hidden {
            sql.push_str(" AND hidden=0");
        }
        if query.since.is_some() || query.until.is_some() {
            // A conversation without a time is in no range of times.
            let since = query.since.map_or(UNKNOWN + 1, Instant::millis);
            let until = query.until.map_or(i64::MAX, Instant::millis);
            sql.push_str(" AND active>=?2 AND active<?3");
            values.extend([Value::Integer(since), Value::Integer(until)]);
        }
        let mut next = values.len() + 1;
        if let Some(after) = &query.after {
            let place = self.place(scope, query.order, after)?;
            let (a, b, d, s) = (next, next + 1, next + 2, next + 3);
            // The first comparison finds the beginning in the index.
            sql.push_str(&match query.order {
                ConversationOrder::Name => format!(
                    " AND name>=?{a} AND (name, rest, dialect, session)>(?{a},?{b},?{d},?{s})"
                ),
                _ => format!(
                    " AND {column}<=?{a} AND ?{b} IS NOT NULL
                     AND ({column}<?{a} OR (dialect, session)>(?{d},?{s}))"
                ),
            });
            values.extend(place);
            next += 4;
        }
        sql.push_str(match query.order {
            ConversationOrder::Active => " ORDER BY active DESC, dialect, session, id",
            ConversationOrder::Created => " ORDER BY created DESC, dialect, session, id",
            ConversationOrder::Messages => " ORDER BY messages DESC, dialect, session, id",
            ConversationOrder::Size => " ORDER BY size DESC, dialect, session, id",
            ConversationOrder::Name => " ORDER BY name, rest, dialect, session, id",
        });
        if query.takes.is_none() {
            let most = query.offset.saturating_add(query.limit).saturating_add(1);
            sql.push_str(&format!(" LIMIT ?{next}"));
            values.push(Value::Integer(i64::try_from(most).unwrap_or(i64::MAX)));
        }
        Ok((sql, values))
    }

    /// What a page begins behind: two parts of the key, dialect and session.
    fn place(
        &self,
        scope: i64,
        order: ConversationOrder,
        after: &ConversationCursor,
    ) -> Result<[Value; 4]> {
        let (first, rest, session) = match after {
            ConversationCursor::Behind(key, session) => {
                (Value::Integer(*key), String::new(), session)
            }
            ConversationCursor::Session(session) => {
                let sql = format!(
                    "SELECT {}, rest FROM conversation WHERE session=?1 AND dialect=?2 AND scope=?3",
                    order.column()
                );
                let found = (self.db.prepare_cached(&sql))
                    .and_then(|mut one| {
                        let of = rusqlite::params![session.id, session.dialect, scope];
                        one.query_row(of, |row| Ok((row.get(0)?, row.get(1)?)))
                            .optional()
                    })
                    .map_err(|error| self.fault(error))?;
                let (first, rest) = found.ok_or_else(|| {
                    Error::new(ErrorKind::NotFound, format!("{session} is not in the list"))
                })?;
                (first, rest, session)
            }
        };
        Ok([
            first,
            Value::Text(rest),
            Value::Text(session.dialect.clone()),
            Value::Text(session.id.clone()),
        ])
    }
}

impl ConversationOrder {
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

/// A row whose checksum is right and whose columns say what it says.
fn verified(row: &Row<'_>) -> rusqlite::Result<Option<ConversationRow>> {
    let columns = Columns {
        dialect: row.get(0)?,
        session: row.get(1)?,
        active: row.get(2)?,
        created: row.get(3)?,
        messages: row.get(4)?,
        size: row.get(5)?,
        name: row.get(6)?,
        rest: row.get(7)?,
        hidden: row.get(8)?,
    };
    let facts = row.get_ref(9)?.as_blob().ok();
    let unpacked = facts.and_then(ConversationRow::unpack);
    Ok(unpacked.filter(|row| Columns::of(row) == columns))
}

fn damaged() -> Error {
    Error::new(
        ErrorKind::Damaged,
        "the row of a conversation in the catalog is damaged",
    )
}
