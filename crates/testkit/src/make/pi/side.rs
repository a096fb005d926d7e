//! Side files of pi-family sessions: breadcrumbs, artifacts, and the prompt history in SQLite.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::files::FileList;
use crate::make::pi::{PiFlavour, PiSession};
use crate::phrase;

/// Returns the content of a terminal's breadcrumb: the project folder and the session file, one
/// line each.
pub fn breadcrumb(cwd: &str, session_file: &Path) -> Vec<u8> {
    format!("{cwd}\n{}\n", session_file.display()).into_bytes()
}

/// Returns the artifacts of a session (`main` is its path, ending in `.jsonl`): a tool's log, a
/// subagent's result and its log.
pub fn artifacts(main: &str, flavour: PiFlavour, cwd: &str, seed: u64) -> FileList {
    let folder = main.strip_suffix(".jsonl").unwrap_or(main);
    let mut sub = PiSession::start(flavour, cwd, seed ^ 0x5ab);
    sub.header_v3(None);
    sub.entry(
        "session_init",
        json!({"systemPrompt": "You explore.", "task": "find the caller", "tools": ["read"]}),
    );
    sub.turn();
    let log = phrase::listing(&mut sub.rng, 30);
    let mut files = FileList::new();
    files.add(format!("{folder}/0.bash.log"), log);
    files.add(format!("{folder}/0-Explore.md"), "The caller is `main`.\n");
    files.add(format!("{folder}/0-Explore.jsonl"), sub.into_bytes());
    files
}

const HISTORY: &str = "
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute('PRAGMA journal_mode=WAL')
db.executescript('''
CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL,
  created_at INTEGER NOT NULL DEFAULT (CAST(strftime('%s','now') AS INTEGER)), cwd TEXT);
CREATE INDEX idx_history_created_at ON history(created_at DESC);
''')
db.executemany('INSERT INTO history (prompt, created_at, cwd) VALUES (?, ?, ?)',
  [(p, 1791187200 + i, sys.argv[2]) for i, p in enumerate(sys.argv[3:])])
db.commit()
import os
os._exit(0)
";

/// Writes a prompt history in WAL mode with these prompts; returns false and writes nothing if
/// Python is missing.
///
/// The process exits without closing the database, so that the `-wal` file stays, as with a running
/// agent.
pub fn history_db(path: &Path, cwd: &str, prompts: &[&str]) -> bool {
    let mut python = Command::new("python3");
    python
        .arg("-c")
        .arg(HISTORY)
        .arg(path)
        .arg(cwd)
        .args(prompts)
        .stderr(Stdio::null());
    python.status().is_ok_and(|status| status.success()) && path.exists()
}
