//! Adds databases to a backend of files. This crate knows no database: the program that embeds it
//! passes what opens one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::{FileInfo, RowSource};
use boswell_model::Result;

use super::{Backend, ObjectReader};

/// Opens databases by their paths.
pub trait OpenDatabase: Send + Sync + std::fmt::Debug {
    /// Opens the database at a path for reading, without changing anything in the file system;
    /// `None` if there is none.
    ///
    /// # Errors
    ///
    /// `Damaged` if the file is not a database, `Busy` if it is locked, `Denied` if it cannot be
    /// opened.
    fn open(&self, path: &Path) -> Result<Option<Box<dyn RowSource>>>;
}

/// Returns the backend with the databases below its folder.
pub(crate) fn with_databases(
    backend: Arc<dyn Backend>,
    root: &Path,
    databases: &Arc<dyn OpenDatabase>,
) -> Arc<dyn Backend> {
    Arc::new(WithDatabases {
        backend,
        root: root.to_owned(),
        databases: Arc::clone(databases),
    })
}

#[derive(Debug)]
struct WithDatabases {
    backend: Arc<dyn Backend>,
    root: PathBuf,
    databases: Arc<dyn OpenDatabase>,
}

impl Backend for WithDatabases {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        self.backend.list(folder)
    }

    fn list_named(&self, folder: &str, fits: &dyn Fn(&str) -> bool) -> Result<Vec<FileInfo>> {
        self.backend.list_named(folder, fits)
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        self.backend.stat(key)
    }

    fn open(&self, key: &str) -> Result<Box<dyn ObjectReader>> {
        self.backend.open(key)
    }

    fn open_stored(&self, key: &str) -> Result<Box<dyn ObjectReader>> {
        self.backend.open_stored(key)
    }

    fn settings(&self, key: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        self.backend.settings(key, limit)
    }

    fn rows(&self, key: &str) -> Result<Option<Box<dyn RowSource>>> {
        // The backend decides whether the key leads to a regular file of the store.
        match self.backend.stat(key)? {
            Some(info) if info.is_file() => self.databases.open(&self.root.join(key)),
            _ => Ok(None),
        }
    }

    fn outside_links(&self) -> Vec<String> {
        self.backend.outside_links()
    }

    fn describe(&self, key: &str) -> String {
        self.backend.describe(key)
    }
}
