//! A store: a dialect on a backend.

pub(crate) mod checkout;
pub(crate) mod custom_entry;
pub(crate) mod exclusion;
pub(crate) mod native;
pub(crate) mod open_writer;
pub(crate) mod resolve;
pub(crate) mod summary;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use boswell_dialect::{
    ActiveProcess, Capability, Depth, Dialect, Files, IdSource, SessionLocation, SideFile,
    Skipping, Subagent, Support,
};
use boswell_model::{EntryId, Error, ErrorKind, Result, SessionId, SessionRef, Slot, Tip};

use crate::Session;
use crate::backend::{Backend, BackendFiles, FsBackend, OpenDatabase, seen_by, with_databases};
use crate::disk::system_ids::SystemIds;
use crate::disk::{Disk, RealDisk};
use crate::session::LookFor;

mod by_id;
mod find;
mod large_values;
mod list;
mod log_files;
mod set;
mod writable;

pub use list::{Listing, Partly, unlisted};
pub use set::{StoreId, StoreLocation, StoredSession, Stores, Summaries};
pub use writable::WritableStore;

pub use boswell_dialect::launch;
pub use checkout::main_checkout;
pub use exclusion::Exclusion;
pub use resolve::{Resolved, Selector, Side};
pub use summary::Summary;

/// Maximum size of a tool's output that is read from a side file.
const LARGEST_OUTPUT: u64 = 256 << 20;

/// What you list and read: the sessions of one agent in one place.
///
/// It writes nothing; [`Home::writable`](crate::Home::writable) makes a
/// [`WritableStore`] of it.
///
/// ```
/// use boswell_store::{Draft, Home, NewSession, Store};
///
/// # fn main() -> boswell_store::Result<()> {
/// let own = Home::in_memory()?.sessions()?;
/// let writer = own.create(NewSession::in_project("/proj/demo").with_id("first"))?;
/// writer.append(Draft::user("hello"))?;
/// writer.release()?;
/// let store: &Store = &own;
/// assert_eq!(store.list()?.sessions.len(), 1);
/// let location = store.find("first")?;
/// assert_eq!(store.summary(&location)?.meta.project.as_deref(), Some("/proj/demo"));
/// assert_eq!(store.session("first")?.messages()?.len(), 1);
/// assert!(store.find("second").is_err());
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail
/// # use boswell_store::{NewSession, Store};
/// fn write(store: &Store) {
///     let _ = store.create(NewSession::in_project("/proj/demo")); // a `WritableStore` can
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Store {
    dialect: &'static dyn Dialect,
    backend: Arc<dyn Backend>,
    /// The backend before the dialect's view of it.
    plain: Arc<dyn Backend>,
    root: PathBuf,
    /// None where its sessions are not files.
    disk: Option<Arc<dyn Disk>>,
    id_source: Arc<dyn IdSource>,
    /// The active processes when they were first queried.
    at_work: Arc<OnceLock<Vec<ActiveProcess>>>,
    /// Boswell's home, if it is known.
    home: Option<PathBuf>,
    /// The archived session, if this store is one in the vault.
    archived: Option<String>,
    /// The user's name for the store, to distinguish it from another one of the same agent.
    label: Option<String>,
    /// Projects whose sessions are not shown.
    exclusion: Option<Arc<Exclusion>>,
    /// Whether it was made for one file, which no listing contains.
    is_of_one_file: bool,
}

impl Store {
    /// Creates a store of the sessions of an agent below a folder.
    pub fn in_folder(dialect: &'static dyn Dialect, root: impl Into<PathBuf>) -> Store {
        let root = root.into();
        Store::on(dialect, Arc::new(FsBackend::new(&root)), root)
    }

    /// Creates a store of a dialect on any backend; `root` is the display name of the place.
    pub fn on(
        dialect: &'static dyn Dialect,
        backend: Arc<dyn Backend>,
        root: impl Into<PathBuf>,
    ) -> Store {
        Store {
            dialect,
            backend: seen_by(dialect, Arc::clone(&backend)),
            plain: backend,
            root: root.into(),
            disk: Some(Arc::new(RealDisk)),
            id_source: Arc::new(SystemIds),
            at_work: Arc::default(),
            home: None,
            archived: None,
            label: None,
            exclusion: None,
            is_of_one_file: false,
        }
    }

    /// Lets the dialect read databases in its folder.
    #[must_use]
    pub fn with_databases(mut self, databases: &Arc<dyn OpenDatabase>) -> Store {
        let plain = Arc::clone(&self.plain);
        let backend = with_databases(plain, &self.root, databases);
        self.backend = seen_by(self.dialect, backend);
        self
    }

    /// Makes it the store of one file outside all stores of its agent.
    #[must_use]
    pub(crate) fn of_one_file(mut self) -> Store {
        self.is_of_one_file = true;
        self
    }

    /// Whether it was made for one file outside all stores, so that only its path leads to it.
    pub fn is_of_one_file(&self) -> bool {
        self.is_of_one_file
    }

