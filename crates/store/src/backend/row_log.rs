//! Reads sessions that are rows of a database as if each row were a line of a log.
//!
//! The key of such a session names a database and an id ([`RowLayout::key`]). A position is the
//! number of a record within its session, from 1. Only the keys of the rows are in memory, not the
//! rows.

use std::cell::OnceCell;
use std::sync::Arc;

use boswell_dialect::{
    Dialect, FileInfo, FileKind, RowKey, RowLayout, RowSource, RowTable, SessionLocation,
};
use boswell_model::{Advice, Error, ErrorKind, Line, Result};

use super::row_document::RowDocumentBytes;
use super::row_folders::FolderRows;
use super::{Backend, ObjectReader};

/// How many records are read before the state of the database is compared again.
const BATCH: usize = 64;

/// Returns a backend that shows sessions as a dialect reads them.
pub(crate) fn seen_by(
    dialect: &'static dyn Dialect,
    backend: Arc<dyn Backend>,
) -> Arc<dyn Backend> {
    let backend = with_sessions_of_rows(dialect, backend);
    let backend = super::with_composed_logs(dialect, backend);
    super::with_folded_logs(dialect, backend)
}

/// Returns the backend itself, or for a dialect over rows one that also shows its sessions as
/// objects.
fn with_sessions_of_rows(dialect: &dyn Dialect, backend: Arc<dyn Backend>) -> Arc<dyn Backend> {
    match dialect.facts().rows {
        Some(layout) => Arc::new(SessionsOfRows { backend, layout }),
        None => backend,
    }
}

#[derive(Debug)]
struct SessionsOfRows {
    backend: Arc<dyn Backend>,
    layout: RowLayout,
}

impl SessionsOfRows {
    /// Returns the database and the id that a key names, if it is the key of a session.
    fn session<'k>(&self, key: &'k str) -> Result<Option<(Box<dyn RowSource>, &'k str)>> {
        let Some((database, id)) = RowLayout::split(key) else {
            return Ok(None);
        };
        Ok(self.rows(database)?.map(|source| (source, id)))
    }
}

impl Backend for SessionsOfRows {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        self.backend.list(folder)
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        let Some((source, id)) = self.session(key)? else {
            return self.backend.stat(key);
        };
        let stamp = self.layout.stamp(source.as_ref(), id)?;
        let SessionLocation { size, identity, .. } = SessionLocation::of_rows(id, "", stamp, None);
        Ok((size > 0).then(|| FileInfo {
            key: key.to_owned(),
            kind: FileKind::File,
            size,
            modified: None,
            identity,
        }))
    }

    fn open(&self, key: &str) -> Result<Box<dyn ObjectReader>> {
        let Some((source, id)) = self.session(key)? else {
            return self.backend.open(key);
        };
        match self.layout.document {
            Some(document) => Ok(Box::new(RowDocumentBytes::open(
                source.as_ref(),
                document,
                id,
            )?)),
            None => Ok(Box::new(RowLog::open(source, self.layout, id)?)),
        }
    }

    fn settings(&self, key: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        self.backend.settings(key, limit)
    }

    fn rows(&self, key: &str) -> Result<Option<Box<dyn RowSource>>> {
        match self.layout.folders {
            Some(folders) if folders.folder == key => Ok(Some(Box::new(FolderRows::new(
                Arc::clone(&self.backend),
                folders,
            )))),
            _ => self.backend.rows(key),
        }
    }

    fn outside_links(&self) -> Vec<String> {
        self.backend.outside_links()
    }

    fn describe(&self, key: &str) -> String {
        self.backend.describe(key)
    }
}

