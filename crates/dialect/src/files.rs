//! [`Files`]: read access to the files of one store, by key.
//!
//! Dialects do no I/O themselves. A key is a path relative to the store's root with `/` between its
//! parts; symbolic links that lead out of the store are reported, not followed.

use std::cell::RefCell;
use std::collections::BTreeMap;

use boswell_model::{Error, ErrorKind, Instant, Result};

use crate::RowSource;

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link that leads out of the store; never followed.
    Link,
    /// A socket, pipe, device or broken link; never opened.
    Other,
}

/// The identity of one state of a file: while it is equal, so are the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileIdentity {
    /// Device and inode.
    pub file: (u64, u64),
    /// Time of the last change of content (mtime), in nanoseconds since 1970. Programs can set it
    /// back.
    pub modified: i128,
    /// Time of the last change of any kind (ctime), in nanoseconds since 1970. Programs cannot set
    /// it back.
    pub changed: i128,
}

/// A file as listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileInfo {
    /// Path relative to the root, with `/` between its parts.
    pub key: String,
    /// The kind of the file.
    pub kind: FileKind,
    /// Length in bytes.
    pub size: u64,
    /// Time of the last change.
    pub modified: Option<Instant>,
    /// Identity of the file's state, if the backend provides it.
    pub identity: Option<FileIdentity>,
}

impl FileInfo {
    /// Returns the last part of the key.
    pub fn name(&self) -> &str {
        // Asked several times for every file of every store, in each list and search.
        let start = memchr::memrchr(b'/', self.key.as_bytes()).map_or(0, |at| at + 1);
        self.key.get(start..).unwrap_or(&self.key)
    }

    /// Returns the name without `suffix`; `None` if it does not end with it, or nothing is left.
    pub fn stem(&self, suffix: &str) -> Option<&str> {
        self.name()
            .strip_suffix(suffix)
            .filter(|stem| !stem.is_empty())
    }

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.kind == FileKind::File
    }

    /// Whether it is a folder.
    pub fn is_folder(&self) -> bool {
        self.kind == FileKind::Folder
    }
}

/// Read access to the files of one store.
pub trait Files {
    /// Returns the direct contents of a folder (`""` is the root), sorted by name. A folder that
    /// does not exist is empty.
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>>;

    /// As [`list`](Files::list), only what has a name that `fits`. The metadata of the rest is not
    /// read, which takes a system call for each file of a folder.
    fn list_named(&self, folder: &str, fits: &dyn Fn(&str) -> bool) -> Result<Vec<FileInfo>> {
        let mut found = self.list(folder)?;
        found.retain(|info| fits(info.name()));
        Ok(found)
    }

    /// Returns the file at a key; `None` if there is none.
    fn stat(&self, key: &str) -> Result<Option<FileInfo>>;

    /// Reads up to `len` bytes from `at`. A missing file is [`ErrorKind::NotFound`].
    fn read(&self, key: &str, at: u64, len: usize) -> Result<Vec<u8>>;

    /// Reads a small file with the user's settings of the agent, also through a link that leads out
    /// of the store; `None` if it is missing, or longer than `limit`. Only single settings are read
    /// from it: it is never shown, exported or copied.
    fn settings(&self, key: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        self.read_whole(key, limit)
    }

    /// Opens the database at a key for reading; `None` if it is missing, or if this backend cannot
    /// read databases.
    fn rows(&self, _key: &str) -> Result<Option<Box<dyn RowSource>>> {
        Ok(None)
    }

    /// Returns the name of the file for users and for the agent's own indexes: its path, if it has
    /// one.
    fn describe(&self, key: &str) -> String {
        key.to_owned()
    }

    /// Reads a whole file; fails if it is longer than `limit`. `None` if it is missing.
    fn read_whole(&self, key: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        match self.stat(key)? {
            Some(info) if info.is_file() && info.size <= limit => self
                .read(key, 0, usize::try_from(info.size).unwrap_or(usize::MAX))
                .map(Some),
            Some(info) if info.is_file() => Err(Error::new(
                ErrorKind::Invalid,
                format!(
                    "`{key}` is {} bytes long, more than the {limit} that such a file may have",
                    info.size
                ),
            )),
            _ => Ok(None),
        }
    }
}

