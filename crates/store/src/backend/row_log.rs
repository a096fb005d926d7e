//! Reads sessions that are rows of a database as if each row were a line of a log.
//!
//! The key of such a session names a database and an id ([`RowLayout::key`]). A position is the
//! number of a row within its session, from 1. Only the keys of the rows are in memory, not the
//! rows.

use std::sync::Arc;

use boswell_dialect::{
    Dialect, FileInfo, FileKind, RowKey, RowLayout, RowSource, RowTable, SessionLocation,
};
use boswell_model::{Advice, Error, ErrorKind, Line, Result};

use super::{Backend, ObjectReader};

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
        Ok(self.backend.rows(database)?.map(|source| (source, id)))
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
        match self.session(key)? {
            Some((source, id)) => Ok(Box::new(RowLog::open(source, self.layout, id)?)),
            None => self.backend.open(key),
        }
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

/// The rows of one session in reading order.
#[derive(Debug)]
struct RowLog {
    source: Box<dyn RowSource>,
    places: Vec<(&'static RowTable, RowKey)>,
}

impl RowLog {
    fn open(source: Box<dyn RowSource>, layout: RowLayout, id: &str) -> Result<RowLog> {
        let mut places = Vec::new();
        for table in layout.tables {
            let keys = source.keys(&table.of_session(id))?;
            places.extend(keys.into_iter().map(|key| (table, key)));
        }
        if places.is_empty() {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("the database has no session `{}`", id.escape_debug()),
            ));
        }
        Ok(RowLog { source, places })
    }

    /// Appends the line of the row at `index` to `line`.
    fn write_line(&self, index: usize, line: &mut Vec<u8>) -> Result<()> {
        let Some((table, key)) = self.places.get(index) else {
            return Ok(());
        };
        let found = self.source.row(table.name, *key, &mut |columns| {
            table.write_record(columns, line);
            line.push(b'\n');
        })?;
        if found {
            return Ok(());
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

    /// Passes the rows at these indexes to the sink.
    fn hand_over(
        &self,
        indexes: std::ops::Range<usize>,
        number: u64,
        sink: &mut dyn FnMut(Line<'_>),
    ) -> Result<()> {
        let mut bytes = Vec::new();
        for (number, index) in (number..).zip(indexes) {
            bytes.clear();
            self.write_line(index, &mut bytes)?;
            sink(Line {
                at: index as u64 + 1,
                number,
                bytes: &bytes,
            });
        }
        Ok(())
    }

    /// Returns how many of these rows fit into `window` bytes; at least one, if there is one.
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
        Ok(self.places.len() as u64 + 1)
    }

    fn read(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        let mut index = index_of(at);
        while bytes.len() < len && index < self.places.len() {
            self.write_line(index, &mut bytes)?;
            index += 1;
        }
        bytes.truncate(len);
        Ok(bytes)
    }

    fn lines(&self, from: u64, number: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64> {
        self.hand_over(index_of(from)..self.places.len(), number, sink)?;
        self.end()
    }

    fn ends(&self, window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<bool> {
        let all = self.places.len();
        let head = self.fitting(0..all, window)?;
        let tail = all - self.fitting((head..all).rev(), window)?;
        self.hand_over(0..head, 1, sink)?;
        self.hand_over(tail..all, tail as u64 + 1, sink)?;
        Ok(tail > head)
    }

    fn lines_before(&self, to: u64, window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64> {
        let to = index_of(to).min(self.places.len());
        let from = to - self.fitting((0..to).rev(), window)?;
        self.hand_over(from..to, 0, sink)?;
        Ok(from as u64 + 1)
    }
}

/// Returns the index of the row at a position, which counts from 1.
fn index_of(position: u64) -> usize {
    usize::try_from(position.saturating_sub(1)).unwrap_or(usize::MAX)
}
