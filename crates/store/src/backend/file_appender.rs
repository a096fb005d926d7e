//! Appends to a log that is a file.
//!
//! Boswell's own writers exclude each other with the append lock. The agents take no lock, so three
//! things can happen that a lock cannot prevent, and each is detected:
//!
//! * The file is replaced, removed or truncated: `lock` compares the identity (device and inode)
//!   and the length before every write, and `synced` again after every `fsync`. The writer is then
//!   fenced.
//! * Another program appends at the same moment: `O_APPEND` keeps both appends whole, but one may
//!   land in the middle of the other's line. [`FileAppender::write`] compares the resulting length,
//!   and `after_race` searches for the lines and writes them again.
//! * An `fsync` of another process failed: the failed-sync marker fences this writer.
//!
//! A receipt also promises that the *name* of the file survives, so the first `fsync` of a log
//! covers its directory entries up to the root (`sync_names`). The append lock's file remembers
//! that this was done.

use std::path::Path;
use std::sync::Arc;

use boswell_model::{Advice, Error, ErrorKind, Result};

use super::ObjectReader;
use super::failed_sync::{is_marked, mark};
use super::fs::{FsObject, path_below};
use super::fs_logs::{FsLogs, Remembered, lock_name};
use super::log_backend::{AppendError, AppendResult, LogAppender, LogName, SyncWork};
use crate::disk::{Disk, DiskFile, OpenMode, Stat, durable, read_full};
use crate::locks::lease::{AppendGuard, AppendLock, NamedLog};

/// How many times lines are written again when another program writes into them.
const RACES: usize = 100;

#[derive(Debug)]
pub(super) struct FileAppender {
    disk: Arc<dyn Disk>,
    root: Arc<Path>,
    file: Arc<dyn DiskFile>,
    /// Device and inode of the open file. The path may lead to another file later.
    identity: (u64, u64),
    place: LogPath,
    /// The path under which the log becomes visible, while it has a hidden one.
    visible: Option<LogPath>,
    append_lock: AppendLock,
    held: Option<AppendGuard>,
    /// Whether the directory entries of the log are durable, up to the root.
    named: bool,
    /// The path for which the last [`SyncWork`] was made; compared afterwards, because the log may
    /// be renamed meanwhile.
    syncing: Option<Arc<Path>>,
    races: u64,
}

/// A log's key in the store and its path on disk.
#[derive(Debug, Clone)]
struct LogPath {
    key: String,
    path: Arc<Path>,
}

impl FileAppender {
    /// Opens a log and returns its end. A log with the failed-sync marker is copied to a new file
    /// first.
    pub(super) fn open(logs: &FsLogs, name: &LogName<'_>) -> Result<(FileAppender, u64)> {
        let disk = logs.disk.as_ref();
        let place = |key: &str| {
            Ok(LogPath {
                key: key.to_owned(),
                path: path_below(&logs.root, key)?.into(),
            })
        };
        let (visible, place) = (name.visible.map(place).transpose()?, place(name.key)?);
        let (append_lock, mut known) = match logs.take_remembered(name.key) {
            Some(Remembered { append_lock, log }) => (append_lock, Some(log)),
            None => (AppendLock::new(&logs.locks, &lock_name(name.session)), None),
        };
        let open = || {
            disk.open_seen(&place.path, OpenMode::Append)
                .map_err(|error| cannot_open(&place.path, error))
        };
        let (mut file, mut stat) = open()?;
        if name.just_made {
            // `LogBackend::create` has synced the file and its folders.
            known = Some(remember(disk, &append_lock, &place, stat.identity));
        }
        // The note in the append lock's file counts only if it names this very file under this key.
        let known = known.or_else(|| append_lock.remembered(disk));
        let known = known.filter(|log| log.identity == stat.identity && log.key == name.key);
        let mut named = known.is_some();
        if is_marked(disk, &append_lock)? {
            logs.settle(name, &place.path, &append_lock)?;
            // `settle` put a new file in this place: the open one is obsolete, and the new name may
            // not be durable.
            (file, stat) = open()?;
            named = false;
        }
        logs.link_before_appending(name, &place.path, &stat);
        let appender = FileAppender {
            disk: Arc::clone(&logs.disk),
            root: Arc::clone(&logs.root),
            file: file.into(),
            identity: stat.identity,
            named,
            place,
            visible,
            append_lock,
            held: None,
            syncing: None,
            races: 0,
        };
        Ok((appender, stat.len))
    }

    fn fault(&self, what: &str, error: std::io::Error) -> Error {
        Error::io(self.place.path.display(), what, error)
    }

    /// Fails if an `fsync` of another writer failed. The kernel may have dropped bytes of this
    /// writer too, and reports that to no later `fsync`.
    fn check_marker(&self) -> AppendResult<()> {
        if is_marked(self.disk.as_ref(), &self.append_lock)? {
            let what = format!(
                "another writer could not sync the log `{}`",
                self.place.path.display()
            );
            let error = Error::new(ErrorKind::Unavailable, what).advising(Advice::ReopenSession);
            return Err(AppendError::Fenced(error));
        }
        Ok(())
    }

