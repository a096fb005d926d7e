//! `projects`: folders with their sessions.

use std::collections::BTreeMap;
use std::process::ExitCode;

use boswell_model::json::Json;
use boswell_model::{Instant, Result};
use clap::Args;

use super::list::{last_active, short_path, warn_about};
use crate::machine::Machine;
use crate::output::Output;
use crate::terminal::{Style, fit, one_line};
use crate::when;

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
pub(crate) fn run(machine: &Machine, _args: &ProjectsArgs) -> Result<ExitCode> {
    let (conversations, rest) = machine.conversations()?;
    let mut projects: BTreeMap<String, Project> = BTreeMap::new();
    for conversation in conversations.iter().filter(|c| c.front.1.hidden().is_none()) {
        let summary = &conversation.front.1;
        let folder = summary.facts.project.clone().unwrap_or_default();
        let project = projects.entry(folder).or_default();
        project.sessions += 1;
        project.bytes += summary.located.size;
        project.last_active = project.last_active.max(last_active(conversation));
        if !project.agents.contains(&summary.reference.dialect) {
            project.agents.push(summary.reference.dialect.clone());
        }
    }
    let mut rows: Vec<(String, Project)> = projects.into_iter().collect();
    rows.sort_by(|a, b| b.1.last_active.cmp(&a.1.last_active).then_with(|| a.0.cmp(&b.0)));
    let mut out = Output::paged(machine);
    for (folder, project) in &rows {
        if out.json {
            out.object(
                &Json::object()
                    .with("v", 1)
                    .with("type", "project")
                    .with("project", Some(folder.as_str()).filter(|f| !f.is_empty()))
                    .with("sessions", project.sessions)
                    .with("agents", project.agents.clone())
                    .with("last_active", project.last_active.map(|t| t.to_rfc3339()))
                    .with("bytes", project.bytes),
            )?;
        } else {
            let name = if folder.is_empty() { "(no folder recorded)".to_owned() } else { short_path(machine, folder) };
            let active = project.last_active.map_or_else(|| "-".to_owned(), |at| when::ago(at, machine.now));
            let line = format!(
                "{:>5}  {}  {}  {}",
                project.sessions,
                fit(&active, 10),
                fit(&project.agents.join(","), 16),
                out.paint(Style::Strong, &one_line(&name))
            );
            out.line(&line)?;
        }
    }
    out.finish()?;
    warn_about(machine, &rest);
    Ok(ExitCode::SUCCESS)
}
