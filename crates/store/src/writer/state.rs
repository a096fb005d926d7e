//! The state of a writer behind its mutex, and the only code that appends to its log.
//!
//! [`State`] counts on two scales. *Positions* (`end`, `synced_end`) are the backend's opaque
//! offsets in the log. *Sequence numbers* (`given`, `written`, `synced`) count appends; they are
//! what a thread waits for, because a queued entry has a number before it has a position. Always
//! `synced <= written <= given`.
//!
//! Every append follows the same order: take the append lock, read the lines that other writers
//! added since `end` ([`State::catch_up`]), write the queue of the group commit, check what the
//! caller expects, encode, write. So parents and duplicate ids are decided against the log as it is
//! at the moment of the write.
//!
//! The first failed `write` or `fsync` *latches* the state ([`State::latch`]): a full disk
//! (ENOSPC), a short write, an I/O error. All later calls return that error: the first write error
//! sticks. Entries without a successful `fsync` are then in doubt; only a new writer, which reads
//! the log again, can find out whether they exist.
//!
//! Waiting for `fsync` is the task of `group_commit.rs`; turning drafts into bytes that of
//! `encode.rs`.

use boswell_dialect::{Append, Depth, Draft, Reader};
use boswell_model::{
    Advice, EntryId, Error, ErrorDetails, ErrorKind, Result, Revision, SessionMeta,
};

use super::batch::Batch;
use super::encode::With;
use super::group_commit::Queue;
use super::id_index::KnownIds;
use super::receipt::{Expect, Written, unexpected};
use super::tail::Tail;
use crate::backend::{AppendError, AppendResult, LogAppender};
use crate::blobs::Blobs;

/// How many times an append is retried when other writers append first ([`AppendError::Stale`]).
const TRIES: usize = 1_000;

