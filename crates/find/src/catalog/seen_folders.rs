//! The folders that the listing of a store has seen, so that files in folders that do not exist are
//! not looked for.
//!
//! Most sessions have no folder for side files. A `stat` for each session, for example for a title
//! file in that folder, would cost more than listing the whole store did.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use boswell_dialect::{Discovered, FileInfo, Files, RowSource};
use boswell_model::Result;
use boswell_store::Store;
use boswell_store::backend::Backend;

/// For each folder that was listed, the folders in it.
#[derive(Debug, Default)]
pub(super) struct SeenFolders {
    listed: HashMap<String, HashSet<String>>,
}

impl SeenFolders {
    /// Lists the sessions of a store and records the folders that the listing reads.
    pub(super) fn list(store: &Store) -> Result<(Discovered, SeenFolders)> {
        let walk = Walk {
            backend: store.backend(),
            seen: RefCell::default(),
        };
        let found = store.discover(&walk)?;
        Ok((
            found,
            SeenFolders {
                listed: walk.seen.into_inner(),
            },
        ))
    }

    /// Returns the files of a store; a file in a folder that is known to be missing is reported as
    /// missing without asking the backend.
    pub(super) fn files<'f>(&'f self, backend: &'f dyn Backend) -> impl Files + 'f {
        Known {
            backend,
            folders: self,
        }
    }

    /// Returns a function that tells whether a log may have a folder for side files: a folder with
    /// the name of the log without its extension. If logs are passed in the order of a listing,
    /// each parent folder is looked up once. It returns true where nothing is known.
    pub(super) fn side_files(&self) -> impl FnMut(&str) -> bool {
        let mut last: Option<(String, Option<&HashSet<String>>)> = None;
        move |log| {
            let Some((stem, _)) = log.rsplit_once('.') else {
                return true;
            };
            let end = memchr::memrchr(b'/', stem.as_bytes()).unwrap_or(0);
            let around = stem.get(..end).unwrap_or("");
            if last.as_ref().is_none_or(|(folder, _)| folder != around) {
                last = Some((around.to_owned(), self.listed.get(around)));
            }
            let inside = last.as_ref().and_then(|(_, inside)| *inside);
            inside.is_none_or(|folders| !folders.is_empty() && folders.contains(stem))
        }
    }

    /// Returns whether the folder of the file `key` is known to be missing.
    fn lacks_folder_of(&self, key: &str) -> bool {
        key.rsplit_once('/')
            .is_some_and(|(folder, _)| self.lacks(folder))
    }

    /// Returns whether `folder` is known to be missing: its parent was listed and did not contain
    /// it.
    fn lacks(&self, folder: &str) -> bool {
        let (around, _) = folder.rsplit_once('/').unwrap_or(("", folder));
        self.listed
            .get(around)
            .is_some_and(|folders| !folders.contains(folder))
    }
}

struct Walk<'b> {
    backend: &'b dyn Backend,
    seen: RefCell<HashMap<String, HashSet<String>>>,
}

impl Files for Walk<'_> {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        let inside = self.backend.list(folder)?;
        let folders = inside
            .iter()
            .filter(|info| !info.is_file())
            .map(|info| info.key.clone())
            .collect();
        self.seen.borrow_mut().insert(folder.to_owned(), folders);
        Ok(inside)
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        self.backend.stat(key)
    }

    fn read(&self, key: &str, at: u64, len: usize) -> Result<Vec<u8>> {
        self.backend.open_stored(key)?.read(at, len as u64)
    }

    fn rows(&self, key: &str) -> Result<Option<Box<dyn RowSource>>> {
        self.backend.rows(key)
    }
}

struct Known<'f> {
    backend: &'f dyn Backend,
    folders: &'f SeenFolders,
}

impl Files for Known<'_> {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        if !folder.is_empty() && self.folders.lacks(folder) {
            Ok(Vec::new())
        } else {
            self.backend.list(folder)
        }
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        if self.folders.lacks_folder_of(key) {
            Ok(None)
        } else {
            self.backend.stat(key)
        }
    }

    fn read(&self, key: &str, at: u64, len: usize) -> Result<Vec<u8>> {
        self.backend.open_stored(key)?.read(at, len as u64)
    }

    fn rows(&self, key: &str) -> Result<Option<Box<dyn RowSource>>> {
        self.backend.rows(key)
    }
}
