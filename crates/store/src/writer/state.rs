//! What a writer knows of its log, and the one place that writes to it.

use boswell_dialect::{Body, Chance, Depth, Dialect, Draft, Parent, Reader, Settled, Within};
use boswell_model::{Error, ErrorKind, Facts, Instant, Result};

use super::batch::{Batch, Encoded};
use super::known::KnownIds;
use super::receipt::{Expect, Written};
use super::tail::{Tail, stated};
use super::waiting::{Waiting, Woken};
use crate::backend::{Attempt, LogAppender, Refused};
use crate::blobs::{Blobs, LARGE_TEXT, SMALL_IMAGE};

/// How often we try again when others were faster.
const TRIES: usize = 1_000;

#[derive(Debug)]
pub(super) struct State {
    pub(super) log: Box<dyn LogAppender>,
    tail: Tail,
    /// Where the conversation stands, and where the log ended then; only for dialects that need the whole log to tell.
    stands: Option<(u64, Option<String>)>,
    /// Id of the session, and what its log says of it.
    session: (String, Facts),
    known: Option<KnownIds>,
    pub(super) blobs: Option<Blobs>,
    /// How often the turn to write was handed from one thread to another.
    pub(super) turns: u32,
    /// Where the log ends that was read or written.
    pub(super) end: u64,
    /// Up to where it is durable.
    pub(super) synced_end: u64,
    pub(super) syncing: bool,
    pub(super) waiting: Waiting,
    /// Entries since the last good sync, with the position they end at.
    unsynced: Vec<(u64, String)>,
    latched: Option<(ErrorKind, String)>,
    pub(super) closed: bool,
}

impl State {
    pub(super) fn new(log: Box<dyn LogAppender>, id: &str, facts: Facts, blobs: Option<Blobs>, tail: Tail) -> State {
        State {
            log,
            end: tail.end,
            tail,
            stands: None,
            session: (id.to_owned(), facts),
            known: None,
            blobs,
            turns: 0,
            // What others wrote before us may never have been synced: the first receipt covers it too.
            synced_end: 0,
            syncing: false,
            waiting: Waiting::default(),
            unsynced: Vec::new(),
            latched: None,
            closed: false,
        }
    }

    /// Writes drafts; tries again as long as others are faster.
    pub(super) fn append(
        &mut self,
        dialect: &'static dyn Dialect,
        chance: &dyn Chance,
        drafts: &[Draft],
        expect: &Expect,
    ) -> Result<Vec<Written>> {
        for _ in 0..TRIES {
            match self.try_append(dialect, chance, drafts, expect) {
                Ok(written) => return Ok(written),
                Err(Refused::Moved) => {}
                Err(Refused::Over(error)) => {
                    self.latch(&error);
                    return Err(error);
                }
                // What was refused for what we know may be right by what others added since.
                Err(Refused::Failed(error)) if self.latched.is_some() || !self.is_behind() => return Err(error),
                Err(Refused::Failed(_)) => {}
            }
        }
        Err(Error::new(ErrorKind::Busy, "others keep adding to the session before us").hinting("try again"))
    }

    /// Whether the log is known to end somewhere else by now.
    fn is_behind(&mut self) -> bool {
        matches!(self.log.append(self.end, b""), Err(Refused::Moved))
    }

    /// Writes drafts behind what was read, if the log still ends there.
    fn try_append(
        &mut self,
        dialect: &'static dyn Dialect,
        chance: &dyn Chance,
        drafts: &[Draft],
        expect: &Expect,
    ) -> Attempt<Vec<Written>> {
        let end = self.log.begin(self.end)?;
        if end > self.end {
            self.read_on(dialect)?;
        }
        self.check(dialect, expect)?;
        let mut batch = Batch::default();
        for draft in drafts {
            self.encode(dialect, chance, draft, &mut batch)?;
        }
        let start = match self.write(dialect, &batch) {
            Err(Refused::Failed(error)) => {
                // Some of them may be there, whole or torn: only the next writer can tell.
                let fresh = batch.entries.into_iter().filter(|entry| !entry.deduplicated);
                self.unsynced.extend(fresh.map(|entry| (u64::MAX, entry.id)));
                self.latch(&error);
                return Err(Refused::Failed(error.because(self.doubt_names())));
            }
            start => start?,
        };
        let written = self.note(start, batch);
        if drafts.iter().any(Draft::is_answer)
            && let Err(error) = self.log.publish()
        {
            self.latch(&error);
            return Err(Refused::Failed(error.because(self.doubt_names())));
        }
        Ok(written)
    }

