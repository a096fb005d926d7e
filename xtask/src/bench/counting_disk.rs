//! The real disk, with its syncs counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use boswell_store::disk::Disk;
use boswell_testkit::hooked_disk::{DiskCall, Hook, HookedDisk};

#[derive(Debug, Default)]
pub(crate) struct SyncCount(AtomicU64);

impl SyncCount {
    /// Returns the real disk, whose syncs are counted here.
    pub(crate) fn disk(self: &Arc<Self>) -> Arc<dyn Disk> {
        Arc::new(HookedDisk::real(self.clone()))
    }

    /// Returns how many files and folders were synced so far.
    pub(crate) fn syncs(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl Hook for SyncCount {
    fn after(&self, call: &DiskCall<'_>, _bytes: usize) {
        self.0.fetch_add(u64::from(call.syncs()), Ordering::SeqCst);
    }
}
