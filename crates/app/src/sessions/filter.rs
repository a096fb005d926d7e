//! Session filters: the options that `list`, `search` and `stats` share.
//!
//! These are `--agent`, `--project`, `--here`, `--status`, `--tag`, `--branch`, `--model`,
//! `--since` and `--until`; `prompts` has them too.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use boswell_find::{ConversationSide, FilterKeys};
use boswell_model::{Instant, Result};
use boswell_store::links::Conversation;
use boswell_store::store::Summary;

use crate::RequestContext;
use crate::hosts::HostRow;
use crate::sessions::misspelt::{misspelt, nearest};
use crate::time;

/// Selects sessions. A member that is not set selects all.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter {
    /// Only this agent or dialect.
    pub agent: Option<String>,
    /// Only sessions in this folder, below it or in a worktree of it.
    pub project: Option<String>,
    /// As `project`, for the current folder.
    pub here: bool,
    /// Only sessions with this status.
    pub status: Option<String>,
    /// Only sessions with this tag.
    pub tag: Option<String>,
    /// Only sessions on this branch of the project's repository.
    pub branch: Option<String>,
    /// Only sessions that used a model whose name contains this.
    pub model: Option<String>,
    /// Only sessions active since this time: `2026-01-31`, `12h`, `7d`.
    pub since: Option<String>,
    /// Only sessions active before this time.
    pub until: Option<String>,
}

/// The columns that filters compare, except the time.
pub(crate) struct Side<'s> {
    dialect: &'s str,
    agent: Option<&'s str>,
    project: Option<&'s str>,
    status: Option<&'s str>,
    branch: Option<&'s str>,
    tags: &'s [String],
    models: &'s [String],
}

impl<'s> Side<'s> {
    pub(crate) fn of(summary: &'s Summary) -> Side<'s> {
        let meta = &summary.meta;
        Side {
            dialect: &summary.reference.dialect,
            agent: meta.agent.as_deref(),
            project: meta.project.as_deref(),
            status: meta.status.as_deref(),
            branch: meta.git_branch.as_deref(),
            tags: &meta.tags,
            models: &meta.models,
        }
    }

    /// Returns the columns of a conversation row, with its current status.
    pub(crate) fn known(side: &'s ConversationSide, status: Option<&'s str>) -> Side<'s> {
        Side {
            dialect: &side.reference.dialect,
            agent: side.agent.as_deref(),
            project: side.project.as_deref(),
            status,
            branch: side.git_branch.as_deref(),
            tags: &side.tags,
            models: &side.models,
        }
    }

    /// Returns the columns of a session of a host.
    pub(crate) fn there(row: &'s HostRow) -> Side<'s> {
        Side {
            dialect: &row.reference.dialect,
            agent: row.agent.as_deref(),
            project: row.project.as_deref(),
            status: row.status.as_deref(),
            branch: row.branch.as_deref(),
            tags: &row.tags,
            models: &row.models,
        }
    }

    /// Returns the columns of a session about which only its log has data.
    pub(crate) fn alone(dialect: &'s str, filter_keys: &'s FilterKeys) -> Side<'s> {
        Side {
            dialect,
            agent: filter_keys.agent.as_deref(),
            project: filter_keys.project.as_deref(),
            status: filter_keys.status.as_deref(),
            branch: filter_keys.git_branch.as_deref(),
            tags: &filter_keys.tags,
            models: &filter_keys.models,
        }
    }
}

/// Refuses the name of an agent that is almost one that boswell knows. Sessions may state other
/// agents, so that a name that resembles none may be right.
fn known_agent(name: &str) -> Result<()> {
    let lower = name.to_lowercase();
    let known: BTreeSet<&str> = boswell_dialect::all()
        .iter()
        .flat_map(|dialect| [dialect.name(), dialect.facts().agent])
        .collect();
    if known.contains(lower.as_str()) {
        return Ok(());
    }
    match nearest(&lower, known.iter().copied()) {
        None => Ok(()),
        Some(near) => Err(misspelt("agent", name, near)),
    }
}

/// A filter with its folder and times resolved.
pub(crate) struct Filter<'a> {
    args: &'a SessionFilter,
    project: Option<String>,
    /// Cache of whether a folder is part of the project: many sessions share one.
    folders: RefCell<HashMap<String, bool>>,
    pub(crate) since: Option<Instant>,
    pub(crate) until: Option<Instant>,
}

