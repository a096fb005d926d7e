//! Cancellation of a request that a client no longer needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Cancels a request from another thread. Clones cancel the same request.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Creates a token that is not cancelled.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Cancels the request: it stops at its next step and returns the results so far.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the request was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns the flag that [`Cancel::cancel`] sets, for a signal handler.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Returns a guard that cancels when it is dropped: for a server whose client disconnects.
    pub fn on_drop(&self) -> CancelOnDrop {
        CancelOnDrop(self.clone())
    }
}

/// Cancels a request when it is dropped.
#[derive(Debug)]
#[must_use]
pub struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_guard_cancels_every_clone() {
        let cancel = Cancel::new();
        let seen_by_the_request = cancel.clone();
        let guard = cancel.on_drop();
        assert!(!seen_by_the_request.is_cancelled());
        drop(guard);
        assert!(seen_by_the_request.is_cancelled());
    }
}
