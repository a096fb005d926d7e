//! The prompt history of xcsh and oh-my-pi: a SQLite table with a full-text index.
//!
//! Reading leaves no trace: the database and its `-wal` file are copied to a folder of ours and
//! opened there, because SQLite creates side files even for a reader.

mod remember;

use std::path::{Path, PathBuf};

use boswell_model::{Error, ErrorKind, Instant, Result};
use rusqlite::{Connection, params};

pub use remember::{has_history, remember, remember_all};

/// Maximum number of prompts that the agent itself returns.
const MOST: usize = 1000;

/// A prompt in the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// Text of the prompt.
    pub text: String,
    /// Time of the prompt, in whole seconds.
    pub at: Option<Instant>,
    /// Working directory of the prompt.
    pub project: Option<String>,
}

/// A copy of a prompt history; the file of the agent is not touched. Dropping this value removes
/// the copy.
#[derive(Debug)]
pub struct PromptHistory {
    db: Option<Connection>,
    copy: PathBuf,
}

impl PromptHistory {
    /// Copies the database into `cache` under a name that contains `unique`, and opens the copy.
    /// Returns `None` if there is no database.
    pub fn open(database: &Path, cache: &Path, unique: &str) -> Result<Option<PromptHistory>> {
        if !database.is_file() {
            return Ok(None);
        }
        make_private_folder(cache)?;
        let copy = cache.join(format!("history-{unique}.db"));
        let mut history = PromptHistory {
            db: None,
            copy: copy.clone(),
        };
        // The WAL is copied first: if a checkpoint moves pages from it into the database in
        // between, the copy contains them twice instead of not at all.
        for ending in ["-wal", ""] {
            let from = side_files(database, ending);
            match std::fs::copy(&from, side_files(&copy, ending)) {
                Ok(_) => {}
                Err(error) if ending == "-wal" && error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io(from.display(), "copy", error)),
            }
        }
        let db = Connection::open(&copy).map_err(|error| fault(database, error))?;
        if !has_table(&db, "history").map_err(|error| fault(database, error))? {
            return Err(Error::new(
                ErrorKind::Damaged,
                format!("`{}` holds no prompt history", database.display()),
            )
            .because("it has no table `history`"));
        }
        history.db = Some(db);
        Ok(Some(history))
    }

    /// Returns the newest prompts, newest first; at most 1,000, as the agent does.
    pub fn recent(&self, count: usize) -> Result<Vec<Remembered>> {
        self.rows("SELECT prompt, created_at, cwd FROM history ORDER BY created_at DESC, id DESC LIMIT ?1", None, count)
    }

    /// Returns prompts that contain words beginning with each of `words`, newest first. A database
    /// without its full-text index is scanned.
    pub fn search(&self, words: &str, count: usize) -> Result<Vec<Remembered>> {
        let terms: Vec<String> = words
            .split_whitespace()
            .map(|word| format!("\"{}\"*", word.replace('"', "\"\"")))
            .collect();
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let matched = "SELECT h.prompt, h.created_at, h.cwd FROM history_fts f JOIN history h ON h.id = f.rowid \
                       WHERE history_fts MATCH ?2 ORDER BY h.created_at DESC, h.id DESC LIMIT ?1";
        self.rows(matched, Some(&terms.join(" ")), count)
            .or_else(|_| {
                let mut all = self.recent(MOST)?;
                let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
                all.retain(|it| {
                    words
                        .iter()
                        .all(|word| it.text.to_lowercase().contains(word.as_str()))
                });
                all.truncate(count.min(MOST));
                Ok(all)
            })
    }

    fn rows(&self, sql: &str, term: Option<&str>, count: usize) -> Result<Vec<Remembered>> {
        let Some(db) = &self.db else {
            return Ok(Vec::new());
        };
        let fault = |error| fault(&self.copy, error);
        let count = i64::try_from(count.min(MOST)).unwrap_or(0);
        let mut statement = db.prepare(sql).map_err(fault)?;
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Remembered {
                text: row.get(0)?,
                at: row
                    .get::<_, Option<i64>>(1)?
                    .map(|at| Instant::from_millis(at.saturating_mul(1000))),
                project: row.get(2)?,
            })
        };
        let rows = match term {
            Some(term) => statement.query_map(params![count, term], read),
            None => statement.query_map(params![count], read),
        };
        rows.and_then(Iterator::collect).map_err(fault)
    }
}

