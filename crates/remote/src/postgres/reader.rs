//! [`RowReader`]: reads the lines of a log in pages, as far as it went when it was opened.

use boswell_model::{Error, ErrorKind, Line, Result};
use boswell_store::backend::ObjectReader;
use uuid::Uuid;

use super::backend::{PostgresBackend, get, signed, unsigned};
use super::link::Arguments;
use super::statements::{LINES, LINES_BEFORE, LINES_WITHIN, SqlStatement};

/// How many lines are fetched at once.
const PAGE: u64 = 256;

/// The usual length of a line: bounds how many rows the server adds up for a page of bytes. Where
/// lines are shorter, a page has fewer bytes than it might; where they are longer, fewer rows.
const USUAL: u64 = 1024;

/// How many bytes are fetched at once.
const PAGE_BYTES: u64 = 1 << 20;

/// A line and its position.
type Row = (u64, Vec<u8>);

#[derive(Debug)]
pub(super) struct RowReader {
    backend: PostgresBackend,
    log: Uuid,
    /// Position behind the last line that it reads.
    end: u64,
}

impl RowReader {
    pub(super) fn new(backend: PostgresBackend, log: Uuid, end: u64) -> RowReader {
        RowReader { backend, log, end }
    }

    fn fetch(&self, statement: &'static SqlStatement, rest: Arguments) -> Result<Vec<Row>> {
        let mut arguments: Arguments = vec![Box::new(self.log)];
        arguments.extend(rest);
        let answer = self.backend.ask(statement, arguments)?;
        let row = |row| Ok((unsigned(row, 0)?, get(row, 1)?));
        answer.rows.iter().map(row).collect()
    }

    /// Returns lines from `from` on, at most `count`.
    fn page(&self, from: u64, count: u64) -> Result<Vec<Row>> {
        let arguments: Arguments = vec![
            Box::new(signed(from)),
            Box::new(signed(self.end)),
            Box::new(signed(count)),
        ];
        self.whole(from, self.fetch(&LINES, arguments)?)
    }

    /// Returns lines from `from` on that have about `window` bytes, at least one.
    fn page_within(&self, from: u64, window: u64) -> Result<Vec<Row>> {
        let arguments: Arguments = vec![
            Box::new(signed(from)),
            Box::new(signed(self.end)),
            Box::new(signed(most_rows(window))),
            Box::new(signed(window)),
        ];
        self.whole(from, self.fetch(&LINES_WITHIN, arguments)?)
    }

    /// Returns the last lines before `to` that have about `window` bytes, at least one.
    fn page_before(&self, to: u64, window: u64) -> Result<Vec<Row>> {
        if to <= 1 {
            return Ok(Vec::new());
        }
        let arguments: Arguments = vec![
            Box::new(signed(to)),
            Box::new(signed(most_rows(window))),
            Box::new(signed(window)),
        ];
        let rows = self.fetch(&LINES_BEFORE, arguments)?;
        if rows.last().is_none_or(|(at, _)| at + 1 != to) {
            return Err(deleted());
        }
        Ok(rows)
    }

    /// Fails if lines are missing: the session was deleted while it is read. An empty answer would
    /// look like its end.
    fn whole(&self, from: u64, rows: Vec<Row>) -> Result<Vec<Row>> {
        if rows.first().is_none_or(|(at, _)| *at != from) {
            return Err(deleted());
        }
        Ok(rows)
    }
}

impl ObjectReader for RowReader {
    fn end(&self) -> Result<u64> {
        Ok(self.end)
    }

    fn read(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        let wanted = usize::try_from(len).unwrap_or(usize::MAX);
        let (mut at, mut bytes) = (at.max(1), Vec::new());
        while at < self.end && bytes.len() < wanted {
            let left = (wanted - bytes.len()) as u64;
            for (seq, line) in self.page_within(at, left.min(PAGE_BYTES))? {
                bytes.extend_from_slice(&line);
                at = seq + 1;
            }
        }
        bytes.truncate(wanted);
        Ok(bytes)
    }

    fn lines(&self, from: u64, number: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64> {
        let (mut at, mut number) = (from.max(1), number);
        while at < self.end {
            for (seq, bytes) in self.page(at, PAGE)? {
                sink(Line {
                    at: seq,
                    number,
                    bytes: &bytes,
                });
                (at, number) = (seq + 1, number + 1);
            }
        }
        Ok(self.end)
    }

    fn records(
        &self,
        range: std::ops::Range<u64>,
        sink: &mut dyn FnMut(Line<'_>) -> bool,
    ) -> Result<()> {
        let (mut at, end) = (range.start.max(1), range.end.min(self.end));
        while at < end {
            for (seq, bytes) in self.page(at, PAGE.min(end - at))? {
                let line = Line {
                    at: seq,
                    number: seq,
                    bytes: &bytes,
                };
                if !sink(line) {
                    return Ok(());
                }
                at = seq + 1;
            }
        }
        Ok(())
    }

    fn ends(&self, window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<bool> {
        if self.end <= 1 {
            return Ok(false);
        }
        let mut pass = |(at, bytes): &Row| {
            sink(Line {
                at: *at,
                number: *at,
                bytes,
            });
        };
        let head = self.page_within(1, window)?;
        head.iter().for_each(&mut pass);
        let next = head.last().map_or(1, |(at, _)| at + 1);
        if next >= self.end {
            return Ok(false);
        }
        let tail = self.page_before(self.end, window)?;
        let skipped = tail.first().is_some_and(|(at, _)| *at > next);
        tail.iter().filter(|(at, _)| *at >= next).for_each(pass);
        Ok(skipped)
    }

    fn lines_before(&self, to: u64, window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64> {
        let rows = self.page_before(to.min(self.end), window)?;
        for (at, bytes) in &rows {
            sink(Line {
                at: *at,
                number: 0,
                bytes,
            });
        }
        Ok(rows.first().map_or(to, |(at, _)| *at))
    }
}

fn most_rows(window: u64) -> u64 {
    (window / USUAL).clamp(1, 16 * PAGE)
}

fn deleted() -> Error {
    Error::new(
        ErrorKind::NotFound,
        "the session was deleted while it was read",
    )
}
