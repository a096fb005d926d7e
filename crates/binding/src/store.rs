//! A folder, memory or a database with sessions, behind the calls that both packages offer.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use boswell_model::{EntryId, Error, ErrorKind, Instant, Result, SessionRef};
use boswell_store::blobs::{BlobId, Blobs};
use boswell_store::disk::{Clock, SystemIds};
use boswell_store::session::SessionCache;
use boswell_store::{
    Body, Draft, Follower, Home, NewSession, Receipt, Session, SessionWriter, Wait, WritableStore,
};

use crate::{ListedFacts, expected_revision, refused};

/// How many sessions that were read are kept, so that only their new lines are read again.
const CACHED: usize = 16;

/// A store of a package.
#[derive(Debug)]
pub struct BindingStore {
    place: Place,
    store: WritableStore,
    cache: SessionCache,
}

#[derive(Debug)]
enum Place {
    Folder(Home),
    Memory(Home),
    #[cfg(feature = "remote")]
    Database,
}

/// A session that is to be made.
#[derive(Debug, Clone, Default)]
pub struct WantedSession {
    /// The folder of its project.
    pub project: Option<String>,
    /// Its id; without it, one is generated.
    pub id: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// The person whom it is about.
    pub subject: Option<String>,
    /// Seconds after which it expires.
    pub expires_in: Option<f64>,
}

impl WantedSession {
    fn new_session(self, project: String) -> Result<NewSession> {
        let mut new = NewSession::in_project(project);
        if let Some(id) = self.id {
            new = new.with_id(id);
        }
        if let Some(title) = self.title {
            new = new.titled(title);
        }
        if let Some(subject) = self.subject {
            new = new.about(subject);
        }
        if let Some(seconds) = self.expires_in {
            new = new.expiring(expiry(seconds)?);
        }
        Ok(new)
    }
}

/// The time that is some seconds from now.
fn expiry(seconds: f64) -> Result<Instant> {
    let time = Duration::try_from_secs_f64(seconds)
        .ok()
        .and_then(|time| i64::try_from(time.as_millis()).ok())
        .and_then(|millis| SystemIds.now().millis().checked_add(millis));
    time.map(Instant::from_millis).ok_or_else(|| {
        refused(
            "this is not a time after which a session expires",
            "give seconds, 0 or more",
        )
    })
}

impl BindingStore {
    fn over(place: impl FnOnce(Home) -> Place, home: Home) -> Result<BindingStore> {
        Ok(BindingStore {
            store: home.sessions()?,
            place: place(home),
            cache: SessionCache::new(CACHED),
        })
    }

    /// Opens a folder; it is made if it is not there.
    ///
    /// # Errors
    ///
    /// An I/O error if it cannot be made.
    pub fn open(path: impl Into<PathBuf>) -> Result<BindingStore> {
        BindingStore::over(Place::Folder, Home::open(path)?)
    }

    /// A store in memory: nothing is kept.
    ///
    /// # Errors
    ///
    /// None in practice.
    pub fn in_memory() -> Result<BindingStore> {
        BindingStore::over(Place::Memory, Home::in_memory()?)
    }

    /// Opens the sessions of a tenant in PostgreSQL.
    ///
    /// # Errors
    ///
    /// `Invalid` for an address or tenant that is not valid, `Unavailable` if the server cannot be
    /// reached, `Denied` or `Unsupported` if it has no tables or must not be used; `Unsupported` in
    /// a build without the feature `remote`.
    #[cfg(feature = "remote")]
    pub fn remote(address: &str, tenant: &str) -> Result<BindingStore> {
        use boswell_remote::{PostgresBackend, PostgresOptions, Tenant};
        use boswell_store::Store;

        let options = PostgresOptions::parse(address, Tenant::new(tenant)?)?;
        let options = options.holder(format!("boswell-store, process {}", std::process::id()));
        let backend = Arc::new(PostgresBackend::open(options)?);
        let Some(dialect) = boswell_dialect::by_name("boswell") else {
            let what = "boswell's own dialect is missing";
            return Err(Error::new(ErrorKind::Internal, what));
        };
        let logs = Store::on(dialect, backend.clone(), "postgres");
        Ok(BindingStore {
            place: Place::Database,
            store: WritableStore::on_logs(logs, backend, Arc::new(SystemIds)),
            cache: SessionCache::new(CACHED),
        })
    }

    /// Makes the tables of a database, or brings older ones to this version, as their owner; `role`
    /// is the user that programs connect as. Returns the version.
    ///
    /// # Errors
    ///
    /// Those of [`boswell_remote::DatabaseSchema::migrate`].
    #[cfg(feature = "remote")]
    pub fn make_tables(address: &str, role: Option<&str>) -> Result<i32> {
        boswell_remote::DatabaseSchema::at(address)?.migrate(role)
    }

