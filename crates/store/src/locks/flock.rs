//! [`AgentFlock`]: clinvoker's lock, an OS lock on a file that its holder unlinks on release.
//!
//! A process that waited on the unlinked file then holds a lock that no other process can see. So
//! after locking, the path is compared with the locked file, and taking the lock starts again if
//! they differ. clinvoker first unlocks and then unlinks: in between boswell may lock a file that
//! is unlinked a moment later, so [`AgentFlock::is_ours`] is checked again before every change.
//! Boswell never unlinks the file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use boswell_model::{Advice, Error, ErrorKind, Result};

use super::Wait;
use super::acquire::try_every;
use crate::disk::{Disk, DiskFile, LockMode, OpenMode, durable};

/// Pause between two attempts. Short and constant: a busy clinvoker releases the lock for a moment
/// only, and processes that block in the kernel get it first.
const PAUSE: Duration = Duration::from_millis(1);

/// clinvoker's lock, held. Dropping it releases the lock; the file stays.
#[derive(Debug)]
pub struct AgentFlock {
    path: PathBuf,
    file: Box<dyn DiskFile>,
}

impl AgentFlock {
    /// Takes the lock; the file and its folder are made if they are missing.
    pub fn take(disk: &dyn Disk, path: &Path, wait: Wait) -> Result<Self> {
        if let Some(folder) = path.parent() {
            durable::make_folders(disk, folder)?;
        }
        let mut held = None;
        try_every(disk, wait, (PAUSE, PAUSE), || {
            held = attempt(disk, path)?;
            Ok(held.is_some())
        })?;
        match held {
            Some(file) => Ok(AgentFlock {
                path: path.to_owned(),
                file,
            }),
            None => Err(
                Error::new(ErrorKind::Busy, format!("`{}` is locked", path.display()))
                    .because("another clinvoker or boswell process is writing to this store")
                    .advising(Advice::RetryLater),
            ),
        }
    }

    /// Returns the path of the lock file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether the path still leads to the locked file: otherwise other processes do not
    /// see the lock any more.
    pub fn is_ours(&self, disk: &dyn Disk) -> Result<bool> {
        leads_to(disk, &self.path, self.file.as_ref())
    }
}

fn attempt(disk: &dyn Disk, path: &Path) -> Result<Option<Box<dyn DiskFile>>> {
    let fault = |error| Error::io(path.display(), "lock", error);
    let file = disk.open(path, OpenMode::Lock).map_err(fault)?;
    if !file.try_lock(LockMode::Exclusive).map_err(fault)? {
        return Ok(None);
    }
    Ok(leads_to(disk, path, file.as_ref())?.then_some(file))
}

fn leads_to(disk: &dyn Disk, path: &Path, file: &dyn DiskFile) -> Result<bool> {
    let fault = |error| Error::io(path.display(), "lock", error);
    let ours = file.stat().map_err(fault)?.identity;
    Ok(disk
        .stat(path)
        .map_err(fault)?
        .is_some_and(|stat| stat.identity == ours))
}
