//! What this server may show: the options of the user, and the session that asks.

use boswell_app::App;
use boswell_app::list::SessionFilter;
use boswell_app::reach::{Reach, ReachableSession};
use boswell_model::{Error, ErrorKind, Result};

use crate::arguments::{Arguments, wrong};

/// The options of an MCP server.
#[derive(Debug, Clone, Default)]
pub struct McpOptions {
    /// Only sessions of the folder that it was started in.
    pub only_here: bool,
    /// Whether notes and tags may be added.
    pub write: bool,
    /// Processes that may be the asking agent: those that started the server.
    pub askers: Vec<u32>,
}

/// What may be shown to the asking agent.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    pub(crate) app: App,
    pub(crate) reach: Reach,
    askers: Vec<u32>,
}

impl Scope {
    pub(crate) fn new(app: App, options: &McpOptions) -> Scope {
        Scope {
            app,
            reach: match options.only_here {
                true => Reach::CurrentFolder,
                false => Reach::EveryProject,
            },
            askers: options.askers.clone(),
        }
    }

    /// Whether only the current folder is shown.
    pub(crate) fn is_only_here(&self) -> bool {
        self.reach == Reach::CurrentFolder
    }

    /// Returns the refs of sessions that the asking agent has open now: an agent that asks would
    /// find its own question.
    pub(crate) fn asking(&self) -> Vec<String> {
        if self.askers.is_empty() {
            return Vec::new();
        }
        let found = self.app.sessions_of_processes(&self.askers);
        let found = found.map(|answer| answer.value).unwrap_or_default();
        found.iter().map(ToString::to_string).collect()
    }

    /// Returns the sessions that a call leaves out: those of the asking agent, and the one that it
    /// names with `exclude`, as agents do that ask over HTTP.
    pub(crate) fn left_out(&self, arguments: &Arguments) -> Result<Vec<String>> {
        let mut left_out = self.asking();
        if let Some(name) = arguments.text("exclude")? {
            // A name that means no session leaves nothing out, as one that is out of reach must.
            let found = self.app.reachable_session(&name, self.reach);
            left_out.extend(found.map(|it| it.value.reference.to_string()));
        }
        Ok(left_out)
    }

    /// Finds a session that the agent names.
    ///
    /// # Errors
    ///
    /// NotFound if there is none that may be shown; Invalid if several match. The texts contain
    /// nothing of a session.
    pub(crate) fn session(&self, name: &str) -> Result<ReachableSession> {
        let found = self.app.reachable_session(name, self.reach);
        let found = found.map(|answer| answer.value);
        let found = found.map_err(|refusal| match refusal.error.kind() {
            ErrorKind::NotFound => {
                let what = "there is no such session; list_sessions and search_sessions name them";
                Error::new(ErrorKind::NotFound, what)
            }
            ErrorKind::Invalid => {
                wrong("this does not name one session; give its ref, DIALECT:ID, or more of its id")
            }
            kind => Error::new(kind, "the session cannot be read now"),
        })?;
        if self.asking().contains(&found.reference.to_string()) {
            let what = "this is the session that asks; its text is in your context";
            return Err(Error::new(ErrorKind::NotFound, what));
        }
        Ok(found)
    }

    /// Returns the filter of a call: `project`, `agent`, `since`, `until`.
    pub(crate) fn filter(&self, arguments: &Arguments) -> Result<SessionFilter> {
        let project = arguments.text("project")?;
        let is_here = project.as_deref() == Some("here");
        if self.is_only_here() && project.is_some() && !is_here {
            return Err(wrong(
                "only the project of the current folder is shown here: leave `project` out",
            ));
        }
        Ok(SessionFilter {
            agent: arguments.text("agent")?,
            here: self.is_only_here() || is_here,
            project: project.filter(|_| !is_here),
            since: arguments.text("since")?,
            until: arguments.text("until")?,
            ..SessionFilter::default()
        })
    }

    /// Returns the last part of a project folder; `here` for the current one.
    pub(crate) fn project_name(&self, project: Option<&str>) -> String {
        if self.app.is_current_project(project) {
            return "here".to_owned();
        }
        let project = project.unwrap_or("no project");
        let last = project.trim_end_matches(['/', '\\']);
        last.rsplit(['/', '\\']).next().unwrap_or(last).to_owned()
    }
}
