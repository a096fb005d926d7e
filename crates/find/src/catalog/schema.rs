//! The tables of the catalog. Each row has a checksum, in a column that SQLite computes.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};

/// A table: its name, its columns, and what follows them.
type Table = (&'static str, &'static str, &'static str);

const TABLES: [Table; 15] = [
    (
        "store",
        "id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE",
        ")",
    ),
    (
        "session",
        "id INTEGER PRIMARY KEY, store INTEGER NOT NULL, place TEXT NOT NULL,
         dialect TEXT NOT NULL, name TEXT NOT NULL, dev INTEGER NOT NULL, ino INTEGER NOT NULL,
         size INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL,
         digest INTEGER NOT NULL, young INTEGER NOT NULL, head INTEGER NOT NULL,
         tail INTEGER NOT NULL, generation INTEGER NOT NULL, upto INTEGER NOT NULL,
         gone INTEGER NOT NULL, rev INTEGER NOT NULL, glance BLOB",
        ", UNIQUE(store, place))",
    ),
    ("clock", "rev INTEGER NOT NULL", ")"),
    (
        "roll",
        "store INTEGER NOT NULL, part INTEGER NOT NULL, bytes BLOB NOT NULL",
        ", PRIMARY KEY(store, part))",
    ),
    (
        "kept",
        "session INTEGER PRIMARY KEY, facts BLOB NOT NULL",
        ")",
    ),
    (
        "usage",
        "session INTEGER PRIMARY KEY, items BLOB NOT NULL",
        ")",
    ),
    (
        "account",
        "session INTEGER PRIMARY KEY, state INTEGER NOT NULL, head BLOB NOT NULL,
         sums BLOB NOT NULL",
        ")",
    ),
    (
        "claim",
        "session INTEGER PRIMARY KEY, keys BLOB NOT NULL",
        ")",
    ),
    (
        "shared",
        "key INTEGER NOT NULL, session INTEGER NOT NULL, item BLOB NOT NULL",
        ", PRIMARY KEY(key, session)) WITHOUT ROWID",
    ),
    (
        "scope",
        "id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, rev INTEGER NOT NULL,
         notes INTEGER NOT NULL, as_of INTEGER, used INTEGER NOT NULL,
         shown INTEGER NOT NULL DEFAULT 0, hidden INTEGER NOT NULL DEFAULT 0",
        ")",
    ),
    (
        "scope_store",
        "scope INTEGER NOT NULL, store INTEGER NOT NULL",
        ", PRIMARY KEY(scope, store)) WITHOUT ROWID",
    ),
    (
        "conversation",
        "id INTEGER PRIMARY KEY, scope INTEGER NOT NULL, dialect TEXT NOT NULL,
         session TEXT NOT NULL, active INTEGER NOT NULL, created INTEGER NOT NULL,
         messages INTEGER NOT NULL, size INTEGER NOT NULL, name TEXT NOT NULL,
         hidden INTEGER NOT NULL, notes INTEGER NOT NULL, facts BLOB NOT NULL",
        ")",
    ),
    (
        "side",
        "id INTEGER PRIMARY KEY, conversation INTEGER NOT NULL",
        ")",
    ),
    (
        "link",
        "id INTEGER NOT NULL, alias INTEGER NOT NULL, dialect TEXT NOT NULL, name TEXT NOT NULL",
        ")",
    ),
    (
        "beside",
        "id INTEGER PRIMARY KEY, sum INTEGER NOT NULL",
        ")",
    ),
];

const FIRST_INDEXES: &str = "
INSERT INTO clock VALUES(0);
CREATE INDEX session_by_rev ON session(rev);
CREATE INDEX conversation_by_notes ON conversation(id) WHERE notes<>0;
CREATE INDEX side_by_conversation ON side(conversation);
CREATE INDEX link_by_id ON link(id);
CREATE INDEX link_by_name ON link(name);
";

/// The checksum of a row of the table `session`, as an SQL expression: 1 if it is correct.
pub(super) const SESSION_IS_SOUND: &str = "crc IS row_crc('session', id, store, place, dialect, name, dev, ino, size, mtime, ctime, \
     digest, young, head, tail, generation, upto, gone, rev, glance)";
/// As [`SESSION_IS_SOUND`], for the table `scope`.
pub(super) const SCOPE_IS_SOUND: &str =
    "crc IS row_crc('scope', id, name, rev, notes, as_of, used, shown, hidden)";

/// Fails unless the column with a checksum expression is 1.
pub(super) fn sound(row: &Row<'_>, column: usize) -> rusqlite::Result<()> {
    match row.get(column)? {
        true => Ok(()),
        false => Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT),
            Some("a row does not agree with its checksum".to_owned()),
        )),
    }
}

/// Creates all tables in an empty database.
pub(super) fn create(db: &Connection) -> rusqlite::Result<()> {
    for (name, columns, rest) in TABLES {
        let crc = crc_of(name, columns);
        db.execute_batch(&format!(
            "CREATE TABLE {name}({columns}, crc INTEGER AS ({crc}) STORED{rest}"
        ))?;
    }
    db.execute_batch(FIRST_INDEXES)
}

/// Checks the whole file: its structure, that indexes agree with their tables, and the checksum of
/// every row. Returns whether all is sound.
pub(super) fn is_sound(db: &Connection) -> rusqlite::Result<bool> {
    let structure: String = db.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if structure != "ok" {
        return Ok(false);
    }
    for (name, columns, _) in TABLES {
        let crc = crc_of(name, columns);
        let sql = format!("SELECT 1 FROM {name} WHERE crc IS NOT {crc} LIMIT 1");
        if db.query_row(&sql, [], |_| Ok(())).optional()?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the call of `row_crc` for all columns of a table.
fn crc_of(name: &str, columns: &str) -> String {
    let names = columns
        .split(',')
        .filter_map(|column| column.split_whitespace().next());
    let names: Vec<&str> = names.collect();
    format!("row_crc('{name}', {})", names.join(", "))
}

/// Adds the function `row_crc` to a connection: the CRC-32 of its arguments with their types.
pub(super) fn add_row_crc(db: &Connection) -> rusqlite::Result<()> {
    // A schema may use the function in a generated column only if it is deterministic, and
    // `INNOCUOUS` also where the schema is not trusted.
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    db.create_scalar_function("row_crc", -1, flags, |values| Ok(row_crc(values)))
}

fn row_crc(values: &Context<'_>) -> i64 {
    let mut crc = crc32fast::Hasher::new();
    for at in 0..values.len() {
        match values.get_raw(at) {
            ValueRef::Null => crc.update(&[0]),
            ValueRef::Integer(number) => {
                crc.update(&[1]);
                crc.update(&number.to_le_bytes());
            }
            ValueRef::Real(number) => {
                crc.update(&[2]);
                crc.update(&number.to_le_bytes());
            }
            // Lengths come first, so that a byte cannot move from one column to the next.
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                crc.update(&[3]);
                crc.update(&(bytes.len() as u64).to_le_bytes());
                crc.update(bytes);
            }
        }
    }
    i64::from(crc.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checked_expressions_name_every_column() {
        for (name, columns, _) in TABLES {
            let expected = format!("crc IS {}", crc_of(name, columns));
            match name {
                "session" => assert_eq!(SESSION_IS_SOUND, expected),
                "scope" => assert_eq!(SCOPE_IS_SOUND, expected),
                _ => {}
            }
        }
    }
}
