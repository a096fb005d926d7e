//! The lease of a session (one writer at a time) and the append lock of its log.
//!
//! Both are OS locks on files that are never renamed or unlinked: they end with the process that
//! holds them and are never stolen by age, because a suspended laptop is not a dead process. A
//! lease is held while a writer is open; an append lock only for one append, so that other
//! processes can add titles or tags in between.
//!
//! The content of a lease's file names its holder, for error messages only; no decision depends on
//! it. The file of the append lock has a second use: it remembers which log is durable under its
//! name ([`NamedLog`]), which saves the next writer the sync of all folders above. It is a hint
//! that may be lost or outdated: readers compare it with the file.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use boswell_model::{Advice, Error, ErrorKind, Instant, Result};

use crate::disk::durable::{self, make_folders};
use crate::disk::{Disk, DiskFile, LockMode, OpenMode};
use crate::locks::{Owner, try_every, with_holder, write_owner};

/// How long to wait for a lock that another process holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wait {
    /// Fails immediately.
    #[default]
    No,
    /// Waits at most this long.
    For(Duration),
    /// Waits until the lock is free.
    Forever,
}

/// The first pause between two attempts to take a lease, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(10));

/// As [`PAUSES`], for an append lock, which is held for a few writes only.
pub(crate) const SHORT_PAUSES: (Duration, Duration) =
    (Duration::from_micros(100), Duration::from_millis(1));

/// The held lock of a lease. Dropping it releases the lock.
#[derive(Debug)]
pub(crate) struct LeaseLock {
    _file: Box<dyn DiskFile>,
}

impl LeaseLock {
    /// Takes the lock with that name in `folder`, which is made if it is missing. `what` names the
    /// session in the error.
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

/// A lock that is held for one append. Processes without the lease take it too, for entries that do
/// not move the leaf.
#[derive(Debug)]
pub(crate) struct AppendLock {
    path: PathBuf,
    /// The path of the log's failed-sync marker, which every append looks for.
    marker: PathBuf,
    /// The lock file, kept open between appends: opening it costs more than locking it.
    open: Mutex<Option<Box<dyn DiskFile>>>,
}

/// A held append lock. Dropping it releases the lock; [`AppendLock::release`] also keeps its file
/// open for the next append.
#[derive(Debug)]
pub(crate) struct AppendGuard(Box<dyn DiskFile>);

impl AppendLock {
    /// Returns the append lock with that name in `folder`.
    pub(crate) fn new(folder: &Path, name: &str) -> Self {
        let path = append_lock_path(folder, name);
        AppendLock {
            marker: path.with_extension(FAILED_SYNC),
            path,
            open: Mutex::default(),
        }
    }

    /// Returns the log that the lock file notes as durable under its name; `None` if there is no
    /// lock file yet.
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
        // One read is enough: a longer record was not written by this code.
        let read = file.read_at(&mut record, 0);
        self.keep(file);
        NamedLog::read(record.get(..read.ok()?)?)
    }

    /// Notes that a log is durable under its name, so that the next writer need not sync the
    /// folders above it.
    ///
    /// Called only after these were synced. The note itself is not synced: if it is lost, they are
    /// synced once more.
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

    /// Returns the path of the log's failed-sync marker.
    pub(crate) fn failed_sync_marker(&self) -> &Path {
        &self.marker
    }

    /// Takes the lock. Waits at most ten seconds: every holder needs it for a few writes only.
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

    /// Releases the lock and keeps its file open.
    pub(crate) fn release(&self, held: AppendGuard) {
        // Unlocked explicitly, because keeping the file open keeps the lock.
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

/// The longest record of a log's name that is read, in bytes.
const LONGEST_RECORD: usize = 1024;

/// A log that is durable under its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedLog {
    /// Device and inode of the file.
    pub(crate) identity: (u64, u64),
    pub(crate) key: String,
}

impl NamedLog {
    /// Parses a record: device, inode, an unused word, and the key, which may contain anything but
    /// a newline.
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

/// File extension of the failed-sync marker.
const FAILED_SYNC: &str = "doubt";

/// File extension of a hard link that earlier versions made for a moment, and left behind if they
/// were killed.
const TRIAL: &str = "name";

/// Returns files next to the lock that may be hard links to the log: earlier versions marked logs
/// so.
pub(crate) fn old_hard_links(folder: &Path, name: &str) -> [PathBuf; 2] {
    [FAILED_SYNC, TRIAL].map(|ending| side_files(folder, name, ending))
}

/// The longest part of a lock's file name that comes from the session, in bytes.
const LONGEST_NAME: usize = 200;

fn side_files(folder: &Path, name: &str, ending: &str) -> PathBuf {
    // Ids may contain characters that a file name may not. Two sessions may then share a lock,
    // which only makes them wait; the same session must always get the same one.
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
    // The common case first: the file and its folder exist.
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
        format!("{what} is being written by another process"),
    )
    .advising(
        Advice::WaitLonger
            .or(Advice::ShowSession { session: None })
            .or(Advice::Fork {
                session: None,
                at: None,
            }),
    );
    with_holder(disk, lock, "its lease", error)
}
