//! A store: a dialect on a backend.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use boswell_dialect::BlobPolicy;
use boswell_dialect::{
    ActiveProcess, Capability, Depth, Dialect, Files, IdSource, SessionLocation, SideFile,
    Skipping, Subagent, Support,
};
use boswell_model::{Error, ErrorKind, Result, SessionRef, Slot};

use crate::Session;
use crate::backend::{Backend, BackendFiles, FsBackend, FsLogs, LogBackend, with_sessions_of_rows};
use crate::blobs::{Blobs, Habit};
use crate::disk::{Disk, RealDisk};
use crate::session::LookFor;

mod find;
mod list;
mod set;

pub use list::{Listing, Partly, unlisted};
pub use set::{StoreId, StoreLocation, StoredSession, Stores, Summaries};

pub use crate::checkout::main_checkout;
pub use crate::exclusion::Exclusion;
pub use crate::resolve::{Resolved, Selector, Side};
pub use crate::summary::Summary;
pub use boswell_dialect::launch;

/// The largest output of a tool that is read back.
const LARGEST_OUTPUT: u64 = 256 << 20;

/// What you open and list: the sessions of one agent in one place.
///
/// ```
/// use boswell_store::{Draft, NewSession, Store};
///
/// # fn main() -> boswell_store::Result<()> {
/// let store = Store::in_memory()?;
/// let writer = store.create(NewSession::in_project("/proj/demo").with_id("first"))?;
/// writer.append(Draft::user("hello"))?;
/// writer.release()?;
/// assert_eq!(store.list()?.sessions.len(), 1);
/// assert_eq!(store.session("first")?.messages()?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Store {
    dialect: &'static dyn Dialect,
    backend: Arc<dyn Backend>,
    root: PathBuf,
    writing: Option<Writing>,
    /// Who was at work when that was first asked.
    at_work: Arc<OnceLock<Vec<ActiveProcess>>>,
    /// Boswell's home, where it is known.
    home: Option<PathBuf>,
    /// The session whose archived files these are, if they are.
    archived: Option<String>,
    /// What the user calls it, to tell it from another store of the same agent.
    label: Option<String>,
    /// Projects whose sessions are not shown.
    exclusion: Option<Arc<Exclusion>>,
}

/// What a store needs for writing.
#[derive(Debug, Clone)]
pub(crate) struct Writing {
    pub(crate) logs: Arc<dyn LogBackend>,
    pub(crate) id_source: Arc<dyn IdSource>,
    pub(crate) program: String,
    /// None where sessions are not kept in files.
    pub(crate) files: Option<WritableFiles>,
}

/// The disk of a store that keeps its sessions in files, and the folder of its locks.
#[derive(Debug, Clone)]
pub(crate) struct WritableFiles {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) locks: PathBuf,
}

impl Store {
    /// The sessions that an agent keeps below a folder.
    pub fn in_folder(dialect: &'static dyn Dialect, root: impl Into<PathBuf>) -> Store {
        let root = root.into();
        Store::on(dialect, Arc::new(FsBackend::new(&root)), root)
    }

    /// The sessions of a dialect on any backend; `root` is how people name the place.
    pub fn on(
        dialect: &'static dyn Dialect,
        backend: Arc<dyn Backend>,
        root: impl Into<PathBuf>,
    ) -> Store {
        Store {
            dialect,
            backend: with_sessions_of_rows(dialect, backend),
            root: root.into(),
            writing: None,
            at_work: Arc::default(),
            home: None,
            archived: None,
            label: None,
            exclusion: None,
        }
    }

    /// Lets the store be written: on this disk, with this clock and these ids, its locks in this
    /// folder. Beside that is the vault, where the old file of a log stays that had to be copied.
    #[must_use]
    pub fn writable(
        mut self,
        disk: Arc<dyn Disk>,
        id_source: Arc<dyn IdSource>,
        locks: impl Into<PathBuf>,
    ) -> Store {
        let (locks, root) = (locks.into(), Arc::from(self.root.as_path()));
        let found = std::sync::Mutex::default();
        let logs = FsLogs {
            disk: Arc::clone(&disk),
            id_source: Arc::clone(&id_source),
            root,
            locks: locks.clone(),
            found,
        };
        let files = Some(WritableFiles { disk, locks });
        self.writing = Some(Writing {
            logs: Arc::new(logs),
            id_source,
            program: "boswell".to_owned(),
            files,
        });
        self
    }

