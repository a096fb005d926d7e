//! Changes: what a plan comes down to, one atomic call each, every one with its inverse.

use std::collections::BTreeMap;

use crate::sha256::Digest;

/// What is known of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileFacts {
    /// What it holds.
    pub sha256: Digest,
    /// Its length.
    pub len: u64,
    /// Its permission bits.
    pub mode: u32,
    /// Nanoseconds since 1970 of its last change; none where that is the moment
    /// of the change itself.
    pub modified: Option<i64>,
}

impl FileFacts {
    pub(crate) fn same_content(&self, other: &FileFacts) -> bool {
        self.sha256 == other.sha256 && self.len == other.len
    }
}

/// What stands at a key.
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

/// What stands at every key that an operation touches.
pub(crate) type States = BTreeMap<String, State>;

/// One atomic change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// A file is replaced as a whole, or made.
    Write {
        key: String,
        before: Option<FileFacts>,
        after: FileFacts,
    },
    /// Bytes of this hash and length are added.
    Append {
        key: String,
        before: FileFacts,
        added: Digest,
        after: FileFacts,
    },
    /// The end is cut off; it has this hash.
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
    /// Keys that it changes.
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

    /// What takes it back.
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

    /// Where it leads.
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

/// The states before the first change, after the first, and so on up to the last.
pub(crate) fn snapshots(initial: &States, changes: &[Change]) -> Vec<States> {
    let mut at = initial.clone();
    let mut all = vec![at.clone()];
    for change in changes {
        change.advance(&mut at);
        all.push(at.clone());
    }
    all
}
