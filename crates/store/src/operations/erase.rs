//! Sessions that end: those whose time has come, and everything about a person.
//!
//! Both facts are metadata of a session of boswell's own (`NewSession::about`, `expiring`), written
//! with its first bytes. Nothing here runs by itself: a program asks which sessions have expired,
//! and deletes them.

use std::collections::BTreeSet;
use std::path::Path;

use boswell_dialect::{Depth, Draft, EXPIRES, SUBJECT, SessionLocation, unsupported};
use boswell_model::json::{Json, Raw};
use boswell_model::{ErrorKind, Instant, Result, SessionId, SessionMeta, SessionRef};

use crate::WritableStore;
use crate::blobs::{BlobId, Blobs, references};
use crate::locks::Wait;
use crate::operations::Purging;
use crate::runner::{PURGE, Runner};
use crate::vault::Purged;
use crate::writer::Receipt;

/// What was erased about a person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErasedSubject {
    /// The sessions of which nothing is left.
    pub sessions: Vec<SessionRef>,
    /// Sessions that a program has open: nothing of them was removed.
    pub in_use: Vec<SessionRef>,
    /// Whether a search index in the home may still have words of them. The next command of boswell
    /// that writes removes those.
    pub index_left: bool,
}

impl WritableStore {
    /// Returns the sessions that have expired.
    ///
    /// # Errors
    ///
    /// An I/O error if the sessions cannot be listed.
    pub fn expired(&self, now: Instant) -> Result<Vec<SessionLocation>> {
        self.with_metadata(|meta| {
            let expires = meta.metadata.get(EXPIRES);
            expires
                .and_then(|text| Instant::parse(text))
                .is_some_and(|at| at <= now)
        })
    }

    /// Returns the sessions that are about a person.
    ///
    /// # Errors
    ///
    /// An I/O error if the sessions cannot be listed.
    pub fn about(&self, subject: &str) -> Result<Vec<SessionLocation>> {
        self.with_metadata(|meta| is_about(meta, subject))
    }

    /// Changes metadata of a session of boswell's own: `None` removes a value. Needs no lease.
    ///
    /// # Errors
    ///
    /// `Unsupported` for sessions of other agents; otherwise those of
    /// [`annotate`](WritableStore::annotate).
    pub fn set_metadata(
        &self,
        id: impl Into<SessionId>,
        pairs: &[(&str, Option<&str>)],
    ) -> Result<Receipt> {
        let facts = self.dialect().facts();
        if !facts.is_own {
            let what = "have metadata of boswell's";
            return Err(unsupported(facts.name, what, "make a session of boswell's"));
        }
        let mut members = Json::object();
        for (key, value) in pairs {
            members = members.with(key, value.map_or(Json::Null, Json::from));
        }
        let data = Json::object().with("metadata", members);
        self.annotate(id, Draft::custom("boswell.meta", data))
    }

