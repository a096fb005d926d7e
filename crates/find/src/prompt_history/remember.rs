//! Writes prompts into the agent's own history file, in its schema and by its rules: prompts are
//! trimmed, an empty prompt or one equal to the newest is skipped, and a concurrent writer is
//! waited for.

use std::path::Path;
use std::time::Duration;

use boswell_model::{Error, ErrorKind, Instant, Result};
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

use super::{fault, has_table};

/// How long to wait for another writer, as the agent does.
const PATIENCE: Duration = Duration::from_secs(5);

const DEFAULT: &str = "CAST(strftime('%s','now') AS INTEGER)";

/// Returns whether there is a regular file that could be an agent's history. A symbolic link is not
/// followed: its target is not ours to write.
pub fn has_history(database: &Path) -> bool {
    std::fs::symlink_metadata(database).is_ok_and(|found| found.is_file())
}

/// Adds a prompt to an agent's history. A missing database is created, which `append` prevents with
/// [`has_history`]. Returns whether the prompt was added: an empty one, or one equal to the newest,
/// is not.
pub fn remember(database: &Path, prompt: &str, project: Option<&str>, at: Instant) -> Result<bool> {
    Ok(remember_all(database, &[prompt], project, at)? > 0)
}

/// As [`remember`], for several prompts in one transaction. Returns how many were added.
pub fn remember_all(
    database: &Path,
    prompts: &[&str],
    project: Option<&str>,
    at: Instant,
) -> Result<usize> {
    let prompts: Vec<&str> = prompts
        .iter()
        .map(|prompt| prompt.trim())
        .filter(|prompt| !prompt.is_empty())
        .collect();
    if prompts.is_empty() {
        return Ok(0);
    }
    let fault = |error| fault(database, error);
    let mut db = open(database).map_err(fault)?;
    let transaction = db
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .map_err(fault)?;
    prepare(&transaction).map_err(|error| match error {
        rusqlite::Error::InvalidQuery => another_kind(database),
        error => fault(error),
    })?;
    let mut newest: Option<String> = transaction
        .query_row(
            "SELECT prompt FROM history ORDER BY id DESC LIMIT 1",
            [],
            |row| row.get(0),
        )
        .optional()
        .map_err(fault)?;
    let mut added = 0;
    for prompt in prompts {
        if newest.as_deref() == Some(prompt) {
            continue;
        }
        transaction
            .execute(
                "INSERT INTO history(prompt, created_at, cwd) VALUES (?1, ?2, ?3)",
                params![prompt, at.millis().div_euclid(1000), project],
            )
            .map_err(fault)?;
        newest = Some(prompt.to_owned());
        added += 1;
    }
    transaction.commit().map_err(fault)?;
    Ok(added)
}

fn open(database: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(database, flags)?;
    db.busy_timeout(PATIENCE)?;
    db.execute_batch("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL")?;
    Ok(db)
}

fn another_kind(database: &Path) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!(
            "the prompt history `{}` is of another kind",
            database.display()
        ),
    )
    .because("its table keeps each prompt once, as today's oh-my-pi has it")
    .advising("let the agent record its prompts itself")
}

/// Creates table, index, full-text table and trigger as xcsh does. A table whose default needs a
/// newer SQLite is rebuilt with the same ids.
fn prepare(db: &Connection) -> rusqlite::Result<()> {
    let table = |name: &str| {
        format!(
            "CREATE TABLE {name}(id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL, \
             created_at INTEGER NOT NULL DEFAULT ({DEFAULT}), cwd TEXT);"
        )
    };
    if !has_table(db, "history")? {
        db.execute_batch(&table("history"))?;
    } else if definition(db, "history")?
        .to_ascii_uppercase()
        .contains("UNIQUE")
    {
        // The current oh-my-pi stores each prompt once, with more columns and other rules.
        return Err(rusqlite::Error::InvalidQuery);
    } else if definition(db, "history")?.contains("unixepoch(") {
        // Dropping the table drops the trigger, which is created again below.
        db.execute_batch(&format!(
            "{} INSERT INTO history_new(id, prompt, created_at, cwd) SELECT id, prompt, created_at, cwd FROM history ORDER BY id;
             DROP TABLE history; ALTER TABLE history_new RENAME TO history;",
            table("history_new")
        ))?;
    }
    let had_text = has_table(db, "history_fts")?;
    db.execute_batch(
        "CREATE INDEX IF NOT EXISTS idx_history_created_at ON history(created_at DESC);
         CREATE VIRTUAL TABLE IF NOT EXISTS history_fts USING fts5(prompt, content='history', content_rowid='id');
         CREATE TRIGGER IF NOT EXISTS history_ai AFTER INSERT ON history BEGIN
           INSERT INTO history_fts(rowid, prompt) VALUES (new.id, new.prompt);
         END;",
    )?;
    if !had_text {
        db.execute_batch("INSERT INTO history_fts(history_fts) VALUES('rebuild')")?;
    }
    Ok(())
}

pub(super) fn definition(db: &Connection, name: &str) -> rusqlite::Result<String> {
    db.query_row(
        "SELECT sql FROM sqlite_master WHERE name = ?1",
        [name],
        |row| row.get(0),
    )
}
