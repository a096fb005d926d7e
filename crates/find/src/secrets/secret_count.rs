//! Counts different secrets by kind, for the summary of an export: those removed, and those left.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{Hash, Hasher};

/// Number of different secrets by kind. A secret that occurs several times counts once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretCount {
    /// Hashes, so that the secrets themselves are not kept in memory.
    kinds: BTreeMap<&'static str, BTreeSet<u64>>,
}

impl SecretCount {
    /// Counts a secret, unless it was counted before.
    pub fn add(&mut self, kind: &'static str, secret: &[u8]) {
        let mut hasher = DefaultHasher::new();
        secret.hash(&mut hasher);
        self.kinds.entry(kind).or_default().insert(hasher.finish());
    }

    /// Returns the number of secrets by kind.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, usize)> {
        self.kinds
            .iter()
            .map(|(kind, secrets)| (*kind, secrets.len()))
    }

    /// Returns the number of all secrets.
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
