//! The writer for programs that run on tokio (feature `tokio`).
//!
//! An [`AsyncWriter`] does what a [`SessionWriter`] does, on the runtime's threads for blocking
//! work. A call starts when it is made, not when its [`Reply`] is first polled, and goes on
//! whatever becomes of the reply: dropping one neither loses nor doubles the entry, only the
//! receipt. When the runtime ends, calls that have not had their turn are not written and their
//! replies say so. Calls are written in the order in which they were made; their waiting for the
//! disk is shared, as between threads.

use std::collections::VecDeque;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use boswell_dialect::{Draft, NewSession};
use boswell_model::{EntryId, Error, ErrorKind, Result, SessionId, SessionRef};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::{
    Durability, Expect, Outcome, Receipt, Session, SessionWriter, Ticket, Wait, WritableStore,
};

/// Writes to one session without blocking the task that asks. Handles clone cheaply.
///
/// ```
/// use boswell_store::writer::AsyncWriter;
/// use boswell_store::{Draft, Home, NewSession, Outcome};
/// use tokio::runtime::Builder;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Home::in_memory()?.sessions()?;
/// Builder::new_current_thread().build()?.block_on(async {
///     let new = NewSession::in_project("/proj/demo");
///     let writer = AsyncWriter::create(&store, new).await?;
///     let asked = writer.append(Draft::user("why is the build red?")); // under way
///     let answered = writer.append(Draft::assistant("a test is flaky")); // written after it
///     asked.await?; // durable
///     drop(answered); // written all the same, only not acknowledged
///     writer.finish(Outcome::Completed).await
/// })?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "dropping a writer gives up the lease of its session"]
pub struct AsyncWriter {
    writer: SessionWriter,
    runtime: Handle,
    queue: Arc<Queue>,
}

/// The result of a call that has already started. It need not be awaited for the call to happen.
#[derive(Debug)]
#[must_use = "an entry is acknowledged by the reply's value"]
pub struct Reply<T> {
    answer: oneshot::Receiver<Result<T>>,
}

/// Entries that were submitted and may not be durable yet.
#[derive(Debug)]
#[must_use = "an entry is acknowledged by `wait`, not by `submit`"]
pub struct AsyncTicket {
    ticket: Ticket,
    runtime: Handle,
}

/// The part of a call that needs no order: waiting for the disk, and the reply.
type Rest = Box<dyn FnOnce() + Send>;
type Job = Box<dyn FnOnce() -> Rest + Send>;

/// Calls in the order in which they were made.
struct Queue {
    /// `None` after the runtime has ended.
    jobs: Mutex<Option<VecDeque<Job>>>,
    /// Held while a call runs, so that a later one cannot overtake it on another thread.
    turn: Mutex<()>,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Queue({} waiting)",
            lock(&self.jobs).as_ref().map_or(0, VecDeque::len)
        )
    }
}

/// A thread that will work on the queue. A runtime that ends drops it without running it.
struct Worker {
    queue: Arc<Queue>,
    came: bool,
}

impl AsyncWriter {
    /// Writes through `writer`, on the blocking threads of the current runtime.
    ///
    /// # Panics
    ///
    /// Outside of a runtime, as [`Handle::current`]; there use [`on`](AsyncWriter::on).
    pub fn new(writer: SessionWriter) -> AsyncWriter {
        AsyncWriter::on(writer, Handle::current())
    }

    /// Writes through `writer`, on the blocking threads of a given runtime.
    pub fn on(writer: SessionWriter, runtime: Handle) -> AsyncWriter {
        AsyncWriter {
            writer,
            runtime,
            queue: Arc::new(Queue {
                jobs: Mutex::new(Some(VecDeque::new())),
                turn: Mutex::new(()),
            }),
        }
    }

