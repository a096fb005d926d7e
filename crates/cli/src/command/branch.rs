//! `branch`: the next entry attaches elsewhere.

use std::process::ExitCode;

use boswell_app::branch::BranchRequest;
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::words::acknowledgement;

/// Move the leaf: the next entry attaches to this one
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell branch @last a1b2c3d4
  boswell branch 0b7e --root --summary 'the first try went nowhere'")]
pub(crate) struct BranchArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
    /// The entry, which stays part of the conversation
    #[arg(required_unless_present = "root", conflicts_with = "root")]
    entry: Option<String>,
    /// To nothing: the next entry begins anew
    #[arg(long)]
    root: bool,
    /// Leave a summary of what is left behind
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
}

impl From<&BranchArgs> for BranchRequest {
    fn from(args: &BranchArgs) -> BranchRequest {
        BranchRequest {
            session: args.session.clone(),
            // Without an entry it is `--root`.
            entry: args.entry.clone(),
            summary: args.summary.clone(),
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &BranchArgs) -> Result<ExitCode> {
    let done = app.shown(app.requests.branch(&args.into()))?;
    acknowledgement::answer(app, done)
}
