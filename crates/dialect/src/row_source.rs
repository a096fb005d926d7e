//! Sessions that are rows of a database, read only.
//!
//! A dialect over rows states in its facts which tables make up a session ([`RowLayout`]). The
//! store opens the database as a [`RowSource`] and presents each row as one line of JSON, in the
//! order of the layout, so that heads, tree, context and export work as they do for a log. There is
//! no SQL here: a source finds rows by a column and a value.

use boswell_model::Result;
use boswell_model::json::{Print, Raw, write_string};

/// The member of a record that names the table of its row. No column can have this name unquoted.
pub const TABLE: &str = "$table";

/// A value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Null,
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Real(f64),
    /// Text. A value that is not UTF-8 is returned as [`Cell::Bytes`].
    Text(&'a str),
    /// Bytes that are not text.
    Bytes(&'a [u8]),
}

/// A column of a row: its name and its value.
pub type Column<'a> = (&'a str, Cell<'a>);

/// The key by which an open source finds a row again, such as SQLite's `rowid`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowKey(pub i64);

/// A selection of rows, and their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowSelect<'a> {
    /// The table. A table that does not exist has no rows.
    pub table: &'a str,
    /// Selects rows whose column has this text as its value; `None` selects every row.
    pub only: Option<(&'a str, &'a str)>,
    /// Columns to sort by, the most significant first. Ties are sorted by row key.
    pub order: &'a [&'a str],
}

/// A token for one state of some rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowStamp {
    /// Number of rows.
    pub rows: u64,
    /// Differs when a row was added, removed or changed. Compare for equality only.
    pub state: u64,
}

/// A database that was opened for reading.
///
/// An open source shows one state of the database: later writes are not visible. For SQLite this is
/// one read transaction. Opening and reading change nothing in the file system.
pub trait RowSource: Send + std::fmt::Debug {
    /// Returns the names of the tables, sorted.
    fn tables(&self) -> Result<Vec<String>>;

    /// Returns the keys of the selected rows, in order.
    ///
    /// Keys instead of rows, so that a session of a gigabyte costs a few bytes per row.
    fn keys(&self, select: &RowSelect<'_>) -> Result<Vec<RowKey>>;

    /// Passes the columns of one row to `sink` in the order of the table; returns false if there is
    /// no such row.
    fn row(&self, table: &str, key: RowKey, sink: &mut dyn FnMut(&[Column<'_>])) -> Result<bool>;

    /// Returns the state of the selected rows without reading all of them. `changed` is a column
    /// that grows whenever a row is changed in place, if the table has one.
    fn stamp(&self, select: &RowSelect<'_>, changed: Option<&str>) -> Result<RowStamp>;
}

/// A table whose rows are records of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowTable {
    /// Name of the table.
    pub name: &'static str,
    /// The column with the id of the session.
    pub session: &'static str,
    /// The columns that order the rows of one session.
    pub order: &'static [&'static str],
    /// Columns whose text is JSON: they become values of the record instead of strings.
    pub json: &'static [&'static str],
    /// The column that grows whenever a row is changed in place.
    pub changed: Option<&'static str>,
}

/// How rows form a session: all its rows of the first table, then those of the second, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowLayout {
    /// The tables in the order of their records.
    pub tables: &'static [RowTable],
}

impl RowTable {
    /// Returns the selection of the rows of one session.
    pub fn of_session<'a>(&self, id: &'a str) -> RowSelect<'a> {
        RowSelect {
            table: self.name,
            only: Some((self.session, id)),
            order: self.order,
        }
    }

    /// Appends a row as one JSON object on one line: the table's name, then every column.
    pub fn write_record(&self, columns: &[Column<'_>], out: &mut Vec<u8>) {
        out.push(b'{');
        write_string(TABLE.as_bytes(), out);
        out.push(b':');
        self.name.print(out);
        for (name, cell) in columns {
            out.push(b',');
            write_string(name.as_bytes(), out);
            out.push(b':');
            self.write_cell(name, *cell, out);
        }
        out.push(b'}');
    }

    fn write_cell(&self, name: &str, cell: Cell<'_>, out: &mut Vec<u8>) {
        match cell {
            Cell::Null => out.extend_from_slice(b"null"),
            Cell::Integer(number) => number.print(out),
            Cell::Real(number) => number.print(out),
            Cell::Text(text) if self.json.contains(&name) && is_json(text) => {
                // In valid JSON a line end occurs only between tokens, because strings escape it.
                // It would end the record's line, so it becomes a space.
                let one_line = text.bytes().map(|byte| match byte {
                    b'\n' | b'\r' => b' ',
                    byte => byte,
                });
                out.extend(one_line);
            }
            Cell::Text(text) => text.print(out),
            // Not decoded: no agent stores its conversation in binary columns.
            Cell::Bytes(bytes) => {
                out.extend_from_slice(b"{\"bytes\":");
                (bytes.len() as u64).print(out);
                out.push(b'}');
            }
        }
    }
}

