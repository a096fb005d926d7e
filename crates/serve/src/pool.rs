//! The pool of threads that answer requests: bounded, with a bounded queue.
//!
//! The library blocks, so that requests run on threads apart from those of the network. A request
//! that finds the queue full is refused at once, and the client is asked to try again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// The pool.
#[derive(Debug)]
pub(crate) struct Pool {
    reads: Arc<Semaphore>,
    searches: Arc<Semaphore>,
    changes: Arc<Semaphore>,
    waiting: AtomicUsize,
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
        }
    }

    /// Returns how many threads may block at a time.
    pub(crate) fn threads(readers: usize) -> usize {
        readers.max(2) + SEARCHES + CHANGES
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
