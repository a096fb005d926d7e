//! `copy`: a session of another host, for the same agent here.

use std::path::PathBuf;
use std::process::ExitCode;

use boswell_app::hosts::copy::{CopiedHere, CopyPlan, CopyRequest};
use boswell_app::shape::Shape as _;
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::confirm::{Agreed, Planned, ask};
use crate::error_report::say;
use crate::output::Output;
use crate::terminal::one_line;
use crate::words::as_called;

/// Copy a session of another host here, for its agent here
///
/// The log and its side files go into the agent's own folder, each byte as it is there. The host is
/// only read.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell copy box:0b7e                       show what is written, and ask
  boswell copy box:claude:0b7e --project ~/src/shop --apply")]
pub(crate) struct CopyArgs {
    /// Session: HOST:SESSION, with a host of the settings
    session: String,
    /// The project folder here, if it is another than there
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Do it without asking; needed where there is no terminal
    #[arg(long)]
    apply: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &CopyArgs) -> Result<ExitCode> {
    let request = CopyRequest {
        session: args.session.clone(),
        project: args.project.clone(),
    };
    let plan = app.shown(app.requests.plan_copy(&request))?;
    let mut out = Output::plain(app);
    show(&plan, &mut out)?;
    if !plan.steps.is_empty()
        && let Agreed::No(code) = ask(app, args.apply, Planned::Copy)?
    {
        out.finish()?;
        return Ok(code);
    }
    let copied = app.shown(app.requests.copy(&plan))?;
    print(copied, &mut out)?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn show(plan: &CopyPlan, out: &mut Output) -> Result<()> {
    if out.json {
        let mut steps = plan.steps.iter();
        return steps.try_for_each(|step| out.object(&step.clone().object()));
    }
    if plan.steps.is_empty() {
        say(&format!(
            "{} is here already, as on {}",
            plan.target, plan.host
        ));
        return Ok(());
    }
    out.line(&format!("{} from {}", plan.target, plan.host))?;
    if let Some((from, to)) = &plan.moved {
        out.line(&format!("  project {} → {}", one_line(from), one_line(to)))?;
    }
    let mut steps = plan.steps.iter();
    steps.try_for_each(|step| out.line(&format!("  {}", one_line(&step.does))))?;
    out.flush()
}

pub(crate) fn print(copied: CopiedHere, out: &mut Output) -> Result<()> {
    if out.json {
        if let Some(op) = copied.op {
            out.object(&op.object())?;
        }
        return out.object(&copied.session.object());
    }
    out.line(&copied.reference.to_string())?;
    if copied.op.is_some() {
        say(&as_called(&format!(
            "resume it with `boswell resume {}`, undo it with `boswell undo`",
            copied.reference.to_argument()
        )));
    }
    Ok(())
}
