//! The last list that a terminal showed, so that its rows can be named by their numbers.
//!
//! One small file per terminal in boswell's home, written when a list was shown to a person. It is
//! derived: a lost one only means that numbers name nothing until the next list.

use std::path::PathBuf;

use boswell_store::session::TerminalId;

use crate::App;
use crate::app::AppState;
use crate::system::{put_derived, read_text};

/// The folder of the lists in boswell's home.
const FOLDER: &str = "last-lists";

impl App {
    /// Whether lists are remembered: on a terminal, where boswell's home may be written.
    pub fn remembers_lists(&self) -> bool {
        !self.state().read_only && path(self.state()).is_some()
    }

    /// Remembers the sessions of a list that was shown, in order. Nothing is remembered without a
    /// terminal, or where nothing may be written.
    pub fn remember_list<'s>(&self, sessions: impl Iterator<Item = &'s str>) {
        let state = self.state();
        let Some(path) = path(state).filter(|_| !state.read_only) else {
            return;
        };
        let lines: String = sessions
            // An empty line keeps the numbers of the others.
            .map(|session| format!("{}\n", session.replace('\n', "")))
            .collect();
        // A home that cannot be written only costs the numbers.
        let _ = put_derived(&path, lines.as_bytes());
    }
}

impl AppState {
    /// Returns the session that the last list of this terminal showed with a number.
    pub(crate) fn listed(&self, number: usize) -> Option<String> {
        let text = read_text(&path(self)?).ok()?;
        let line = text.lines().nth(number.checked_sub(1)?)?;
        Some(line.to_owned()).filter(|line| !line.is_empty())
    }
}

fn path(state: &AppState) -> Option<PathBuf> {
    let terminal = TerminalId::of(&state.env)?;
    Some(state.home.as_ref()?.join(FOLDER).join(terminal.as_str()))
}
