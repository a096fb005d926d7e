//! Explains why an operation cannot be undone, with a hint that works.

use std::sync::Arc;

use boswell_dialect::by_name;
use boswell_model::{Error, ErrorKind, SessionRef, shell_quote};

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
        .because("taking it back would lose what was written since");
        let keeps = || {
            Undoing::new(self.runner, self.op)
                .and_then(|again| again.lower(Newer::Keep))
                .is_ok()
        };
        if newer == Newer::Refuse && keeps() {
            return error.hinting(format!(
                "keep that with `boswell undo {} --keep-new`",
                self.op.id
            ));
        }
        let more = "more happened to the file than that lines were added";
        match self.session_at(key) {
            None if self
                .current
                .get(key)
                .is_none_or(|state| *state == State::Absent) =>
            {
                error
                    .because("it was removed since")
                    .hinting("see what can be taken back with `boswell ops`")
            }
            Some(session) if self.was_made(key) => error
                .because(format!("{session} was made by it, and was continued since"))
                .hinting(format!(
                    "to remove that session with all that was added, run `boswell delete {session}`"
                )),
            _ if self.op.kind == "move" => error.because(more).hinting(format!(
                "move the project back instead with `{}`",
                moving_back(&self.op.title)
            )),
            _ => error.because(more).hinting(format!(
                "see what the operation changed with `boswell ops --json`; its id is {}",
                self.op.id
            )),
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

/// Returns the command that moves a project back, from the folders in the title of the operation.
fn moving_back(title: &str) -> String {
    let folders = title
        .strip_prefix("move boswell's memory of ")
        .or_else(|| title.strip_prefix("move "));
    match folders.and_then(|folders| folders.split_once(" to ")) {
        // A folder whose name contains ` to ` could be split in the wrong place.
        Some((from, to)) if !to.contains(" to ") => {
            format!(
                "boswell move {} {} --apply",
                shell_quote(to),
                shell_quote(from)
            )
        }
        _ => "boswell move NEW OLD --apply".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_moves_a_project_back_can_be_copied_whatever_its_folders_are_called() {
        assert_eq!(
            moving_back("move /w/a to /w/b"),
            "boswell move /w/b /w/a --apply"
        );
        assert_eq!(
            moving_back("move /w/it's to /w/b c"),
            r"boswell move '/w/b c' '/w/it'\''s' --apply"
        );
        assert_eq!(
            moving_back("move boswell's memory of /w/a to /w/b"),
            "boswell move /w/b /w/a --apply"
        );
        // A terminal would hide this character, so it is spelled out.
        assert_eq!(
            moving_back("move /w/\u{202e}a to /w/b"),
            r"boswell move /w/b $'/w/\xe2\x80\xaea' --apply"
        );
        assert_eq!(
            moving_back("move /w/a to z to /w/b"),
            "boswell move NEW OLD --apply"
        );
    }
}
