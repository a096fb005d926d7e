//! The memory of one project.

use std::path::PathBuf;

use boswell_model::Result;

use super::{Changed, Memories, Memory};

/// The pages that an agent keeps about one project.
#[derive(Debug, Clone)]
pub struct ProjectMemory {
    memories: Memories,
    project: String,
}

impl Memories {
    /// The memory of a project.
    pub fn of_project(&self, project: impl Into<String>) -> ProjectMemory {
        ProjectMemory {
            memories: self.clone(),
            project: project.into(),
        }
    }
}

impl ProjectMemory {
    /// Its folder.
    pub fn folder(&self) -> PathBuf {
        self.memories.folder(&self.project)
    }

    /// Reads it, as [`Memories::load`].
    ///
    /// # Errors
    ///
    /// An I/O error if it cannot be read.
    pub fn load(&self) -> Result<Memory> {
        self.memories.load(&self.project)
    }

    /// Writes a page, as [`Memories::put`].
    ///
    /// # Errors
    ///
    /// `Invalid` if the name or the text cannot be those of a page; an I/O error.
    pub fn put(&self, name: &str, text: &str) -> Result<Changed> {
        self.memories.put(&self.project, name, text)
    }

    /// Adds to a page, as [`Memories::append`].
    ///
    /// # Errors
    ///
    /// As for [`put`](ProjectMemory::put).
    pub fn append(&self, name: &str, text: &str) -> Result<Changed> {
        self.memories.append(&self.project, name, text)
    }

    /// Removes a page, as [`Memories::remove`].
    ///
    /// # Errors
    ///
    /// As for [`put`](ProjectMemory::put).
    pub fn remove(&self, name: &str) -> Result<Changed> {
        self.memories.remove(&self.project, name)
    }
}
