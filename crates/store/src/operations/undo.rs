//! Takes operations back.

use std::collections::{HashMap, HashSet};

use boswell_model::{Error, ErrorKind, Result};

use crate::runner::{
    Change, Content, FileFacts, Lowered, Operation, Runner, Start, State, States, merge, place,
    shown,
};
use crate::sha256::{Digest, Hasher};
use crate::vault::Reason;

use super::agent_cleanup::RestoredCleanup;

mod conflict;
mod contents;

/// What to do about files that have grown since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Newer {
    Refuse,
    Keep,
}

impl Runner {
    /// Takes an operation back, bit for bit. A file that changed since is a conflict.
    pub fn undo(&self, id: &str) -> Result<Operation> {
        self.undo_with(id, Newer::Refuse)
    }

    /// Takes an operation back; what was added to its files since stays behind
    /// what they were before.
    pub fn undo_keep_new(&self, id: &str) -> Result<Operation> {
        self.undo_with(id, Newer::Keep)
    }

    /// Whether [`Runner::undo`] would take an operation back now: everything is played through,
    /// and nothing is touched.
    ///
    /// Fails with the reason why it would not. Takes no lock, so an agent can
    /// still come in between.
    pub fn can_undo(&self, id: &str) -> Result<()> {
        let op = self.refuse_undone(id)?;
        Undoing::new(self, &op)?.lower(Newer::Refuse).map(drop)
    }

    /// Takes a deletion back, for a session that shall stay: what its agent would delete again at
    /// once has the time of now.
    pub(super) fn undo_deletion(&self, op: &Operation) -> Result<RestoredCleanup> {
        let mut renewed = 0;
        let operation = self.operate(&taking_back(op), || {
            self.refuse_undone(&op.id)?;
            let mut lowered = Undoing::new(self, op)?.lower(Newer::Refuse)?;
            renewed = self
                .sweep(&op.root, &op.session)
                .renew(&mut lowered.changes);
            Ok(lowered)
        })?;
        Ok(RestoredCleanup { operation, renewed })
    }

    fn undo_with(&self, id: &str, newer: Newer) -> Result<Operation> {
        let op = self.refuse_undone(id)?;
        self.operate(&taking_back(&op), || {
            // Once more: another process may have been faster while we waited for the lock.
            self.refuse_undone(id)?;
            Undoing::new(self, &op)?.lower(newer)
        })
    }

    fn refuse_undone(&self, id: &str) -> Result<Operation> {
        match self.find(id)? {
            (op, _) if op.is_final() => Err(Error::new(
                ErrorKind::Denied,
                format!("operation {id} cannot be taken back"),
            )
            .because(format!("a {} leaves no copy of what it removes", op.kind))
            .hinting("see what can be taken back with `boswell ops`")),
            (op, false) => Ok(op),
            _ => Err(undone_before(id)),
        }
    }
}

fn undone_before(id: &str) -> Error {
    Error::new(
        ErrorKind::Conflict,
        format!("operation {id} was taken back already"),
    )
    .hinting("see what was done, and what was taken back, with `boswell ops`")
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

/// An operation on its way back.
#[derive(Debug)]
struct Undoing<'a> {
    runner: &'a Runner,
    op: &'a Operation,
    current: States,
    /// Shared files that others wrote to since, with our change taken out of them.
    merged: HashMap<String, Option<Vec<u8>>>,
    /// Forks that a repair made and that others wrote to or removed since: they stay as they are.
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

    /// Whether a change is about files that follow from others.
    fn follows(&self, change: &Change) -> bool {
        change.keys().iter().any(|key| self.is_derived(key))
    }

    fn is_derived(&self, key: &str) -> bool {
        self.op.derived.iter().any(|derived| derived == key)
    }

    /// Looks whether every file is what the operation left; gives the keys of those
    /// that may have grown.
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
                // A fork that is gone already needs nothing more to be taken back.
                (State::File(_), State::Absent) if self.stands_alone(&key) => {
                    self.kept.insert(key);
                }
                (State::Absent, _) => {
                    let path = place(&self.op.root, &key)?;
                    return Err(Error::new(
                        ErrorKind::Conflict,
                        format!("{} is taken", shown(&key)),
                    )
                    .because("there is a new file where the old one would be put back")
                    .hinting(format!(
                        "move `{}` away, then run `boswell undo {}`",
                        path.display(),
                        self.op.id
                    )));
                }
                _ => return Err(self.changed_since(&key, newer)),
            }
        }
        Ok(grown)
    }

    /// Takes our change out of a shared file that others wrote to since, if the dialect knows how.
    fn take_out(&mut self, key: &str, left: FileFacts) -> Result<bool> {
        let Some(State::File(before)) = self.op.initial.get(key) else {
            return Ok(false);
        };
        let vault = &self.runner.vault;
        if !vault.has(before.sha256)? || !vault.has(left.sha256)? {
            return Ok(false);
        }
        let (old, new) = (vault.get(before.sha256)?, vault.get(left.sha256)?);
        let merged = merge(self.op, key, &new, &old, &self.read(key)?);
        Ok(merged.is_some_and(|bytes| self.merged.insert(key.to_owned(), Some(bytes)).is_none()))
    }

    fn put_merged(&mut self, key: &str) -> Result<()> {
        // Of several writes of the file one is left: the others have nothing to take back.
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

    /// Whether a file that the operation made can stay, or be gone already, while the rest is taken
    /// back. Only the fork of a repair can: elsewhere an index names what was made, and would be
    /// taken back without it.
    fn stands_alone(&self, key: &str) -> bool {
        self.op.kind == crate::repair::REPAIR && self.was_made(key)
    }

    /// Whether the operation made this file, and did nothing else to it.
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

    /// Leaves out files that stay, and says so in the title. If nothing else is left, there is
    /// nothing to take back.
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

    /// Whether whole lines were added, by a change that they can be told apart from.
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

    /// What a file was before the change, with what was added since behind it.
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

    /// Times and modes of files that stand there now are those of the files, not
    /// those that were foreseen.
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
