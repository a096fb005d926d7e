//! Appending entries to logs of lines.

use boswell_model::{Instant, Result, SessionMeta, SessionView};

use crate::{
    Dialect, Draft, EntryStamp, Files, IdSource, NewLog, NewSession, Parent, SessionFacts,
};

/// An agent whose logs take new entries as lines behind the old ones.
pub trait Append: Dialect {
    /// Whether the log of a session can be appended to as it is; if not, why.
    fn can_append(&self, meta: &SessionMeta) -> Result<()>;

    /// Encodes a draft as a record, without the line end, behind what `out` holds. `session` is
    /// what is known of the session, for records that repeat it; none where nothing is.
    fn encode(
        &self,
        draft: &Draft,
        stamp: EntryStamp<'_>,
        session: Option<SessionFacts<'_>>,
        out: &mut Vec<u8>,
    ) -> Result<()>;

    /// A record alone, of a session of which nothing is known.
    fn encoded(&self, draft: &Draft, stamp: EntryStamp<'_>) -> Result<Vec<u8>> {
        let mut record = Vec::new();
        self.encode(draft, stamp, None, &mut record)?;
        Ok(record)
    }

    /// The log of a new session with that id.
    fn new_log(&self, new: &NewSession, id: &str, now: Instant) -> Result<NewLog>;

    /// Where a new log goes in this store; by default where [`new_log`](Append::new_log) says.
    fn resolve_key(&self, _files: &dyn Files, key: String) -> Result<String> {
        Ok(key)
    }

    /// A new id for a session, in the form that the agent gives its own.
    fn session_id(&self, id_source: &dyn IdSource) -> String {
        id_source.uuid_v7()
    }

    /// An id for a new entry.
    fn entry_id(&self, id_source: &dyn IdSource) -> String {
        id_source.hex16()
    }

    /// The entry that a new one with that parent follows; none for a root. Asked only where
    /// [`DialectFacts::parent_needs_full_log`](crate::DialectFacts::parent_needs_full_log) says so.
    fn parent_of_new(&self, _view: &SessionView<'_>, _parent: &Parent) -> Result<Option<String>> {
        Ok(None)
    }

    /// Whether a log that begins with these bytes is sure to take entries, none of which needs
    /// anything that its header says: then the header need not be parsed.
    fn has_plain_header(&self, _bytes: &[u8]) -> bool {
        false
    }

    /// The id of the entry that is all of a line, where a look at its first bytes is enough; none
    /// says nothing about the line.
    fn fast_entry_id<'l>(&self, _line: &'l [u8]) -> Option<&'l str> {
        None
    }
}
