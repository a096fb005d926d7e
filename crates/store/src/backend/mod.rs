//! Where bytes live.
//!
//! A backend keeps objects under keys and knows how records stand in them: a file holds them as lines, a table would
//! hold them as rows. Positions are opaque numbers that grow with the log: byte offsets here, sequence numbers there.

mod fs;
mod memory;

use boswell_dialect::{FileInfo, Files};
use boswell_model::{Line, Result};

pub use fs::FsBackend;
pub use memory::MemoryBackend;

/// A place that keeps session logs and the files around them.
pub trait Backend: Send + Sync + std::fmt::Debug {
    /// What stands directly in a folder (`""` is the root), sorted by name. A folder that is not there is empty.
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>>;

    /// What stands at a key; none if nothing does.
    fn stat(&self, key: &str) -> Result<Option<FileInfo>>;

    /// Opens an object for reading. What is opened stays what it was, even if something else takes its key.
    fn open(&self, key: &str) -> Result<Box<dyn ObjectReader>>;

    /// How a person would name the object: its path, where it has one.
    fn describe(&self, key: &str) -> String;
}

/// An object that was opened for reading.
pub trait ObjectReader: Send + std::fmt::Debug {
    /// Its length in the backend's positions.
    fn end(&self) -> Result<u64>;

    /// What tells this object from another that later stands at the same key; none where the backend cannot tell.
    fn identity(&self) -> Result<Option<(u64, u64)>> {
        Ok(None)
    }

    /// Up to `len` bytes from position `at`; fewer when it ends before.
    fn read(&self, at: u64, len: u64) -> Result<Vec<u8>>;

    /// Hands over every line from position `from`, which is the start of line `number`, up to the end.
    fn lines(&self, from: u64, number: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<()>;
}

/// Lets a dialect look at the objects of a backend as files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BackendFiles<'b>(pub(crate) &'b dyn Backend);

impl Files for BackendFiles<'_> {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        self.0.list(folder)
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        self.0.stat(key)
    }

    fn read(&self, key: &str, at: u64, len: usize) -> Result<Vec<u8>> {
        self.0.open(key)?.read(at, len as u64)
    }
}
