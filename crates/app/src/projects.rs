//! Lists project folders, with their sessions.
//!
//! A git worktree is shown with the main checkout of its repository.

use std::collections::BTreeMap;
use std::path::Path;

use boswell_model::{Instant, Result};

use crate::list::warn_about;
use crate::sessions::list::last_active;
use crate::shape::shape;
use crate::{App, AppResult, RequestContext, git_repository};

shape! {
    /// A project folder.
    ProjectShape: "project" {
        /// the folder; `null` for sessions that name none
        project: Option<String>,
        /// for a worktree: the main checkout
        repository: Option<String>,
        /// how many sessions it has
        sessions: usize,
        /// dialects of these sessions
        agents: Vec<String>,
        /// time of the last entry of these sessions
        last_active: Option<Instant>,
        /// size of their logs
        bytes: u64,
    }
}

/// Project folders, last active first.
#[derive(Debug)]
pub struct ProjectList {
    /// The folders in order; those of one repository are adjacent.
    pub projects: Vec<ProjectShape>,
    /// Time of the list.
    pub as_of: Instant,
}

impl App {
    /// Lists folders with their sessions, agents and last activity.
    ///
    /// # Errors
    ///
    /// Any error of reading notes or catalog.
    pub fn projects(&self) -> AppResult<ProjectList> {
        self.answer(projects)
    }
}

fn projects(cx: &RequestContext) -> Result<ProjectList> {
    let (conversations, rest) = cx.conversations()?;
    let mut projects: BTreeMap<String, ProjectShape> = BTreeMap::new();
    for conversation in conversations
        .iter()
        .filter(|c| c.front.1.hidden().is_none())
    {
        let summary = &conversation.front.1;
        let folder = summary.meta.project.clone().unwrap_or_default();
        let project = projects
            .entry(folder)
            .or_insert_with_key(|folder| empty(folder));
        project.sessions += 1;
        project.bytes += summary.location.size;
        project.last_active = project.last_active.max(last_active(conversation));
        if !project.agents.contains(&summary.reference.dialect) {
            project.agents.push(summary.reference.dialect.clone());
        }
    }
    let mut rows: Vec<ProjectShape> = projects.into_values().collect();
    // Rows are sorted by folder before, which breaks ties.
    rows.sort_by_key(|row| std::cmp::Reverse(row.last_active));
    warn_about(cx, rest);
    Ok(ProjectList {
        projects: by_repository(rows),
        as_of: cx.now,
    })
}

fn empty(folder: &str) -> ProjectShape {
    ProjectShape {
        project: Some(folder.to_owned()).filter(|folder| !folder.is_empty()),
        repository: repository(folder),
        sessions: 0,
        agents: Vec::new(),
        last_active: None,
        bytes: 0,
    }
}

/// Returns the main checkout of a folder's repository, if that is another folder.
fn repository(folder: &str) -> Option<String> {
    let main = git_repository::main_checkout(Path::new(folder).canonicalize().ok()?.as_path())?;
    Some(main.display().to_string()).filter(|main| main != folder)
}

/// Moves folders of one repository next to the one that was active last.
fn by_repository(rows: Vec<ProjectShape>) -> Vec<ProjectShape> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut keyed: Vec<(usize, ProjectShape)> = Vec::with_capacity(rows.len());
    for row in rows {
        let next = places.len();
        let whole = row.repository.as_ref().or(row.project.as_ref());
        let place = places.entry(whole.cloned().unwrap_or_default());
        keyed.push((*place.or_insert(next), row));
    }
    keyed.sort_by_key(|(place, _)| *place);
    keyed.into_iter().map(|(_, row)| row).collect()
}
