//! What was removed, for the line that ends an export.

use std::collections::BTreeMap;
use std::fmt;

/// How many secrets of each kind were removed or found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretCount {
    kinds: BTreeMap<String, u64>,
}

impl SecretCount {
    /// Counts one.
    pub fn add(&mut self, kind: &str) {
        *self.kinds.entry(kind.to_owned()).or_default() += 1;
    }

    /// How many there were of every kind.
    pub fn kinds(&self) -> &BTreeMap<String, u64> {
        &self.kinds
    }

    /// How many there were in all.
    pub fn total(&self) -> u64 {
        self.kinds.values().sum()
    }
}

impl fmt::Display for SecretCount {
    /// Writes `6 secrets (3 kinds)`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (secrets, kinds) = (self.total(), self.kinds.len());
        let (s, k) = (if secrets == 1 { "" } else { "s" }, if kinds == 1 { "" } else { "s" });
        write!(out, "{secrets} secret{s} ({kinds} kind{k})")
    }
}