    /// Returns the folder of its files, for changes of files.
    pub(crate) fn folder(&self) -> Result<&Path> {
        if self.disk.is_some() {
            return Ok(&self.root);
        }
        Err(Error::new(
            ErrorKind::Unsupported,
            format!("the sessions of `{}` are not files", self.root.display()),
        )
        .because("only entries can be added to them")
        .advising("append an entry instead: a title, a label, a status, a branch, a fork"))
    }

    /// The disk of its files; none where its sessions are not files.
    pub(crate) fn own_disk(&self) -> Option<&Arc<dyn Disk>> {
        self.disk.as_ref()
    }

    /// Returns the source of times and new ids.
    pub(crate) fn id_source(&self) -> &dyn IdSource {
        self.id_source.as_ref()
    }

    pub(crate) fn shared_id_source(&self) -> Arc<dyn IdSource> {
        Arc::clone(&self.id_source)
    }

    /// Returns the backend, for readers that outlive the store.
    pub(crate) fn shared_backend(&self) -> Arc<dyn Backend> {
        Arc::clone(&self.backend)
    }

    /// Sets the user's name for the store, which distinguishes it from another one of the same
    /// agent.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Store {
        self.label = Some(label.into());
        self
    }

    /// Returns the user's name for the store.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// Returns the dialect.
    pub fn dialect(&self) -> &'static dyn Dialect {
        self.dialect
    }

    /// Returns the display name of its place.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the backend.
    pub fn backend(&self) -> &dyn Backend {
        self.backend.as_ref()
    }

    /// Returns the processes that had a session open when this store was first asked: for lists,
    /// which ask for every session. A caller that wants to write uses [`live`](Store::live).
    pub fn was_live(&self, id: impl Into<SessionId>) -> Vec<u32> {
        let id = id.into();
        let seen = self
            .at_work
            .get_or_init(|| self.active_processes().unwrap_or_default());
        seen.iter()
            .filter(|it| it.session == id)
            .map(|it| it.pid)
            .collect()
    }

    /// Returns how well this release supports an operation: what the format allows, as far as
    /// boswell writes it.
    pub fn support(&self, operation: Capability) -> Support {
        let table = self.dialect.facts().capabilities.support(operation);
        let powers = self.dialect.powers();
        match operation {
            Capability::Read | Capability::Context | Capability::Resume => table,
            _ if powers.append.is_some() || powers.plans(operation) => table,
            Capability::Title | Capability::Tag | Capability::Label | Capability::Status => {
                Support::Note
            }
            _ => Support::No,
        }
    }

    /// Excludes sessions of these projects from listings.
    #[must_use]
    pub fn excluding(mut self, exclusion: Option<&Arc<Exclusion>>) -> Store {
        self.exclusion = exclusion.cloned();
        self
    }

    /// Returns the store without exclusions: for operations that must see every session to be safe,
    /// and for a session that the user named completely.
    #[must_use]
    pub fn whole(&self) -> Store {
        Store {
            exclusion: None,
            ..self.clone()
        }
    }

    /// Marks the store as the archived files of one session.
    #[must_use]
    pub(crate) fn archiving(mut self, id: &str) -> Store {
        self.archived = Some(id.to_owned());
        self
    }

    /// Returns the archived session, if this store is one in the vault: it can be read, and written
    /// once it is restored.
    pub fn archived(&self) -> Option<SessionRef> {
        self.archived
            .as_ref()
            .map(|id| SessionRef::new(self.dialect.name(), id))
    }

    /// Looks at a session without reading a large log as a whole.
    ///
    /// # Errors
    ///
    /// An I/O error if the log cannot be read.
    pub fn summary(&self, location: &SessionLocation) -> Result<Summary> {
        Summary::peek(self.dialect, self.backend(), location)
    }

    /// Reads a session that a listing found.
    ///
    /// # Errors
    ///
    /// An I/O error if the log cannot be read.
    pub fn read(&self, location: &SessionLocation, depth: Depth) -> Result<Session> {
        Ok(Session::read(self.dialect, self.backend(), location, depth)?.with_blobs(self.blobs()))
    }

    /// As [`read`](Store::read), with the history that the session inherits: the fork of a newer
    /// Codex names the log that it continues instead of copying its lines. Records of other logs
    /// come first, [`Log::inherited`](boswell_model::Log::inherited) of them.
    ///
    /// # Errors
    ///
    /// An I/O error if a log cannot be read. Missing logs are not an error; see
    /// [`Session::missing_history`].
    pub fn read_conversation(&self, location: &SessionLocation, depth: Depth) -> Result<Session> {
        let session = Session::read_conversation(self.dialect, self.backend(), location, depth)?;
        Ok(session.with_blobs(self.blobs()))
    }

    /// Reads a session as deep as [`check`](crate::repair::check) asks, in one pass.
    ///
    /// # Errors
    ///
    /// An I/O error if the log cannot be read.
    pub fn read_to_check(&self, location: &SessionLocation) -> Result<Session> {
        let blobs = self.blobs();
        let look_for = if blobs.is_some() {
            LookFor::Blobs
        } else {
            LookFor::Nothing
        };
        let depth = self.dialect.facts().check_depth;
        Ok(
            Session::read_looking(self.dialect, self.backend(), location, depth, look_for)?
                .with_blobs(blobs),
        )
    }

    /// Reads the end of a long log: more than `count` entries of its branch, and its tip. `None` if
    /// the log is short or damaged near its end.
    ///
    /// For a first look only: lines are not counted, and a statement before the end may name
    /// another tip.
    ///
    /// # Errors
    ///
    /// An I/O error if the log cannot be read.
    pub fn read_end(
        &self,
        location: &SessionLocation,
        count: usize,
    ) -> Result<Option<(Session, Tip)>> {
        let read = Session::read_end(self.dialect, self.backend(), location, count)?;
        Ok(read.map(|(session, tip)| (session.with_blobs(self.blobs()), tip)))
    }

    /// Reads as much of a session as a context needs: that of the tip, or of the entry `at`. Says
    /// which entry that is.
    ///
    /// Of a long session of boswell's own this is its end, from what the last compaction kept.
    /// Questions about other parts of the session than this context are for [`read`](Store::read).
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no entry `at`; an I/O error if the log cannot be read.
    pub fn read_for_context(
        &self,
        location: &SessionLocation,
        at: Option<&EntryId>,
    ) -> Result<(Session, Tip)> {
        let (session, tip) = Session::read_for_context(self.dialect, self.backend(), location, at)?;
        Ok((session.with_blobs(self.blobs()), tip))
    }

    /// Sets boswell's home, which stores data that an agent's format would lose.
    #[must_use]
    pub(crate) fn with_home(mut self, home: impl Into<PathBuf>) -> Store {
        self.home = Some(home.into());
        self
    }

    /// Files that belong to a session beside its log.
    ///
    /// # Errors
    ///
    /// An I/O error if a folder cannot be listed.
    pub fn side_files(&self, location: &SessionLocation) -> Result<Vec<SideFile>> {
        self.side_files_in(&BackendFiles(self.backend()), location)
    }

    /// Keys of files that speak of several sessions, such as an index.
    ///
    /// # Errors
    ///
    /// An I/O error if a folder cannot be listed.
    pub fn shared_files(&self) -> Result<Vec<String>> {
        match self.dialect.powers().shared_files {
            Some(shared) => shared.shared_files(&BackendFiles(self.backend())),
            None => Ok(Vec::new()),
        }
    }

    /// The same, as far as folders can be listed; and those that cannot, with the reason.
    ///
    /// # Errors
    ///
    /// An I/O error if the store cannot be read at all.
    pub fn side_files_here(&self, location: &SessionLocation) -> Result<Partly<SideFile>> {
        let files = BackendFiles(self.backend());
        let files = Skipping::new(&files);
        let found = self.side_files_in(&files, location)?;
        Ok((found, files.skipped()))
    }

    fn side_files_in(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
    ) -> Result<Vec<SideFile>> {
        match self.dialect.powers().side_files {
            Some(side_files) => side_files.side_files(files, location),
            None => Ok(Vec::new()),
        }
    }

    /// Subagents of a session, with the calls that started them.
    ///
    /// # Errors
    ///
    /// An I/O error if a side file cannot be read.
    pub fn subagents(&self, session: &Session) -> Result<Vec<Subagent>> {
        let files = BackendFiles(self.backend());
        match self.dialect.powers().side_files {
            Some(side_files) => side_files.subagents(&files, session.location(), &session.view()),
            None => Ok(Vec::new()),
        }
    }

    /// The whole output of a tool where a record has only its beginning; none where it has all,
    /// or where it is gone.
    ///
    /// # Errors
    ///
    /// `Invalid` if the output is too long; an I/O error if it cannot be read.
    pub fn full_output(&self, session: &Session, slot: Slot) -> Result<Option<Vec<u8>>> {
        let Some(side_files) = self.dialect.powers().side_files else {
            return Ok(None);
        };
        let key = session
            .view()
            .with_object(slot, |object| {
                side_files.full_output_key(session.location(), object)
            })?
            .flatten();
        match key {
            Some(key) => self.file(&key, LARGEST_OUTPUT),
            None => Ok(None),
        }
    }

    /// After how many days its agent deletes sessions that were not changed since;
    /// none if it never does.
    ///
    /// # Errors
    ///
    /// An I/O error if the agent's settings cannot be read.
    pub fn deletes_after(&self) -> Result<Option<u64>> {
        match self.dialect.powers().runtime {
            Some(runtime) => runtime.deletes_after(&BackendFiles(self.backend())),
            None => Ok(None),
        }
    }

    /// The settings of its agent, also behind a link that leads out of the store; none if there are
    /// none. They are never shown, exported or copied as a whole.
    ///
    /// # Errors
    ///
    /// `Invalid` if they are longer than `limit`; an I/O error if they cannot be read.
    pub fn settings(&self, key: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        self.backend().settings(key, limit)
    }

    /// A whole file of the store, refused when it is longer than `limit`; none if it is not there.
    ///
    /// # Errors
    ///
    /// `Invalid` if it is longer than `limit`; an I/O error if it cannot be read.
    pub fn file(&self, key: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        BackendFiles(self.backend()).read_whole(key, limit)
    }
}
