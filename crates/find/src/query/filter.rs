//! Filters of a query: conditions on sessions and entries other than their text.

use boswell_dialect::Dialect;
use boswell_model::{Head, Instant, View};

use crate::normalize::fold;
use crate::source::Source;

/// Conditions of a query. Several values of one kind are alternatives; several kinds must all
/// match. Values are folded text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filters {
    /// Substrings of the agent's name.
    pub agents: Vec<String>,
    /// Substrings of the project folder.
    pub projects: Vec<String>,
    /// Whole tags.
    pub tags: Vec<String>,
    /// Substrings of the name of a model that answered in the session.
    pub models: Vec<String>,
    /// Roles of the entry.
    pub roles: Vec<String>,
    /// Names of tools that the entry calls, or whose result it is.
    pub tools: Vec<String>,
    /// Substrings of a path that the entry reads or changes.
    pub files: Vec<String>,
    /// Earliest time, inclusive.
    pub since: Option<Instant>,
    /// Latest time, inclusive.
    pub until: Option<Instant>,
}

impl Filters {
    /// Returns whether some filter needs facts of the session, which may have changed since the
    /// last refresh.
    pub fn ask_about_sessions(&self) -> bool {
        [&self.agents, &self.projects, &self.tags, &self.models]
            .iter()
            .any(|values| !values.is_empty())
    }
}

fn any<'f>(
    wanted: &[String],
    found: impl IntoIterator<Item = &'f str>,
    fits: impl Fn(&str, &str) -> bool,
) -> bool {
    let fits = |found: &str| {
        let found = fold(found);
        wanted.iter().any(|wanted| fits(&found, wanted))
    };
    wanted.is_empty() || found.into_iter().any(fits)
}

fn holds(found: &str, wanted: &str) -> bool {
    found.contains(wanted)
}

fn is(found: &str, wanted: &str) -> bool {
    found == wanted
}

impl Filters {
    /// Returns whether a source can contain hits at all.
    pub(crate) fn admit_source(&self, source: &Source) -> bool {
        let Some(about) = &source.about else {
            return !self.ask_about_sessions();
        };
        any(&self.agents, [about.agent.as_str()], holds)
            && any(&self.projects, about.project.as_deref(), holds)
            && any(&self.tags, about.tags.iter().map(String::as_str), is)
            && any(&self.models, about.models.iter().map(String::as_str), holds)
    }

    /// Returns whether some filter decides entry by entry.
    pub(crate) fn look_at_entries(&self) -> bool {
        !self.roles.is_empty()
            || self.look_at_views()
            || self.since.is_some()
            || self.until.is_some()
    }

    /// Returns whether some filter needs the parsed view of an entry (tool calls, files).
    pub(crate) fn look_at_views(&self) -> bool {
        !self.tools.is_empty() || !self.files.is_empty()
    }

    /// Returns whether the time range `earliest..=latest` overlaps the requested one.
    pub(crate) fn admit_times(&self, earliest: i64, latest: i64) -> bool {
        self.since.is_none_or(|since| latest >= since.millis())
            && self.until.is_none_or(|until| earliest <= until.millis())
    }

    /// Returns whether the head of an entry passes; `at` is its time or that of its session.
    pub(crate) fn admit_head(&self, head: &Head, at: Option<i64>) -> bool {
        let role = any(&self.roles, head.kind.role(), is);
        let timed = self.since.is_none() && self.until.is_none()
            || at.is_some_and(|at| self.admit_times(at, at));
        role && timed
    }

    /// Returns whether tool calls and touched files of an entry pass.
    pub(crate) fn admit_view(&self, dialect: &dyn Dialect, view: &View) -> bool {
        let tools = view
            .calls()
            .map(|(_, name, _)| name)
            .chain(view.tool.as_deref());
        if !any(&self.tools, tools, is) {
            return false;
        }
        self.files.is_empty() || {
            let touched = dialect.powers().refine.touched_files(view);
            any(
                &self.files,
                touched.iter().map(|(path, _)| path.as_str()),
                holds,
            )
        }
    }
}
