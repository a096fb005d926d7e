//! `projects`: folders with their sessions.

use std::process::ExitCode;

use boswell_app::projects::ProjectShape;
use boswell_app::shape::Shape as _;
use boswell_model::{Instant, Result};
use clap::Args;

use super::host_args::HostArgs;
use super::other_hosts::Elsewhere;
use crate::app::App;
use crate::output::Output;
use crate::terminal::{Style, columns, fit, one_line};
use crate::words::short_path;
use crate::words::table::cut_left;

/// List project folders with their sessions and agents
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell projects
  boswell projects --json | head -1")]
pub(crate) struct ProjectsArgs {
    #[command(flatten)]
    host: HostArgs,
}

impl ProjectsArgs {
    /// Where it is to run.
    pub(crate) fn elsewhere(&self) -> Elsewhere<'_> {
        Elsewhere::of(&self.host)
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, _args: &ProjectsArgs) -> Result<ExitCode> {
    let list = app.shown(app.requests.projects())?;
    let mut out = Output::paged(app);
    for project in list.projects {
        if out.json {
            out.object(&project.object())?;
        } else {
            out.line(&line(app, &project, list.as_of, &out))?;
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn line(app: &App, project: &ProjectShape, now: Instant, out: &Output) -> String {
    let name = match &project.project {
        Some(folder) => short_path(app, folder),
        None => "(no folder recorded)".to_owned(),
    };
    let active = project
        .last_active
        .map_or_else(|| "-".to_owned(), |at| out.ago(at, now));
    let repository = project.repository.as_ref();
    let of = repository.map(|main| format!("  (worktree of {})", one_line(&short_path(app, main))));
    let of = of.unwrap_or_default();
    let room = app
        .width
        .saturating_sub(5 + 2 + 10 + 2 + 16 + 2 + columns(&of))
        .max(12);
    format!(
        "{:>5}  {}  {}  {}{}",
        project.sessions,
        fit(&active, 10),
        fit(&project.agents.join(","), 16),
        out.paint(Style::Strong, &cut_left(&one_line(&name), room)),
        of
    )
}
