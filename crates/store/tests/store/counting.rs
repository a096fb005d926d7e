//! A deterministic clock and deterministic ids.

use std::sync::atomic::{AtomicU64, Ordering};

use boswell_store::disk::{Clock, IdSource};
use boswell_store::model::Instant;

/// A clock that advances by one second per call, and ids that count up.
#[derive(Debug, Default)]
pub(crate) struct Counting(AtomicU64);

impl Counting {
    /// Starts to count here, so that two sources create different ids.
    pub(crate) fn from(start: u64) -> Self {
        Counting(AtomicU64::new(start))
    }
}

impl Clock for Counting {
    fn now(&self) -> Instant {
        let tick = self.0.fetch_add(1, Ordering::Relaxed) & 0xFFFF;
        Instant::from_millis(boswell_testkit::clock::MORNING + i64::try_from(tick).unwrap() * 1000)
    }
}

impl IdSource for Counting {
    fn random(&self) -> u64 {
        self.0
            .fetch_add(1, Ordering::Relaxed)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}
