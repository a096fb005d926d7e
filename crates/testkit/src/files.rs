//! Generated files, before they are written to disk.

use std::path::{Path, PathBuf};

use crate::disk;

/// One file: its path below a root, and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSpec {
    /// Path below the root, with `/` between its parts.
    pub path: String,
    /// The content.
    pub bytes: Vec<u8>,
    /// Permission bits, if the agent sets them itself.
    pub mode: Option<u32>,
    /// Modification time in milliseconds, if it is data.
    pub modified: Option<i64>,
}

/// An ordered list of files below one root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileList {
    /// The files, in the order in which they are written.
    pub list: Vec<FileSpec>,
}

impl FileList {
    /// Creates an empty list.
    pub fn new() -> FileList {
        FileList::default()
    }

    /// Adds a file with default mode and time.
    pub fn add(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> &mut FileSpec {
        self.list.push(FileSpec {
            path: path.into(),
            bytes: bytes.into(),
            mode: None,
            modified: None,
        });
        self.list.last_mut().expect("just pushed")
    }

    /// Adds all files of another list.
    pub fn extend(&mut self, other: FileList) {
        self.list.extend(other.list);
    }

    /// Returns the content of a file, if it exists.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.list
            .iter()
            .rev()
            .find(|file| file.path == path)
            .map(|file| file.bytes.as_slice())
    }

    /// Writes everything below `root`; of duplicate paths the last one wins.
    pub fn write_to(&self, root: &Path) {
        for file in &self.list {
            let path = root.join(&file.path);
            disk::write(&path, &file.bytes);
            if let Some(mode) = file.mode {
                disk::set_mode(&path, mode);
            }
            if let Some(ms) = file.modified {
                disk::set_modified(&path, ms);
            }
        }
    }
}

/// A generated session: its main file and its side files.
#[derive(Clone, Debug)]
pub struct Made {
    /// The session's own id.
    pub id: String,
    /// The project folder that it states; empty if none.
    pub project: String,
    /// The title that its agent would show, if it has its own.
    pub title: Option<String>,
    /// Path of the main file below the store's root.
    pub main: String,
    /// Every file, including the main one.
    pub files: FileList,
}

impl Made {
    /// Returns the content of the main file.
    pub fn bytes(&self) -> &[u8] {
        self.files.get(&self.main).unwrap_or_default()
    }

    /// Writes everything below `root` and returns the path of the main file.
    pub fn write_to(&self, root: &Path) -> PathBuf {
        self.files.write_to(root);
        root.join(&self.main)
    }
}

/// A folder of sessions with shared files, such as an index.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Files that belong to no single session.
    pub shared: FileList,
    /// The sessions, each with its own files.
    pub sessions: Vec<Made>,
}

impl Batch {
    /// Writes everything below `root`, shared files last.
    pub fn write_to(&self, root: &Path) {
        self.sessions
            .iter()
            .for_each(|made| made.files.write_to(root));
        self.shared.write_to(root);
    }
}
