//! `today`: what was done since a time, by project.

use std::process::ExitCode;

use boswell_app::list::SessionFilter;
use boswell_app::outline::FailureShape;
use boswell_app::shape::Shape as _;
use boswell_app::today::{TodayPrompt, TodayRequest, TodayShape};
use boswell_app::{Cancel, CommitShape};
use boswell_model::Result;
use clap::Args;

use super::host_args::HostArgs;
use super::other_hosts::Elsewhere;
use crate::app::App;
use crate::error_report;
use crate::output::Output;
use crate::terminal::one_line;
use crate::words::digest::{file_line, short_line};
use crate::words::{count, short_path};

/// Show what was done today, by project, as Markdown
///
/// Prompts, changed files, commands that failed last, your commits, and cost. All text is that of
/// sessions and commits, without keys and passwords.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell today
  boswell today --since yesterday --until today
  boswell today --since 7d --here > week.md")]
pub(crate) struct TodayArgs {
    /// Since when (2026-01-31, 7d, yesterday) [default: today]
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Before when [default: now]
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// Only sessions of this project folder and those below it
    #[arg(long, value_name = "DIR")]
    project: Option<String>,
    /// Only sessions of the current folder and those below it
    #[arg(long)]
    here: bool,
    #[command(flatten)]
    host: HostArgs,
}

impl TodayArgs {
    /// Where it is to run.
    pub(crate) fn elsewhere(&self) -> Elsewhere<'_> {
        Elsewhere::of(&self.host)
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &TodayArgs) -> Result<ExitCode> {
    let request = TodayRequest {
        since: args.since.clone(),
        until: args.until.clone(),
        filter: SessionFilter {
            agent: app.agent.clone(),
            project: args.project.clone(),
            here: args.here,
            ..SessionFilter::default()
        },
    };
    let projects = app.shown(app.requests.today(&request, &Cancel::new()))?;
    let is_empty = projects.is_empty();
    let mut out = Output::paged(app);
    for (place, project) in projects.into_iter().enumerate() {
        if out.json {
            out.object(&project.object())?;
            continue;
        }
        if place > 0 {
            out.line("")?;
        }
        print(app, &project, &mut out)?;
    }
    out.finish()?;
    if is_empty && !app.quiet && !app.json {
        error_report::say("no session was active in that time");
    }
    Ok(if is_empty {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

fn print(app: &App, today: &TodayShape, out: &mut Output) -> Result<()> {
    let name = match &today.project {
        Some(project) => short_path(app, project),
        None => "(no folder recorded)".to_owned(),
    };
    out.line(&format!("## {}", one_line(&name)))?;
    out.line(&about(today, out))?;
    let prompt = |it: &TodayPrompt| format!("- {}", short_line(&it.text));
    section("Asked", today.prompts.iter().map(prompt), out)?;
    let file = |it| file_line(it, today.project.as_deref());
    section("Changed", today.files.iter().map(file), out)?;
    section("Failed last", today.failures.iter().map(failure), out)?;
    let commits = today.commits.iter().flatten();
    section("Committed", commits.map(commit), out)
}

fn about(today: &TodayShape, out: &Output) -> String {
    let mut words = vec![
        format!("{} – {}", out.minute(today.since), out.minute(today.until)),
        count(today.sessions.len(), "session", "sessions"),
        count(today.prompts.len(), "prompt", "prompts"),
    ];
    words.extend(today.cost_usd.map(|cost| format!("${cost:.2}")));
    words.join(" · ")
}

fn section(title: &str, lines: impl Iterator<Item = String>, out: &mut Output) -> Result<()> {
    let mut lines = lines.peekable();
    if lines.peek().is_none() {
        return Ok(());
    }
    out.line("")?;
    out.line(&format!("### {title}"))?;
    lines.try_for_each(|line| out.line(&line))
}

fn failure(failure: &FailureShape) -> String {
    let (subject, said) = (short_line(&failure.subject), short_line(&failure.said));
    format!("- {subject}: {said}")
}

fn commit(commit: &CommitShape) -> String {
    format!("- {} {}", one_line(&commit.id), short_line(&commit.subject))
}
