//! Receipts: what a writer guarantees, and the state that a caller expects.

use std::sync::Arc;

use boswell_dialect::{Body, Draft};
use boswell_model::json::Json;
use boswell_model::{Advice, EntryId, Error, ErrorDetails, ErrorKind, Revision, SessionRef};

/// The durability of an entry when its receipt is returned. There is no weaker one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Survives the end of the process.
    Os,
    /// Survives a crash of the machine.
    #[default]
    Fsync,
}

impl Durability {
    /// Returns the word for output.
    pub fn word(self) -> &'static str {
        match self {
            Durability::Os => "os",
            Durability::Fsync => "fsync",
        }
    }
}

/// The state that the caller expects. If it differs, nothing is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Expect {
    /// Any state.
    #[default]
    Any,
    /// The log is at this revision.
    Revision(Revision),
    /// The leaf is this entry.
    Leaf(EntryId),
}

/// Returns the error of a session that is not in the expected state.
pub(crate) fn unexpected(expected: String, actual: Option<String>) -> Error {
    let found = actual.as_deref().unwrap_or("the root");
    let what = format!(
        "expected the session at {}, found it at {found}",
        expected.escape_debug()
    );
    Error::new(ErrorKind::Conflict, what)
        .detailing(ErrorDetails::Conflict { expected, actual })
        .advising(Advice::ReadAgain)
}

/// The acknowledgement of an entry.
///
/// ```
/// use boswell_store::{Draft, Durability, Expect, Home, NewSession};
///
/// # fn main() -> boswell_store::Result<()> {
/// let writer = Home::in_memory()?.sessions()?.create(NewSession::in_project("/proj/demo"))?;
/// let first = writer.append(Draft::user("hello").with_id("ask-1"))?;
/// let again = writer.append(Draft::user("hello").with_id("ask-1"))?; // a retry
/// assert!(again.deduplicated && again.entry == first.entry);
/// // Refused with `Conflict` if another writer appended in between.
/// let expected = Expect::Revision(again.revision);
/// writer.append_with(Draft::assistant("hi"), expected, Durability::Fsync)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The session.
    pub session: Arc<SessionRef>,
    /// The entry.
    pub entry: EntryId,
    /// The revision of the log that includes this entry.
    pub revision: Revision,
    /// Whether the entry already existed with equal content.
    pub deduplicated: bool,
    /// What the entry survives.
    pub durable: Durability,
}

/// A receipt without session and durability.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) entry: EntryId,
    pub(super) revision: Revision,
    pub(super) deduplicated: bool,
}

impl Written {
    pub(super) fn of(self, session: Arc<SessionRef>, durable: Durability) -> Receipt {
        Receipt {
            session,
            entry: self.entry,
            revision: self.revision,
            deduplicated: self.deduplicated,
            durable,
        }
    }
}

/// The status of a session that is [finished](crate::SessionWriter::finish).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It succeeded.
    Completed,
    /// It failed.
    Error(String),
}

impl Outcome {
    pub(super) fn draft(&self) -> Draft {
        let data = match self {
            Outcome::Completed => Json::object().with("status", "completed"),
            Outcome::Error(message) => Json::object()
                .with("status", "error")
                .with("error", message),
        };
        Draft::new(Body::Custom {
            kind: "boswell.status".to_owned(),
            data: Some(data),
        })
    }
}
