//! `clean`: old sessions into the vault.

use std::process::ExitCode;

use boswell_app::clean::{
    CleanRequest, CleanedSession, LeftoverEvent, LeftoverSummary, OldSession, VaultStep,
};
use boswell_app::shape::Shape as _;
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::confirm::{Agreed, Planned, ask};
use crate::error_report::say;
use crate::output::Output;
use crate::plan_lines::way_back;
use crate::terminal::{cut, one_line};
use crate::time;
use crate::words::{as_called, count, planned_change};

/// Delete sessions that have not been used for a long time
///
/// Boswell's own sessions, or those of --agent. Pinned and active ones stay; deleted ones go into
/// the vault. The plan is printed first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell clean --older-than 30d
  boswell clean --older-than 90d --agent pi --apply
  boswell clean --leftovers --agent claude
  boswell clean --vault --apply           drop expired copies")]
pub(crate) struct CleanArgs {
    /// Delete sessions last active longer ago than this (30d, 12w)
    #[arg(long, value_name = "TIME", required_unless_present_any = ["vault", "leftovers"])]
    older_than: Option<String>,
    /// Instead drop copies from the vault that are past their `retention` setting
    #[arg(long, conflicts_with_all = ["older_than", "leftovers"])]
    vault: bool,
    /// Instead remove files of sessions that no longer exist, and stale locks
    #[arg(long, conflicts_with = "older_than")]
    leftovers: bool,
    /// Do it without asking; needed where there is no terminal
    #[arg(long)]
    apply: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &CleanArgs) -> Result<ExitCode> {
    if args.leftovers {
        return leftovers(app, args);
    }
    let Some(older_than) = args.older_than.as_ref().filter(|_| !args.vault) else {
        return vault(app, args.apply);
    };
    let request = CleanRequest {
        older_than: time::span(older_than)?,
        dialect: dialect(app),
    };
    if !args.apply {
        if plan(app, &request)? == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        if let Agreed::No(code) = ask(app, false, Planned::Delete)? {
            return Ok(code);
        }
    }
    let mut out = Output::plain(app);
    let cleaned = app
        .requests
        .clean(&request, &mut |it| cleaned(it, &mut out));
    app.shown(cleaned)?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Boswell's own sessions, unless another agent is named: its agent may clean up by itself.
fn dialect(app: &App) -> String {
    app.agent.clone().unwrap_or_else(|| "boswell".to_owned())
}

/// Prints the sessions that would be deleted, and returns how many they are.
fn plan(app: &App, request: &CleanRequest) -> Result<usize> {
    let mut out = Output::plain(app);
    let planned = app
        .requests
        .plan_clean(request, &mut |it| old(it, &mut out));
    // What could not be read is reported after the plan.
    let answer = match planned {
        Err(refusal) => return app.shown(Err(refusal)),
        Ok(answer) => answer,
    };
    out.finish()?;
    if !app.quiet {
        say(&count(answer.value, "session", "sessions"));
    }
    app.show(answer.notices);
    Ok(answer.value)
}

/// Prints a session that would be moved.
fn old(it: OldSession, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&it.step.object());
    }
    let active = it.step.last_active;
    let ago = active.map(|at| out.ago(at, it.as_of)).unwrap_or_default();
    out.line(&format!(
        "{} {}  {ago}  {}",
        it.step.done,
        it.step.session,
        cut(&one_line(&it.name), 60)
    ))
}

/// Acknowledges a session that was moved.
fn cleaned(it: CleanedSession, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&it.operation.object());
    }
    out.line(&as_called(&format!(
        "deleted {}; restore it with `boswell restore {}`",
        it.reference,
        it.reference.to_argument()
    )))
}

/// Drops copies that were kept long enough.
fn vault(app: &App, apply: bool) -> Result<ExitCode> {
    if !apply {
        let step = app.shown(app.requests.plan_clean_vault())?;
        let is_empty = step.records == 0;
        print_copies(app, step)?;
        if is_empty {
            return Ok(ExitCode::SUCCESS);
        }
        if !app.quiet {
            say(
                "the settings under `retention` say how long copies are kept: see `boswell config`",
            );
        }
        if let Agreed::No(code) = ask(app, false, Planned::DropCopies)? {
            return Ok(code);
        }
    }
    print_copies(app, app.shown(app.requests.clean_vault())?)?;
    Ok(ExitCode::SUCCESS)
}

fn print_copies(app: &App, step: VaultStep) -> Result<()> {
    let mut out = Output::plain(app);
    if out.json {
        out.object(&step.object())?;
    } else {
        out.line(&format!(
            "{} {} of changed and deleted files",
            step.done,
            count(step.records, "copy", "copies")
        ))?;
    }
    out.finish()
}

/// Removes leftovers.
fn leftovers(app: &App, args: &CleanArgs) -> Result<ExitCode> {
    let dialect = dialect(app);
    if !args.apply {
        let mut out = Output::plain(app);
        let mut sink = |event| leftover(event, &mut out);
        let found = app.shown(app.requests.plan_clean_leftovers(&dialect, &mut sink))?;
        if found.count == 0 && !out.json {
            out.line("no leftovers found")?;
        }
        out.finish()?;
        if found.count == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        if let Agreed::No(code) = ask(app, false, Planned::ClearLeftovers)? {
            return Ok(code);
        }
    }
    let mut out = Output::plain(app);
    let mut sink = |event| leftover(event, &mut out);
    let found = app.shown(app.requests.clean_leftovers(&dialect, &mut sink))?;
    if found.count == 0 && !out.json {
        out.line("no leftovers found")?;
    }
    out.finish()?;
    if found.count > 0 && !app.quiet {
        say(&next(&found));
    }
    Ok(ExitCode::SUCCESS)
}

fn leftover(event: LeftoverEvent, out: &mut Output) -> Result<()> {
    match event {
        LeftoverEvent::Plan(plan) => planned_change::show(plan, out),
        LeftoverEvent::Cleared(done) if out.json => out.object(&done.operation.object()),
        LeftoverEvent::Cleared(done) => out.line(&format!(
            "{}: {} ({})",
            done.dialect,
            one_line(&done.title),
            count(done.files, "file", "files")
        )),
        LeftoverEvent::Lock(lock) if out.json => out.object(&lock.object()),
        LeftoverEvent::Lock(lock) => {
            out.line(&format!("{} the lock {}", lock.done, one_line(&lock.path)))
        }
    }
}

fn next(found: &LeftoverSummary) -> String {
    match found.operations.is_empty() {
        false => way_back(&found.operations),
        true => "removed locks cannot be restored".to_owned(),
    }
}
