//! What was removed, for the line that ends an export.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{Hash, Hasher};

/// How many different secrets of each kind were removed. One that occurs often, or is shown twice
/// on a page, counts once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretCount {
    /// Hashes, so that what was removed is not kept.
    kinds: BTreeMap<&'static str, BTreeSet<u64>>,
}

impl SecretCount {
    /// Counts a secret, unless it was counted before.
    pub fn add(&mut self, kind: &'static str, secret: &[u8]) {
        let mut hasher = DefaultHasher::new();
        secret.hash(&mut hasher);
        self.kinds.entry(kind).or_default().insert(hasher.finish());
    }

    /// How many there were of every kind.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, usize)> {
        self.kinds
            .iter()
            .map(|(kind, secrets)| (*kind, secrets.len()))
    }

    /// How many there were in all.
    pub fn total(&self) -> usize {
        self.kinds.values().map(BTreeSet::len).sum()
    }
}

impl fmt::Display for SecretCount {
    /// Writes `6 secrets (3 kinds)`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (secrets, kinds) = (self.total(), self.kinds.len());
        let (s, k) = (
            if secrets == 1 { "" } else { "s" },
            if kinds == 1 { "" } else { "s" },
        );
        write!(out, "{secrets} secret{s} ({kinds} kind{k})")
    }
}
