//! Copies the sessions of a store into the vault: which files, in which order, and which never.
//!
//! Logs, subagents, tool outputs, titles and file histories are copied: what each dialect lists as
//! side files of a session (`SideFiles::side_files`), which settings are not. Of these, keys,
//! credentials and environments are left out (`is_secret`).

use std::path::Path;

use boswell_dialect::{FileInfo, SessionLocation};
use boswell_model::{Error, ErrorKind, Result, SessionRef};

use crate::Store;
use crate::locks::Wait;
use crate::vault::{ChunkedCopies, Vault};

/// Which sessions are examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepWhich {
    /// Sessions whose log is not kept in its current state.
    Changed,
    /// All sessions: side files may have changed without the log.
    All,
}

/// The result of keeping the sessions of a store.
#[derive(Debug, Default)]
pub struct KeepRun {
    /// Number of sessions with stored files.
    pub sessions: usize,
    /// Number of stored files.
    pub files: usize,
    /// Number of stored bytes, before compression.
    pub bytes: u64,
    /// Whether time was up before everything was kept.
    pub unfinished: bool,
    /// Files that could not be kept: path and reason.
    pub failed: Vec<(String, Error)>,
}

impl KeepRun {
    fn fail(&mut self, store: &Store, key: &str, error: Error) {
        self.failed.push((store.backend().describe(key), error));
    }
}

/// Ends and beginnings of file names that are never copied, in any folder of a session.
const SECRET_ENDINGS: [&str; 6] = [".key", ".pem", ".p12", ".pfx", ".keychain", ".lock"];
const SECRET_BEGINNINGS: [&str; 7] = [
    ".credentials",
    "credentials",
    ".env",
    ".netrc",
    "id_rsa",
    "id_ed25519",
    "auth.json",
];

/// Returns whether a file name is that of keys or credentials, which are never copied.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || SECRET_BEGINNINGS
            .iter()
            .any(|beginning| name.starts_with(beginning))
}

impl ChunkedCopies {
    /// Returns whether the log of a session is kept in its current state.
    pub fn has(&self, store: &Store, location: &SessionLocation) -> bool {
        let Some(key) = &location.key else {
            return false;
        };
        self.has_file(store.root(), &FileState::of(location), key)
    }

    fn has_file(&self, root: &Path, state: &FileState, key: &str) -> bool {
        self.file(root, key).is_some_and(|file| {
            file.len == state.len
                && state.identity.is_some_and(|identity| {
                    identity.file == file.identity && identity.modified == i128::from(file.modified)
                })
        })
    }
}

struct FileState {
    len: u64,
    identity: Option<boswell_dialect::FileIdentity>,
}

impl FileState {
    fn of(location: &SessionLocation) -> Self {
        FileState {
            len: location.size,
            identity: location.identity,
        }
    }

    fn of_info(info: &FileInfo) -> Self {
        FileState {
            len: info.size,
            identity: info.identity,
        }
    }
}

impl Vault {
    /// Keeps the sessions of a store, those that changed last first, until `go_on` returns false.
    ///
    /// The side files come before the log: a session whose log is current is not examined again.
    pub fn keep_sessions(
        &self,
        store: &Store,
        kept: &mut ChunkedCopies,
        which: KeepWhich,
        wait: Wait,
        go_on: &dyn Fn() -> bool,
    ) -> Result<KeepRun> {
        let listing = store.list()?;
        let mut run = KeepRun::default();
        for (key, problem) in &listing.unlisted {
            run.fail(
                store,
                key,
                Error::new(ErrorKind::Denied, problem.detail.clone()),
            );
        }
        let mut sessions = listing.sessions;
        sessions.retain(|location| location.owner.is_none() && location.key.is_some());
        sessions.sort_by_key(|location| std::cmp::Reverse(location.modified));
        for location in &sessions {
            if which == KeepWhich::Changed && kept.has(store, location) {
                continue;
            }
            if !go_on() {
                run.unfinished = true;
                break;
            }
            match self.keep_session(store, location, kept, wait, go_on, &mut run) {
                Ok(()) => {}
                // Another process writes to the vault: every other session would fail in the same
                // way.
                Err(error) if error.kind() == ErrorKind::Busy => return Err(error),
                Err(error) => run.fail(store, location.key.as_deref().unwrap_or_default(), error),
            }
        }
        Ok(run)
    }

    fn keep_session(
        &self,
        store: &Store,
        location: &SessionLocation,
        kept: &mut ChunkedCopies,
        wait: Wait,
        go_on: &dyn Fn() -> bool,
        run: &mut KeepRun,
    ) -> Result<()> {
        let session = SessionRef::new(store.dialect().name(), &location.id);
        let (files, skipped) = store.side_files_here(location)?;
        for (key, error) in skipped {
            run.fail(store, &key, error);
        }
        let mut keys: Vec<String> = files.into_iter().map(|file| file.key).collect();
        keys.retain(|key| !is_secret(key.rsplit('/').next().unwrap_or(key)));
        keys.extend(location.key.clone());
        let before = run.files;
        for key in keys {
            match is_kept(store, &key, kept) {
                Ok(false) => {}
                Ok(true) => continue,
                Err(error) => {
                    run.fail(store, &key, error);
                    continue;
                }
            }
            match self.keep_growing(kept, (store.root(), &key), &session, wait, go_on) {
                Ok(done) => {
                    run.files += usize::from(done.bytes > 0);
                    run.bytes += done.bytes;
                    if !done.complete {
                        run.unfinished = true;
                        break;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Busy => return Err(error),
                Err(error) => run.fail(store, &key, error),
            }
        }
        run.sessions += usize::from(run.files > before);
        Ok(())
    }
}

/// Whether the current state of a file is kept already.
fn is_kept(store: &Store, key: &str, kept: &ChunkedCopies) -> Result<bool> {
    let info = store.backend().stat(key)?;
    Ok(info.is_some_and(|info| kept.has_file(store.root(), &FileState::of_info(&info), key)))
}
