//! Who drives a conversation.
//!
//! A lease is an OS lock on a file that is never renamed or unlinked: it ends with its process and
//! is never stolen by age. What stands in the file says who holds it, for the error text only;
//! nobody decides by it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use boswell_model::{Error, ErrorKind, Instant, Result};

use crate::disk::durable::{self, make_folders};
use crate::disk::{Disk, DiskFile, LockMode, OpenMode};
use crate::locks::{Owner, holder, try_every, write_owner};

/// How long to wait for what somebody else holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wait {
    /// Not at all.
    #[default]
    No,
    /// At most this long.
    For(Duration),
    /// As long as it takes.
    Forever,
}

/// Between two tries to take a lease: the first pause, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(10));

/// The same for an append lock, which is held for a few writes only.
pub(crate) const SHORT_PAUSES: (Duration, Duration) =
    (Duration::from_micros(100), Duration::from_millis(1));

/// The lock of a lease while it is held. Dropping it gives it up.
#[derive(Debug)]
pub(crate) struct LeaseLock {
    _file: Box<dyn DiskFile>,
}

impl LeaseLock {
    /// Takes the lock of that name in `folder`, which is made if it is not there.
    pub(crate) fn take(
        disk: &Arc<dyn Disk>,
        folder: &Path,
        name: &str,
        wait: Wait,
        (program, since): (&str, Instant),
        what: impl FnOnce() -> String,
    ) -> Result<LeaseLock> {
        let path = lock_path(folder, name);
        let file = open_lock(disk.as_ref(), &path)?;
        let fault = |error| Error::io(path.display(), "lock", error);
        if !try_every(disk.as_ref(), wait, PAUSES, || {
            file.try_lock(LockMode::Exclusive).map_err(fault)
        })? {
            return Err(busy(disk.as_ref(), &path, &what()));
        }
        write_owner(disk.as_ref(), file.as_ref(), || Owner::this(program), since);
        Ok(LeaseLock { _file: file })
    }
}

/// A lock that is taken for the time of one append: anybody may add what does not move the leaf.
#[derive(Debug)]
pub(crate) struct AppendLock {
    path: PathBuf,
    /// The lock file, kept open between appends: opening it costs more than locking it.
    open: Mutex<Option<Box<dyn DiskFile>>>,
}

/// An append lock that is held. Dropping it gives it up; [`AppendLock::release`] also keeps its
/// file for the next time.
#[derive(Debug)]
pub(crate) struct AppendGuard(Box<dyn DiskFile>);

impl AppendLock {
    /// The append lock of that name.
    pub(crate) fn new(folder: &Path, name: &str) -> Self {
        AppendLock {
            path: append_lock_path(folder, name),
            open: Mutex::default(),
        }
    }

    /// The log of which the lock file says that it is durable under its name. None where there
    /// is no lock file yet.
    pub(crate) fn remembered(&self, disk: &dyn Disk) -> Option<NamedLog> {
        let kept = self
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let file = kept
            .map_or_else(|| disk.open(&self.path, OpenMode::ExistingLock), Ok)
            .ok()?;
        let mut record = [0; LONGEST_RECORD];
        // In one read: a record that is longer is none of ours.
        let read = file.read_at(&mut record, 0);
        self.keep(file);
        NamedLog::read(record.get(..read.ok()?)?)
    }

    /// Notes that a log is durable under its name, so that the next writer need not sync the
    /// folders that lead to it.
    ///
    /// Called only after they were synced, so it may itself be lost: then they
    /// are synced once more.
    pub(crate) fn remember(&self, disk: &dyn Disk, log: &NamedLog) {
        let record = log.to_bytes();
        if record.len() < LONGEST_RECORD
            && let Ok(file) = disk.open(&self.path, OpenMode::Lock)
        {
            let _ = file
                .truncate(0)
                .and_then(|()| durable::append_all(file.as_ref(), &record));
        }
    }

    /// The path of the failed-sync marker of the log.
    pub(crate) fn failed_sync_marker(&self) -> PathBuf {
        self.path.with_extension(FAILED_SYNC)
    }

