//! What sessions and entries must be, beside what they say.

use boswell_dialect::Dialect;
use boswell_model::{Head, Instant, View};

use crate::normalize::fold;
use crate::source::Source;

/// Restrictions. Several values of one kind mean any of them; several kinds mean all.
/// Values are folded text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filters {
    /// Part of the agent's name.
    pub agents: Vec<String>,
    /// Part of the project's folder.
    pub projects: Vec<String>,
    /// A whole tag.
    pub tags: Vec<String>,
    /// Part of the name of a model that spoke in the session.
    pub models: Vec<String>,
    /// Who speaks in the entry.
    pub roles: Vec<String>,
    /// A tool that the entry calls, or whose answer it is.
    pub tools: Vec<String>,
    /// Part of a path that the entry reads or changes.
    pub files: Vec<String>,
    /// Nothing older.
    pub since: Option<Instant>,
    /// Nothing newer.
    pub until: Option<Instant>,
}

impl Filters {
    /// Whether a session is chosen by what it says of itself, which may have changed since
    /// it was last looked at.
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
    /// Whether a source can hold hits at all.
    pub(crate) fn admit_source(&self, source: &Source) -> bool {
        let Some(about) = &source.about else {
            return !self.ask_about_sessions();
        };
        any(&self.agents, [about.agent.as_str()], holds)
            && any(&self.projects, about.project.as_deref(), holds)
            && any(&self.tags, about.tags.iter().map(String::as_str), is)
            && any(&self.models, about.models.iter().map(String::as_str), holds)
    }

    /// Whether entries of one session may differ in passing.
    pub(crate) fn look_at_entries(&self) -> bool {
        !self.roles.is_empty()
            || self.look_at_views()
            || self.since.is_some()
            || self.until.is_some()
    }

    /// Whether what an entry calls and touches counts.
    pub(crate) fn look_at_views(&self) -> bool {
        !self.tools.is_empty() || !self.files.is_empty()
    }

    /// Whether a stretch of time can hold anything wanted.
    pub(crate) fn admit_times(&self, earliest: i64, latest: i64) -> bool {
        self.since.is_none_or(|since| latest >= since.millis())
            && self.until.is_none_or(|until| earliest <= until.millis())
    }

    /// Whether the entry's head passes; `at` is its time or that of its session.
    pub(crate) fn admit_head(&self, head: &Head, at: Option<i64>) -> bool {
        let role = any(&self.roles, head.kind.role(), is);
        let timed = self.since.is_none() && self.until.is_none()
            || at.is_some_and(|at| self.admit_times(at, at));
        role && timed
    }

    /// Whether what the entry shows passes.
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
