//! The clock and the source of random ids, as a parameter: the store passes the system's, tests
//! pass their own.

use std::fmt;

use boswell_model::Instant;

/// A source of the current time.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Returns the current time.
    fn now(&self) -> Instant;
}

/// A source of new ids. It is also a clock, because some ids start with the time.
pub trait IdSource: Clock {
    /// Returns 64 unpredictable random bits.
    fn random(&self) -> u64;

    /// Creates an id of sixteen hex digits.
    fn hex16(&self) -> String {
        let random = self.random().to_be_bytes();
        let digit = |half: u8| {
            if half < 10 {
                b'0' + half
            } else {
                b'a' - 10 + half
            }
        };
        let digits = random
            .iter()
            .flat_map(|byte| [digit(byte >> 4), digit(byte & 0xF)])
            .collect();
        String::from_utf8(digits).unwrap_or_default()
    }

    /// Creates a random UUID (version 4).
    fn uuid_v4(&self) -> String {
        let (a, b) = (self.random(), self.random());
        uuid(
            a & !0xF000 | 0x4000,
            b & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000,
        )
    }

    /// Creates a UUID of version 7, which starts with the time, so that ids sort by creation.
    fn uuid_v7(&self) -> String {
        let millis = self.now().millis().max(0).cast_unsigned() & 0xFFFF_FFFF_FFFF;
        let (a, b) = (self.random(), self.random());
        uuid(
            millis << 16 | 0x7000 | a & 0x0FFF,
            b & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000,
        )
    }
}

fn uuid(high: u64, low: u64) -> String {
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xFFFF,
        high & 0xFFFF,
        low >> 48,
        low & 0xFFFF_FFFF_FFFF
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Fixed;

    impl Clock for Fixed {
        fn now(&self) -> Instant {
            Instant::from_millis(0x0199_1234_5678)
        }
    }

    impl IdSource for Fixed {
        fn random(&self) -> u64 {
            u64::MAX
        }
    }

    #[test]
    fn ids_have_their_version_and_begin_with_the_time() {
        assert_eq!(Fixed.uuid_v7(), "01991234-5678-7fff-bfff-ffffffffffff");
        assert_eq!(Fixed.uuid_v4(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(Fixed.hex16(), "ffffffffffffffff");
    }
}
