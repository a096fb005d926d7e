//! Databases that are read: rows by a column and a value, without SQL.
//!
//! The store opens a database as a [`RowSource`]; `row_layout.rs` states how rows form a session.

use boswell_model::Result;

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
    /// A number that is 0 without rows and grows with them: their number, or the key of the newest.
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

    /// Passes the selected rows to `sink`, in order. What was passed must be discarded if it fails.
    fn each(&self, select: &RowSelect<'_>, sink: &mut dyn FnMut(&[Column<'_>])) -> Result<()> {
        for key in self.keys(select)? {
            self.row(select.table, key, sink)?;
        }
        Ok(())
    }

    /// Returns the state of the selected rows. `changed` is a column that grows whenever a row is
    /// changed in place, if the table has one. Costs time for every selected row.
    fn stamp(&self, select: &RowSelect<'_>, changed: Option<&str>) -> Result<RowStamp>;

    /// Returns the state of the last of the selected rows in their order: its key and the values of
    /// `columns`. With an index for the order, other rows cost nothing.
    fn newest(&self, select: &RowSelect<'_>, columns: &[&str]) -> Result<RowStamp> {
        let Some(key) = self.keys(select)?.pop() else {
            return Ok(RowStamp::default());
        };
        let mut stamp = RowStamp::default();
        self.row(select.table, key, &mut |row| {
            let wanted = row.iter().filter(|(name, _)| columns.contains(name));
            stamp = RowStamp::of_row(key, wanted.map(|(_, cell)| *cell));
        })?;
        Ok(stamp)
    }

    /// Returns the keys of selected rows whose `column` names no row of the table `owners`, by its
    /// column `id`.
    fn unowned(
        &self,
        select: &RowSelect<'_>,
        column: &str,
        (owners, id): (&str, &str),
    ) -> Result<Vec<RowKey>> {
        let mut unowned = Vec::new();
        for key in self.keys(select)? {
            let mut owner = None;
            self.row(select.table, key, &mut |row| owner = text_of(row, column))?;
            let owned = match &owner {
                Some(owner) => {
                    let select = RowSelect {
                        table: owners,
                        only: Some((id, owner)),
                        order: &[],
                    };
                    !self.keys(&select)?.is_empty()
                }
                None => false,
            };
            unowned.extend((!owned).then_some(key));
        }
        Ok(unowned)
    }

    /// Runs `read`, whose reads are checked together, once, which is faster. What was read must be
    /// discarded if it fails.
    fn batch(&self, read: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        read()
    }
}

impl RowStamp {
    /// Returns the stamp of one row.
    pub fn of_row<'c>(key: RowKey, cells: impl Iterator<Item = Cell<'c>>) -> RowStamp {
        let mut text = Vec::new();
        for cell in cells {
            // `Debug` distinguishes a number from its text, and nothing else reads this.
            text.extend_from_slice(format!("{cell:?},").as_bytes());
        }
        let start = fnv(0xcbf2_9ce4_8422_2325, &key.0.to_le_bytes());
        RowStamp {
            rows: key.0.max(1).cast_unsigned(),
            state: fnv(start, &text),
        }
    }
}

/// FNV-1a.
fn fnv(start: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(start, |state, byte| {
        (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Returns the text of a column that is not empty.
pub(crate) fn text_of(columns: &[Column<'_>], name: &str) -> Option<String> {
    columns.iter().find_map(|(column, cell)| match cell {
        Cell::Text(text) if *column == name && !text.is_empty() => Some((*text).to_owned()),
        _ => None,
    })
}
