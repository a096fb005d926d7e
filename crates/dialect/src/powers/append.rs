//! The [`Append`] power: encoding new entries as lines of a log.

use boswell_model::{Instant, Result, SessionMeta, SessionView};

use crate::{
    Dialect, Draft, EntryStamp, Files, IdSource, NewLog, NewSession, Parent, SessionFacts,
};

/// An agent whose logs accept new entries as lines at the end.
pub trait Append: Dialect {
    /// Checks whether the log of a session can be appended to as it is; the error contains the
    /// reason.
    fn can_append(&self, meta: &SessionMeta) -> Result<()>;

    /// Encodes a draft as a record, without the line end, and appends it to `out`. `session` is for
    /// records that repeat facts about the session; `None` if nothing is known about it.
    fn encode(
        &self,
        draft: &Draft,
        stamp: EntryStamp<'_>,
        session: Option<SessionFacts<'_>>,
        out: &mut Vec<u8>,
    ) -> Result<()>;

    /// Encodes a draft as a record of its own, without facts about the session.
    fn encoded(&self, draft: &Draft, stamp: EntryStamp<'_>) -> Result<Vec<u8>> {
        let mut record = Vec::new();
        self.encode(draft, stamp, None, &mut record)?;
        Ok(record)
    }

    /// Returns the log of a new session with this id.
    fn new_log(&self, new: &NewSession, id: &str, now: Instant) -> Result<NewLog>;

    /// Returns the key of a new log in this store; by default the one from
    /// [`new_log`](Append::new_log).
    fn resolve_key(&self, _files: &dyn Files, key: String) -> Result<String> {
        Ok(key)
    }

    /// Creates an id for a new session, in the form of the agent's own ids.
    fn session_id(&self, id_source: &dyn IdSource) -> String {
        id_source.uuid_v7()
    }

    /// Creates an id for a new entry.
    fn entry_id(&self, id_source: &dyn IdSource) -> String {
        id_source.hex16()
    }

    /// Returns the parent id for a new entry; `None` for a root. Called only if
    /// [`DialectFacts::parent_needs_full_log`](crate::DialectFacts::parent_needs_full_log) is set.
    fn parent_of_new(&self, _view: &SessionView<'_>, _parent: &Parent) -> Result<Option<String>> {
        Ok(None)
    }

    /// Whether these first bytes prove that the log accepts entries and that no entry depends on
    /// the header, so that the writer can skip parsing the header. False means unknown.
    fn has_plain_header(&self, _bytes: &[u8]) -> bool {
        false
    }

    /// Returns the id of the entry on a line, if its first bytes are enough to know it. `None`
    /// means unknown, not that the line has no id.
    fn fast_entry_id<'l>(&self, _line: &'l [u8]) -> Option<&'l str> {
        None
    }
}
