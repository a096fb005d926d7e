//! Claims: the messages that a session contains, as 64-bit hashes of their keys, to find messages
//! that occur in several sessions.
//!
//! A hash collision is harmless: the two messages are stored in `shared` and compared by their full
//! keys when sums are made.

use std::collections::HashSet;

use super::message_usage::Item;

/// The claims of a session, sorted; a message that occurs twice is there twice.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MessageOwners(Vec<u64>);

impl MessageOwners {
    pub(super) fn of(items: &[Item]) -> MessageOwners {
        let mut sums: Vec<u64> = items.iter().filter_map(claim).collect();
        sums.sort_unstable();
        MessageOwners(sums)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        self.0.iter().copied()
    }

    pub(super) fn has(&self, claim: u64) -> bool {
        self.0.binary_search(&claim).is_ok()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the claims that occur more than once in this session.
    pub(super) fn doubled(&self) -> impl Iterator<Item = u64> {
        self.0
            .iter()
            .zip(self.0.iter().skip(1))
            .filter(|(one, next)| one == next)
            .map(|(one, _)| *one)
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|sum| sum.to_le_bytes()).collect()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> MessageOwners {
        MessageOwners(claims_in(bytes).collect())
    }
}

/// Reads the claims that [`MessageOwners::to_bytes`] wrote.
pub(super) fn claims_in(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes
        .as_chunks::<8>()
        .0
        .iter()
        .map(|sum| u64::from_le_bytes(*sum))
}

/// Returns the hash of a message's key, or `None` for a message without a key. A key that is valid
/// only within a family of forks gets a suffix, so that it differs from an equal global key; the
/// hash does not contain the family, so equal keys of two families collide and are distinguished
/// later by [`Family::settle`](super::fork_families::Family::settle).
pub(super) fn claim(item: &Item) -> Option<u64> {
    Some(sum_of(
        item.key
            .as_deref()?
            .bytes()
            .chain(item.lineage.iter().map(|_| b'^')),
    ))
}

/// Returns a hash that is stored on disk, so it must be the same in every build: FNV-1a with a
/// final mix.
pub(super) fn sum_of(bytes: impl Iterator<Item = u8>) -> u64 {
    let sum = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let sum = (sum ^ (sum >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    sum ^ (sum >> 29)
}

/// The new claims of all changed sessions, and those of them that several sessions make.
#[derive(Debug, Default)]
pub(super) struct Fresh {
    claims: HashSet<u64>,
    shared: HashSet<u64>,
}

impl Fresh {
    /// Adds the claims that a session makes now (`now`) and did not make at its last update
    /// (`before`).
    pub(super) fn add(&mut self, now: &MessageOwners, before: &MessageOwners) {
        // A message that occurs twice in one session must be counted once as well, so it is treated
        // as shared.
        self.shared.extend(now.doubled());
        // Claims are sorted, so comparing with the last one skips duplicates within the session.
        let mut last = None;
        for claim in now.iter().filter(|claim| !before.has(*claim)) {
            if last.replace(claim) != Some(claim) && !self.claims.insert(claim) {
                self.shared.insert(claim);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }

    /// Returns whether `claim`, which a stored session makes, is also new for a changed session;
    /// then it is shared.
    pub(super) fn meets(&mut self, claim: u64) -> bool {
        let new = self.claims.contains(&claim);
        if new {
            self.shared.insert(claim);
        }
        new
    }

    /// Returns whether several sessions are known to make `claim`.
    pub(super) fn is_shared(&self, claim: u64) -> bool {
        self.shared.contains(&claim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(keys: &[&str]) -> MessageOwners {
        let item = |key: &&str| Item {
            key: Some((*key).to_owned()),
            ..Item::default()
        };
        MessageOwners::of(&keys.iter().map(item).collect::<Vec<_>>())
    }

    fn one(key: &str) -> u64 {
        claims(&[key]).iter().next().unwrap()
    }

    #[test]
    fn what_two_claim_is_shared_and_what_was_claimed_before_is_not_new() {
        let mut fresh = Fresh::default();
        fresh.add(&claims(&["a", "b", "c"]), &claims(&["a"]));
        fresh.add(&claims(&["c", "d", "d"]), &MessageOwners::default());
        let shared = |fresh: &Fresh, keys: [&str; 4]| keys.map(|key| fresh.is_shared(one(key)));
        assert_eq!(
            shared(&fresh, ["a", "b", "c", "d"]),
            [false, false, true, true]
        );
        assert_eq!(
            ["a", "b", "z"].map(|key| fresh.meets(one(key))),
            [false, true, false]
        );
        assert_eq!(
            shared(&fresh, ["a", "b", "c", "d"]),
            [false, true, true, true]
        );
    }

    #[test]
    fn claims_read_back_and_families_have_their_own() {
        let some = claims(&["a", "b"]);
        assert_eq!(MessageOwners::from_bytes(&some.to_bytes()), some);
        let of_family = Item {
            key: Some("a".into()),
            lineage: Some("root".into()),
            ..Item::default()
        };
        assert_ne!(claim(&of_family), Some(one("a")));
        assert_eq!(claim(&Item::default()), None);
    }
}
