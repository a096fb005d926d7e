//! What a writer knows of its log, and the one place that writes to it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::{Dialect, Draft};
use boswell_model::{Error, ErrorKind, Facts, Result};

use super::batch::Batch;
use super::encode::With;
use super::known::KnownIds;
use super::opening::Opened;
use super::queue::Queue;
use super::receipt::{Expect, Written};
use super::tail::Tail;
use super::waiting::{Waiting, Woken};
use crate::blobs::Blobs;
use crate::disk::{Disk, DiskFile, durable, read_full};
use crate::lease::Held;

/// How often we write again when others write into our lines.
const RACES: usize = 100;

/// What is looked at before an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// How long the log is. Enough where the append lock was handed over: nobody who takes it replaced the file since.
    Length,
    /// Also whether a sync of others failed, which may have thrown away bytes that ours would hang below, and whether the path
    /// still leads to the log.
    All,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) path: PathBuf,
    pub(super) visible: Option<PathBuf>,
    /// Stands there when a sync of somebody failed.
    doubt: PathBuf,
    pub(super) file: Arc<dyn DiskFile>,
    /// Which file it is, whatever its path leads to.
    pub(super) identity: (u64, u64),
    pub(super) tail: Tail,
    /// Where the conversation stands, and how long the log was then; only for dialects that need the whole log to tell.
    pub(super) stands: Option<(u64, Option<String>)>,
    /// Id of the session, and what its log says of it.
    pub(super) session: (String, Facts),
    pub(super) known: Option<KnownIds>,
    pub(super) blobs: Option<Blobs>,
    /// The append lock, while it is held; between two appends only if it is handed from one thread to another.
    pub(super) append_lock: Option<Held>,
    /// How often it was handed over.
    pub(super) turns: u32,
    /// Bytes of the log that were written.
    pub(super) end: u64,
    /// Bytes of the log that are durable.
    pub(super) synced_end: u64,
    /// Appends are numbered: the last number that was given, the last that is in the log, the last that is durable.
    pub(super) given: u64,
    pub(super) written: u64,
    pub(super) synced: u64,
    pub(super) syncing: bool,
    /// Entries that came while a sync was under way.
    pub(super) queue: Queue,
    pub(super) waiting: Waiting,
    pub(super) named: bool,
    /// Whether an entry that stood there was written again, and got no number yet.
    pub(super) rewritten: bool,
    /// Entries since the last good sync, with the number of their append.
    unsynced: Vec<(u64, String)>,
    latched: Option<(ErrorKind, String)>,
    pub(super) closed: bool,
    pub(super) races: u64,
}

impl State {
    pub(super) fn new(
        opened: Opened,
        (id, doubt): (&str, &Path),
        facts: Facts,
        file: Arc<dyn DiskFile>,
        identity: (u64, u64),
        tail: Tail,
    ) -> State {
        let Opened { path, visible, blobs, .. } = opened;
        State {
            path,
            visible,
            doubt: doubt.to_owned(),
            file,
            identity,
            end: tail.end,
            tail,
            stands: None,
            session: (id.to_owned(), facts),
            known: None,
            blobs,
            append_lock: None,
            turns: 0,
            // What others wrote before us may never have been synced: the first receipt covers it too.
            synced_end: 0,
            given: 0,
            written: 0,
            synced: 0,
            syncing: false,
            queue: Queue::default(),
            waiting: Waiting::default(),
            named: false,
            rewritten: false,
            unsynced: Vec::new(),
            latched: None,
            closed: false,
            races: 0,
        }
    }

    /// Writes drafts. Called with the append lock held.
    pub(super) fn append(
        &mut self,
        with: With<'_>,
        drafts: &[Draft],
        expect: &Expect,
        look: Look,
    ) -> Result<Vec<Written>> {
        self.catch_up(with, look)?;
        self.write_queue(with)?;
        self.check(with.dialect, expect)?;
        let mut batch = Batch::default();
        for draft in drafts {
            self.encode(with, draft, &mut batch)?;
        }
        let written = self.write_batch(with.dialect, batch, self.given + 1)?;
        self.number();
        if drafts.iter().any(Draft::is_answer)
            && let Err(error) = self.publish(with.disk)
        {
            self.latch(&error);
            return Err(error.because(self.doubt_names()));
        }
        Ok(written)
    }

