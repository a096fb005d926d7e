//! `projects`: folders with their sessions.

use std::collections::BTreeMap;
use std::process::ExitCode;

use boswell_model::json::Json;
use boswell_model::{Instant, Result};
use clap::Args;

use super::list::{last_active, short_path};
use crate::app::App;
use crate::output::Output;
use crate::terminal::{Style, fit, one_line};
use crate::time;
use boswell_app::list::warn_about;

/// List folders with their sessions, agents and last activity
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell projects
  boswell projects --json | head -1")]
pub(crate) struct ProjectsArgs {}

#[derive(Default)]
struct Project {
    sessions: usize,
    agents: Vec<String>,
    last_active: Option<Instant>,
    bytes: u64,
}

/// Runs the command.
pub(crate) fn run(app: &App, _args: &ProjectsArgs) -> Result<ExitCode> {
    let (conversations, rest) = app.conversations()?;
    let mut projects: BTreeMap<String, Project> = BTreeMap::new();
    for conversation in conversations
        .iter()
        .filter(|c| c.front.1.hidden().is_none())
    {
        let summary = &conversation.front.1;
        let folder = summary.meta.project.clone().unwrap_or_default();
        let project = projects.entry(folder).or_default();
        project.sessions += 1;
        project.bytes += summary.location.size;
        project.last_active = project.last_active.max(last_active(conversation));
        if !project.agents.contains(&summary.reference.dialect) {
            project.agents.push(summary.reference.dialect.clone());
        }
    }
    let mut rows: Vec<(String, Project)> = projects.into_iter().collect();
    rows.sort_by(|a, b| {
        b.1.last_active
            .cmp(&a.1.last_active)
            .then_with(|| a.0.cmp(&b.0))
    });
    rows = by_repository(rows);
    let mut out = Output::paged(app);
    for (folder, project) in &rows {
        if out.json {
            out.object(
                &Json::object()
                    .with("v", 1)
                    .with("type", "project")
                    .with("project", Some(folder.as_str()).filter(|f| !f.is_empty()))
                    .with("repository", repository(folder))
                    .with("sessions", project.sessions)
                    .with("agents", project.agents.clone())
                    .with("last_active", project.last_active.map(|t| t.to_rfc3339()))
                    .with("bytes", project.bytes),
            )?;
        } else {
            let name = if folder.is_empty() {
                "(no folder recorded)".to_owned()
            } else {
                short_path(app, folder)
            };
            let active = project
                .last_active
                .map_or_else(|| "-".to_owned(), |at| time::ago(at, app.now));
            let of = repository(folder)
                .map(|main| format!("  (of {})", one_line(&short_path(app, &main))));
            let line = format!(
                "{:>5}  {}  {}  {}{}",
                project.sessions,
                fit(&active, 10),
                fit(&project.agents.join(","), 16),
                out.paint(Style::Strong, &one_line(&name)),
                of.unwrap_or_default()
            );
            out.line(&line)?;
        }
    }
    out.finish()?;
    warn_about(app, rest);
    Ok(ExitCode::SUCCESS)
}

/// The main checkout of the repository that a folder belongs to, where that is another folder.
fn repository(folder: &str) -> Option<String> {
    let main = crate::git_repository::main_checkout(
        std::path::Path::new(folder).canonicalize().ok()?.as_path(),
    )?;
    Some(main.display().to_string()).filter(|main| main != folder)
}

/// Folders of one repository stand together, where the one that was active last stands.
fn by_repository(rows: Vec<(String, Project)>) -> Vec<(String, Project)> {
    let whole = |folder: &str| repository(folder).unwrap_or_else(|| folder.to_owned());
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut keyed: Vec<(usize, (String, Project))> = Vec::with_capacity(rows.len());
    for row in rows {
        let next = places.len();
        keyed.push((*places.entry(whole(&row.0)).or_insert(next), row));
    }
    keyed.sort_by_key(|(place, _)| *place);
    keyed.into_iter().map(|(_, row)| row).collect()
}
