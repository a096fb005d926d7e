//! [`SystemIds`]: the system's clock and random numbers as an id source.

#![expect(
    clippy::disallowed_methods,
    reason = "this is the one place that reads the clock"
)]

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

pub use boswell_dialect::{Clock, IdSource};
use boswell_model::Instant;

/// The clock of the machine, and the keys of the standard library's hasher, which the system seeds,
/// as random numbers.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemIds;

impl Clock for SystemIds {
    fn now(&self) -> Instant {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Instant::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

impl IdSource for SystemIds {
    fn random(&self) -> u64 {
        RandomState::new().build_hasher().finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_ids_are_alike() {
        let ids: std::collections::HashSet<_> = (0..10_000).map(|_| SystemIds.hex16()).collect();
        assert_eq!(ids.len(), 10_000);
    }
}
