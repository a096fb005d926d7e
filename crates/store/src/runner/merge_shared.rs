//! Files that agents rewrite all the time, such as an index: what was begun is brought into
//! what stands there now.
//!
//! Between a crash and the next run the agent may have written its index again. Neither the old
//! state nor the new one stands there then, and still only our own rows matter: the dialect says
//! what our change is in their file.

use std::collections::HashMap;

use boswell_model::Result;

use super::change::{Change, FileFacts, State};
use super::{Content, Operation, Runner, place};
use crate::disk::durable;
use crate::sha256::Digest;

/// An operation on a shared file as it stands now.
#[derive(Debug)]
pub(super) struct Rebased {
    /// The same operation, its change of the file made to what stands there.
    pub(super) forward: Operation,
    /// What takes it out of the file again, where it is in it.
    pub(super) back: Vec<Change>,
    /// Bytes for both.
    pub(super) contents: HashMap<Digest, Content>,
}

/// Brings the change from `base` to `ours` into `theirs`, as the dialect of the session knows how.
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
    /// The operation on what strangers made of its shared files; none if they are as it knows
    /// them, or nobody can say.
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
                continue;
            }
            let (Ok(old), Ok(new)) = (self.vault.get(before.sha256), self.staged(op, after.sha256))
            else {
                continue;
            };
            let theirs =
                durable::read(self.disk.as_ref(), &place(&op.root, key)?)?.unwrap_or_default();
            let (forward, back) = (
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
        // Of several writes only the last one says what the file becomes.
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

/// What the last change of a file that is only ever written whole makes of it.
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