impl<'a> Filter<'a> {
    pub(crate) fn new(cx: &RequestContext, args: &'a SessionFilter) -> Result<Filter<'a>> {
        let time = |text: &Option<String>| {
            text.as_deref()
                .map(|t| time::parse(t, cx.now, &cx.zone))
                .transpose()
        };
        if let Some(agent) = &args.agent {
            known_agent(agent)?;
        }
        let project = match (&args.project, args.here) {
            (Some(project), _) => Some(absolute(&cx.env.cwd, project)),
            (None, true) => Some(cx.env.cwd.display().to_string()),
            (None, false) => None,
        };
        let (since, until) = (time(&args.since)?, time(&args.until)?);
        Ok(Filter {
            args,
            project,
            folders: RefCell::default(),
            since,
            until,
        })
    }

    /// Whether every session is selected, regardless of its time.
    pub(crate) fn takes_all(&self) -> bool {
        let SessionFilter {
            agent,
            status,
            tag,
            branch,
            model,
            ..
        } = self.args;
        self.project.is_none()
            && [agent, status, tag, branch, model]
                .iter()
                .all(|it| it.is_none())
    }

    /// Whether every session is selected.
    pub(crate) fn takes_everything(&self) -> bool {
        self.takes_all() && self.since.is_none() && self.until.is_none()
    }

    /// Whether a time is selected.
    pub(crate) fn takes_time(&self, at: Option<Instant>) -> bool {
        self.since
            .is_none_or(|since| at.is_some_and(|at| at >= since))
            && self
                .until
                .is_none_or(|until| at.is_some_and(|at| at < until))
    }

    /// Whether the filter needs the status, which the log alone does not contain.
    pub(crate) fn asks_status(&self) -> bool {
        self.args.status.is_some()
    }

    /// Whether a session is selected, regardless of its time.
    pub(crate) fn takes_side(&self, side: &Side<'_>) -> bool {
        let args = self.args;
        let is = |want: &Option<String>, have: Option<&str>| {
            want.as_deref().is_none_or(|want| have == Some(want))
        };
        args.agent
            .as_deref()
            .is_none_or(|agent| side.dialect == agent || side.agent == Some(agent))
            && self
                .project
                .as_deref()
                .is_none_or(|project| side.project.is_some_and(|it| self.is_part(it, project)))
            && is(&args.status, side.status)
            && is(&args.branch, side.branch)
            && args.tag.as_ref().is_none_or(|tag| side.tags.contains(tag))
            && args
                .model
                .as_deref()
                .is_none_or(|model| side.models.iter().any(|m| m.contains(model)))
    }

    /// Whether a folder is the project, is below it or is a worktree of it, for which the disk is
    /// read.
    fn is_part(&self, folder: &str, project: &str) -> bool {
        if let Some(known) = self.folders.borrow().get(folder) {
            return *known;
        }
        let is = is_within(folder, project);
        self.folders.borrow_mut().insert(folder.to_owned(), is);
        is
    }

    /// Whether a conversation is selected.
    pub(crate) fn takes(&self, conversation: &Conversation) -> bool {
        self.takes_time(crate::sessions::list::last_active(conversation))
            && crate::sessions::list::sides(conversation)
                .any(|side| self.takes_side(&Side::of(side)))
    }

    /// Whether a prompt of an agent's prompt history is selected. A history does not say status,
    /// branch, tags or model; prompts with these are found in their sessions.
    pub(crate) fn takes_prompt(&self, agent: &str, project: Option<&str>) -> bool {
        let args = self.args;
        let of_sessions = args.status.is_some()
            || args.branch.is_some()
            || args.tag.is_some()
            || args.model.is_some();
        !of_sessions
            && args.agent.as_deref().is_none_or(|wanted| wanted == agent)
            && self
                .project
                .as_deref()
                .is_none_or(|folder| project.is_some_and(|p| is_below(p, folder)))
    }

    /// Whether memory of a project, stored by an agent under that key, is selected.
    pub(crate) fn takes_memory(&self, dialect: &str, project_key: &str) -> bool {
        let args = self.args;
        let of_sessions = args.status.is_some()
            || args.branch.is_some()
            || args.tag.is_some()
            || args.model.is_some();
        let key = self
            .project
            .as_deref()
            .map(boswell_dialect::claude::project_key);
        !of_sessions
            && args.agent.as_deref().is_none_or(|agent| agent == dialect)
            && key.is_none_or(|key| key == project_key)
    }
}

fn absolute(cwd: &Path, typed: &str) -> String {
    let path = cwd.join(typed);
    path.canonicalize().unwrap_or(path).display().to_string()
}

/// Whether a folder is the project, is below it or is a worktree of it.
pub(crate) fn is_within(folder: &str, project: &str) -> bool {
    is_below(folder, project) || is_worktree(folder, project)
}

fn is_below(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path == folder
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a folder is a worktree of the repository whose main checkout is `project`.
fn is_worktree(folder: &str, project: &str) -> bool {
    crate::git_repository::main_checkout(std::path::Path::new(folder))
        .is_some_and(|main| main == std::path::Path::new(project))
}
