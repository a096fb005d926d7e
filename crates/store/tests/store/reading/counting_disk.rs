//! The real disk, with a count of the bytes that are read from logs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use boswell_store::disk::Disk;
use boswell_testkit::hooked_disk::{DiskCall, Hook, HookedDisk};

#[derive(Debug, Default)]
pub(crate) struct BytesRead(AtomicU64);

impl BytesRead {
    /// Returns the real disk, whose reads are counted here.
    pub(crate) fn disk(self: &Arc<Self>) -> Arc<dyn Disk> {
        Arc::new(HookedDisk::real(self.clone()))
    }

    /// Runs `work`; returns how many bytes of logs were read meanwhile, and its result.
    pub(crate) fn count<T>(&self, work: impl FnOnce() -> T) -> (u64, T) {
        let before = self.0.load(Ordering::Relaxed);
        let done = work();
        (self.0.load(Ordering::Relaxed) - before, done)
    }
}

impl Hook for BytesRead {
    fn after(&self, call: &DiskCall<'_>, bytes: usize) {
        let is_log = call
            .path()
            .extension()
            .is_some_and(|extension| extension == "jsonl");
        if is_log && matches!(call, DiskCall::Read { .. }) {
            self.0.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }
}
