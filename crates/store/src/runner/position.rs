//! How far an interrupted operation came, found out from the files on disk.

use std::collections::{HashMap, HashSet};

use boswell_model::{Advice, Error, ErrorKind, Result};

use super::change::{Change, State, States};
use super::compile::read_state;
use super::{FileFacts, Operation, Runner, place, shown};
use crate::disk::durable;
use crate::sha256::{Digest, hash_file};

/// How far an operation came before the crash.
#[derive(Debug)]
pub(super) struct Position {
    /// How many changes are complete.
    pub(super) done: usize,
    /// Whether the next change, an append, was torn.
    pub(super) torn: bool,
    /// Keys of files to which another program has appended since.
    pub(super) grown: HashSet<String>,
}

impl Position {
    fn after(done: usize, grown: HashSet<String>) -> Position {
        Position {
            done,
            torn: false,
            grown,
        }
    }
}

impl Runner {
    /// Finds out from the files on disk how far an operation came. Files that no begun change
    /// touches may be in any state.
    pub(super) fn position(&self, op: &Operation, reached: usize) -> Result<Position> {
        let mut snapshots = op.snapshots();
        snapshots.truncate(reached + 1);
        let begun = op.changes.get(..reached).unwrap_or_default();
        for states in &mut snapshots {
            states.retain(|key, _| is_touched(key, begun));
        }
        let current = self.current(op, &snapshots)?;
        // Three passes, from the strictest to the loosest. First an exact match, latest snapshot
        // first; then a torn append; last a match in which files may have grown, because a torn
        // append also looks like a file that another program appended to.
        for (done, expected) in snapshots.iter().enumerate().rev() {
            let grown = self.matches(op, &current, expected, None)?;
            if grown.is_some_and(|grown| grown.is_empty()) {
                return Ok(Position::after(done, HashSet::new()));
            }
        }
        for (done, change) in begun.iter().enumerate() {
            let (Change::Append { key, .. }, Some(expected)) = (change, snapshots.get(done)) else {
                continue;
            };
            if self.is_torn(op, change)?
                && let Some(grown) = self.matches(op, &current, expected, Some(key))?
            {
                let torn = true;
                return Ok(Position { done, torn, grown });
            }
        }
        for (done, expected) in snapshots.iter().enumerate().rev() {
            if let Some(grown) = self.matches(op, &current, expected, None)? {
                return Ok(Position::after(done, grown));
            }
        }
        let stranger = self.stranger(&current, &snapshots);
        Err(Error::new(
            ErrorKind::Conflict,
            format!(
                "operation {} can be neither finished nor rolled back",
                op.id
            ),
        )
        .because(format!(
            "{stranger} is neither as before the operation nor as after it"
        ))
        .advising(Advice::from("what it changed is in the vault").also(Advice::ListOperations)))
    }

    /// Returns the current states of all files in the snapshots.
    fn current(&self, op: &Operation, snapshots: &[States]) -> Result<States> {
        let mut current = States::new();
        for key in snapshots.iter().flat_map(States::keys) {
            if !current.contains_key(key) {
                current.insert(key.clone(), self.state(op, key)?);
            }
        }
        Ok(current)
    }

    fn stranger(&self, current: &States, snapshots: &[States]) -> String {
        let known = |key: &String, state: &State| {
            snapshots
                .iter()
                .filter_map(|states| states.get(key))
                .any(|expected| likeness(*state, *expected))
        };
        current
            .iter()
            .find(|(key, state)| !known(key, state))
            .map_or_else(|| "one of its files".to_owned(), |(key, _)| shown(key))
    }

    /// Returns the state of a key on disk, with its hash.
    pub(crate) fn state(&self, op: &Operation, key: &str) -> Result<State> {
        let path = place(&op.root, key)?;
        Ok(match read_state(self.disk.as_ref(), &path)?.0 {
            State::File(meta) => {
                let hasher = hash_file(self.disk.as_ref(), &path, meta.len)?;
                State::File(FileFacts {
                    sha256: hasher.finish(),
                    len: hasher.len(),
                    ..meta
                })
            }
            other => other,
        })
    }

    /// Compares the current states with the expected ones. Returns the files that begin as expected
    /// but have grown; `None` if a file differs otherwise. The key `except` is not compared.
    fn matches(
        &self,
        op: &Operation,
        current: &States,
        expected: &States,
        except: Option<&str>,
    ) -> Result<Option<HashSet<String>>> {
        let mut grown = HashSet::new();
        for (key, expected) in expected
            .iter()
            .filter(|(key, _)| except != Some(key.as_str()))
        {
            let is = current.get(key).copied().unwrap_or(State::Absent);
            if likeness(is, *expected) {
                continue;
            }
            let (State::File(is), State::File(expected)) = (is, *expected) else {
                return Ok(None);
            };
            let path = place(&op.root, key)?;
            let begins_so = is.len > expected.len
                && expected.len > 0
                && hash_file(self.disk.as_ref(), &path, expected.len)?.finish() == expected.sha256;
            if !begins_so {
                return Ok(None);
            }
            grown.insert(key.clone());
        }
        Ok(Some(grown))
    }

    /// Returns whether an append was cut short by a crash: each byte behind the old end is the one
    /// that was to be written, or NUL where the file system extended the file without its data.
    fn is_torn(&self, op: &Operation, change: &Change) -> Result<bool> {
        let Change::Append {
            key,
            before,
            added,
            after,
        } = change
        else {
            return Ok(false);
        };
        let path = place(&op.root, key)?;
        let Some(bytes) = durable::read(self.disk.as_ref(), &path)? else {
            return Ok(false);
        };
        let len = bytes.len() as u64;
        if len <= before.len || len > after.len {
            return Ok(false);
        }
        let mut ours = Vec::new();
        let nothing = HashMap::new();
        self.hands(op, &nothing).feed(*added, &mut |chunk| {
            ours.extend_from_slice(chunk);
            Ok(())
        })?;
        let (old, new) = bytes.split_at(
            usize::try_from(before.len)
                .unwrap_or(usize::MAX)
                .min(bytes.len()),
        );
        Ok(Digest::of(old) == before.sha256
            && new.iter().zip(&ours).all(|(is, was)| is == was || *is == 0))
    }
}

/// Returns whether a state counts as the expected one. A folder that should be gone may exist,
/// because other programs may use it.
fn likeness(is: State, expected: State) -> bool {
    match (is, expected) {
        (State::File(is), State::File(expected)) => is.same_content(&expected),
        (State::Folder, State::Folder | State::Absent) | (State::Absent, State::Absent) => true,
        _ => false,
    }
}

/// Returns whether one of the changes is made to this key, or to a folder that it is in.
fn is_touched(key: &str, changes: &[Change]) -> bool {
    let mut keys = changes.iter().flat_map(Change::keys);
    keys.any(|part| is_at_or_below(key, part))
}

fn is_at_or_below(key: &str, folder: &str) -> bool {
    key.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
