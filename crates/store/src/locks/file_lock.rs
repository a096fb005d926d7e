//! [`Locks`]: boswell's own locks, which are OS locks on files in the home's `locks/`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use boswell_model::{Advice, Error, ErrorKind, Result};

use super::acquire::{PAUSES, try_every};
use super::holder::{with_holder, write_owner};
use super::{Owner, Wait};
use crate::disk::{Disk, DiskFile, LockMode, OpenMode, durable};
use crate::locks::lease::{SHORT_PAUSES, append_lock_path, lock_path, old_hard_links};
use boswell_dialect::IdSource;

/// The shortest time to wait for an append lock, also with [`Wait::No`].
const A_MOMENT: Duration = Duration::from_millis(100);

/// The folder of boswell's own locks.
#[derive(Debug, Clone)]
pub struct Locks {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    owner: Owner,
    id_source: Arc<dyn IdSource>,
}

/// A held OS lock. Dropping it releases the lock; the file stays.
#[derive(Debug)]
pub struct OsLock {
    path: PathBuf,
    file: Box<dyn DiskFile>,
}

impl OsLock {
    /// Returns the path of the lock file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Locks {
    /// Returns the locks in `folder`, which is made when the first one is taken. `owner` is shown
    /// to other processes.
    pub fn new(
        disk: Arc<dyn Disk>,
        folder: impl Into<PathBuf>,
        owner: Owner,
        id_source: Arc<dyn IdSource>,
    ) -> Self {
        Locks {
            disk,
            folder: folder.into(),
            owner,
            id_source,
        }
    }

    /// A name that is used once, for a temporary file.
    pub(crate) fn unique(&self) -> String {
        self.id_source.hex16()
    }

    /// Returns the owner that is shown to other processes.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Takes an exclusive lock.
    pub fn exclusive(&self, name: &str, wait: Wait) -> Result<OsLock> {
        let lock = self.take(name, LockMode::Exclusive, wait)?;
        write_owner(
            self.disk.as_ref(),
            lock.file.as_ref(),
            || self.owner.clone(),
            self.id_source.now(),
        );
        Ok(lock)
    }

    /// Takes a shared lock.
    pub fn shared(&self, name: &str, wait: Wait) -> Result<OsLock> {
        self.take(name, LockMode::Shared, wait)
    }

    /// Takes the append lock of a session's log, as writers do. Always waits a moment, because it
    /// is held for a few writes only.
    pub fn append(&self, name: &str, wait: Wait) -> Result<OsLock> {
        let wait = match wait {
            Wait::No => Wait::For(A_MOMENT),
            Wait::For(limit) => Wait::For(limit.max(A_MOMENT)),
            Wait::Forever => Wait::Forever,
        };
        let exclusive = |file: &dyn DiskFile| file.try_lock(LockMode::Exclusive);
        self.take_at(
            append_lock_path(&self.folder, name),
            name,
            (wait, SHORT_PAUSES),
            exclusive,
        )
    }

    /// Returns whether the lock with that name was ever taken: lock files stay.
    pub(crate) fn was_taken(&self, name: &str) -> Result<bool> {
        let path = lock_path(&self.folder, name);
        let stat = self
            .disk
            .stat(&path)
            .map_err(|error| Error::io(path.display(), "look at", error))?;
        Ok(stat.is_some())
    }

    /// Returns whether a process holds the lock with that name, as far as the system reports it.
    /// Does not take it.
    pub(crate) fn is_held(&self, name: &str) -> Result<bool> {
        let path = lock_path(&self.folder, name);
        let stat = self
            .disk
            .stat(&path)
            .map_err(|error| Error::io(path.display(), "look at", error))?;
        Ok(stat.is_some_and(|stat| self.disk.lock_holder(stat.identity).is_some()))
    }

    /// Removes the failed-sync marker of a log, and hard links to it that earlier versions left.
    pub(crate) fn remove_log_links(&self, name: &str) -> Result<()> {
        let names = old_hard_links(&self.folder, name);
        names
            .iter()
            .try_for_each(|path| durable::remove_if_there(self.disk.as_ref(), path))?;
        // A hard link leads to the whole log. Without the sync a crash could bring the link back,
        // and with it what was purged.
        names.first().map_or(Ok(()), |path| {
            durable::sync_removal(self.disk.as_ref(), path)
        })
    }

    fn take(&self, name: &str, mode: LockMode, wait: Wait) -> Result<OsLock> {
        self.take_at(
            lock_path(&self.folder, name),
            name,
            (wait, PAUSES),
            |file| file.try_lock(mode),
        )
    }

    fn take_at(
        &self,
        path: PathBuf,
        name: &str,
        (wait, pauses): (Wait, (Duration, Duration)),
        attempt: impl Fn(&dyn DiskFile) -> io::Result<bool>,
    ) -> Result<OsLock> {
        durable::make_folders(self.disk.as_ref(), &self.folder)?;
        let fault = |error| Error::io(path.display(), "lock", error);
        let file = self.disk.open(&path, OpenMode::Lock).map_err(fault)?;
        if try_every(self.disk.as_ref(), wait, pauses, || {
            attempt(file.as_ref()).map_err(fault)
        })? {
            return Ok(OsLock { path, file });
        }
        Err(self.busy(name, &path))
    }

    fn busy(&self, name: &str, path: &Path) -> Error {
        let error = Error::new(
            ErrorKind::Busy,
            format!("`{}` is locked by another process", name.escape_debug()),
        )
        .advising(Advice::RetryLater);
        with_holder(self.disk.as_ref(), path, "it", error)
    }
}
