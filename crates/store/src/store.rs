//! A store: a dialect on a backend.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::{Chance, Depth, Dialect, Files, Found, Located, MemoryFile, Operation, SideFile, Support};
use boswell_model::{Error, ErrorKind, Facts, Problem, Result};

use crate::backend::{Backend, BackendFiles, FsBackend};
use crate::blobs::Blobs;
use crate::disk::{Disk, RealDisk};
use crate::{Session, Summary};

/// What you open and list: the sessions of one agent in one place.
#[derive(Debug, Clone)]
pub struct Store {
    dialect: &'static dyn Dialect,
    backend: Arc<dyn Backend>,
    root: PathBuf,
    writing: Option<Writing>,
}

/// What a store needs for writing.
#[derive(Debug, Clone)]
pub(crate) struct Writing {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) chance: Arc<dyn Chance>,
    pub(crate) locks: PathBuf,
    pub(crate) program: String,
}

/// What a listing of a store found.
#[derive(Debug, Default)]
pub struct Listing {
    /// Its sessions.
    pub sessions: Vec<Located>,
    /// What is wrong with the store as a whole: key and problem.
    pub problems: Vec<(String, Problem)>,
}

impl Store {
    /// The sessions that an agent keeps below a folder.
    pub fn in_folder(dialect: &'static dyn Dialect, root: impl Into<PathBuf>) -> Store {
        let root = root.into();
        Store { dialect, backend: Arc::new(FsBackend::new(&root)), root, writing: None }
    }

    /// The sessions of a dialect on any backend; `root` is how people name the place.
    pub fn on(dialect: &'static dyn Dialect, backend: Arc<dyn Backend>, root: impl Into<PathBuf>) -> Store {
        Store { dialect, backend, root: root.into(), writing: None }
    }

    /// Lets the store be written: on this disk, with this clock and these ids, its locks in this folder.
    #[must_use]
    pub fn writable(mut self, disk: Arc<dyn Disk>, chance: Arc<dyn Chance>, locks: impl Into<PathBuf>) -> Store {
        self.writing = Some(Writing { disk, chance, locks: locks.into(), program: "boswell".to_owned() });
        self
    }

    /// Where times and new ids come from.
    pub(crate) fn chance(&self) -> &dyn Chance {
        self.writing.as_ref().map_or(&crate::chance::SystemChance, |writing| writing.chance.as_ref())
    }

    pub(crate) fn writing(&self) -> Result<&Writing> {
        self.writing.as_ref().ok_or_else(|| {
            Error::new(ErrorKind::Denied, format!("the store `{}` was opened for reading only", self.root.display()))
        })
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

    /// How well this release supports an operation here: what the format could hold, as far as boswell writes it.
    pub fn support(&self, operation: Operation) -> Support {
        let table = self.dialect.capabilities().support(operation);
        match operation {
            Operation::Read | Operation::Context | Operation::Resume => table,
            _ if self.dialect.appends() || self.dialect.plans(operation) => table,
            Operation::Title | Operation::Tag | Operation::Label | Operation::Status => Support::Note,
            _ => Support::No,
        }
    }

    /// Finds every session from names and small index files, without reading logs.
    pub fn list(&self) -> Result<Listing> {
        let Found { sessions, problems } = self.dialect.discover(&BackendFiles(self.backend()))?;
        Ok(Listing { sessions, problems })
    }

    /// The `count` sessions whose logs changed last, newest first, from the ends of their logs alone.
    pub fn recent(&self, count: usize) -> Result<Vec<Summary>> {
        let mut sessions = self.list()?.sessions;
        sessions.retain(|located| located.hidden.is_none());
        sessions.sort_by_key(|located| std::cmp::Reverse(located.modified));
        sessions.iter().take(count).map(|located| self.summary(located)).collect()
    }

    /// Looks at a session without reading a large log as a whole.
    pub fn summary(&self, located: &Located) -> Result<Summary> {
        Summary::peek(self.dialect, self.backend(), located)
    }

    /// Reads a session that a listing found.
    pub fn read(&self, located: &Located, depth: Depth) -> Result<Session> {
        Ok(Session::read(self.dialect, self.backend(), located, depth)?.with_blobs(self.blobs()))
    }

    /// Where boswell's own sessions keep large values.
    pub(crate) fn blobs(&self) -> Option<Blobs> {
        if self.dialect.name() != "boswell" {
            return None;
        }
        let disk = self.writing.as_ref().map_or_else(|| Arc::new(RealDisk) as Arc<dyn Disk>, |w| Arc::clone(&w.disk));
        let unique = self.writing.as_ref().map(|w| w.chance.hex16()).unwrap_or_default();
        Some(Blobs::new(disk, &self.root, &unique))
    }

    /// Adds what small files beside a log say of the session.
    pub fn fold_side_files(&self, located: &Located, facts: &mut Facts) -> Result<()> {
        self.dialect.fold_side_files(&BackendFiles(self.backend()), located, facts)
    }

    /// Files that belong to a session beside its log.
    pub fn side_files(&self, located: &Located) -> Result<Vec<SideFile>> {
        self.dialect.side_files(&BackendFiles(self.backend()), located)
    }

    /// Memory files of every project.
    pub fn memory(&self) -> Result<Vec<MemoryFile>> {
        self.dialect.memory(&BackendFiles(self.backend()))
    }

    /// A whole file of the store, refused when it is longer than `limit`; none if it is not there.
    pub fn file(&self, key: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        BackendFiles(self.backend()).read_whole(key, limit)
    }
}
