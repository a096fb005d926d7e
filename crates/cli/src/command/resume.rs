//! `resume`: the agent's own command, in the right folder.

use std::process::ExitCode;

use boswell_app::resume::{Permissions, ResumeRequest};
use boswell_model::Result;
use clap::Args;

use crate::agent_command;
use crate::app::App;

/// Resume a session: start its agent in the right folder
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell resume                 resume the last session
  boswell resume 0b7e --print    only print the command")]
pub(crate) struct ResumeArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    #[arg(default_value = "@last")]
    session: String,
    /// Print the command instead of running it
    #[arg(long)]
    print: bool,
    /// Give the agent the permissions it last had, even to do everything unasked
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
