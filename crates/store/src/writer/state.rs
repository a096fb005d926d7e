//! What a writer knows of its log, and the one place that writes to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::{Dialect, Draft, Parent, Settled};
use boswell_model::{Error, ErrorKind, Facts, Result};

use super::known::KnownIds;
use super::receipt::{Expect, Written};
use super::tail::Tail;
use crate::chance::Chance;
use crate::disk::{Disk, DiskFile, Open, durable, read_full};
use crate::lease::AppendLock;

/// A log as it is handed to a writer.
#[derive(Debug)]
pub(crate) struct Opened {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Where it will be once the first answer is there.
    pub(crate) visible: Option<PathBuf>,
    /// Whether its name is durable already.
    pub(crate) named: bool,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) path: PathBuf,
    visible: Option<PathBuf>,
    pub(super) file: Arc<dyn DiskFile>,
    tail: Tail,
    known: Option<KnownIds>,
    /// Bytes of the log that were written.
    pub(super) end: u64,
    /// Bytes of the log that are durable.
    pub(super) synced_end: u64,
    pub(super) syncing: bool,
    pub(super) named: bool,
    /// Entries since the last good sync, with the position they end at.
    unsynced: Vec<(u64, String)>,
    latched: Option<(ErrorKind, String)>,
    pub(super) closed: bool,
    pub(super) races: u64,
}

impl State {
    pub(super) fn open(
        dialect: &'static dyn Dialect,
        disk: &Arc<dyn Disk>,
        chance: &dyn Chance,
        opened: Opened,
        doubt: &Path,
        append_lock: &AppendLock,
    ) -> Result<State> {
        let Opened { path, visible, named } = opened;
        let fault = |error| Error::io(path.display(), "open", error);
        if disk.stat(doubt).map_err(fault)?.is_some() {
            let _held = append_lock.take(disk.as_ref())?;
            copy_in_doubt(disk.as_ref(), &path, doubt, &chance.hex16())?;
        }
        let file: Arc<dyn DiskFile> = disk.open(&path, Open::Append).map_err(fault)?.into();
        dialect.can_append(&head_facts(dialect, file.as_ref()).map_err(fault)?)?;
        let tail = Tail::read(dialect, file.as_ref()).map_err(fault)?;
        let end = tail.end;
        Ok(State {
            path,
            visible,
            file,
            tail,
            known: None,
            end,
            // What others wrote before us may never have been synced: the first receipt covers it too.
            synced_end: 0,
            syncing: false,
            named,
            unsynced: Vec::new(),
            latched: None,
            closed: false,
            races: 0,
        })
    }

    /// Writes drafts. Called with the append lock held.
    pub(super) fn append(
        &mut self,
        dialect: &'static dyn Dialect,
        disk: &dyn Disk,
        chance: &dyn Chance,
        drafts: Vec<Draft>,
        expect: &Expect,
    ) -> Result<Vec<Written>> {
        self.catch_up(dialect, disk)?;
        self.check(dialect, disk, expect)?;
        let mut batch = Batch::default();
        for draft in &drafts {
            self.encode(dialect, chance, draft, &mut batch)?;
        }
        let base = self.end + u64::from(!self.tail.ended);
        let start = self.write(&batch.bytes)?;
        debug_assert!(start >= base);
        let mut written = Vec::new();
        for entry in batch.entries {
            let revision = if entry.deduplicated { self.end } else { start + entry.end };
            if !entry.deduplicated {
                let len = entry.end - entry.start;
                if let Some(known) = &mut self.known {
                    known.note(&entry.id, start + entry.start, len.saturating_sub(1));
                }
                self.unsynced.push((start + entry.end, entry.id.clone()));
                self.tail.tip = Some(entry.id.clone());
            }
            written.push(Written { entry: entry.id, revision, deduplicated: entry.deduplicated });
        }
        if drafts.iter().any(Draft::is_answer) {
            self.publish(disk)?;
        }
        Ok(written)
    }

    /// Compares path and open file, and takes note of what others added.
    fn catch_up(&mut self, dialect: &dyn Dialect, disk: &dyn Disk) -> Result<()> {
        let fault = |error| Error::io(self.path.display(), "look at", error);
        let mine = self.file.stat().map_err(fault)?;
        let there = disk.stat(&self.path).map_err(fault)?;
        let replaced = there.is_none_or(|there| there.identity != mine.identity);
        if replaced || mine.len < self.end {
            let what = if replaced { "was replaced or removed" } else { "was cut shorter" };
            let error =
                Error::new(ErrorKind::Conflict, format!("the log `{}` {what} by somebody else", self.path.display()))
                    .hinting("open the session again and append there");
            self.latch(&error);
            return Err(error);
        }
        if mine.len > self.end {
            let known = &mut self.known;
            let mut note = |id: &str, at: u64, len: u64| {
                if let Some(known) = known {
                    known.note(id, at, len);
                }
            };
            let path = &self.path;
            self.tail
                .advance(dialect, self.file.as_ref(), mine.len, &mut note)
                .map_err(|error| Error::io(path.display(), "read", error))?;
            self.end = mine.len;
        }
        Ok(())
    }