impl RowLayout {
    /// Returns the key of a session in a database. An id with a `#` is not supported.
    pub fn key(database: &str, id: &str) -> String {
        format!("{database}#{id}")
    }

    /// Returns the database and the id of a key; `None` for the key of a file.
    pub fn split(key: &str) -> Option<(&str, &str)> {
        key.rsplit_once('#')
            .filter(|(database, id)| !database.is_empty() && !id.is_empty())
    }

    /// Returns the state of a session: that of its rows in all tables.
    ///
    /// # Errors
    ///
    /// If the source cannot be read.
    pub fn stamp(&self, source: &dyn RowSource, id: &str) -> Result<RowStamp> {
        let mut whole = RowStamp::default();
        for table in self.tables {
            let stamp = source.stamp(&table.of_session(id), table.changed)?;
            whole.rows += stamp.rows;
            // FNV-1a over the states of the tables: their order matters.
            whole.state = (whole.state ^ stamp.state).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(whole)
    }
}

fn is_json(text: &str) -> bool {
    Raw::parse(text.as_bytes()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: RowTable = RowTable {
        name: "message",
        session: "session_id",
        order: &[],
        json: &["data"],
        changed: None,
    };

    fn record(columns: &[Column<'_>]) -> String {
        let mut out = Vec::new();
        TABLE.write_record(columns, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_row_is_one_line_of_json() {
        let columns = [
            ("id", Cell::Text("m\n1")),
            ("time", Cell::Integer(-5)),
            ("cost", Cell::Real(0.5)),
            ("odd", Cell::Real(f64::INFINITY)),
            ("gone", Cell::Null),
            ("data", Cell::Text("{\"a\":\n [1,\r\n 2.50]}")),
            ("blob", Cell::Bytes(&[1, 2, 3])),
        ];
        let text = record(&columns);
        assert_eq!(
            text,
            "{\"$table\":\"message\",\"id\":\"m\\n1\",\"time\":-5,\"cost\":0.5,\"odd\":null,\
             \"gone\":null,\"data\":{\"a\":  [1,   2.50]},\"blob\":{\"bytes\":3}}"
        );
        assert!(Raw::parse(text.as_bytes()).is_ok());
    }

    #[test]
    fn text_that_should_be_json_and_is_not_stays_text() {
        let text = record(&[("data", Cell::Text("{\"a\":")), ("x", Cell::Text("{}"))]);
        assert_eq!(
            text,
            "{\"$table\":\"message\",\"data\":\"{\\\"a\\\":\",\"x\":\"{}\"}"
        );
    }

    #[test]
    fn keys_of_sessions_name_database_and_id() {
        let key = RowLayout::key("a/b.db", "s1");
        assert_eq!(RowLayout::split(&key), Some(("a/b.db", "s1")));
        assert_eq!(RowLayout::split("a/b.db"), None);
        assert_eq!(RowLayout::split("a/b.db#"), None);
        assert_eq!(RowLayout::split("#s1"), None);
    }
}
