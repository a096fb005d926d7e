//! `clean`: old sessions into the vault.

use std::process::ExitCode;

use boswell_app::clean::{
    CleanRequest, CleanedSession, LeftoverEvent, LeftoverSummary, OldSession,
};
use boswell_app::shape::Shape as _;
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::error_report::say;
use crate::output::Output;
use crate::plan_lines::way_back;
use crate::terminal::{cut, one_line};
use crate::time;
use crate::words::{as_called, count, planned_change};

/// Delete sessions that have not been used for a long time
///
/// Pinned and active sessions stay; deleted ones go into the vault. Without --apply only the plan
/// is printed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell clean --older-than 30d
  boswell clean --older-than 90d --dialect pi --apply
  boswell clean --leftovers --dialect claude
  boswell clean --vault --apply           drop expired copies")]
pub(crate) struct CleanArgs {
    /// Delete sessions last active longer ago than this (30d, 12w)
    #[arg(long, value_name = "TIME", required_unless_present_any = ["vault", "leftovers"])]
    older_than: Option<String>,
    /// Instead drop copies from the vault that are past their `retention` setting
    #[arg(long, conflicts_with_all = ["older_than", "dialect", "leftovers"])]
    vault: bool,
    /// Instead remove files of sessions that no longer exist, and stale locks
    #[arg(long, conflicts_with = "older_than")]
    leftovers: bool,
    /// Whose sessions or leftovers
    #[arg(long, default_value = "boswell")]
    dialect: String,
    /// Do it instead of printing the plan
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
        dialect: args.dialect.clone(),
    };
    let mut out = Output::plain(app);
    if args.apply {
        let cleaned = app
            .requests
            .clean(&request, &mut |it| cleaned(it, &mut out));
        app.shown(cleaned)?;
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    let planned = app
        .requests
        .plan_clean(&request, &mut |it| old(it, &mut out));
    // What could not be read is reported after the plan.
    let notices = match planned {
        Err(refusal) => return app.shown(Err(refusal)),
        Ok(answer) => {
            out.finish()?;
            if !app.quiet {
                let sessions = count(answer.value, "session", "sessions");
                say(&format!("{sessions}; add `--apply` to delete"));
            }
            answer.notices
        }
    };
    app.show(notices);
    Ok(ExitCode::SUCCESS)
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
    let step = app.shown(if apply {
        app.requests.clean_vault()
    } else {
        app.requests.plan_clean_vault()
    })?;
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
    out.finish()?;
    if !apply && !app.quiet {
        say(
            "add `--apply` to do it; the settings under `retention` say how long copies are kept: see `boswell config`",
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Removes leftovers.
fn leftovers(app: &App, args: &CleanArgs) -> Result<ExitCode> {
    let mut out = Output::plain(app);
    let mut sink = |event| leftover(event, &mut out);
    let found = app.shown(if args.apply {
        app.requests.clean_leftovers(&args.dialect, &mut sink)
    } else {
        app.requests.plan_clean_leftovers(&args.dialect, &mut sink)
    })?;
    if found.count == 0 && !out.json {
        out.line("no leftovers found")?;
    }
    out.finish()?;
    if found.count > 0 && !app.quiet {
        say(&next(&found, args.apply));
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

fn next(found: &LeftoverSummary, apply: bool) -> String {
    match (apply, found.operations.is_empty()) {
        (true, false) => way_back(&found.operations),
        (true, true) => "removed locks cannot be restored".to_owned(),
        (false, _) => {
            "add `--apply` to move the files into the vault and remove the locks".to_owned()
        }
    }
}
