//! `archive`: sessions into the vault, where they can still be read.

use std::process::ExitCode;

use boswell_app::archive::{ArchiveCandidate, ArchiveRequest, ArchivedSession};
use boswell_app::shape::Shape as _;
use boswell_model::{Instant, Result};
use clap::Args;

use crate::app::App;
use crate::confirm::{Agreed, Planned, ask};
use crate::output::Output;
use crate::terminal::{cut, one_line};
use crate::time;
use crate::words::{as_called, count};

/// Move sessions into the vault, where they stay readable
///
/// Archived sessions can be shown, searched and exported, and `boswell restore` puts them back.
/// The plan is printed first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell archive --older-than 90d --agent claude
  boswell archive 0b7e --apply && boswell restore claude:0b7e")]
pub(crate) struct ArchiveArgs {
    /// Sessions: DIALECT:ID, starts of ids, paths
    #[arg(required_unless_present = "older_than", conflicts_with = "older_than")]
    sessions: Vec<String>,
    /// Archive all sessions last active longer ago than this (90d, 2w)
    #[arg(long, value_name = "TIME")]
    older_than: Option<String>,
    /// Do it without asking; needed where there is no terminal
    #[arg(long)]
    apply: bool,
}

impl ArchiveArgs {
    fn request(&self, app: &App) -> Result<ArchiveRequest> {
        Ok(match &self.older_than {
            Some(span) => ArchiveRequest::OlderThan {
                span: time::span(span)?,
                dialect: app.agent.clone(),
            },
            None => ArchiveRequest::Named(self.sessions.clone()),
        })
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ArchiveArgs) -> Result<ExitCode> {
    let request = args.request(app)?;
    if !args.apply {
        if plan(app, &request)? == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        if let Agreed::No(code) = ask(app, false, Planned::Archive)? {
            return Ok(code);
        }
    }
    let mut out = Output::plain(app);
    let done = app
        .requests
        .archive(&request, &mut |archived| report(archived, &mut out));
    let printed = out.finish();
    app.shown(done)?;
    printed?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the plan, and returns of how many sessions it is.
fn plan(app: &App, request: &ArchiveRequest) -> Result<usize> {
    let plan = app.shown(app.requests.plan_archive(request))?;
    let mut out = Output::plain(app);
    for candidate in &plan.sessions {
        would(candidate, plan.as_of, &mut out)?;
    }
    out.finish()?;
    if !app.quiet {
        crate::error_report::say(&count(plan.sessions.len(), "session", "sessions"));
    }
    Ok(plan.sessions.len())
}

fn would(candidate: &ArchiveCandidate, now: Instant, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&candidate.step().object());
    }
    let ago = candidate.last_active.map(|at| out.ago(at, now));
    out.line(&format!(
        "would archive {}  {}  {}",
        candidate.session,
        ago.unwrap_or_default(),
        cut(&one_line(&candidate.name), 60)
    ))
}

fn report(archived: ArchivedSession, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&archived.op.object());
    }
    let session = &archived.session;
    out.line(&as_called(&format!(
        "archived {session}; restore it with `boswell restore {}`",
        session.to_argument()
    )))
}
