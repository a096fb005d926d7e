//! A database in memory, and a backend with databases and files.

use std::collections::BTreeMap;

use boswell_dialect::{Cell, Column, FileInfo, FileKind, RowKey, RowSelect, RowSource, RowStamp};
use boswell_model::Result;
use boswell_store::backend::{Backend, MemoryBackend, ObjectReader};

/// A stored value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredCell {
    /// No value.
    Null,
    /// A whole number.
    Integer(i64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// The columns of a row.
type Columns = Vec<(String, StoredCell)>;

/// Tables in memory. A clone is a snapshot: it does not see later changes.
#[derive(Clone, Debug, Default)]
pub struct MemoryRows {
    tables: BTreeMap<String, BTreeMap<i64, Columns>>,
    /// Number of changes in place, for the stamp.
    changes: BTreeMap<(String, i64), u64>,
}

impl MemoryRows {
    /// Adds a row after the others of its table, which is created if it is missing.
    pub fn insert(&mut self, table: &str, columns: &[(&str, StoredCell)]) -> RowKey {
        let rows = self.tables.entry(table.to_owned()).or_default();
        let key = rows.last_key_value().map_or(1, |(last, _)| last + 1);
        let owned = columns
            .iter()
            .map(|(name, cell)| ((*name).to_owned(), cell.clone()));
        rows.insert(key, owned.collect());
        RowKey(key)
    }

    /// Changes a column of a row in place.
    pub fn update(&mut self, table: &str, key: RowKey, column: &str, cell: StoredCell) {
        let row = self
            .tables
            .get_mut(table)
            .and_then(|rows| rows.get_mut(&key.0))
            .expect("a row that was inserted");
        let place = row.iter_mut().find(|(name, _)| name == column);
        place.expect("a column of the table").1 = cell;
        *self.changes.entry((table.to_owned(), key.0)).or_default() += 1;
    }

    /// Removes a row.
    pub fn remove(&mut self, table: &str, key: RowKey) {
        self.tables
            .get_mut(table)
            .and_then(|rows| rows.remove(&key.0));
    }

    /// Returns every row: its table, its key, and its number of columns.
    pub fn places(&self) -> Vec<(String, RowKey, usize)> {
        let rows = self.tables.iter().flat_map(|(table, rows)| {
            rows.iter()
                .map(move |(key, row)| (table.clone(), RowKey(*key), row.len()))
        });
        rows.collect()
    }

    /// Changes the nth column of a row in place.
    pub fn update_nth(&mut self, table: &str, key: RowKey, nth: usize, cell: StoredCell) {
        let column = self.tables[table][&key.0][nth].0.clone();
        self.update(table, key, &column, cell);
    }

    fn wanted<'s>(
        &'s self,
        select: &RowSelect<'_>,
    ) -> impl Iterator<Item = (i64, &'s Columns)> + use<'s> {
        let only = select
            .only
            .map(|(column, value)| (column.to_owned(), value.to_owned()));
        let belongs = move |row: &Columns| {
            only.as_ref().is_none_or(|(column, value)| {
                row.iter().any(|(name, cell)| {
                    name == column && matches!(cell, StoredCell::Text(text) if text == value)
                })
            })
        };
        let rows = self.tables.get(select.table).into_iter().flatten();
        rows.filter(move |(_, row)| belongs(row))
            .map(|(key, row)| (*key, row))
    }
}

impl RowSource for MemoryRows {
    fn tables(&self) -> Result<Vec<String>> {
        Ok(self.tables.keys().cloned().collect())
    }

    fn keys(&self, select: &RowSelect<'_>) -> Result<Vec<RowKey>> {
        let rank = |row: &Columns| -> Vec<(i64, String)> {
            let cell = |column: &&str| row.iter().find(|(name, _)| name == column);
            select
                .order
                .iter()
                .map(|column| match cell(column) {
                    Some((_, StoredCell::Integer(number))) => (*number, String::new()),
                    Some((_, StoredCell::Text(text))) => (i64::MAX, text.clone()),
                    _ => (i64::MIN, String::new()),
                })
                .collect()
        };
        let mut rows: Vec<_> = self
            .wanted(select)
            .map(|(key, row)| (rank(row), RowKey(key)))
            .collect();
        rows.sort();
        Ok(rows.into_iter().map(|(_, key)| key).collect())
    }

    fn row(&self, table: &str, key: RowKey, sink: &mut dyn FnMut(&[Column<'_>])) -> Result<bool> {
        let Some(row) = self.tables.get(table).and_then(|rows| rows.get(&key.0)) else {
            return Ok(false);
        };
        let columns: Vec<Column<'_>> = row
            .iter()
            .map(|(name, cell)| (name.as_str(), cell.borrowed()))
            .collect();
        sink(&columns);
        Ok(true)
    }

    fn stamp(&self, select: &RowSelect<'_>, _changed: Option<&str>) -> Result<RowStamp> {
        let mut stamp = RowStamp::default();
        for (key, _) in self.wanted(select) {
            let changes = self.changes.get(&(select.table.to_owned(), key));
            stamp.rows += 1;
            stamp.state = (stamp.state ^ key.cast_unsigned()).wrapping_mul(0x0100_0000_01b3)
                ^ changes.copied().unwrap_or(0);
        }
        Ok(stamp)
    }
}

impl StoredCell {
    /// Creates a text value.
    pub fn text(text: impl Into<String>) -> StoredCell {
        StoredCell::Text(text.into())
    }

    fn borrowed(&self) -> Cell<'_> {
        match self {
            StoredCell::Null => Cell::Null,
            StoredCell::Integer(number) => Cell::Integer(*number),
            StoredCell::Text(text) => Cell::Text(text),
            StoredCell::Bytes(bytes) => Cell::Bytes(bytes),
        }
    }
}

/// Files and databases in memory.
#[derive(Clone, Debug, Default)]
pub struct DatabaseBackend {
    /// The files.
    pub files: MemoryBackend,
    /// The databases, by their keys.
    pub databases: BTreeMap<String, MemoryRows>,
}

impl Backend for DatabaseBackend {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        let mut listed = self.files.list(folder)?;
        let databases = self.databases.keys();
        let here = databases.filter(|key| key.rsplit_once('/').map_or("", |it| it.0) == folder);
        listed.extend(here.map(|key| FileInfo {
            key: key.clone(),
            kind: FileKind::File,
            size: 0,
            modified: None,
            identity: None,
        }));
        listed.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(listed)
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        self.files.stat(key)
    }

    fn open(&self, key: &str) -> Result<Box<dyn ObjectReader>> {
        self.files.open(key)
    }

    fn rows(&self, key: &str) -> Result<Option<Box<dyn RowSource>>> {
        let rows = self.databases.get(key).cloned();
        Ok(rows.map(|rows| Box::new(rows) as Box<dyn RowSource>))
    }

    fn describe(&self, key: &str) -> String {
        self.files.describe(key)
    }
}
