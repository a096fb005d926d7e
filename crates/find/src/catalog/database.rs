//! The SQLite file of the catalog. It is recreated if it is damaged or of another version.

use std::path::{Path, PathBuf};
use std::time::Duration;

use boswell_model::{Error, ErrorKind, Result};
use rusqlite::Connection;

use super::schema;
use super::seal::Seal;

/// Format version; a catalog with another number is recreated.
const VERSION: i64 = 10;
/// How long another process may lock the file before it is not used.
pub(super) const PATIENCE: Duration = Duration::from_millis(1500);

/// The indexes of conversations. They are made once the first scope is complete: entering each row
/// of a new catalog into six indexes takes longer than sorting the rows once for each.
pub(super) const CONVERSATION_INDEXES: &str = "
CREATE INDEX IF NOT EXISTS conversation_by_active ON conversation(scope, active, dialect, session, hidden);
CREATE INDEX IF NOT EXISTS conversation_by_created ON conversation(scope, created, dialect, session, hidden, active);
CREATE INDEX IF NOT EXISTS conversation_by_messages ON conversation(scope, messages, dialect, session, hidden, active);
CREATE INDEX IF NOT EXISTS conversation_by_size ON conversation(scope, size, dialect, session, hidden, active);
CREATE INDEX IF NOT EXISTS conversation_by_name ON conversation(scope, name, dialect, session, hidden, active);
CREATE INDEX IF NOT EXISTS conversation_by_session ON conversation(session);
";

/// Removes all conversations with their indexes, which are made again as for a new catalog.
pub(super) const WITHOUT_CONVERSATIONS: &str = "
DROP INDEX IF EXISTS conversation_by_active;
DROP INDEX IF EXISTS conversation_by_created;
DROP INDEX IF EXISTS conversation_by_messages;
DROP INDEX IF EXISTS conversation_by_size;
DROP INDEX IF EXISTS conversation_by_name;
DROP INDEX IF EXISTS conversation_by_session;
DELETE FROM conversation; DELETE FROM side; DELETE FROM link; DELETE FROM beside;
DELETE FROM scope_store; DELETE FROM scope;
";

/// Opens or creates the file. A damaged one, or one of another version, is deleted first.
pub(super) fn open(path: &Path) -> Result<(Connection, Seal)> {
    let seal = Seal::open(path)?;
    match attempt(path, &seal) {
        Err(error) if is_useless(&error) => {
            let lock = seal.lock(PATIENCE)?;
            // Another process may have replaced the file since.
            let db = match connect(path).and_then(|db| check(path, &db).map(|()| db)) {
                Err(error) if is_useless(&error) => recreate(path),
                done => done,
            }?;
            lock.record();
            drop(lock);
            Ok((db, seal))
        }
        done => done.map(|db| (db, seal)),
    }
}

fn is_useless(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Damaged | ErrorKind::TooNew)
}

/// Opens a catalog in memory, which ends with the process.
pub(super) fn in_memory() -> Result<Connection> {
    let place = Path::new("catalog in memory");
    let fault = |error| fault(place, error);
    let db = Connection::open_in_memory().map_err(fault)?;
    schema::add_row_crc(&db).map_err(fault)?;
    schema::create(&db).map_err(fault)?;
    Ok(db)
}

/// Deletes the file and creates a new one. The caller holds the lock of the seal.
pub(super) fn recreate(path: &Path) -> Result<Connection> {
    remove(path)?;
    create(path)
}

