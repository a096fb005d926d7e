//! `delete` and `restore`: through the vault.

use std::process::ExitCode;

use boswell_app::delete::{DeleteRequest, RemovedSession, RestoreRequest, RestoredSession};
use boswell_app::shape::Shape as _;
use boswell_model::{Result, SessionRef};
use clap::Args;

use super::purge;
use crate::app::App;
use crate::confirm::{Agreed, Planned, ask};
use crate::error_report::say;
use crate::output::Output;
use crate::plan_lines;
use crate::words::{as_called, count};

/// Delete sessions; the vault keeps a copy unless --purge
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell delete 0b7e             show what would be removed, and ask
  boswell delete 0b7e --apply && boswell restore boswell:0b7e
  boswell delete 0b7e --purge --apply")]
pub(crate) struct DeleteArgs {
    /// Sessions: DIALECT:ID, starts of ids, paths
    #[arg(required = true)]
    sessions: Vec<String>,
    /// Keep no copy, and remove every trace
    #[arg(long)]
    purge: bool,
    /// Do it without asking; needed where there is no terminal
    #[arg(long)]
    apply: bool,
}

/// Restore deleted or archived sessions
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell restore boswell:0b7e
  boswell restore claude:0b7e   deleted by its agent, but copied by `keep`
  boswell ops                   what was deleted, and when")]
pub(crate) struct RestoreArgs {
    /// Refs DIALECT:ID; the start of the id is enough
    #[arg(required = true)]
    refs: Vec<String>,
}

/// Runs `delete`.
pub(crate) fn run(app: &App, args: &DeleteArgs) -> Result<ExitCode> {
    if args.purge {
        return purge::run(app, &args.sessions, args.apply);
    }
    let request = DeleteRequest {
        sessions: args.sessions.clone(),
    };
    if !args.apply {
        plan(app, &request)?;
        if let Agreed::No(code) = ask(app, false, Planned::Delete)? {
            return Ok(code);
        }
    }
    let mut out = Output::plain(app);
    let done = app.requests.delete(&request, &mut |deleted| {
        let staying = deleted.staying.clone();
        report(deleted, &mut out)?;
        say_staying(app, &staying);
        Ok(())
    });
    let printed = out.finish();
    app.shown(done)?;
    printed?;
    Ok(ExitCode::SUCCESS)
}

fn plan(app: &App, request: &DeleteRequest) -> Result<()> {
    let mut out = Output::plain(app);
    let planned = app.requests.plan_delete(request, &mut |plan| {
        plan_lines::removal(&mut out, plan.removal)?;
        say_staying(app, &plan.staying);
        Ok(())
    });
    let printed = out.finish();
    app.shown(planned)?;
    printed
}

fn say_staying(app: &App, transcripts: &[SessionRef]) {
    for other in transcripts.iter().filter(|_| !app.quiet) {
        say(&format!(
            "its transcript {other} stays, because its agent resumes from it; delete it with `boswell delete {}`",
            other.to_argument()
        ));
    }
}

/// Acknowledges a session that was deleted.
pub(crate) fn report(deleted: RemovedSession, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&deleted.op.object());
    }
    let session = &deleted.session;
    out.line(&as_called(&format!(
        "deleted {session}; restore it with `boswell restore {}`",
        session.to_argument()
    )))
}

/// Runs `restore`.
pub(crate) fn restore(app: &App, args: &RestoreArgs) -> Result<ExitCode> {
    let request = RestoreRequest {
        refs: args.refs.clone(),
    };
    let mut out = Output::plain(app);
    let done = app
        .requests
        .restore(&request, &mut |restored| put_back(app, restored, &mut out));
    let printed = out.finish();
    app.shown(done)?;
    printed?;
    Ok(ExitCode::SUCCESS)
}

fn put_back(app: &App, restored: RestoredSession, out: &mut Output) -> Result<()> {
    if out.json {
        out.object(&restored.op.object())?;
    } else {
        out.line(&format!("restored {}", restored.session))?;
    }
    if restored.renewed > 0 && !app.quiet {
        say(&format!(
            "{} dated today, because their agent would soon delete them again for their age",
            count(restored.renewed, "file is", "files are")
        ));
    }
    Ok(())
}
