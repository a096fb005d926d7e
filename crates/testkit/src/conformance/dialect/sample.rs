//! A session as its agent writes it.

use std::collections::BTreeMap;
use std::sync::Arc;

use boswell_dialect::{Dialect, SessionLocation};
use boswell_model::Result;
use boswell_store::Store;
use boswell_store::backend::MemoryBackend;

use crate::memory_rows::{DatabaseBackend, MemoryRows};
use crate::{FileList, Made};

/// A session as its agent writes it, with its side files.
#[derive(Clone, Debug)]
pub struct DialectSample {
    /// Id of the session.
    pub id: String,
    /// Path of its log or document below the root; `None` if it is rows.
    pub main: Option<String>,
    /// Every file, including the main one.
    pub files: FileList,
    /// Databases by their path below the root.
    pub databases: BTreeMap<String, MemoryRows>,
}

impl DialectSample {
    /// Creates a session that is one file.
    pub fn file(id: &str, path: &str, bytes: impl Into<Vec<u8>>) -> DialectSample {
        let mut files = FileList::new();
        files.add(path, bytes);
        DialectSample {
            id: id.to_owned(),
            main: Some(path.to_owned()),
            files,
            databases: BTreeMap::new(),
        }
    }

    /// Creates a session that is rows of a database.
    pub fn rows(id: &str, database: &str, rows: MemoryRows) -> DialectSample {
        DialectSample {
            id: id.to_owned(),
            main: None,
            files: FileList::new(),
            databases: BTreeMap::from([(database.to_owned(), rows)]),
        }
    }

    /// Creates a session from a generator, with shared files, below a folder of the root.
    pub fn made(made: &Made, shared: &FileList, folder: &str) -> DialectSample {
        let mut files = made.files.clone();
        files.extend(shared.clone());
        for file in &mut files.list {
            file.path = format!("{folder}{}", file.path);
        }
        DialectSample {
            id: made.id.clone(),
            main: Some(format!("{folder}{}", made.main)),
            files,
            databases: BTreeMap::new(),
        }
    }

    /// Returns a store in memory that contains the session.
    pub fn store(&self, dialect: &'static dyn Dialect) -> Store {
        let mut files = MemoryBackend::default();
        for file in &self.files.list {
            files.put(&file.path, file.bytes.clone(), None);
        }
        let databases = self.databases.clone();
        Store::on(
            dialect,
            Arc::new(DatabaseBackend { files, databases }),
            "memory",
        )
    }

    /// Returns the location in a listing.
    pub(super) fn located(&self, store: &Store) -> Result<Option<SessionLocation>> {
        let sessions = store.list()?.sessions;
        Ok(sessions.into_iter().find(|location| location.id == self.id))
    }

    /// Returns the bytes of its log or document.
    pub(super) fn bytes(&self) -> &[u8] {
        let main = self.main.as_deref().unwrap_or_default();
        self.files.get(main).unwrap_or_default()
    }

    /// Returns the sample with other bytes in its log or document.
    pub(super) fn with_bytes(&self, bytes: &[u8]) -> DialectSample {
        let mut sample = self.clone();
        for file in &mut sample.files.list {
            if Some(&file.path) == self.main.as_ref() {
                file.bytes = bytes.to_vec();
            }
        }
        sample
    }
}
