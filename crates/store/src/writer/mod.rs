//! Writing to a session: appends that are durable when their receipt is returned.
//!
//! One mutex orders drafts and writes. Waiting for the disk happens outside of it, as group commit
//! (`group_commit.rs`). The first failed `write` or `fsync`, such as on a full disk (ENOSPC),
//! latches the writer (`state.rs`): every later call returns that error, which names the entries
//! that may not survive. After a failed `fsync` the next writer copies the log to a new file before
//! it acknowledges anything. Where lines go, and how they become durable, is the task of a
//! [`LogAppender`](crate::backend::LogAppender); this module knows entries and receipts.

#[cfg(feature = "tokio")]
pub(crate) mod async_writer;
mod batch;
mod encode;
mod group_commit;
mod id_index;
mod open;
mod receipt;
mod state;
mod tail;
mod ticket;

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use boswell_dialect::{Append, Body, Depth, Draft, IdSource, SessionLocation};
use boswell_model::{EntryId, Result, Revision, SessionId, SessionRef};

use batch::Drafts;
use encode::With;
use group_commit::{Enqueued, QueueSlot};
use receipt::Written;
pub(crate) use receipt::unexpected;
pub use receipt::{Durability, Expect, Outcome, Receipt};

#[cfg(feature = "tokio")]
pub use async_writer::{AsyncTicket, AsyncWriter, Reply};
pub use boswell_dialect::{AssistantMessage, Parent, Visibility};
pub use boswell_model::{MediaSource, ToolInput};
use state::State;

use crate::backend::{Backend, Lease, OpenLog};
use crate::blobs::Blobs;

/// Writes to one session. Handles clone cheaply and may be used from many threads.
///
/// [`finish`](SessionWriter::finish) ends the session, [`release`](SessionWriter::release) leaves
/// it open. Dropping the last clone instead gives up the lease and waits for nothing: what was
/// acknowledged is durable, an entry whose [`Ticket`] was not waited for may be lost, and no error
/// is reported.
///
/// ```
/// use boswell_store::{Draft, Home, NewSession, Outcome, Wait};
///
/// # fn main() -> boswell_store::Result<()> {
/// let store = Home::in_memory()?.sessions()?;
/// let writer = store.create(NewSession::in_project("/proj/demo"))?;
/// let receipt = writer.append(Draft::user("hello"))?;
/// assert!(!receipt.deduplicated);
/// let id = writer.id();
/// writer.release()?; // another writer may open it now
/// store.writer(&id, Wait::No)?.finish(Outcome::Completed)
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "dropping a writer gives up the lease of its session"]
pub struct SessionWriter {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    dialect: &'static dyn Append,
    backend: Arc<dyn Backend>,
    id_source: Arc<dyn IdSource>,
    reference: Arc<SessionRef>,
    root: PathBuf,
    state: Mutex<State>,
    /// Signalled by the leader of a group commit when its sync has ended.
    sync_ended: Condvar,
    lease: Mutex<Option<Lease>>,
}

/// Entries that were handed to the system and may not be durable yet.
///
/// ```
/// use boswell_store::{Draft, Home, NewSession};
///
/// # fn main() -> boswell_store::Result<()> {
/// let writer = Home::in_memory()?.sessions()?.create(NewSession::in_project("/proj/demo"))?;
/// let tickets = [writer.submit(Draft::user("a"))?, writer.submit(Draft::assistant("b"))?];
/// for ticket in tickets {
///     println!("{} is durable", ticket.wait()?.entry);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "an entry is acknowledged by `wait`, not by `submit`"]
pub struct Ticket {
    inner: Arc<Inner>,
    written: Vec<Written>,
    /// Where the revision of a queued entry will be available.
    slot: Option<QueueSlot>,
    number: u64,
    durability: Durability,
}

/// The parts of a writer.
#[derive(Debug)]
pub(crate) struct WriterParts {
    pub(crate) dialect: &'static dyn Append,
    /// Reads what is written.
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) id_source: Arc<dyn IdSource>,
    pub(crate) reference: Arc<SessionRef>,
    /// Display name of the store's place.
    pub(crate) root: PathBuf,
    /// Store of large values; `None` if the format keeps them in the log.
    pub(crate) blobs: Option<Blobs>,
    pub(crate) log: OpenLog,
    /// Whether the log is hidden until the first assistant message.
    pub(crate) hidden: bool,
    /// `None` for a writer that only adds entries which do not move the leaf.
    pub(crate) lease: Option<Lease>,
}

impl SessionWriter {
    /// Creates a writer for an open log.
    pub(crate) fn open(parts: WriterParts) -> Result<SessionWriter> {
        let WriterParts {
            dialect,
            backend,
            id_source,
            reference,
            root,
            blobs,
            log,
            hidden,
            lease,
        } = parts;
        let state = State::open(dialect, &reference.id, log, hidden, blobs)?;
        let inner = Inner {
            dialect,
            backend,
            id_source,
            reference,
            root,
            state: Mutex::new(state),
            sync_ended: Condvar::new(),
            lease: Mutex::new(lease),
        };
        Ok(SessionWriter {
            inner: Arc::new(inner),
        })
    }