    /// Numbers what was written, if a sync has to follow it.
    pub(super) fn number(&mut self) {
        if std::mem::take(&mut self.rewritten) || self.end > self.synced_end {
            self.given += 1;
        }
        self.written = self.given;
    }

    /// Writes a batch in one write; its entries are in doubt until the append of that number is durable.
    pub(super) fn write_batch(&mut self, dialect: &dyn Dialect, batch: Batch, number: u64) -> Result<Vec<Written>> {
        let start = match self.write(dialect, &batch.bytes) {
            Ok(start) => start,
            Err(error) => {
                // Some of them may be there, whole or torn: only the next writer can tell.
                self.doubt_for_good(batch);
                self.latch(&error);
                return Err(error.because(self.doubt_names()));
            }
        };
        if let Some(last) = batch.entries.iter().rev().find(|entry| !entry.deduplicated) {
            self.stands = Some((self.end, Some(last.id.clone())));
        }
        let mut written = Vec::with_capacity(batch.entries.len());
        for entry in batch.entries {
            let revision = if entry.deduplicated { self.end } else { start + entry.end };
            if !entry.deduplicated {
                let len = entry.end - entry.start;
                if let Some(known) = &mut self.known {
                    known.note(&entry.id, start + entry.start, len.saturating_sub(1));
                }
                self.unsynced.push((number, entry.id.clone()));
                self.tail.tip = Some(entry.id.clone());
            }
            written.push(Written { entry: entry.id, revision, deduplicated: entry.deduplicated });
        }
        Ok(written)
    }

    /// Entries of which nobody will ever know: no sync of this writer covers them.
    pub(super) fn doubt_for_good(&mut self, batch: Batch) {
        let fresh = batch.entries.into_iter().filter(|entry| !entry.deduplicated);
        self.unsynced.extend(fresh.map(|entry| (u64::MAX, entry.id)));
    }

    /// Compares path and open file, and takes note of what others added.
    pub(super) fn catch_up(&mut self, with: With<'_>, look: Look) -> Result<()> {
        let len = match look {
            Look::Length => self.len()?,
            Look::All => {
                self.nobody_doubts(with.disk)?;
                self.still_there(with.disk)?
            }
        };
        if len < self.end {
            return Err(self.fenced("was cut shorter"));
        }
        if len > self.end {
            self.read_up_to(with.dialect, len)?;
        }
        Ok(())
    }

    /// Whether a sync of somebody else failed, which may have thrown away bytes of ours: later syncs do not tell.
    pub(super) fn nobody_doubts(&mut self, disk: &dyn Disk) -> Result<()> {
        let fault = |error| Error::io(self.doubt.display(), "look at", error);
        if disk.stat(&self.doubt).map_err(fault)?.is_some() {
            let what = format!("another writer could not sync the log `{}`", self.path.display());
            let error = Error::new(ErrorKind::Unavailable, what).hinting("open the session again and append there");
            self.latch(&error);
            return Err(error);
        }
        Ok(())
    }

    /// Whether the path still leads to the open file, and how long that is. Another writer may have made a deferred log visible
    /// meanwhile.
    pub(super) fn still_there(&mut self, disk: &dyn Disk) -> Result<u64> {
        let fault = |error| Error::io(self.path.display(), "look at", error);
        let mine = self.identity;
        let length_of = |path: &Path| {
            let there = disk.stat(path).map_err(fault)?.filter(|there| there.identity == mine);
            Ok(there.map(|there| there.len))
        };
        if let Some(len) = length_of(&self.path)? {
            return Ok(len);
        }
        let published = self.visible.as_deref().map(length_of).transpose()?.flatten();
        match (self.visible.take(), published) {
            (Some(visible), Some(len)) => {
                (self.path, self.named) = (visible, false);
                Ok(len)
            }
            _ => Err(self.fenced("was replaced or removed")),
        }
    }

    fn fenced(&mut self, what: &str) -> Error {
        let what = format!("the log `{}` {what} by somebody else", self.path.display());
        let error = Error::new(ErrorKind::Conflict, what).hinting("open the session again and append there");
        self.latch(&error);
        error
    }

