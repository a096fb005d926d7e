//! A store whose sessions can be written.

use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, Mutex};

use boswell_dialect::{IdSource, SessionLocation};
use boswell_model::{Result, Revision};

use super::Store;
use crate::backend::{FsLogs, LogBackend};
use crate::disk::Disk;
use crate::writer::{Expect, unexpected};

/// A [`Store`] that can be written: it makes sessions and opens them for writing.
///
/// Whatever reads takes a [`Store`], and this is one: it derefs to it. A [`Home`](crate::Home)
/// hands it out, for boswell's own sessions and for those of any agent.
///
/// ```
/// use boswell_store::{Draft, Home, NewSession};
///
/// # fn main() -> boswell_store::Result<()> {
/// let store = Home::in_memory()?.sessions()?;
/// let writer = store.create(NewSession::in_project("/proj/demo").with_id("first"))?;
/// let asked = writer.append(Draft::user("hello"))?;
/// writer.release()?;
/// store.fork("first", Some(&asked.entry), NewSession::in_project("/proj/demo"))?.release()?;
/// store.annotate("first", Draft::new(boswell_store::Body::Title("greeting".into())))?;
/// assert_eq!(store.list()?.sessions.len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct WritableStore {
    store: Store,
    logs: Arc<dyn LogBackend>,
    /// The revision that a session must have when it is changed.
    expected: Option<Revision>,
}

impl WritableStore {
    /// A store whose sessions are not files: lines go to `logs`, with this clock and these ids. The
    /// store's backend must show what is written there.
    ///
    /// Large values stay in the lines, and what goes by a plan is not to be had.
    pub fn on_logs(
        mut store: Store,
        logs: Arc<dyn LogBackend>,
        id_source: Arc<dyn IdSource>,
    ) -> WritableStore {
        store.disk = None;
        store.id_source = id_source;
        WritableStore {
            store,
            logs,
            expected: None,
        }
    }

    /// A store of files. Locks are kept in `home`, and the vault there keeps the old file of a log
    /// that had to be copied.
    pub(crate) fn in_files(
        mut store: Store,
        disk: Arc<dyn Disk>,
        id_source: Arc<dyn IdSource>,
        home: &Path,
    ) -> WritableStore {
        let logs = FsLogs {
            disk: Arc::clone(&disk),
            id_source: Arc::clone(&id_source),
            root: Arc::from(store.root()),
            locks: home.join("locks"),
            found: Mutex::default(),
        };
        store.home.get_or_insert_with(|| home.to_owned());
        store.disk = Some(disk);
        store.id_source = id_source;
        WritableStore {
            store,
            logs: Arc::new(logs),
            expected: None,
        }
    }

    /// Changes a session only if it is at this revision, which is compared under the lock of the
    /// change. A writer compares it with its first entry.
    #[must_use]
    pub fn expecting(mut self, revision: Option<Revision>) -> WritableStore {
        self.expected = revision;
        self
    }

    /// Fails if the session is not at the expected revision now: for a change whose lock the caller
    /// holds.
    ///
    /// # Errors
    ///
    /// `Conflict` with the revision that it has, `NotFound` if it is gone.
    pub fn require_expected(&self, location: &SessionLocation) -> Result<()> {
        match self.expected {
            Some(_) => self.as_expected(location).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Returns where a session is now, if it is at the expected revision.
    pub(crate) fn as_expected(&self, location: &SessionLocation) -> Result<SessionLocation> {
        let now = self.relocate(location)?;
        self.require_revision(&now.revision())?;
        Ok(now)
    }

    /// Fails if a revision is not the expected one.
    pub(crate) fn require_revision(&self, actual: &Revision) -> Result<()> {
        match self.expected {
            Some(expected) if !expected.fits(actual) => {
                Err(unexpected(expected.to_string(), Some(actual.to_string())))
            }
            _ => Ok(()),
        }
    }

    /// Returns what the first entry of a writer must find.
    pub(crate) fn expectation(&self) -> Expect {
        self.expected.map_or(Expect::Any, Expect::Revision)
    }

    pub(crate) fn logs(&self) -> &dyn LogBackend {
        self.logs.as_ref()
    }
}

impl Store {
    /// Uses these ids and no disk, for sessions that are only in memory.
    pub(crate) fn with_ids(mut self, id_source: Arc<dyn IdSource>) -> Store {
        self.id_source = id_source;
        self.disk = None;
        self
    }
}

impl Deref for WritableStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

impl AsRef<Store> for WritableStore {
    fn as_ref(&self) -> &Store {
        &self.store
    }
}

impl AsRef<Store> for Store {
    fn as_ref(&self) -> &Store {
        self
    }
}
