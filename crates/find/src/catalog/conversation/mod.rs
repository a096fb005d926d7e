//! Conversations as lists show them, ready to be shown before any file is looked at.
//!
//! One row per conversation: title, tags and status with notes applied, linked sessions joined. The
//! caller works them out, because only it knows the notes; this table keeps them, says which
//! sessions changed since ([`Catalog::conversation_touches`](super::Catalog::conversation_touches))
//! and returns a page in any order.
//!
//! Which sessions are one conversation depends on the stores that were looked at, so rows belong to
//! a scope: a hash of the stores and settings that the caller answers for. At most [`SCOPES`] are
//! kept.

mod forget;
mod packed;
mod page;
mod scope;
mod touched;
mod write;

use boswell_model::{Instant, SessionRef};

pub(super) use forget::forget_sessions;
pub use packed::name_key;
pub use page::{ConversationCursor, ConversationOrder, ConversationPage, ConversationQuery};
pub use scope::ConversationScope;
pub use touched::{ConversationTouches, NotesState};
pub use write::{ConversationChanges, ConversationUpdate, NewConversation, SideName};

/// How many scopes are kept: the stores of the environment, and a few that were named.
const SCOPES: usize = 4;

/// A conversation as lists show it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConversationRow {
    /// The session that is shown: the one whose program the user talks to.
    pub front: ConversationSide,
    /// The same conversation in other stores.
    pub linked: Vec<ConversationSide>,
    /// Agents and the label of the store, in a few characters.
    pub agents: String,
    /// Title, else summary, else first prompt, else the short id.
    pub name: String,
    /// Who gave the title.
    pub title_source: Option<String>,
    /// Whether the status follows from the time of the last activity, so that it is worked out
    /// when the row is shown.
    pub open_status: bool,
    /// Whether it shall stay where it is.
    pub pinned: bool,
    /// Whether it is archived.
    pub archived: bool,
    /// Whether a stretch of the log could not be read as records.
    pub damaged: bool,
    /// Why lists leave it out unless asked.
    pub hidden: Option<String>,
    /// When it began.
    pub created: Option<Instant>,
    /// When something last happened in any of its places.
    pub last_active: Option<Instant>,
    /// When something last happened in the session that is shown.
    pub front_active: Option<Instant>,
    /// User and assistant messages, where they were counted.
    pub messages: Option<u64>,
    /// Length of the log.
    pub bytes: u64,
    /// What it cost in dollars, where that is known.
    pub cost: Option<f64>,
    /// The state of the log that the row was made of.
    pub revision: Option<String>,
}

/// One place of a conversation, with what filters choose by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationSide {
    /// The session.
    pub reference: SessionRef,
    /// The agent, where the log names one.
    pub agent: Option<String>,
    /// The folder it was held in.
    pub project: Option<String>,
    /// Active, paused, completed, error.
    pub status: Option<String>,
    /// The branch of the project's repository.
    pub git_branch: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Models that answered.
    pub models: Vec<String>,
    /// Its title.
    pub title: Option<String>,
    /// A summary.
    pub summary: Option<String>,
    /// What was asked first.
    pub first_prompt: Option<String>,
    /// What was asked last.
    pub last_prompt: Option<String>,
}

impl Default for ConversationSide {
    fn default() -> ConversationSide {
        ConversationSide {
            reference: SessionRef::new("", ""),
            agent: None,
            project: None,
            status: None,
            git_branch: None,
            tags: Vec::new(),
            models: Vec::new(),
            title: None,
            summary: None,
            first_prompt: None,
            last_prompt: None,
        }
    }
}

impl ConversationRow {
    /// The session that is shown, then the others.
    pub fn sides(&self) -> impl Iterator<Item = &ConversationSide> {
        std::iter::once(&self.front).chain(&self.linked)
    }
}

/// The key of a session in a scope: both in one number, so that a table needs no second index.
fn key(scope: i64, session: i64) -> i64 {
    (scope << 40) | session
}

/// The session of a key.
fn session_of(key: i64) -> i64 {
    key & ((1 << 40) - 1)
}