    /// Returns the state of the open file, if the path still leads to it. Another writer may have
    /// published a hidden log meanwhile; then the appender continues under the visible path.
    fn still_there(&mut self) -> AppendResult<Stat> {
        let (disk, mine) = (self.disk.as_ref(), self.identity);
        let seen_at = |place: &LogPath| -> Result<Option<Stat>> {
            let there = disk
                .stat(&place.path)
                .map_err(|error| self.fault("look at", error))?;
            Ok(there.filter(|there| there.identity == mine))
        };
        if let Some(seen) = seen_at(&self.place)? {
            return Ok(seen);
        }
        let published = self.visible.as_ref().map(seen_at).transpose()?.flatten();
        match self.visible.take().zip(published) {
            Some((visible, seen)) => {
                // The new name was made by another process, which may not have synced it.
                (self.place, self.named) = (visible, false);
                Ok(seen)
            }
            None => Err(self.fenced("was replaced or removed")),
        }
    }

    /// Fails unless the path leads to the open file and the log has no failed-sync marker.
    fn look(&mut self) -> AppendResult<Stat> {
        let seen = self.still_there()?;
        self.check_marker()?;
        Ok(seen)
    }

    fn fenced(&self, what: &str) -> AppendError {
        let what = format!(
            "the log `{}` {what} by another process",
            self.place.path.display()
        );
        AppendError::Fenced(Error::new(ErrorKind::Conflict, what).advising(Advice::ReopenSession))
    }

    fn len(&self) -> Result<u64> {
        self.file
            .stat()
            .map(|stat| stat.len)
            .map_err(|error| self.fault("look at", error))
    }

    fn append_bytes(&self, bytes: &[u8]) -> Result<()> {
        durable::append_all(self.file.as_ref(), bytes)
            .map_err(|error| self.fault("append to", error))
    }

    /// Appends `bytes` and returns where they landed: at `end`, unless a program without a lock
    /// appended first.
    fn write(&mut self, end: u64, bytes: &[u8]) -> Result<u64> {
        if bytes.is_empty() {
            return Ok(end);
        }
        self.append_bytes(bytes)?;
        let ended = self
            // The file offset after the `write`, wherever the bytes landed. The length of the file
            // would also count a concurrent append.
            .file
            .appended_to()
            .map_err(|error| self.fault("look at", error))?;
        if ended == end + bytes.len() as u64 {
            return Ok(end);
        }
        self.after_race(end, bytes)
    }

    /// Handles an append that a program without a lock made at the same moment: finds our bytes,
    /// and writes them again while they share a line with others.
    fn after_race(&mut self, end: u64, bytes: &[u8]) -> Result<u64> {
        // A leading newline only ends the torn line before: it need not stay next to our lines.
        let lines = bytes
            .strip_prefix(b"\n")
            .filter(|lines| !lines.is_empty())
            .unwrap_or(bytes);
        for _ in 0..RACES {
            self.races += 1;
            if let Some(start) = self.own_line(end, lines)? {
                // `write` promises the start of `bytes`, which includes that newline.
                return Ok(start - (bytes.len() - lines.len()) as u64);
            }
            // The bytes of this attempt stay where they landed: a log is never cut.
            self.append_bytes(&[b"\n", lines].concat())?;
        }
        let what = format!(
            "another process keeps writing into the lines that are appended to `{}`",
            self.place.path.display()
        );
        Err(Error::new(ErrorKind::Conflict, what)
            .advising("end the program that writes the session without a lock, then append again"))
    }

    /// Returns the position of `lines` behind `end`, if they begin at the start of a line.
    fn own_line(&self, end: u64, lines: &[u8]) -> Result<Option<u64>> {
        // One byte before: a newline there proves that a match at `end` begins a line.
        let from = end.saturating_sub(1);
        let mut region = vec![0; usize::try_from(self.len()?.saturating_sub(from)).unwrap_or(0)];
        let done = read_full(self.file.as_ref(), &mut region, from)
            .map_err(|error| self.fault("read back", error))?;
        region.truncate(done);
        let on_own_line = |at: &usize| {
            from + *at as u64 == 0
                || *at > 0 && region.get(*at - 1).is_some_and(|byte| *byte == b'\n')
        };
        Ok(memchr::memmem::find_iter(&region, lines)
            .find(on_own_line)
            .map(|at| from + at as u64))
    }
}

impl LogAppender for FileAppender {
    fn lock(&mut self, known: u64) -> AppendResult<u64> {
        if self.held.is_none() {
            self.held = Some(self.append_lock.hold(self.disk.as_ref())?);
        }
        let end = self.look()?.len;
        if end < known {
            // Another program rewrote the log: positions that this writer knows are void.
            Err(self.fenced("was cut shorter"))
        } else {
            Ok(end)
        }
    }

