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

use boswell_store::{Draft, Durability, Error, ErrorKind, Expect, Receipt, Result};
use boswell_store::{SessionWriter, Ticket};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::error::raise;
use crate::receipt::PyReceipt;

/// The largest number of calls that are answered together.
const LARGEST_BATCH: usize = 1_024;

/// Queues calls for the thread, which is started with the first one.
#[derive(Debug, Default)]
pub(crate) struct Waiter {
    queue: Mutex<Option<Sender<Job>>>,
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

/// A future of an event loop that waits for a call.
pub(crate) struct Reply {
    /// The loop and the future, until it is answered.
    waiting: Option<(Py<PyAny>, Py<PyAny>)>,
}

impl Reply {
    pub(crate) fn new(event_loop: Py<PyAny>, future: Py<PyAny>) -> Reply {
        Reply {
            waiting: Some((event_loop, future)),
        }
    }
}

impl Drop for Reply {
    /// A call that the thread could not run is answered too: its caller would wait forever.
    fn drop(&mut self) {
        let Some((event_loop, future)) = self.waiting.take() else {
            return;
        };
        let error = Error::new(
            ErrorKind::Unavailable,
            "the thread that appends for event loops has ended",
        );
        let _ = Python::try_attach(|py| complete(py, &event_loop, vec![(future, Err(error))]));
    }
}

/// A call that was begun.
enum Begun {
    Waiting { ticket: Ticket, each: bool },
    Done(Result<Answer>),
}

impl Waiter {
    pub(crate) fn submit(&self, work: Work, reply: Reply) -> Result<()> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let mut job = Job { work, reply };
        if let Some(sender) = queue.as_ref() {
            match sender.send(job) {
                Ok(()) => return Ok(()),
                // The thread has ended by a bug; another one takes its place.
                Err(refused) => job = refused.0,
            }
        }
        let (sender, jobs) = channel();
        let started = std::thread::Builder::new()
            .name("boswell-waiter".to_owned())
            .spawn(move || run(&jobs));
        started.map_err(|error| {
            Error::new(ErrorKind::Unavailable, "no thread can be started").caused_by(error)
        })?;
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
        let done = begun.into_iter().map(|(reply, begun)| (reply, end(begun)));
        answer(done.collect());
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

/// Answers futures: one call into each run of futures of the same loop.
fn answer(done: Vec<(Reply, Result<Answer>)>) {
    // When the interpreter ends, nothing waits any more.
    let _ = Python::try_attach(|py| {
        let mut rest = done.into_iter().peekable();
        while let Some((mut reply, result)) = rest.next() {
            let Some((event_loop, future)) = reply.waiting.take() else {
                continue;
            };
            let mut batch = vec![(future, result)];
            while let Some((mut next, result)) = rest.next_if(|(next, _)| {
                next.waiting
                    .as_ref()
                    .is_some_and(|(other, _)| other.is(&event_loop))
            }) {
                if let Some((_, future)) = next.waiting.take() {
                    batch.push((future, result));
                }
            }
            // A loop that was closed no longer takes calls; its futures are void.
            let _ = complete(py, &event_loop, batch);
        }
    });
}

fn complete(
    py: Python<'_>,
    event_loop: &Py<PyAny>,
    batch: Vec<(Py<PyAny>, Result<Answer>)>,
) -> PyResult<()> {
    let answers = PyList::empty(py);
    for (future, result) in batch {
        let (value, error) = match result {
            Ok(answer) => (value(py, answer)?, py.None()),
            Err(error) => (py.None(), raise(py, &error).into_value(py).into_any()),
        };
        answers.append(PyTuple::new(py, [future, value, error])?)?;
    }
    let complete = py.import("boswell_store.aio")?.getattr("_complete")?;
    event_loop.call_method1(py, "call_soon_threadsafe", (complete, answers))?;
    Ok(())
}

fn value(py: Python<'_>, answer: Answer) -> PyResult<Py<PyAny>> {
    Ok(match answer {
        Answer::Nothing => py.None(),
        Answer::One(receipt) => Py::new(py, PyReceipt::from(receipt))?.into_any(),
        Answer::Each(receipts) => {
            let receipts: Vec<PyReceipt> = receipts.into_iter().map(PyReceipt::from).collect();
            receipts.into_pyobject(py)?.into_any().unbind()
        }
    })
}
