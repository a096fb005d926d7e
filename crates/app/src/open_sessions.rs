//! Sessions that were read a moment ago, for faces that read the same one page by page.
//!
//! A log of 100,000 entries is divided into records once and not for every page. What is kept is
//! the table of entries, and what follows from it for every page: their text is read again each
//! time. A session is taken from here only if its file is in the same state.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use boswell_dialect::{Depth, SessionLocation};
use boswell_model::{Framing, Instant, Remark, Result, Revision, Slot, Tip};
use boswell_store::store::Resolved;
use boswell_store::{Session, Store};

use crate::gaps::other_branches;

/// How many sessions are kept, and how many bytes their tables of entries may take.
const MOST: usize = 64;
const MOST_BYTES: usize = 64 << 20;

/// Sessions that were read a moment ago, the last used one first.
#[derive(Debug, Default)]
pub(crate) struct OpenSessions {
    open: Mutex<VecDeque<(Key, Arc<OpenSession>)>>,
    /// Sessions that are being read: a page asks for several parts of one at the same time.
    reading: Mutex<Vec<(Key, Arc<Mutex<()>>)>>,
}

/// A session, and what of it does not depend on the page that is read.
#[derive(Debug)]
pub(crate) struct OpenSession {
    session: Session,
    /// The branches that were read last, by the entry that they end at; `None` for the current one.
    branches: Mutex<VecDeque<(Option<String>, Arc<OpenBranch>)>>,
    ends: OnceLock<Vec<Option<Slot>>>,
}

/// How many branches of a session are kept.
const MOST_BRANCHES: usize = 4;

/// A branch of a session.
#[derive(Debug)]
pub(crate) struct OpenBranch {
    /// Its entries in order.
    pub(crate) slots: Vec<Slot>,
    is_on: Vec<bool>,
    /// The last entry of the current branch.
    pub(crate) leaf: Option<Slot>,
    other_branches: OnceLock<Option<Remark>>,
}

impl OpenBranch {
    /// Computes the branch that ends at an entry.
    pub(crate) fn of(session: &Session, tip: Tip) -> Result<OpenBranch> {
        let slots = session.branch(tip)?;
        let mut is_on = vec![false; session.log().heads.len()];
        for slot in &slots {
            if let Some(mark) = is_on.get_mut(slot.index()) {
                *mark = true;
            }
        }
        Ok(OpenBranch {
            leaf: session.leaf()?,
            other_branches: OnceLock::new(),
            slots,
            is_on,
        })
    }

    /// Whether an entry is on it.
    pub(crate) fn has(&self, slot: Slot) -> bool {
        self.is_on.get(slot.index()) == Some(&true)
    }

    /// Returns a remark if other branches have more messages.
    pub(crate) fn remark(&self, session: &Session) -> Option<&Remark> {
        let remark = self
            .other_branches
            .get_or_init(|| other_branches(session, &self.slots));
        remark.as_ref()
    }
}

impl Deref for OpenSession {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl OpenSession {
    fn new(session: Session) -> OpenSession {
        OpenSession {
            session,
            branches: Mutex::default(),
            ends: OnceLock::new(),
        }
    }

    /// Returns the branch that ends at an entry, or the current one.
    pub(crate) fn open_branch(&self, end: Option<&str>) -> Result<Arc<OpenBranch>> {
        let lock = || self.branches.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock()
            .iter()
            .find(|(it, _)| it.as_deref() == end)
            .map(|(_, branch)| Arc::clone(branch));
        if let Some(branch) = known {
            return Ok(branch);
        }
        let tip = match end {
            Some(end) => Tip::At(self.session.find(end)?),
            None => self.session.tip()?,
        };
        let branch = Arc::new(OpenBranch::of(&self.session, tip)?);
        let mut branches = lock();
        branches.push_front((end.map(str::to_owned), Arc::clone(&branch)));
        branches.truncate(MOST_BRANCHES);
        Ok(branch)
    }

    /// Returns for each entry the last one of the conversation at or below it; `None` for
    /// bookkeeping at the end of a branch.
    pub(crate) fn ends(&self) -> &[Option<Slot>] {
        self.ends.get_or_init(|| {
            let tree = self.session.tree();
            let mut ends = vec![None; tree.len()];
            let slots: Vec<Slot> = self.session.log().slots().collect();
            let talk = |slot: &&Slot| self.session.log().kind(**slot).is_conversation();
            // The last ones first: an entry that is known already has a later one below it.
            for slot in slots.iter().rev().filter(talk) {
                for above in tree.ancestors(*slot) {
                    match ends.get_mut(above.index()) {
                        Some(end @ None) => *end = Some(*slot),
                        _ => break,
                    }
                }
            }
            ends
        })
    }
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
    pub(crate) fn read(&self, found: &Resolved, extent: Extent) -> Result<Arc<OpenSession>> {
        let key = Key::of(&found.store, &found.location, extent);
        if let Some(session) = self.take(&key) {
            return Ok(session);
        }
        let turn = self.turn(&key);
        let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = self.take(&key) {
            return Ok(session);
        }
        let read = match extent {
            Extent::File => found.store.read(&found.location, Depth::Heads)?,
            Extent::Conversation => found
                .store
                .read_conversation(&found.location, Depth::Heads)?,
        };
        let session = Arc::new(OpenSession::new(read));
        // The state of rows in a database does not show every change of them.
        if found.location.framing == Framing::Lines {
            self.keep(key, Arc::clone(&session));
        }
        Ok(session)
    }

    /// Returns the lock of requests that read the same session, so that one of them reads it.
    fn turn(&self, key: &Key) -> Arc<Mutex<()>> {
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        reading.retain(|(_, turn)| Arc::strong_count(turn) > 1);
        let known = reading.iter().find(|(it, _)| it == key);
        if let Some((_, turn)) = known {
            return Arc::clone(turn);
        }
        let turn = Arc::new(Mutex::new(()));
        reading.push((key.clone(), Arc::clone(&turn)));
        turn
    }

    /// Forgets all sessions: one of them may be gone, and what was known of it must go too.
    pub(crate) fn clear(&self) {
        let mut all = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        all.clear();
    }

    fn take(&self, key: &Key) -> Option<Arc<OpenSession>> {
        let mut all = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let place = all.iter().position(|(it, _)| it == key)?;
        let it = all.remove(place)?;
        let session = Arc::clone(&it.1);
        all.push_front(it);
        Some(session)
    }

    fn keep(&self, key: Key, session: Arc<OpenSession>) {
        let mut all = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(it, _)| !it.is_of_same_session(&key));
        all.push_front((key, session));
        let mut bytes = 0;
        let mut fits = 0;
        for (_, it) in all.iter().take(MOST) {
            // The table, the names that it refers to, and the branch.
            bytes += it.log().heads.len() * (size_of::<boswell_model::Head>() + 64);
            // The last one is kept however long it is: its next page would read all of it again.
            if bytes > MOST_BYTES && fits > 0 {
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