    /// Lets the store be written where its sessions are not files: with this clock and these ids.
    /// Its backend must show what is written there.
    ///
    /// Large values stay in the lines, and what goes by a plan is not to be had.
    #[must_use]
    pub fn writable_in(mut self, logs: Arc<dyn LogBackend>, id_source: Arc<dyn IdSource>) -> Store {
        self.writing = Some(Writing {
            logs,
            id_source,
            program: "boswell".to_owned(),
            files: None,
        });
        self
    }

    /// The folder of its files, for what changes files.
    pub(crate) fn folder(&self) -> Result<&Path> {
        if self
            .writing
            .as_ref()
            .is_none_or(|writing| writing.files.is_some())
        {
            return Ok(&self.root);
        }
        Err(Error::new(
            ErrorKind::Unsupported,
            format!("the sessions of `{}` are not files", self.root.display()),
        )
        .because("only entries can be added to them")
        .advising("append an entry instead: a title, a label, a status, a branch, a fork"))
    }

    /// The disk of its files, as far as it has one of its own.
    pub(crate) fn files(&self) -> Option<&WritableFiles> {
        self.writing.as_ref()?.files.as_ref()
    }

    /// Where times and new ids come from.
    pub(crate) fn id_source(&self) -> &dyn IdSource {
        self.writing
            .as_ref()
            .map_or(&crate::system_ids::SystemIds, |writing| {
                writing.id_source.as_ref()
            })
    }

    /// The backend, for those who go on reading.
    pub(crate) fn shared_backend(&self) -> Arc<dyn Backend> {
        Arc::clone(&self.backend)
    }

    pub(crate) fn writing(&self) -> Result<&Writing> {
        self.writing.as_ref().ok_or_else(|| {
            Error::new(
                ErrorKind::Denied,
                format!(
                    "the store `{}` was opened for reading only",
                    self.root.display()
                ),
            )
        })
    }

