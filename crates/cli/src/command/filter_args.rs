//! Which sessions are meant: options that `list`, `search` and `stats` share.

use boswell_app::list::SessionFilter;
use clap::Args;

/// Options that leave sessions out.
#[derive(Debug, Args, Default)]
pub(crate) struct FilterArgs {
    /// Only this agent or dialect
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Only sessions held in this folder or below it
    #[arg(long, value_name = "DIR")]
    project: Option<String>,
    /// Only sessions held in the current folder
    #[arg(long)]
    here: bool,
    /// Only sessions with this status
    #[arg(long)]
    status: Option<String>,
    /// Only sessions with this tag
    #[arg(long)]
    tag: Option<String>,
    /// Only sessions on this branch of the project's repository
    #[arg(long)]
    branch: Option<String>,
    /// Only sessions that used a model whose name holds this
    #[arg(long)]
    model: Option<String>,
    /// Only sessions active since then (2026-01-31, 12h, 7d)
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// Only sessions active before then
    #[arg(long, value_name = "WHEN")]
    pub(crate) until: Option<String>,
}

impl From<&FilterArgs> for SessionFilter {
    fn from(args: &FilterArgs) -> SessionFilter {
        SessionFilter {
            agent: args.agent.clone(),
            project: args.project.clone(),
            here: args.here,
            status: args.status.clone(),
            tag: args.tag.clone(),
            branch: args.branch.clone(),
            model: args.model.clone(),
            since: args.since.clone(),
            until: args.until.clone(),
        }
    }
}