    /// Takes note of entries that were written from `start` on.
    fn note(&mut self, start: u64, batch: Batch) -> Vec<Written> {
        let Batch { bytes, entries, .. } = batch;
        if let Some(last) = entries.iter().rev().find(|entry| !entry.deduplicated) {
            self.stands = Some((self.end, Some(last.id.clone())));
        }
        let mut written = Vec::with_capacity(entries.len());
        let mut at = start;
        for entry in entries {
            let mut revision = self.end;
            if !entry.deduplicated {
                let line = bytes.get(entry.line).unwrap_or(b"");
                revision = self.log.behind(at, line);
                if let Some(known) = &mut self.known {
                    known.note(&entry.id, at, (line.len() as u64).saturating_sub(1));
                }
                self.unsynced.push((revision, entry.id.clone()));
                self.tail.tip = Some(entry.id.clone());
                at = revision;
            }
            written.push(Written { entry: entry.id, revision, deduplicated: entry.deduplicated });
        }
        written
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
    fn look<T>(
        &self,
        dialect: &'static dyn Dialect,
        ask: impl FnOnce(&boswell_model::SessionView<'_>) -> Result<T>,
    ) -> Result<(T, Facts)> {
        let log = self.log.reader()?;
        let located = crate::native::located_at(&self.session.0, self.log.key(), self.end);
        let mut reader = Reader::new(dialect, &located, Depth::Facts);
        log.lines(0, 1, &mut |line| {
            if line.at < self.end {
                reader.line(line);
            }
        })?;
        let read = reader.finish();
        let answer = ask(&read.view(&crate::summary::Open(log.as_ref())))?;
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

    fn known(&mut self, dialect: &dyn Dialect) -> Result<&mut KnownIds> {
        let loaded = match self.known.take() {
            Some(known) => known,
            None => KnownIds::load(dialect, self.log.reader()?.as_ref())?,
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
            self.renew(id)?;
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
            self.renew(id)?;
            batch.entries.push(Encoded::before(id));
            return Ok(());
        }
        if let Some(above) = above.filter(|_| moved) {
            self.exists(dialect, &above, batch)?;
        }
        let start = batch.bytes.len();
        batch.bytes.extend_from_slice(&record);
        batch.bytes.push(b'\n');
        let id = own_id.unwrap_or_else(|| id.to_owned());
        batch.tip = Some(id.clone());
        batch.entries.push(Encoded { id, line: start..batch.bytes.len(), deduplicated: false });
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
        if !self.known(dialect)?.has(id) {
            return Ok(false);
        }
        let (log, large) = (self.log.reader()?, self.blobs.clone());
        if self.known(dialect)?.same(dialect, log.as_ref(), id, draft, large.as_ref())? {
            Ok(true)
        } else {
            Err(conflict())
        }
    }

    /// Makes sure that the next sync covers an entry that stands there: whoever wrote it may have died before its own.
    fn renew(&mut self, id: &str) -> Result<()> {
        let Some((at, len)) = self.known.as_ref().and_then(|known| known.place(id)) else { return Ok(()) };
        if self.log.renew(at, len)? {
            self.synced_end = self.synced_end.min(at);
        }
        Ok(())
    }

    /// Appends lines of their own and says where the first of them stands.
    fn write(&mut self, dialect: &dyn Dialect, batch: &Batch) -> Attempt<u64> {
        let lines = batch.bytes.as_slice();
        if lines.is_empty() {
            return self.end_last_record(dialect);
        }
        let (landed, start) = if self.tail.ended() {
            let landed = self.log.append(self.end, lines)?;
            (landed, landed)
        } else {
            // What stands there without a line end is somebody's torn append: it stays, on a line of its own.
            let landed = self.log.append(self.end, &[b"\n", lines].concat())?;
            (landed, self.log.behind(landed, b"\n"))
        };
        if landed != self.end {
            // Somebody without a lock wrote before us. What they wrote behind us is read like all that they add.
            self.read_on(dialect)?;
        }
        let end = batch.lines().fold(start, |at, line| self.log.behind(at, line));
        self.tail.wrote(end);
        self.end = end;
        Ok(start)
    }

    /// Gives the last record its line end, if it lacks one: what is acknowledged must not share a line with what comes next.
    fn end_last_record(&mut self, dialect: &dyn Dialect) -> Attempt<u64> {
        if self.tail.ends_with_record() {
            self.log.append(self.end, b"\n")?;
            self.read_on(dialect)?;
        } else {
            // Also what was there before is acknowledged only to one who may still write, and stands where it was read.
            self.log.append(self.end, b"")?;
        }
        Ok(self.end)
    }

    /// Takes note of what others added.
    fn read_on(&mut self, dialect: &dyn Dialect) -> Result<()> {
        let known = &mut self.known;
        let mut note = |id: &str, at: u64, len: u64| {
            if let Some(known) = known {
                known.note(id, at, len);
            }
        };
        self.tail.advance(dialect, self.log.reader()?.as_ref(), &mut note)?;
        self.end = self.tail.end;
        Ok(())
    }

    pub(super) fn settled(&mut self, target: u64) {
        self.synced_end = self.synced_end.max(target);
        self.unsynced.retain(|(end, _)| *end > target);
    }

    /// Tells those who wait what became of their entries: after a failure all of them, else those that are durable now, and one
    /// who has to sync next.
    pub(super) fn tell_waiting(&mut self) -> Woken {
        match &self.latched {
            Some(_) => self.waiting.all(),
            None => self.waiting.synced(self.synced_end),
        }
    }

    pub(super) fn latch(&mut self, error: &Error) {
        if self.latched.is_none() {
            let cause = std::error::Error::source(error).map(|c| format!(": {c}")).unwrap_or_default();
            self.latched = Some((error.kind(), format!("{error}{cause}")));
        }
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
