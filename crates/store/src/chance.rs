//! Time and chance, as parameters: tests hand in their own.

#![expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use boswell_model::Instant;

/// Where times and new ids come from.
pub trait Chance: Send + Sync + fmt::Debug {
    /// Now.
    fn now(&self) -> Instant;

    /// Sixty-four bits that nobody could have guessed.
    fn random(&self) -> u64;

    /// An id of sixteen hex digits.
    fn hex16(&self) -> String {
        format!("{:016x}", self.random())
    }

    /// A UUID of version 7: it begins with the time, so that ids sort as they were made.
    fn uuid_v7(&self) -> String {
        let millis = self.now().millis().max(0).cast_unsigned() & 0xFFFF_FFFF_FFFF;
        let (a, b) = (self.random(), self.random());
        let high = millis << 16 | 0x7000 | a & 0x0FFF;
        let low = b & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000;
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xFFFF,
            high & 0xFFFF,
            low >> 48,
            low & 0xFFFF_FFFF_FFFF
        )
    }
}

/// The clock of the machine, and keys of the standard library's hasher, which the system seeds.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemChance;

impl Chance for SystemChance {
    fn now(&self) -> Instant {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Instant::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn random(&self) -> u64 {
        RandomState::new().build_hasher().finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Fixed;

    impl Chance for Fixed {
        fn now(&self) -> Instant {
            Instant::from_millis(0x0199_1234_5678)
        }

        fn random(&self) -> u64 {
            u64::MAX
        }
    }

    #[test]
    fn ids_have_their_version_and_begin_with_the_time() {
        assert_eq!(Fixed.uuid_v7(), "01991234-5678-7fff-bfff-ffffffffffff");
        assert_eq!(Fixed.hex16(), "ffffffffffffffff");
    }

    #[test]
    fn no_two_ids_are_alike() {
        let ids: std::collections::HashSet<_> = (0..10_000).map(|_| SystemChance.hex16()).collect();
        assert_eq!(ids.len(), 10_000);
    }
}