    fn check(&mut self, dialect: &'static dyn Dialect, expect: &Expect) -> Result<()> {
        let (expected, actual) = match expect {
            Expect::Any => return Ok(()),
            Expect::Revision(revision) => (revision.clone(), self.end.to_string()),
            Expect::Leaf(leaf) if !dialect.hangs_by_view() && self.tail.tip.as_deref() == Some(leaf) => return Ok(()),
            Expect::Leaf(leaf) => (leaf.clone(), self.leaf(dialect)?.unwrap_or_else(|| "the root".to_owned())),
        };
        if expected == actual {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Conflict,
            format!("expected the session at {}, found it at {actual}", expected.escape_debug()),
        )
        .hinting("read it again, then append with the revision or leaf that you found"))
    }

    /// The leaf: the tip with metadata folded away. Needs the whole tree.
    fn leaf(&self, dialect: &'static dyn Dialect) -> Result<Option<String>> {
        let (leaf, _) = self.look(dialect, |view| {
            let tip = dialect.tip(view)?;
            Ok(dialect.leaf(view, tip).map(|slot| view.log.label(slot).into_owned()))
        })?;
        Ok(leaf)
    }

    /// Reads the whole log and asks something of it; what it says of the session comes along.
    pub(super) fn look<T>(
        &self,
        dialect: &'static dyn Dialect,
        ask: impl FnOnce(&boswell_model::SessionView<'_>) -> Result<T>,
    ) -> Result<(T, Facts)> {
        let bytes = self.read_all()?;
        let located = crate::native::located_for(&self.path, bytes.len() as u64);
        let read = boswell_dialect::Reader::read(dialect, &located, &bytes, boswell_dialect::Depth::Facts);
        let payloads = crate::summary::Bytes(&bytes);
        let answer = ask(&read.view(&payloads))?;
        Ok((answer, read.facts))
    }

    fn read_all(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(self.end).unwrap_or(usize::MAX)];
        let done = read_full(self.file.as_ref(), &mut bytes, 0)
            .map_err(|error| Error::io(self.path.display(), "read", error))?;
        bytes.truncate(done);
        Ok(bytes)
    }

    /// Appends bytes on a line of their own and finds out where they landed.
    fn write(&mut self, dialect: &dyn Dialect, bytes: &[u8]) -> Result<u64> {
        if bytes.is_empty() {
            return self.end_last_record(dialect);
        }
        let line = if self.tail.ended() {
            Cow::Borrowed(bytes)
        } else {
            // What stands there without a line end is somebody's torn append: it stays, on a line of its own.
            Cow::Owned([b"\n", bytes].concat())
        };
        self.append_bytes(&line)?;
        let expected = self.end + line.len() as u64;
        if self.len()? != expected {
            return self.after_race(dialect, bytes);
        }
        self.tail.wrote(expected);
        self.end = expected;
        Ok(expected - bytes.len() as u64)
    }

    /// Gives the last record its line end, if it lacks one: what is acknowledged must not share a line with what comes next.
    fn end_last_record(&mut self, dialect: &dyn Dialect) -> Result<u64> {
        if !self.tail.ended() && self.tail.is_record(dialect, self.file.as_ref()).map_err(|error| self.unread(error))? {
            self.append_bytes(b"\n")?;
            self.read_up_to(dialect, self.end + 1)?;
        }
        Ok(self.end)
    }

    pub(super) fn unread(&self, error: std::io::Error) -> Error {
        Error::io(self.path.display(), "read", error)
    }

    /// Somebody without a lock wrote at the same moment: finds our bytes, and writes them again as long as they share a line.
    fn after_race(&mut self, dialect: &dyn Dialect, bytes: &[u8]) -> Result<u64> {
        for _ in 0..RACES {
            self.races += 1;
            if let Some(start) = self.own_line(bytes)? {
                // Up to our own end only: what others wrote behind it is read like all that they add.
                let end = start + bytes.len() as u64;
                self.read_up_to(dialect, end)?;
                return Ok(start);
            }
            self.append_bytes(&[b"\n", bytes].concat())?;
        }
        Err(Error::new(ErrorKind::Conflict, format!("others keep writing into our lines of `{}`", self.path.display()))
            .hinting("end the program that writes the session without a lock, then append again"))
    }

    /// Where our bytes stand on a line of their own behind what we knew.
    fn own_line(&self, bytes: &[u8]) -> Result<Option<u64>> {
        let from = self.end.saturating_sub(1);
        let mut region = vec![0; usize::try_from(self.len()?.saturating_sub(from)).unwrap_or(0)];
        let done = read_full(self.file.as_ref(), &mut region, from)
            .map_err(|error| Error::io(self.path.display(), "read back", error))?;
        region.truncate(done);
        let on_own_line =
            |at: &usize| from + *at as u64 == 0 || *at > 0 && region.get(*at - 1).is_some_and(|byte| *byte == b'\n');
        Ok(memchr::memmem::find_iter(&region, bytes).find(on_own_line).map(|at| from + at as u64))
    }

    fn append_bytes(&self, bytes: &[u8]) -> Result<()> {
        durable::append_all(self.file.as_ref(), bytes)
            .map_err(|error| Error::io(self.path.display(), "append to", error))
    }

    fn len(&self) -> Result<u64> {
        self.file.stat().map(|stat| stat.len).map_err(|error| Error::io(self.path.display(), "look at", error))
    }

    /// Takes note of what stands in the log between what we knew and `end`.
    fn read_up_to(&mut self, dialect: &dyn Dialect, end: u64) -> Result<()> {
        let known = &mut self.known;
        let mut note = |id: &str, at: u64, len: u64| {
            if let Some(known) = known {
                known.note(id, at, len);
            }
        };
        let path = &self.path;
        self.tail
            .advance(dialect, self.file.as_ref(), end, &mut note)
            .map_err(|error| Error::io(path.display(), "read", error))?;
        self.end = end;
        Ok(())
    }

    /// Gives a deferred log its visible name.
    fn publish(&mut self, disk: &dyn Disk) -> Result<()> {
        let Some(visible) = self.visible.clone() else { return Ok(()) };
        disk.rename(&self.path, &visible).map_err(|error| Error::io(visible.display(), "make visible", error))?;
        (self.path, self.visible, self.named) = (visible, None, false);
        Ok(())
    }

    /// Takes note that everything up to an append, and up to a position, is durable.
    pub(super) fn settled(&mut self, (number, end): (u64, u64), path: &Path) {
        self.synced = self.synced.max(number);
        self.synced_end = self.synced_end.max(end);
        // A log that was renamed meanwhile needs its new name synced too.
        self.named |= path == self.path;
        self.unsynced.retain(|(of, _)| *of > number);
    }

    /// Tells those who wait what became of their entries: after a failure all of them, else those that are durable now, and one
    /// who has to sync next.
    pub(super) fn tell_waiting(&mut self) -> Woken {
        match (&self.latched, self.named) {
            (Some(_), _) => self.waiting.all(),
            (None, true) => self.waiting.synced(self.synced),
            (None, false) => self.waiting.next(),
        }
    }

    pub(super) fn latch(&mut self, error: &Error) {
        if self.latched.is_none() {
            let cause = std::error::Error::source(error).map(|c| format!(": {c}")).unwrap_or_default();
            self.latched = Some((error.kind(), format!("{error}{cause}")));
        }
    }

    /// Whether a write or sync failed, so that what the system shows of the log may not be on disk. Being fenced off is no
    /// reason to rewrite what somebody else put there.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.latched.as_ref().is_some_and(|(kind, _)| *kind != ErrorKind::Conflict)
    }

    pub(super) fn in_doubt(&self) -> Vec<String> {
        if self.latched.is_some() { self.unsynced.iter().map(|(_, id)| id.clone()).collect() } else { Vec::new() }
    }

    pub(super) fn usable(&self) -> Result<()> {
        if self.closed {
            return Err(Error::new(ErrorKind::Invalid, "this writer was closed").hinting("open the session again"));
        }
        self.usable_for_sync()
    }

    pub(super) fn usable_for_sync(&self) -> Result<()> {
        let Some((kind, text)) = &self.latched else { return Ok(()) };
        Err(Error::new(*kind, format!("this writer failed before and stopped: {text}"))
            .because(self.doubt_names())
            .hinting("open the session again: its log is copied to a new file first"))
    }

    pub(super) fn doubt_names(&self) -> String {
        let doubt = self.in_doubt();
        if doubt.is_empty() { "no entry is in doubt".to_owned() } else { format!("in doubt: {}", doubt.join(", ")) }
    }
}
