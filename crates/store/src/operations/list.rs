//! Lists operations; deletes and restores sessions through operations.

use std::collections::HashSet;
use std::path::Path;

use boswell_dialect::{Plan, SessionLocation, Step};
use boswell_model::{Advice, Error, ErrorKind, Result, SessionRef};

use crate::WritableStore;
use crate::disk::StatKind;
use crate::journal::{self, DamagedLine};
use crate::locks::Wait;
use crate::runner::{Change, Operation, Runner, State, inode_name, place};
use crate::vault::Reason;

use super::agent_cleanup::RestoredOperation;

/// An operation in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedOperation {
    /// The recorded operation.
    pub operation: Operation,
    /// Whether it was undone.
    pub undone: bool,
    /// Whether it can probably be undone: its files have the lengths that it left, and their copies
    /// are in the vault. Undo itself compares every byte.
    pub undoable: bool,
}

/// Bytes that a program appended to a file after boswell had replaced or removed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateLines {
    /// Key of the file.
    pub key: String,
    /// The appended bytes.
    pub bytes: Vec<u8>,
}

impl Runner {
    /// Returns all operations, oldest first, and the lines of `ops.jsonl` that could not be read.
    pub fn operations(&self) -> Result<(Vec<ListedOperation>, Vec<DamagedLine>)> {
        let loaded = journal::load(
            self.disk.as_ref(),
            &self.home.join("ops.jsonl"),
            Operation::from_json,
        )?;
        let undone = undone(&loaded.items);
        let mut listed = Vec::with_capacity(loaded.items.len());
        for operation in loaded.items {
            let undone = undone.contains(&operation.id);
            let undoable = !undone && self.looks_undoable(&operation)?;
            listed.push(ListedOperation {
                operation,
                undone,
                undoable,
            });
        }
        Ok((listed, loaded.damaged))
    }

    /// Returns what programs appended to files that the operation had replaced or removed.
    pub fn late_lines(&self, id: &str) -> Result<Vec<LateLines>> {
        self.late_of(&self.find(id)?.0)
    }

    /// Returns all recorded operations, oldest first.
    pub(crate) fn recorded(&self) -> Result<Vec<Operation>> {
        Ok(journal::load(
            self.disk.as_ref(),
            &self.home.join("ops.jsonl"),
            Operation::from_json,
        )?
        .items)
    }

    pub(crate) fn late_of(&self, op: &Operation) -> Result<Vec<LateLines>> {
        let mut late = Vec::new();
        for (number, change) in op.changes.iter().enumerate() {
            let (Change::Write {
                key,
                before: Some(before),
                ..
            }
            | Change::Remove { key, before }) = change
            else {
                continue;
            };
            let bytes = self
                .vault
                .written_late(&inode_name(&op.id, number), before.len)?;
            if !bytes.is_empty() {
                late.push(LateLines {
                    key: key.clone(),
                    bytes,
                });
            }
        }
        Ok(late)
    }

    /// Removes files of a session, for dialects that plan no deletion of their own; the vault keeps
    /// them as deleted.
    pub fn delete(&self, root: &Path, keys: &[String], session: &SessionRef) -> Result<Operation> {
        let mut plan = Plan::new("delete", format!("delete {session}"));
        plan.steps = keys.iter().map(Step::remove).collect();
        self.run(root, &plan, session, Reason::Deleted)
    }

    /// Deletes a session whose log is all that its agent keeps of it: the log and its side files
    /// are removed under the session's lease, and the vault keeps them.
    ///
    /// # Errors
    ///
    /// `Unsupported` if sessions of the dialect consist of more; `Busy` if a program has the
    /// session open; `Conflict` if it is not at the expected revision; an I/O error if a file
    /// cannot be copied or removed.
    pub fn delete_session(
        &self,
        store: &WritableStore,
        location: &SessionLocation,
    ) -> Result<Operation> {
        let keys = store.session_files(location)?;
        let writer = match store.writer(&location.id, Wait::No) {
            Ok(writer) => Some(writer),
            Err(error) if error.kind() == ErrorKind::Busy => return Err(error),
            // A log that cannot be appended to can be removed all the same.
            Err(_) => None,
        };
        store.require_expected(location)?;
        let session = SessionRef::new(store.dialect().name(), &location.id);
        let operation = self.delete(store.root(), &keys, &session)?;
        if let Some(writer) = writer {
            // Nothing is written by this: it only releases the lease.
            let _ = writer.release();
        }
        Ok(operation)
    }

    /// Restores the files that the last deletion or archiving of a session removed. Their paths
    /// must be free. They get their old times, unless their agent would delete them again for that.
    pub fn restore(&self, session: &SessionRef) -> Result<RestoredOperation> {
        let (operations, _) = self.operations()?;
        let deleted = |listed: &&ListedOperation| {
            let op = &listed.operation;
            op.session == *session && is_away(op.reason) && !listed.undone
        };
        if let Some(listed) = operations.iter().rev().find(deleted) {
            return self.undo_deletion(&listed.operation);
        }
        self.restore_copies(session, &operations)
    }

    fn looks_undoable(&self, op: &Operation) -> Result<bool> {
        if op.is_final() {
            return Ok(false);
        }
        let derived = |key: &str| op.derived.iter().any(|derived| derived == key);
        for (key, state) in op
            .final_states()
            .into_iter()
            .filter(|(key, _)| !derived(key))
        {
            let path = place(&op.root, &key)?;
            let is = self
                .disk
                .stat(&path)
                .map_err(|error| Error::io(path.display(), "look at", error))?;
            let good = match state {
                State::File(meta) => is.is_some_and(|is| is.len == meta.len),
                State::Folder => is.is_some(),
                State::Absent => is.is_none_or(|is| is.kind == StatKind::Folder),
            };
            if !good {
                return Ok(false);
            }
        }
        for change in &op.changes {
            if let Change::Write { key, after, .. } = change.inverse()
                && !derived(&key)
                && !self.vault.has(after.sha256)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn find(&self, id: &str) -> Result<(Operation, bool)> {
        let loaded = journal::load(
            self.disk.as_ref(),
            &self.home.join("ops.jsonl"),
            Operation::from_json,
        )?;
        let undone = undone(&loaded.items).contains(id);
        let found = loaded.items.into_iter().find(|op| op.id == id);
        found.map(|op| (op, undone)).ok_or_else(|| {
            Error::new(
                ErrorKind::NotFound,
                format!("there is no operation `{}`", id.escape_debug()),
            )
            .advising(Advice::ListOperations)
        })
    }
}

/// Returns whether a file whose copy is kept for that reason is gone from its store.
pub(super) fn is_away(reason: Reason) -> bool {
    matches!(reason, Reason::Deleted | Reason::Archived)
}

/// Returns the ids of operations that another one undid, unless that one was undone itself.
pub(super) fn undone(operations: &[Operation]) -> HashSet<String> {
    let mut undone = HashSet::new();
    for op in operations.iter().rev().filter(|op| op.undoes.is_some()) {
        if !undone.contains(&op.id) {
            undone.extend(op.undoes.clone());
        }
    }
    undone
}
