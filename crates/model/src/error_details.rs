//! What a program needs to know about an error besides its kind.

use crate::{EntryId, Instant};

/// The values behind an error, for callers that decide by them.
///
/// The text of the error contains the same values for people. Most errors have no details.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorDetails {
    /// The session is not in the state that the caller expected.
    Conflict {
        /// The revision, or the id of the leaf, that the caller gave.
        expected: String,
        /// The revision, or the id of the leaf, that the session has; `None` if the session has no
        /// leaf.
        actual: Option<String>,
    },
    /// A write or an `fsync` failed, and it is unknown whether these entries are on disk. They were
    /// never acknowledged.
    Unacknowledged {
        /// The ids of the entries, in the order in which they were appended.
        entries: Vec<EntryId>,
    },
    /// Another process holds the lock or lease.
    Held {
        /// The process.
        holder: LockHolder,
    },
    /// A name fits several objects.
    Ambiguous {
        /// The objects, as they can be named instead. The list may be cut.
        candidates: Vec<String>,
    },
    /// The data has a newer format than this program writes.
    TooNew {
        /// The version of the data.
        version: String,
    },
}

/// The process that holds a lock or a lease. A lock names its holder only as far as the program
/// that took it does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LockHolder {
    /// The id of the process.
    pub pid: Option<u32>,
    /// The name of the machine.
    pub host: Option<String>,
    /// The name of the program.
    pub program: Option<String>,
    /// When the lock was taken.
    pub since: Option<Instant>,
}
