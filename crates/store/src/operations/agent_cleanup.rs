//! The clean-up that some agents do by themselves, as far as a restored session has to survive it.
//!
//! It goes by the time of files. A session that comes back with a time of long ago would
//! be gone again within minutes, so what the next clean-up would take gets the time at
//! which it was restored.

use std::path::Path;

use boswell_dialect::{Modified, by_name};
use boswell_model::SessionRef;

use crate::backend::{BackendFiles, FsBackend};
use crate::runner::{Change, Operation, Runner};

const DAY: i64 = 86_400_000_000_000;

/// A session that is back.
#[derive(Debug)]
pub struct RestoredCleanup {
    /// What was done, which can be undone.
    pub operation: Operation,
    /// How many of its files have the time of now, because their agent would soon delete
    /// them again by their own.
    pub renewed: usize,
}

/// How far back files are safe from their agent.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CleanupRestore {
    /// Nanoseconds since 1970; what was last changed before goes within a day. None if the
    /// agent deletes nothing.
    before: Option<i64>,
}

impl Runner {
    /// The clean-up that the agent of a session does in the store at `root`.
    pub(super) fn sweep(&self, root: &Path, session: &SessionRef) -> CleanupRestore {
        let Some(dialect) = by_name(&session.dialect) else {
            return CleanupRestore::default();
        };
        let backend = FsBackend::on(std::sync::Arc::clone(&self.disk), root);
        // Where nobody can say how long files are kept, none of them is taken for safe.
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
        CleanupRestore { before }
    }
}

impl CleanupRestore {
    fn takes(self, modified: i64) -> bool {
        self.before.is_some_and(|before| modified < before)
    }

    /// The time that a restored file gets, which had this one.
    pub(super) fn time(self, modified: i64, renewed: &mut usize) -> Modified {
        if self.takes(modified) {
            *renewed += 1;
            return Modified::Now;
        }
        Modified::At(modified)
    }

    /// Gives files that are put back the time of now where theirs is too old; says how many.
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