    /// Makes a session, as [`WritableStore::create`], on the current runtime.
    ///
    /// # Errors
    ///
    /// Those of [`WritableStore::create`].
    pub async fn create(store: &WritableStore, new: NewSession) -> Result<AsyncWriter> {
        let (store, runtime) = (store.clone(), Handle::current());
        let writer = reply(&runtime, move || store.create(new)).await?;
        Ok(AsyncWriter::on(writer, runtime))
    }

    /// Opens a session for writing, as [`WritableStore::writer`], on the current runtime.
    ///
    /// # Errors
    ///
    /// Those of [`WritableStore::writer`].
    pub async fn open(
        store: &WritableStore,
        id: impl Into<SessionId>,
        wait: Wait,
    ) -> Result<AsyncWriter> {
        let (store, id, runtime) = (store.clone(), id.into(), Handle::current());
        let writer = reply(&runtime, move || store.writer(&id, wait)).await?;
        Ok(AsyncWriter::on(writer, runtime))
    }

    /// Returns the session that it writes to.
    pub fn reference(&self) -> &SessionRef {
        self.writer.reference()
    }

    /// Returns the path of its log.
    pub fn path(&self) -> PathBuf {
        self.writer.path()
    }

    /// Returns the blocking writer.
    pub fn blocking(&self) -> &SessionWriter {
        &self.writer
    }

    /// Appends one entry; the reply comes when it is durable on this machine's disk.
    pub fn append(&self, draft: Draft) -> Reply<Receipt> {
        self.append_with(draft, Expect::Any, Durability::Fsync)
    }

    /// Appends one entry if the session is in the expected state; the reply comes when it has the
    /// requested durability.
    pub fn append_with(
        &self,
        draft: Draft,
        expect: Expect,
        durability: Durability,
    ) -> Reply<Receipt> {
        self.ordered(
            move |writer| writer.submit_all(vec![draft], expect, durability),
            Ticket::wait,
        )
    }

    /// Appends a batch: checked as a whole, written in one `write`, acknowledged as a whole.
    pub fn append_all(
        &self,
        drafts: Vec<Draft>,
        expect: Expect,
        durability: Durability,
    ) -> Reply<Vec<Receipt>> {
        self.ordered(
            move |writer| writer.submit_all(drafts, expect, durability),
            Ticket::wait_all,
        )
    }

    /// Submits an entry; the reply comes before it is on disk.
    pub fn submit(&self, draft: Draft) -> Reply<AsyncTicket> {
        let runtime = self.runtime.clone();
        self.ordered(
            move |writer| writer.submit(draft),
            move |ticket| Ok(AsyncTicket { ticket, runtime }),
        )
    }

    /// The reply comes when everything that was submitted before is durable.
    pub fn flush(&self) -> Reply<()> {
        self.ordered(|writer| Ok(writer.clone()), |writer| writer.flush())
    }

    /// Moves the leaf to an entry, as [`SessionWriter::branch`].
    pub fn branch(&self, entry: impl Into<EntryId>) -> Reply<Receipt> {
        let entry = entry.into();
        self.ordered(move |writer| writer.branch(entry), Ok)
    }

    /// Moves the leaf to before the first entry, as [`SessionWriter::reset`].
    pub fn reset(&self) -> Reply<Receipt> {
        self.ordered(SessionWriter::reset, Ok)
    }

    /// Moves the leaf and adds a summary, as [`SessionWriter::branch_with_summary`].
    pub fn branch_with_summary(&self, entry: Option<&EntryId>, summary: &str) -> Reply<Receipt> {
        let (entry, summary) = (entry.cloned(), summary.to_owned());
        self.ordered(
            move |writer| writer.branch_with_summary(entry.as_ref(), &summary),
            Ok,
        )
    }

    /// Moves the leaf to before a prompt, as [`SessionWriter::rewind`].
    pub fn rewind(&self, prompt: impl Into<EntryId>) -> Reply<String> {
        let prompt = prompt.into();
        self.ordered(move |writer| writer.rewind(prompt), Ok)
    }

