//! What a writer knows of its log, and the one place that writes to it.

use std::sync::Arc;

use boswell_dialect::{Append, Depth, Draft, Reader};
use boswell_model::{Error, ErrorKind, Result, Revision, SessionMeta};

use super::batch::Batch;
use super::encode::With;
use super::group_commit::Queue;
use super::id_index::KnownIds;
use super::receipt::{Expect, Written};
use super::tail::Tail;
use crate::backend::{AppendError, AppendResult, LogAppender};
use crate::blobs::Blobs;

/// How often we try again when others were faster.
const TRIES: usize = 1_000;

#[derive(Debug)]
pub(super) struct State {
    pub(super) log: Box<dyn LogAppender>,
    /// Whether an answer will make the log visible.
    pub(super) hidden: bool,
    pub(super) tail: Tail,
    /// Where the conversation stands, and where the log ended then; only for dialects that need
    /// the whole log to tell.
    pub(super) stands: Option<(u64, Option<Arc<str>>)>,
    /// Id of the session.
    pub(super) session: String,
    /// What its log says of it, where entries repeat that.
    pub(super) meta: Option<Box<SessionMeta>>,
    pub(super) known: Option<KnownIds>,
    pub(super) blobs: Option<Blobs>,
    /// Where the log ends that was read or written.
    pub(super) end: u64,
    /// Up to where it is durable.
    pub(super) synced_end: u64,
    /// Appends are numbered: the last number that was given, the last that is in the log, the
    /// last that is durable.
    pub(super) given: u64,
    pub(super) written: u64,
    pub(super) synced: u64,
    pub(super) syncing: bool,
    /// Entries that came while a sync was under way.
    pub(super) queue: Queue,
    /// Whether an entry that stood there needs a sync once more, and got no number yet.
    pub(super) renewed: bool,
    /// Entries since the last good sync, with the number of their append.
    unsynced: Vec<(u64, Arc<str>)>,
    /// An empty batch, for what is appended next.
    spare: Batch,
    latched: Option<(ErrorKind, String)>,
    pub(super) closed: bool,
}

impl State {
    pub(super) fn new(
        (log, hidden): (Box<dyn LogAppender>, bool),
        id: &str,
        meta: Option<Box<SessionMeta>>,
        blobs: Option<Blobs>,
        tail: Tail,
    ) -> State {
        State {
            log,
            hidden,
            end: tail.end,
            tail,
            stands: None,
            session: id.to_owned(),
            meta,
            known: None,
            blobs,
            // What others wrote before us may never have been synced: the first
            // receipt covers it too.
            synced_end: 0,
            given: 0,
            written: 0,
            synced: 0,
            syncing: false,
            queue: Queue::default(),
            renewed: false,
            unsynced: Vec::new(),
            spare: Batch::default(),
            latched: None,
            closed: false,
        }
    }

    /// Takes the append lock, reads what other writers added, and writes; retries as long as they
    /// were faster. The caller releases the lock.
    pub(super) fn with_append_lock<T>(
        &mut self,
        with: With<'_>,
        mut write: impl FnMut(&mut State) -> AppendResult<T>,
    ) -> Result<T> {
        for _ in 0..TRIES {
            let attempt = self.catch_up(with.dialect).and_then(|()| write(self));
            match attempt {
                Ok(done) => return Ok(done),
                Err(AppendError::Stale) => {}
                Err(AppendError::Fenced(error)) => {
                    self.latch(&error);
                    return Err(error);
                }
                // What was refused for what we know may be right by what others added since.
                Err(AppendError::Failed(error)) if self.latched.is_some() || !self.is_behind() => {
                    return Err(error);
                }
                Err(AppendError::Failed(_)) => {}
            }
        }
        Err(Error::new(
            ErrorKind::Busy,
            "others keep adding to the session before us",
        )
        .hinting("try again"))
    }

    /// Takes the append lock, and reads what other writers added.
    fn catch_up(&mut self, dialect: &dyn Append) -> AppendResult<()> {
        if self.log.lock(self.end)? > self.end {
            self.read_new_lines(dialect)?;
        }
        Ok(())
    }

    /// Whether the log is known to end somewhere else by now.
    fn is_behind(&mut self) -> bool {
        matches!(self.log.append(self.end, b""), Err(AppendError::Stale))
    }

