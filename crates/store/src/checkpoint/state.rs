//! What files were like at an entry, as far as snapshots tell.

use std::collections::BTreeMap;

use boswell_model::{Advice, Error, ErrorKind, Result};

use super::snapshot::{Captured, FileSnapshot, Moment};

/// An entry of a branch, from its root to its leaf, as far as checkpoints care.
#[derive(Debug, Clone, Copy)]
pub struct OnBranch<'a> {
    /// The id of the entry.
    pub id: &'a str,
    /// The snapshot that it holds.
    pub snapshot: Option<&'a FileSnapshot>,
}

/// The files of a project at an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    files: BTreeMap<String, Tracked>,
}

/// What is known of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracked {
    /// What it was at the entry.
    pub then: Captured,
    /// Everything that it was ever captured as on this branch: content that can be got back, so
    /// overwriting it loses nothing.
    pub known: Vec<Captured>,
}

impl State {
    /// The state at an entry of a branch: of each file that was captured after
    /// it, what it was first.
    ///
    /// A file is changed only after it was captured, so the first capture after the entry is what
    /// it was at the entry. Files that were never captured after it are taken to be unchanged and
    /// are not part of the state.
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

    /// The state before a run of snapshots, oldest first.
    pub fn before<'a>(snapshots: impl IntoIterator<Item = &'a FileSnapshot>) -> State {
        let mut files: BTreeMap<String, Tracked> = BTreeMap::new();
        for snapshot in snapshots {
            for file in &snapshot.files {
                match files.get_mut(&file.path) {
                    Some(tracked) => tracked.knows(&file.content),
                    // Only what was there before an edit says what was there at the entry.
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

    /// The files, by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Tracked)> {
        self.files
            .iter()
            .map(|(path, tracked)| (path.as_str(), tracked))
    }

    /// What is known of one file.
    pub fn file(&self, path: &str) -> Option<&Tracked> {
        self.files.get(path)
    }

    /// The state with only those files whose path is one of these or lies below one of them.
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
