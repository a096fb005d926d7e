//! What a backend can answer about many sessions without reading their logs: where the log of an
//! id is, pages of sessions, and where logs end.
//!
//! Files answer none of it: a listing of names is their only index. A table answers each with one
//! indexed query, from columns that are filled when lines are added.

use boswell_dialect::FileInfo;
use boswell_model::SessionMeta;

/// Whether a backend knows the log of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogLookup {
    /// The backend has no index of ids: the caller searches the listing.
    NoIndex,
    /// There is no session with that id.
    Absent,
    /// The log, and whether it is hidden until its first answer.
    Found {
        /// Key, size and time of the log.
        info: FileInfo,
        /// Whether lists leave it out.
        hidden: bool,
    },
}

/// The place behind a session in the order of pages. Opaque: the backend that made it reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageCursor(String);

impl PageCursor {
    /// Makes a cursor of the backend's own text.
    pub fn new(text: impl Into<String>) -> PageCursor {
        PageCursor(text.into())
    }

    /// Returns that text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A request for sessions, those that changed last first.
#[derive(Debug, Clone, Copy)]
pub struct PageRequest<'a> {
    /// The dialect of the sessions.
    pub dialect: &'a str,
    /// Where the page before ended; `None` for the first page.
    pub after: Option<&'a PageCursor>,
    /// The largest number of sessions.
    pub limit: usize,
}

/// A session as columns describe it.
#[derive(Debug, Clone)]
pub struct ListedLog {
    /// The id of the session.
    pub id: String,
    /// Key, size and time of its log.
    pub info: FileInfo,
    /// Number of lines, without the header.
    pub records: u64,
    /// What the columns contain; other members are empty.
    pub meta: SessionMeta,
    /// The place behind this session.
    pub cursor: PageCursor,
}
