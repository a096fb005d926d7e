//! Storage of session logs and their side files: the [`Backend`] trait and its implementations.
//!
//! A backend stores objects under keys and knows how records are laid out in them: as lines of a
//! file, or as rows of a table. Positions are opaque numbers that grow with the log: byte offsets
//! or sequence numbers. Reading is in [`Backend`] and [`ObjectReader`], writing in [`LogBackend`]
//! and [`LogAppender`]; most backends only read.

mod archived;
mod catalog_rows;
mod composed;
mod compressed;
mod databases;
mod failed_sync;
mod file_appender;
mod folded;
mod fs;
mod fs_logs;
mod log_backend;
mod memory;
mod row_document;
mod row_folders;
mod row_log;

use std::sync::Arc;

use boswell_dialect::{FileInfo, Files, RowSource};
use boswell_model::{Line, Lines, Result, SessionRef};

use crate::blobs::RemoteBlobs;

pub(crate) use archived::VaultBackend;
pub use catalog_rows::{ListedLog, LogLookup, PageCursor, PageRequest};
use composed::with_composed_logs;
pub use compressed::is_packed;
pub use databases::OpenDatabase;
pub(crate) use databases::with_databases;
use folded::with_folded_logs;
pub use fs::FsBackend;
pub(crate) use fs::leads_outside;
pub(crate) use fs_logs::{FsLogs, lock_name};
pub use log_backend::{
    AppendError, AppendResult, Lease, LogAppender, LogBackend, LogClaim, LogName, OpenLog, SyncWork,
};
pub use memory::MemoryBackend;
pub(crate) use row_log::seen_by;

/// Storage of session logs and the files that belong to them.
pub trait Backend: Send + Sync + std::fmt::Debug {
    /// Lists the content of a folder (`""` is the root), sorted by name. A folder that does not
    /// exist is empty.
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>>;

    /// As [`list`](Backend::list), only what has a name that `fits`, without reading the metadata
    /// of the rest.
    fn list_named(&self, folder: &str, fits: &dyn Fn(&str) -> bool) -> Result<Vec<FileInfo>> {
        let mut found = self.list(folder)?;
        found.retain(|info| fits(info.name()));
        Ok(found)
    }

    /// Returns the file at a key; `None` if there is none.
    fn stat(&self, key: &str) -> Result<Option<FileInfo>>;

    /// Opens an object for reading. The reader keeps reading that object, even if another one is
    /// put under the key.
    fn open(&self, key: &str) -> Result<Box<dyn ObjectReader>>;

    /// Opens the bytes of an object as they are stored, where [`open`](Backend::open) returns a
    /// document that is made of them.
    fn open_stored(&self, key: &str) -> Result<Box<dyn ObjectReader>> {
        self.open(key)
    }

