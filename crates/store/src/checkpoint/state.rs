//! The state of files at an entry, derived from snapshots.

use std::collections::BTreeMap;

use boswell_model::{Advice, Error, ErrorKind, Result};

use super::snapshot::{Captured, FileSnapshot, Moment};

/// An entry of a branch, from its root to its leaf, with its snapshot.
#[derive(Debug, Clone, Copy)]
pub struct OnBranch<'a> {
    /// Id of the entry.
    pub id: &'a str,
    /// The snapshot in the entry.
    pub snapshot: Option<&'a FileSnapshot>,
}

/// The files of a project at an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    files: BTreeMap<String, Tracked>,
}

/// What is known about one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracked {
    /// Its state at the entry.
    pub then: Captured,
    /// All its captured states on this branch: their content is stored, so overwriting it loses
    /// nothing.
    pub known: Vec<Captured>,
}

impl State {
    /// Returns the state at an entry of a branch: for each file that was captured after it, the
    /// first captured state.
    ///
    /// A file is changed only after it was captured, so the first capture after the entry is its
    /// state at the entry. Files that were never captured after it count as unchanged and are not
    /// part of the state.
    pub fn at(branch: &[OnBranch<'_>], entry: &str) -> Result<State> {
        let Some(place) = branch.iter().position(|on| on.id == entry) else {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("entry {entry} is not on this branch"),
            )
            .because("files are known only along the branch that the session is on")
            .advising(Advice::ShowTree));
        };
        let after = branch.get(place + 1..).unwrap_or(&[]);
        let mut state = State::before(after.iter().filter_map(|on| on.snapshot));
        for snapshot in branch.iter().take(place + 1).filter_map(|on| on.snapshot) {
            for file in &snapshot.files {
                if let Some(tracked) = state.files.get_mut(&file.path) {
                    tracked.knows(&file.content);
                }
            }
        }
        Ok(state)
    }

    /// Returns the state before a sequence of snapshots, oldest first.
    pub fn before<'a>(snapshots: impl IntoIterator<Item = &'a FileSnapshot>) -> State {
        let mut files: BTreeMap<String, Tracked> = BTreeMap::new();
        for snapshot in snapshots {
            for file in &snapshot.files {
                match files.get_mut(&file.path) {
                    Some(tracked) => tracked.knows(&file.content),
                    // Only a capture before an edit shows the state at the entry.
                    None if snapshot.moment == Moment::After => {}
                    None => {
                        let tracked = Tracked {
                            then: file.content.clone(),
                            known: vec![file.content.clone()],
                        };
                        files.insert(file.path.clone(), tracked);
                    }
                }
            }
        }
        State { files }
    }

    /// Iterates over the files, by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Tracked)> {
        self.files
            .iter()
            .map(|(path, tracked)| (path.as_str(), tracked))
    }

    /// Returns what is known about one file.
    pub fn file(&self, path: &str) -> Option<&Tracked> {
        self.files.get(path)
    }

    /// Keeps only files whose path is one of these or below one of them.
    #[must_use]
    pub fn only(mut self, paths: &[&str]) -> State {
        let below = |path: &str, wanted: &str| {
            path.strip_prefix(wanted)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.files.retain(|path, _| {
            paths
                .iter()
                .any(|wanted| below(path, wanted.trim_end_matches('/')))
        });
        self
    }
}

impl Tracked {
    fn knows(&mut self, content: &Captured) {
        if !self.known.contains(content) {
            self.known.push(content.clone());
        }
    }
}
