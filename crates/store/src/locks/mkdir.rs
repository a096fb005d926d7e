//! [`MkdirLock`]: MyAgents' lock, a folder that only one process can make, with a file `owner` in
//! it.
//!
//! The owner is `node:PID[:START]` or `rust:PID[:START]`. The lock of a dead process is broken
//! immediately; that of a live process, or of one whose state is unknown, never. A lock without a
//! readable owner is broken only if it is older than 30 seconds. Breaking renames the folder away,
//! which only one process can do; afterwards the owner is compared once more, because another
//! process may have broken the lock and taken it in between.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_model::{Advice, Error, ErrorDetails, ErrorKind, LockHolder, Result};

use super::Wait;
use super::acquire::try_until;
use crate::disk::{Disk, OpenMode, ProcessState, Processes, durable};
use boswell_dialect::IdSource;

/// Age in nanoseconds from which a lock without a readable owner counts as abandoned.
const STALE: i128 = 30_000_000_000;
/// The largest owner file that is read, in bytes.
const LONGEST_OWNER: usize = 256;

/// The owner of a folder lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MkdirOwner {
    /// Process id.
    pub pid: u32,
    /// Start time in milliseconds since 1970. Not compared: it does not show whether the process id
    /// was reused.
    pub started: Option<u64>,
}

impl MkdirOwner {
    /// Parses an owner file as MyAgents does: only these five white-space characters are trimmed, a
    /// byte order mark is not.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let space = |byte: &u8| matches!(byte, b'\t' | b'\n' | 0x0C | b'\r' | b' ');
        let start = bytes.iter().position(|byte| !space(byte))?;
        let end = bytes.iter().rposition(|byte| !space(byte))? + 1;
        let text = std::str::from_utf8(bytes.get(start..end)?).ok()?;
        let rest = text
            .strip_prefix("node:")
            .or_else(|| text.strip_prefix("rust:"))?;
        let (pid, started) = match rest.split_once(':') {
            Some((pid, started)) => (pid, Some(number(started, (1 << 53) - 1)?)),
            None => (rest, None),
        };
        let pid = u32::try_from(number(pid, (1 << 31) - 1)?).ok()?;
        (pid > 0).then_some(MkdirOwner { pid, started })
    }

    fn token(self) -> String {
        match self.started {
            Some(started) => format!("rust:{}:{started}", self.pid),
            None => format!("rust:{}", self.pid),
        }
    }
}

fn number(digits: &str, largest: u64) -> Option<u64> {
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|n| plain && *n <= largest)
}

/// MyAgents' lock, held. Dropping it releases the lock, if it was not broken meanwhile.
#[derive(Debug)]
pub struct MkdirLock {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    token: String,
}

impl MkdirLock {
    /// Takes the lock at `path`, and breaks an abandoned one.
    pub fn take(
        disk: &Arc<dyn Disk>,
        path: &Path,
        owner: MkdirOwner,
        processes: &dyn Processes,
        id_source: &dyn IdSource,
        wait: Wait,
    ) -> Result<Self> {
        let token = owner.token();
        let taken = try_until(disk.as_ref(), wait, || {
            // After breaking a stale lock, one attempt without a pause: probably no other process
            // wants it.
            Ok(make(disk.as_ref(), path, &token)?
                || (break_stale(disk.as_ref(), path, processes, id_source)?
                    && make(disk.as_ref(), path, &token)?))
        })?;
        if taken {
            return Ok(MkdirLock {
                disk: Arc::clone(disk),
                path: path.to_owned(),
                token,
            });
        }
        let holder = read_owner(disk.as_ref(), path)?
            .as_deref()
            .and_then(MkdirOwner::parse);
        let busy = Error::new(ErrorKind::Busy, format!("`{}` is locked", path.display()));
        let busy = match holder {
            Some(owner) => busy
                .because(format!("process {} holds MyAgents' lock", owner.pid))
                .detailing(ErrorDetails::Held {
                    holder: LockHolder {
                        pid: Some(owner.pid),
                        ..LockHolder::default()
                    },
                }),
            None => busy.because("a process that did not write its id holds MyAgents' lock"),
        };
        Err(busy
            .advising("try again when MyAgents has finished; if it has crashed, in half a minute"))
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Fails if the lock was lost: MyAgents before 0.2.14 breaks locks after half a minute.
    pub fn still_ours(&self) -> Result<()> {
        let owner = read_owner(self.disk.as_ref(), &self.path)?;
        let there = self
            .disk
            .stat(&self.path)
            .map_err(|error| Error::io(self.path.display(), "look at", error))?;
        if there.is_some() && owner.is_none_or(|bytes| bytes.trim_ascii() == self.token.as_bytes())
        {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Busy,
            format!("the lock `{}` was lost", self.path.display()),
        )
        .because("another process broke the lock while it was held")
        .advising(Advice::Retry))
    }

