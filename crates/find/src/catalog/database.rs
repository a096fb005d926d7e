//! The SQLite file of the catalog. It is recreated if it is damaged or of another version.

use std::path::{Path, PathBuf};
use std::time::Duration;

use boswell_model::{Error, ErrorKind, Result};
use rusqlite::Connection;

/// Format version; a catalog with another number is recreated.
const VERSION: i64 = 10;
/// How long another process may lock the file before it is not used.
pub(super) const PATIENCE: Duration = Duration::from_millis(1500);

const SCHEMA: &str = "
CREATE TABLE store(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE session(
  id INTEGER PRIMARY KEY,
  store INTEGER NOT NULL,
  place TEXT NOT NULL,
  dialect TEXT NOT NULL,
  name TEXT NOT NULL,
  dev INTEGER NOT NULL, ino INTEGER NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL,
  digest INTEGER NOT NULL,
  young INTEGER NOT NULL,
  head INTEGER NOT NULL, tail INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  upto INTEGER NOT NULL,
  gone INTEGER NOT NULL,
  rev INTEGER NOT NULL,
  glance BLOB,
  UNIQUE(store, place)
);
CREATE INDEX session_by_rev ON session(rev);
CREATE TABLE clock(rev INTEGER NOT NULL);
INSERT INTO clock VALUES(0);
CREATE TABLE roll(store INTEGER NOT NULL, part INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY(store, part));
CREATE TABLE kept(session INTEGER PRIMARY KEY, facts BLOB NOT NULL);
CREATE TABLE usage(session INTEGER PRIMARY KEY, items BLOB NOT NULL);
CREATE TABLE account(session INTEGER PRIMARY KEY, state INTEGER NOT NULL, head BLOB NOT NULL, sums BLOB NOT NULL);
CREATE TABLE claim(session INTEGER PRIMARY KEY, keys BLOB NOT NULL);
CREATE TABLE shared(key INTEGER NOT NULL, session INTEGER NOT NULL, item BLOB NOT NULL, PRIMARY KEY(key, session)) WITHOUT ROWID;
CREATE TABLE scope(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  rev INTEGER NOT NULL, notes INTEGER NOT NULL, as_of INTEGER, used INTEGER NOT NULL,
  shown INTEGER NOT NULL DEFAULT 0, hidden INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE scope_store(scope INTEGER NOT NULL, store INTEGER NOT NULL, PRIMARY KEY(scope, store)) WITHOUT ROWID;
CREATE TABLE conversation(
  id INTEGER PRIMARY KEY,
  scope INTEGER NOT NULL,
  dialect TEXT NOT NULL, session TEXT NOT NULL,
  active INTEGER NOT NULL, created INTEGER NOT NULL, messages INTEGER NOT NULL, size INTEGER NOT NULL,
  name TEXT NOT NULL,
  hidden INTEGER NOT NULL,
  notes INTEGER NOT NULL,
  facts BLOB NOT NULL
);
CREATE INDEX conversation_by_notes ON conversation(id) WHERE notes<>0;
CREATE TABLE side(id INTEGER PRIMARY KEY, conversation INTEGER NOT NULL);
CREATE INDEX side_by_conversation ON side(conversation);
CREATE TABLE link(id INTEGER NOT NULL, alias INTEGER NOT NULL, dialect TEXT NOT NULL, name TEXT NOT NULL);
CREATE INDEX link_by_id ON link(id);
CREATE INDEX link_by_name ON link(name);
CREATE TABLE beside(id INTEGER PRIMARY KEY, sum INTEGER NOT NULL);
";

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
pub(super) fn open(path: &Path) -> Result<Connection> {
    match attempt(path) {
        Err(error) if matches!(error.kind(), ErrorKind::Damaged | ErrorKind::TooNew) => {
            remove(path)?;
            attempt(path)
        }
        done => done,
    }
}

/// Opens a catalog in memory, which ends with the process.
pub(super) fn in_memory() -> Result<Connection> {
    let place = Path::new("catalog in memory");
    let db = Connection::open_in_memory().map_err(|error| fault(place, error))?;
    db.execute_batch(SCHEMA)
        .map_err(|error| fault(place, error))?;
    Ok(db)
}

/// Deletes the file and the files that SQLite creates next to it.
pub(super) fn remove(path: &Path) -> Result<()> {
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

fn attempt(path: &Path) -> Result<Connection> {
    make_private(path)?;
    let fault = |error| fault(path, error);
    let mut db = Connection::open(path).map_err(fault)?;
    db.busy_timeout(PATIENCE).map_err(fault)?;
    let version: i64 = db
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(fault)?;
    if version == 0 {
        use_write_ahead_log(&db).map_err(fault)?;
    }
    // Derived: losing the last change in a power failure costs nothing.
    db.execute_batch("PRAGMA synchronous=OFF; PRAGMA cache_size=-8000")
        .map_err(fault)?;
    if version == 0 {
        let tx = db
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
            .map_err(fault)?;
        let now: i64 = tx
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .map_err(fault)?;
        if now == 0 {
            tx.execute_batch(SCHEMA).map_err(fault)?;
            tx.execute_batch(&format!("PRAGMA user_version={VERSION}"))
                .map_err(fault)?;
        }
        tx.commit().map_err(fault)?;
    } else if version != VERSION {
        return Err(Error::new(
            ErrorKind::TooNew,
            format!("`{}` is of another version", path.display()),
        ));
    }
    Ok(db)
}

/// How often the switch to a write-ahead log is tried.
const SWITCHES: u32 = 20;

/// Switches a new database to a write-ahead log.
///
/// If several processes open a new catalog concurrently, SQLite fails the switch immediately
/// instead of calling the busy handler. An empty transaction does wait for the other process.
fn use_write_ahead_log(db: &Connection) -> rusqlite::Result<()> {
    // Page size counts only before the first page is written, and not inside a transaction.
    let switch = "PRAGMA page_size=8192; PRAGMA journal_mode=WAL";
    for _ in 0..SWITCHES {
        match db.execute_batch(switch) {
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {
                db.execute_batch("BEGIN IMMEDIATE; COMMIT")?;
            }
            done => return done,
        }
    }
    db.execute_batch(switch)
}

/// Derived files are as secret as their sources.
fn make_private(path: &Path) -> Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(path)
        .map(|_| ())
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
