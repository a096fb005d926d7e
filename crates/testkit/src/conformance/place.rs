//! A place to write to, as the suite is handed it.

use boswell_store::WritableStore;

/// Makes an empty place.
pub type MakePlace<'m> = dyn Fn() -> Box<dyn WritePlace> + 'm;

/// Where an append is to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Before anything was written.
    Before,
    /// After it was written, before it was known to be durable.
    After,
}

/// A place that keeps boswell's own sessions. What it cannot do is not asked of it.
pub trait WritePlace: Sync {
    /// Opens the store once more, as another process would: with ids of its own.
    fn store(&self) -> WritableStore;

    /// Lets the machine die that keeps the sessions. Stores that are opened from now on find what
    /// was durable; those that were opened before are not used again. Where everything is durable
    /// at once, or nothing can be lost, there is nothing to do.
    fn crash(&self) {}

    /// Lets every lease expire that is not renewed. Returns false if a lease ends
    /// only with its holder.
    fn expire_leases(&self) -> bool {
        false
    }

    /// Lets the next append fail that adds an entry. False where that cannot be done.
    fn fail_next_append(&self, _failure: Failure) -> bool {
        false
    }
}
