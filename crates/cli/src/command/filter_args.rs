//! Options that select sessions, shared by `list`, `search`, `prompts` and `stats`.

use boswell_app::list::SessionFilter;
use clap::Args;

use crate::app::App;

/// Options that select sessions.
#[derive(Debug, Args, Default)]
pub(crate) struct FilterArgs {
    /// Only sessions of this project folder and those below it
    #[arg(long, value_name = "DIR")]
    project: Option<String>,
    /// Only sessions of the current folder and those below it
    #[arg(long)]
    here: bool,
    /// Only sessions with this status
    #[arg(long)]
    status: Option<String>,
    /// Only sessions with this tag
    #[arg(long)]
    tag: Option<String>,
    /// Only sessions on this git branch
    #[arg(long)]
    branch: Option<String>,
    /// Only sessions that used a model whose name contains this
    #[arg(long)]
    model: Option<String>,
    /// Only sessions active since then (2026-01-31, 7d, today)
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// Only sessions last active before then
    #[arg(long, value_name = "WHEN")]
    pub(crate) until: Option<String>,
}

impl FilterArgs {
    /// The filter of these options, and of `--agent`, which every command takes.
    pub(crate) fn filter(&self, app: &App) -> SessionFilter {
        SessionFilter {
            agent: app.agent.clone(),
            project: self.project.clone(),
            here: self.here,
            status: self.status.clone(),
            tag: self.tag.clone(),
            branch: self.branch.clone(),
            model: self.model.clone(),
            since: self.since.clone(),
            until: self.until.clone(),
        }
    }
}