/// Deletes the file and the files that SQLite creates next to it.
fn remove(path: &Path) -> Result<()> {
    for ending in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        match std::fs::remove_file(PathBuf::from(&name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io(path.display(), "remove the damaged", error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Opens the file; a new one gets its tables. A file that another program changed is checked.
fn attempt(path: &Path, seal: &Seal) -> Result<Connection> {
    let db = connect(path)?;
    if seal.is_intact() {
        return check_version(path, &db).map(|()| db);
    }
    let lock = seal.lock(PATIENCE)?;
    // A process that wrote the file may have recorded its state since.
    if !seal.is_intact() {
        if version(path, &db)? == 0 {
            drop(db);
            let db = create(path)?;
            lock.record();
            return Ok(db);
        }
        check(path, &db)?;
        lock.record();
    }
    check_version(path, &db).map(|()| db)
}

/// Creates the tables in a file without any. The caller holds the lock of the seal.
fn create(path: &Path) -> Result<Connection> {
    let fault = |error| fault(path, error);
    let mut db = connect(path)?;
    // Page size counts only before the first page is written, and not inside a transaction. An
    // empty file may be left from a process that was killed.
    db.execute_batch("PRAGMA page_size=8192").map_err(fault)?;
    let tx = db.transaction().map_err(fault)?;
    schema::create(&tx).map_err(fault)?;
    tx.execute_batch(&format!("PRAGMA user_version={VERSION}"))
        .map_err(fault)?;
    tx.commit().map_err(fault)?;
    Ok(db)
}

/// Opens a connection.
///
/// Changes are journaled by SQLite's rollback journal. A write-ahead log would let readers continue
/// during a write, but its index is a file that every process maps into memory: a process is killed
/// by SIGBUS if another program truncates that file.
fn connect(path: &Path) -> Result<Connection> {
    open_private(path)?;
    let fault = |error| fault(path, error);
    let db = Connection::open(path).map_err(fault)?;
    db.busy_timeout(PATIENCE).map_err(fault)?;
    schema::add_row_crc(&db).map_err(fault)?;
    // Derived: losing the last change in a power failure costs nothing.
    db.execute_batch(
        "PRAGMA mmap_size=0; PRAGMA synchronous=OFF; PRAGMA cache_size=-8000; \
         PRAGMA cell_size_check=ON",
    )
    .map_err(fault)?;
    Ok(db)
}

fn version(path: &Path, db: &Connection) -> Result<i64> {
    db.query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(|error| fault(path, error))
}

fn check_version(path: &Path, db: &Connection) -> Result<()> {
    if version(path, db)? == VERSION {
        return Ok(());
    }
    let what = format!("`{}` is of another version", path.display());
    Err(Error::new(ErrorKind::TooNew, what))
}

/// Checks version, structure and every row.
pub(super) fn check(path: &Path, db: &Connection) -> Result<()> {
    check_version(path, db)?;
    match schema::is_sound(db) {
        Ok(true) => Ok(()),
        Ok(false) => Err(damaged(path)),
        Err(error) => Err(fault(path, error)),
    }
}

/// The error of a file with a wrong checksum.
pub(super) fn damaged(path: &Path) -> Error {
    Error::new(
        ErrorKind::Damaged,
        format!("the catalog `{}` is damaged", path.display()),
    )
}

/// Opens a file for reading and writing, and creates it if it is missing. Only the owner may read
/// it: derived files are as secret as their sources.
pub(super) fn open_private(path: &Path) -> Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(path)
        .map_err(|error| Error::io(path.display(), "open", error))
}

/// Converts an error of SQLite.
pub(super) fn fault(path: &Path, error: rusqlite::Error) -> Error {
    use rusqlite::ErrorCode as Code;
    let kind = match error.sqlite_error_code() {
        Some(Code::DatabaseBusy | Code::DatabaseLocked) => ErrorKind::Busy,
        Some(Code::NotADatabase | Code::DatabaseCorrupt) => ErrorKind::Damaged,
        Some(Code::DiskFull) => ErrorKind::NoSpace,
        Some(Code::ReadOnly | Code::CannotOpen | Code::PermissionDenied) => ErrorKind::Denied,
        Some(Code::SystemIoFailure) if is_short(&error) => ErrorKind::Damaged,
        Some(Code::SystemIoFailure) => ErrorKind::Unavailable,
        // A missing table or column: the file of another program under our name.
        _ => ErrorKind::Damaged,
    };
    Error::new(
        kind,
        format!("the catalog `{}` cannot be used", path.display()),
    )
    .caused_by(error)
}

/// Whether a page could not be read because the file ends before it.
fn is_short(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    code == Some(rusqlite::ffi::SQLITE_IOERR_SHORT_READ)
}
