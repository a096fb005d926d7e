//! What discovery returns: session locations, and samples for recognising the dialect of a file.

use boswell_model::json::Object;
use boswell_model::{Framing, Instant, Problem, Revision};

use crate::{Dialect, FileIdentity, FileInfo, RowLayout, RowStamp};

/// The result of discovery in one store.
#[derive(Debug, Default)]
pub struct Discovered {
    /// The sessions, in no particular order.
    pub sessions: Vec<SessionLocation>,
    /// Problems of the store as a whole, such as an index that disagrees with the files: key and
    /// problem.
    pub problems: Vec<(String, Problem)>,
    /// Problems that hide sessions: folders that could not be listed.
    pub unlisted: Vec<(String, Problem)>,
}

/// A session as discovery finds it: id, key, size and time, before its log is read.
#[derive(Debug, Clone)]
pub struct SessionLocation {
    /// Id of the session.
    pub id: String,
    /// Key of its log or document, or [`RowLayout::key`] if it consists of database rows; `None` if
    /// only an index mentions it.
    pub key: Option<String>,
    /// How the file is divided into records.
    pub framing: Framing,
    /// Length of the log in bytes; for database rows a number that grows with them.
    pub size: u64,
    /// Time of the last change of the log.
    pub modified: Option<Instant>,
    /// Identity of the log's state, if the backend provides it.
    pub identity: Option<FileIdentity>,
    /// The JSON row that an index contains about it.
    pub row: Option<Vec<u8>>,
    /// The reason why lists omit it by default: `subagent`, `empty`, `prepared`, `archived`…
    pub hidden: Option<&'static str>,
    /// Id of the parent session, for a subagent.
    pub owner: Option<String>,
}

impl SessionLocation {
    /// Creates a location of which only id, framing and size are known.
    pub fn of(id: impl Into<String>, framing: Framing, size: u64) -> Self {
        SessionLocation {
            id: id.into(),
            key: None,
            framing,
            size,
            modified: None,
            identity: None,
            row: None,
            hidden: None,
            owner: None,
        }
    }

    /// Creates the location of a session whose log is the file `info`.
    pub fn at(id: impl Into<String>, info: &FileInfo, framing: Framing) -> Self {
        SessionLocation::of_file(id, info.clone(), framing)
    }

    /// Returns the revision of the log, as far as the listing provides it.
    pub fn revision(&self) -> Revision {
        let file = self.identity.map(|identity| identity.file);
        match (self.framing, self.identity) {
            (Framing::Lines, _) | (_, None) => Revision::of_log(file, self.size),
            (_, Some(identity)) => Revision::of_document(file, identity.modified, self.size),
        }
    }

    /// As [`SessionLocation::at`], but takes `info` without a copy.
    pub fn of_file(id: impl Into<String>, info: FileInfo, framing: Framing) -> Self {
        SessionLocation {
            key: Some(info.key),
            modified: info.modified,
            identity: info.identity,
            ..SessionLocation::of(id, framing, info.size)
        }
    }

    /// Whether the session consists of rows of a database of this dialect, and is not a file.
    pub fn is_of_rows(&self, dialect: &dyn Dialect) -> bool {
        let key = self.key.as_deref();
        dialect.facts().rows.is_some() && key.is_some_and(|key| RowLayout::split(key).is_some())
    }

    /// Creates the location of a session in the database at a key; its size is that of the stamp.
    pub fn of_rows(
        id: impl Into<String>,
        database: &str,
        stamp: RowStamp,
        modified: Option<Instant>,
    ) -> Self {
        let id = id.into();
        // Rows are changed in place, so each state counts as another file: no reader may continue
        // where the rows of an earlier state ended.
        let identity = FileIdentity {
            file: (0, stamp.state),
            modified: modified.map_or(0, |at| i128::from(at.millis()) * 1_000_000),
            changed: 0,
        };
        SessionLocation {
            key: Some(RowLayout::key(database, &id)),
            modified,
            identity: Some(identity),
            ..SessionLocation::of(id, Framing::Lines, stamp.rows)
        }
    }
}

/// The beginning of a file, for recognising its dialect.
#[derive(Debug)]
pub struct Sample<'a> {
    /// Name of the file.
    pub name: &'a str,
    /// Names of the folders above the file, the nearest first.
    pub folders: &'a [String],
    /// The first records.
    pub records: &'a [Object<'a>],
}

/// How well a file matches a dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// It does not match.
    No,
    /// Its records match, but they could be another dialect's.
    Maybe,
    /// Its records have keys that are specific to the dialect.
    Likely,
    /// No other program writes such a file.
    Certain,
}
