//! `branch`: the next entry attaches elsewhere.

use std::process::ExitCode;

use boswell_app::branch::BranchRequest;
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::words::acknowledgement;

/// Continue a session from an earlier entry
///
/// The next entry attaches to this one. The entries that followed it stay, on another branch.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell branch @last a1b2c3d4
  boswell branch 0b7e --root --summary 'the first try went nowhere'")]
pub(crate) struct BranchArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    /// The entry to continue from
    #[arg(required_unless_present = "root", conflicts_with = "root")]
    entry: Option<String>,
    /// Continue from nothing: the next entry has no parent
    #[arg(long)]
    root: bool,
    /// Record a summary of the branch that is left
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
