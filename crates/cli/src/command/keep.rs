//! `keep`: copies of sessions as they change, so that an agent's own clean-up loses nothing.

use std::process::ExitCode;
use std::time::Duration;

use boswell_app::keep::{
    DAYS_AHEAD, KeepOnRequest, KeepProgress, KeepShape, KeepStatus, KeepStep, Kept,
};
use boswell_app::shape::Shape as _;
use boswell_app::{AppResult, Cancel};
use boswell_model::{Error, Result, shell_quote};
use clap::{Args, Subcommand};

use crate::app::{App, program};
use crate::confirm::{Agreed, Planned, ask};
use crate::error_report;
use crate::output::Output;
use crate::progress::Progress;
use crate::signals::{self, INTERRUPTED};
use crate::terminal::one_line;
use crate::words::{as_called, count, size};

/// How long a command copies sessions after it has answered.
const AFTERWARDS: Duration = Duration::from_millis(200);

/// Back up sessions before their agent deletes them
///
/// Claude Code deletes sessions after 30 days. `keep on` copies them into the vault as they change,
/// and `boswell restore` puts them back.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell keep on        show the hook that it adds to the settings, and ask
  boswell keep status    what is copied, and what will be deleted

Logs, subagents, tool outputs and file histories are copied; keys, credentials
and settings are not.")]
pub(crate) struct KeepArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Copy now, at the end of every session, and after every boswell command
    On {
        /// Use a systemd timer of the user instead of a hook of the agent
        #[arg(long)]
        timer: bool,
        /// Do it without asking; needed where there is no terminal
        #[arg(long)]
        apply: bool,
    },
    /// Stop, and remove exactly what `keep on` installed; copies stay
    Off,
    /// Show what is copied, and what will be deleted
    Status,
    /// Copy what changed, now
    Run,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &KeepArgs) -> Result<ExitCode> {
    let mut out = Output::plain(app);
    let left_out = match args.what {
        What::On { timer, apply } => {
            let mut request = KeepOnRequest {
                by_timer: timer,
                plan_only: true,
                program: program()?,
            };
            if let Agreed::No(code) = may_install(app, &request, apply)? {
                return Ok(code);
            }
            request.plan_only = false;
            // A plan that was shown is not shown again.
            let mut sink = |step| match apply {
                true => show_step(step, &mut out),
                false => Ok(()),
            };
            let kept = copying(app, &mut |cancel, progress| {
                app.requests.keep_on(&request, cancel, &mut sink, progress)
            })?;
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
        What::Run => {
            let kept = copying(app, &mut |cancel, progress| {
                app.requests.keep_now(cancel, progress)
            })?;
            Some(show_kept(kept, &mut out)?)
        }
    };
    out.finish()?;
    let left_out = left_out.unwrap_or_default();
    if left_out.unfinished {
        error_report::say("stopped; `boswell keep run` copies the rest");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    Ok(error_report::left_out(app, &left_out.errors))
}

/// Shows what would be installed, and asks. What is installed already needs no answer.
fn may_install(app: &App, request: &KeepOnRequest, apply: bool) -> Result<Agreed> {
    if apply {
        return Ok(Agreed::Yes);
    }
    let mut out = Output::plain(app);
    let mut steps = 0;
    let planned = app.requests.keep_on(
        request,
        &Cancel::new(),
        &mut |step| {
            steps += 1;
            show_step(step, &mut out)
        },
        &mut |_| {},
    );
    app.shown(planned)?;
    out.finish()?;
    ask(app, steps == 0, Planned::Install)
}

/// What is called with the progress of a request.
type ProgressSink<'s> = &'s mut dyn FnMut(KeepProgress);

/// Runs a request that copies sessions: with its progress on a terminal, and until Ctrl-C.
fn copying<T>(
    app: &App,
    request: &mut dyn FnMut(&Cancel, ProgressSink<'_>) -> AppResult<T>,
) -> Result<T> {
    let cancel = Cancel::new();
    signals::cancel_on_interrupt(&cancel);
    let mut progress = None;
    let done = request(&cancel, &mut |sessions| {
        let start = || Progress::new("copying, session", sessions.total, app.quiet);
        progress.get_or_insert_with(start).tick();
    });
    drop(progress);
    app.shown(done)
}

/// What was not copied.
#[derive(Default)]
struct LeftOut {
    errors: Vec<Error>,
    /// Whether the rest was not tried because of Ctrl-C.
    unfinished: bool,
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
fn show_kept(kept: Kept, out: &mut Output) -> Result<LeftOut> {
    let counts = kept.counts;
    let left_out = LeftOut {
        errors: kept.left_out,
        unfinished: kept.unfinished,
    };
    if out.json {
        out.object(&counts.object())?;
        return Ok(left_out);
    }
    let left = if left_out.errors.is_empty() {
        String::new()
    } else {
        format!("; {} could not be copied", left_out.errors.len())
    };
    out.line(&match counts.files {
        0 if left_out.unfinished => format!("nothing was copied{left}"),
        0 => format!("nothing changed since the last copy{left}"),
        files => format!(
            "copied {} of {} ({}){left}",
            count(files, "file", "files"),
            count(counts.sessions, "session", "sessions"),
            size(counts.bytes)
        ),
    })?;
    Ok(left_out)
}

/// Shows what is kept. What could not be looked at, and why: whether it is kept is not known.
fn show_status(status: KeepStatus, out: &mut Output) -> Result<LeftOut> {
    let left_out = LeftOut {
        errors: status.left_out,
        unfinished: false,
    };
    if out.json {
        for store in status.stores {
            out.object(&store.object())?;
        }
        return Ok(left_out);
    }
    out.line(&match status.since {
        Some(since) => format!("keep is on since {}", out.minute(since)),
        None => as_called("keep is off; turn it on with `boswell keep on`"),
    })?;
    for store in &status.stores {
        show_store(store, out)?;
    }
    Ok(left_out)
}

fn show_store(store: &KeepShape, out: &mut Output) -> Result<()> {
    let days = store.deletes_after_days.map(|days| days.to_string());
    out.line(&format!(
        "{}  {} of {} up to date in the vault; the agent deletes them after {} days  {}",
        store.dialect,
        store.kept,
        count(store.sessions, "session is", "sessions are"),
        days.as_deref().unwrap_or("an unknown number of"),
        one_line(&store.root)
    ))?;
    if store.installed == Some(false) {
        out.line(&as_called(
            "  its hook or timer is missing: install it again with `boswell keep off` and `boswell keep on`",
        ))?;
    }
    for path in &store.unreadable {
        out.line(&format!(
            "  cannot be read, so nothing new in it is copied: {}",
            one_line(path)
        ))?;
    }
    for session in &store.gone {
        out.line(&as_called(&format!(
            "  deleted, but copied: {session}; restore it with `boswell restore {}`",
            shell_quote(session)
        )))?;
    }
    if !store.lost_soon.is_empty() {
        out.line(&format!(
            "  not copied and to be deleted within {DAYS_AHEAD} days: {}",
            count(store.lost_soon.len(), "session", "sessions")
        ))?;
    }
    Ok(())
}
