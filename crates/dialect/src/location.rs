//! What a listing finds, and how it tells whose a file is.

use boswell_model::json::Object;
use boswell_model::{Framing, Instant, Problem, Revision};

use crate::{FileIdentity, FileInfo, RowLayout, RowStamp};

/// What a listing found.
#[derive(Debug, Default)]
pub struct Discovered {
    /// Sessions, in no particular order.
    pub sessions: Vec<SessionLocation>,
    /// What is wrong with the store as a whole, such as an index that does not agree with the
    /// files: key and problem.
    pub problems: Vec<(String, Problem)>,
    /// Those among them that hide sessions: folders that could not be listed.
    pub unlisted: Vec<(String, Problem)>,
}

/// A session as a listing finds it.
#[derive(Debug, Clone)]
pub struct SessionLocation {
    /// Its id.
    pub id: String,
    /// Key of its log or document, or [`RowLayout::key`] where it is rows of a database; none when
    /// only an index speaks of it.
    pub key: Option<String>,
    /// How records stand there.
    pub framing: Framing,
    /// Length of the log; for rows of a database their number.
    pub size: u64,
    /// When the log was last changed.
    pub modified: Option<Instant>,
    /// What tells the state of the log from others, where the backend can say.
    pub identity: Option<FileIdentity>,
    /// The JSON that an index holds about it.
    pub row: Option<Vec<u8>>,
    /// Why lists leave it out unless asked: `subagent`, `empty`, `prepared`, `archived`…
    pub hidden: Option<&'static str>,
    /// Id of the session that it belongs to, for a subagent's.
    pub owner: Option<String>,
}

impl SessionLocation {
    /// A session of which no more is known than its id, and how many bytes stand how.
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

    /// A session whose log is at `key`.
    pub fn at(id: impl Into<String>, info: &FileInfo, framing: Framing) -> Self {
        SessionLocation::of_file(id, info.clone(), framing)
    }

    /// The state that the log is in, as far as the listing can tell.
    pub fn revision(&self) -> Revision {
        let file = self.identity.map(|identity| identity.file);
        match (self.framing, self.identity) {
            (Framing::Lines, _) | (_, None) => Revision::of_log(file, self.size),
            (_, Some(identity)) => Revision::of_document(file, identity.modified, self.size),
        }
    }

    /// The same, with what a listing gave and nobody else needs.
    pub fn of_file(id: impl Into<String>, info: FileInfo, framing: Framing) -> Self {
        SessionLocation {
            key: Some(info.key),
            modified: info.modified,
            identity: info.identity,
            ..SessionLocation::of(id, framing, info.size)
        }
    }

    /// A session that is rows of the database at a key: its size is their number.
    pub fn of_rows(
        id: impl Into<String>,
        database: &str,
        stamp: RowStamp,
        modified: Option<Instant>,
    ) -> Self {
        let id = id.into();
        // Rows are changed in place, so each state counts as another file: no reader may go on
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

/// The beginning of a file, for finding out whose it is.
#[derive(Debug)]
pub struct Sample<'a> {
    /// The file's name.
    pub name: &'a str,
    /// Names of the folders above it, nearest first.
    pub folders: &'a [String],
    /// Its first records.
    pub records: &'a [Object<'a>],
}

/// How much a file looks like a session of a dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// Not at all.
    No,
    /// Its records could be; so could others'.
    Maybe,
    /// Its records have the dialect's own keys.
    Likely,
    /// Nothing else writes this.
    Certain,
}