    /// Takes it, waiting at most ten seconds: nobody needs it longer than a few writes.
    pub(crate) fn hold(&self, disk: &dyn Disk) -> Result<AppendGuard> {
        let file = self.file(disk)?;
        let fault = |error| Error::io(self.path.display(), "lock", error);
        let attempt = || file.try_lock(LockMode::Exclusive).map_err(fault);
        let got = try_every(
            disk,
            Wait::For(Duration::from_secs(10)),
            SHORT_PAUSES,
            attempt,
        )?;
        if got {
            Ok(AppendGuard(file))
        } else {
            Err(busy(disk, &self.path, "the log"))
        }
    }

    /// Gives it up.
    pub(crate) fn release(&self, held: AppendGuard) {
        if held.0.unlock().is_ok() {
            self.keep(held.0);
        }
    }

    fn file(&self, disk: &dyn Disk) -> Result<Box<dyn DiskFile>> {
        let kept = self
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        kept.map_or_else(|| open_lock(disk, &self.path), Ok)
    }

    fn keep(&self, file: Box<dyn DiskFile>) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
    }
}

/// The longest record of a log's name that is looked at.
const LONGEST_RECORD: usize = 1024;

/// A log that is durable under its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedLog {
    /// Which file it is.
    pub(crate) identity: (u64, u64),
    pub(crate) key: String,
}

impl NamedLog {
    /// Device, inode, a word that is no longer used, and the key, which may hold
    /// anything but a line end.
    fn read(record: &[u8]) -> Option<NamedLog> {
        let mut words = std::str::from_utf8(record)
            .ok()?
            .strip_suffix('\n')?
            .splitn(4, ' ');
        let identity = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        // Earlier versions noted here whether the file system counts hard links.
        words.next()?;
        Some(NamedLog {
            identity,
            key: words.next()?.to_owned(),
        })
    }

    fn to_bytes(&self) -> Vec<u8> {
        format!("{} {} - {}\n", self.identity.0, self.identity.1, self.key).into_bytes()
    }
}

pub(crate) fn lock_path(folder: &Path, name: &str) -> PathBuf {
    side_files(folder, name, "lock")
}

pub(crate) fn append_lock_path(folder: &Path, name: &str) -> PathBuf {
    // Not `.append.lock`, which is the lease of a session whose id ends in `.append`.
    side_files(folder, name, "append-lock")
}

/// How the name of a failed-sync marker ends.
const FAILED_SYNC: &str = "doubt";

/// How a second name ended that earlier versions gave a log for a moment, and left behind
/// if they were killed.
const TRIAL: &str = "name";

/// Files next to the lock of that name that may be hard links to the log: earlier
/// versions marked logs so.
pub(crate) fn old_hard_links(folder: &Path, name: &str) -> [PathBuf; 2] {
    [FAILED_SYNC, TRIAL].map(|ending| side_files(folder, name, ending))
}

/// The longest part of a lock's name that comes from its session.
const LONGEST_NAME: usize = 200;

fn side_files(folder: &Path, name: &str, ending: &str) -> PathBuf {
    // Ids may hold what a file name may not; a lock must only be the same for the same session.
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let file = if name.len() <= LONGEST_NAME && name.bytes().all(is_safe) {
        [name, ending].join(".")
    } else {
        let is_safe = |c: char| u8::try_from(c).is_ok_and(is_safe);
        let safe: String = name
            .chars()
            .map(|c| if is_safe(c) { c } else { '_' })
            .take(LONGEST_NAME)
            .collect();
        [&safe, ending].join(".")
    };
    folder.join(file)
}

fn open_lock(disk: &dyn Disk, path: &Path) -> Result<Box<dyn DiskFile>> {
    let is_missing = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    let mut opened = disk.open(path, OpenMode::ExistingLock);
    if opened.as_ref().is_err_and(is_missing) {
        opened = disk.open(path, OpenMode::Lock);
    }
    if opened.as_ref().is_err_and(is_missing) {
        make_folders(disk, path.parent().unwrap_or(path))?;
        opened = disk.open(path, OpenMode::Lock);
    }
    opened.map_err(|error| Error::io(path.display(), "open the lock", error))
}

fn busy(disk: &dyn Disk, lock: &Path, what: &str) -> Error {
    let error = Error::new(
        ErrorKind::Busy,
        format!("{what} is being written by somebody else"),
    )
    .hinting(
        "wait with `--wait 10s`, read it with `boswell show`, or branch off with `boswell fork`",
    );
    match holder(disk, lock, "its lease") {
        Some(holder) => error.because(holder),
        None => error,
    }
}
