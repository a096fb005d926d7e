//! Where calls of the library run: it blocks, and the threads of the protocol must not.

use std::fmt::Debug;
use std::pin::Pin;

/// Work that blocks.
pub type BlockingJob = Box<dyn FnOnce() + Send>;

/// What a call costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallCost {
    /// It reads some sessions.
    Read,
    /// It searches or counts everything.
    Search,
    /// It writes a note.
    Change,
}

/// Runs work that blocks on threads of its own.
pub trait CallThreads: Debug + Send + Sync {
    /// Starts a job once there is room for it; `false` if too many wait already. If the future is
    /// dropped before that, the job does not run.
    fn start(
        &self,
        cost: CallCost,
        job: BlockingJob,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + '_>>;
}

/// The threads of the runtime: for the server of one client.
#[derive(Debug)]
pub(crate) struct RuntimeThreads;

impl CallThreads for RuntimeThreads {
    fn start(
        &self,
        _cost: CallCost,
        job: BlockingJob,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        tokio::task::spawn_blocking(job);
        Box::pin(std::future::ready(true))
    }
}
