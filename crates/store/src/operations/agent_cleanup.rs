//! Protects restored sessions from the clean-up of their own agent.
//!
//! Some agents delete old sessions by file time. A session that is restored with an old time would
//! be deleted again within minutes, so files that the next clean-up would delete get the current
//! time.

use std::path::Path;

use boswell_dialect::{Modified, by_name};
use boswell_model::SessionRef;

use crate::backend::{BackendFiles, FsBackend};
use crate::runner::{Change, Operation, Runner};

const DAY: i64 = 86_400_000_000_000;

/// The operation that restored a session.
#[derive(Debug)]
pub struct RestoredOperation {
    /// The operation, which can be undone.
    pub operation: Operation,
    /// How many files got the current time, because their agent would soon delete them again.
    pub renewed: usize,
}

/// The age from which an agent deletes files.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CleanupAge {
    /// Files last changed before this time (nanoseconds since 1970) are deleted within a day.
    /// `None` if the agent deletes nothing.
    before: Option<i64>,
}

impl Runner {
    /// Returns the clean-up rule of a session's agent in the store at `root`.
    pub(super) fn cleanup_age(&self, root: &Path, session: &SessionRef) -> CleanupAge {
        let Some(dialect) = by_name(&session.dialect) else {
            return CleanupAge::default();
        };
        let backend = FsBackend::on(std::sync::Arc::clone(&self.disk), root);
        // If the agent's rule cannot be read, no file counts as safe.
        let days = dialect.powers().runtime.and_then(|runtime| {
            runtime
                .deletes_after(&BackendFiles(&backend))
                .unwrap_or(Some(0))
        });
        let now = self.id_source.now().millis().saturating_mul(1_000_000);
        let before = days.map(|days| {
            let safe = i64::try_from(days.saturating_sub(1)).unwrap_or(i64::MAX);
            now.saturating_sub(safe.saturating_mul(DAY))
        });
        CleanupAge { before }
    }
}

impl CleanupAge {
    fn takes(self, modified: i64) -> bool {
        self.before.is_some_and(|before| modified < before)
    }

    /// Returns the time for a restored file whose own time was `modified`; counts it in `renewed`
    /// if that is the current time.
    pub(super) fn time(self, modified: i64, renewed: &mut usize) -> Modified {
        if self.takes(modified) {
            *renewed += 1;
            return Modified::Now;
        }
        Modified::At(modified)
    }

    /// Sets the current time for files that would otherwise be deleted again; returns how many.
    pub(super) fn renew(self, changes: &mut [Change]) -> usize {
        let mut renewed = 0;
        for change in changes {
            if let Change::Write {
                after,
                before: None,
                ..
            } = change
                && after.modified.is_some_and(|modified| self.takes(modified))
            {
                after.modified = None;
                renewed += 1;
            }
        }
        renewed
    }
}
