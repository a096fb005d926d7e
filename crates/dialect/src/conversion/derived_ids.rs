//! [`DerivedIds`]: ids and a time that depend on nothing but the conversation.

use std::sync::atomic::{AtomicU64, Ordering};

use boswell_model::Instant;
use sha2::{Digest, Sha256};

use crate::{Clock, IdSource};

/// A source of ids that gives the same ids each time: they are hashes of a seed and a count. So a
/// session that is made twice from the same entries is the same session.
#[derive(Debug)]
pub struct DerivedIds {
    seed: [u8; 32],
    next: AtomicU64,
    now: Instant,
}

impl DerivedIds {
    /// Creates a source from the facts that identify a session, and the time that it began.
    pub fn new(facts: &[&str], now: Instant) -> DerivedIds {
        let mut hash = Sha256::new();
        for fact in facts {
            // The length keeps `["a", "bc"]` and `["ab", "c"]` apart.
            hash.update((fact.len() as u64).to_be_bytes());
            hash.update(fact.as_bytes());
        }
        DerivedIds {
            seed: hash.finalize().into(),
            next: AtomicU64::new(0),
            now,
        }
    }
}

impl Clock for DerivedIds {
    fn now(&self) -> Instant {
        self.now
    }
}

impl IdSource for DerivedIds {
    fn random(&self) -> u64 {
        let count = self.next.fetch_add(1, Ordering::Relaxed);
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(count.to_be_bytes());
        let hash = hash.finalize();
        let (first, _) = hash.split_at(8);
        first
            .iter()
            .fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_facts_give_the_same_ids_and_others_do_not() {
        let ids = |facts: &[&str]| {
            let source = DerivedIds::new(facts, Instant::from_millis(1_700_000_000_000));
            [source.uuid_v4(), source.uuid_v7(), source.hex16()]
        };
        assert_eq!(ids(&["a", "bc"]), ids(&["a", "bc"]));
        assert_ne!(ids(&["a", "bc"]), ids(&["ab", "c"]));
        let [one, two, three] = ids(&["a"]);
        assert!(crate::uuid::is_uuid(&one) && crate::uuid::is_uuid(&two));
        assert_ne!(one, two);
        assert_eq!(three.len(), 16);
    }
}
