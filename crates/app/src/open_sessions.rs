//! Sessions that were read a moment ago, for faces that read the same one page by page.
//!
//! A log of 100,000 entries is divided into records once and not for every page. What is kept is
//! the table of entries: their text is read again each time. A session is taken from here only if
//! its file is in the same state.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use boswell_dialect::{Depth, SessionLocation};
use boswell_model::{Framing, Instant, Result, Revision};
use boswell_store::store::Resolved;
use boswell_store::{Session, Store};

/// How many sessions are kept, and how many bytes their tables of entries may take.
const MOST: usize = 16;
const MOST_BYTES: usize = 64 << 20;

/// Sessions that were read a moment ago, the last used one first.
#[derive(Debug, Default)]
pub(crate) struct OpenSessions(Mutex<VecDeque<OpenSession>>);

#[derive(Debug)]
struct OpenSession {
    key: Key,
    session: Arc<Session>,
}

/// Which session it is, how it was read, and the state of its file.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    root: String,
    dialect: &'static str,
    id: String,
    log: Option<String>,
    state: (Revision, Option<Instant>),
    extent: Extent,
}

/// Which records of a session are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Those of its own file.
    File,
    /// The conversation, which may begin in the log of another session.
    Conversation,
}

impl Key {
    fn of(store: &Store, location: &SessionLocation, extent: Extent) -> Key {
        Key {
            root: store.root().display().to_string(),
            dialect: store.dialect().name(),
            id: location.id.clone(),
            log: location.key.clone(),
            state: (location.revision(), location.modified),
            extent,
        }
    }

    fn is_of_same_session(&self, other: &Key) -> bool {
        (&self.root, &self.id, self.extent) == (&other.root, &other.id, other.extent)
    }
}

impl OpenSessions {
    /// Returns a session with its table of entries.
    pub(crate) fn read(&self, found: &Resolved, extent: Extent) -> Result<Arc<Session>> {
        let key = Key::of(&found.store, &found.location, extent);
        if let Some(session) = self.take(&key) {
            return Ok(session);
        }
        let read = match extent {
            Extent::File => found.store.read(&found.location, Depth::Heads)?,
            Extent::Conversation => found
                .store
                .read_conversation(&found.location, Depth::Heads)?,
        };
        let session = Arc::new(read);
        // The state of rows in a database does not show every change of them.
        if found.location.framing == Framing::Lines {
            self.keep(key, Arc::clone(&session));
        }
        Ok(session)
    }

    /// Forgets all sessions: one of them may be gone, and what was known of it must go too.
    pub(crate) fn clear(&self) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.clear();
    }

    fn take(&self, key: &Key) -> Option<Arc<Session>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = all.iter().position(|it| it.key == *key)?;
        let it = all.remove(place)?;
        let session = Arc::clone(&it.session);
        all.push_front(it);
        Some(session)
    }

    fn keep(&self, key: Key, session: Arc<Session>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|it| !it.key.is_of_same_session(&key));
        all.push_front(OpenSession { key, session });
        let mut bytes = 0;
        let mut fits = 0;
        for it in all.iter().take(MOST) {
            // The table, and the names that it refers to.
            bytes += it.session.log().heads.len() * (size_of::<boswell_model::Head>() + 48);
            if bytes > MOST_BYTES {
                break;
            }
            fits += 1;
        }
        all.truncate(fits);
    }
}

#[cfg(test)]
mod tests {
    use boswell_model::SessionRef;
    use boswell_store::store::{Selector, Side, Stores};

    use super::*;

    fn found(stores: &Stores, folder: &std::path::Path) -> Resolved {
        let selector = Selector::Ref("pi".to_owned(), "one".to_owned());
        let found = stores.resolve(&selector, folder, Side::Fuller).unwrap();
        assert_eq!(found.reference(), SessionRef::new("pi", "one"));
        found
    }

    #[test]
    fn a_session_is_read_again_only_after_its_file_changed() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("sessions/--w--");
        std::fs::create_dir_all(&folder).unwrap();
        let log = folder.join("2026-10-05T08-00-00-000Z_one.jsonl");
        let line = |id: &str, parent: &str| {
            format!(
                r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-10-05T08:00:00.000Z","message":{{"role":"user","content":"hello","timestamp":1}}}}"#
            )
        };
        let header = r#"{"type":"session","version":3,"id":"one","timestamp":"2026-10-05T08:00:00.000Z","cwd":"/w"}"#;
        let first = format!("{header}\n{}\n", line("a", "null"));
        boswell_testkit::disk::write(&log, first.as_bytes());
        let mut stores = Stores::default();
        stores.add("pi", temp.path()).unwrap();
        let open = OpenSessions::default();
        let read = |extent| open.read(&found(&stores, temp.path()), extent).unwrap();
        let once = read(Extent::Conversation);
        assert!(Arc::ptr_eq(&once, &read(Extent::Conversation)));
        assert!(!Arc::ptr_eq(&once, &read(Extent::File)));
        let second = format!("{first}{}\n", line("b", "\"a\""));
        boswell_testkit::disk::write(&log, second.as_bytes());
        let again = read(Extent::Conversation);
        assert_eq!(again.log().heads.len(), once.log().heads.len() + 1);
        open.clear();
        assert_eq!(Arc::strong_count(&again), 1, "nothing of it is kept");
    }
}
