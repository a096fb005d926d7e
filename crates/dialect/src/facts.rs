//! Facts about a dialect as data, so that no other crate decides by its name.

use crate::{Capabilities, Capability, Depth, KnownReader, RowLayout, Support};

/// What is always true of a dialect.
///
/// A new dialect starts from [`DialectFacts::new`], the facts of an agent that is only read, and
/// states what differs.
#[derive(Debug, Clone, Copy)]
pub struct DialectFacts {
    /// Its name in refs and options, such as `claude`.
    pub name: &'static str,
    /// Its name for people, such as `Claude Code`.
    pub title: &'static str,
    /// The agent that writes it; sessions may name another one in
    /// [`SessionMeta::agent`](boswell_model::SessionMeta::agent).
    pub agent: &'static str,
    /// What its format can express.
    pub capabilities: Capabilities,
    /// Whether it is boswell's own store: every writer takes its locks, ids tell when a session was
    /// made, and what a session cannot hold is kept in the home.
    pub is_own: bool,
    /// The folder below a root that holds the agent's sessions. It distinguishes a second
    /// profile, such as `~/.claude-work`, from a folder that only has a similar name.
    pub sessions_folder: Option<&'static str>,
    /// Whether an id names one entry of a session only; false where the agent counts from the
    /// start after a rewind.
    pub ids_are_unique: bool,
    /// How deep a session is read to be checked: less than everything where neither
    /// [`check`](crate::Repairer::check) nor [`links`](crate::Runtime::links) asks for facts.
    pub check_depth: Depth,
    /// Versions of agents whose way of reading is known, for repair.
    pub readers: &'static [KnownReader],
    /// Whether [`parent_of_new`](crate::Append::parent_of_new) has to be asked for the parent of
    /// a new entry; if not, that is the last entry with an id.
    pub parent_needs_full_log: bool,
    /// Whether a new session is made by a plan instead of a log alone.
    pub creates_by_plan: bool,
    /// Whether records are written as boswell's own are, so that an import can copy them.
    pub has_own_records: bool,
    /// Whether a session is its log and nothing else: removing the file removes the session.
    pub log_is_session: bool,
    /// Whether the agent notes which session a terminal was used for.
    pub keeps_breadcrumbs: bool,
    /// Whether the client writes a file for every session that it has open, by which moving its
    /// project is refused meanwhile.
    pub lists_open_sessions: bool,
    /// Whether an SDK forks sessions in a way of its own.
    pub has_sdk_forks: bool,
    /// Where large values of records are kept.
    pub blobs: BlobPolicy,
    /// How a fork names the session that it comes from.
    pub fork_origin: ForkOrigin,
    /// Where the agent keeps the prompts of its user.
    pub prompt_history: HistoryKind,
    /// Whether the memory of its projects can be changed, and how pages begin.
    pub memory: MemoryPolicy,
    /// Files that may hold text of any session, with what they are: nothing ties that text to a
    /// session, so neither purge nor scrub reaches it.
    pub untied_files: &'static [UntiedFile],
    /// How rows of a database make up a session; none where sessions are files.
    pub rows: Option<RowLayout>,
}

/// Where large values of records are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlobPolicy {
    /// In the records themselves.
    Inline,
    /// In boswell's home.
    Own,
    /// As xcsh does it.
    Xcsh,
    /// As oh-my-pi does it.
    Omp,
}

/// How a fork names the session that it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForkOrigin {
    /// By its id.
    Id,
    /// By the path of its log.
    Path,
    /// By the path of its log if only a branch was copied, else by its id.
    PathOfBranch,
}

/// Where an agent keeps the prompts of its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryKind {
    /// In the sessions only.
    Sessions,
    /// In `history.jsonl`.
    Lines,
    /// In `history.db`. `takes_prompts`: prompts that boswell writes into a session go there too.
    Database {
        /// Whether boswell adds prompts to it.
        takes_prompts: bool,
    },
}

/// Whether and how the memory of projects can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryPolicy {
    /// Boswell changes none.
    ReadOnly,
    /// In boswell's home.
    Own,
    /// In the folder of the project in the store, pages with front matter.
    FrontMatter,
}

/// A file that may hold text of any session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UntiedFile {
    /// Its path below the root.
    pub path: &'static str,
    /// What it holds, for people.
    pub what: &'static str,
    /// Whether it is a database.
    pub is_database: bool,
}

impl DialectFacts {
    /// The facts of an agent that is only read.
    pub const fn new(name: &'static str, title: &'static str) -> DialectFacts {
        DialectFacts {
            name,
            title,
            agent: name,
            capabilities: Capabilities::new(&[(Capability::Read, Support::Native)]),
            is_own: false,
            sessions_folder: None,
            ids_are_unique: true,
            check_depth: Depth::Pairs,
            readers: &[],
            parent_needs_full_log: false,
            creates_by_plan: false,
            has_own_records: false,
            log_is_session: false,
            keeps_breadcrumbs: false,
            lists_open_sessions: false,
            has_sdk_forks: false,
            blobs: BlobPolicy::Inline,
            fork_origin: ForkOrigin::Id,
            prompt_history: HistoryKind::Sessions,
            memory: MemoryPolicy::ReadOnly,
            untied_files: &[],
            rows: None,
        }
    }

    /// Whether records name blobs.
    pub const fn has_blobs(&self) -> bool {
        !matches!(self.blobs, BlobPolicy::Inline)
    }
}

/// The facts of the dialect with this name; none if there is no such dialect.
pub fn facts_of(name: &str) -> Option<&'static DialectFacts> {
    crate::by_name(name).map(crate::Dialect::facts)
}
