//! The clock and chance, as a parameter: the one file of the library that reads either.

#![expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use boswell_model::Instant;

/// Where the time and names that nobody else uses come from. Tests give their own.
pub trait Chance: Send + Sync + fmt::Debug {
    /// The time.
    fn now(&self) -> Instant;

    /// A short name, of lower-case hex digits, that nobody else will be given.
    fn unique(&self) -> String;
}

/// The machine's clock, and names made of time, process and the keys that the system seeds hash tables with.
///
/// The names are 20 digits: they keep apart what several processes make at once. They are no secrets.
#[derive(Debug, Default)]
pub struct SystemChance {
    count: AtomicU64,
}

impl Chance for SystemChance {
    fn now(&self) -> Instant {
        let millis = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
            Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
        };
        Instant::from_millis(millis)
    }

    fn unique(&self) -> String {
        let millis = self.now().millis();
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u32(std::process::id());
        hasher.write_u64(self.count.fetch_add(1, Ordering::Relaxed));
        hasher.write_i64(millis);
        // The time leads, so that names sort by age.
        format!("{:010x}{:010x}", millis & 0xff_ffff_ffff, hasher.finish() & 0xff_ffff_ffff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_hex_and_never_the_same() {
        let chance = SystemChance::default();
        let mut names: Vec<String> = (0..1000).map(|_| chance.unique()).collect();
        assert!(names.iter().all(|n| n.len() == 20 && n.bytes().all(|b| b.is_ascii_hexdigit())));
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 1000);
        assert!(chance.now().millis() > 1_700_000_000_000);
    }
}
