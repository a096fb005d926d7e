//! Where bytes live.
//!
//! A backend keeps objects under keys and knows how records stand in them: a file holds them as
//! lines, a table would hold them as rows. Positions are opaque numbers that grow with the log:
//! byte offsets here, sequence numbers there.

mod archived;
mod compressed;
mod failed_sync;
mod file_appender;
mod fs;
mod fs_logs;
mod log_backend;
mod memory;
mod row_log;

use boswell_dialect::{FileInfo, Files, RowSource};
use boswell_model::{Line, Lines, Result};

pub(crate) use archived::VaultBackend;
pub use compressed::is_packed;
pub use fs::FsBackend;
pub(crate) use fs::leads_outside;
pub(crate) use fs_logs::{FsLogs, lock_name};
pub use log_backend::{
    AppendError, AppendResult, Lease, LogAppender, LogBackend, LogClaim, LogName, OpenLog, SyncWork,
};
pub use memory::MemoryBackend;
pub(crate) use row_log::with_sessions_of_rows;

/// A place that keeps session logs and the files around them.
pub trait Backend: Send + Sync + std::fmt::Debug {
    /// What stands directly in a folder (`""` is the root), sorted by name. A folder that
    /// is not there is empty.
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>>;

    /// What stands at a key; none if nothing does.
    fn stat(&self, key: &str) -> Result<Option<FileInfo>>;

    /// Opens an object for reading. What is opened stays what it was, even if
    /// something else takes its key.
    fn open(&self, key: &str) -> Result<Box<dyn ObjectReader>>;

    /// A small file in which a person sets up an agent; none if it is not there, or
    /// longer than `limit`.
    ///
    /// People keep such files elsewhere and leave a link: it is followed, wherever it leads. So the
    /// caller takes single settings from it, and never shows, exports or copies it.
    fn settings(&self, key: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        match self.stat(key)? {
            Some(info) if info.is_file() && info.size <= limit => {
                self.open(key)?.read(0, limit).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Opens the database at a key for reading; none if it is not there, or if databases cannot be
    /// read in this place.
    fn rows(&self, _key: &str) -> Result<Option<Box<dyn RowSource>>> {
        Ok(None)
    }

    /// Keys of symbolic links that were met so far and lead out of the place: nothing was
    /// opened through them.
    fn outside_links(&self) -> Vec<String> {
        Vec::new()
    }

    /// How a person would name the object: its path, where it has one. The name ends with the key,
    /// and what stands before is the same for all keys.
    fn describe(&self, key: &str) -> String;
}

/// An object that was opened for reading.
pub trait ObjectReader: Send + std::fmt::Debug {
    /// Its length in the backend's positions.
    fn end(&self) -> Result<u64>;

    /// What tells this object from another that later stands at the same key; none where the
    /// backend cannot tell.
    fn identity(&self) -> Result<Option<(u64, u64)>> {
        Ok(None)
    }

    /// Up to `len` bytes from position `at`; fewer when it ends before.
    fn read(&self, at: u64, len: u64) -> Result<Vec<u8>>;

    /// The same into a buffer that is used again.
    fn read_into(&self, buffer: &mut Vec<u8>, at: u64, len: u64) -> Result<()> {
        *buffer = self.read(at, len)?;
        Ok(())
    }

    /// Hands over every line from position `from`, which is the start of line `number`, and gives
    /// the position after the last.
    fn lines(&self, from: u64, number: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64>;

    /// Hands over the lines at the beginning and those at the end, about `window` bytes of each,
    /// none twice; says whether lines between them were left out. The numbers of the lines at the
    /// end are only a guess then.
    fn ends(&self, window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<bool>;

    /// Hands over the last whole lines before position `to`, which is the start of a line or the
    /// end: about `window` bytes of them, at least one. Gives the position of the first of them.
    /// Their numbers are not known.
    ///
    /// A backend that cannot read backwards hands over all lines before `to`.
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
        // One byte more: if that is a line end, the first line is whole.
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
    // A first line longer than the window is taken whole: it may be all that says
    // whose session this is.
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
