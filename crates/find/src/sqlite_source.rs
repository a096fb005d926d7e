//! Reads the SQLite databases of agents and leaves no trace: no byte, time or side file changes,
//! also while the agent writes.
//!
//! SQLite itself leaves traces when it reads: a database in WAL mode that was closed cleanly gets a
//! `-wal` and a `-shm` file even with `mode=ro`, and beside a writer the `-shm` file changes. So:
//!
//! * Without a `-wal` file, or with an empty one, the database is opened with `immutable=1`.
//! * Otherwise it is opened with `mode=ro` and the VFS `unix-none`, which takes no locks, and
//!   `locking_mode=EXCLUSIVE` before the first read, which keeps the index of the WAL in memory.
//!
//! Neither way takes a lock, so a writer is not hindered and may change pages while they are read.
//! Therefore the state of the files is compared before and after each read. Until a row was handed
//! out, the database is opened again, and at last a copy of it; later, the caller has to start
//! again, because its rows are of an older state.

mod copy;
mod file_state;
mod sql;

use std::cell::{Cell as Mutable, RefCell};
use std::path::{Path, PathBuf};

use boswell_dialect::{Column, RowKey, RowSelect, RowSource, RowStamp};
use boswell_model::{Advice, Error, ErrorKind, Result};
use boswell_store::backend::OpenDatabase;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use copy::DatabaseCopy;
use file_state::FileState;
use sql::{ASCENDING, Database, cell, in_place, quoted, value};

/// How often a database is opened in place before it is copied.
const ATTEMPTS: usize = 3;

/// Opens databases of agents for reading.
#[derive(Debug, Clone)]
pub struct SqliteDatabases {
    /// The folder for copies of databases that do not hold still.
    copies: PathBuf,
}

impl SqliteDatabases {
    /// Creates an opener. Copies are made in a private folder below `copies`, only if they must be,
    /// and removed after use.
    pub fn new(copies: impl Into<PathBuf>) -> SqliteDatabases {
        SqliteDatabases {
            copies: copies.into(),
        }
    }
}

impl OpenDatabase for SqliteDatabases {
    fn open(&self, path: &Path) -> Result<Option<Box<dyn RowSource>>> {
        let Some(state) = FileState::of(path)? else {
            return Ok(None);
        };
        let opened = match must_be_copied(&state) {
            true => Opened::copied(path, &self.copies)?,
            false => Opened::in_place(path, state)?,
        };
        let source = SqliteSource {
            path: path.to_owned(),
            copies: self.copies.clone(),
            opened: RefCell::new(opened),
            has_served: Mutable::new(false),
            in_batch: Mutable::new(false),
        };
        // Reads the schema, so that what is no database is known now.
        source.read(|db| db.columns("sqlite_master").map(drop))?;
        Ok(Some(Box::new(source)))
    }
}

/// Whether a database cannot be read in place: only a writer can roll back what a crash left, and
/// only on Unix a WAL can be read without the file that its readers share.
fn must_be_copied(state: &FileState) -> bool {
    state.has_journal() || (state.has_wal() && !cfg!(unix))
}

/// A connection, and the state of the files that it reads.
#[derive(Debug)]
struct Opened {
    // Dropped before the copy that it reads.
    db: Database,
    /// `None` for a copy, which nobody else changes.
    state: Option<FileState>,
    _copy: Option<DatabaseCopy>,
}

impl Opened {
    fn in_place(path: &Path, state: FileState) -> Result<Opened> {
        let how = if state.has_wal() {
            "mode=ro&vfs=unix-none"
        } else {
            "immutable=1"
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(uri(path, how), flags);
        let db = db.map_err(|error| fault(path, error))?;
        // Before the first read: then SQLite keeps the index of the WAL in memory. A read
        // transaction keeps the state that was found.
        db.execute_batch("PRAGMA locking_mode=EXCLUSIVE; PRAGMA query_only=ON; BEGIN")
            .map_err(|error| fault(path, error))?;
        Ok(Opened {
            db: Database::new(db).map_err(|error| fault(path, error))?,
            state: Some(state),
            _copy: None,
        })
    }

    fn copied(path: &Path, copies: &Path) -> Result<Opened> {
        let copy = DatabaseCopy::of(path, copies)?;
        let db = Connection::open(copy.path()).and_then(Database::new);
        let db = db.map_err(|error| fault(path, error))?;
        Ok(Opened {
            db,
            state: None,
            _copy: Some(copy),
        })
    }

    /// Whether the files are as they were when they were opened.
    fn is_unchanged(&self, path: &Path) -> Result<bool> {
        match &self.state {
            Some(state) => Ok(FileState::of(path)?.as_ref() == Some(state)),
            None => Ok(true),
        }
    }

    /// Whether the state that was opened can still be read: a writer that only adds to the WAL
    /// leaves it as it was.
    fn is_readable(&self, path: &Path) -> Result<bool> {
        match &self.state {
            Some(state) => Ok(FileState::of(path)?.is_some_and(|now| state.is_kept_in(&now))),
            None => Ok(true),
        }
    }
}

/// An open database.
#[derive(Debug)]
struct SqliteSource {
    path: PathBuf,
    copies: PathBuf,
    opened: RefCell<Opened>,
    /// Whether the caller has seen rows, which are of the state that was opened.
    has_served: Mutable<bool>,
    /// Whether reads are checked together, at the end.
    in_batch: Mutable<bool>,
}

impl SqliteSource {
    /// Reads, and reads again if the files changed meanwhile.
    fn read<T>(&self, read: impl Fn(&Database) -> rusqlite::Result<T>) -> Result<T> {
        for attempt in 1.. {
            let opened = self.opened.borrow();
            let found = read(&opened.db);
            let is_good = match (self.in_batch.get(), self.has_served.get()) {
                (true, _) => true,
                (false, true) => opened.is_readable(&self.path)?,
                (false, false) => opened.is_unchanged(&self.path)?,
            };
            if is_good {
                return found.map_err(|error| fault(&self.path, error));
            }
            drop(opened);
            if self.has_served.get() {
                break;
            }
            self.reopen(attempt)?;
        }
        Err(self.changed())
    }

