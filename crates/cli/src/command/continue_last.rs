//! `continue`: resumes the last session.

use std::process::ExitCode;

use boswell_app::resume::ResumeRequest;
use boswell_model::Result;
use clap::Args;

use crate::agent_command;
use crate::app::App;

/// Resume the last session of this terminal or project
///
/// Takes the last session of this terminal, else of this project, else of any project, and starts
/// its agent.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell continue
  boswell continue --print")]
pub(crate) struct ContinueArgs {
    /// Print the command instead of running it
    #[arg(long)]
    print: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ContinueArgs) -> Result<ExitCode> {
    agent_command::run(app, &ResumeRequest::default(), args.print)
}
