//! Restores deleted sessions from the vault alone, for the case that `ops.jsonl` is lost.
//!
//! Most files of a session are its own: they are put back, and their paths must be free. There are
//! two exceptions. An index that can be rebuilt from other files is rebuilt. A shared file that
//! nothing else contains, and that the agent has written since, gets the session's row back by a
//! merge and keeps everything else.

use std::path::Path;

use boswell_dialect::{
    EditRequest, FileInfo, FileKind, LockSpec, Modified, Plan, Precondition, SessionLocation, Step,
    by_name,
};
use boswell_model::{Advice, Error, ErrorKind, Framing, Result, SessionRef};

use super::RestoredOperation;
use super::agent_cleanup::CleanupAge;
use super::list::{ListedOperation, is_away};
use crate::disk::durable;
use crate::runner::{Runner, Start, lower, place, shown};
use crate::vault::{Reason, VaultRecord};

impl Runner {
    /// Restores what the last deletion of a session removed, if no recorded operation refers to it.
    pub(super) fn restore_copies(
        &self,
        session: &SessionRef,
        known: &[ListedOperation],
    ) -> Result<RestoredOperation> {
        let mut records = self.vault.of(session)?;
        records.retain(|record| is_away(record.reason) && !is_known(known, record));
        let Some(last) = records.last().cloned() else {
            return self.restore_kept(session);
        };
        records.retain(|record| record.op == last.op && record.root == last.root);
        let start = Start {
            root: &last.root,
            session,
            reason: Reason::Before,
            undoes: None,
            locks: locks_of(session, &records),
        };
        let (cleanup, mut renewed) = (self.cleanup_age(&last.root, session), 0);
        let operation = self.operate(&start, || {
            let plan = self.copies_plan(session, &records, cleanup, &mut renewed)?;
            self.check(&last.root, &plan.preconditions)?;
            let mut lowered = lower(self.disk.as_ref(), &last.root, &plan)?;
            self.derive(
                &last.root,
                &session.dialect,
                &|key| is_derived(&records, key) || self.is_there(&last.root, key),
                &mut lowered,
            )?;
            Ok(lowered)
        })?;
        Ok(RestoredOperation { operation, renewed })
    }

    /// Returns the steps that put files back and merge rows into shared files.
    fn copies_plan(
        &self,
        session: &SessionRef,
        records: &[VaultRecord],
        cleanup: CleanupAge,
        renewed: &mut usize,
    ) -> Result<Plan> {
        let mut plan = Plan::new("restore", format!("restore {session}"));
        // Data first, the row last: a reader in between must not find a row that names a missing
        // file.
        for record in records {
            if !record.derived && left_of(records, record).is_none() {
                self.put_back(record, cleanup.time(record.modified, renewed), &mut plan)?;
            }
        }
        for record in records {
            if record.inode.is_some()
                && let Some(left) = left_of(records, record)
            {
                self.bring_in(record, left, &mut plan)?;
            }
        }
        Ok(plan)
    }

    fn is_there(&self, root: &Path, key: &str) -> bool {
        let path = place(root, key).ok();
        path.is_some_and(|path| matches!(self.disk.stat(&path), Ok(Some(_))))
    }

    fn put_back(&self, record: &VaultRecord, modified: Modified, plan: &mut Plan) -> Result<()> {
        let (key, bytes) = (record.key.clone(), self.vault.restore(record)?);
        plan.preconditions
            .push(Precondition::Absent { key: key.clone() });
        plan.steps.push(Step::Put {
            key,
            bytes,
            mode: Some(record.mode),
            modified,
        });
        Ok(())
    }

    /// Merges what the deletion removed from a shared file into its current content.
    fn bring_in(&self, before: &VaultRecord, left: &VaultRecord, plan: &mut Plan) -> Result<()> {
        let Some(theirs) = durable::read(self.disk.as_ref(), &place(&before.root, &before.key)?)?
        else {
            return self.put_back(before, Modified::At(before.modified), plan);
        };
        let (old, new) = (self.vault.restore(before)?, self.vault.restore(left)?);
        let merge = || {
            let shared = by_name(&before.session.dialect)?.powers().shared_files?;
            shared.merge(&before.key, &new, &old, &theirs)
        };
        let Some(merged) = (if theirs == new {
            Some(old.clone())
        } else {
            merge()
        }) else {
            return Err(Error::new(
                ErrorKind::Damaged,
                format!(
                    "{} cannot list {} again",
                    shown(&before.key),
                    before.session
                ),
            )
            .because("it is damaged, or was damaged before the session was deleted")
            .advising(Advice::RebuildAgentIndex.then("restore again")));
        };
        if merged != theirs {
            // `old` is the whole file, so that a change by a program without a lock makes the edit
            // fail.
            let key = before.key.clone();
            plan.steps.push(Step::Edit {
                key,
                at: Some(0),
                old: theirs,
                new: merged,
                modified: Modified::Now,
            });
        }
        Ok(())
    }
}

/// Returns whether a recorded operation refers to a copy.
fn is_known(known: &[ListedOperation], record: &VaultRecord) -> bool {
    let mut ids = known.iter().map(|it| &it.operation.id);
    ids.any(|id| Some(id) == record.op.as_ref())
}

fn is_derived(records: &[VaultRecord], key: &str) -> bool {
    let mut derived = records.iter().filter(|record| record.derived);
    derived.any(|record| record.key == key)
}

/// Returns the copy of a shared file after the deletion: the one without a hard link.
fn left_of<'a>(records: &'a [VaultRecord], of: &VaultRecord) -> Option<&'a VaultRecord> {
    let of_key = || {
        records
            .iter()
            .filter(|record| record.key == of.key && !record.derived)
    };
    (of_key().count() > 1)
        .then(|| of_key().rev().find(|record| record.inode.is_none()))
        .flatten()
}

/// Returns the locks that the deletion took.
fn locks_of(session: &SessionRef, records: &[VaultRecord]) -> Vec<LockSpec> {
    let Some((dialect, first)) = by_name(&session.dialect).zip(records.first()) else {
        return Vec::new();
    };
    let (key, size) = (first.key.clone(), first.len);
    let info = FileInfo {
        key,
        kind: FileKind::File,
        size,
        modified: None,
        identity: None,
    };
    dialect.locks_for(
        &SessionLocation::at(session.id.as_str(), &info, Framing::Lines),
        &EditRequest::Delete,
    )
}
