//! Explains why an operation cannot be undone, with a hint that works.

use std::sync::Arc;

use boswell_dialect::by_name;
use boswell_model::{Advice, Error, ErrorKind, SessionRef};

use super::{Newer, Undoing};
use crate::Store;
use crate::backend::FsBackend;
use crate::runner::{State, shown};

impl Undoing<'_> {
    /// Returns the error for a file that changed since. A hint is tested before it is given.
    pub(super) fn changed_since(&self, key: &str, newer: Newer) -> Error {
        let error = Error::new(
            ErrorKind::Conflict,
            format!("{} changed since operation {}", shown(key), self.op.id),
        )
        .because("undoing it would lose what was written since");
        let keeps = || {
            Undoing::new(self.runner, self.op)
                .and_then(|again| again.lower(Newer::Keep))
                .is_ok()
        };
        if newer == Newer::Refuse && keeps() {
            return error.advising(Advice::UndoKeepingNew {
                operation: self.op.id.clone(),
            });
        }
        let more = "the file was changed in other ways than by appended lines";
        match self.session_at(key) {
            None if self
                .current
                .get(key)
                .is_none_or(|state| *state == State::Absent) =>
            {
                error
                    .because("it was removed since")
                    .advising(Advice::ListOperations)
            }
            Some(session) if self.was_made(key) => error
                .because(format!(
                    "{session} was created by it, and was continued since"
                ))
                .advising(Advice::Delete {
                    session: session.to_string(),
                }),
            _ if self.op.kind == "move" => {
                error.because(more).advising(moving_back(&self.op.title))
            }
            _ => error.because(more).advising(Advice::ShowOperation {
                operation: self.op.id.clone(),
            }),
        }
    }

    /// Returns the session whose log the file is.
    pub(super) fn session_at(&self, key: &str) -> Option<SessionRef> {
        let dialect = by_name(&self.op.session.dialect)?;
        let backend = Arc::new(FsBackend::on(Arc::clone(&self.runner.disk), &self.op.root));
        let listing = Store::on(dialect, backend, &self.op.root).list().ok()?;
        let found = listing
            .sessions
            .into_iter()
            .find(|location| location.key.as_deref() == Some(key))?;
        Some(SessionRef::new(dialect.name(), &found.id))
    }
}

/// Returns the advice to move a project back, with the folders in the title of the operation.
fn moving_back(title: &str) -> Advice {
    let folders = title
        .strip_prefix("move boswell's memory of ")
        .or_else(|| title.strip_prefix("move "));
    let folders = folders
        .and_then(|folders| folders.split_once(" to "))
        // A folder whose name contains ` to ` could be split in the wrong place.
        .filter(|(_, to)| !to.contains(" to "))
        .map(|(from, to)| (to.to_owned(), from.to_owned()));
    Advice::MoveProjectBack { folders }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folders_of_a_move_are_found_in_its_title() {
        let back = |from: &str, to: &str| Advice::MoveProjectBack {
            folders: Some((from.to_owned(), to.to_owned())),
        };
        assert_eq!(moving_back("move /w/a to /w/b"), back("/w/b", "/w/a"));
        assert_eq!(
            moving_back("move boswell's memory of /w/a to /w/b c"),
            back("/w/b c", "/w/a")
        );
        assert_eq!(
            moving_back("move /w/a to z to /w/b"),
            Advice::MoveProjectBack { folders: None }
        );
    }
}