    /// Writes drafts behind what was queued. The append lock is held.
    pub(super) fn append(
        &mut self,
        with: With<'_>,
        drafts: &[Draft],
        expect: &Expect,
    ) -> AppendResult<Vec<Written>> {
        self.write_queue(with)?;
        self.check(with.dialect, expect)?;
        let mut batch = std::mem::take(&mut self.spare);
        let encoded = drafts
            .iter()
            .try_for_each(|draft| self.encode(with, draft, &mut batch));
        let written = encoded
            .map_err(AppendError::Failed)
            .and_then(|()| self.write_batch(with.dialect, &batch, self.given + 1));
        self.spare = batch.emptied();
        let written = written?;
        self.assign_sequence();
        if self.hidden && drafts.iter().any(Draft::is_answer) {
            if let Err(error) = self.log.publish() {
                self.latch(&error);
                return Err(AppendError::Failed(error.because(self.entries_in_doubt())));
            }
            self.hidden = false;
        }
        Ok(written)
    }

    /// Numbers what was written, if a sync has to follow it.
    pub(super) fn assign_sequence(&mut self) {
        if std::mem::take(&mut self.renewed) || self.end > self.synced_end {
            self.given += 1;
        }
        self.written = self.given;
    }

    /// Writes a batch in one write; its entries are in doubt until the append of
    /// that number is durable.
    pub(super) fn write_batch(
        &mut self,
        dialect: &dyn Append,
        batch: &Batch,
        number: u64,
    ) -> AppendResult<Vec<Written>> {
        let start = match self.write(dialect, batch) {
            Err(AppendError::Failed(error)) => {
                // Some of them may be there, whole or torn: only the next writer can tell.
                self.mark_in_doubt(batch);
                self.latch(&error);
                return Err(AppendError::Failed(error.because(self.entries_in_doubt())));
            }
            start => start?,
        };
        if let Some(last) = batch.entries.iter().rev().find(|entry| !entry.deduplicated) {
            self.stands = Some((self.end, Some(Arc::clone(&last.id))));
            self.tail.tip = Some(Arc::clone(&last.id));
        }
        let file = self.log.file();
        let mut written = Vec::with_capacity(batch.entries.len());
        let mut at = start;
        for entry in &batch.entries {
            let mut end = self.end;
            if !entry.deduplicated {
                let line = batch.bytes.get(entry.line.clone()).unwrap_or(b"");
                end = self.log.position_after(at, line);
                if let Some(known) = &mut self.known {
                    known.note(&entry.id, at, (line.len() as u64).saturating_sub(1));
                }
                self.unsynced.push((number, Arc::clone(&entry.id)));
                at = end;
            }
            written.push(Written {
                entry: Arc::clone(&entry.id),
                revision: Revision::of_log(file, end),
                deduplicated: entry.deduplicated,
            });
        }
        Ok(written)
    }

    /// Entries of which nobody will ever know: no sync of this writer covers them.
    pub(super) fn mark_in_doubt(&mut self, batch: &Batch) {
        let fresh = batch.entries.iter().filter(|entry| !entry.deduplicated);
        self.unsynced
            .extend(fresh.map(|entry| (u64::MAX, Arc::clone(&entry.id))));
    }

