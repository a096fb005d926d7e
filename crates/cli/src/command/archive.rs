//! `archive`: sessions into the vault, where they can still be read.

use std::process::ExitCode;

use boswell_app::archive::{ArchiveCandidate, ArchiveRequest, ArchivedSession};
use boswell_app::shape::Shape as _;
use boswell_model::{Instant, Result};
use clap::Args;

use crate::app::App;
use crate::output::Output;
use crate::terminal::{cut, one_line};
use crate::time;
use crate::words::{as_called, count};

/// Move sessions into the vault, where they stay readable
///
/// Archived sessions can be shown, searched and exported, and `boswell restore` puts them back.
/// Without --apply only the plan is printed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell archive --older-than 90d --dialect claude
  boswell archive 0b7e --apply && boswell restore claude:0b7e")]
pub(crate) struct ArchiveArgs {
    /// Sessions: DIALECT:ID, starts of ids, paths
    #[arg(required_unless_present = "older_than", conflicts_with = "older_than")]
    sessions: Vec<String>,
    /// Archive all sessions last active longer ago than this (90d, 2w)
    #[arg(long, value_name = "TIME")]
    older_than: Option<String>,
    /// With --older-than: only sessions of this dialect
    #[arg(long, requires = "older_than")]
    dialect: Option<String>,
    /// Do it instead of printing the plan
    #[arg(long)]
    apply: bool,
}

impl ArchiveArgs {
    fn request(&self) -> Result<ArchiveRequest> {
        Ok(match &self.older_than {
            Some(span) => ArchiveRequest::OlderThan {
                span: time::span(span)?,
                dialect: self.dialect.clone(),
            },
            None => ArchiveRequest::Named(self.sessions.clone()),
        })
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ArchiveArgs) -> Result<ExitCode> {
    let request = args.request()?;
    if !args.apply {
        return plan(app, &request);
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

fn plan(app: &App, request: &ArchiveRequest) -> Result<ExitCode> {
    let plan = app.shown(app.requests.plan_archive(request))?;
    let mut out = Output::plain(app);
    for candidate in &plan.sessions {
        would(candidate, plan.as_of, &mut out)?;
    }
    out.finish()?;
    if !app.quiet {
        crate::error_report::say(&format!(
            "{}; add `--apply` to archive",
            count(plan.sessions.len(), "session", "sessions")
        ));
    }
    Ok(ExitCode::SUCCESS)
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