impl Drop for PromptHistory {
    fn drop(&mut self) {
        self.db = None;
        for ending in ["", "-wal", "-shm", "-journal"] {
            // Best effort: what remains is a copy in our cache.
            let _ = std::fs::remove_file(side_files(&self.copy, ending));
        }
    }
}

fn has_table(db: &Connection, name: &str) -> rusqlite::Result<bool> {
    db.query_row(
        "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?1",
        [name],
        |row| row.get::<_, i64>(0),
    )
    .map(|count| count > 0)
}

fn side_files(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn make_private_folder(folder: &Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(folder)
        .map_err(|error| Error::io(folder.display(), "make", error))
}

fn fault(path: &Path, error: rusqlite::Error) -> Error {
    use rusqlite::ErrorCode as Code;
    let kind = match error.sqlite_error_code() {
        Some(Code::DatabaseBusy | Code::DatabaseLocked) => ErrorKind::Busy,
        Some(Code::DiskFull) => ErrorKind::NoSpace,
        Some(Code::ReadOnly | Code::CannotOpen | Code::PermissionDenied) => ErrorKind::Denied,
        Some(Code::SystemIoFailure) => ErrorKind::Unavailable,
        _ => ErrorKind::Damaged,
    };
    Error::new(
        kind,
        format!("the prompt history `{}` cannot be used", path.display()),
    )
    .caused_by(error)
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests plant databases and look for traces"
)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Instant {
        Instant::from_millis(seconds * 1000 + 999)
    }

    fn texts(found: &[Remembered]) -> Vec<&str> {
        found.iter().map(|it| it.text.as_str()).collect()
    }

    struct Lab(tempfile::TempDir);

    impl Lab {
        fn new() -> Lab {
            Lab(tempfile::tempdir().unwrap())
        }

        fn database(&self) -> PathBuf {
            self.0.path().join("history.db")
        }

        fn open(&self) -> PromptHistory {
            PromptHistory::open(&self.database(), &self.0.path().join("cache"), "u")
                .unwrap()
                .unwrap()
        }
    }

    #[test]
    fn what_was_remembered_is_read_back_newest_first_without_repeats() {
        let lab = Lab::new();
        assert!(
            PromptHistory::open(&lab.database(), &lab.0.path().join("cache"), "u")
                .unwrap()
                .is_none()
        );
        for (prompt, added) in [
            (" one ", true),
            ("one", false),
            ("two", true),
            ("  ", false),
            ("one", true),
            ("会话恢复", true),
        ] {
            assert_eq!(
                remember(&lab.database(), prompt, Some("/p"), at(7)).unwrap(),
                added,
                "{prompt}"
            );
        }
        let history = lab.open();
        assert_eq!(
            texts(&history.recent(9).unwrap()),
            ["会话恢复", "one", "two", "one"]
        );
        assert_eq!(
            history.recent(1).unwrap()[0].at,
            Some(Instant::from_millis(7000)),
            "to the second"
        );
        assert_eq!(history.recent(1).unwrap()[0].project.as_deref(), Some("/p"));
        assert_eq!(history.recent(0).unwrap(), []);
    }

    #[test]
    fn words_are_searched_by_their_beginning_whatever_they_hold() {
        let lab = Lab::new();
        for prompt in ["fix the \"red\" build", "fixture of a*b", "unrelated"] {
            remember(&lab.database(), prompt, None, at(1)).unwrap();
        }
        let history = lab.open();
        assert_eq!(
            texts(&history.search("fix", 9).unwrap()),
            ["fixture of a*b", "fix the \"red\" build"]
        );
        assert_eq!(
            texts(&history.search("\"red\" bui", 9).unwrap()),
            ["fix the \"red\" build"]
        );
        assert_eq!(texts(&history.search("a*", 9).unwrap()), ["fixture of a*b"]);
        assert_eq!(history.search("", 9).unwrap(), []);
        assert_eq!(history.search("zzz", 9).unwrap(), []);
    }

    #[test]
    fn a_table_that_counts_by_unixepoch_is_rebuilt_with_its_ids_and_its_text() {
        let lab = Lab::new();
        let db = Connection::open(lab.database()).unwrap();
        db.execute_batch(
            "CREATE TABLE history(id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL,
               created_at INTEGER NOT NULL DEFAULT (unixepoch()), cwd TEXT);
             INSERT INTO history(id, prompt, created_at) VALUES (3, 'older', 1), (7, 'old', 2);",
        )
        .unwrap();
        drop(db);
        assert_eq!(
            texts(&lab.open().search("old", 9).unwrap()),
            ["old", "older"],
            "without its full text it is scanned"
        );
        assert!(remember(&lab.database(), "new", None, at(3)).unwrap());
        let db = Connection::open(lab.database()).unwrap();
        let ids: Vec<i64> = db
            .prepare("SELECT id FROM history ORDER BY id")
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(std::result::Result::unwrap)
            .collect();
        assert_eq!(ids, [3, 7, 8]);
        let table = remember::definition(&db, "history").unwrap();
        assert!(
            table.contains("strftime('%s','now')") && !table.contains("unixepoch"),
            "{table}"
        );
        assert!(remember::definition(&db, "idx_history_created_at").is_ok());
        drop(db);
        assert_eq!(
            texts(&lab.open().search("old", 9).unwrap()),
            ["old", "older"]
        );
    }

    #[test]
    fn a_table_with_other_rules_is_read_and_not_written() {
        let lab = Lab::new();
        let db = Connection::open(lab.database()).unwrap();
        let table = "CREATE TABLE history(id INTEGER PRIMARY KEY, prompt TEXT NOT NULL UNIQUE, created_at INTEGER, cwd TEXT, session_id TEXT)";
        db.execute_batch(&format!(
            "{table}; INSERT INTO history(prompt, created_at) VALUES ('kept', 1)"
        ))
        .unwrap();
        drop(db);
        assert_eq!(
            remember(&lab.database(), "new", None, at(3))
                .unwrap_err()
                .kind(),
            ErrorKind::Unsupported
        );
        assert_eq!(texts(&lab.open().recent(9).unwrap()), ["kept"]);
    }

    #[test]
    fn a_thousand_are_the_most() {
        let lab = Lab::new();
        remember(&lab.database(), "first", None, at(0)).unwrap();
        let mut db = Connection::open(lab.database()).unwrap();
        let all = db.transaction().unwrap();
        for number in 0..1100 {
            all.execute(
                "INSERT INTO history(prompt, created_at) VALUES (?1, ?2)",
                params![format!("p{number}"), number],
            )
            .unwrap();
        }
        all.commit().unwrap();
        assert_eq!(lab.open().recent(usize::MAX).unwrap().len(), 1000);
    }

    #[test]
    fn reading_leaves_no_trace_even_while_the_agent_has_it_open() {
        let lab = Lab::new();
        remember(&lab.database(), "in the database", None, at(1)).unwrap();
        // A running agent: its last rows are only in the WAL.
        let agent = Connection::open(lab.database()).unwrap();
        agent.execute_batch("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; INSERT INTO history(prompt, created_at) VALUES ('in the log', 2)").unwrap();
        let look = || {
            let mut seen: Vec<_> = std::fs::read_dir(lab.0.path())
                .unwrap()
                .map(|entry| entry.unwrap())
                .filter(|entry| entry.file_type().unwrap().is_file())
                .map(|entry| {
                    (
                        entry.file_name(),
                        entry.metadata().unwrap().modified().unwrap(),
                        std::fs::read(entry.path()).unwrap(),
                    )
                })
                .collect();
            seen.sort();
            seen
        };
        let before = look();
        let history = lab.open();
        assert_eq!(
            texts(&history.recent(9).unwrap()),
            ["in the log", "in the database"]
        );
        drop(history);
        assert_eq!(look(), before);
        assert_eq!(
            std::fs::read_dir(lab.0.path().join("cache"))
                .unwrap()
                .count(),
            0,
            "the copy is removed too"
        );
    }

    #[test]
    fn writers_at_the_same_time_wait_for_one_another() {
        let lab = Lab::new();
        remember(&lab.database(), "begin", None, at(0)).unwrap();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let database = lab.database();
                scope.spawn(move || {
                    for number in 0..10 {
                        assert!(
                            remember(&database, &format!("{writer}-{number}"), None, at(number))
                                .unwrap()
                        );
                    }
                });
            }
        });
        let history = lab.open();
        assert_eq!(history.recent(100).unwrap().len(), 41);
        assert_eq!(
            history.search("3-9", 9).unwrap().len(),
            1,
            "the text index has them too"
        );
    }

    #[test]
    fn what_is_no_database_is_told_and_left_alone() {
        let lab = Lab::new();
        for bytes in [
            &b"not a database at all, but long enough to look at"[..],
            b"",
            &[0; 4096],
        ] {
            std::fs::write(lab.database(), bytes).unwrap();
            let error =
                PromptHistory::open(&lab.database(), &lab.0.path().join("cache"), "u").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
            assert_eq!(std::fs::read(lab.database()).unwrap(), bytes);
        }
    }
}
