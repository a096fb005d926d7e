//! Three-way merge for files that agents rewrite all the time, such as an index.
//!
//! Between a crash and the recovery the agent may have written its index again. The file is then
//! neither in the old state nor in the new one, but only the rows of this operation matter. The
//! dialect merges: `base` is the old content, `ours` the new one, `theirs` what the agent wrote
//! since. Recovery then continues with an operation whose changes start from `theirs`
//! ([`Rebased`]).

use std::collections::HashMap;

use boswell_model::Result;

use super::change::{Change, FileFacts, State};
use super::{Content, Operation, Runner, place};
use crate::disk::durable;
use crate::sha256::Digest;

/// An operation that was adapted to the current content of shared files.
#[derive(Debug)]
pub(super) struct Rebased {
    /// The operation, with its writes of the shared files computed from their current content.
    pub(super) forward: Operation,
    /// The changes that remove the operation's part from the shared files, where it is in them.
    pub(super) back: Vec<Change>,
    /// The bytes that both directions write.
    pub(super) contents: HashMap<Digest, Content>,
}

/// Applies the difference between `base` and `ours` to `theirs`, as the session's dialect defines
/// it; `None` if it has no such rule for the file.
pub(crate) fn merge(
    op: &Operation,
    key: &str,
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
) -> Option<Vec<u8>> {
    let shared = boswell_dialect::by_name(&op.session.dialect)?
        .powers()
        .shared_files?;
    shared.merge(key, base, ours, theirs)
}

impl Runner {
    /// Adapts an operation to shared files that other programs have rewritten; `None` if all files
    /// are in a state that the operation knows, or if the dialect cannot merge them.
    pub(super) fn rebase(&self, op: &Operation) -> Result<Option<Rebased>> {
        let snapshots = op.snapshots();
        let mut rebased = Rebased {
            forward: op.clone(),
            back: Vec::new(),
            contents: HashMap::new(),
        };
        for (key, state) in &op.initial {
            let (State::File(before), Some(after)) = (*state, last_write(op, key)) else {
                continue;
            };
            let State::File(is) = self.state(op, key)? else {
                continue;
            };
            let known = |states: &super::States| {
                states
                    .get(key)
                    .and_then(|s| s.file())
                    .is_some_and(|f| f.same_content(&is))
            };
            if snapshots.iter().any(known) {
                // In a state of this operation: the ordinary recovery handles it.
                continue;
            }
            let (Ok(old), Ok(new)) = (self.vault.get(before.sha256), self.staged(op, after.sha256))
            else {
                continue;
            };
            let theirs =
                durable::read(self.disk.as_ref(), &place(&op.root, key)?)?.unwrap_or_default();
            let (forward, back) = (
                // Both directions, because recovery decides later which way it goes. `back` is the
                // same merge with the old and the new content exchanged.
                merge(op, key, &old, &new, &theirs),
                merge(op, key, &new, &old, &theirs),
            );
            let (Some(forward), Some(back)) = (forward, back) else {
                continue;
            };
            rebased.take(key, is, theirs, forward, back);
        }
        Ok((!rebased.contents.is_empty()).then_some(rebased))
    }

    fn staged(&self, op: &Operation, sha256: Digest) -> Result<Vec<u8>> {
        let (nothing, mut bytes) = (HashMap::new(), Vec::new());
        self.hands(op, &nothing).feed(sha256, &mut |chunk| {
            bytes.extend_from_slice(chunk);
            Ok(())
        })?;
        Ok(bytes)
    }
}

impl Rebased {
    fn take(&mut self, key: &str, is: FileFacts, theirs: Vec<u8>, forward: Vec<u8>, back: Vec<u8>) {
        let after = |bytes: &[u8]| FileFacts {
            sha256: Digest::of(bytes),
            len: bytes.len() as u64,
            modified: None,
            ..is
        };
        let write = |bytes: &[u8]| Change::Write {
            key: key.to_owned(),
            before: Some(is),
            after: after(bytes),
        };
        // Of several writes of one file only the last one determines its content; the others are
        // dropped.
        let (last, writes) = (write(&forward), |change: &Change| change.keys() == [key]);
        let place = self.forward.changes.iter().rposition(writes);
        let changes = std::mem::take(&mut self.forward.changes);
        for (number, change) in changes.into_iter().enumerate() {
            if Some(number) == place {
                self.forward.changes.push(last.clone());
            } else if !writes(&change) {
                self.forward.changes.push(change);
            }
        }
        self.forward.initial.insert(key.to_owned(), State::File(is));
        if back != theirs {
            self.back.push(write(&back));
        }
        for bytes in [theirs, forward, back] {
            self.contents
                .insert(Digest::of(&bytes), Content::Bytes(bytes));
        }
    }
}

/// Returns the facts of a file after its last change, if all changes of it are whole writes.
fn last_write(op: &Operation, key: &str) -> Option<FileFacts> {
    let mut of_key = op
        .changes
        .iter()
        .filter(|change| change.keys().contains(&key));
    let all_writes = of_key
        .clone()
        .all(|change| matches!(change, Change::Write { .. }));
    match of_key.next_back() {
        Some(Change::Write { after, .. }) if all_writes => Some(*after),
        _ => None,
    }
}
