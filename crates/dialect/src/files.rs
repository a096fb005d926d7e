//! What a dialect may look at: files below its root, by key.

use std::cell::RefCell;
use std::collections::BTreeMap;

use boswell_model::{Error, ErrorKind, Instant, Result};

use crate::RowSource;

/// What stands at a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link that leads out of the store: never followed.
    Link,
    /// A socket, a pipe, a device, a link that leads nowhere: never opened.
    Other,
}

/// What tells one state of a file from every other: while all of it stays the
/// same, so do the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileIdentity {
    /// Device and number of the file.
    pub file: (u64, u64),
    /// Nanoseconds since 1970 of the last change of content. Programs may set it back.
    pub modified: i128,
    /// Nanoseconds since 1970 of the last change of any kind. Nobody can set it back.
    pub changed: i128,
}

/// A file as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileInfo {
    /// Path below the root, parts joined by `/`.
    pub key: String,
    /// What it is.
    pub kind: FileKind,
    /// Its length.
    pub size: u64,
    /// When it was last changed.
    pub modified: Option<Instant>,
    /// What tells its state from others, where the backend can say.
    pub identity: Option<FileIdentity>,
}

impl FileInfo {
    /// The last part of the key.
    pub fn name(&self) -> &str {
        self.key.rsplit('/').next().unwrap_or(&self.key)
    }

    /// The name without `suffix`, if it ends so and something is left.
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
    /// What stands directly in a folder (`""` is the root), sorted by name. A folder that
    /// is not there is empty.
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>>;

    /// What stands at a key; none if nothing does.
    fn stat(&self, key: &str) -> Result<Option<FileInfo>>;

    /// Up to `len` bytes from `at`. A file that is not there is [`ErrorKind::NotFound`].
    fn read(&self, key: &str, at: u64, len: usize) -> Result<Vec<u8>>;

    /// A small file in which a person sets up the agent, also behind a link that leads out of the
    /// store; none if it is not there, or longer than `limit`. Only single settings are taken from
    /// it: it is never shown, exported or copied.
    fn settings(&self, key: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        self.read_whole(key, limit)
    }

    /// Opens the database at a key for reading; none if it is not there, or if databases cannot be
    /// read in this place.
    fn rows(&self, _key: &str) -> Result<Option<Box<dyn RowSource>>> {
        Ok(None)
    }

    /// How a person, or an index of the agent's own, names the file: its path, where it has one.
    fn describe(&self, key: &str) -> String {
        key.to_owned()
    }

    /// A whole file, refused when it is longer than `limit`; none if it is not there.
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

/// Files of a store of which one folder that cannot be listed does not hide the others: it is
/// passed over and remembered.
///
/// For reading. A plan must know what it does not see, and goes without this.
pub struct Skipping<'f> {
    files: &'f dyn Files,
    skipped: RefCell<BTreeMap<String, Error>>,
}

impl<'f> Skipping<'f> {
    /// The same files.
    pub fn new(files: &'f dyn Files) -> Self {
        Skipping {
            files,
            skipped: RefCell::default(),
        }
    }

    /// The folders that could not be listed, and why.
    pub fn skipped(self) -> Vec<(String, Error)> {
        self.skipped.into_inner().into_iter().collect()
    }
}

impl Files for Skipping<'_> {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        match self.files.list(folder) {
            // Without the root there is nothing that could be passed over.
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

/// Files in memory, for tests and for files handed over one by one.
#[derive(Debug, Default, Clone)]
pub struct MemoryFiles {
    files: BTreeMap<String, (Vec<u8>, Option<Instant>)>,
}

impl MemoryFiles {
    /// Puts a file.
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
