//! Edit requests: what a user wants to change in a session or store, before a dialect computes a
//! plan for it.
//!
//! There are two ways to write a log. If a dialect has the power [`Append`](crate::Append), drafts
//! go through the session's writer. Everything else is an edit request: the store acquires the
//! locks from [`PlanEdits::locks`](crate::PlanEdits::locks), reads the session again under them,
//! calls [`PlanEdits::plan`](crate::PlanEdits::plan), and the runner executes the plan so that it
//! can be undone.

use std::collections::BTreeMap;

use boswell_model::{Remark, Revision, SessionMeta, SessionView, Tip};

use crate::{Capability, Draft, Files, IdSource, LockSpec, NewSession, Plan, SessionLocation};

/// A change of one session.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum EditRequest {
    /// Append entries, in this order.
    Append(Vec<Draft>),
    /// Append entries only if the session is in the expected state. Idempotent: entries that an
    /// earlier attempt has written are not written again.
    AppendAfter {
        /// The expected state.
        expect: Expected,
        /// The entries to append.
        drafts: Vec<Draft>,
    },
    /// Set the title.
    Title(String),
    /// Replace all tags by these.
    Tags(Vec<String>),
    /// Set or remove the label of an entry.
    Label {
        /// Id of the entry.
        entry: String,
        /// The label; `None` removes it.
        label: Option<String>,
    },
    /// Set the status.
    Status {
        /// `active`, `paused`, `completed` or `error`.
        status: String,
        /// The error message, for the status `error`.
        message: Option<String>,
    },
    /// Move the leaf to an entry, so that the next entry becomes its child.
    Stand(Tip),
    /// Move the leaf to before a prompt of the user.
    Rewind(Tip),
    /// Create a session from the branch that ends here.
    Fork {
        /// The last entry of the branch.
        at: Tip,
        /// The properties of the new session; its id is set.
        new: NewSession,
    },
    /// Remove the session with all its files.
    Delete,
    /// Convert the session to the newest format version of its agent.
    Migrate,
    /// Make a session for the agent's current model provider from one of another provider.
    Provider,
    /// Repair damage. The store computes this plan itself; dialects provide the fixes and the
    /// locks.
    Repair,
}

impl EditRequest {
    /// Returns the capability that the request needs; `None` for requests that capability tables do
    /// not list.
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
            EditRequest::Migrate | EditRequest::Provider | EditRequest::Repair => return None,
        })
    }

    /// Whether the plan needs the whole conversation, also the part that other logs contain.
    pub fn needs_conversation(&self) -> bool {
        matches!(self, EditRequest::Fork { .. } | EditRequest::Provider)
    }

    /// Whether the request changes the conversation itself, so that no other process may hold the
    /// session's lease.
    pub fn needs_lease(&self) -> bool {
        match self {
            EditRequest::Append(_)
            | EditRequest::AppendAfter { .. }
            | EditRequest::Stand(_)
            | EditRequest::Rewind(_)
            | EditRequest::Delete
            | EditRequest::Migrate
            | EditRequest::Provider
            | EditRequest::Repair => true,
            EditRequest::Title(_)
            | EditRequest::Tags(_)
            | EditRequest::Label { .. }
            | EditRequest::Status { .. }
            | EditRequest::Fork { .. } => false,
        }
    }

    /// Returns boswell's own locks for the request: the lease if it is needed, then the append lock
    /// of the log.
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

/// The state that a caller expects a session to be in.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// The log has this revision.
    Revision(Revision),
    /// The leaf is this entry.
    Leaf(String),
}

/// A change of a store as a whole.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StoreRequest {
    /// Create a session; its id is set. Only for dialects whose new sessions are more than a log.
    Create(NewSession),
    /// Update the store after a project folder was moved.
    Move {
        /// The old absolute path.
        from: String,
        /// The new absolute path.
        to: String,
    },
    /// Rebuild the agent's own index from the session files.
    Index,
    /// As [`StoreRequest::Index`], and also write what is known of sessions beyond their logs, as
    /// far as the index has fields for it.
    IndexWith {
        /// Summaries of sessions, by session id.
        summaries: BTreeMap<String, String>,
    },
}

/// What a dialect gets to compute a plan: the session as read under the locks.
#[derive(Clone, Copy)]
pub struct PlanInput<'a> {
    /// The files of the session's store.
    pub files: &'a dyn Files,
    /// Store, id and key of the session.
    pub location: &'a SessionLocation,
    /// The session's log, tree and payloads.
    pub view: SessionView<'a>,
    /// The session's metadata.
    pub meta: &'a SessionMeta,
    /// The source of the time and of new ids.
    pub id_source: &'a dyn IdSource,
    /// Process id of the agent's app, if it runs ([`Runtime::app_process`](crate::Runtime)).
    pub running_app: Option<u32>,
}

impl std::fmt::Debug for PlanInput<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlanInput")
            .field("location", self.location)
            .finish_non_exhaustive()
    }
}

/// A plan with the results to report after it was executed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Planned {
    /// The plan. Its locks are held already: the runner does not acquire them again.
    pub plan: Plan,
    /// Id of the session that the plan creates.
    pub session: Option<String>,
    /// Ids of the entries that the plan adds, in order.
    pub entries: Vec<String>,
    /// How many of `entries`, from the first on, existed already.
    pub already: usize,
    /// Further remarks for the user.
    pub remarks: Vec<Remark>,
    /// Files that could not be read and stay unchanged: path and reason.
    pub left_out: Vec<(String, String)>,
}

impl Planned {
    /// Wraps a plan without results to report.
    pub fn of(plan: Plan) -> Self {
        Planned {
            plan,
            ..Planned::default()
        }
    }
}
