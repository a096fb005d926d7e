//! `checkout`: restores files as they were at an entry.

use std::process::ExitCode;

use boswell_app::checkout::{CheckoutEvent, CheckoutRequest};
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::output::Output;
use crate::words::files;

/// Restore files to their state at an entry
///
/// Shows the differences first. Stops if a file was also changed outside the session.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell checkout @last a1b2c3d4 --dry-run
  boswell checkout 0b7e a1b2c3d4 src/main.rs")]
pub(crate) struct CheckoutArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    /// The entry whose files are restored
    entry: String,
    /// Only these files
    paths: Vec<String>,
    /// Only show the differences
    #[arg(long)]
    dry_run: bool,
    /// Also restore files that were changed outside the session
    #[arg(long)]
    force: bool,
}

impl From<&CheckoutArgs> for CheckoutRequest {
    fn from(args: &CheckoutArgs) -> CheckoutRequest {
        CheckoutRequest {
            session: args.session.clone(),
            entry: args.entry.clone(),
            paths: args.paths.clone(),
            dry_run: args.dry_run,
            force: args.force,
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &CheckoutArgs) -> Result<ExitCode> {
    let mut out = Output::plain(app);
    let outcome = app
        .requests
        .checkout(&args.into(), &mut |event| match event {
            CheckoutEvent::Differences(all) => files::differences(all, &mut out),
            CheckoutEvent::Step(step) => files::restored(step, &mut out),
        });
    out.finish()?;
    app.shown(outcome)?;
    Ok(ExitCode::SUCCESS)
}
