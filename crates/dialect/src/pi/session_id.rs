//! Session ids in the forms of the programs. Readers accept any text; new ids look like the
//! existing ones.

use std::collections::HashSet;

use boswell_model::Instant;

use super::Flavour;
use crate::IdSource;

/// The epoch of xcsh's ids: 2015-01-01.
const EPOCH: i64 = 1_420_070_400_000;

/// Returns a new session id.
pub(super) fn session_id(flavour: Flavour, id_source: &dyn IdSource) -> String {
    match flavour {
        Flavour::Pi | Flavour::Boswell | Flavour::Omp => id_source.uuid_v7(),
        Flavour::Xcsh => snowflake(id_source.now().millis(), id_source.random()),
    }
}

/// Returns the creation time in an id that was created here. The name of the log contains the same
/// time, so each can be derived from the other.
pub(super) fn born(id: &str) -> Option<Instant> {
    let millis = id.get(..13)?.replace('-', "");
    let is_v7 = id.len() == 36 && id.as_bytes().get(14) == Some(&b'7') && millis.len() == 12;
    i64::from_str_radix(&millis, 16)
        .ok()
        .filter(|_| is_v7)
        .map(Instant::from_millis)
}

/// Returns an id of milliseconds since xcsh's epoch and 22 random bits, as sixteen hex digits.
fn snowflake(millis: i64, id_source: u64) -> String {
    let time = millis.saturating_sub(EPOCH).max(0).cast_unsigned();
    format!("{:016x}", time << 22 | id_source & 0x3F_FFFF)
}

/// Returns a new entry id: eight hex digits that are not in the file yet, as pi and xcsh create
/// them.
pub(super) fn entry_id(taken: &mut HashSet<String>, id_source: &dyn IdSource) -> String {
    for _ in 0..100 {
        let id = format!("{:08x}", id_source.random() & 0xFFFF_FFFF);
        if taken.insert(id.clone()) {
            return id;
        }
    }
    let id = id_source.hex16();
    taken.insert(id.clone());
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_xcsh_begins_with_the_time() {
        let at = Instant::parse("2026-02-16T10:20:30.000Z").unwrap();
        assert_eq!(snowflake(at.millis(), 0x1234), "1470cb256c001234");
        assert_eq!(
            snowflake(at.millis(), u64::MAX),
            "1470cb256c3fffff",
            "chance never reaches into the time"
        );
        assert_eq!(
            born("01991234-5678-7fff-bfff-ffffffffffff"),
            Some(Instant::from_millis(0x0199_1234_5678))
        );
        assert_eq!(born("01991234-5678-4fff-bfff-ffffffffffff"), None);
        assert_eq!(born("会话会话会话会话"), None);
        assert_eq!(
            snowflake(0, 1),
            "0000000000000001",
            "a clock before the epoch gives an id all the same"
        );
    }
}
