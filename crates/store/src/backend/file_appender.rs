//! A log in a file that is open for adding to it.
//!
//! Those who take the append lock wait for each other. Agents take none: whoever replaced or cut the file is noticed before
//! a write, and who wrote at the same moment after it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_model::{Error, ErrorKind, Result};

use super::ObjectReader;
use super::fs::FsObject;
use super::logs::{Attempt, LogAppender, Refused, SyncWork};
use crate::disk::{Disk, DiskFile, durable, read_full};
use crate::lease::{AppendLock, Held};

/// How often we write again when others write into our lines.
const RACES: usize = 100;

#[derive(Debug)]
pub(super) struct FileAppender {
    disk: Arc<dyn Disk>,
    file: Arc<dyn DiskFile>,
    /// Which file it is, whatever its path leads to.
    identity: (u64, u64),
    key: String,
    path: PathBuf,
    /// Key and path under which it will be seen.
    visible: Option<(String, PathBuf)>,
    root: PathBuf,
    append_lock: AppendLock,
    /// Stands there when a sync of somebody failed.
    doubt: PathBuf,
    turn: Option<Held>,
    /// Whether the name is durable.
    named: bool,
    /// How often a line that stood there was written again.
    rewritten: u64,
    /// The path that is being synced, and how often lines had been written again when that began.
    syncing: Option<(PathBuf, u64)>,
    races: u64,
}

impl FileAppender {
    pub(super) fn new(
        (disk, file, identity): (Arc<dyn Disk>, Arc<dyn DiskFile>, (u64, u64)),
        (key, path, visible, root): (String, PathBuf, Option<(String, PathBuf)>, PathBuf),
        (append_lock, doubt): (AppendLock, PathBuf),
        named: bool,
    ) -> FileAppender {
        FileAppender {
            disk,
            file,
            identity,
            key,
            path,
            visible,
            root,
            append_lock,
            doubt,
            turn: None,
            named,
            rewritten: 0,
            syncing: None,
            races: 0,
        }
    }

    /// Whether a sync of somebody else failed, which may have thrown away bytes of ours: later syncs do not tell.
    fn nobody_doubts(&self) -> Attempt<()> {
        let fault = |error| Error::io(self.doubt.display(), "look at", error);
        if self.disk.stat(&self.doubt).map_err(fault)?.is_some() {
            let what = format!("another writer could not sync the log `{}`", self.path.display());
            let error = Error::new(ErrorKind::Unavailable, what).hinting("open the session again and append there");
            return Err(Refused::Over(error));
        }
        Ok(())
    }

    /// Whether the path still leads to the open file. Another writer may have made a deferred log visible meanwhile.
    fn still_there(&mut self) -> Attempt<()> {
        let (disk, mine) = (self.disk.as_ref(), self.identity);
        let fault = |error| Error::io(self.path.display(), "look at", error);
        let leads_here =
            |path: &Path| disk.stat(path).map(|there| there.is_some_and(|there| there.identity == mine)).map_err(fault);
        if leads_here(&self.path)? {
            return Ok(());
        }
        let published = self.visible.as_ref().map(|(_, path)| leads_here(path)).transpose()?.unwrap_or(false);
        match self.visible.take().filter(|_| published) {
            Some((key, path)) => {
                (self.key, self.path, self.named) = (key, path, false);
                Ok(())
            }
            None => Err(self.fenced("was replaced or removed")),
        }
    }

    fn fenced(&self, what: &str) -> Refused {
        let what = format!("the log `{}` {what} by somebody else", self.path.display());
        Refused::Over(Error::new(ErrorKind::Conflict, what).hinting("open the session again and append there"))
    }

    fn len(&self) -> Result<u64> {
        self.file.stat().map(|stat| stat.len).map_err(|error| Error::io(self.path.display(), "look at", error))
    }

    fn append_bytes(&self, bytes: &[u8]) -> Result<()> {
        durable::append_all(self.file.as_ref(), bytes)
            .map_err(|error| Error::io(self.path.display(), "append to", error))
    }

    /// Appends bytes and finds out where they landed.
    fn write(&mut self, end: u64, bytes: &[u8]) -> Result<u64> {
        if bytes.is_empty() {
            return Ok(end);
        }
        self.append_bytes(bytes)?;
        if self.len()? == end + bytes.len() as u64 {
            return Ok(end);
        }
        self.after_race(end, bytes)
    }

    /// Somebody without a lock wrote at the same moment: finds our bytes, and writes them again as long as they share a line.
    fn after_race(&mut self, end: u64, bytes: &[u8]) -> Result<u64> {
        // A line end before them belongs to what stood there, and is wherever it landed.
        let lines = bytes.strip_prefix(b"\n").filter(|lines| !lines.is_empty()).unwrap_or(bytes);
        for _ in 0..RACES {
            self.races += 1;
            if let Some(start) = self.own_line(end, lines)? {
                return Ok(start - (bytes.len() - lines.len()) as u64);
            }
            self.append_bytes(&[b"\n", lines].concat())?;
        }
        Err(Error::new(ErrorKind::Conflict, format!("others keep writing into our lines of `{}`", self.path.display()))
            .hinting("end the program that writes the session without a lock, then append again"))
    }

