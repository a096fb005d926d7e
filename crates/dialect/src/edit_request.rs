//! Intentions: what somebody wants to happen to a session or a store, before a dialect
//! turns it into a plan.
//!
//! Two ways lead into a log. Where a dialect [`appends`](crate::Dialect::appends), drafts
//! go through the session's writer. All else is an intention: the store takes the locks
//! that [`Dialect::locks`](crate::Dialect::locks) names, reads the session again under
//! them, asks [`Dialect::plan`](crate::Dialect::plan), and the runner carries the plan out
//! so that it can be undone.

use std::collections::BTreeMap;

use boswell_model::{Revision, SessionMeta, SessionView, Tip};

use crate::{Capability, Draft, Files, IdSource, LockSpec, NewSession, Plan, SessionLocation};

/// What somebody wants to happen to a session.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum EditRequest {
    /// Add entries, in this order.
    Append(Vec<Draft>),
    /// The same, only if the session is where the caller believes it to be. What a retry sent
    /// before is not added again.
    AppendAfter {
        /// Where that is.
        expect: Expected,
        /// The entries.
        drafts: Vec<Draft>,
    },
    /// Give it a title.
    Title(String),
    /// Have exactly these tags.
    Tags(Vec<String>),
    /// Name an entry, or take its name away.
    Label {
        /// Id of the entry.
        entry: String,
        /// Its name.
        label: Option<String>,
    },
    /// Have this status.
    Status {
        /// `active`, `paused`, `completed` or `error`.
        status: String,
        /// What went wrong.
        message: Option<String>,
    },
    /// Stand at an entry, so that the next one attaches there.
    Stand(Tip),
    /// Stand as before a prompt of the user.
    Rewind(Tip),
    /// Make a new session from the branch that ends here.
    Fork {
        /// Where the branch ends.
        at: Tip,
        /// What the new session is to be; its id is settled.
        new: NewSession,
    },
    /// Remove it, with all that belongs to it.
    Delete,
    /// Bring it to the newest format version of its agent.
    Migrate,
    /// Mend what is damaged. The store plans this one itself; dialects say what could be done and
    /// which locks it takes.
    Repair,
}

impl EditRequest {
    /// The operation that a capability table speaks of; none for what no table lists.
    pub fn operation(&self) -> Option<Capability> {
        Some(match self {
            EditRequest::Append(_) | EditRequest::AppendAfter { .. } => Capability::Append,
            EditRequest::Title(_) => Capability::Title,
            EditRequest::Tags(_) => Capability::Tag,
            EditRequest::Label { .. } => Capability::Label,
            EditRequest::Status { .. } => Capability::Status,
            EditRequest::Stand(_) => Capability::Branch,
            EditRequest::Rewind(_) => Capability::Rewind,
            EditRequest::Fork { .. } => Capability::Fork,
            EditRequest::Delete => Capability::Delete,
            EditRequest::Migrate | EditRequest::Repair => return None,
        })
    }

    /// Whether it changes the conversation itself, so that whoever drives it must not be at work.
    pub fn needs_lease(&self) -> bool {
        match self {
            EditRequest::Append(_)
            | EditRequest::AppendAfter { .. }
            | EditRequest::Stand(_)
            | EditRequest::Rewind(_)
            | EditRequest::Delete
            | EditRequest::Migrate
            | EditRequest::Repair => true,
            EditRequest::Title(_)
            | EditRequest::Tags(_)
            | EditRequest::Label { .. }
            | EditRequest::Status { .. }
            | EditRequest::Fork { .. } => false,
        }
    }

    /// Boswell's own locks for it: the lease where it is needed, and the append lock of the log.
    pub fn own_locks(&self, dialect: &str, id: &str) -> Vec<LockSpec> {
        let name = format!("{dialect}-{id}");
        let lease = self
            .needs_lease()
            .then(|| LockSpec::Os { name: name.clone() });
        lease
            .into_iter()
            .chain([LockSpec::Append { name }])
            .collect()
    }
}

/// Where a caller believes a session to be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// Its log is at this revision.
    Revision(Revision),
    /// The conversation stands at this entry.
    Leaf(String),
}

/// What somebody wants to happen to a store as a whole.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StoreRequest {
    /// Make a session; its id is settled. Only for dialects whose new sessions are more than a log.
    Create(NewSession),
    /// A project folder was moved: what is filed under it follows.
    Move {
        /// Where it was: an absolute path.
        from: String,
        /// Where it is.
        to: String,
    },
    /// Write the agent's own index anew from the truth.
    Index,
    /// The same, with what is known of sessions beyond their logs, where the
    /// index has a place for it.
    IndexWith {
        /// What sessions were about, by id.
        summaries: BTreeMap<String, String>,
    },
}

/// What a dialect is told about the session that something is wanted of, read under the locks.
#[derive(Clone, Copy)]
pub struct PlanInput<'a> {
    /// Files of its store.
    pub files: &'a dyn Files,
    /// Where it is.
    pub location: &'a SessionLocation,
    /// Its log.
    pub view: SessionView<'a>,
    /// What is known of it.
    pub meta: &'a SessionMeta,
    /// Time and new ids.
    pub id_source: &'a dyn IdSource,
}

impl std::fmt::Debug for PlanInput<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asked")
            .field("located", self.location)
            .finish_non_exhaustive()
    }
}

/// A plan with what the user is told once it is carried out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Planned {
    /// What has to happen. Its locks are held already: the runner takes none of them again.
    pub plan: Plan,
    /// Id of the session that it makes.
    pub session: Option<String>,
    /// Ids of the entries that it adds, in order.
    pub entries: Vec<String>,
    /// How many of those, from the first on, were there already.
    pub already: usize,
    /// What else the user should know, a sentence each.
    pub remarks: Vec<String>,
    /// What could not be read and stays as it is: path and reason.
    pub left_out: Vec<(String, String)>,
}

impl Planned {
    /// Only a plan.
    pub fn of(plan: Plan) -> Self {
        Planned {
            plan,
            ..Planned::default()
        }
    }
}
