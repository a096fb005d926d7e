//! Folds logs of operations when they are opened, so that readers see the conversation they leave.
//!
//! Listings show such a file with its own length; positions are those of the folded document. The
//! document is held in memory: its size is that of the conversation, not of the log.

use std::sync::Arc;

use boswell_dialect::{Dialect, FileInfo, FoldLog, RowSource};
use boswell_model::{Line, Result};

use super::compressed::LastUnpacked;
use super::memory::MemoryObject;
use super::{Backend, ObjectReader};

/// As many bytes of a file are read to see whether it is such a log.
const FIRST: u64 = 256;

/// Returns the backend itself, or for a dialect with logs of operations one that folds them.
pub(crate) fn with_folded_logs(
    dialect: &'static dyn Dialect,
    backend: Arc<dyn Backend>,
) -> Arc<dyn Backend> {
    match dialect.powers().fold {
        Some(fold) => Arc::new(FoldedLogs {
            backend,
            fold,
            last: LastUnpacked::default(),
        }),
        None => backend,
    }
}

/// A backend whose logs of operations are folded.
#[derive(Debug)]
struct FoldedLogs {
    backend: Arc<dyn Backend>,
    fold: &'static dyn FoldLog,
    /// The document that was folded last, by the state of its file.
    last: LastUnpacked<FileInfo>,
}

impl Backend for FoldedLogs {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        self.backend.list(folder)
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        self.backend.stat(key)
    }

    fn open(&self, key: &str) -> Result<Box<dyn ObjectReader>> {
        // The state is taken before the log is read: a batch that is added in between causes one
        // fold too many, never one too few.
        let info = self.backend.stat(key)?;
        let stored = self.backend.open(key)?;
        let is_folded = key.ends_with(".jsonl") && self.fold.folds(key, &stored.read(0, FIRST)?);
        let Some(info) = info.filter(|_| is_folded) else {
            return Ok(stored);
        };
        let bytes = self.last.bytes(info, || {
            self.fold
                .fold(key, &mut |sink| stored.lines(0, 1, sink).map(drop))
        })?;
        Ok(Box::new(FoldedLog {
            folded: MemoryObject::of(bytes),
            stored,
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

/// A folded document, and the log that it was made of.
#[derive(Debug)]
struct FoldedLog {
    folded: MemoryObject,
    stored: Box<dyn ObjectReader>,
}

impl ObjectReader for FoldedLog {
    fn end(&self) -> Result<u64> {
        self.folded.end()
    }

    fn identity(&self) -> Result<Option<(u64, u64)>> {
        self.stored.identity()
    }

    fn stored(&self) -> Option<&dyn ObjectReader> {
        Some(self.stored.as_ref())
    }

    fn read(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        self.folded.read(at, len)
    }

    fn lines(&self, from: u64, number: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64> {
        self.folded.lines(from, number, sink)
    }

    fn ends(&self, window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<bool> {
        self.folded.ends(window, sink)
    }
}
