//! `migrate`: old format versions, explicitly.

use std::process::ExitCode;

use boswell_app::migrate::MigrateRequest;
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::output::Output;
use crate::words::planned_change;

/// Upgrade a session to the newest version of its format
///
/// Without --apply only the plan is printed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell migrate 0b7e
  boswell migrate 0b7e --apply && boswell undo")]
pub(crate) struct MigrateArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    /// Do it instead of printing the plan
    #[arg(long)]
    apply: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &MigrateArgs) -> Result<ExitCode> {
    let request = MigrateRequest {
        session: args.session.clone(),
    };
    let mut out = Output::plain(app);
    if args.apply {
        if let Some(done) = app.shown(app.requests.migrate(&request))? {
            planned_change::print(done, &mut out)?;
        }
    } else {
        let plan = app.shown(app.requests.plan_migrate(&request))?;
        if !plan.steps.is_empty() {
            planned_change::show(plan, &mut out)?;
            if !app.quiet {
                crate::error_report::say(crate::plan_lines::NOT_APPLIED);
            }
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