/// A row that is a record.
type Place = (&'static RowTable, RowKey);

/// The rows of one session in reading order.
#[derive(Debug)]
struct RowLog {
    source: Box<dyn RowSource>,
    layout: RowLayout,
    id: String,
    places: Vec<Place>,
    /// Rows whose owner does not exist, after all others. Finding them costs a look at each row, so
    /// it is done when the end is reached.
    unowned: OnceCell<Vec<Place>>,
}

impl RowLog {
    fn open(source: Box<dyn RowSource>, layout: RowLayout, id: &str) -> Result<RowLog> {
        let mut places = Vec::new();
        for table in layout.tables {
            let keys = source.keys(&table.of_session(id))?;
            places.extend(keys.into_iter().map(|key| (table, key)));
        }
        let log = RowLog {
            source,
            layout,
            id: id.to_owned(),
            places,
            unowned: OnceCell::new(),
        };
        if log.places.is_empty() && log.unowned()?.is_empty() {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("the database has no session `{}`", id.escape_debug()),
            ));
        }
        Ok(log)
    }

    fn unowned(&self) -> Result<&[Place]> {
        if let Some(known) = self.unowned.get() {
            return Ok(known);
        }
        let mut found = Vec::new();
        for table in self.layout.tables {
            let Some(children) = table.children else {
                continue;
            };
            let select = children.table.of_session(&self.id);
            let owner = (table.name, children.id);
            let keys = self.source.unowned(&select, children.owner, owner)?;
            found.extend(keys.into_iter().map(|key| (&children.table, key)));
        }
        Ok(self.unowned.get_or_init(|| found))
    }

    /// Returns the number of records.
    fn count(&self) -> Result<usize> {
        Ok(self.places.len() + self.unowned()?.len())
    }

    fn place(&self, index: usize) -> Result<Option<Place>> {
        match self.places.get(index) {
            Some(place) => Ok(Some(*place)),
            None => {
                let unowned = self.unowned()?;
                Ok(unowned.get(index - self.places.len()).copied())
            }
        }
    }

    /// Appends the line of the record at `index` to `line`; returns false if there is none.
    fn write_line(&self, index: usize, line: &mut Vec<u8>) -> Result<bool> {
        let Some((table, key)) = self.place(index)? else {
            return Ok(false);
        };
        let mut written = Ok(());
        let found = self.source.row(table.name, key, &mut |columns| {
            written = table.write_whole(self.source.as_ref(), columns, line);
            line.push(b'\n');
        })?;
        written?;
        if found {
            return Ok(true);
        }
        Err(Error::new(
            ErrorKind::Conflict,
            format!(
                "a row of `{}` was removed since its session was opened",
                table.name
            ),
        )
        .advising(Advice::Retry))
    }

    /// Passes the records at these indexes to the sink.
    fn hand_over(
        &self,
        indexes: std::ops::Range<usize>,
        number: u64,
        sink: &mut dyn FnMut(Line<'_>),
    ) -> Result<()> {
        self.until(indexes, number, &mut |line| {
            sink(line);
            true
        })
    }

    /// As [`hand_over`](RowLog::hand_over), until the sink returns false.
    fn until(
        &self,
        indexes: std::ops::Range<usize>,
        number: u64,
        sink: &mut dyn FnMut(Line<'_>) -> bool,
    ) -> Result<()> {
        let mut bytes = Vec::new();
        let (mut next, mut number, mut goes_on) = (indexes.start, number, true);
        while goes_on && next < indexes.end {
            let to = indexes.end.min(next + BATCH);
            self.source.batch(&mut || {
                while goes_on && next < to {
                    bytes.clear();
                    self.write_line(next, &mut bytes)?;
                    goes_on = sink(Line {
                        at: next as u64 + 1,
                        number,
                        bytes: &bytes,
                    });
                    (next, number) = (next + 1, number + 1);
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Returns how many of these records fit into `window` bytes; at least one, if there is one.
    fn fitting(&self, indexes: impl Iterator<Item = usize>, window: u64) -> Result<usize> {
        let (mut line, mut bytes, mut count) = (Vec::new(), 0, 0);
        for index in indexes {
            line.clear();
            self.write_line(index, &mut line)?;
            bytes += line.len() as u64;
            if bytes > window && count > 0 {
                break;
            }
            count += 1;
        }
        Ok(count)
    }
}

impl ObjectReader for RowLog {
    fn end(&self) -> Result<u64> {
        Ok(self.count()? as u64 + 1)
    }

    /// Positions are no bytes, so records are read until there are enough.
    fn is_longer_than(&self, size: u64) -> Result<bool> {
        let all = self.places.len();
        Ok(self.fitting(0..all, size)? < all)
    }

    fn read(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        let mut index = index_of(at);
        while bytes.len() < len && self.write_line(index, &mut bytes)? {
            index += 1;
        }
        bytes.truncate(len);
        Ok(bytes)
    }

    fn lines(&self, from: u64, number: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64> {
        self.hand_over(index_of(from)..self.count()?, number, sink)?;
        self.end()
    }

    fn records(
        &self,
        range: std::ops::Range<u64>,
        sink: &mut dyn FnMut(Line<'_>) -> bool,
    ) -> Result<()> {
        let to = match index_of(range.end) {
            // Rows without an owner come last, and are looked for only there.
            to if to <= self.places.len() => to,
            to => to.min(self.count()?),
        };
        self.until(index_of(range.start)..to, range.start.max(1), sink)
    }

    fn ends(&self, window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<bool> {
        let all = self.places.len();
        let head = self.fitting(0..all, window)?;
        let tail = all - self.fitting((head..all).rev(), window)?;
        self.hand_over(0..head, 1, sink)?;
        if tail > head {
            self.hand_over(tail..all, tail as u64 + 1, sink)?;
            return Ok(true);
        }
        self.hand_over(head..self.count()?, head as u64 + 1, sink)?;
        Ok(false)
    }

    fn lines_before(&self, to: u64, window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64> {
        let to = index_of(to).min(self.count()?);
        let from = to - self.fitting((0..to).rev(), window)?;
        self.hand_over(from..to, 0, sink)?;
        Ok(from as u64 + 1)
    }
}

/// Returns the index of the record at a position, which counts from 1.
fn index_of(position: u64) -> usize {
    usize::try_from(position.saturating_sub(1)).unwrap_or(usize::MAX)
}