    fn changed(&self) -> Error {
        let what = format!("`{}` was changed while it was read", self.path.display());
        Error::new(ErrorKind::Conflict, what).advising(Advice::Retry)
    }

    /// Passes the first row of a query to the sink as it is in SQLite's memory; returns whether
    /// there is one. The caller discards it if the batch fails.
    fn first_row(
        &self,
        sql: &str,
        key: RowKey,
        sink: &mut dyn FnMut(&[Column<'_>]),
    ) -> Result<bool> {
        let opened = self.opened.borrow();
        let found = opened
            .db
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                let mut rows = statement.query([key.0])?;
                let Some(row) = rows.next()? else {
                    return Ok(false);
                };
                sink(&in_place(row)?);
                Ok(true)
            });
        found.map_err(|error| fault(&self.path, error))
    }

    fn reopen(&self, attempt: usize) -> Result<()> {
        let state = FileState::of(&self.path)?;
        let opened = match state {
            Some(state) if attempt < ATTEMPTS && !must_be_copied(&state) => {
                Opened::in_place(&self.path, state)?
            }
            _ => Opened::copied(&self.path, &self.copies)?,
        };
        *self.opened.borrow_mut() = opened;
        Ok(())
    }
}

impl RowSource for SqliteSource {
    fn tables(&self) -> Result<Vec<String>> {
        let sql = "SELECT name FROM sqlite_master WHERE type = 'table' \
                   AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
        self.read(|db| {
            let mut statement = db.connection.prepare(sql)?;
            let names = statement.query_map([], |row| row.get(0))?;
            names.collect()
        })
    }

    fn keys(&self, select: &RowSelect<'_>) -> Result<Vec<RowKey>> {
        let keys = self.read(|db| {
            let Some((clause, values)) = db.clause(select)? else {
                return Ok(Vec::new());
            };
            let mut statement = db.connection.prepare(&format!("SELECT rowid {clause}"))?;
            let keys = statement.query_map(rusqlite::params_from_iter(values), |row| {
                row.get(0).map(RowKey)
            })?;
            keys.collect()
        })?;
        self.has_served.set(true);
        Ok(keys)
    }

    fn row(&self, table: &str, key: RowKey, sink: &mut dyn FnMut(&[Column<'_>])) -> Result<bool> {
        let sql = format!("SELECT * FROM {} WHERE rowid = ?1", quoted(table));
        if self.in_batch.get() {
            return self.first_row(&sql, key, sink);
        }
        // Values are copied, because the sink must not see a row that is then read again.
        let found = self.read(|db| {
            let mut statement = db.connection.prepare_cached(&sql)?;
            let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
            let values = statement
                .query_row([key.0], |row| {
                    (0..names.len())
                        .map(|at| row.get_ref(at).map(value))
                        .collect::<rusqlite::Result<Vec<_>>>()
                })
                .optional()?;
            Ok(values.map(|values| (names, values)))
        })?;
        self.has_served.set(true);
        let Some((names, values)) = found else {
            return Ok(false);
        };
        let columns: Vec<Column<'_>> = (names.iter())
            .zip(&values)
            .map(|(name, value)| (name.as_str(), cell(value)))
            .collect();
        sink(&columns);
        Ok(true)
    }

    fn each(&self, select: &RowSelect<'_>, sink: &mut dyn FnMut(&[Column<'_>])) -> Result<()> {
        self.has_served.set(true);
        let sink = RefCell::new(sink);
        self.read(|db| {
            let Some((clause, values)) = db.clause(select)? else {
                return Ok(());
            };
            let mut statement = db
                .connection
                .prepare_cached(&format!("SELECT * {clause}"))?;
            let mut rows = statement.query(rusqlite::params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                (sink.borrow_mut())(&in_place(row)?);
            }
            Ok(())
        })
    }