    /// As the other one, in a build that has it.
    ///
    /// # Errors
    ///
    /// `Unsupported`, always.
    #[cfg(not(feature = "remote"))]
    pub fn make_tables(address: &str, _role: Option<&str>) -> Result<i32> {
        BindingStore::remote(address, "").map(|_| 0)
    }

    /// As the other one, in a build that has it.
    ///
    /// # Errors
    ///
    /// `Unsupported`, always.
    #[cfg(not(feature = "remote"))]
    pub fn remote(_address: &str, _tenant: &str) -> Result<BindingStore> {
        Err(Error::new(
            ErrorKind::Unsupported,
            "this build cannot open sessions in PostgreSQL",
        )
        .advising("install a package that was built with the feature `remote`"))
    }

    /// Its home, if it has one.
    pub(crate) fn home(&self) -> Option<&Home> {
        match &self.place {
            Place::Folder(home) | Place::Memory(home) => Some(home),
            #[cfg(feature = "remote")]
            Place::Database => None,
        }
    }

    /// Its folder, if its sessions are files.
    pub fn path(&self) -> Option<&Path> {
        match &self.place {
            Place::Folder(home) | Place::Memory(home) => Some(home.path()),
            #[cfg(feature = "remote")]
            Place::Database => None,
        }
    }

    /// Its folder on a real disk, which other programs can read too.
    #[cfg(feature = "search")]
    pub(crate) fn folder(&self) -> Option<&Path> {
        match &self.place {
            Place::Folder(home) => Some(home.path()),
            _ => None,
        }
    }

    /// Large values by their digests, if its sessions are files.
    pub fn blobs(&self) -> Option<Blobs> {
        self.home().map(Home::blobs)
    }

    fn own_home(&self, what: &str) -> Result<&Home> {
        self.home().ok_or_else(|| {
            Error::new(
                ErrorKind::Unsupported,
                format!("sessions in a database {what}"),
            )
            .advising("use a store of files for this: `Store.open(folder)`")
        })
    }

    /// Makes a session in a project, unless the request names another. The writer holds its lease.
    ///
    /// # Errors
    ///
    /// Those of [`WritableStore::create`].
    pub fn create(&self, request: WantedSession, project: &str) -> Result<SessionWriter> {
        let project = request
            .project
            .clone()
            .unwrap_or_else(|| project.to_owned());
        self.store.create(request.new_session(project)?)
    }

    /// Opens a session for writing; shared, without its lease.
    ///
    /// # Errors
    ///
    /// Those of [`WritableStore::writer`].
    pub fn writer(&self, id: &str, wait: Wait, shared: bool) -> Result<SessionWriter> {
        match shared {
            true => self.store.shared_writer(id),
            false => self.store.writer(id, wait),
        }
    }

    /// Makes a session from the branch of another one; it belongs to the same project, unless the
    /// request names another.
    ///
    /// # Errors
    ///
    /// Those of [`WritableStore::fork`].
    pub fn fork(
        &self,
        id: &str,
        at: Option<String>,
        request: WantedSession,
    ) -> Result<SessionWriter> {
        let at = at.map(EntryId::from);
        let project = match request.project.clone() {
            Some(project) => project,
            None => {
                let source = self.store.session(id)?;
                source.meta().project.clone().unwrap_or_default()
            }
        };
        self.store
            .fork(id, at.as_ref(), request.new_session(project)?)
    }

    /// Returns a session as it is now. Of one that was read before, only new lines are read.
    ///
    /// # Errors
    ///
    /// Those of [`boswell_store::Store::session`].
    pub fn session(&self, id: &str) -> Result<Arc<Session>> {
        self.cache.session(&self.store, id)
    }

