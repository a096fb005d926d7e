//! [`LogBackend`] for files: leases and append locks are OS locks, positions are byte offsets.
//!
//! A log whose last `fsync` failed (it has the failed-sync marker) must be copied before anything
//! is acknowledged in it: the kernel may show bytes in its cache that are not on disk, and a later
//! `fsync` of the same file reports success without writing them. `settle` does so under the append
//! lock: stream the log to a temporary file, keep the old file as a hard link in the vault, sync
//! the copy and rename it over the log, remove the marker. A crash before the last step leaves the
//! marker, and the next writer starts again.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use boswell_dialect::{IdSource, facts_of};
use boswell_model::{Error, Result, SessionRef};

use super::file_appender::FileAppender;
use super::fs::path_below;
use super::log_backend::{Lease, LogBackend, LogClaim, LogName, OpenLog};
use crate::disk::{Disk, OpenMode, Stat, durable};
use crate::locks::lease::{AppendLock, LeaseLock, NamedLog};
use crate::locks::{Locks, Owner};
use crate::sha256::{Hasher, chunks};
use crate::vault::{FailedSyncCopy, Vault};

/// The logs below a folder. Their locks are in another folder.
#[derive(Debug)]
pub(crate) struct FsLogs {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) id_source: Arc<dyn IdSource>,
    /// The folder of the store. The first receipt of a log makes all names below it, and its own,
    /// durable.
    pub(crate) root: Arc<Path>,
    pub(crate) locks: PathBuf,
    /// The log that [`LogBackend::remembered`] found last, so that opening it right after need not
    /// read the append lock's file again.
    pub(crate) found: Mutex<Option<Remembered>>,
}

/// An append lock, with the log that its file remembered.
#[derive(Debug)]
pub(crate) struct Remembered {
    pub(super) append_lock: AppendLock,
    pub(super) log: NamedLog,
}

impl LogBackend for FsLogs {
    fn lease(&self, claim: &LogClaim<'_>) -> Result<Lease> {
        let what = || format!("session {}", claim.session.id);
        let (name, owner) = (lock_name(claim.session), (claim.program, claim.now));
        let lock = LeaseLock::take(&self.disk, &self.locks, &name, claim.wait, owner, what)?;
        Ok(Lease::new(0, lock))
    }

    fn create(&self, log: &LogName<'_>, lines: &[u8], _lease: &Lease) -> Result<()> {
        let path = path_below(&self.root, log.key)?;
        durable::make_folders(self.disk.as_ref(), path.parent().unwrap_or(&self.root))?;
        durable::create(self.disk.as_ref(), &path, lines)
    }

    fn remembered(&self, session: &SessionRef) -> Option<String> {
        let append_lock = AppendLock::new(&self.locks, &lock_name(session));
        let log = append_lock.remembered(self.disk.as_ref())?;
        let key = log.key.clone();
        *self.found() = Some(Remembered { append_lock, log });
        Some(key)
    }

    fn append_to(&self, log: &LogName<'_>, _lease: Option<&Lease>) -> Result<OpenLog> {
        let (log, end) = FileAppender::open(self, log)?;
        Ok(OpenLog {
            log: Box::new(log),
            end,
        })
    }
}

impl FsLogs {
    fn found(&self) -> MutexGuard<'_, Option<Remembered>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what is remembered about the log of that key, if it was found last.
    pub(super) fn take_remembered(&self, key: &str) -> Option<Remembered> {
        self.found().take_if(|found| found.log.key == key)
    }

    /// Copies a log with a failed-sync marker before anything is acknowledged in it.
    pub(super) fn settle(
        &self,
        log: &LogName<'_>,
        path: &Path,
        append_lock: &AppendLock,
    ) -> Result<()> {
        let (disk, mark) = (self.disk.as_ref(), append_lock.failed_sync_marker());
        let held = append_lock.hold(disk)?;
        // Looked for again under the lock: another writer may have copied the log while this one
        // waited, and a second copy would fence that writer.
        if disk
            .stat(mark)
            .map_err(|error| Error::io(mark.display(), "look at", error))?
            .is_some()
        {
            self.copy_after_failed_sync(log, path)?;
            // Only after the copy is durable: a crash before this line repeats the copy.
            disk.remove(mark)
                .map_err(|error| Error::io(mark.display(), "remove", error))?;
            durable::sync_parent(disk, mark)?;
        }
        append_lock.release(held);
        Ok(())
    }

    /// Links a log whose agent may rewrite it from memory, so that lines which are added now can be
    /// found again. Best effort: without the link they are added all the same.
    pub(super) fn link_before_appending(&self, log: &LogName<'_>, path: &Path, stat: &Stat) {
        let facts = facts_of(&log.session.dialect);
        if facts.is_some_and(|facts| facts.rewrites_logs) {
            let place = (self.root.as_ref(), log.key);
            let _ = self.vault().link_appended(log.session, place, path, stat);
        }
    }

    /// Replaces a log by a copy that was synced.
    ///
    /// After a failed `fsync` the kernel may show bytes that are not on disk; the copy makes what
    /// can be read durable. It is streamed, because the log may be larger than memory. A program
    /// that still has the old file open goes on writing there, so the old file stays reachable as a
    /// hard link in the vault.
    fn copy_after_failed_sync(&self, log: &LogName<'_>, path: &Path) -> Result<()> {
        let disk = self.disk.as_ref();
        let fault = |error| Error::io(path.display(), "copy", error);
        let (file, stat) = match disk.open_seen(path, OpenMode::Read) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            opened => opened.map_err(fault)?,
        };
        durable::put_with(disk, path, &self.id_source.hex16(), |sink| {
            let mut hasher = Hasher::default();
            let copied = chunks(file.as_ref(), 0, u64::MAX, &mut |chunk| {
                hasher.add(chunk);
                sink(chunk)
            });
            copied.map_err(fault)?;
            // Before the rename: from then on only the vault leads to the old file.
            let (session, root, key) = (log.session, self.root.as_ref(), log.key);
            self.vault().keep_failed_sync_copy(&FailedSyncCopy {
                session,
                root,
                key,
                path,
                stat,
                copied: &hasher,
            })
        })
    }

    /// Returns the vault of the home that the locks belong to.
    fn vault(&self) -> Vault {
        let (disk, id_source) = (&self.disk, &self.id_source);
        let locks = Locks::new(
            Arc::clone(disk),
            &self.locks,
            Owner::this("boswell"),
            Arc::clone(id_source),
        );
        Vault::new(
            Arc::clone(disk),
            self.locks.parent().unwrap_or(&self.root),
            locks,
            Arc::clone(id_source),
        )
    }
}

/// Returns the name that the locks of a session have.
pub(crate) fn lock_name(session: &SessionRef) -> String {
    [session.dialect.as_str(), &session.id].join("-")
}
