//! The pool of threads that answer requests: bounded, with a bounded queue.
//!
//! The library blocks, so that requests run on threads apart from those of the network. A request
//! that finds the queue full is refused at once, and the client is asked to try again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::Problem;
use axum::http::StatusCode;
use boswell_model::ErrorKind;

/// How many requests may wait.
const QUEUE: usize = 64;
/// How many searches run at a time: each uses several threads itself.
const SEARCHES: usize = 2;
/// How many requests that change something run at a time.
const CHANGES: usize = 4;

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Reads sessions.
    Read,
    /// Searches or counts everything.
    Search,
    /// Changes something.
    Change,
}

/// A request that runs on a thread. Boxed, so that the runtime's code for tasks is compiled once
/// and not for each kind of request: that was a third of the time of compiling this crate.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// The pool.
#[derive(Debug)]
pub(crate) struct Pool {
    reads: Arc<Semaphore>,
    searches: Arc<Semaphore>,
    changes: Arc<Semaphore>,
    waiting: AtomicUsize,
    /// The threads of searches. An allocator keeps memory for each thread that used it, so that
    /// searches, which need the most, stay on the same few.
    searchers: mpsc::Sender<Job>,
}

/// The right to run a request.
#[derive(Debug)]
pub(crate) struct Permit(#[expect(dead_code, reason = "held until dropped")] OwnedSemaphorePermit);

impl Pool {
    /// Creates a pool that reads with so many threads.
    pub(crate) fn new(readers: usize) -> Pool {
        Pool {
            reads: Arc::new(Semaphore::new(readers.max(2))),
            searches: Arc::new(Semaphore::new(SEARCHES)),
            changes: Arc::new(Semaphore::new(CHANGES)),
            waiting: AtomicUsize::new(0),
            searchers: searchers(),
        }
    }

    /// Runs a request on a thread of its lane.
    pub(crate) fn run(&self, lane: Lane, job: Job) {
        if lane != Lane::Search {
            tokio::task::spawn_blocking(job);
            return;
        }
        // Threads that could not be started are replaced by those of the other lanes.
        if let Err(mpsc::SendError(job)) = self.searchers.send(job) {
            tokio::task::spawn_blocking(job);
        }
    }

    /// Returns how many threads may block at a time.
    pub(crate) fn threads(readers: usize) -> usize {
        readers.max(2) + CHANGES
    }

    /// Waits until a request may run.
    pub(crate) async fn enter(&self, lane: Lane) -> Result<Permit, Problem> {
        let lane = match lane {
            Lane::Read => &self.reads,
            Lane::Search => &self.searches,
            Lane::Change => &self.changes,
        };
        if let Ok(permit) = Arc::clone(lane).try_acquire_owned() {
            return Ok(Permit(permit));
        }
        let _waiting = Waiting::begin(&self.waiting)?;
        let permit = Arc::clone(lane).acquire_owned().await;
        permit.map(Permit).map_err(|_| ending())
    }
}

/// Starts the threads of searches. They end with the pool.
fn searchers() -> mpsc::Sender<Job> {
    let (sender, jobs) = mpsc::channel::<Job>();
    let jobs = Arc::new(Mutex::new(jobs));
    for number in 0..SEARCHES {
        let jobs = Arc::clone(&jobs);
        let next = move || jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let work = move || {
            while let Ok(job) = next() {
                // The client of a request that panics gets an error; the thread goes on.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
            }
        };
        let thread = std::thread::Builder::new().name(format!("search-{number}"));
        let _ = thread.spawn(work);
    }
    sender
}

/// One request in the queue.
struct Waiting<'p>(&'p AtomicUsize);

impl<'p> Waiting<'p> {
    fn begin(waiting: &'p AtomicUsize) -> Result<Waiting<'p>, Problem> {
        let before = waiting.fetch_add(1, Ordering::AcqRel);
        let place = Waiting(waiting);
        if before < QUEUE {
            return Ok(place);
        }
        Err(Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::Unavailable,
            format!("{QUEUE} requests are waiting already"),
        )
        .hinting("try again in a second"))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn ending() -> Problem {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::Unavailable,
        "the server is ending",
    )
}
