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
use crate::vault::keep_batch::KeepBatch;
use crate::vault::{ChunkedCopies, Vault};

/// Which sessions are examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepWhich {
    /// Sessions whose log is not kept in its current state.
    Changed,
    /// All sessions: side files may have changed without the log.
    All,
}

/// How many sessions of a store were examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeepProgress {
    /// Number of sessions so far.
    pub done: usize,
    /// Number of sessions of the store.
    pub total: usize,
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
        let own = store.log_files(key).unwrap_or_default();
        if own.is_empty() {
            return self.has_file(store.root(), &FileState::of(location), key);
        }
        let mut own = own.iter();
        own.all(|file| self.has_file(store.root(), &FileState::of_info(file), &file.key))
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
    /// `progress` is called after each session.
    ///
    /// The side files come before the log: a session whose log is current is not examined again.
    /// Copies are made durable in batches, and are counted when they are.
    pub fn keep_sessions(
        &self,
        store: &Store,
        kept: &mut ChunkedCopies,
        which: KeepWhich,
        (wait, go_on): (Wait, &dyn Fn() -> bool),
        progress: &mut dyn FnMut(KeepProgress),
    ) -> Result<KeepRun> {
        let listing = store.list()?;
        let mut keeper = Keeper {
            vault: self,
            store,
            kept,
            wait,
            go_on,
            batch: KeepBatch::default(),
            written: KeepRun::default(),
            run: KeepRun::default(),
        };
        for (key, problem) in &listing.unlisted {
            let error = Error::new(ErrorKind::Denied, problem.detail.clone());
            keeper.run.fail(store, key, error);
        }
        let mut sessions = listing.sessions;
        // A copy is one of a file, and a database has the sessions of many projects.
        sessions.retain(|location| {
            let of_rows = location.is_of_rows(store.dialect());
            location.owner.is_none() && location.key.is_some() && !of_rows
        });
        sessions.sort_by_key(|location| std::cmp::Reverse(location.modified));
        let total = sessions.len();
        for (at, location) in sessions.iter().enumerate() {
            if which == KeepWhich::Changed && keeper.kept.has(store, location) {
                continue;
            }
            if !go_on() {
                keeper.run.unfinished = true;
                break;
            }
            match keeper.keep_session(location) {
                Ok(()) => {}
                // Another process writes to the vault: every other session would fail in the same
                // way.
                Err(error) if error.kind() == ErrorKind::Busy => return Err(error),
                Err(error) => {
                    let key = location.key.as_deref().unwrap_or_default();
                    keeper.run.fail(store, key, error);
                }
            }
            progress(KeepProgress {
                done: at + 1,
                total,
            });
        }
        keeper.finish_batch();
        Ok(keeper.run)
    }
}

/// One run over the sessions of a store.
struct Keeper<'k> {
    vault: &'k Vault,
    store: &'k Store,
    kept: &'k mut ChunkedCopies,
    wait: Wait,
    go_on: &'k dyn Fn() -> bool,
    batch: KeepBatch,
    /// The counts of the batch.
    written: KeepRun,
    run: KeepRun,
}

impl Keeper<'_> {
    fn keep_session(&mut self, location: &SessionLocation) -> Result<()> {
        let store = self.store;
        let session = SessionRef::new(store.dialect().name(), &location.id);
        let (files, skipped) = store.side_files_here(location)?;
        for (key, error) in skipped {
            self.run.fail(store, &key, error);
        }
        let mut keys: Vec<String> = files.into_iter().map(|file| file.key).collect();
        keys.retain(|key| !is_secret(key.rsplit('/').next().unwrap_or(key)));
        let own = location.key.clone().unwrap_or_default();
        let made_of = store.log_files(&own)?.into_iter().map(|file| file.key);
        let made_of: Vec<String> = made_of.collect();
        keys.retain(|key| !made_of.contains(key));
        match made_of.is_empty() {
            true => keys.extend(location.key.clone()),
            // The log is made of these files, and no file itself.
            false => keys.extend(made_of),
        }
        let mut files = 0;
        for key in keys {
            match is_kept(store, &key, self.kept) {
                Ok(false) => {}
                Ok(true) => continue,
                Err(error) => {
                    self.run.fail(store, &key, error);
                    continue;
                }
            }
            let of = (store.root(), key.as_str());
            let how = (self.wait, self.go_on);
            let vault = self.vault;
            match vault.add_growing(&mut self.batch, self.kept, of, &session, how) {
                Ok(done) => {
                    files += usize::from(done.bytes > 0);
                    self.written.files += usize::from(done.bytes > 0);
                    self.written.bytes += done.bytes;
                    if !done.complete {
                        self.run.unfinished = true;
                        break;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Busy => return Err(error),
                Err(error) => self.run.fail(store, &key, error),
            }
        }
        self.written.sessions += usize::from(files > 0);
        // Only between sessions: the records of one are appended together, the log's last.
        if self.batch.is_full() {
            self.finish_batch();
        }
        Ok(())
    }

    /// Makes the batch durable, and counts what is in it.
    fn finish_batch(&mut self) {
        let (batch, written) = (
            std::mem::take(&mut self.batch),
            std::mem::take(&mut self.written),
        );
        let keys = batch.keys();
        match self.vault.finish(batch, self.kept) {
            Ok(()) => {
                self.run.sessions += written.sessions;
                self.run.files += written.files;
                self.run.bytes += written.bytes;
            }
            Err(error) => {
                let source = std::error::Error::source(&error);
                let reason = source.map_or_else(|| error.to_string(), ToString::to_string);
                for key in keys {
                    let same = Error::new(error.kind(), error.to_string()).because(&reason);
                    self.run.fail(self.store, &key, same);
                }
            }
        }
    }
}

/// Whether the current state of a file is kept already.
fn is_kept(store: &Store, key: &str, kept: &ChunkedCopies) -> Result<bool> {
    let info = store.stored_file(key)?;
    Ok(info.is_some_and(|info| kept.has_file(store.root(), &FileState::of_info(&info), key)))
}
