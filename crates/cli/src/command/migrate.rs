//! `migrate`: old format versions, explicitly.

use std::process::ExitCode;

use boswell_app::migrate::MigrateRequest;
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::confirm::{Agreed, Planned, ask};
use crate::output::Output;
use crate::words::planned_change;

/// Upgrade a session to the newest version of its format
///
/// The plan is printed first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell migrate 0b7e
  boswell migrate 0b7e --apply && boswell undo")]
pub(crate) struct MigrateArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    /// Do it without asking; needed where there is no terminal
    #[arg(long)]
    apply: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &MigrateArgs) -> Result<ExitCode> {
    let request = MigrateRequest {
        session: args.session.clone(),
    };
    if !args.apply {
        let plan = app.shown(app.requests.plan_migrate(&request))?;
        if plan.steps.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        let mut out = Output::plain(app);
        planned_change::show(plan, &mut out)?;
        out.finish()?;
        if let Agreed::No(code) = ask(app, false, Planned::Rewrite)? {
            return Ok(code);
        }
    }
    let mut out = Output::plain(app);
    if let Some(done) = app.shown(app.requests.migrate(&request))? {
        planned_change::print(done, &mut out)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
