//! Files that a generator made, before they are on disk.

use std::path::{Path, PathBuf};

use crate::disk;

/// One file: where it goes, below some root, and what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSpec {
    /// Path below the root, with `/` between its parts.
    pub path: String,
    /// The content.
    pub bytes: Vec<u8>,
    /// Permission bits, where the agent sets them itself.
    pub mode: Option<u32>,
    /// Modification time in milliseconds, where it is data.
    pub modified: Option<i64>,
}

/// An ordered list of files below one root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileList {
    /// The files, in the order in which they are written.
    pub list: Vec<FileSpec>,
}

impl FileList {
    /// Starts an empty list.
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

    /// Gives the content of a file, if it is there.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.list
            .iter()
            .rev()
            .find(|file| file.path == path)
            .map(|file| file.bytes.as_slice())
    }

    /// Writes everything below `root`; a path that comes twice is written twice, the last wins.
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

/// A session that a generator made: its main file and its side files.
#[derive(Clone, Debug)]
pub struct Made {
    /// The session's own id.
    pub id: String,
    /// The project folder that it says it worked in; empty if it says none.
    pub project: String,
    /// The title that its agent would show, if it has one of its own.
    pub title: Option<String>,
    /// Path of the main file below the store's root.
    pub main: String,
    /// Every file, the main one included.
    pub files: FileList,
}

impl Made {
    /// Gives the main file's content.
    pub fn bytes(&self) -> &[u8] {
        self.files.get(&self.main).unwrap_or_default()
    }

    /// Writes everything below `root` and says where the main file is.
    pub fn write_to(&self, root: &Path) -> PathBuf {
        self.files.write_to(root);
        root.join(&self.main)
    }
}

/// A whole folder of sessions with what they share, such as an index.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// What belongs to no session alone.
    pub shared: FileList,
    /// The sessions, each with its own files.
    pub sessions: Vec<Made>,
}

impl Batch {
    /// Writes everything below `root`, what is shared last.
    pub fn write_to(&self, root: &Path) {
        self.sessions
            .iter()
            .for_each(|made| made.files.write_to(root));
        self.shared.write_to(root);
    }
}
