//! Undo: takes operations back, as operations of their own that can be undone too.
//!
//! Undo compares every file with the state in which the operation left it, then applies the inverse
//! changes in reverse order. If a file has changed since, there are four ways, tried in this order:
//! lines that were only appended are kept behind the old content (only on request); the dialect
//! merges a shared file; the fork of a repair stays as it is; anything else is a conflict, with a
//! hint that works (`undo/conflict.rs`). Derived files are not taken back but rebuilt.

use std::collections::{HashMap, HashSet};

use boswell_model::{Advice, Error, ErrorKind, Result};

use crate::runner::{
    Change, Content, FileFacts, Lowered, Operation, Runner, Start, State, States, merge, place,
    shown,
};
use crate::sha256::{Digest, Hasher};
use crate::vault::Reason;

use super::agent_cleanup::RestoredOperation;

mod conflict;
mod contents;

/// What happens to lines that were appended since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Newer {
    Refuse,
    Keep,
}

impl Runner {
    /// Undoes an operation byte for byte. A file that has changed since is a conflict.
    pub fn undo(&self, id: &str) -> Result<Operation> {
        self.undo_with(id, Newer::Refuse)
    }

    /// Undoes an operation and keeps what was appended to its files since, behind their old
    /// content.
    pub fn undo_keep_new(&self, id: &str) -> Result<Operation> {
        self.undo_with(id, Newer::Keep)
    }

    /// Checks whether [`Runner::undo`] would succeed now: simulates everything and changes nothing.
    ///
    /// Fails with the reason why it would not. Takes no lock, so an agent can still write in
    /// between.
    pub fn can_undo(&self, id: &str) -> Result<()> {
        let op = self.refuse_undone(id)?;
        Undoing::new(self, &op)?.lower(Newer::Refuse).map(drop)
    }

    /// Undoes a deletion for a session that is to stay: files that its agent would delete again get
    /// the current time.
    pub(super) fn undo_deletion(&self, op: &Operation) -> Result<RestoredOperation> {
        let mut renewed = 0;
        let operation = self.operate(&taking_back(op), || {
            self.refuse_undone(&op.id)?;
            let mut lowered = Undoing::new(self, op)?.lower(Newer::Refuse)?;
            renewed = self
                .cleanup_age(&op.root, &op.session)
                .renew(&mut lowered.changes);
            Ok(lowered)
        })?;
        Ok(RestoredOperation { operation, renewed })
    }

    fn undo_with(&self, id: &str, newer: Newer) -> Result<Operation> {
        let op = self.refuse_undone(id)?;
        self.operate(&taking_back(&op), || {
            // Checked again under the lock: another process may have undone it meanwhile.
            self.refuse_undone(id)?;
            Undoing::new(self, &op)?.lower(newer)
        })
    }

    fn refuse_undone(&self, id: &str) -> Result<Operation> {
        match self.find(id)? {
            (op, _) if op.is_final() => Err(Error::new(
                ErrorKind::Denied,
                format!("operation {id} cannot be undone"),
            )
            .because(format!("a {} leaves no copy of what it removes", op.kind))
            .advising(Advice::ListOperations)),
            (op, false) => Ok(op),
            _ => Err(undone_before(id)),
        }
    }
}

fn undone_before(id: &str) -> Error {
    Error::new(
        ErrorKind::Conflict,
        format!("operation {id} was already undone"),
    )
    .advising(Advice::ListOperations)
}

fn taking_back(op: &Operation) -> Start<'_> {
    Start {
        root: &op.root,
        session: &op.session,
        reason: Reason::Before,
        undoes: Some(op.id.clone()),
        locks: op.locks.clone(),
    }
}

/// The computation of an undo.
#[derive(Debug)]
struct Undoing<'a> {
    runner: &'a Runner,
    op: &'a Operation,
    /// The states of all files of the operation on disk now.
    current: States,
    /// Shared files that other programs have written since, with this operation's change merged
    /// out. An entry becomes `None` when its write is planned.
    merged: HashMap<String, Option<Vec<u8>>>,
    /// Forks made by a repair that other programs have written to or removed since: they stay as
    /// they are.
    kept: HashSet<String>,
    out: Lowered,
}

impl<'a> Undoing<'a> {
    fn new(runner: &'a Runner, op: &'a Operation) -> Result<Self> {
        let mut current = States::new();
        for key in op.final_states().keys() {
            current.insert(key.clone(), runner.state(op, key)?);
        }
        let out = Lowered {
            kind: "undo".to_owned(),
            title: format!("undo: {}", op.title),
            ..Lowered::default()
        };
        Ok(Undoing {
            runner,
            op,
            current,
            merged: HashMap::new(),
            kept: HashSet::new(),
            out,
        })
    }

