//! [`MemoryBackend`]: objects in memory, for tests, for sessions that are never stored, and for
//! files that are passed one by one.

use std::sync::Arc;

use boswell_dialect::{FileInfo, Files, MemoryFiles};
use boswell_model::{Instant, Line, Lines, Result};

use super::{Backend, ObjectReader, bytes_before, ends_of_bytes};

/// A backend whose objects are in memory.
#[derive(Debug, Default, Clone)]
pub struct MemoryBackend {
    files: MemoryFiles,
}

impl MemoryBackend {
    /// Stores an object under `key`.
    pub fn put(&mut self, key: &str, bytes: impl Into<Vec<u8>>, modified: Option<Instant>) {
        self.files.put(key, bytes, modified);
    }
}

impl Backend for MemoryBackend {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        self.files.list(folder)
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        self.files.stat(key)
    }

    fn open(&self, key: &str) -> Result<Box<dyn ObjectReader>> {
        let bytes = self.files.read(key, 0, usize::MAX)?;
        Ok(Box::new(MemoryObject::new(bytes)))
    }

    fn describe(&self, key: &str) -> String {
        format!("memory:{key}")
    }
}

/// Bytes that were opened for reading.
#[derive(Debug)]
pub(super) struct MemoryObject {
    bytes: Arc<[u8]>,
}

impl MemoryObject {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        MemoryObject {
            bytes: bytes.into(),
        }
    }

    /// Returns a reader of shared bytes.
    pub(super) fn of(bytes: Arc<[u8]>) -> Self {
        MemoryObject { bytes }
    }
}

impl ObjectReader for MemoryObject {
    fn end(&self) -> Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        let from = usize::try_from(at)
            .unwrap_or(usize::MAX)
            .min(self.bytes.len());
        let to = from
            .saturating_add(usize::try_from(len).unwrap_or(usize::MAX))
            .min(self.bytes.len());
        Ok(self.bytes.get(from..to).unwrap_or(b"").to_vec())
    }

    fn lines(&self, from: u64, number: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64> {
        let mut lines = Lines::new(from, number);
        lines.push(
            self.bytes
                .get(usize::try_from(from).unwrap_or(usize::MAX)..)
                .unwrap_or(b""),
            sink,
        );
        lines.finish(sink);
        self.end()
    }

    fn ends(&self, window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<bool> {
        ends_of_bytes(self, window, sink)
    }

    fn lines_before(&self, to: u64, window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64> {
        bytes_before(self, &mut Vec::new(), to, window, sink)
    }
}
