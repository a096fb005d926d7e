//! [`PatchedSession`]: a session read through a patch, with cached answers.
//!
//! Planning asks the same questions of one state many times: which fixes the dialect offers, how
//! much the agent reaches, which records there are. Each needs a pass over all records, so answers
//! are cached. The session never changes, so nothing is invalidated.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Deref;

use boswell_dialect::{Fix, IdSource, RepairInput};
use boswell_model::{Repair, Result};

use super::verify;
use crate::Session;

/// A session in one state of its repair.
#[derive(Debug)]
pub(super) struct PatchedSession {
    session: Session,
    fixes: OnceCell<Vec<Fix>>,
    reach: OnceCell<(u64, u64)>,
    records: OnceCell<HashSet<u64>>,
}

impl Deref for PatchedSession {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl PatchedSession {
    pub(super) fn of(session: Session) -> Self {
        PatchedSession {
            session,
            fixes: OnceCell::new(),
            reach: OnceCell::new(),
            records: OnceCell::new(),
        }
    }

    /// Returns what the dialect needs to find fixes.
    pub(super) fn repair_input<'s>(&'s self, id_source: &'s dyn IdSource) -> RepairInput<'s> {
        RepairInput {
            location: self.location(),
            view: self.view(),
            meta: self.meta(),
            pairs: self.pairs().unwrap_or_default(),
            id_source,
        }
    }

    /// Returns the fixes of one class that the dialect offers.
    pub(super) fn fixes(&self, class: Repair, id_source: &dyn IdSource) -> Result<Vec<Fix>> {
        let all = kept(&self.fixes, || match self.dialect().powers().repair {
            Some(repair) => repair.fixes(&self.repair_input(id_source)),
            None => Ok(Vec::new()),
        })?;
        Ok(all
            .iter()
            .filter(|fix| fix.repair == class)
            .cloned()
            .collect())
    }

    /// Returns the number of conversation entries that the agent reaches, and of those in the file.
    pub(super) fn reach(&self) -> Result<(u64, u64)> {
        kept(&self.reach, || verify::reach(self)).copied()
    }

    /// Returns the hashes of all records; they only serve to find records that are missing later.
    pub(super) fn records(&self) -> Result<&HashSet<u64>> {
        kept(&self.records, || {
            let view = self.view();
            let hashed = self.log().slots().map(|slot| {
                let mut hasher = DefaultHasher::new();
                view.payload(slot)?.hash(&mut hasher);
                Ok(hasher.finish())
            });
            hashed.collect()
        })
    }
}

/// As `OnceCell::get_or_init`, for a computation that can fail.
fn kept<T>(cell: &OnceCell<T>, ask: impl FnOnce() -> Result<T>) -> Result<&T> {
    match cell.get() {
        Some(answer) => Ok(answer),
        None => {
            let answer = ask()?;
            Ok(cell.get_or_init(|| answer))
        }
    }
}
