//! Counts the keys and passwords in an exact export.

use boswell_find::{SecretCount, Secrets};
use boswell_model::Result;

/// Scans every piece of an exact export.
pub(super) struct SecretWatch {
    secrets: Secrets,
    /// Number of occurrences.
    pub(super) times: usize,
    /// The different secrets.
    pub(super) count: SecretCount,
}

impl SecretWatch {
    pub(super) fn new() -> Result<SecretWatch> {
        Ok(SecretWatch {
            secrets: Secrets::new()?,
            times: 0,
            count: SecretCount::default(),
        })
    }

    /// Counts the secrets of a piece.
    pub(super) fn look(&mut self, piece: &[u8]) {
        for secret in self.secrets.find(piece) {
            self.times += 1;
            let bytes = piece.get(secret.range).unwrap_or_default();
            self.count.add(secret.kind, bytes);
        }
    }
}