    fn with_metadata(
        &self,
        is_wanted: impl Fn(&SessionMeta) -> bool,
    ) -> Result<Vec<SessionLocation>> {
        let mut found = Vec::new();
        for location in self.whole().list()?.sessions {
            let read = match self.summary(&location) {
                // What lies between the ends of a long log may have changed it since.
                Ok(summary) if !summary.complete => self.read(&location, Depth::Facts),
                Ok(summary) => {
                    if is_wanted(&summary.meta) {
                        found.push(location);
                    }
                    continue;
                }
                Err(error) => Err(error),
            };
            match read {
                Ok(session) if is_wanted(session.meta()) => found.push(location),
                Ok(_) => {}
                // Another process may have deleted it since it was listed.
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }
}

fn is_about(meta: &SessionMeta, subject: &str) -> bool {
    meta.metadata
        .get(SUBJECT)
        .is_some_and(|known| known == subject)
}

impl Runner {
    /// Erases everything about a person: sessions, their copies in the vault (also of sessions that
    /// were deleted before), notes, prompts, and blobs that nothing else names. It cannot be
    /// undone.
    ///
    /// # Errors
    ///
    /// `Busy` if another process purges; an I/O error if something cannot be removed: what was
    /// begun is finished by the next command of boswell that writes.
    pub fn erase_subject(&self, store: &WritableStore, subject: &str) -> Result<ErasedSubject> {
        let _one = self.locks.exclusive(PURGE, Wait::No)?;
        let mut erased = ErasedSubject::default();
        let mut purges = Vec::new();
        for location in store.about(subject)? {
            let purging = self.purge_of(store, &location)?;
            self.begin_purge(&purging)?;
            match self.delete_session(store, &location) {
                Ok(_) => purges.push(purging),
                Err(error) => {
                    // The started change was undone, or the next run finds the marker.
                    if self.unfinished()?.is_empty() {
                        self.drop_purge(&purging)?;
                    }
                    if error.kind() != ErrorKind::Busy {
                        return Err(error);
                    }
                    erased.in_use.push(purging.session());
                }
            }
        }
        for purging in self.copies_about(store, subject, &erased.in_use)? {
            if !purges.iter().any(|it| it.session() == purging.session()) {
                self.begin_purge(&purging)?;
                purges.push(purging);
            }
        }
        self.finish_purges(store, &purges, &mut erased)?;
        Ok(erased)
    }

    fn finish_purges(
        &self,
        store: &WritableStore,
        purges: &[Purging],
        erased: &mut ErasedSubject,
    ) -> Result<()> {
        let blobs: BTreeSet<BlobId> = purges.iter().flat_map(|it| it.blobs.clone()).collect();
        remove_unnamed(store, &self.own_blobs(store.root()), &blobs)?;
        let has_index = self.has_index()?;
        for purging in purges {
            let _: Purged = self.purge(purging)?;
            if !has_index {
                self.end_purge(purging)?;
            }
            erased.sessions.push(purging.session());
        }
        erased.index_left = has_index && !purges.is_empty();
        Ok(())
    }

    fn own_blobs(&self, root: &Path) -> Blobs {
        Blobs::new(self.disk.clone(), root, &self.id_source.hex16())
    }

    /// Whether boswell has derived files in the home, which contain words of sessions.
    fn has_index(&self) -> Result<bool> {
        for name in ["catalog.db", "index"] {
            let path = self.home.join(name);
            let seen = self.disk.stat(&path);
            let seen =
                seen.map_err(|error| boswell_model::Error::io(path.display(), "look at", error))?;
            if seen.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn purge_of(&self, store: &WritableStore, location: &SessionLocation) -> Result<Purging> {
        let key = location.key.as_deref();
        Ok(Purging {
            id: self.id_source.hex16(),
            at: self.id_source.now(),
            sessions: vec![SessionRef::new(store.dialect().name(), &location.id)],
            root: store.root().to_owned(),
            log: location.key.clone(),
            paths: key
                .map(|key| store.backend().describe(key))
                .into_iter()
                .collect(),
            blobs: named(store, location)?.into_iter().collect(),
            wholes: Vec::new(),
            linked: Vec::new(),
        })
    }

    /// Returns sessions about a person of which the vault has copies, and which are not in use.
    fn copies_about(
        &self,
        store: &WritableStore,
        subject: &str,
        in_use: &[SessionRef],
    ) -> Result<Vec<Purging>> {
        let is_candidate = |session: &SessionRef, root: &Path| {
            session.dialect == store.dialect().name()
                && root == store.root()
                && !in_use.contains(session)
        };
        let mut found = Vec::new();
        for record in self.vault.list()?.0 {
            if is_candidate(&record.session, &record.root) {
                let bytes = self.vault.restore(&record)?;
                found.extend(self.purge_of_copy(&record.session, &record.root, &bytes, subject));
            }
        }
        for copy in self.vault.kept()?.files() {
            if is_candidate(&copy.session, &copy.root) {
                let bytes = self.vault.read_kept(copy)?;
                found.extend(self.purge_of_copy(&copy.session, &copy.root, &bytes, subject));
            }
        }
        found.sort_by_key(|purging: &Purging| purging.session().to_string());
        found.dedup_by_key(|purging| purging.session());
        Ok(found)
    }

    fn purge_of_copy(
        &self,
        session: &SessionRef,
        root: &Path,
        bytes: &[u8],
        subject: &str,
    ) -> Option<Purging> {
        let lines = || bytes.split(|byte| *byte == b'\n');
        let names_subject = |line: &[u8]| {
            let record = Raw::parse(line).ok();
            let value = record.and_then(|it| it.at(&["data", "metadata", SUBJECT]));
            value.is_some_and(|value| value.is(subject))
        };
        let is_close = |line: &&[u8]| memchr::memmem::find(line, SUBJECT.as_bytes()).is_some();
        lines()
            .filter(is_close)
            .any(names_subject)
            .then(|| Purging {
                id: self.id_source.hex16(),
                at: self.id_source.now(),
                sessions: vec![session.clone()],
                root: root.to_owned(),
                log: None,
                paths: Vec::new(),
                blobs: lines().flat_map(references).collect(),
                wholes: Vec::new(),
                linked: Vec::new(),
            })
    }
}

/// Returns the blobs that a session names.
fn named(store: &WritableStore, location: &SessionLocation) -> Result<BTreeSet<BlobId>> {
    let session = store.read(location, Depth::Heads)?;
    let mut ids = BTreeSet::new();
    for slot in session.log().slots() {
        ids.extend(references(&session.entry(slot)?.bytes));
    }
    Ok(ids)
}

/// Removes blobs that no session names any more.
fn remove_unnamed(store: &WritableStore, blobs: &Blobs, ids: &BTreeSet<BlobId>) -> Result<()> {
    let mut unnamed = ids.clone();
    let sessions = if ids.is_empty() {
        Vec::new()
    } else {
        store.whole().list()?.sessions
    };
    for location in sessions.iter().filter(|location| location.key.is_some()) {
        for id in named(store, location)? {
            unnamed.remove(&id);
        }
    }
    for id in &unnamed {
        if blobs.has(id)? {
            blobs.remove(id)?;
        }
    }
    Ok(())
}