    /// Reads a small settings file of an agent; `None` if it does not exist or is longer than
    /// `limit`.
    ///
    /// People keep such files elsewhere and leave a symbolic link: it is followed, also out of the
    /// store. So the caller takes single settings from it, and never shows, exports or copies it.
    fn settings(&self, key: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        match self.stat(key)? {
            Some(info) if info.is_file() && info.size <= limit => {
                self.open(key)?.read(0, limit).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Opens the database at a key for reading; `None` if it does not exist, or if this backend
    /// cannot read databases.
    fn rows(&self, _key: &str) -> Result<Option<Box<dyn RowSource>>> {
        Ok(None)
    }

    /// Finds the log of a session by its id, also a hidden one.
    fn find_log(&self, _session: &SessionRef) -> Result<LogLookup> {
        Ok(LogLookup::NoIndex)
    }

    /// Returns a page of sessions, those that changed last first; `None` if the backend stores no
    /// columns about sessions, so that the caller lists all of them.
    fn page(&self, _request: &PageRequest<'_>) -> Result<Option<Vec<ListedLog>>> {
        Ok(None)
    }

    /// Returns where the logs of these sessions end, in their order, `None` for a missing one: one
    /// query for everything that a program follows. `None` if the backend has to open each log.
    fn ends_of(&self, _sessions: &[SessionRef]) -> Result<Option<Vec<Option<u64>>>> {
        Ok(None)
    }

    /// Returns where large values of boswell's own sessions are stored; `None` if the backend has
    /// no such place, so that they are files or stay in their lines.
    fn remote_blobs(&self) -> Option<Arc<dyn RemoteBlobs>> {
        None
    }

    /// Returns the keys of symbolic links that were found so far and lead out of the store. Nothing
    /// was opened through them.
    fn outside_links(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns a name of the object for people: its path, where it has one. The name ends with the
    /// key, and the part before it is equal for all keys.
    fn describe(&self, key: &str) -> String;
}

/// An object that was opened for reading.
pub trait ObjectReader: Send + std::fmt::Debug {
    /// Returns the end of the object as a position.
    fn end(&self) -> Result<u64>;

    /// Whether the object has more bytes than `size`.
    fn is_longer_than(&self, size: u64) -> Result<bool> {
        Ok(self.end()? > size)
    }

    /// Returns what distinguishes this object from a later one under the same key; `None` where the
    /// backend has no such identity.
    fn identity(&self) -> Result<Option<(u64, u64)>> {
        Ok(None)
    }

    /// Returns the object as it is stored, if this one is a document that was made of it.
    fn stored(&self) -> Option<&dyn ObjectReader> {
        None
    }

    /// Reads up to `len` bytes from position `at`; fewer at the end of the object.
    fn read(&self, at: u64, len: u64) -> Result<Vec<u8>>;

    /// As [`read`](ObjectReader::read), into a buffer that the caller reuses.
    fn read_into(&self, buffer: &mut Vec<u8>, at: u64, len: u64) -> Result<()> {
        *buffer = self.read(at, len)?;
        Ok(())
    }

    /// Passes every line from position `from`, which is the start of line `number`, to `sink`, and
    /// returns the position after the last.
    fn lines(&self, from: u64, number: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64>;

    /// Passes the lines at these positions to `sink`, until it returns false.
    fn records(
        &self,
        range: std::ops::Range<u64>,
        sink: &mut dyn FnMut(Line<'_>) -> bool,
    ) -> Result<()> {
        let mut goes_on = true;
        self.lines(range.start, 1, &mut |line| {
            goes_on = goes_on && line.at < range.end && sink(line);
        })?;
        Ok(())
    }

    /// Passes the lines at the beginning and those at the end, about `window` bytes of each and
    /// none twice, to `sink`. Returns whether lines between them were left out; the numbers of the
    /// lines at the end are only a guess then.
    fn ends(&self, window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<bool>;

    /// Passes the last complete lines before position `to`, which is the start of a line or the
    /// end, to `sink`: about `window` bytes of them, at least one. Returns the position of the
    /// first of them. Their numbers are not known.
    ///
    /// A backend that cannot read backwards passes all lines before `to`.
    fn lines_before(&self, to: u64, _window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64> {
        let mut first = to;
        self.lines(0, 1, &mut |line| {
            if line.at < to {
                first = first.min(line.at);
                sink(line);
            }
        })?;
        Ok(first)
    }
}

/// [`ObjectReader::lines_before`] where positions are bytes.
pub(crate) fn bytes_before(
    object: &dyn ObjectReader,
    bytes: &mut Vec<u8>,
    to: u64,
    window: u64,
    sink: &mut dyn FnMut(Line<'_>),
) -> Result<u64> {
    let mut window = window.max(1);
    loop {
        let from = to.saturating_sub(window);
        // One byte more: if it is a newline, the first line is complete.
        let read_from = from.saturating_sub(1);
        object.read_into(bytes, read_from, to - read_from)?;
        let skip = if from == 0 {
            Some(0)
        } else {
            memchr::memchr(b'\n', bytes).map(|at| at + 1)
        };
        match skip.filter(|skip| *skip < bytes.len()) {
            Some(skip) => {
                let first = read_from + skip as u64;
                let mut lines = Lines::new(first, 0);
                lines.push(bytes.get(skip..).unwrap_or(b""), sink);
                lines.finish(sink);
                return Ok(first);
            }
            None if from == 0 => return Ok(0),
            None => window = window.saturating_mul(2),
        }
    }
}

/// [`ObjectReader::ends`] where positions are bytes.
pub(crate) fn ends_of_bytes(
    object: &dyn ObjectReader,
    window: u64,
    sink: &mut dyn FnMut(Line<'_>),
) -> Result<bool> {
    let end = object.end()?;
    if end <= 2 * window {
        object.lines(0, 1, sink)?;
        return Ok(false);
    }
    let head = object.read(0, window)?;
    let mut count = 0;
    // A first line longer than the window is read whole: it may be the only one that names the
    // session.
    let whole = match memchr::memrchr(b'\n', &head) {
        Some(at) => at as u64 + 1,
        None => first_line_end(object, window, end)?,
    };
    let head = if whole <= window {
        head
    } else {
        object.read(0, whole)?
    };
    let mut lines = Lines::new(0, 1);
    lines.push(
        head.get(..usize::try_from(whole).unwrap_or(usize::MAX))
            .unwrap_or(b""),
        &mut |line| {
            count = line.number;
            sink(line);
        },
    );
    let from = (end - window).max(whole);
    // The first piece of the tail is the rest of a line, unless the tail begins where the head
    // ended.
    let tail = object.read(from, end - from)?;
    let skip = if from == whole {
        0
    } else {
        memchr::memchr(b'\n', &tail).map_or(tail.len(), |at| at + 1)
    };
    let mut lines = Lines::new(from + skip as u64, count + 2);
    lines.push(tail.get(skip..).unwrap_or(b""), sink);
    lines.finish(sink);
    Ok(true)
}

fn first_line_end(object: &dyn ObjectReader, window: u64, end: u64) -> Result<u64> {
    let mut at = window;
    while at < end {
        let piece = object.read(at, 1 << 20)?;
        if piece.is_empty() {
            break;
        }
        if let Some(newline) = memchr::memchr(b'\n', &piece) {
            return Ok(at + newline as u64 + 1);
        }
        at += piece.len() as u64;
    }
    Ok(end)
}

/// Lets a dialect read the objects of a backend as files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BackendFiles<'b>(pub(crate) &'b dyn Backend);

impl Files for BackendFiles<'_> {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        self.0.list(folder)
    }

    fn list_named(&self, folder: &str, fits: &dyn Fn(&str) -> bool) -> Result<Vec<FileInfo>> {
        self.0.list_named(folder, fits)
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        self.0.stat(key)
    }

    fn read(&self, key: &str, at: u64, len: usize) -> Result<Vec<u8>> {
        self.0.open_stored(key)?.read(at, len as u64)
    }

    fn settings(&self, key: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        self.0.settings(key, limit)
    }

    fn rows(&self, key: &str) -> Result<Option<Box<dyn RowSource>>> {
        self.0.rows(key)
    }

    fn describe(&self, key: &str) -> String {
        self.0.describe(key)
    }
}
