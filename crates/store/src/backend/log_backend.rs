//! The traits between a writer and its storage: [`LogBackend`] opens logs, [`LogAppender`] appends
//! lines to one.
//!
//! A writer knows entries and receipts; an implementation of these traits knows lines. Positions
//! are opaque numbers that grow with the log: byte offsets in a file, sequence numbers in a table.
//! A writer never adds lengths to them but calls [`LogAppender::position_after`].
//!
//! One append is `lock`, `append`, `unlock`, then `sync`, the returned work, and `synced`. An
//! append is always compared with the end that the writer knows: it lands there whole, or fails
//! with [`AppendError::Stale`]. Files hold a lock for that; a table compares in the statement that
//! writes. No implementation needs a lock that survives its process, and none needs a clock except
//! for leases that expire.
//!
//! `boswell-testkit` contains the conformance suite for implementations.

use std::fmt;

use boswell_model::{Error, ErrorKind, Instant, Result, SessionRef};

use super::ObjectReader;
use crate::locks::lease::Wait;

/// Storage for session logs that can be written.
pub trait LogBackend: Send + Sync + fmt::Debug {
    /// Takes the lease of a session, which need not exist yet. Fails with `Busy` if another writer
    /// has it for longer than [`LogClaim::wait`].
    fn lease(&self, claim: &LogClaim<'_>) -> Result<Lease>;

    /// Creates a log with these lines under its key, which must be free: whole and durable, or not
    /// at all. `lease` is that of its session.
    fn create(&self, log: &LogName<'_>, lines: &[u8], lease: &Lease) -> Result<()>;

    /// Returns the key under which the log of a session was last written, so that the caller can
    /// try it before it searches the store. `None` if nothing is remembered.
    fn remembered(&self, _session: &SessionRef) -> Option<String> {
        None
    }

    /// Deletes the log of a session for good, with everything that the backend stores about it.
    /// Appends of other writers fail with [`AppendError::Fenced`] from then on. `lease` is that of
    /// its session.
    ///
    /// Sessions in files are deleted by a plan instead, which can be undone.
    fn delete(&self, log: &LogName<'_>, _lease: &Lease) -> Result<()> {
        Err(Error::new(
            ErrorKind::Unsupported,
            format!("the log `{}` is not deleted this way", log.key),
        )
        .advising("execute `EditRequest::Delete` with a runner, which can be undone"))
    }

    /// Opens a log for appending.
    fn append_to(&self, log: &LogName<'_>, lease: Option<&Lease>) -> Result<OpenLog>;
}

/// A request for the lease of a session.
#[derive(Debug, Clone, Copy)]
pub struct LogClaim<'a> {
    /// The session whose lease is requested.
    pub session: &'a SessionRef,
    /// How long to wait while another writer has the lease.
    pub wait: Wait,
    /// Name of this program, for the error message of other processes.
    pub program: &'a str,
    /// The current time, for the same message only.
    pub now: Instant,
}

/// The right to be the one writer of a session: to move its leaf, to compact, to rewrite. Dropping
/// it releases it.
#[derive(Debug)]
pub struct Lease {
    epoch: u64,
    _held: Box<dyn fmt::Debug + Send + Sync>,
}

impl Lease {
    /// Makes a lease that ends when `held` is dropped. Where leases can be lost, every holder has a
    /// larger `epoch` than the one before; elsewhere the epoch has no meaning.
    pub fn new(epoch: u64, held: impl fmt::Debug + Send + Sync + 'static) -> Lease {
        Lease {
            epoch,
            _held: Box::new(held),
        }
    }

    /// Returns the epoch, which grows with every holder of the session's lease.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }
}

/// Names a log that is to be opened, created or deleted.
#[derive(Debug, Clone, Copy)]
pub struct LogName<'a> {
    /// The session that the log belongs to.
    pub session: &'a SessionRef,
    /// The key under which the log is now.
    pub key: &'a str,
    /// The key under which the log becomes visible, if it has a hidden one until then.
    pub visible: Option<&'a str>,
    /// Whether [`LogBackend::create`] has just created it, so that its name is durable.
    pub just_made: bool,
}

/// An open log and its end.
#[derive(Debug)]
pub struct OpenLog {
    /// Appends to the log.
    pub log: Box<dyn LogAppender>,
    /// The position behind the last byte or row of the log.
    pub end: u64,
}

/// Why an append failed, and whether something may have been written.
#[derive(Debug)]
pub enum AppendError {
    /// Other writers appended since the caller looked, and nothing was written: the caller reads
    /// what they appended and tries again.
    Stale,
    /// This writer may not write any more, and nothing was written: the log was replaced, or
    /// another writer has the lease.
    Fenced(Error),
    /// The write failed. Some of the lines may have been written.
    Failed(Error),
}

impl From<Error> for AppendError {
    fn from(error: Error) -> AppendError {
        AppendError::Failed(error)
    }
}

/// The result of a call that appends.
pub type AppendResult<T> = std::result::Result<T, AppendError>;

/// The work that makes appended lines durable. It runs while other threads append.
pub type SyncWork = Box<dyn FnOnce() -> Result<()> + Send>;

/// A log that is open for appending. One caller at a time.
pub trait LogAppender: Send + fmt::Debug {
    /// Takes the append lock and returns where the log ends: at `known`, up to where the caller has
    /// read, or behind it. A second call before [`unlock`](LogAppender::unlock) keeps the lock.
    /// After [`AppendError::Failed`] it may be called again.
    ///
    /// A backend without an append lock compares when it appends: it may return `known` unless the
    /// log is known to be [stale](AppendError::Stale).
    fn lock(&mut self, known: u64) -> AppendResult<u64>;

    /// Appends `lines` at `end` in one write and returns the position of the first of them. If the
    /// log no longer ends there, the call fails with [`AppendError::Stale`], or the lines go behind
    /// what other writers appended, on lines of their own.
    ///
    /// Every line has its newline. A newline may come before them if the last line of the log lacks
    /// its own. An append of no bytes only checks whether an append would be possible.
    fn append(&mut self, end: u64, lines: &[u8]) -> AppendResult<u64>;

    /// Releases the append lock.
    fn unlock(&mut self);

    /// Returns the position behind a line that is at `at`.
    fn position_after(&self, at: u64, line: &[u8]) -> u64;

    /// Returns the work that remains until all appended lines are durable; `None` if they were when
    /// `append` returned.
    fn sync(&mut self) -> Option<SyncWork>;

    /// Takes the outcome of that work. Returns false if it has to be done again, because something
    /// changed meanwhile that it may not cover.
    fn synced(&mut self, outcome: Result<()>) -> Result<bool>;

    /// Opens the log for reading.
    fn reader(&self) -> Result<Box<dyn ObjectReader>>;

    /// Returns the key of the log. Another writer may have changed it by publishing the log.
    fn key(&self) -> &str;

    /// Returns device and inode of the file that lines are appended to; `None` where there are no
    /// files. It is a part of each [`Revision`](boswell_model::Revision).
    fn file(&self) -> Option<(u64, u64)> {
        None
    }

    /// Moves the log to its visible key, if it has a hidden one.
    fn publish(&mut self) -> Result<()>;

    /// Makes the next sync cover a line that the log contains already, no matter which process
    /// wrote it. Returns true if such a sync is needed. Does nothing where all that can be read is
    /// durable.
    fn rewrite_for_sync(&mut self, _at: u64, _len: u64) -> Result<bool> {
        Ok(false)
    }

    /// Returns how many times a program that takes no lock wrote into the lines of this appender.
    fn races(&self) -> u64 {
        0
    }
}