    fn lower(mut self, newer: Newer) -> Result<Lowered> {
        let grown = self.compare(newer)?;
        self.leave_kept()?;
        self.out.initial = self.current.clone();
        self.out.seen = self.stats()?;
        for change in self.op.changes.iter().rev() {
            if self.follows(change) || change.keys().iter().any(|key| self.kept.contains(*key)) {
                continue;
            }
            match change {
                Change::Write { key, .. } if self.merged.contains_key(key) => {
                    self.put_merged(&key.clone())?
                }
                Change::Write { key, .. } | Change::Append { key, .. } if grown.contains(key) => {
                    let change = self.keep_new(key, change)?;
                    self.out.changes.push(change);
                }
                _ => {
                    let inverse = self.as_it_stands(change.inverse());
                    self.gather(&inverse)?;
                    self.out.changes.push(inverse);
                }
            }
        }
        if !self.op.derived.is_empty() {
            self.runner.derive(
                &self.op.root,
                &self.op.session.dialect,
                &|_| true,
                &mut self.out,
            )?;
        }
        Ok(self.out)
    }

    /// Returns whether a change is about derived files.
    fn follows(&self, change: &Change) -> bool {
        change.keys().iter().any(|key| self.is_derived(key))
    }

    fn is_derived(&self, key: &str) -> bool {
        self.op.derived.iter().any(|derived| derived == key)
    }

    /// Compares every file with what the operation left; returns the keys of those that have grown.
    fn compare(&mut self, newer: Newer) -> Result<HashSet<String>> {
        let mut grown = HashSet::new();
        for (key, left) in self.op.final_states() {
            if self.is_derived(&key) {
                continue;
            }
            let is = self.current.get(&key).copied().unwrap_or(State::Absent);
            match (left, is) {
                (State::File(left), State::File(is)) if left.same_content(&is) => {}
                (State::Folder, State::Folder) | (State::Absent, State::Absent | State::Folder) => {
                }
                (State::File(left), State::File(is))
                    if newer == Newer::Keep && self.only_grew(&key, left, is)? =>
                {
                    grown.insert(key);
                }
                (State::File(left), State::File(_)) if self.take_out(&key, left)? => {}
                (State::File(_), State::File(_))
                    if newer == Newer::Keep && self.stands_alone(&key) =>
                {
                    self.kept.insert(key);
                }
                // A fork that was removed already needs no undo.
                (State::File(_), State::Absent) if self.stands_alone(&key) => {
                    self.kept.insert(key);
                }
                (State::Absent, _) => {
                    let path = place(&self.op.root, &key)?;
                    return Err(Error::new(
                        ErrorKind::Conflict,
                        format!("{} is taken", shown(&key)),
                    )
                    .because("there is a new file where the old one would be restored")
                    .advising(
                        Advice::from(format!("move `{}` away", path.display())).then(
                            Advice::Undo {
                                operation: Some(self.op.id.clone()),
                            },
                        ),
                    ));
                }
                _ => return Err(self.changed_since(&key, newer)),
            }
        }
        Ok(grown)
    }

    /// Merges this operation's change out of a shared file that other programs have written since,
    /// if the dialect can do that.
    fn take_out(&mut self, key: &str, left: FileFacts) -> Result<bool> {
        let Some(State::File(before)) = self.op.initial.get(key) else {
            return Ok(false);
        };
        let vault = &self.runner.vault;
        if !vault.has(before.sha256)? || !vault.has(left.sha256)? {
            return Ok(false);
        }
        let (old, new) = (vault.get(before.sha256)?, vault.get(left.sha256)?);
        // The merge in reverse: `base` is what the operation left, `ours` what was before.
        let merged = merge(self.op, key, &new, &old, &self.read(key)?);
        Ok(merged.is_some_and(|bytes| self.merged.insert(key.to_owned(), Some(bytes)).is_none()))
    }

    fn put_merged(&mut self, key: &str) -> Result<()> {
        // Of several writes of the file, the first one found writes the merged content; the others
        // have nothing to take back.
        let bytes = self.merged.get_mut(key).and_then(Option::take);
        let (Some(bytes), Some(State::File(is))) = (bytes, self.current.get(key).copied()) else {
            return Ok(());
        };
        let after = FileFacts {
            sha256: Digest::of(&bytes),
            len: bytes.len() as u64,
            modified: None,
            ..is
        };
        self.out
            .contents
            .insert(after.sha256, Content::Bytes(bytes));
        let change = Change::Write {
            key: key.to_owned(),
            before: Some(is),
            after,
        };
        self.gather(&change)?;
        self.out.changes.push(change);
        Ok(())
    }