    /// Replaces everything before an entry by a summary (compaction), as
    /// [`SessionWriter::compact`].
    pub fn compact(
        &self,
        summary: &str,
        first_kept: impl Into<EntryId>,
        tokens_before: u64,
    ) -> Reply<Receipt> {
        let (summary, first_kept) = (summary.to_owned(), first_kept.into());
        self.ordered(
            move |writer| writer.compact(&summary, first_kept, tokens_before),
            Ok,
        )
    }

    /// Returns a snapshot of the session with everything that was submitted before.
    pub fn session(&self) -> Reply<Session> {
        self.ordered(|writer| Ok(writer.clone()), |writer| writer.session())
    }

    /// Ends the session after everything that was submitted before, as [`SessionWriter::finish`].
    pub fn finish(self, outcome: Outcome) -> Reply<()> {
        self.ordered(move |writer| writer.clone().finish(outcome), Ok)
    }

    /// Releases the session after everything that was submitted before, as
    /// [`SessionWriter::release`].
    pub fn release(self) -> Reply<()> {
        self.ordered(|writer| writer.clone().release(), Ok)
    }

    /// Starts a call: `write` in the order of the calls, `wait` concurrently with others.
    fn ordered<S, T>(
        &self,
        write: impl FnOnce(&SessionWriter) -> Result<S> + Send + 'static,
        wait: impl FnOnce(S) -> Result<T> + Send + 'static,
    ) -> Reply<T>
    where
        S: Send + 'static,
        T: Send + 'static,
    {
        let (sender, answer) = oneshot::channel();
        let writer = self.writer.clone();
        let job: Job = Box::new(move || {
            let written = write(&writer);
            Box::new(move || {
                // The reply may have been dropped; the call is done all the same.
                let _ = sender.send(written.and_then(wait));
            })
        });
        if let Some(jobs) = lock(&self.queue.jobs).as_mut() {
            jobs.push_back(job);
        }
        let worker = Worker {
            queue: Arc::clone(&self.queue),
            came: false,
        };
        drop(self.runtime.spawn_blocking(move || worker.work()));
        Reply { answer }
    }
}

impl Queue {
    fn next(&self) -> Option<Rest> {
        let _turn = lock(&self.turn);
        let job = lock(&self.jobs).as_mut()?.pop_front()?;
        Some(job())
    }
}

impl Worker {
    /// Runs calls until there are none: a thread may run the call of another.
    fn work(mut self) {
        self.came = true;
        while let Some(rest) = self.queue.next() {
            rest();
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if !self.came {
            // All waiting calls are dropped together: a later one must not be written without an
            // earlier one.
            let given_up = lock(&self.queue.jobs).take();
            drop(given_up);
        }
    }
}

impl AsyncTicket {
    /// The reply comes when the entries have the requested durability, and acknowledges the last of
    /// them.
    pub fn wait(self) -> Reply<Receipt> {
        reply(&self.runtime, move || self.ticket.wait())
    }

    /// The reply comes when the entries have the requested durability, and acknowledges them.
    pub fn wait_all(self) -> Reply<Vec<Receipt>> {
        reply(&self.runtime, move || self.ticket.wait_all())
    }
}

impl<T> Future for Reply<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.answer).poll(context).map(|answer| {
            answer.unwrap_or_else(|_| {
                Err(Error::new(
                    ErrorKind::Unavailable,
                    "the runtime ended before the call was run",
                )
                .advising("open the session again on a runtime that is running, and append there"))
            })
        })
    }
}

/// Runs a call that needs no order.
fn reply<T: Send + 'static>(
    runtime: &Handle,
    call: impl FnOnce() -> Result<T> + Send + 'static,
) -> Reply<T> {
    let (sender, answer) = oneshot::channel();
    drop(runtime.spawn_blocking(move || {
        // The reply may have been dropped.
        let _ = sender.send(call());
    }));
    Reply { answer }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
