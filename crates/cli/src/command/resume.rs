//! `resume`: the agent's own command, in the right folder.

use std::process::ExitCode;

use boswell_app::resume::{Permissions, ResumeRequest};
use boswell_model::Result;
use clap::Args;

use crate::agent_command;
use crate::app::App;

/// Take a conversation up again with the agent's own command
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell resume                  the last conversation, in its own folder
  boswell resume 0b7e --print     only show the command")]
pub(crate) struct ResumeArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    #[arg(default_value = "@last")]
    session: String,
    /// Show the command instead of running it
    #[arg(long)]
    print: bool,
    /// Let the agent do without asking what it was last allowed in this session, even everything
    #[arg(long)]
    same_permissions: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ResumeArgs) -> Result<ExitCode> {
    let request = ResumeRequest {
        session: args.session.clone(),
        permissions: if args.same_permissions {
            Permissions::Same
        } else {
            Permissions::Asked
        },
    };
    agent_command::run(app, &request, args.print)
}