    /// Gives it the name by which the user tells it from another store of the same agent.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Store {
        self.label = Some(label.into());
        self
    }

    /// What the user calls it.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// Its dialect.
    pub fn dialect(&self) -> &'static dyn Dialect {
        self.dialect
    }

    /// How people name its place.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Its files.
    pub fn backend(&self) -> &dyn Backend {
        self.backend.as_ref()
    }

    /// Processes that were at work on a session when that was first asked of this store: for lists,
    /// which ask it of every session. Whoever wants to write asks [`live`](Store::live).
    pub fn was_live(&self, id: &str) -> Vec<u32> {
        let seen = self
            .at_work
            .get_or_init(|| self.active_processes().unwrap_or_default());
        seen.iter()
            .filter(|it| it.session == id)
            .map(|it| it.pid)
            .collect()
    }

    /// How well this release supports an operation here: what the format could hold, as far
    /// as boswell writes it.
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

    /// Leaves sessions of these projects out of what is listed.
    #[must_use]
    pub fn excluding(mut self, exclusion: Option<&Arc<Exclusion>>) -> Store {
        self.exclusion = exclusion.cloned();
        self
    }

    /// The same store with nothing left out: for what must see every session to be safe, and for a
    /// session that the user named in full.
    #[must_use]
    pub fn whole(&self) -> Store {
        Store {
            exclusion: None,
            ..self.clone()
        }
    }

    /// Says that these are the archived files of one session.
    #[must_use]
    pub(crate) fn archiving(mut self, id: &str) -> Store {
        self.archived = Some(id.to_owned());
        self
    }

    /// The session that this is, if it is one in the vault: it can be read, and be written
    /// once it is restored.
    pub fn archived(&self) -> Option<SessionRef> {
        self.archived
            .as_ref()
            .map(|id| SessionRef::new(self.dialect.name(), id))
    }

    /// Looks at a session without reading a large log as a whole.
    pub fn summary(&self, location: &SessionLocation) -> Result<Summary> {
        Summary::peek(self.dialect, self.backend(), location)
    }

    /// Reads a session that a listing found.
    pub fn read(&self, location: &SessionLocation, depth: Depth) -> Result<Session> {
        Ok(Session::read(self.dialect, self.backend(), location, depth)?.with_blobs(self.blobs()))
    }

    /// Reads a session as deep as [`check`](crate::repair::check) asks, in one pass.
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

    /// Reads as much of a session as a context needs: that of the tip, or of the entry `at`. Says
    /// which entry that is.
    ///
    /// Of a long session of boswell's own this is its end, from what the last compaction kept.
    /// Questions about other parts of the session than this context are for [`read`](Store::read).
    pub fn read_for_context(
        &self,
        location: &SessionLocation,
        at: Option<&str>,
    ) -> Result<(Session, boswell_model::Tip)> {
        let (session, tip) = Session::read_for_context(self.dialect, self.backend(), location, at)?;
        Ok((session.with_blobs(self.blobs()), tip))
    }

    /// Where sessions keep large values: our own in boswell's home, those of xcsh and
    /// oh-my-pi in the agent's.
    pub(crate) fn blobs(&self) -> Option<Blobs> {
        let habit = match self.dialect.facts().blobs {
            BlobPolicy::Own => None,
            BlobPolicy::Xcsh => Some(Habit::Xcsh),
            BlobPolicy::Omp => Some(Habit::Omp),
            BlobPolicy::Inline => return None,
        };
        // A file that was given by its path lies somewhere: where its agent keeps
        // blobs is not known then.
        let is_there = |key| self.backend().stat(key).ok().flatten().is_some();
        if habit.is_some() && !is_there("sessions") && !is_there("blobs") {
            return None;
        }
        if self.writing.is_some() && self.files().is_none() {
            return None;
        }
        let disk = self.files().map_or_else(
            || Arc::new(RealDisk) as Arc<dyn Disk>,
            |files| Arc::clone(&files.disk),
        );
        let unique = self
            .writing
            .as_ref()
            .map(|w| w.id_source.hex16())
            .unwrap_or_default();
        let blobs = Blobs::new(disk, &self.root, &unique);
        let home = self
            .home
            .as_deref()
            .or_else(|| self.files()?.locks.parent());
        Some(match habit {
            Some(habit) => blobs.of_agent(habit, home),
            None => blobs,
        })
    }

    /// Says where boswell's home is, in which it keeps what an agent's way of writing would lose.
    #[must_use]
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Store {
        self.home = Some(home.into());
        self
    }

    /// Files that belong to a session beside its log.
    pub fn side_files(&self, location: &SessionLocation) -> Result<Vec<SideFile>> {
        self.side_files_in(&BackendFiles(self.backend()), location)
    }

    /// Keys of files that speak of several sessions, such as an index.
    pub fn shared_files(&self) -> Result<Vec<String>> {
        match self.dialect.powers().shared_files {
            Some(shared) => shared.shared_files(&BackendFiles(self.backend())),
            None => Ok(Vec::new()),
        }
    }

    /// The same, as far as folders can be listed; and those that cannot, with the reason.
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
    pub fn subagents(&self, session: &Session) -> Result<Vec<Subagent>> {
        let files = BackendFiles(self.backend());
        match self.dialect.powers().side_files {
            Some(side_files) => side_files.subagents(&files, session.location(), &session.view()),
            None => Ok(Vec::new()),
        }
    }

    /// The whole output of a tool where a record has only its beginning; none where it has all,
    /// or where it is gone.
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
    pub fn deletes_after(&self) -> Result<Option<u64>> {
        match self.dialect.powers().runtime {
            Some(runtime) => runtime.deletes_after(&BackendFiles(self.backend())),
            None => Ok(None),
        }
    }

    /// The settings of its agent, also behind a link that leads out of the store; none if there are
    /// none. They are never shown, exported or copied as a whole.
    pub fn settings(&self, key: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        self.backend().settings(key, limit)
    }

    /// A whole file of the store, refused when it is longer than `limit`; none if it is not there.
    pub fn file(&self, key: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        BackendFiles(self.backend()).read_whole(key, limit)
    }
}
