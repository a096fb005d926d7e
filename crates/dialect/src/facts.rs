//! Facts: the constants of a dialect as data, so that no other crate decides by its name.

use boswell_model::Framing;

use crate::{Capabilities, Capability, Depth, Intake, KnownReader, RowLayout, Support};

/// The constants of a dialect.
///
/// A new dialect starts from [`DialectFacts::new`], the facts of an agent that is only read, and
/// overrides what differs.
#[derive(Debug, Clone, Copy)]
pub struct DialectFacts {
    /// Name in references and options, such as `claude`.
    pub name: &'static str,
    /// Name for display, such as `Claude Code`.
    pub title: &'static str,
    /// The agent that writes this format; a session may state another one in
    /// [`SessionMeta::agent`](boswell_model::SessionMeta::agent).
    pub agent: &'static str,
    /// The operations that the format supports.
    pub capabilities: Capabilities,
    /// Whether it is boswell's own store: every writer uses its locks, ids contain the creation
    /// time, and data that a session cannot contain is stored in the home.
    pub is_own: bool,
    /// The folder below a root that contains the agent's sessions. It distinguishes a second
    /// profile, such as `~/.claude-work`, from a folder with a similar name.
    pub sessions_folder: Option<&'static str>,
    /// The file without which a root is not a store of the agent: for agents that keep their
    /// sessions in folders of projects.
    pub marked_by: Option<&'static str>,
    /// Whether an id identifies one entry of a session; false if the agent reuses ids after a
    /// rewind.
    pub ids_are_unique: bool,
    /// The depth at which a session is read for a check: less than everything if neither
    /// [`check`](crate::Repairer::check) nor [`links`](crate::Runtime::links) needs metadata.
    pub check_depth: Depth,
    /// Readers whose behaviour is known, for repair.
    pub readers: &'static [KnownReader],
    /// Whether [`parent_of_new`](crate::Append::parent_of_new) must be called for the parent of a
    /// new entry; if not, the parent is the last entry with an id.
    pub parent_needs_full_log: bool,
    /// Whether a new session is created by a plan instead of a log alone.
    pub creates_by_plan: bool,
    /// Whether every answer states a model that the agent takes for the one in use, so that an
    /// answer without one must repeat it.
    pub answer_sets_model: bool,
    /// Whether records have the format of boswell's own, so that an import can copy them.
    pub has_own_records: bool,
    /// Whether a session consists of its log only: removing the file removes the session.
    pub log_is_session: bool,
    /// Whether the agent records which session was used in a terminal.
    pub keeps_breadcrumbs: bool,
    /// Whether a running agent rewrites its log from memory, and so drops lines that others added.
    pub rewrites_logs: bool,
    /// Whether the client writes a file for every open session; moving the project is refused while
    /// there is one.
    pub lists_open_sessions: bool,
    /// Whether the agent's SDK forks sessions in another way than the agent.
    pub has_sdk_forks: bool,
    /// Whether a fork can copy all branches and side files instead of one branch.
    pub forks_all_branches: bool,
    /// Whether a fork can belong to another project folder than its parent.
    pub forks_to_other_projects: bool,
    /// Where large values of records are stored.
    pub blobs: BlobPolicy,
    /// How a fork refers to its parent session.
    pub fork_origin: ForkOrigin,
    /// Where the agent stores the user's prompts.
    pub prompt_history: HistoryKind,
    /// Whether the memory of projects can be changed, and in which form.
    pub memory: MemoryPolicy,
    /// Files that may contain text of any session, with a description. Nothing links that text to a
    /// session, so neither purge nor scrub can remove it.
    pub untied_files: &'static [UntiedFile],
    /// How database rows form a session; `None` if sessions are files.
    pub rows: Option<RowLayout>,
    /// The framing of a file that is one document, whatever its name says; `None` if its name
    /// decides.
    pub document_framing: Option<Framing>,
    /// Whether the agent may delete a session after it was resumed, so that a copy is made first.
    pub resume_endangers: bool,
    /// Whether the agent's settings accept a hook that runs when a session ends, in the form that
    /// boswell writes.
    pub has_end_hook: bool,
    /// What a session that is made from another agent's conversation can contain; `None` if no such
    /// session is made.
    pub intake: Option<Intake>,
    /// The provider of every model that the agent uses; `None` if it uses several or states it with
    /// each answer.
    pub provider: Option<&'static str>,
}

/// Where large values of records are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlobPolicy {
    /// Inside the records.
    Inline,
    /// In boswell's home.
    Own,
    /// In the blob store of xcsh.
    Xcsh,
    /// In the blob store of oh-my-pi.
    Omp,
}

/// How a fork refers to its parent session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForkOrigin {
    /// By its id.
    Id,
    /// By the path of its log.
    Path,
    /// By the path of its log if only a branch was copied, else by its id.
    PathOfBranch,
}

/// Where an agent stores the user's prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryKind {
    /// Only in the sessions.
    Sessions,
    /// In `history.jsonl`.
    Lines,
    /// In `history.db`.
    Database {
        /// Whether prompts that boswell writes into a session are added to it.
        takes_prompts: bool,
    },
}

/// Whether and how the memory of projects can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryPolicy {
    /// Boswell does not change it.
    ReadOnly,
    /// In boswell's home.
    Own,
    /// In the project's folder in the store, as pages with front matter.
    FrontMatter,
}

/// A file that may contain text of any session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UntiedFile {
    /// Path relative to the root.
    pub path: &'static str,
    /// Description of the contents, for display.
    pub what: &'static str,
    /// Whether the file is a database.
    pub is_database: bool,
}

impl DialectFacts {
    /// Returns the facts of an agent that is only read.
    pub const fn new(name: &'static str, title: &'static str) -> DialectFacts {
        DialectFacts {
            name,
            title,
            agent: name,
            capabilities: Capabilities::new(&[(Capability::Read, Support::Native)]),
            is_own: false,
            sessions_folder: None,
            marked_by: None,
            ids_are_unique: true,
            check_depth: Depth::Pairs,
            readers: &[],
            parent_needs_full_log: false,
            creates_by_plan: false,
            answer_sets_model: false,
            has_own_records: false,
            forks_all_branches: false,
            forks_to_other_projects: false,
            log_is_session: false,
            keeps_breadcrumbs: false,
            rewrites_logs: false,
            lists_open_sessions: false,
            has_sdk_forks: false,
            blobs: BlobPolicy::Inline,
            fork_origin: ForkOrigin::Id,
            prompt_history: HistoryKind::Sessions,
            memory: MemoryPolicy::ReadOnly,
            untied_files: &[],
            rows: None,
            document_framing: None,
            resume_endangers: false,
            has_end_hook: false,
            intake: None,
            provider: None,
        }
    }

    /// Whether records refer to blobs.
    pub const fn has_blobs(&self) -> bool {
        !matches!(self.blobs, BlobPolicy::Inline)
    }
}

/// Returns the facts of the dialect with this name; `None` if it does not exist.
pub fn facts_of(name: &str) -> Option<&'static DialectFacts> {
    crate::by_name(name).map(crate::Dialect::facts)
}
