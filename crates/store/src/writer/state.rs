//! What a writer knows of its log, and the one place that writes to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::{Body, Chance, Dialect, Draft, Parent, Settled, Within};
use boswell_model::{Error, ErrorKind, Facts, Instant, Result};

use super::batch::{Batch, Encoded};
use super::known::KnownIds;
use super::opening::Opened;
use super::receipt::{Expect, Written};
use super::tail::{Tail, stated};
use super::waiting::{Waiting, Woken};
use crate::blobs::{Blobs, LARGE_TEXT, SMALL_IMAGE};
use crate::disk::{Disk, DiskFile, durable, read_full};
use crate::lease::Held;

/// How often we write again when others write into our lines.
const RACES: usize = 100;

#[derive(Debug)]
pub(super) struct State {
    pub(super) path: PathBuf,
    visible: Option<PathBuf>,
    /// Stands there when a sync of somebody failed.
    doubt: PathBuf,
    pub(super) file: Arc<dyn DiskFile>,
    /// Which file it is, whatever its path leads to.
    pub(super) identity: (u64, u64),
    tail: Tail,
    /// Where the conversation stands, and how long the log was then; only for dialects that need the whole log to tell.
    stands: Option<(u64, Option<String>)>,
    /// Id of the session, and what its log says of it.
    session: (String, Facts),
    known: Option<KnownIds>,
    pub(super) blobs: Option<Blobs>,
    /// The append lock, while it is held; between two appends only if it is handed from one thread to another.
    pub(super) append_lock: Option<Held>,
    /// How often it was handed over.
    pub(super) turns: u32,
    /// Bytes of the log that were written.
    pub(super) end: u64,
    /// Bytes of the log that are durable.
    pub(super) synced_end: u64,
    pub(super) syncing: bool,
    pub(super) waiting: Waiting,
    pub(super) named: bool,
    /// How often an entry that stood there was written again.
    pub(super) rewritten: u64,
    /// Entries since the last good sync, with the position they end at.
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
        let Opened { path, visible, named, blobs } = opened;
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
            syncing: false,
            waiting: Waiting::default(),
            named,
            rewritten: 0,
            unsynced: Vec::new(),
            latched: None,
            closed: false,
            races: 0,
        }
    }

    /// Writes drafts. Called with the append lock held.
    pub(super) fn append(
        &mut self,
        dialect: &'static dyn Dialect,
        disk: &dyn Disk,
        chance: &dyn Chance,
        drafts: Vec<Draft>,
        expect: &Expect,
        handed_over: bool,
    ) -> Result<Vec<Written>> {
        self.catch_up(dialect, disk, handed_over)?;
        self.check(dialect, disk, expect)?;
        let mut batch = Batch::default();
        for draft in &drafts {
            self.encode(dialect, disk, chance, draft, &mut batch)?;
        }
        let start = match self.write(dialect, &batch.bytes) {
            Ok(start) => start,
            Err(error) => {
                // Some of them may be there, whole or torn: only the next writer can tell.
                let fresh = batch.entries.into_iter().filter(|entry| !entry.deduplicated);
                self.unsynced.extend(fresh.map(|entry| (u64::MAX, entry.id)));
                self.latch(&error);
                return Err(error.because(self.doubt_names()));
            }
        };
        if let Some(last) = batch.entries.iter().rev().find(|entry| !entry.deduplicated) {
            self.stands = Some((self.end, Some(last.id.clone())));
        }
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
        if drafts.iter().any(Draft::is_answer)
            && let Err(error) = self.publish(disk)
        {
            self.latch(&error);
            return Err(error.because(self.doubt_names()));
        }
        Ok(written)
    }

    /// Compares path and open file, and takes note of what others added. If the append lock was handed over, nobody who takes
    /// it replaced the file since; a failed sync of others is looked for after our own.
    fn catch_up(&mut self, dialect: &dyn Dialect, disk: &dyn Disk, handed_over: bool) -> Result<()> {
        if !handed_over {
            self.nobody_doubts(disk)?;
            self.still_there(disk)?;
        }
        let len = self.len()?;
        if len < self.end {
            return Err(self.fenced("was cut shorter"));
        }
        if len > self.end {
            self.read_up_to(dialect, len)?;
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

    /// Whether the path still leads to the open file. Another writer may have made a deferred log visible meanwhile.
    pub(super) fn still_there(&mut self, disk: &dyn Disk) -> Result<()> {
        let fault = |error| Error::io(self.path.display(), "look at", error);
        let mine = self.identity;
        let leads_here =
            |path: &Path| disk.stat(path).map(|there| there.is_some_and(|there| there.identity == mine)).map_err(fault);
        if leads_here(&self.path)? {
            return Ok(());
        }
        let published = self.visible.as_deref().map(leads_here).transpose()?.unwrap_or(false);
        match self.visible.take().filter(|_| published) {
            Some(visible) => {
                (self.path, self.named) = (visible, false);
                Ok(())
            }
            None => Err(self.fenced("was replaced or removed")),
        }
    }

    fn fenced(&mut self, what: &str) -> Error {
        let what = format!("the log `{}` {what} by somebody else", self.path.display());
        let error = Error::new(ErrorKind::Conflict, what).hinting("open the session again and append there");
        self.latch(&error);
        error
    }

    fn check(&mut self, dialect: &'static dyn Dialect, disk: &dyn Disk, expect: &Expect) -> Result<()> {
        let (expected, actual) = match expect {
            Expect::Any => return Ok(()),
            Expect::Revision(revision) => (revision.clone(), self.end.to_string()),
            Expect::Leaf(leaf) if !dialect.hangs_by_view() && self.tail.tip.as_deref() == Some(leaf) => return Ok(()),
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
        let (leaf, _) = self.look(dialect, |view| {
            let tip = dialect.tip(view)?;
            Ok(dialect.leaf(view, tip).map(|slot| view.log.label(slot).into_owned()))
        })?;
        Ok(leaf)
    }

    /// Reads the whole log and asks something of it; what it says of the session comes along.
    fn look<T>(
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

    /// A moment after all that the log tells of: where the tree alone does not say what came last, some versions of the agent go
    /// by the time.
    fn later(&mut self, dialect: &dyn Dialect, now: Instant) -> Instant {
        if !dialect.hangs_by_view() {
            return now;
        }
        let last = self.session.1.last_active.map(|last| Instant::from_millis(last.millis().saturating_add(1)));
        let at = last.map_or(now, |last| last.max(now));
        self.session.1.last_active = Some(at);
        at
    }

    /// The entry that a draft hangs below.
    fn above(&mut self, dialect: &'static dyn Dialect, draft: &Draft, batch: &Batch) -> Result<Option<String>> {
        match &draft.parent {
            Parent::Root => Ok(None),
            Parent::Tip if batch.tip.is_some() => Ok(batch.tip.clone()),
            Parent::Entry(parent) if batch.has(parent) || !dialect.hangs_by_view() => Ok(Some(parent.clone())),
            Parent::Tip if !dialect.hangs_by_view() => Ok(self.tail.tip.clone()),
            parent => {
                if let (Parent::Tip, Some((end, stands))) = (parent, &self.stands)
                    && *end == self.end
                {
                    return Ok(stands.clone());
                }
                let (above, facts) = self.look(dialect, |view| dialect.hang(view, parent))?;
                self.session.1 = facts;
                if *parent == Parent::Tip {
                    self.stands = Some((self.end, above.clone()));
                }
                Ok(above)
            }
        }
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
        disk: &dyn Disk,
        chance: &dyn Chance,
        draft: &Draft,
        batch: &mut Batch,
    ) -> Result<()> {
        if let Some(id) = &draft.id
            && self.is_written(dialect, id, draft, batch)?
        {
            self.write_again(disk, id)?;
            batch.entries.push(Encoded::before(id));
            return Ok(());
        }
        let made = dialect.entry_id(chance);
        let id = draft.id.as_deref().unwrap_or(&made);
        self.names_exist(dialect, draft, batch)?;
        let parent = self.above(dialect, draft, batch)?;
        let at = draft.at.unwrap_or_else(|| self.later(dialect, chance.now()));
        let settled = Settled { id, parent: parent.as_deref(), at };
        let within = Within { id: &self.session.0, facts: &self.session.1 };
        let mut record = dialect.encode_in(draft, settled, within)?;
        if let Some(blobs) = self.blobs.as_ref().filter(|_| record.len() >= SMALL_IMAGE) {
            // Durable before the entry that names them, or a crash between the two leaves an entry that names nothing.
            record = blobs.externalise(&record, LARGE_TEXT)?;
        }
        // A record in the dialect's own shape may bring its own id and parent; they count like those of a draft.
        let (stated, above) = match &draft.body {
            Body::Native(_) => stated(dialect, &record),
            _ => (None, parent.clone()),
        };
        let own_id = stated.filter(|stated| stated != id);
        let moved = above != parent;
        if own_id.is_some() && draft.id.is_some() || moved && draft.parent != Parent::Tip {
            return Err(Error::new(ErrorKind::Invalid, "an entry has one id and one parent, and was given two")
                .hinting("leave them out of the record or out of the request"));
        }
        if let Some(id) = own_id.as_deref()
            && self.is_written(dialect, id, draft, batch)?
        {
            self.write_again(disk, id)?;
            batch.entries.push(Encoded::before(id));
            return Ok(());
        }
        if let Some(above) = above.filter(|_| moved) {
            self.exists(dialect, &above, batch)?;
        }
        let start = batch.bytes.len() as u64;
        batch.bytes.extend_from_slice(&record);
        batch.bytes.push(b'\n');
        let id = own_id.unwrap_or_else(|| id.to_owned());
        batch.tip = Some(id.clone());
        batch.entries.push(Encoded { id, start, end: batch.bytes.len() as u64, deduplicated: false });
        Ok(())
    }

    /// Whatever a draft points at must be there: a reader of the family finds nothing behind a name that leads nowhere.
    fn names_exist(&mut self, dialect: &dyn Dialect, draft: &Draft, batch: &Batch) -> Result<()> {
        if let Parent::Entry(parent) = &draft.parent {
            self.exists(dialect, parent, batch)?;
        }
        match &draft.body {
            Body::Label { target, .. } => self.exists(dialect, target, batch),
            Body::Compaction { first_kept, .. } => self.exists(dialect, first_kept, batch),
            _ => Ok(()),
        }
    }

    fn exists(&mut self, dialect: &dyn Dialect, id: &str, batch: &Batch) -> Result<()> {
        if batch.has(id) || self.known(dialect)?.has(id) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::NotFound, format!("the session has no entry `{}`", id.escape_debug()))
            .hinting("see its entries with `boswell tree`"))
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
        let (file, large) = (Arc::clone(&self.file), self.blobs.clone());
        let known = self.known(dialect)?;
        if !known.has(id) {
            return Ok(false);
        }
        if known.same(dialect, file.as_ref(), id, draft, large.as_ref())? { Ok(true) } else { Err(conflict()) }
    }

    /// Writes an entry over itself, so that the next sync covers it.
    ///
    /// Whoever wrote it may have been killed right after its sync failed, before it could leave its mark of doubt. The system
    /// then shows bytes that are not on disk, and takes them for synced. Only in our own sessions: in those of agents, who take
    /// no lock, something else may stand there by now.
    fn write_again(&mut self, disk: &dyn Disk, id: &str) -> Result<()> {
        let place = self.known.as_ref().and_then(|known| known.place(id));
        let Some((at, len)) = place.filter(|_| self.blobs.is_some()) else { return Ok(()) };
        // With the line end, if it has one already.
        let mut bytes = vec![0; usize::try_from(len + 1).unwrap_or(0)];
        let done = read_full(self.file.as_ref(), &mut bytes, at).map_err(|error| self.unread(error))?;
        bytes.truncate(done);
        match disk.write_again(&self.path, self.identity, &bytes, at) {
            Err(error) if error.kind() == std::io::ErrorKind::Unsupported => return Ok(()),
            written => written.map_err(|error| Error::io(self.path.display(), "write to", error))?,
        }
        self.rewritten += 1;
        self.synced_end = self.synced_end.min(at);
        Ok(())
    }

    /// Appends bytes on a line of their own and finds out where they landed.
    fn write(&mut self, dialect: &dyn Dialect, bytes: &[u8]) -> Result<u64> {
        if bytes.is_empty() {
            return self.end_last_record(dialect);
        }
        let mut line = Vec::with_capacity(bytes.len() + 1);
        if !self.tail.ended() {
            // What stands there without a line end is somebody's torn append: it stays, on a line of its own.
            line.push(b'\n');
        }
        line.extend_from_slice(bytes);
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

    fn unread(&self, error: std::io::Error) -> Error {
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

    pub(super) fn settled(&mut self, target: u64, path: &Path) {
        self.synced_end = self.synced_end.max(target);
        // A log that was renamed meanwhile needs its new name synced too.
        self.named |= path == self.path;
        self.unsynced.retain(|(end, _)| *end > target);
    }

    /// Tells those who wait what became of their entries: after a failure all of them, else those that are durable now, and one
    /// who has to sync next.
    pub(super) fn tell_waiting(&mut self) -> Woken {
        match (&self.latched, self.named) {
            (Some(_), _) => self.waiting.all(),
            (None, true) => self.waiting.synced(self.synced_end),
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

    fn doubt_names(&self) -> String {
        let doubt = self.in_doubt();
        if doubt.is_empty() { "no entry is in doubt".to_owned() } else { format!("in doubt: {}", doubt.join(", ")) }
    }
}
