//! Files of a project as an agent's own copies have them, for commands that were not moved yet.

use std::process::ExitCode;

use boswell_app::agent_file_history::AgentFileHistory as History;
use boswell_model::Result;
use boswell_store::{Resolved, Session};

use crate::app::App;
use crate::output::Output;
use crate::words;

/// The files of a session at an entry.
#[derive(Debug)]
pub(crate) struct AgentFileHistory(History);

impl AgentFileHistory {
    /// Gathers them; none where the agent keeps no copies.
    pub(crate) fn at(
        found: &Resolved,
        session: &Session,
        entry: &str,
        paths: &[&str],
    ) -> Result<Option<AgentFileHistory>> {
        Ok(History::at(found, session, entry, paths)?.map(AgentFileHistory))
    }

    /// Shows how they differ from what they are now.
    pub(crate) fn show_diff(&self, session: &Session, out: &mut Output) -> Result<()> {
        words::files::differences(self.0.differences(&session.reference()), out)
    }

    /// Puts them back; one operation, which `undo` takes back.
    pub(crate) fn restore(
        &self,
        app: &App,
        session: &Session,
        force: bool,
        out: &mut Output,
    ) -> Result<ExitCode> {
        self.0
            .restore(app, &session.reference(), force, &mut |step| {
                words::files::restored(step, out)
            })?;
        Ok(ExitCode::SUCCESS)
    }
}
