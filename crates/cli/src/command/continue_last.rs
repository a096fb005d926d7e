//! `continue`: resumes the last conversation.

use std::process::ExitCode;

use boswell_app::resume::ResumeRequest;
use boswell_model::Result;
use clap::Args;

use crate::agent_command;
use crate::app::App;

/// Take up the last conversation: this terminal's, else this project's, else any
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell continue
  boswell continue --print")]
pub(crate) struct ContinueArgs {
    /// Show the command instead of running it
    #[arg(long)]
    print: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ContinueArgs) -> Result<ExitCode> {
    agent_command::run(app, &ResumeRequest::default(), args.print)
}
