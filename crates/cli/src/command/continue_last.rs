//! `continue`: takes up the last conversation.

use std::process::ExitCode;

use boswell_model::Result;
use clap::Args;

use super::resume;
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
    resume::run(app, &resume::ResumeArgs::last(args.print))
}