    fn check(&mut self, dialect: &'static dyn Dialect, disk: &dyn Disk, expect: &Expect) -> Result<()> {
        let (expected, actual) = match expect {
            Expect::Any => return Ok(()),
            Expect::Revision(revision) => (revision.clone(), self.end.to_string()),
            Expect::Leaf(leaf) if self.tail.tip.as_deref() == Some(leaf) => return Ok(()),
            Expect::Leaf(leaf) => (leaf.clone(), self.leaf(dialect, disk)?.unwrap_or_else(|| "the root".to_owned())),
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
    fn leaf(&self, dialect: &'static dyn Dialect, _disk: &dyn Disk) -> Result<Option<String>> {
        let bytes = self.read_all()?;
        let located = crate::native::located_for(&self.path, bytes.len() as u64);
        let read = boswell_dialect::Reader::read(dialect, &located, &bytes, boswell_dialect::Depth::Heads);
        let payloads = crate::summary::Bytes(&bytes);
        let view = read.view(&payloads);
        let tip = dialect.tip(&view)?;
        Ok(dialect.leaf(&view, tip).map(|slot| read.log.label(slot).into_owned()))
    }

    fn read_all(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(self.end).unwrap_or(usize::MAX)];
        let done = read_full(self.file.as_ref(), &mut bytes, 0)
            .map_err(|error| Error::io(self.path.display(), "read", error))?;
        bytes.truncate(done);
        Ok(bytes)
    }

    fn known(&mut self, dialect: &dyn Dialect) -> Result<&mut KnownIds> {
        let loaded = match self.known.take() {
            Some(known) => known,
            None => KnownIds::load(dialect, self.file.as_ref(), self.end)
                .map_err(|error| Error::io(self.path.display(), "read", error))?,
        };
        Ok(self.known.insert(loaded))
    }

    fn encode(
        &mut self,
        dialect: &'static dyn Dialect,
        chance: &dyn Chance,
        draft: &Draft,
        batch: &mut Batch,
    ) -> Result<()> {
        if let Some(id) = &draft.id
            && self.is_written(dialect, id, draft, batch)?
        {
            batch.entries.push(Encoded { id: id.clone(), start: 0, end: 0, deduplicated: true });
            return Ok(());
        }
        let made = chance.hex16();
        let id = draft.id.as_deref().unwrap_or(&made);
        let tip = batch.tip.clone().or_else(|| self.tail.tip.clone());
        let parent = match &draft.parent {
            Parent::Tip => tip,
            Parent::Root => None,
            Parent::Entry(parent) => {
                if !batch.has(parent) && !self.known(dialect)?.has(parent) {
                    return Err(Error::new(
                        ErrorKind::NotFound,
                        format!("the session has no entry `{}`", parent.escape_debug()),
                    )
                    .hinting("see its entries with `boswell tree`"));
                }
                Some(parent.clone())
            }
        };
        let settled = Settled { id, parent: parent.as_deref(), at: draft.at.unwrap_or_else(|| chance.now()) };
        let record = dialect.encode(draft, settled)?;
        let start = batch.bytes.len() as u64;
        batch.bytes.extend_from_slice(&record);
        batch.bytes.push(b'\n');
        let id = written_id(dialect, &record).unwrap_or_else(|| id.to_owned());
        batch.tip = Some(id.clone());
        batch.entries.push(Encoded { id, start, end: batch.bytes.len() as u64, deduplicated: false });
        Ok(())
    }

    fn is_written(&mut self, dialect: &'static dyn Dialect, id: &str, draft: &Draft, batch: &Batch) -> Result<bool> {
        let conflict = || {
            Error::new(
                ErrorKind::Conflict,
                format!("the id `{}` is taken by an entry with other content", id.escape_debug()),
            )
            .hinting("give the new entry an id of its own, or none")
        };
        if batch.has(id) {
            return Err(conflict());
        }
        let file = Arc::clone(&self.file);
        let known = self.known(dialect)?;
        if !known.has(id) {
            return Ok(false);
        }
        if known.same(dialect, file.as_ref(), id, draft)? { Ok(true) } else { Err(conflict()) }
    }

    /// Appends bytes on a line of their own and finds out where they landed.
    fn write(&mut self, bytes: &[u8]) -> Result<u64> {
        if bytes.is_empty() {
            return Ok(self.end);
        }
        let mut line = Vec::with_capacity(bytes.len() + 1);
        if !self.tail.ended {
            // What stands there without a line end is somebody's torn append: it stays, on a line of its own.
            line.push(b'\n');
        }
        line.extend_from_slice(bytes);
        let lead = (line.len() - bytes.len()) as u64;
        if let Err(error) = durable::append_all(self.file.as_ref(), &line) {
            let error = Error::io(self.path.display(), "append to", error);
            self.latch(&error);
            return Err(error);
        }
        let expected = self.end + line.len() as u64;
        let found = self.file.stat().map_err(|error| Error::io(self.path.display(), "look at", error))?.len;
        let start = if found == expected { self.end + lead } else { self.after_race(bytes, found)? };
        self.end = self.file.stat().map_err(|error| Error::io(self.path.display(), "look at", error))?.len;
        self.tail.end = self.end;
        self.tail.ended = true;
        Ok(start)
    }

    /// Somebody without a lock wrote at the same moment: finds our bytes, and writes them again if they share a line.
    fn after_race(&mut self, bytes: &[u8], found: u64) -> Result<u64> {
        self.races += 1;
        let fault = |error| Error::io(self.path.display(), "read back", error);
        let from = self.end.saturating_sub(1);
        let mut region = vec![0; usize::try_from(found.saturating_sub(from)).unwrap_or(0)];
        let done = read_full(self.file.as_ref(), &mut region, from).map_err(fault)?;
        region.truncate(done);
        let at = memchr::memmem::rfind(&region, bytes);
        let own_line = at.is_some_and(|at| from + at as u64 == 0 || at > 0 && region.get(at - 1) == Some(&b'\n'));
        match at.filter(|_| own_line) {
            Some(at) => Ok(from + at as u64),
            None => {
                let mut line = vec![b'\n'];
                line.extend_from_slice(bytes);
                let before = self.file.stat().map_err(fault)?.len;
                if let Err(error) = durable::append_all(self.file.as_ref(), &line) {
                    let error = Error::io(self.path.display(), "append to", error);
                    self.latch(&error);
                    return Err(error);
                }
                Ok(before + 1)
            }
        }
    }

    /// Gives a deferred log its visible name.
    fn publish(&mut self, disk: &dyn Disk) -> Result<()> {
        let Some(visible) = self.visible.take() else { return Ok(()) };
        disk.rename(&self.path, &visible).map_err(|error| Error::io(visible.display(), "make visible", error))?;
        self.path = visible;
        self.named = false;
        Ok(())
    }

    pub(super) fn settled(&mut self, target: u64, path: &Path) {
        self.synced_end = self.synced_end.max(target);
        // A log that was renamed meanwhile needs its new name synced too.
        self.named |= path == self.path;
        self.unsynced.retain(|(end, _)| *end > target);
    }

    pub(super) fn latch(&mut self, error: &Error) {
        if self.latched.is_none() {
            let cause = std::error::Error::source(error).map(|c| format!(": {c}")).unwrap_or_default();
            self.latched = Some((error.kind(), format!("{error}{cause}")));
        }
    }

    pub(super) fn is_latched(&self) -> bool {
        self.latched.is_some()
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
        let doubt = self.in_doubt();
        let names = if doubt.is_empty() {
            "no entry is in doubt".to_owned()
        } else {
            format!("in doubt: {}", doubt.join(", "))
        };
        Err(Error::new(*kind, format!("this writer failed before and stopped: {text}"))
            .because(names)
            .hinting("open the session again: its log is copied to a new file first"))
    }
}

/// What the first lines say of the session.
fn head_facts(dialect: &'static dyn Dialect, file: &dyn DiskFile) -> std::io::Result<Facts> {
    let mut bytes = vec![0; 16 << 10];
    let done = read_full(file, &mut bytes, 0)?;
    bytes.truncate(done);
    let located = crate::native::located_for(Path::new("head"), done as u64);
    Ok(boswell_dialect::Reader::read(dialect, &located, &bytes, boswell_dialect::Depth::Facts).facts)
}

/// The id that the record itself states, which a native draft may have brought along.
fn written_id(dialect: &dyn Dialect, record: &[u8]) -> Option<String> {
    let mut found = None;
    super::tail::each_id(dialect, record, 0, &mut |id, _, _| found = Some(id.to_owned()));
    found
}

/// After a failed sync the system may show bytes that are not on disk: a copy that was synced tells the truth.
fn copy_in_doubt(disk: &dyn Disk, path: &Path, doubt: &Path, unique: &str) -> Result<()> {
    if let Some(bytes) = durable::read(disk, path)? {
        durable::put(disk, path, &bytes, unique)?;
    }
    disk.remove(doubt).map_err(|error| Error::io(doubt.display(), "remove", error))?;
    durable::sync_parent(disk, doubt)
}

#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    entries: Vec<Encoded>,
    tip: Option<String>,
}

struct Encoded {
    id: String,
    start: u64,
    end: u64,
    deduplicated: bool,
}

impl Batch {
    fn has(&self, id: &str) -> bool {
        self.entries.iter().any(|entry| entry.id == id)
    }
}
