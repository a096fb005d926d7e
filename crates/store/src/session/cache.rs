//! [`SessionCache`]: a cache of the sessions that were used last.
//!
//! A snapshot is returned again while its log is the same file with the same length and time.
//! Results never depend on the cache: clearing it costs only time.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use boswell_dialect::{Depth, SessionLocation};
use boswell_model::{Framing, Instant, Result, SessionId};

use crate::backend::ObjectReader;
use crate::{Session, Store};

/// How many bytes at the end of a log are compared before it counts as grown.
const WINDOW: u64 = 64;

/// An LRU cache of session snapshots. May be shared by threads.
#[derive(Debug)]
pub struct SessionCache {
    most: usize,
    /// The most recently used session is first.
    kept: Mutex<VecDeque<CachedSession>>,
}

#[derive(Debug, Clone)]
struct CachedSession {
    dialect: &'static str,
    root: PathBuf,
    id: SessionId,
    key: String,
    state: FileState,
    /// The last bytes of the log as it was.
    window: Vec<u8>,
    session: Arc<Session>,
}

/// Identity, length and time by which a changed log is recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileState {
    identity: Option<(u64, u64)>,
    len: u64,
    modified: Option<Instant>,
}

impl SessionCache {
    /// Makes a cache of at most `most` sessions.
    pub fn new(most: usize) -> SessionCache {
        SessionCache {
            most,
            kept: Mutex::default(),
        }
    }

    /// Returns the number of cached sessions.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Returns whether the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all sessions from the cache.
    pub fn clear(&self) {
        self.lock().clear();
    }

    /// Returns the current session: the cached snapshot if its log has not changed, else a new one.
    pub fn session(&self, store: &Store, id: impl Into<SessionId>) -> Result<Arc<Session>> {
        let id = id.into();
        let before = self.take(store, &id);
        if let Some(before) = before
            && let Some(now) = before.refreshed(store)?
        {
            return Ok(self.keep(now));
        }
        let Ok(location) = store.find(&id) else {
            return store.session(&id).map(Arc::new);
        };
        let Some(key) = location.key.clone() else {
            return store
                .read_conversation(&location, Depth::Facts)
                .map(Arc::new);
        };
        let now = CachedSession::read(store, key, &location)?;
        Ok(self.keep(now))
    }

    fn take(&self, store: &Store, id: &SessionId) -> Option<CachedSession> {
        let mut kept = self.lock();
        let at = kept.iter().position(|it| {
            it.id == *id && it.dialect == store.dialect().name() && it.root == store.root()
        })?;
        kept.remove(at)
    }

    fn keep(&self, now: CachedSession) -> Arc<Session> {
        let session = Arc::clone(&now.session);
        let mut kept = self.lock();
        // Another thread may have cached it meanwhile.
        kept.retain(|it| (it.dialect, &it.root, &it.id) != (now.dialect, &now.root, &now.id));
        kept.push_front(now);
        kept.truncate(self.most);
        session
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<CachedSession>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CachedSession {
    fn read(store: &Store, key: String, location: &SessionLocation) -> Result<CachedSession> {
        // The state is taken before the log is read: lines that are added in between cause one read
        // too many, never one too few.
        let object = store.backend().open(&key)?;
        let state = FileState::of(store, &key, object.as_ref())?;
        let session = Arc::new(store.read_conversation(location, Depth::Facts)?);
        CachedSession::new(store, key, state, session, object.as_ref())
    }

    fn new(
        store: &Store,
        key: String,
        state: FileState,
        session: Arc<Session>,
        object: &dyn ObjectReader,
    ) -> Result<CachedSession> {
        let end = session.log().bytes;
        let window = object.read(end.saturating_sub(WINDOW), WINDOW.min(end))?;
        let (dialect, root) = (store.dialect().name(), store.root().to_owned());
        Ok(CachedSession {
            dialect,
            root,
            id: session.id(),
            key,
            state,
            window,
            session,
        })
    }

    /// Returns the session brought up to date; `None` if it must be looked up and read as a whole.
    fn refreshed(self, store: &Store) -> Result<Option<CachedSession>> {
        let object = match store.backend().open(&self.key) {
            Err(error) if error.is_not_found() => return Ok(None),
            opened => opened?,
        };
        let state = FileState::of(store, &self.key, object.as_ref())?;
        if state == self.state {
            return Ok(Some(self));
        }
        if !self.has_only_grown(store, &state, object.as_ref())? {
            return Ok(None);
        }
        let location = SessionLocation {
            size: state.len,
            modified: state.modified,
            ..self.session.location().clone()
        };
        let session = Arc::new(self.session.grown(object, location)?);
        let object = store.backend().open(&self.key)?;
        CachedSession::new(store, self.key, state, session, object.as_ref()).map(Some)
    }

    /// Returns whether the cached part is still the beginning of the log, so that only its end must
    /// be read.
    ///
    /// Other agents have side files that may have changed too, so their sessions are read as a
    /// whole.
    fn has_only_grown(
        &self,
        store: &Store,
        now: &FileState,
        object: &dyn ObjectReader,
    ) -> Result<bool> {
        let log = self.session.log();
        let own =
            store.dialect().facts().is_own && self.session.location().framing == Framing::Lines;
        if !own
            || now.identity.is_none()
            || now.identity != self.state.identity
            || !log.ended
            || now.len <= log.bytes
        {
            return Ok(false);
        }
        let len = self.window.len() as u64;
        Ok(object.read(log.bytes - len, len)? == self.window)
    }
}

impl FileState {
    fn of(store: &Store, key: &str, object: &dyn ObjectReader) -> Result<FileState> {
        let modified = store.backend().stat(key)?.and_then(|info| info.modified);
        Ok(FileState {
            identity: object.identity()?,
            len: object.end()?,
            modified,
        })
    }
}