#[derive(Debug)]
/// What a writer knows about its log. One mutex guards all of it.
pub(super) struct State {
    pub(super) log: Box<dyn LogAppender>,
    /// Whether the log is still under its hidden key; the first answer of the assistant publishes
    /// it.
    pub(super) hidden: bool,
    pub(super) tail: Tail,
    /// The parent of the next entry at the tip, with the end of the log for which it was computed.
    /// A cache for dialects whose `parent_needs_full_log` is set; stale once `end` has moved.
    pub(super) stands: Option<(u64, Option<EntryId>)>,
    /// Id of the session, for dialects that repeat it in every record.
    pub(super) session: String,
    /// Metadata of the session, for dialects that repeat some of it in every record.
    pub(super) meta: Option<Box<SessionMeta>>,
    pub(super) known: Option<KnownIds>,
    pub(super) blobs: Option<Blobs>,
    /// The end of the log up to where this writer has read or written it.
    pub(super) end: u64,
    /// The position up to which an `fsync` of this writer has covered the log.
    pub(super) synced_end: u64,
    /// Sequence numbers of appends: the last one that was assigned, the last one whose lines are in
    /// the log, and the last one that is durable.
    pub(super) given: u64,
    pub(super) written: u64,
    pub(super) synced: u64,
    pub(super) syncing: bool,
    /// How many threads wait for the leader.
    pub(super) followers: usize,
    /// Entries that were submitted while the leader calls `fsync`.
    pub(super) queue: Queue,
    /// Whether a duplicate was rewritten in place since the last sequence number was assigned: then
    /// an `fsync` is needed although `end` has not moved.
    pub(super) renewed: bool,
    /// Entries since the last successful `fsync`, with the sequence number of their append.
    unsynced: Vec<(u64, EntryId)>,
    /// An empty batch whose allocations the next append reuses.
    spare: Batch,
    /// Kind and text of the first failed `write` or `fsync`.
    latched: Option<(ErrorKind, String)>,
    pub(super) closed: bool,
    /// What the first entry must find, if its caller expects nothing else.
    pub(super) expected: Expect,
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
            // Earlier writers may never have called `fsync`, so the first `fsync` of this writer
            // must also cover the lines that were there when it opened the log.
            synced_end: 0,
            given: 0,
            written: 0,
            synced: 0,
            syncing: false,
            followers: 0,
            queue: Queue::default(),
            renewed: false,
            unsynced: Vec::new(),
            spare: Batch::default(),
            latched: None,
            closed: false,
            expected: Expect::Any,
        }
    }

    /// Takes the append lock, reads what other writers added, and calls `write`; retries while
    /// other writers append first. The caller releases the lock.
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
                // The log was replaced, or another writer has the lease: no retry of this writer
                // can succeed.
                Err(AppendError::Fenced(error)) => {
                    self.latch(&error);
                    return Err(error);
                }
                // `write` may have refused the draft (wrong revision, unknown parent) only because
                // a backend without an append lock left this writer behind. Such an error counts
                // only if the log has not grown since.
                Err(AppendError::Failed(error)) if self.latched.is_some() || !self.is_behind() => {
                    return Err(error);
                }
                Err(AppendError::Failed(_)) => {}
            }
        }
        Err(Error::new(
            ErrorKind::Busy,
            "other processes keep appending to the session first",
        )
        .advising(Advice::Retry))
    }

    /// Takes the append lock, and reads what other writers added.
    fn catch_up(&mut self, dialect: &dyn Append) -> AppendResult<()> {
        if self.log.lock(self.end)? > self.end {
            self.read_new_lines(dialect)?;
        }
        Ok(())
    }

    /// Returns whether the log no longer ends at `end`. An append of no bytes makes the backend
    /// compare.
    fn is_behind(&mut self) -> bool {
        matches!(self.log.append(self.end, b""), Err(AppendError::Stale))
    }

    /// Writes `drafts` behind the queued entries. The caller holds the append lock.
    pub(super) fn append(
        &mut self,
        with: With<'_>,
        drafts: &[Draft],
        expect: &Expect,
    ) -> AppendResult<Vec<Written>> {
        self.write_queue(with)?;
        // After the queue: its entries were submitted first, so `expect` is checked against the log
        // that includes them.
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
        // Published after the lines are written: a reader that finds the session sees its first
        // answer.
        if self.hidden && drafts.iter().any(Draft::is_answer) {
            if let Err(error) = self.log.publish() {
                self.latch(&error);
                return Err(AppendError::Failed(self.naming_unacknowledged(error)));
            }
            self.hidden = false;
        }
        Ok(written)
    }

    /// Assigns a sequence number to what was written, if an `fsync` has to follow. A duplicate that
    /// is already durable needs none, so its receipt does not wait.
    pub(super) fn assign_sequence(&mut self) {
        if std::mem::take(&mut self.renewed) || self.end > self.synced_end {
            self.given += 1;
        }
        self.written = self.given;
    }

    /// Writes a batch in one `write`. Its entries are in doubt until the append with the sequence
    /// number `number` is durable.
    pub(super) fn write_batch(
        &mut self,
        dialect: &dyn Append,
        batch: &Batch,
        number: u64,
    ) -> AppendResult<Vec<Written>> {
        let start = match self.write(dialect, batch) {
            Err(AppendError::Failed(error)) => {
                // A failed `write` may have left some of the lines, whole or torn. This writer
                // cannot know which: the next one reads them from the log.
                self.mark_in_doubt(batch);
                self.latch(&error);
                return Err(AppendError::Failed(self.naming_unacknowledged(error)));
            }
            start => start?,
        };
        if let Some(last) = batch.entries.iter().rev().find(|entry| !entry.deduplicated) {
            if dialect.facts().parent_needs_full_log {
                // The cache stays valid for the new end: the next entry follows the one just
                // written.
                self.stands = Some((self.end, Some(last.id.clone())));
            }
            self.tail.tip = Some(last.id.clone());
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
                    // Ids are noted with the length of the record, without its newline.
                    known.note(entry.id.as_str(), at, (line.len() as u64).saturating_sub(1));
                }
                self.unsynced.push((number, entry.id.clone()));
                at = end;
            }
            written.push(Written {
                entry: entry.id.clone(),
                revision: Revision::of_log(file, end),
                deduplicated: entry.deduplicated,
            });
        }
        Ok(written)
    }

    /// Lists the new entries of a batch as in doubt for good: no later `fsync` of this writer
    /// covers `u64::MAX`.
    pub(super) fn mark_in_doubt(&mut self, batch: &Batch) {
        let fresh = batch.entries.iter().filter(|entry| !entry.deduplicated);
        self.unsynced
            .extend(fresh.map(|entry| (u64::MAX, entry.id.clone())));
    }

    fn check(&mut self, dialect: &'static dyn Append, expect: &Expect) -> Result<()> {
        let (expected, actual) = match expect {
            Expect::Any => return Ok(()),
            Expect::Revision(expected) => {
                let actual = Revision::of_log(self.log.file(), self.end);
                if expected.fits(&actual) {
                    return Ok(());
                }
                (expected.to_string(), Some(actual.to_string()))
            }
            Expect::Leaf(leaf)
                if !dialect.facts().parent_needs_full_log
                    && self.tail.tip.as_ref() == Some(leaf) =>
            {
                return Ok(());
            }
            Expect::Leaf(leaf) => (leaf.to_string(), self.leaf(dialect)?.map(String::from)),
        };
        if Some(&expected) == actual.as_ref() {
            return Ok(());
        }
        Err(unexpected(expected, actual))
    }

    /// Returns the leaf: the tip without metadata entries. Needs the whole tree.
    fn leaf(&self, dialect: &'static dyn Append) -> Result<Option<EntryId>> {
        let (leaf, _) = self.look(dialect, |view| {
            let tip = dialect.tip(view)?;
            Ok(dialect
                .leaf(view, tip)
                .map(|slot| view.log.label(slot).as_ref().into()))
        })?;
        Ok(leaf)
    }

    /// Reads the whole log and applies `ask` to it; returns the answer with the session's metadata.
    pub(super) fn look<T>(
        &self,
        dialect: &'static dyn Append,
        ask: impl FnOnce(&boswell_model::SessionView<'_>) -> Result<T>,
    ) -> Result<(T, SessionMeta)> {
        let log = self.log.reader()?;
        let location = crate::store::native::located_at(&self.session, self.log.key(), self.end);
        let mut reader = Reader::new(dialect, &location, Depth::Facts);
        log.lines(0, 1, &mut |line| {
            if line.at < self.end {
                reader.line(line);
            }
        })?;
        let read = reader.finish();
        let answer = ask(&read.view(&crate::store::summary::Open(log.as_ref())))?;
        Ok((answer, read.meta))
    }

    /// Appends the batch on lines of its own, and returns the position of the first line.
    fn write(&mut self, dialect: &dyn Append, batch: &Batch) -> AppendResult<u64> {
        let lines = batch.bytes.as_slice();
        if lines.is_empty() {
            return self.end_last_record(dialect);
        }
        let (landed, start) = if self.tail.ended() {
            let landed = self.log.append(self.end, lines)?;
            (landed, landed)
        } else {
            // The last line lacks its newline: another writer's append was torn. Its bytes stay, on
            // a line of their own; the newline goes into the same `write`.
            let landed = self.log.append(self.end, &[b"\n", lines].concat())?;
            (landed, self.log.position_after(landed, b"\n"))
        };
        if landed != self.end {
            // An agent that takes no lock appended first, and these lines landed behind its own.
            // What it appends after them is read by the next `catch_up`.
            self.read_new_lines(dialect)?;
        }
        let end = batch
            .lines()
            .fold(start, |at, line| self.log.position_after(at, line));
        self.tail.wrote(end);
        self.end = end;
        Ok(start)
    }

    /// Adds the newline that the last record lacks: an acknowledged record must not share a line
    /// with the next one.
    fn end_last_record(&mut self, dialect: &dyn Append) -> AppendResult<u64> {
        if self.tail.ends_with_record() {
            self.log.append(self.end, b"\n")?;
            self.read_new_lines(dialect)?;
        } else {
            // Nothing to write, but a duplicate is acknowledged too: only a writer that still has
            // the lease may do so, and only if the log still ends where it was read.
            self.log.append(self.end, b"")?;
        }
        Ok(self.end)
    }

    /// Reads the lines that other writers added, and notes their ids if ids are loaded.
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

    /// Records that all appends up to `number`, and the log up to `end`, are durable.
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

    pub(super) fn in_doubt(&self) -> Vec<EntryId> {
        if self.latched.is_some() {
            self.unsynced.iter().map(|(_, id)| id.clone()).collect()
        } else {
            Vec::new()
        }
    }

    pub(super) fn usable(&self) -> Result<()> {
        if self.closed {
            return Err(Error::new(ErrorKind::Invalid, "this writer was closed")
                .advising(Advice::ReopenSession));
        }
        self.usable_for_sync()
    }

    pub(super) fn usable_for_sync(&self) -> Result<()> {
        let Some((kind, text)) = &self.latched else {
            return Ok(());
        };
        let error = Error::new(
            *kind,
            format!("this writer failed before and stopped: {text}"),
        );
        Err(self
            .naming_unacknowledged(error)
            .advising(Advice::ReopenSession))
    }

    /// Adds the entries that may or may not be on disk to an error.
    pub(super) fn naming_unacknowledged(&self, error: Error) -> Error {
        let entries = self.in_doubt();
        if entries.is_empty() {
            return error.because("every entry before was acknowledged");
        }
        let ids: Vec<_> = entries.iter().map(EntryId::as_str).collect();
        error
            .because(format!(
                "not acknowledged, and perhaps not on disk: {}",
                ids.join(", ")
            ))
            .detailing(ErrorDetails::Unacknowledged { entries })
    }
}