/// [`Files`] that skip folders which cannot be listed, and record them, so that one such folder
/// does not hide the others.
///
/// For reading only. A plan must know which files it cannot see, and does not use this.
pub struct Skipping<'f> {
    files: &'f dyn Files,
    skipped: RefCell<BTreeMap<String, Error>>,
}

impl<'f> Skipping<'f> {
    /// Wraps `files`.
    pub fn new(files: &'f dyn Files) -> Self {
        Skipping {
            files,
            skipped: RefCell::default(),
        }
    }

    /// Returns the folders that could not be listed, with the errors.
    pub fn skipped(self) -> Vec<(String, Error)> {
        self.skipped.into_inner().into_iter().collect()
    }
}

impl Files for Skipping<'_> {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        match self.files.list(folder) {
            // The root is an error: without it there is nothing to list.
            Err(error) if !folder.is_empty() => {
                self.skipped.borrow_mut().insert(folder.to_owned(), error);
                Ok(Vec::new())
            }
            listed => listed,
        }
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        self.files.stat(key)
    }

    fn read(&self, key: &str, at: u64, len: usize) -> Result<Vec<u8>> {
        self.files.read(key, at, len)
    }

    fn settings(&self, key: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        self.files.settings(key, limit)
    }

    fn rows(&self, key: &str) -> Result<Option<Box<dyn RowSource>>> {
        self.files.rows(key)
    }

    fn describe(&self, key: &str) -> String {
        self.files.describe(key)
    }
}

/// Files in memory, for tests and for files that are given one by one.
#[derive(Debug, Default, Clone)]
pub struct MemoryFiles {
    files: BTreeMap<String, (Vec<u8>, Option<Instant>)>,
}

impl MemoryFiles {
    /// Adds or replaces a file.
    pub fn put(&mut self, key: &str, bytes: impl Into<Vec<u8>>, modified: Option<Instant>) {
        self.files.insert(key.to_owned(), (bytes.into(), modified));
    }

    fn info(&self, key: &str) -> Option<FileInfo> {
        if let Some((bytes, modified)) = self.files.get(key) {
            return Some(FileInfo {
                key: key.to_owned(),
                kind: FileKind::File,
                size: bytes.len() as u64,
                modified: *modified,
                identity: None,
            });
        }
        let below = format!("{key}/");
        let any = self
            .files
            .range(below.clone()..)
            .next()
            .is_some_and(|(k, _)| k.starts_with(&below));
        any.then(|| FileInfo {
            key: key.to_owned(),
            kind: FileKind::Folder,
            size: 0,
            modified: None,
            identity: None,
        })
    }
}

impl Files for MemoryFiles {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        let below = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let mut out: Vec<FileInfo> = Vec::new();
        for key in self.files.keys().filter(|k| k.starts_with(&below)) {
            let rest = key.get(below.len()..).unwrap_or("");
            let child = format!("{below}{}", rest.split('/').next().unwrap_or(rest));
            if out.last().is_none_or(|last| last.key != child) {
                out.extend(self.info(&child));
            }
        }
        out.sort_by(|a, b| a.key.cmp(&b.key));
        out.dedup_by(|a, b| a.key == b.key);
        Ok(out)
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        Ok(self.info(key))
    }

    fn read(&self, key: &str, at: u64, len: usize) -> Result<Vec<u8>> {
        let Some((bytes, _)) = self.files.get(key) else {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("there is no file `{key}`"),
            ));
        };
        let from = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
        let to = from.saturating_add(len).min(bytes.len());
        Ok(bytes.get(from..to).unwrap_or(b"").to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_show_files_and_folders_once() {
        let mut files = MemoryFiles::default();
        for key in ["a.json", "p/x.jsonl", "p/x/sub/1", "p.d/y", "p/z"] {
            files.put(key, "1", None);
        }
        let keys = |folder: &str| {
            files
                .list(folder)
                .unwrap()
                .into_iter()
                .map(|i| i.key)
                .collect::<Vec<_>>()
        };
        assert_eq!(keys(""), ["a.json", "p", "p.d"]);
        assert_eq!(keys("p"), ["p/x", "p/x.jsonl", "p/z"]);
        assert_eq!(keys("nowhere"), [] as [&str; 0]);
        assert_eq!(files.read("a.json", 0, 9).unwrap(), b"1");
        assert!(files.read("nope", 0, 1).unwrap_err().is_not_found());
    }
}