    /// Whether there is a session with that id.
    ///
    /// # Errors
    ///
    /// An I/O error if that cannot be found out.
    pub fn has(&self, id: &str) -> Result<bool> {
        match self.store.find(id) {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Lists the sessions, from their names alone; with `details`, title, project and times are
    /// read. With a subject, only those that are about that person.
    ///
    /// # Errors
    ///
    /// An I/O error if they cannot be listed.
    pub fn list(&self, details: bool, subject: Option<&str>) -> Result<Vec<ListedFacts>> {
        let locations = match subject {
            Some(subject) => self.store.about(subject)?,
            None => self.store.list()?.sessions,
        };
        let mut facts = Vec::new();
        for location in locations {
            let summary = match details.then(|| self.store.summary(&location)).transpose() {
                Ok(summary) => summary,
                // Another process may have deleted it since it was listed.
                Err(error) if error.is_not_found() => continue,
                Err(error) => return Err(error),
            };
            facts.push(ListedFacts {
                modified: location.modified.map(Instant::millis),
                size: location.size,
                id: location.id,
                summary,
            });
        }
        Ok(facts)
    }

    /// Follows a session: from its first entry, from its end, or since a revision.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such session, `Invalid` for a revision that is none.
    pub fn follow(&self, id: &str, since: Option<&str>, from_end: bool) -> Result<Follower> {
        match since {
            Some(since) => Follower::since(&self.store, id, &expected_revision(since)?),
            None if from_end => Follower::from_end(&self.store, id),
            None => Follower::new(&self.store, id),
        }
    }

    /// Gives a session a title, without its lease.
    ///
    /// # Errors
    ///
    /// Those of [`WritableStore::annotate`].
    pub fn set_title(&self, id: &str, title: String) -> Result<Receipt> {
        self.store.annotate(id, Draft::new(Body::Title(title)))
    }

    /// Sets after how many seconds from now a session expires; `None` means never.
    ///
    /// # Errors
    ///
    /// Those of [`WritableStore::set_metadata`].
    pub fn set_expiry(&self, id: &str, expires_in: Option<f64>) -> Result<Receipt> {
        let at = expires_in.map(expiry).transpose()?;
        let text = at.map(Instant::to_rfc3339);
        self.store
            .set_metadata(id, &[(boswell_dialect::EXPIRES, text.as_deref())])
    }

    /// Deletes a session that no driver holds. The vault of a folder keeps a copy, and the
    /// operation that is returned can be taken back with `boswell undo`; rows of a database are
    /// gone.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such session, `Busy` if another process has it open.
    pub fn delete(&self, id: &str) -> Result<Option<String>> {
        let Some(home) = self.home() else {
            self.store.delete(id, Wait::No)?;
            return Ok(None);
        };
        let location = self.store.find(id)?;
        let runner = home.runner();
        Ok(Some(runner.delete_session(&self.store, &location)?.id))
    }

    /// Restores a session that was deleted.
    ///
    /// # Errors
    ///
    /// `NotFound` if the vault has no copy, `Unsupported` for a database.
    pub fn restore(&self, id: &str) -> Result<()> {
        let session = SessionRef::new(self.store.dialect().name(), id);
        let home = self.own_home("are deleted for good")?;
        home.runner().restore(&session).map(drop)
    }

    /// Deletes the sessions that have expired, as [`delete`](BindingStore::delete) does, and
    /// returns their ids. One that a program has open stays until the next call.
    ///
    /// # Errors
    ///
    /// An I/O error if a session cannot be deleted.
    pub fn expire(&self) -> Result<Vec<String>> {
        let mut deleted = Vec::new();
        for location in self.store.expired(SystemIds.now())? {
            match self.delete(&location.id) {
                Ok(_) => deleted.push(location.id),
                Err(error) if error.is_not_found() || error.kind() == ErrorKind::Busy => {}
                Err(error) => return Err(error),
            }
        }
        Ok(deleted)
    }

    /// Erases everything about a person, for good, and returns the ids of the sessions.
    ///
    /// # Errors
    ///
    /// `Busy` if a program has one of them open: the others are erased; an I/O error if something
    /// cannot be removed.
    pub fn erase(&self, subject: &str) -> Result<Vec<String>> {
        let (erased, in_use): (Vec<String>, Vec<String>) = match self.home() {
            Some(home) => {
                let done = home.runner().erase_subject(&self.store, subject)?;
                #[cfg(feature = "search")]
                if done.index_left {
                    self.finish_erasing()?;
                }
                let ids = |refs: Vec<SessionRef>| refs.into_iter().map(|it| it.id).collect();
                (ids(done.sessions), ids(done.in_use))
            }
            None => self.erase_rows(subject)?,
        };
        if in_use.is_empty() {
            return Ok(erased);
        }
        Err(Error::new(
            ErrorKind::Busy,
            format!("not everything was erased: {} in use", in_use.join(", ")),
        )
        .because(format!("{} of the sessions are gone", erased.len()))
        .advising("end the programs that write to them, and erase again"))
    }

    fn erase_rows(&self, subject: &str) -> Result<(Vec<String>, Vec<String>)> {
        let (mut erased, mut in_use) = (Vec::new(), Vec::new());
        for location in self.store.about(subject)? {
            match self.store.delete(&location.id, Wait::No) {
                Ok(()) => erased.push(location.id),
                Err(error) if error.kind() == ErrorKind::Busy => in_use.push(location.id),
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        Ok((erased, in_use))
    }
}

/// Reads the id of a blob.
///
/// # Errors
///
/// `Invalid` if it is none.
pub fn blob_id(id: &str) -> Result<BlobId> {
    let parsed = BlobId::from_reference(id).or_else(|| BlobId::parse(id));
    parsed.ok_or_else(|| {
        refused(
            format!("`{}` is not the id of a blob", id.escape_debug()),
            "give what `put` returned",
        )
    })
}
