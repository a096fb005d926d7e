//! A backend whose logs are rows: a position is a sequence number, not a byte offset.
//!
//! It keeps the traits honest for a table of records keyed by (session, sequence). Logs are what ends with `.jsonl`; other
//! objects are bytes, as they would be in an object store. A log's lines become rows with their line ends; the first row has the
//! number 1, so nothing can rely on a log starting at position 0. Reading from a number runs on into the rows after it.

use std::collections::BTreeMap;
use std::sync::Arc;

use boswell_dialect::{FileInfo, Files, MemoryFiles};
use boswell_model::{Instant, Line, Result};
use boswell_store::{Backend, ObjectReader};

/// Objects in rows, in memory.
#[derive(Clone, Debug, Default)]
pub struct RowBackend {
    /// Names, times and sizes, and the objects that are no logs.
    files: MemoryFiles,
    logs: BTreeMap<String, Arc<[Vec<u8>]>>,
}

impl RowBackend {
    /// Puts an object; a log is taken apart into its rows.
    pub fn put(&mut self, key: &str, bytes: &[u8], modified: Option<Instant>) {
        self.files.put(key, bytes, modified);
        if key.ends_with(".jsonl") {
            let rows = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            self.logs.insert(key.to_owned(), rows);
        }
    }
}

impl Backend for RowBackend {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        self.files.list(folder)
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        self.files.stat(key)
    }

    fn open(&self, key: &str) -> Result<Box<dyn ObjectReader>> {
        match self.logs.get(key) {
            Some(rows) => Ok(Box::new(Rows { rows: Arc::clone(rows) })),
            None => Ok(Box::new(Bytes { bytes: self.files.read(key, 0, usize::MAX)? })),
        }
    }

    fn describe(&self, key: &str) -> String {
        format!("rows:{key}")
    }
}

#[derive(Debug)]
struct Rows {
    rows: Arc<[Vec<u8>]>,
}

impl Rows {
    /// The rows from a sequence number on, each with its own.
    fn from(&self, at: u64) -> impl Iterator<Item = (u64, &[u8])> {
        let all = (1..).zip(self.rows.iter().map(Vec::as_slice));
        all.skip_while(move |(sequence, _)| *sequence < at)
    }
}

impl ObjectReader for Rows {
    fn end(&self) -> Result<u64> {
        Ok(self.rows.len() as u64 + 1)
    }

    fn read(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for (_, row) in self.from(at) {
            let left = usize::try_from(len).unwrap_or(usize::MAX) - bytes.len();
            bytes.extend_from_slice(&row[..row.len().min(left)]);
            if row.len() >= left {
                break;
            }
        }
        Ok(bytes)
    }

    fn lines(&self, from: u64, number: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64> {
        for (number, (at, bytes)) in (number..).zip(self.from(from)) {
            sink(Line { at, number, bytes });
        }
        self.end()
    }

    fn ends(&self, window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<bool> {
        let window = usize::try_from(window).unwrap_or(usize::MAX);
        let rows: Vec<(u64, &[u8])> = self.from(0).collect();
        let reach = |rows: &mut dyn Iterator<Item = &(u64, &[u8])>| {
            let mut bytes = 0;
            rows.take_while(|(_, row)| {
                bytes += row.len();
                bytes <= window
            })
            .count()
        };
        let head = reach(&mut rows.iter()).max(1).min(rows.len());
        let tail = (rows.len() - reach(&mut rows.iter().rev())).max(head);
        for (place, (at, bytes)) in rows.iter().enumerate().filter(|(place, _)| *place < head || *place >= tail) {
            sink(Line { at: *at, number: place as u64 + 1, bytes });
        }
        Ok(tail > head)
    }

    fn lines_before(&self, to: u64, window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64> {
        let rows: Vec<(u64, &[u8])> = self.from(0).take_while(|(sequence, _)| *sequence < to).collect();
        let mut bytes = 0;
        let count = rows.iter().rev().take_while(|(_, row)| {
            bytes += row.len() as u64;
            bytes <= window
        });
        let first = rows.len() - count.count().max(1).min(rows.len());
        for (at, bytes) in &rows[first..] {
            sink(Line { at: *at, number: 0, bytes });
        }
        Ok(rows.get(first).map_or(to, |(sequence, _)| *sequence))
    }
}

/// An object that is no log.
#[derive(Debug)]
struct Bytes {
    bytes: Vec<u8>,
}

impl ObjectReader for Bytes {
    fn end(&self) -> Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        let from = usize::try_from(at).unwrap_or(usize::MAX).min(self.bytes.len());
        let to = from.saturating_add(usize::try_from(len).unwrap_or(usize::MAX)).min(self.bytes.len());
        Ok(self.bytes[from..to].to_vec())
    }

    fn lines(&self, from: u64, number: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64> {
        let mut lines = boswell_model::Lines::new(from, number);
        lines.push(&self.read(from, u64::MAX)?, sink);
        lines.finish(sink);
        self.end()
    }

    fn ends(&self, _window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<bool> {
        self.lines(0, 1, sink).map(|_| false)
    }
}
