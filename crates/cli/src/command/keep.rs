//! `keep`: copies of sessions as they change, so that an agent's own clean-up loses nothing.

use std::process::ExitCode;
use std::time::Duration;

use boswell_app::keep::{DAYS_AHEAD, KeepOnRequest, KeepShape, KeepStatus, KeepStep, Kept};
use boswell_app::shape::Shape as _;
use boswell_model::{Error, Result, shell_quote};
use clap::{Args, Subcommand};

use crate::app::{App, program};
use crate::error_report;
use crate::output::Output;
use crate::terminal::one_line;
use crate::words::size;

/// How long a command goes on keeping after it has answered.
const AFTERWARDS: Duration = Duration::from_millis(200);

/// Keep copies of sessions, so that an agent's own clean-up loses nothing
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell keep on --dry-run    what would be put into the agent's settings
  boswell keep status          what is kept, and what will be lost

Copied are logs, subagents, spilled outputs and file histories; never keys, credentials or settings.")]
pub(crate) struct KeepArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Keep from now on: once now, at the end of every session, and after every boswell command
    On {
        /// By a timer of the user's system instead of the agent's own hook
        #[arg(long)]
        timer: bool,
        /// Only show what would be installed
        #[arg(long)]
        dry_run: bool,
    },
    /// Stop, and take out exactly what `keep on` installed; copies stay
    Off,
    /// Show what is kept, and what will be lost
    Status,
    /// Keep what changed, now
    Run,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &KeepArgs) -> Result<ExitCode> {
    let mut out = Output::paged(app);
    let left_out = match args.what {
        What::On { timer, dry_run } => {
            let request = KeepOnRequest {
                by_timer: timer,
                dry_run,
                program: program()?,
            };
            let mut sink = |step| show_step(step, &mut out);
            let kept = app.shown(app.requests.keep_on(&request, &mut sink))?;
            kept.map(|kept| show_kept(kept, &mut out)).transpose()?
        }
        What::Off => {
            app.shown(app.requests.keep_off(&mut |step| show_step(step, &mut out)))?;
            None
        }
        What::Status => Some(show_status(
            app.shown(app.requests.keep_status())?,
            &mut out,
        )?),
        What::Run => Some(show_kept(app.shown(app.requests.keep_now())?, &mut out)?),
    };
    out.finish()?;
    Ok(error_report::left_out(app, &left_out.unwrap_or_default()))
}

/// Keeps a little of what changed, once a command has answered. What fails here is
/// tried again next time.
pub(crate) fn afterwards(app: &App) {
    let _ = app.shown(app.requests.keep_a_little(AFTERWARDS));
}

fn show_step(step: KeepStep, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&step.object());
    }
    out.line(&one_line(&step.does))
}

/// Shows how much was kept. What could not be kept, and why.
fn show_kept(kept: Kept, out: &mut Output) -> Result<Vec<Error>> {
    let Kept { counts, left_out } = kept;
    if out.json {
        out.object(&counts.object())?;
        return Ok(left_out);
    }
    let left = if left_out.is_empty() {
        String::new()
    } else {
        format!("; {} could not be kept", left_out.len())
    };
    out.line(&match counts.files {
        0 => format!("nothing has changed since it was last kept{left}"),
        files => format!(
            "kept {} of {} sessions, {files} files{left}",
            size(counts.bytes),
            counts.sessions
        ),
    })?;
    Ok(left_out)
}

/// Shows what is kept. What could not be looked at, and why: whether it is kept is not known.
fn show_status(status: KeepStatus, out: &mut Output) -> Result<Vec<Error>> {
    if out.json {
        for store in status.stores {
            out.object(&store.object())?;
        }
        return Ok(status.left_out);
    }
    out.line(&match status.since {
        Some(since) => format!("keeping is on since {}", since.to_rfc3339()),
        None => "keeping is off; `boswell keep on` begins".to_owned(),
    })?;
    for store in &status.stores {
        show_store(store, out)?;
    }
    Ok(status.left_out)
}

fn show_store(store: &KeepShape, out: &mut Output) -> Result<()> {
    let days = store.deletes_after_days.map(|days| days.to_string());
    out.line(&format!(
        "{}  {} of {} sessions are kept as they are; their agent deletes them after {} days  {}",
        store.dialect,
        store.kept,
        store.sessions,
        days.as_deref().unwrap_or("an unknown number of"),
        one_line(&store.root)
    ))?;
    if store.installed == Some(false) {
        out.line(
            "  its trigger is gone: `boswell keep off` and `boswell keep on` install it anew",
        )?;
    }
    for path in &store.unreadable {
        out.line(&format!(
            "  cannot be read, so nothing new in it is kept: {}",
            one_line(path)
        ))?;
    }
    for session in &store.gone {
        out.line(&format!(
            "  gone, and kept: {session}; `boswell restore {}` puts it back",
            shell_quote(session)
        ))?;
    }
    if !store.lost_soon.is_empty() {
        out.line(&format!(
            "  {} will be deleted within {DAYS_AHEAD} days and are not kept",
            store.lost_soon.len()
        ))?;
    }
    Ok(())
}
