//! clinvoker's lock: an OS lock on a file that its holder unlinks when it lets go.
//!
//! Whoever waited on the unlinked file then holds a lock that nobody else can see. So after locking we look whether the
//! path still leads to the file we locked, and start again if not. We never unlink it ourselves.

use std::path::{Path, PathBuf};

use boswell_model::{Error, ErrorKind, Result};

use super::Wait;
use super::taking::try_until;
use crate::disk::{Disk, DiskFile, LockMode, Open, durable};

/// clinvoker's lock while it is held. Dropping it lets go; the file stays.
#[derive(Debug)]
pub struct AgentFlock {
    path: PathBuf,
    _file: Box<dyn DiskFile>,
}

impl AgentFlock {
    /// Takes the lock; the file and its folder are made if they are not there.
    pub fn take(disk: &dyn Disk, path: &Path, wait: Wait) -> Result<Self> {
        if let Some(folder) = path.parent() {
            durable::make_folders(disk, folder)?;
        }
        let mut held = None;
        try_until(disk, wait, || {
            held = attempt(disk, path)?;
            Ok(held.is_some())
        })?;
        match held {
            Some(file) => Ok(AgentFlock { path: path.to_owned(), _file: file }),
            None => Err(Error::new(ErrorKind::Busy, format!("`{}` is locked", path.display()))
                .because("another clinvoker or boswell process is writing to this store")
                .hinting("try again when it has finished")),
        }
    }

    /// Path of the lock file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn attempt(disk: &dyn Disk, path: &Path) -> Result<Option<Box<dyn DiskFile>>> {
    let fault = |error| Error::io(path.display(), "lock", error);
    let file = disk.open(path, Open::Lock).map_err(fault)?;
    if !file.try_lock(LockMode::Exclusive).map_err(fault)? {
        return Ok(None);
    }
    let ours = file.stat().map_err(fault)?.identity;
    let there = disk.stat(path).map_err(fault)?.map(|stat| stat.identity);
    Ok((there == Some(ours)).then_some(file))
}
