//! `checkout`: restores files as they were at an entry.

use std::process::ExitCode;

use boswell_app::checkout::{CheckoutEvent, CheckoutRequest};
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::confirm::{Agreed, Planned, ask};
use crate::output::Output;
use crate::words::files;

/// Restore files to their state at an entry
///
/// Shows the differences first. Stops if a file was also changed outside the session.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell checkout @last a1b2c3d4                     show the differences, and ask
  boswell checkout 0b7e a1b2c3d4 src/main.rs --apply")]
pub(crate) struct CheckoutArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    /// The entry whose files are restored
    entry: String,
    /// Only these files
    paths: Vec<String>,
    /// Do it without asking; needed where there is no terminal
    #[arg(long)]
    apply: bool,
    /// Also restore files that were changed outside the session
    #[arg(long)]
    force: bool,
}

impl CheckoutArgs {
    fn request(&self, compare_only: bool) -> CheckoutRequest {
        CheckoutRequest {
            session: self.session.clone(),
            entry: self.entry.clone(),
            paths: self.paths.clone(),
            compare_only,
            force: self.force,
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &CheckoutArgs) -> Result<ExitCode> {
    if !args.apply {
        if restored(app, &args.request(true))? == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        if let Agreed::No(code) = ask(app, false, Planned::RestoreFiles)? {
            return Ok(code);
        }
    }
    restored(app, &args.request(false))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the differences and what was restored, and returns how many files differ.
pub(super) fn restored(app: &App, request: &CheckoutRequest) -> Result<usize> {
    let mut out = Output::plain(app);
    let mut differ = 0;
    let outcome = app.requests.checkout(request, &mut |event| match event {
        CheckoutEvent::Differences(all) => {
            differ = all.iter().filter(|it| it.change != "unchanged").count();
            files::differences(all, &mut out)
        }
        CheckoutEvent::Step(step) => files::restored(step, &mut out),
    });
    out.finish()?;
    app.shown(outcome)?;
    Ok(differ)
}
