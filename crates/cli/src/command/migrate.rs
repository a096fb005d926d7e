//! `migrate`: old format versions, explicitly.

use std::process::ExitCode;

use boswell_dialect::EditRequest;
use boswell_model::{Result, SessionRef};
use clap::Args;

use super::planned_change;
use crate::app::App;
use crate::output::Output;

/// Bring a session to the newest version of its format
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell migrate 0b7e
  boswell migrate 0b7e --apply && boswell undo     there and back")]
pub(crate) struct MigrateArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
    /// Do it; without this the plan is only shown
    #[arg(long)]
    apply: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &MigrateArgs) -> Result<ExitCode> {
    let mut out = Output::paged(app);
    if args.apply {
        let found = app.resolve_for_writing(&args.session)?;
        let done = planned_change::execute(app, &found, &EditRequest::Migrate)?;
        let reference = SessionRef::new(found.store.dialect().name(), &found.location.id);
        if !done.planned.plan.steps.is_empty() {
            planned_change::report(&done, &reference, &mut out)?;
        }
    } else {
        let found = app.resolve(&args.session)?;
        let planned = app
            .planning(found.store)
            .plan(&found.location, &EditRequest::Migrate)?;
        planned_change::remark(app, &planned);
        if !planned.plan.steps.is_empty() {
            planned_change::show(&planned, &mut out)?;
            if !app.quiet {
                crate::error_report::say("nothing was changed; `--apply` does it");
            }
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
