//! The place that the write suite tests.

use boswell_store::WritableStore;

/// Creates an empty place.
pub type MakePlace<'m> = dyn Fn() -> Box<dyn WritePlace> + 'm;

/// Where an append fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Before anything was written.
    Before,
    /// After it was written, before it was known to be durable.
    After,
}

/// A place that stores boswell's own sessions. Optional methods that it does not implement are not
/// tested.
pub trait WritePlace: Sync {
    /// Opens the store again, like another process: with its own ids.
    fn store(&self) -> WritableStore;

    /// Simulates a crash of the machine with the sessions. Stores that are opened from now on find
    /// only durable data; earlier ones are not used again. Nothing to do if everything is durable
    /// immediately, or nothing can be lost.
    fn crash(&self) {}

    /// Expires every lease that is not renewed. Returns false if a lease ends only with its holder.
    fn expire_leases(&self) -> bool {
        false
    }

    /// Makes the next append of an entry fail. Returns false if that is not supported.
    fn fail_next_append(&self, _failure: Failure) -> bool {
        false
    }
}
