//! Boswell's own folder: where an agent's sessions are, and everything that belongs to them.
//!
//! A [`Home`] knows its disk, its clock and ids, its locks and who it is for others. What it hands
//! out is wired with them, so that a caller passes none of these around.
//!
//! [`Home::in_memory`] is a home for sessions in memory alone.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::{IdSource, by_name};
use boswell_model::{Error, ErrorKind, Result};

use crate::agents::breadcrumb::Breadcrumbs;
use crate::backend::FsBackend;
use crate::blobs::Blobs;
use crate::blobs::attachments::Attachments;
use crate::checkpoint::Checkpoints;
use crate::disk::system_ids::SystemIds;
use crate::disk::{Disk, MemoryDisk, RealDisk, StatKind, durable};
use crate::locks::{Locks, Owner};
use crate::memory::{Memories, ProjectMemory};
use crate::notes::Notes;
use crate::prompts::Prompts;
use crate::runner::Runner;
use crate::vault::Vault;
use crate::{Store, WritableStore};

/// A folder with sessions, checkpoints, memory, prompts and the vault. Handles clone cheaply.
///
/// ```
/// use boswell_store::{Draft, Home, NewSession};
///
/// # fn main() -> boswell_store::Result<()> {
/// let home = Home::in_memory()?; // or `Home::open("folder")`, which makes it if it is not there
/// let writer = home.sessions()?.create(NewSession::in_project("/proj/demo"))?;
/// writer.append(Draft::user("why is the build red?"))?;
/// home.memory("/proj/demo").put("MEMORY.md", "the builds are red\n")?;
/// assert_eq!(home.memory("/proj/demo").load()?.loaded, "the builds are red\n");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Home {
    path: PathBuf,
    disk: Arc<dyn Disk>,
    id_source: Arc<dyn IdSource>,
    owner: Owner,
}

impl Home {
    /// Opens a folder as a home; it is made if it is not there.
    ///
    /// # Errors
    ///
    /// An I/O error if the folder cannot be made.
    pub fn open(path: impl Into<PathBuf>) -> Result<Home> {
        Home::at(path).made()
    }

    /// A home in memory: nothing is kept.
    ///
    /// # Errors
    ///
    /// None in practice; the signature is that of [`open`](Home::open).
    pub fn in_memory() -> Result<Home> {
        let disk = Arc::new(MemoryDisk::default());
        Home::on(disk, Arc::new(SystemIds), "/boswell").made()
    }

    /// A home that may not be there yet, for a caller that may only read. What writes makes the
    /// folders that it needs.
    pub fn at(path: impl Into<PathBuf>) -> Home {
        Home::on(Arc::new(RealDisk), Arc::new(SystemIds), path)
    }

    /// As [`at`](Home::at), on a given disk, with a given clock and ids.
    pub fn on(disk: Arc<dyn Disk>, id_source: Arc<dyn IdSource>, path: impl Into<PathBuf>) -> Home {
        Home {
            path: path.into(),
            disk,
            id_source,
            owner: Owner::this("boswell"),
        }
    }

    fn made(self) -> Result<Home> {
        durable::make_folders(self.disk.as_ref(), &self.path)?;
        Ok(self)
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Boswell's own sessions, writable.
    ///
    /// # Errors
    ///
    /// An I/O error if the folder cannot be made.
    pub fn sessions(&self) -> Result<WritableStore> {
        let Some(dialect) = by_name("boswell") else {
            return Err(Error::new(
                ErrorKind::Internal,
                "boswell's own dialect is missing",
            ));
        };
        let seen = self
            .disk
            .stat(&self.path)
            .map_err(|error| Error::io(self.path.display(), "look at", error))?;
        if seen.is_none_or(|stat| stat.kind != StatKind::Folder) {
            durable::make_folders(self.disk.as_ref(), &self.path)?;
        }
        let backend = Arc::new(FsBackend::on(Arc::clone(&self.disk), &self.path));
        Ok(self.writable(Store::on(dialect, backend, &self.path)))
    }

    /// A store of any agent, writable: its locks and copies are kept in this home.
    pub fn writable(&self, store: Store) -> WritableStore {
        let (disk, id_source) = (Arc::clone(&self.disk), Arc::clone(&self.id_source));
        WritableStore::in_files(store, disk, id_source, &self.path)
    }

    /// Captures files of a project, compares them and puts them back.
    pub fn checkpoints(&self) -> Checkpoints {
        Checkpoints::new(
            Arc::clone(&self.disk),
            Arc::clone(&self.id_source),
            self.blobs(),
        )
    }

    /// The memory of a project.
    pub fn memory(&self, project: impl Into<String>) -> ProjectMemory {
        self.memories().of_project(project)
    }

    /// The memories of all projects.
    pub fn memories(&self) -> Memories {
        Memories::new(Arc::clone(&self.disk), &self.path, &self.id_source.hex16())
    }

    /// The history of prompts.
    pub fn prompts(&self) -> Prompts {
        Prompts::new(
            Arc::clone(&self.disk),
            Arc::clone(&self.id_source),
            &self.path,
        )
    }

    /// Which session each terminal was last used for.
    pub fn breadcrumbs(&self) -> Breadcrumbs {
        Breadcrumbs::on(
            Arc::clone(&self.disk),
            Arc::clone(&self.id_source),
            self.path.join("terminal-sessions"),
        )
    }

    /// Large values, by the digest of their bytes.
    pub fn blobs(&self) -> Blobs {
        Blobs::new(Arc::clone(&self.disk), &self.path, &self.id_source.hex16())
    }

    /// Files that were attached to sessions.
    pub fn attachments(&self) -> Attachments {
        Attachments::new(self.blobs())
    }

    /// Notes about sessions of formats that have no place for them.
    ///
    /// # Errors
    ///
    /// An I/O error if they cannot be read.
    pub fn notes(&self) -> Result<Notes> {
        Notes::load(Arc::clone(&self.disk), &self.path, self.locks())
    }

    /// What carries out plans, and undoes them.
    pub fn runner(&self) -> Runner {
        Runner::new(
            Arc::clone(&self.disk),
            &self.path,
            Arc::clone(&self.id_source),
            self.owner.clone(),
        )
    }

    /// Copies of what was changed or removed.
    pub fn vault(&self) -> Vault {
        self.runner().vault().clone()
    }

    /// Its locks, by name.
    pub fn locks(&self) -> Locks {
        Locks::new(
            Arc::clone(&self.disk),
            self.path.join("locks"),
            self.owner.clone(),
            Arc::clone(&self.id_source),
        )
    }
}
