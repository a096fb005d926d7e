//! Where lines land: the writing half of a backend.
//!
//! A writer knows entries; what stands behind these traits knows lines. Positions are opaque
//! numbers that grow with the log: bytes in a file, sequence numbers in a table. Nothing here needs
//! a lock that outlives its holder, and nothing needs a clock but leases that run out.
//! `boswell-testkit` has the suite that says whether an implementation is right.

use std::fmt;

use boswell_model::{Error, Instant, Result, SessionRef};

use super::ObjectReader;
use crate::lease::Wait;

/// A place that takes the logs of sessions.
pub trait LogBackend: Send + Sync + fmt::Debug {
    /// Takes the lease of a session, which need not be there yet. `Busy` if somebody else has it
    /// for longer than is waited.
    fn lease(&self, claim: &LogClaim<'_>) -> Result<Lease>;

    /// Makes a log of these lines under a key that must be free: whole and durable, or not at all.
    /// The lease is that of its session.
    fn create(&self, key: &str, lines: &[u8], lease: &Lease) -> Result<()>;

    /// The key under which the log of a session was last written: where it need not be looked for
    /// among all others, if it is still there. None where nothing is remembered.
    fn remembered(&self, _session: &SessionRef) -> Option<String> {
        None
    }

    /// Opens a log to add to it.
    fn append_to(&self, log: &LogName<'_>, lease: Option<&Lease>) -> Result<OpenLog>;
}

/// Who wants to drive which session.
#[derive(Debug, Clone, Copy)]
pub struct LogClaim<'a> {
    /// The session.
    pub session: &'a SessionRef,
    /// How long to wait for whoever has it.
    pub wait: Wait,
    /// What others are told about us.
    pub program: &'a str,
    /// What the time is, also for others only.
    pub now: Instant,
}

/// The right to drive a session: to move its leaf, to compact, to rewrite. Dropping it gives it up.
#[derive(Debug)]
pub struct Lease {
    epoch: u64,
    _held: Box<dyn fmt::Debug + Send + Sync>,
}

impl Lease {
    /// A lease that lasts as long as `held` is not dropped. Where leases can be lost, every holder
    /// has a larger epoch than the one before; elsewhere it says nothing.
    pub fn new(epoch: u64, held: impl fmt::Debug + Send + Sync + 'static) -> Lease {
        Lease {
            epoch,
            _held: Box::new(held),
        }
    }

    /// Which of the session's holders this is.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }
}

/// A log that is to be opened.
#[derive(Debug, Clone, Copy)]
pub struct LogName<'a> {
    /// Its session.
    pub session: &'a SessionRef,
    /// Its key.
    pub key: &'a str,
    /// The key that it gets once it may be seen, if it has another until then.
    pub visible: Option<&'a str>,
    /// Whether it was made a moment ago by [`LogBackend::create`].
    pub just_made: bool,
}

/// A log that was opened.
#[derive(Debug)]
pub struct OpenLog {
    /// Adds to it.
    pub log: Box<dyn LogAppender>,
    /// Where it ends.
    pub end: u64,
}

/// Why nothing, or nothing certain, was added.
#[derive(Debug)]
pub enum AppendError {
    /// Others added something since the caller looked, and nothing was written:
    /// read on and try again.
    Stale,
    /// The log is not ours any more, and nothing was written: it was replaced, or somebody
    /// else drives the session.
    Fenced(Error),
    /// It failed. Some of it may have been written.
    Failed(Error),
}

impl From<Error> for AppendError {
    fn from(error: Error) -> AppendError {
        AppendError::Failed(error)
    }
}

/// What an attempt to add something gives.
pub type AppendResult<T> = std::result::Result<T, AppendError>;

/// What remains to be done until lines are durable. Runs beside appends.
pub type SyncWork = Box<dyn FnOnce() -> Result<()> + Send>;

/// A log that is open for adding to it. One caller at a time.
pub trait LogAppender: Send + fmt::Debug {
    /// Takes the append lock and returns where the log ends: at `known`, up to where the caller has
    /// read, or behind it. Calling it again before [`unlock`](LogAppender::unlock) keeps the lock.
    /// After [`AppendError::Failed`] it may be called again.
    ///
    /// A backend without an append lock compares when it appends: it may return `known` unless
    /// the log is known to be [stale](AppendError::Stale).
    fn lock(&mut self, known: u64) -> AppendResult<u64>;

    /// Appends `lines` at `end` in one write and returns the position of the first of them. If the
    /// log no longer ends there, the call fails with [`AppendError::Stale`], or the lines go
    /// behind what other writers appended, on lines of their own.
    ///
    /// Every line has its line end. A line end may come before them if the last line of the log
    /// lacks its own. With no lines it only finds out whether it could have added some.
    fn append(&mut self, end: u64, lines: &[u8]) -> AppendResult<u64>;

    /// Releases the append lock.
    fn unlock(&mut self);

    /// The position behind a line that stands at `at`.
    fn position_after(&self, at: u64, line: &[u8]) -> u64;

    /// What remains to be done until all that was appended is durable; none if it was
    /// when `append` returned.
    fn sync(&mut self) -> Option<SyncWork>;

    /// What came of that work. False if it has to be done once more, because something changed
    /// meanwhile that it may not cover.
    fn synced(&mut self, outcome: Result<()>) -> Result<bool>;

    /// Reads the log.
    fn reader(&self) -> Result<Box<dyn ObjectReader>>;

    /// Its key, which others may have changed by making it visible.
    fn key(&self) -> &str;

    /// Device and number of the file that lines are added to; none where there are no files. It is
    /// a part of each [`Revision`](boswell_model::Revision).
    fn file(&self) -> Option<(u64, u64)> {
        None
    }

    /// Gives the log the key under which it is seen, if it has another one.
    fn publish(&mut self) -> Result<()>;

    /// Makes sure that the next sync covers a line that stands there already, whoever wrote it;
    /// true if one is needed. Where what can be read is durable, there is nothing to do.
    fn rewrite_for_sync(&mut self, _at: u64, _len: u64) -> Result<bool> {
        Ok(false)
    }

    /// How often somebody who does not wait for turns got between us and our own lines.
    fn races(&self) -> u64 {
        0
    }
}
