//! Reads logs that are rows, and objects that are not.

use std::sync::Arc;

use boswell_model::{Line, Result};
use boswell_store::backend::ObjectReader;

/// The rows of a log when it was opened.
#[derive(Debug)]
pub(super) struct Rows {
    rows: Vec<Arc<[u8]>>,
}

impl Rows {
    pub(super) fn new(rows: Vec<Arc<[u8]>>) -> Rows {
        Rows { rows }
    }

    /// Returns the rows from a sequence number on, each with its number.
    fn from(&self, at: u64) -> impl Iterator<Item = (u64, &[u8])> {
        let all = (1..).zip(self.rows.iter().map(AsRef::as_ref));
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
        for (place, (at, bytes)) in rows
            .iter()
            .enumerate()
            .filter(|(place, _)| *place < head || *place >= tail)
        {
            sink(Line {
                at: *at,
                number: place as u64 + 1,
                bytes,
            });
        }
        Ok(tail > head)
    }

    fn lines_before(&self, to: u64, window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64> {
        let rows: Vec<(u64, &[u8])> = self
            .from(0)
            .take_while(|(sequence, _)| *sequence < to)
            .collect();
        let mut bytes = 0;
        let count = rows.iter().rev().take_while(|(_, row)| {
            bytes += row.len() as u64;
            bytes <= window
        });
        let first = rows.len() - count.count().max(1).min(rows.len());
        for (at, bytes) in &rows[first..] {
            sink(Line {
                at: *at,
                number: 0,
                bytes,
            });
        }
        Ok(rows.get(first).map_or(to, |(sequence, _)| *sequence))
    }
}

/// An object that is not a log.
#[derive(Debug)]
pub(super) struct Bytes {
    bytes: Vec<u8>,
}

impl Bytes {
    pub(super) fn new(bytes: Vec<u8>) -> Bytes {
        Bytes { bytes }
    }
}

impl ObjectReader for Bytes {
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