    fn check(&mut self, dialect: &'static dyn Append, expect: &Expect) -> Result<()> {
        let (expected, actual) = match expect {
            Expect::Any => return Ok(()),
            Expect::Revision(expected) => {
                let actual = Revision::of_log(self.log.file(), self.end);
                if expected.fits(&actual) {
                    return Ok(());
                }
                (expected.to_string(), actual.to_string())
            }
            Expect::Leaf(leaf)
                if !dialect.facts().parent_needs_full_log
                    && self.tail.tip.as_deref() == Some(leaf.as_str()) =>
            {
                return Ok(());
            }
            Expect::Leaf(leaf) => (
                leaf.clone(),
                self.leaf(dialect)?.unwrap_or_else(|| "the root".to_owned()),
            ),
        };
        if expected == actual {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Conflict,
            format!(
                "expected the session at {}, found it at {actual}",
                expected.escape_debug()
            ),
        )
        .hinting("read it again, then append with the revision or leaf that you found"))
    }

    /// The leaf: the tip with metadata folded away. Needs the whole tree.
    fn leaf(&self, dialect: &'static dyn Append) -> Result<Option<String>> {
        let (leaf, _) = self.look(dialect, |view| {
            let tip = dialect.tip(view)?;
            Ok(dialect
                .leaf(view, tip)
                .map(|slot| view.log.label(slot).into_owned()))
        })?;
        Ok(leaf)
    }

    /// Reads the whole log and asks something of it; what it says of the session comes along.
    pub(super) fn look<T>(
        &self,
        dialect: &'static dyn Append,
        ask: impl FnOnce(&boswell_model::SessionView<'_>) -> Result<T>,
    ) -> Result<(T, SessionMeta)> {
        let log = self.log.reader()?;
        let location = crate::native_store::located_at(&self.session, self.log.key(), self.end);
        let mut reader = Reader::new(dialect, &location, Depth::Facts);
        log.lines(0, 1, &mut |line| {
            if line.at < self.end {
                reader.line(line);
            }
        })?;
        let read = reader.finish();
        let answer = ask(&read.view(&crate::summary::Open(log.as_ref())))?;
        Ok((answer, read.meta))
    }

    /// Appends lines of their own and says where the first of them stands.
    fn write(&mut self, dialect: &dyn Append, batch: &Batch) -> AppendResult<u64> {
        let lines = batch.bytes.as_slice();
        if lines.is_empty() {
            return self.end_last_record(dialect);
        }
        let (landed, start) = if self.tail.ended() {
            let landed = self.log.append(self.end, lines)?;
            (landed, landed)
        } else {
            // What stands there without a line end is somebody's torn append: it stays,
            // on a line of its own.
            let landed = self.log.append(self.end, &[b"\n", lines].concat())?;
            (landed, self.log.position_after(landed, b"\n"))
        };
        if landed != self.end {
            // Somebody without a lock wrote before us. What they wrote behind us is read
            // like all that they add.
            self.read_new_lines(dialect)?;
        }
        let end = batch
            .lines()
            .fold(start, |at, line| self.log.position_after(at, line));
        self.tail.wrote(end);
        self.end = end;
        Ok(start)
    }

    /// Gives the last record its line end, if it lacks one: what is acknowledged must not share a
    /// line with what comes next.
    fn end_last_record(&mut self, dialect: &dyn Append) -> AppendResult<u64> {
        if self.tail.ends_with_record() {
            self.log.append(self.end, b"\n")?;
            self.read_new_lines(dialect)?;
        } else {
            // Also what was there before is acknowledged only to one who may still write, and
            // stands where it was read.
            self.log.append(self.end, b"")?;
        }
        Ok(self.end)
    }

    /// Takes note of what others added.
    fn read_new_lines(&mut self, dialect: &dyn Append) -> Result<()> {
        let known = &mut self.known;
        let mut note = |id: &str, at: u64, len: u64| {
            if let Some(known) = known {
                known.note(id, at, len);
            }
        };
        self.tail
            .advance(dialect, self.log.reader()?.as_ref(), &mut note)?;
        self.end = self.tail.end;
        Ok(())
    }

    /// Takes note that everything up to an append, and up to a position, is durable.
    pub(super) fn settled(&mut self, (number, end): (u64, u64)) {
        self.synced = self.synced.max(number);
        self.synced_end = self.synced_end.max(end);
        self.unsynced.retain(|(of, _)| *of > number);
    }

    pub(super) fn latch(&mut self, error: &Error) {
        if self.latched.is_none() {
            let cause = std::error::Error::source(error)
                .map(|c| format!(": {c}"))
                .unwrap_or_default();
            self.latched = Some((error.kind(), format!("{error}{cause}")));
        }
    }

    pub(super) fn in_doubt(&self) -> Vec<String> {
        if self.latched.is_some() {
            self.unsynced
                .iter()
                .map(|(_, id)| id.as_ref().to_owned())
                .collect()
        } else {
            Vec::new()
        }
    }

    pub(super) fn usable(&self) -> Result<()> {
        if self.closed {
            return Err(Error::new(ErrorKind::Invalid, "this writer was closed")
                .hinting("open the session again"));
        }
        self.usable_for_sync()
    }

    pub(super) fn usable_for_sync(&self) -> Result<()> {
        let Some((kind, text)) = &self.latched else {
            return Ok(());
        };
        Err(Error::new(
            *kind,
            format!("this writer failed before and stopped: {text}"),
        )
        .because(self.entries_in_doubt())
        .hinting("open the session again: its log is copied to a new file first"))
    }

    pub(super) fn entries_in_doubt(&self) -> String {
        let in_doubt = self.in_doubt();
        if in_doubt.is_empty() {
            "no entry is in doubt".to_owned()
        } else {
            format!("in doubt: {}", in_doubt.join(", "))
        }
    }
}
