//! The waiter: one thread for each store, which appends and waits for event loops.
//!
//! An event loop must not wait for a disk, and a pool of threads would let only as many appends
//! share an `fsync` as it has threads. So an asynchronous append is queued here. The thread takes
//! all that is queued, hands every append to its writer (`submit`, which does not wait), and then
//! waits for all of them: those of one session share one `fsync`, however many there are. What
//! arrives meanwhile is the next batch.
//!
//! The order of calls is the order of entries. A caller that is cancelled no longer hears of its
//! append, and the append is made all the same: nothing is ever written by halves.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use boswell_model::{Error, ErrorKind, Result};
use boswell_store::{Draft, Durability, Expect, Receipt, SessionWriter, Ticket};

/// The largest number of calls that are answered together.
const LARGEST_BATCH: usize = 1_024;

/// What completes when a call ends: a future, or a promise.
pub trait CallReply: Send + Sized + 'static {
    /// CallValues calls that were made together. Everybody is answered once.
    fn answer(batch: Vec<(Self, Result<CallValue>)>);
}

/// A call for the waiter's thread.
pub enum WaiterCall {
    /// Appends drafts; with `each`, every one of them gets a receipt.
    Append {
        /// The writer of the session.
        writer: SessionWriter,
        /// The batch.
        drafts: Vec<Draft>,
        /// The state that it expects.
        expect: Expect,
        /// What it is to survive.
        durability: Durability,
        /// Whether every draft gets a receipt.
        each: bool,
    },
    /// Any other call, in its place between the appends.
    Call(Box<dyn FnOnce() -> Result<CallValue> + Send>),
}

impl std::fmt::Debug for WaiterCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WaiterCall").finish_non_exhaustive()
    }
}

/// The value of a call.
#[derive(Debug)]
pub enum CallValue {
    /// It has none.
    Nothing,
    /// The receipt of one entry.
    One(Receipt),
    /// The receipts of a batch.
    Each(Vec<Receipt>),
}

/// Queues calls for the thread, which is started with the first one.
pub struct Waiter<R: CallReply> {
    queue: Mutex<Option<Sender<Job<R>>>>,
}

impl<R: CallReply> Default for Waiter<R> {
    fn default() -> Self {
        Waiter {
            queue: Mutex::default(),
        }
    }
}

impl<R: CallReply> std::fmt::Debug for Waiter<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Waiter").finish_non_exhaustive()
    }
}

struct Job<R: CallReply> {
    work: WaiterCall,
    reply: Pending<R>,
}

/// A reply that is answered although its call could not be run: its caller would wait forever.
struct Pending<R: CallReply>(Option<R>);

impl<R: CallReply> Drop for Pending<R> {
    fn drop(&mut self) {
        if let Some(reply) = self.0.take() {
            let error = Error::new(
                ErrorKind::Unavailable,
                "the thread that appends for event loops has ended",
            );
            R::answer(vec![(reply, Err(error))]);
        }
    }
}

/// A call that was begun.
enum Begun {
    Waiting { ticket: Ticket, each: bool },
    Done(Result<CallValue>),
}

impl<R: CallReply> Waiter<R> {
    /// Queues a call.
    ///
    /// # Errors
    ///
    /// `Unavailable` if no thread can be started. Then the reply is not answered.
    pub fn submit(&self, work: WaiterCall, reply: R) -> Result<()> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let mut job = Job {
            work,
            reply: Pending(Some(reply)),
        };
        if let Some(sender) = queue.as_ref() {
            match sender.send(job) {
                Ok(()) => return Ok(()),
                // The thread has ended by a bug; another one takes its place.
                Err(returned) => job = returned.0,
            }
        }
        let (sender, jobs) = channel();
        let started = std::thread::Builder::new()
            .name("boswell-waiter".to_owned())
            .spawn(move || run(&jobs));
        if let Err(error) = started {
            // The caller gets this error, so the reply is not answered too.
            job.reply.0 = None;
            return Err(
                Error::new(ErrorKind::Unavailable, "no thread can be started").caused_by(error),
            );
        }
        // A new channel with its receiver in a running thread takes the job.
        let _ = sender.send(job);
        *queue = Some(sender);
        Ok(())
    }
}

fn run<R: CallReply>(jobs: &Receiver<Job<R>>) {
    while let Ok(first) = jobs.recv() {
        let mut begun = vec![begin(first)];
        while begun.len() < LARGEST_BATCH
            && let Ok(next) = jobs.try_recv()
        {
            begun.push(begin(next));
        }
        let mut done = Vec::with_capacity(begun.len());
        for (mut reply, begun) in begun {
            let result = end(begun);
            done.extend(reply.0.take().map(|reply| (reply, result)));
        }
        R::answer(done);
    }
}

fn begin<R: CallReply>(job: Job<R>) -> (Pending<R>, Begun) {
    let begun = match job.work {
        WaiterCall::Append {
            writer,
            drafts,
            expect,
            durability,
            each,
        } => match writer.submit_all(drafts, expect, durability) {
            Ok(ticket) => Begun::Waiting { ticket, each },
            Err(error) => Begun::Done(Err(error)),
        },
        WaiterCall::Call(call) => Begun::Done(call()),
    };
    (job.reply, begun)
}

fn end(begun: Begun) -> Result<CallValue> {
    match begun {
        Begun::Waiting { ticket, each: true } => ticket.wait_all().map(CallValue::Each),
        Begun::Waiting {
            ticket,
            each: false,
        } => ticket.wait().map(CallValue::One),
        Begun::Done(done) => done,
    }
}