    /// Returns whether a file that the operation made can stay, or be gone, while the rest is
    /// undone. Only the fork of a repair can: elsewhere an index names the file, and would be taken
    /// back without it.
    fn stands_alone(&self, key: &str) -> bool {
        self.op.kind == crate::repair::REPAIR && self.was_made(key)
    }

    /// Returns whether the operation made this file, and did nothing else to it.
    fn was_made(&self, key: &str) -> bool {
        let mut touching = self
            .op
            .changes
            .iter()
            .filter(|change| change.keys().contains(&key));
        matches!(
            (touching.next(), touching.next()),
            (Some(Change::Write { before: None, .. }), None)
        )
    }

    /// Leaves out files that stay, and names them in the title. Fails if nothing else is left to
    /// undo.
    fn leave_kept(&mut self) -> Result<()> {
        let Some(first) = self.kept.iter().min().cloned() else {
            return Ok(());
        };
        let is_kept = |change: &Change| change.keys().iter().any(|key| self.kept.contains(*key));
        let is_folder = |change: &Change| matches!(change, Change::MakeFolder { .. });
        if self
            .op
            .changes
            .iter()
            .all(|change| is_kept(change) || is_folder(change))
        {
            return Err(self.changed_since(&first, Newer::Keep));
        }
        let (kept, rest): (States, States) = std::mem::take(&mut self.current)
            .into_iter()
            .partition(|(key, _)| self.kept.contains(key));
        self.current = rest;
        let there = kept.iter().filter(|(_, state)| state.file().is_some());
        let names: Vec<String> = there.map(|(key, _)| shown(key)).collect();
        if !names.is_empty() {
            self.out.title.push_str(&format!(
                " (kept {}, which was written to since)",
                names.join(", ")
            ));
        }
        Ok(())
    }

    /// Returns whether complete lines were appended, and the operation's change is simple enough to
    /// be separated from them.
    fn only_grew(&self, key: &str, left: FileFacts, is: FileFacts) -> Result<bool> {
        let touching: Vec<&Change> = self
            .op
            .changes
            .iter()
            .filter(|change| change.keys().contains(&key))
            .collect();
        let simple = matches!(
            touching.as_slice(),
            [Change::Write {
                before: Some(_),
                ..
            } | Change::Append { .. }]
        );
        if !simple || is.len <= left.len {
            return Ok(false);
        }
        let bytes = self.read(key)?;
        let (old, _) = bytes.split_at(
            usize::try_from(left.len)
                .unwrap_or(usize::MAX)
                .min(bytes.len()),
        );
        Ok(Digest::of(old) == left.sha256 && old.last().is_none_or(|byte| *byte == b'\n'))
    }

    /// Returns a change to the old content with the lines appended since behind it.
    fn keep_new(&mut self, key: &str, change: &Change) -> Result<Change> {
        let bytes = self.read(key)?;
        let cut = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
        let (mut whole, before, left) = match change {
            Change::Write {
                before: Some(before),
                after,
                ..
            } => (self.runner.vault.get(before.sha256)?, *before, after.len),
            Change::Append { before, after, .. } => (
                bytes.get(..cut(before.len)).unwrap_or_default().to_vec(),
                *before,
                after.len,
            ),
            _ => return Err(self.changed_since(key, Newer::Keep)),
        };
        if whole.last().is_some_and(|byte| *byte != b'\n') {
            whole.push(b'\n');
        }
        whole.extend_from_slice(bytes.get(cut(left)..).unwrap_or_default());
        let mut hasher = Hasher::default();
        hasher.add(&whole);
        let after = FileFacts {
            sha256: hasher.finish(),
            len: hasher.len(),
            modified: None,
            ..before
        };
        self.out
            .contents
            .insert(after.sha256, Content::Bytes(whole));
        let now = self.current.get(key).and_then(|state| state.file());
        let change = Change::Write {
            key: key.to_owned(),
            before: now,
            after,
        };
        self.gather(&change)?;
        Ok(change)
    }

    /// Uses time and mode of the file on disk in a change, not those that the operation expected.
    fn as_it_stands(&self, mut change: Change) -> Change {
        if let Change::Write {
            key,
            before: Some(before),
            ..
        }
        | Change::Remove { key, before }
        | Change::Truncate { key, before, .. } = &mut change
            && let Some(is) = self.current.get(key).and_then(|state| state.file())
            && is.same_content(before)
        {
            *before = is;
        }
        change
    }
}
