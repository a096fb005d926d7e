//! Switches a driver from one session to another.
//!
//! The new session is opened and read before the old one is released, so a switch that fails
//! changes nothing: the old writer still writes. Afterwards the old session is durable and its
//! lease is free; its status stays as it was.
//!
//! Saving then continues where the stored messages end.

use boswell_model::{EntryId, EntryKind, Result, Revision, SessionId};

use crate::store::launch::{Launch, SessionArgument};
use crate::{Session, SessionWriter, Wait, WritableStore};

/// A session that was switched to.
#[derive(Debug)]
pub struct Switched {
    /// The writer of the new session.
    pub writer: SessionWriter,
    /// The stored content of the new session.
    pub session: Session,
    /// The position from which incremental saves continue.
    pub cursor: Cursor,
}

/// How much of a session is stored: what an agent has beyond it is not saved yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The revision, for [`Expect::Revision`](crate::Expect::Revision).
    pub revision: Revision,
    /// Number of entries, without the header.
    pub entries: u64,
    /// The leaf of the session.
    pub leaf: Option<EntryId>,
}

impl Cursor {
    /// Returns the end of a snapshot.
    pub fn of(session: &Session) -> Result<Cursor> {
        let log = session.log();
        let entries = log
            .heads
            .iter()
            .filter(|head| head.kind != EntryKind::Header)
            .count() as u64;
        let leaf = session.leaf()?.map(|slot| log.label(slot).as_ref().into());
        Ok(Cursor {
            revision: session.revision(),
            entries,
            leaf,
        })
    }
}

impl Switched {
    /// Returns how an agent is started on the session.
    pub fn launch(&self) -> Result<Launch> {
        Ok(Launch::Resume {
            id: SessionArgument::parse(&self.writer.reference().id)?,
            at: None,
        })
    }
}

impl WritableStore {
    /// Leaves one session for another of this store: the old one is made durable and closed with
    /// its status kept, the new one is loaded. If anything fails, the old writer is as usable as
    /// before. Switching to the session that `old` writes to loads it again and closes nothing.
    ///
    /// # Errors
    ///
    /// Those of [`SessionWriter::flush`] and [`writer`](WritableStore::writer).
    pub fn switch(
        &self,
        old: &SessionWriter,
        to: impl Into<SessionId>,
        wait: Wait,
    ) -> Result<Switched> {
        let to = to.into();
        old.flush()?;
        // Waiting for a lease that `old` itself holds would never end.
        let same = old.id() == to && old.path().starts_with(self.root());
        let writer = if same {
            old.clone()
        } else {
            self.writer(to, wait)?
        };
        let session = writer.session()?;
        let cursor = Cursor::of(&session)?;
        if !same {
            old.clone().release()?;
        }
        Ok(Switched {
            writer,
            session,
            cursor,
        })
    }
}
