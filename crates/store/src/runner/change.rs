//! [`Change`]: one atomic change of a compiled plan, with its inverse and its effect on states.

use std::collections::BTreeMap;

use crate::sha256::Digest;

/// Hash, length and metadata of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileFacts {
    /// SHA-256 of the content.
    pub sha256: Digest,
    /// Length in bytes.
    pub len: u64,
    /// Permission bits.
    pub mode: u32,
    /// Modification time in nanoseconds since 1970; `None` if the time is that of the change
    /// itself.
    pub modified: Option<i64>,
}

impl FileFacts {
    pub(crate) fn same_content(&self, other: &FileFacts) -> bool {
        self.sha256 == other.sha256 && self.len == other.len
    }
}

/// The state of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Absent,
    Folder,
    File(FileFacts),
}

impl State {
    pub(crate) fn file(self) -> Option<FileFacts> {
        match self {
            State::File(meta) => Some(meta),
            _ => None,
        }
    }
}

/// The state of every key that an operation touches.
pub(crate) type States = BTreeMap<String, State>;

/// One atomic change of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// Creates a file, or replaces it as a whole.
    Write {
        key: String,
        before: Option<FileFacts>,
        after: FileFacts,
    },
    /// Appends bytes; `added` is their hash.
    Append {
        key: String,
        before: FileFacts,
        added: Digest,
        after: FileFacts,
    },
    /// Removes the end of a file; `cut` is the hash of the removed bytes.
    Truncate {
        key: String,
        before: FileFacts,
        after: FileFacts,
        cut: Digest,
    },
    Rename {
        from: String,
        to: String,
    },
    Remove {
        key: String,
        before: FileFacts,
    },
    MakeFolder {
        key: String,
    },
    RemoveFolder {
        key: String,
    },
}

impl Change {
    /// Returns the keys that the change touches.
    pub(crate) fn keys(&self) -> Vec<&str> {
        match self {
            Change::Rename { from, to } => vec![from, to],
            Change::Write { key, .. }
            | Change::Append { key, .. }
            | Change::Truncate { key, .. }
            | Change::Remove { key, .. }
            | Change::MakeFolder { key }
            | Change::RemoveFolder { key } => vec![key],
        }
    }

    /// Returns the change that takes this one back.
    pub(crate) fn inverse(&self) -> Change {
        match self.clone() {
            Change::Write {
                key,
                before: Some(before),
                after,
            } => Change::Write {
                key,
                before: Some(after),
                after: before,
            },
            Change::Write {
                key,
                before: None,
                after,
            } => Change::Remove { key, before: after },
            Change::Append {
                key,
                before,
                added,
                after,
            } => Change::Truncate {
                key,
                before: after,
                after: before,
                cut: added,
            },
            Change::Truncate {
                key,
                before,
                after,
                cut,
            } => Change::Append {
                key,
                before: after,
                added: cut,
                after: before,
            },
            Change::Rename { from, to } => Change::Rename { from: to, to: from },
            Change::Remove { key, before } => Change::Write {
                key,
                before: None,
                after: before,
            },
            Change::MakeFolder { key } => Change::RemoveFolder { key },
            Change::RemoveFolder { key } => Change::MakeFolder { key },
        }
    }

    /// Applies the effect of the change to `states`.
    pub(crate) fn advance(&self, states: &mut States) {
        let (key, state) = match self {
            Change::Write { key, after, .. }
            | Change::Append { key, after, .. }
            | Change::Truncate { key, after, .. } => (key, State::File(*after)),
            Change::Remove { key, .. } | Change::RemoveFolder { key } => (key, State::Absent),
            Change::MakeFolder { key } => (key, State::Folder),
            Change::Rename { from, to } => return rename(states, from, to),
        };
        states.insert(key.clone(), state);
    }
}

fn rename(states: &mut States, from: &str, to: &str) {
    let below = format!("{from}/");
    let moved: Vec<(String, State)> = states
        .iter()
        .filter(|(key, _)| *key == from || key.starts_with(&below))
        .map(|(key, state)| (key.clone(), *state))
        .collect();
    for (key, state) in moved {
        let rest = key.get(from.len()..).unwrap_or_default();
        states.insert(format!("{to}{rest}"), state);
        states.insert(key, State::Absent);
    }
}

/// Returns the states before the first change, after the first, and so on up to the last.
pub(crate) fn snapshots(initial: &States, changes: &[Change]) -> Vec<States> {
    let mut at = initial.clone();
    let mut all = vec![at.clone()];
    for change in changes {
        change.advance(&mut at);
        all.push(at.clone());
    }
    all
}
