//! Conversation rows: what lists show, available before any file is read.
//!
//! One row per conversation: title, tags and status with notes applied, linked sessions joined. The
//! caller computes them, because only it knows the notes; this table stores them, returns which
//! sessions changed since ([`Catalog::conversation_touches`](super::Catalog::conversation_touches))
//! and returns a page in any order.
//!
//! Which sessions are one conversation depends on the stores, so rows belong to a scope: a hash of
//! the stores and settings of the caller. At most [`SCOPES`] are stored.

mod active;
mod forget;
mod packed;
mod page;
mod scope;
mod touched;
mod write;

use boswell_model::{Instant, SessionRef};

pub(super) use active::ActiveConversation;
pub(super) use forget::forget_sessions;
pub use packed::name_key;
pub use page::{ConversationCursor, ConversationOrder, ConversationPage, ConversationQuery};
pub use scope::ConversationScope;
pub use touched::{ConversationTouches, NotesState};
pub use write::{ConversationChanges, ConversationUpdate, NewConversation, SideName};

/// Maximum number of scopes: the stores of the environment, and a few that were named.
const SCOPES: usize = 4;

/// A row of a conversation for lists.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConversationRow {
    /// The session that is shown: that of the program that the user talks to.
    pub front: ConversationSide,
    /// The same conversation in other stores.
    pub linked: Vec<ConversationSide>,
    /// Agents and the label of the store, in a few characters.
    pub agents: String,
    /// Title, else summary, else first prompt, else the short id.
    pub name: String,
    /// The author of the title.
    pub title_source: Option<String>,
    /// Whether the status depends on the time of the last activity, so that it is computed when the
    /// row is shown.
    pub open_status: bool,
    /// Whether it is pinned.
    pub pinned: bool,
    /// Whether it is archived.
    pub archived: bool,
    /// Whether a stretch of the log could not be read as records.
    pub damaged: bool,
    /// Why lists hide it by default.
    pub hidden: Option<String>,
    /// Creation time.
    pub created: Option<Instant>,
    /// Time of the last activity of any side.
    pub last_active: Option<Instant>,
    /// Time of the last activity of the shown session.
    pub front_active: Option<Instant>,
    /// Number of user and assistant messages, if they were counted.
    pub messages: Option<u64>,
    /// Length of the log.
    pub bytes: u64,
    /// Cost in dollars, if it is known.
    pub cost: Option<f64>,
    /// Revision of the log that the row describes.
    pub revision: Option<String>,
}

/// One side of a conversation, with the columns that filters compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationSide {
    /// The session.
    pub reference: SessionRef,
    /// The agent, if the log names one.
    pub agent: Option<String>,
    /// The project folder.
    pub project: Option<String>,
    /// Active, paused, completed, error.
    pub status: Option<String>,
    /// The branch of the project's repository.
    pub git_branch: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Models of the assistant messages.
    pub models: Vec<String>,
    /// Its title.
    pub title: Option<String>,
    /// A summary.
    pub summary: Option<String>,
    /// The first prompt.
    pub first_prompt: Option<String>,
    /// The last prompt.
    pub last_prompt: Option<String>,
}

impl ConversationSide {
    /// Returns the texts by which a session is found without a look into its log, besides its tags
    /// and its reference.
    pub fn texts(&self) -> impl Iterator<Item = &String> {
        let texts = [
            &self.title,
            &self.summary,
            &self.first_prompt,
            &self.last_prompt,
            &self.project,
        ];
        texts.into_iter().flatten()
    }
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
    /// Iterates over the shown session, then the others.
    pub fn sides(&self) -> impl Iterator<Item = &ConversationSide> {
        std::iter::once(&self.front).chain(&self.linked)
    }
}

/// Returns the key of a session in a scope: both in one number, so that a table needs no second
/// index.
fn key(scope: i64, session: i64) -> i64 {
    (scope << 40) | session
}

/// Returns the session of a key.
fn session_of(key: i64) -> i64 {
    key & ((1 << 40) - 1)
}