    fn append(&mut self, end: u64, lines: &[u8]) -> AppendResult<u64> {
        // A failed `write`, such as on a full disk (ENOSPC), leaves no marker: what it wrote is a
        // torn last line at worst, which the next writer separates. The error latches the writer:
        // `latch` in `writer/state.rs`.
        Ok(self.write(end, lines)?)
    }

    fn unlock(&mut self) {
        if let Some(held) = self.held.take() {
            self.append_lock.release(held);
        }
    }

    fn position_after(&self, at: u64, line: &[u8]) -> u64 {
        at + line.len() as u64
    }

    fn sync(&mut self) -> Option<SyncWork> {
        let path = Arc::clone(&self.place.path);
        self.syncing = Some(Arc::clone(&path));
        let file = Arc::clone(&self.file);
        // Once per log; later appends change no directory entry.
        let unnamed = (!self.named).then(|| (Arc::clone(&self.disk), Arc::clone(&self.root)));
        Some(Box::new(move || {
            file.sync()
                .map_err(|error| Error::io(path.display(), "sync", error))?;
            unnamed.map_or(Ok(()), |(disk, root)| {
                sync_names(disk.as_ref(), &path, &root)
            })
        }))
    }

    fn synced(&mut self, outcome: Result<()>) -> Result<bool> {
        let path = self
            .syncing
            .take()
            .unwrap_or_else(|| Arc::clone(&self.place.path));
        // Marked only after a failed `fsync`: the kernel may then show bytes that are not on disk.
        outcome.inspect_err(|_| mark(self.disk.as_ref(), &self.append_lock))?;
        // A sync of a file that the path no longer leads to protects nothing: the receipt would be
        // false.
        match self.look() {
            Ok(_) | Err(AppendError::Stale) => {}
            Err(AppendError::Fenced(error) | AppendError::Failed(error)) => return Err(error),
        }
        // The log was renamed meanwhile, and its new name must be synced too.
        if path != self.place.path {
            return Ok(false);
        }
        if !self.named {
            self.named = true;
            remember(
                self.disk.as_ref(),
                &self.append_lock,
                &self.place,
                self.identity,
            );
        }
        Ok(true)
    }

    fn reader(&self) -> Result<Box<dyn ObjectReader>> {
        Ok(Box::new(FsObject::new(
            Arc::clone(&self.file),
            Arc::clone(&self.place.path),
        )))
    }

    fn key(&self) -> &str {
        &self.place.key
    }

    fn file(&self) -> Option<(u64, u64)> {
        Some(self.identity)
    }

    fn publish(&mut self) -> Result<()> {
        let Some(visible) = self.visible.clone() else {
            return Ok(());
        };
        let renamed = self.disk.rename(&self.place.path, &visible.path);
        renamed.map_err(|error| Error::io(visible.path.display(), "make visible", error))?;
        (self.place, self.visible, self.named) = (visible, None, false);
        Ok(())
    }

    /// Writes a line over itself, so that the next `fsync` covers it.
    ///
    /// The process that wrote it may have been killed right after its `fsync` failed, before it
    /// could create the failed-sync marker. The kernel then shows bytes that are not on disk and
    /// has marked their pages clean, so that only a new write makes the next `fsync` write them.
    fn rewrite_for_sync(&mut self, at: u64, len: u64) -> Result<bool> {
        // One byte more for the newline, if there is one.
        let mut bytes = vec![0; usize::try_from(len + 1).unwrap_or(0)];
        let done = read_full(self.file.as_ref(), &mut bytes, at)
            .map_err(|error| self.fault("read", error))?;
        bytes.truncate(done);
        self.disk
            .write_again(&self.place.path, self.identity, &bytes, at)
            .map_err(|error| self.fault("write to", error))?;
        Ok(true)
    }

    fn races(&self) -> u64 {
        self.races
    }
}

/// Notes in the append lock's file that a log is durable under its name.
fn remember(disk: &dyn Disk, lock: &AppendLock, place: &LogPath, identity: (u64, u64)) -> NamedLog {
    let log = NamedLog {
        identity,
        key: place.key.clone(),
    };
    lock.remember(disk, &log);
    log
}

/// Makes the name of a log durable, with all folders up to the root: the process that made those
/// folders may have died before it synced them.
fn sync_names(disk: &dyn Disk, path: &Path, root: &Path) -> Result<()> {
    let mut at = path;
    loop {
        if at == root {
            return durable::sync_above(disk, at);
        }
        durable::sync_parent(disk, at)?;
        match at.parent().filter(|parent| parent.starts_with(root)) {
            Some(parent) => at = parent,
            None => return Ok(()),
        }
    }
}

fn cannot_open(path: &Path, error: std::io::Error) -> Error {
    if is_link(&error) {
        return Error::new(
            ErrorKind::Invalid,
            format!("`{}` is a symbolic link", path.display()),
        )
        .because(
            "boswell writes to regular files only, so that a planted link cannot lead it elsewhere",
        )
        .advising("put the file itself where the link is");
    }
    Error::io(path.display(), "open", error)
}

#[cfg(unix)]
fn is_link(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_link(_error: &std::io::Error) -> bool {
    false
}