    /// Requires a state of the session for its first entry.
    pub(crate) fn expecting(self, expect: Expect) -> SessionWriter {
        self.inner.lock().expected = expect;
        self
    }

    /// Returns the session that it writes to.
    pub fn reference(&self) -> &SessionRef {
        &self.inner.reference
    }

    /// The id of its session.
    pub fn id(&self) -> SessionId {
        self.inner.reference.id.as_str().into()
    }

    /// Returns the path of its log.
    pub fn path(&self) -> PathBuf {
        self.inner.root.join(self.inner.lock().log.key())
    }

    /// Appends one entry and returns when it is durable on this machine's disk.
    ///
    /// # Errors
    ///
    /// `Conflict` if an entry with this id and other content is there, `Unsupported` if the format
    /// cannot hold it, an I/O error if it could not be written: then this writer stops, and
    /// [`in_doubt`](SessionWriter::in_doubt) names what may be lost.
    pub fn append(&self, draft: Draft) -> Result<Receipt> {
        self.append_with(draft, Expect::Any, Durability::Fsync)
    }

    /// Appends one entry if the session is as expected, and returns when it is as durable as asked.
    ///
    /// # Errors
    ///
    /// Those of [`append`](SessionWriter::append), and `Conflict` if the session is not as
    /// expected.
    pub fn append_with(
        &self,
        draft: Draft,
        expect: Expect,
        durability: Durability,
    ) -> Result<Receipt> {
        self.submit_drafts(Drafts::One(draft), &expect, durability)?
            .wait()
    }

    /// Appends a batch: checked as a whole, written in one write, acknowledged as a whole.
    ///
    /// # Errors
    ///
    /// Those of [`append_with`](SessionWriter::append_with); then no entry of the batch is
    /// acknowledged.
    pub fn append_all(
        &self,
        drafts: Vec<Draft>,
        expect: Expect,
        durability: Durability,
    ) -> Result<Vec<Receipt>> {
        self.submit_all(drafts, expect, durability)?.wait_all()
    }

    /// Hands an entry to the system without waiting for the disk.
    ///
    /// # Errors
    ///
    /// Those of [`append`](SessionWriter::append), except for those of the disk, which
    /// [`Ticket::wait`] returns.
    pub fn submit(&self, draft: Draft) -> Result<Ticket> {
        self.submit_drafts(Drafts::One(draft), &Expect::Any, Durability::Fsync)
    }

    /// Hands a batch to the system without waiting for the disk.
    ///
    /// # Errors
    ///
    /// Those of [`submit`](SessionWriter::submit), and `Conflict` if the session is not as
    /// expected.
    pub fn submit_all(
        &self,
        drafts: Vec<Draft>,
        expect: Expect,
        durability: Durability,
    ) -> Result<Ticket> {
        self.submit_drafts(drafts.into(), &expect, durability)
    }

    fn submit_drafts(
        &self,
        drafts: Drafts,
        expect: &Expect,
        durability: Durability,
    ) -> Result<Ticket> {
        let inner = &self.inner;
        let mut state = inner.lock();
        let outcome = inner.submit(&mut state, drafts, expect, durability);
        let number = state.given;
        drop(state);
        let (written, slot) = outcome?;
        Ok(Ticket {
            inner: Arc::clone(inner),
            written,
            slot,
            number,
            durability,
        })
    }

    /// Waits until everything that was submitted is durable.
    ///
    /// # Errors
    ///
    /// An I/O error if an entry could not be made durable: then this writer stops.
    pub fn flush(&self) -> Result<()> {
        let number = {
            let mut state = self.inner.lock();
            if state.queue.is_empty() {
                // Lines of earlier writers may not be durable either.
                state.assign_sequence();
            }
            state.given
        };
        self.inner.wait_until_durable(number)
    }

    /// Moves the leaf to an entry: the next entry hangs below it.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such entry; otherwise those of [`append`](SessionWriter::append).
    pub fn branch(&self, entry: impl Into<EntryId>) -> Result<Receipt> {
        self.append(leaf_draft(Parent::Entry(entry.into())))
    }

    /// Moves the leaf before everything: the next entry is a root.
    ///
    /// # Errors
    ///
    /// Those of [`append`](SessionWriter::append).
    pub fn reset(&self) -> Result<Receipt> {
        self.append(leaf_draft(Parent::Root))
    }

