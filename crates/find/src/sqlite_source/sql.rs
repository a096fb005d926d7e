//! Pieces of queries, and the values that they return.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use boswell_dialect::{Cell, Column, RowSelect};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::types::{Value, ValueRef};

/// The direction of every column in the order of a query. No quoted name contains it.
pub(super) const ASCENDING: &str = "\x20ASC";

/// A connection to a state of a database that does not change, with the columns of its tables.
#[derive(Debug)]
pub(super) struct Database {
    pub(super) connection: Connection,
    /// Asking for the columns costs as much as a small row, and every message asks for them.
    columns: RefCell<HashMap<String, Arc<[String]>>>,
}

impl Database {
    /// Takes a connection on which no statement was prepared yet.
    pub(super) fn new(connection: Connection) -> rusqlite::Result<Database> {
        // Otherwise SQLite plans a stored query again for each value of its parameters, which took
        // half of the time of reading.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(Database {
            connection,
            columns: RefCell::default(),
        })
    }

    /// Returns the columns of a table; none if there is no such table.
    pub(super) fn columns(&self, table: &str) -> rusqlite::Result<Arc<[String]>> {
        if let Some(known) = self.columns.borrow().get(table) {
            return Ok(Arc::clone(known));
        }
        let mut statement = self
            .connection
            .prepare_cached("SELECT name FROM pragma_table_info(?1)")?;
        let names = statement.query_map([table], |row| row.get(0))?;
        let names: Arc<[String]> = names.collect::<rusqlite::Result<_>>()?;
        self.columns
            .borrow_mut()
            .insert(table.to_owned(), Arc::clone(&names));
        Ok(names)
    }

    /// Returns the rest of a query from `FROM` on, with its values; `None` if the table or the
    /// column of the filter does not exist.
    pub(super) fn clause(
        &self,
        select: &RowSelect<'_>,
    ) -> rusqlite::Result<Option<(String, Vec<String>)>> {
        let known = self.columns(select.table)?;
        let is_known = |column: &str| known.iter().any(|it| it == column);
        if known.is_empty() || select.only.is_some_and(|(column, _)| !is_known(column)) {
            return Ok(None);
        }
        let mut clause = format!("FROM {}", quoted(select.table));
        let mut values = Vec::new();
        if let Some((column, value)) = select.only {
            clause.push_str(&format!(" WHERE {} = ?1", quoted(column)));
            values.push(value.to_owned());
        }
        let sorted = select.order.iter().filter(|column| is_known(column));
        let mut order: Vec<String> = sorted
            .map(|column| format!("{}{ASCENDING}", quoted(column)))
            .collect();
        order.push(format!("rowid{ASCENDING}"));
        clause.push_str(&format!(" ORDER BY {}", order.join(", ")));
        Ok(Some((clause, values)))
    }
}

/// Returns the columns of a row, without a copy.
pub(super) fn in_place<'r>(row: &'r rusqlite::Row<'_>) -> rusqlite::Result<Vec<Column<'r>>> {
    let statement: &rusqlite::Statement<'_> = row.as_ref();
    let count = statement.column_count();
    let mut columns = Vec::with_capacity(count);
    for at in 0..count {
        let cell = match row.get_ref(at)? {
            ValueRef::Null => Cell::Null,
            ValueRef::Integer(number) => Cell::Integer(number),
            ValueRef::Real(number) => Cell::Real(number),
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Cell::Text(text),
                Err(_) => Cell::Bytes(bytes),
            },
            ValueRef::Blob(bytes) => Cell::Bytes(bytes),
        };
        columns.push((statement.column_name(at)?, cell));
    }
    Ok(columns)
}

/// Quotes a name so that SQLite never takes it for a text, as it does with double quotes.
pub(super) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Copies a value. Text that is not UTF-8 becomes bytes.
pub(super) fn value(from: ValueRef<'_>) -> Value {
    match from {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Value::Text(text.to_owned()),
            Err(_) => Value::Blob(bytes.to_vec()),
        },
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}

pub(super) fn cell(value: &Value) -> Cell<'_> {
    match value {
        Value::Null => Cell::Null,
        Value::Integer(number) => Cell::Integer(*number),
        Value::Real(number) => Cell::Real(*number),
        Value::Text(text) => Cell::Text(text),
        Value::Blob(bytes) => Cell::Bytes(bytes),
    }
}
