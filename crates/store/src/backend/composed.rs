//! Composes the logs of sessions that are not one file of records when they are opened.
//!
//! The log is held in memory: its size is that of the conversation.

use std::sync::Arc;

use boswell_dialect::{ComposeLog, Dialect, FileInfo, RowSource, composed_info};
use boswell_model::{Line, Result};

use super::compressed::LastUnpacked;
use super::memory::MemoryObject;
use super::{Backend, BackendFiles, ObjectReader};

/// Returns the backend itself, or for a dialect with such sessions one that composes them.
pub(crate) fn with_composed_logs(
    dialect: &'static dyn Dialect,
    backend: Arc<dyn Backend>,
) -> Arc<dyn Backend> {
    match dialect.powers().compose {
        Some(compose) => Arc::new(ComposedLogs {
            backend,
            compose,
            last: LastUnpacked::default(),
        }),
        None => backend,
    }
}

#[derive(Debug)]
struct ComposedLogs {
    backend: Arc<dyn Backend>,
    compose: &'static dyn ComposeLog,
    /// The log that was composed last, by the state of its files.
    last: LastUnpacked<FileInfo>,
}

impl ComposedLogs {
    /// Opens the file that a log is made of, if it is one file, and all of it.
    fn only_file(&self, key: &str) -> Result<Option<Box<dyn ObjectReader>>> {
        let files = BackendFiles(self.backend.as_ref());
        let sources = self.compose.sources(&files, key)?;
        match sources.as_slice() {
            [only] if only.key == key => self.backend.open(key).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns the state of a log that is composed; `None` for every other key.
    fn composed(&self, key: &str) -> Result<Option<FileInfo>> {
        let files = BackendFiles(self.backend.as_ref());
        let sources = self.compose.sources(&files, key)?;
        Ok(composed_info(key, &sources))
    }
}

impl Backend for ComposedLogs {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        self.backend.list(folder)
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        match self.composed(key)? {
            Some(info) => Ok(Some(info)),
            None => self.backend.stat(key),
        }
    }

    fn open(&self, key: &str) -> Result<Box<dyn ObjectReader>> {
        // The state is taken before the files are read: a change in between causes one log too
        // many, never one too few.
        let Some(info) = self.composed(key)? else {
            return self.backend.open(key);
        };
        let files = BackendFiles(self.backend.as_ref());
        let bytes = self
            .last
            .bytes(info, || self.compose.compose(&files, key))?;
        Ok(Box::new(ComposedLog {
            composed: MemoryObject::of(bytes),
            stored: self.only_file(key)?,
        }))
    }

    fn open_stored(&self, key: &str) -> Result<Box<dyn ObjectReader>> {
        self.backend.open_stored(key)
    }

    fn settings(&self, key: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        self.backend.settings(key, limit)
    }

    fn rows(&self, key: &str) -> Result<Option<Box<dyn RowSource>>> {
        self.backend.rows(key)
    }

    fn outside_links(&self) -> Vec<String> {
        self.backend.outside_links()
    }

    fn describe(&self, key: &str) -> String {
        self.backend.describe(key)
    }
}

/// A composed log, and the file that it was made of, which an export contains.
#[derive(Debug)]
struct ComposedLog {
    composed: MemoryObject,
    stored: Option<Box<dyn ObjectReader>>,
}

impl ObjectReader for ComposedLog {
    fn end(&self) -> Result<u64> {
        self.composed.end()
    }

    fn identity(&self) -> Result<Option<(u64, u64)>> {
        self.stored
            .as_ref()
            .map_or(Ok(None), |stored| stored.identity())
    }

    fn stored(&self) -> Option<&dyn ObjectReader> {
        self.stored.as_deref()
    }

    fn read(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        self.composed.read(at, len)
    }

    fn lines(&self, from: u64, number: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64> {
        self.composed.lines(from, number, sink)
    }

    fn ends(&self, window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<bool> {
        self.composed.ends(window, sink)
    }

    fn lines_before(&self, to: u64, window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64> {
        self.composed.lines_before(to, window, sink)
    }
}