    /// Moves the leaf to an entry, or before everything, and leaves a summary of
    /// what was left there.
    ///
    /// # Errors
    ///
    /// Those of [`branch`](SessionWriter::branch).
    pub fn branch_with_summary(&self, entry: Option<&EntryId>, summary: &str) -> Result<Receipt> {
        let parent = entry.map_or(Parent::Root, |id| Parent::Entry(id.clone()));
        let body = Body::BranchSummary {
            from: entry.cloned(),
            summary: summary.to_owned(),
        };
        self.append(Draft::new(body).below(parent))
    }

    /// The session as it is now.
    ///
    /// # Errors
    ///
    /// An I/O error if the log cannot be written or read.
    pub fn session(&self) -> Result<crate::Session> {
        let (location, blobs) = self.location()?;
        let inner = &self.inner;
        let session = crate::Session::read(
            inner.dialect,
            inner.backend.as_ref(),
            &location,
            Depth::Facts,
        )?;
        Ok(session.with_blobs(blobs))
    }

    /// As much of the session as a context needs, as
    /// [`Store::read_for_context`](crate::Store::read_for_context) reads it.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no entry `at`; an I/O error if the log cannot be written or read.
    pub fn read_for_context(
        &self,
        at: Option<&EntryId>,
    ) -> Result<(crate::Session, boswell_model::Tip)> {
        let (location, blobs) = self.location()?;
        let inner = &self.inner;
        let (session, tip) =
            crate::Session::read_for_context(inner.dialect, inner.backend.as_ref(), &location, at)?;
        Ok((session.with_blobs(blobs), tip))
    }

    fn location(&self) -> Result<(SessionLocation, Option<Blobs>)> {
        let state = self.inner.lock_with_all_written()?;
        let key = state.log.key();
        // The end is a number of bytes only where there is a file; how much a context reads at once
        // depends on bytes.
        let size = match state.log.file() {
            Some(_) => state.end,
            None => (self.inner.backend.stat(key)?).map_or(state.end, |info| info.size),
        };
        let location = crate::store::native::located_at(&self.inner.reference.id, key, size);
        Ok((location, state.blobs.clone()))
    }

    /// Returns the entries since the last successful sync, after a failure: it is unknown whether
    /// they survive.
    pub fn in_doubt(&self) -> Vec<EntryId> {
        self.inner.lock().in_doubt()
    }

    /// Returns how often a writer without a lock appended between our read and our own line.
    pub fn races(&self) -> u64 {
        self.inner.lock().log.races()
    }

    /// Ends the session: sets its status to `outcome`, makes everything durable, and releases the
    /// lease. Clones of this writer cannot write any more.
    ///
    /// # Errors
    ///
    /// Those of [`append`](SessionWriter::append) and [`flush`](SessionWriter::flush); then the
    /// lease is held until the last clone is dropped.
    pub fn finish(self, outcome: Outcome) -> Result<()> {
        self.append(outcome.draft())?;
        self.release()
    }

    /// Releases the session, to be continued later: makes everything durable and releases the
    /// lease; the status stays. Clones of this writer cannot write any more.
    ///
    /// # Errors
    ///
    /// Those of [`flush`](SessionWriter::flush); then the lease is held until the last clone is
    /// dropped.
    pub fn release(self) -> Result<()> {
        self.flush()?;
        self.inner.lock().closed = true;
        *self
            .inner
            .lease
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }
}

/// Returns an entry that states the leaf: every reader of the family uses the last line as the tip.
fn leaf_draft(parent: Parent) -> Draft {
    Draft::new(Body::Custom {
        kind: "boswell.leaf".to_owned(),
        data: None,
    })
    .below(parent)
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`lock`](Inner::lock), with all submitted entries in the log, for a caller that reads it.
    fn lock_with_all_written(&self) -> Result<MutexGuard<'_, State>> {
        let mut state = self.lock();
        self.write_queue(&mut state)?;
        Ok(state)
    }

    fn with(&self) -> With<'_> {
        With {
            dialect: self.dialect,
            id_source: self.id_source.as_ref(),
        }
    }

    /// Writes drafts, or queues one that may wait for the current sync.
    fn submit(
        &self,
        state: &mut State,
        drafts: Drafts,
        expect: &Expect,
        durability: Durability,
    ) -> Result<(Vec<Written>, Option<QueueSlot>)> {
        state.usable()?;
        let first = std::mem::replace(&mut state.expected, Expect::Any);
        let expect = if *expect == Expect::Any {
            &first
        } else {
            expect
        };
        let with = self.with();
        match state.enqueue(with, drafts, expect, durability)? {
            Enqueued::Yes { entry, slot } => {
                let written = Written {
                    entry,
                    revision: Revision::at_end(0),
                    deduplicated: false,
                };
                Ok((vec![written], Some(slot)))
            }
            Enqueued::No(drafts) => {
                let write = |state: &mut State| state.append(with, drafts.as_slice(), expect);
                let written = state.with_append_lock(with, write);
                state.log.unlock();
                Ok((written?, None))
            }
        }
    }
}