    /// Where our lines stand on lines of their own behind what was known.
    fn own_line(&self, end: u64, lines: &[u8]) -> Result<Option<u64>> {
        let from = end.saturating_sub(1);
        let mut region = vec![0; usize::try_from(self.len()?.saturating_sub(from)).unwrap_or(0)];
        let done = read_full(self.file.as_ref(), &mut region, from)
            .map_err(|error| Error::io(self.path.display(), "read back", error))?;
        region.truncate(done);
        let on_own_line =
            |at: &usize| from + *at as u64 == 0 || *at > 0 && region.get(*at - 1).is_some_and(|byte| *byte == b'\n');
        Ok(memchr::memmem::find_iter(&region, lines).find(on_own_line).map(|at| from + at as u64))
    }

    /// Leaves a mark for the next writer, so that it copies the log before it acknowledges anything. Being fenced off is no
    /// reason to rewrite what somebody else put there.
    fn mark_doubt(&self, error: &Error) {
        if error.kind() != ErrorKind::Conflict {
            // Best effort: on a dead disk nothing more can be said.
            let _ = durable::append_lines(self.disk.as_ref(), &self.doubt, b"{\"type\":\"doubt\"}\n");
        }
    }

    fn doubting<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.inspect_err(|error| self.mark_doubt(error))
    }
}

impl LogAppender for FileAppender {
    fn begin(&mut self, known: u64) -> Attempt<u64> {
        // If the turn was handed over, nobody who takes the lock replaced the file since; a failed sync of others is looked
        // for after our own.
        if self.turn.is_none() {
            self.turn = Some(self.append_lock.hold(self.disk.as_ref())?);
            self.nobody_doubts()?;
            self.still_there()?;
        }
        let end = self.len()?;
        if end < known { Err(self.fenced("was cut shorter")) } else { Ok(end) }
    }

    fn append(&mut self, end: u64, lines: &[u8]) -> Attempt<u64> {
        let written = self.write(end, lines);
        Ok(self.doubting(written)?)
    }

    fn finish(&mut self) {
        if let Some(held) = self.turn.take() {
            self.append_lock.release(held);
        }
    }

    fn behind(&self, at: u64, line: &[u8]) -> u64 {
        at + line.len() as u64
    }

    fn sync(&mut self) -> Option<SyncWork> {
        self.syncing = Some((self.path.clone(), self.rewritten));
        let (disk, file, path, root) =
            (Arc::clone(&self.disk), Arc::clone(&self.file), self.path.clone(), self.root.clone());
        let named = self.named;
        Some(Box::new(move || {
            file.sync().map_err(|error| Error::io(path.display(), "sync", error))?;
            if named { Ok(()) } else { sync_names(disk.as_ref(), &path, &root) }
        }))
    }

    fn synced(&mut self, outcome: Result<()>) -> Result<bool> {
        let (path, rewritten) = self.syncing.take().unwrap_or_else(|| (self.path.clone(), self.rewritten));
        self.doubting(outcome)?;
        // What was synced in a file that nobody finds any more is not kept.
        match self.nobody_doubts().and_then(|()| self.still_there()) {
            Ok(()) | Err(Refused::Moved) => {}
            Err(Refused::Over(error)) => return Err(error),
            Err(Refused::Failed(error)) => return self.doubting(Err(error)),
        }
        // What was written again meanwhile may have come too late for this sync, and a log that was renamed meanwhile needs
        // its new name synced too.
        if self.rewritten != rewritten || path != self.path {
            return Ok(false);
        }
        if !self.named {
            self.named = true;
            self.append_lock.remember_name(self.disk.as_ref(), self.identity, &path);
        }
        Ok(true)
    }

    fn reader(&self) -> Result<Box<dyn ObjectReader>> {
        Ok(Box::new(FsObject::new(Arc::clone(&self.file), self.path.clone())))
    }

    fn key(&self) -> &str {
        &self.key
    }

    fn publish(&mut self) -> Result<()> {
        let Some((key, path)) = self.visible.clone() else { return Ok(()) };
        let renamed = self.disk.rename(&self.path, &path);
        self.doubting(renamed.map_err(|error| Error::io(path.display(), "make visible", error)))?;
        (self.key, self.path, self.visible, self.named) = (key, path, None, false);
        Ok(())
    }

    /// Writes a line over itself, so that the next sync covers it.
    ///
    /// Whoever wrote it may have been killed right after its sync failed, before it could leave its mark of doubt. The system
    /// then shows bytes that are not on disk, and takes them for synced.
    fn renew(&mut self, at: u64, len: u64) -> Result<bool> {
        // With the line end, if it has one already.
        let mut bytes = vec![0; usize::try_from(len + 1).unwrap_or(0)];
        let done = read_full(self.file.as_ref(), &mut bytes, at)
            .map_err(|error| Error::io(self.path.display(), "read", error))?;
        bytes.truncate(done);
        self.disk
            .write_again(&self.path, self.identity, &bytes, at)
            .map_err(|error| Error::io(self.path.display(), "write to", error))?;
        self.rewritten += 1;
        Ok(true)
    }

    fn races(&self) -> u64 {
        self.races
    }
}

/// Makes the name of a log durable with all folders that lead to it: whoever made those may have died before it synced them.
fn sync_names(disk: &dyn Disk, path: &Path, root: &Path) -> Result<()> {
    let mut at = path;
    loop {
        let synced = durable::sync_parent(disk, at);
        if at == root {
            // The folder above the store is somebody else's; where we may not read it, its names are not ours to sync.
            return synced.or_else(|error| if error.kind() == ErrorKind::Denied { Ok(()) } else { Err(error) });
        }
        synced?;
        match at.parent().filter(|parent| parent.starts_with(root)) {
            Some(parent) => at = parent,
            None => return Ok(()),
        }
    }
}