    fn release(&self) -> Result<()> {
        // A lock that was broken belongs to another process now. A folder without an owner file is
        // still ours: making the folder is what takes the lock.
        let owner = read_owner(self.disk.as_ref(), &self.path)?;
        let ours = owner.is_none_or(|bytes| bytes.trim_ascii() == self.token.as_bytes());
        if ours {
            remove_folder(self.disk.as_ref(), &self.path)
        } else {
            Ok(())
        }
    }
}

impl Drop for MkdirLock {
    fn drop(&mut self) {
        // If this fails, the next process breaks the lock once this one is gone.
        let _ = self.release();
    }
}

fn make(disk: &dyn Disk, path: &Path, token: &str) -> Result<bool> {
    let made = match disk.make_folder(path) {
        // The first lock of a store: its folder of locks is made on demand.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            path.parent()
                .map_or(Ok(()), |parent| durable::make_folders(disk, parent))?;
            disk.make_folder(path)
        }
        made => made,
    };
    match made {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(Error::io(path.display(), "lock", error)),
    }
    // The folder is the lock; MyAgents tolerates a missing owner file, and so does boswell.
    let owner = path.join("owner");
    if let Ok(file) = disk.open(&owner, OpenMode::CreateNew)
        && let Err(error) = durable::append_all(file.as_ref(), format!("{token}\n").as_bytes())
    {
        // A partly written owner would be taken for another process, also by this one.
        if disk.remove(&owner).is_err() {
            let _ = disk.remove_folder(path);
            return Err(Error::io(owner.display(), "write", error));
        }
    }
    Ok(true)
}

/// Why a lock is abandoned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abandoned {
    /// The process that took it does not exist any more.
    Dead(u32),
    /// It has no readable owner, and is older than 30 seconds.
    Nameless,
}

/// Returns why the lock at a path is abandoned; `None` if it is held or missing. Changes nothing.
pub fn abandoned(
    disk: &dyn Disk,
    path: &Path,
    processes: &dyn Processes,
    id_source: &dyn IdSource,
) -> Result<Option<Abandoned>> {
    match disk
        .stat(path)
        .map_err(|error| Error::io(path.display(), "look at", error))?
    {
        Some(stat) => Ok(judge(
            read_owner(disk, path)?.as_deref(),
            stat.modified,
            processes,
            id_source,
        )),
        None => Ok(None),
    }
}

fn judge(
    owner: Option<&[u8]>,
    modified: i128,
    processes: &dyn Processes,
    id_source: &dyn IdSource,
) -> Option<Abandoned> {
    match owner.and_then(MkdirOwner::parse) {
        Some(owner) => (processes.process_state(owner.pid) == ProcessState::No)
            .then_some(Abandoned::Dead(owner.pid)),
        None => (i128::from(id_source.now().millis()) * 1_000_000 - modified > STALE)
            .then_some(Abandoned::Nameless),
    }
}

/// Removes the lock if it is abandoned; returns true if it is gone.
fn break_stale(
    disk: &dyn Disk,
    path: &Path,
    processes: &dyn Processes,
    id_source: &dyn IdSource,
) -> Result<bool> {
    let Some(stat) = disk
        .stat(path)
        .map_err(|error| Error::io(path.display(), "look at", error))?
    else {
        return Ok(true);
    };
    let judged = read_owner(disk, path)?;
    if judge(judged.as_deref(), stat.modified, processes, id_source).is_none() {
        return Ok(false);
    }
    let name = path
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    let tomb = path.with_file_name(format!("{name}.stale-{}", id_source.hex16()));
    match disk.rename(path, &tomb) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(Error::io(path.display(), "break the lock", error)),
    }
    // Another process may have broken the lock and taken it between the look and the rename: then
    // its folder is put back.
    if read_owner(disk, &tomb)? != judged && disk.rename(&tomb, path).is_ok() {
        return Ok(false);
    }
    // A renamed folder that stays is garbage, not a lock.
    let _ = remove_folder(disk, &tomb);
    Ok(true)
}

/// Reads the owner file; `None` if it is missing.
fn read_owner(disk: &dyn Disk, path: &Path) -> Result<Option<Vec<u8>>> {
    let owner = path.join("owner");
    let fault = |error| Error::io(owner.display(), "read", error);
    let file = match disk.open(&owner, OpenMode::Read) {
        Ok(file) => file,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(fault(error)),
    };
    let mut bytes = vec![0; LONGEST_OWNER];
    let count = crate::disk::read_full(file.as_ref(), &mut bytes, 0).map_err(fault)?;
    bytes.truncate(count);
    Ok(Some(bytes))
}

fn remove_folder(disk: &dyn Disk, path: &Path) -> Result<()> {
    let fault = |error| Error::io(path.display(), "remove the lock", error);
    for (name, _) in disk.list(path).map_err(fault)? {
        disk.remove(&path.join(name)).map_err(fault)?;
    }
    disk.remove_folder(path).map_err(fault)
}
