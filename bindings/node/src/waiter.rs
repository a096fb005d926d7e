//! The waiter: one thread for each store, which appends and waits for the event loop.
//!
//! An event loop must not wait for a disk, and libuv's pool has four threads, so that only four
//! appends could share an `fsync`. So a call of a writer is queued here. The thread takes all that
//! is queued, hands every append to its writer (`submit`, which does not wait), and then waits for
//! all of them: those of one session share one `fsync`, however many there are. What arrives
//! meanwhile is the next batch.
//!
//! The order of calls is the order of entries. Promises have numbers: the thread answers a batch
//! with one call of a threadsafe function, whose JSON text names them.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use boswell_store::model::json::Json;
use boswell_store::{Draft, Durability, Error, ErrorKind, Expect, Receipt, Result};
use boswell_store::{SessionWriter, Ticket};
use napi::Status;
use napi::bindgen_prelude::Unknown;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};

use crate::{error, receipt};

/// The largest number of calls that are answered together.
const LARGEST_BATCH: usize = 1_024;

/// Takes answers to the event loop: `[[number, value], [number, null, error], …]` as JSON.
///
/// It is weak: it does not keep the process alive. `js/promises.ts` does, while a promise is open.
pub(crate) type Answers = ThreadsafeFunction<String, Unknown<'static>, String, Status, false, true>;

/// Queues calls for the thread, which is started with the first one.
pub(crate) struct Waiter {
    queue: Mutex<Option<Sender<Job>>>,
    answers: Arc<Answers>,
}

impl std::fmt::Debug for Waiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Waiter").finish_non_exhaustive()
    }
}

/// A call for the waiter's thread.
pub(crate) enum Work {
    /// Appends drafts; with `each`, every one of them gets a receipt.
    Append {
        writer: SessionWriter,
        drafts: Vec<Draft>,
        expect: Expect,
        durability: Durability,
        each: bool,
    },
    /// Any other call, in its place between the appends.
    Call(Box<dyn FnOnce() -> Result<Answer> + Send>),
}

/// The value of a call.
#[derive(Debug)]
pub(crate) enum Answer {
    Nothing,
    One(Receipt),
    Each(Vec<Receipt>),
}

struct Job {
    work: Work,
    reply: Reply,
}

/// A promise that waits for a call.
struct Reply {
    /// The number of the promise, until it is answered.
    waiting: Option<u32>,
    answers: Arc<Answers>,
}

impl Drop for Reply {
    /// A call that the thread could not run is answered too: its caller would wait forever.
    fn drop(&mut self) {
        let Some(number) = self.waiting.take() else {
            return;
        };
        let error = Error::new(
            ErrorKind::Unavailable,
            "the thread that appends for the event loop has ended",
        );
        send(&self.answers, vec![answered(number, Err(error))]);
    }
}

/// A call that was begun.
enum Begun {
    Waiting { ticket: Ticket, each: bool },
    Done(Result<Answer>),
}

impl Waiter {
    pub(crate) fn new(answers: Arc<Answers>) -> Waiter {
        Waiter {
            queue: Mutex::default(),
            answers,
        }
    }

    /// Queues a call that answers the promise with that number.
    pub(crate) fn submit(&self, work: Work, number: u32) -> Result<()> {
        let reply = Reply {
            waiting: Some(number),
            answers: Arc::clone(&self.answers),
        };
        let mut job = Job { work, reply };
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
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
            // The caller throws this error, so the promise is not answered twice.
            job.reply.waiting = None;
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

fn run(jobs: &Receiver<Job>) {
    while let Ok(first) = jobs.recv() {
        let mut begun = vec![begin(first)];
        while begun.len() < LARGEST_BATCH
            && let Ok(next) = jobs.try_recv()
        {
            begun.push(begin(next));
        }
        let mut answers: Option<Arc<Answers>> = None;
        let mut done = Vec::with_capacity(begun.len());
        for (mut reply, begun) in begun {
            let result = end(begun);
            if let Some(number) = reply.waiting.take() {
                done.push(answered(number, result));
            }
            // All calls of a store have the same function.
            answers.get_or_insert_with(|| Arc::clone(&reply.answers));
        }
        if let Some(answers) = answers {
            send(&answers, done);
        }
    }
}

fn begin(job: Job) -> (Reply, Begun) {
    let begun = match job.work {
        Work::Append {
            writer,
            drafts,
            expect,
            durability,
            each,
        } => match writer.submit_all(drafts, expect, durability) {
            Ok(ticket) => Begun::Waiting { ticket, each },
            Err(error) => Begun::Done(Err(error)),
        },
        Work::Call(call) => Begun::Done(call()),
    };
    (job.reply, begun)
}

fn end(begun: Begun) -> Result<Answer> {
    match begun {
        Begun::Waiting { ticket, each: true } => ticket.wait_all().map(Answer::Each),
        Begun::Waiting {
            ticket,
            each: false,
        } => ticket.wait().map(Answer::One),
        Begun::Done(done) => done,
    }
}

fn answered(number: u32, result: Result<Answer>) -> Json {
    let value = match result {
        Ok(Answer::Nothing) => Json::Null,
        Ok(Answer::One(receipt)) => receipt::described(&receipt),
        Ok(Answer::Each(receipts)) => {
            Json::Array(receipts.iter().map(receipt::described).collect())
        }
        Err(error) => {
            return Json::Array(vec![number.into(), Json::Null, error::described(&error)]);
        }
    };
    Json::Array(vec![number.into(), value])
}

fn send(answers: &Answers, done: Vec<Json>) {
    // When the event loop has ended, nothing waits any more.
    let _ = answers.call(
        Json::Array(done).to_string(),
        ThreadsafeFunctionCallMode::NonBlocking,
    );
}
