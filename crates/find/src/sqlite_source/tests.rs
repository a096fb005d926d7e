//! Reading leaves no trace, whoever writes.
#![expect(
    clippy::disallowed_methods,
    reason = "tests plant databases and look for traces"
)]

use std::collections::BTreeMap;
use std::time::SystemTime;

use boswell_dialect::Cell;
use boswell_testkit::conformance::row_source;
use boswell_testkit::memory_rows::MemoryRows;
use rusqlite::types::Value;

use super::*;

/// A database in a folder of its own.
struct Lab {
    folder: tempfile::TempDir,
    copies: tempfile::TempDir,
}

impl Lab {
    fn new() -> Lab {
        Lab {
            folder: tempfile::tempdir().unwrap(),
            copies: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("a b%.sqlite")
    }

    /// A connection of an agent, with a table of one row.
    fn writer(&self, mode: &str) -> Connection {
        let db = Connection::open(self.path()).unwrap();
        db.pragma_update(None, "journal_mode", mode).unwrap();
        db.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
        db.execute_batch("CREATE TABLE t (id TEXT, n INTEGER); INSERT INTO t VALUES ('a', 1)")
            .unwrap();
        db
    }

    fn open(&self) -> Result<Option<Box<dyn RowSource>>> {
        SqliteDatabases::new(self.copies.path()).open(&self.path())
    }

    /// Returns the ids that a new source sees.
    fn ids(&self) -> Vec<String> {
        ids(self.open().unwrap().unwrap().as_ref()).unwrap()
    }

    /// Returns bytes, times and inodes of every file.
    fn state(&self) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime, u64)> {
        let files = std::fs::read_dir(self.folder.path()).unwrap();
        let one = |path: PathBuf| {
            let meta = path.symlink_metadata().unwrap();
            let inode = std::os::unix::fs::MetadataExt::ino(&meta);
            let bytes = std::fs::read(&path).unwrap();
            (path, (bytes, meta.modified().unwrap(), inode))
        };
        files.map(|file| one(file.unwrap().path())).collect()
    }

    fn has_copies(&self) -> bool {
        std::fs::read_dir(self.copies.path()).unwrap().count() > 0
    }
}

const ALL: RowSelect<'static> = RowSelect {
    table: "t",
    only: None,
    order: &["id"],
};

fn ids(source: &dyn RowSource) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    for key in source.keys(&ALL)? {
        source.row("t", key, &mut |columns| match columns {
            [("id", Cell::Text(id)), ..] => ids.push((*id).to_owned()),
            _ => panic!("{columns:?}"),
        })?;
    }
    Ok(ids)
}

fn owned(cell: Cell<'_>) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Integer(number) => Value::Integer(number),
        Cell::Real(number) => Value::Real(number),
        Cell::Text(text) => Value::Text(text.to_owned()),
        Cell::Bytes(bytes) => Value::Blob(bytes.to_vec()),
    }
}

#[test]
fn a_database_keeps_the_promises_of_a_source() {
    row_source(&|rows: &MemoryRows| {
        let lab = Lab::new();
        let db = Connection::open(lab.path()).unwrap();
        db.execute_batch("CREATE TABLE note (owner, at, data)")
            .unwrap();
        let all = RowSelect {
            table: "note",
            only: None,
            order: &[],
        };
        for key in rows.keys(&all).unwrap() {
            let mut stored = Vec::new();
            rows.row("note", key, &mut |columns| {
                stored = columns
                    .iter()
                    .map(|(name, cell)| ((*name).to_owned(), owned(*cell)))
                    .collect();
            })
            .unwrap();
            db.execute("INSERT INTO note (rowid) VALUES (?1)", [key.0])
                .unwrap();
            for (column, value) in stored {
                let sql = format!("UPDATE note SET {column} = ?1 WHERE rowid = ?2");
                db.execute(&sql, rusqlite::params![value, key.0]).unwrap();
            }
        }
        drop(db);
        let source = lab.open().unwrap().unwrap();
        // The files must outlive the source, and the test ends soon.
        std::mem::forget(lab);
        source
    });
}

#[test]
fn reading_leaves_no_trace_with_or_without_a_writer_and_a_wal() {
    for mode in ["WAL", "DELETE"] {
        let lab = Lab::new();
        let writer = lab.writer(mode);
        let before = lab.state();
        assert_eq!(lab.ids(), ["a"], "{mode}, while it is open");
        assert_eq!(before, lab.state(), "{mode}, while it is open");
        // The writer goes on as if nobody had looked.
        writer.execute("INSERT INTO t VALUES ('b', 2)", []).unwrap();
        assert_eq!(lab.ids(), ["a", "b"], "{mode}, in the WAL");
        drop(writer);
        let before = lab.state();
        assert_eq!(lab.ids(), ["a", "b"], "{mode}, closed");
        assert_eq!(before, lab.state(), "{mode}, closed");
        assert!(!lab.has_copies(), "{mode}");
    }
}

#[test]
fn a_wal_that_a_crash_left_is_read_and_stays() {
    let lab = Lab::new();
    let writer = lab.writer("WAL");
    writer.execute("INSERT INTO t VALUES ('b', 2)", []).unwrap();
    // As after a crash: the files are there, and nobody has them open.
    let crashed = Lab::new();
    for ending in ["", "-wal"] {
        let (from, to) = (lab.path(), crashed.path());
        let name = |path: &Path| file_state::side_file(path, ending);
        std::fs::copy(name(&from), name(&to)).unwrap();
    }
    let before = crashed.state();
    assert_eq!(crashed.ids(), ["a", "b"]);
    assert_eq!(before, crashed.state());
}

#[test]
fn rows_of_a_state_that_was_overwritten_are_not_mixed_with_new_ones() {
    let lab = Lab::new();
    let writer = lab.writer("WAL");
    let source = lab.open().unwrap().unwrap();
    // Before the first row was handed out, the newest state is read.
    writer.execute("INSERT INTO t VALUES ('b', 2)", []).unwrap();
    assert_eq!(ids(source.as_ref()).unwrap(), ["a", "b"]);
    writer.execute("DELETE FROM t", []).unwrap();
    writer
        .pragma_update(None, "wal_checkpoint", "TRUNCATE")
        .unwrap();
    let late = source.keys(&ALL).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Conflict, "{late}");
    assert_eq!(lab.ids(), Vec::<String>::new());
}

#[test]
fn a_journal_is_rolled_back_in_a_copy_that_is_removed() {
    let lab = Lab::new();
    drop(lab.writer("DELETE"));
    std::fs::write(
        file_state::side_file(&lab.path(), "-journal"),
        "not a journal",
    )
    .unwrap();
    let before = lab.state();
    let source = lab.open().unwrap().unwrap();
    assert!(lab.has_copies());
    assert_eq!(ids(source.as_ref()).unwrap(), ["a"]);
    drop(source);
    assert_eq!(before, lab.state());
    assert!(!lab.has_copies());
}

#[test]
fn what_is_no_database_is_an_error_that_says_so() {
    let lab = Lab::new();
    assert!(lab.open().unwrap().is_none(), "there is none");
    std::fs::write(lab.path(), "x".repeat(5000)).unwrap();
    let error = lab.open().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
    std::fs::remove_file(lab.path()).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", lab.path()).unwrap();
    assert_eq!(lab.open().unwrap_err().kind(), ErrorKind::Denied);
}