    fn newest(&self, select: &RowSelect<'_>, columns: &[&str]) -> Result<RowStamp> {
        let found = self.read(|db| {
            let known = db.columns(select.table)?;
            let wanted = columns
                .iter()
                .filter(|it| known.iter().any(|name| name == *it));
            let wanted: String = wanted.map(|name| format!(", {}", quoted(name))).collect();
            let Some((clause, values)) = db.clause(select)? else {
                return Ok(None);
            };
            // The last row, found from the end of the index.
            let backwards = clause.replace(ASCENDING, " DESC");
            let sql = format!("SELECT rowid{wanted} {backwards} LIMIT 1");
            let mut statement = db.connection.prepare_cached(&sql)?;
            let stamp = statement.query_row(rusqlite::params_from_iter(values), |row| {
                let cells = in_place(row)?;
                let cells = cells.iter().skip(1).map(|(_, cell)| *cell);
                Ok(RowStamp::of_row(RowKey(row.get(0)?), cells))
            });
            stamp.optional()
        })?;
        Ok(found.unwrap_or_default())
    }

    fn unowned(
        &self,
        select: &RowSelect<'_>,
        column: &str,
        (owners, id): (&str, &str),
    ) -> Result<Vec<RowKey>> {
        self.has_served.set(true);
        self.read(|db| {
            let has = |table: &str, column: &str| -> rusqlite::Result<bool> {
                Ok(db.columns(table)?.iter().any(|it| it == column))
            };
            let Some((session, value)) = select.only else {
                return Ok(Vec::new());
            };
            if !has(select.table, session)? || !has(select.table, column)? || !has(owners, id)? {
                return Ok(Vec::new());
            }
            let sql = format!(
                "SELECT rowid FROM {table} AS child WHERE child.{session} = ?1 AND NOT EXISTS \
                 (SELECT 1 FROM {owners} AS owner WHERE owner.{id} = child.{column}) ORDER BY rowid",
                table = quoted(select.table),
                session = quoted(session),
                owners = quoted(owners),
                id = quoted(id),
                column = quoted(column),
            );
            let mut statement = db.connection.prepare_cached(&sql)?;
            let keys = statement.query_map([value], |row| row.get(0).map(RowKey))?;
            keys.collect()
        })
    }

    fn batch(&self, read: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        if self.in_batch.replace(true) {
            return read();
        }
        self.has_served.set(true);
        let done = read();
        self.in_batch.set(false);
        // An error may come from pages of two states.
        match self.opened.borrow().is_readable(&self.path)? {
            true => done,
            false => Err(self.changed()),
        }
    }

    fn stamp(&self, select: &RowSelect<'_>, changed: Option<&str>) -> Result<RowStamp> {
        let unordered = RowSelect {
            order: &[],
            ..*select
        };
        let found = self.read(|db| {
            let Some((clause, values)) = db.clause(&unordered)? else {
                return Ok(None);
            };
            let known = db.columns(select.table)?;
            let grows = changed.filter(|it| known.iter().any(|column| column == it));
            let grows = grows.map(quoted);
            let sum = grows.as_deref().unwrap_or("NULL");
            let sql = format!("SELECT count(*), total(rowid), max({sum}), total({sum}) {clause}");
            let numbers =
                db.connection
                    .query_row(&sql, rusqlite::params_from_iter(values), |row| {
                        let count: i64 = row.get(0)?;
                        let newest = format!("{:?}", row.get_ref(2)?);
                        let sums: (f64, f64) = (row.get(1)?, row.get(3)?);
                        Ok((count.cast_unsigned(), sums, newest))
                    })?;
            Ok(Some((numbers, grows.is_some())))
        })?;
        let Some(((rows, sums, newest), has_changed)) = found else {
            return Ok(RowStamp::default());
        };
        let mut state = format!("{rows} {sums:?} {newest}");
        if !has_changed {
            // A row may have been changed in place: then the file as a whole must be the same.
            state += &format!("{:?}", FileState::of(&self.path)?);
        }
        Ok(RowStamp {
            rows,
            state: u64::from(crc32fast::hash(state.as_bytes())) | 1 << 40,
        })
    }
}

/// Returns a `file:` URI with parameters.
fn uri(path: &Path, parameters: &str) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte));
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    format!("{uri}?{parameters}")
}

fn fault(path: &Path, error: rusqlite::Error) -> Error {
    use rusqlite::ErrorCode as Code;
    let path = path.display();
    let (kind, what) = match error.sqlite_error_code() {
        Some(Code::DatabaseBusy | Code::DatabaseLocked) => {
            (ErrorKind::Busy, format!("the database `{path}` is locked"))
        }
        Some(Code::ReadOnly | Code::CannotOpen | Code::PermissionDenied) => (
            ErrorKind::Denied,
            format!("the database `{path}` cannot be opened"),
        ),
        Some(Code::SystemIoFailure) => (
            ErrorKind::Unavailable,
            format!("the database `{path}` cannot be read"),
        ),
        _ => (
            ErrorKind::Damaged,
            format!("the database `{path}` is damaged"),
        ),
    };
    let advice = match kind {
        ErrorKind::Busy => Advice::RetryLater,
        _ => Advice::Plain("its agent can still use its other files".into()),
    };
    Error::new(kind, what).caused_by(error).advising(advice)
}

#[cfg(test)]
mod tests;
