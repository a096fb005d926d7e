//! How far a follower read a log, and the reads that go on from there.

use boswell_model::{Line, Lines, Log, Result};

use crate::backend::ObjectReader;

/// Size of one read, in bytes.
const CHUNK: u64 = 256 << 10;
/// After this many bytes a poll ends and reports that there is more.
const ENOUGH: u64 = 8 << 20;
/// How many of the last read bytes are compared before the following ones are trusted.
const WINDOW: usize = 64;
/// How far before its start a follower looks for the record before it.
const PEEK: u64 = 64 << 10;

/// How far a log was read.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) identity: Option<(u64, u64)>,
    /// Where reading began: at the start of a line.
    pub(super) start: u64,
    pub(super) end: u64,
    /// The last bytes before `end`.
    window: Vec<u8>,
    /// The bytes after the last line end. Its numbers count from `start`.
    lines: Lines,
    /// Number of lines that were read, for a backend whose positions are not bytes.
    count: u64,
    /// Number of lines before `start`; `None` if they were not counted.
    pub(super) lines_before: Option<u64>,
    /// The last record before `end`: in some formats it is the parent of the next one.
    pub(super) last: Log,
}

impl Seen {
    pub(super) fn nothing(identity: Option<(u64, u64)>) -> Seen {
        Seen {
            identity,
            start: 0,
            end: 0,
            window: Vec::new(),
            lines: Lines::new(0, 1),
            count: 0,
            lines_before: Some(0),
            last: Log::default(),
        }
    }

    /// Everything up to the last line end before `end` was seen. Also returns the line that ends
    /// there, if it is short.
    pub(super) fn behind(
        object: &dyn ObjectReader,
        identity: (u64, u64),
        end: u64,
    ) -> Result<(Seen, Vec<u8>)> {
        let start = line_start(object, end)?;
        let from = start.saturating_sub(PEEK);
        let before = object.read(from, start - from)?;
        let window = before
            .get(before.len().saturating_sub(WINDOW)..)
            .unwrap_or_default()
            .to_vec();
        let body = before.strip_suffix(b"\n").unwrap_or(&before);
        let line_at = memchr::memrchr(b'\n', body)
            .map(|at| at + 1)
            .or((from == 0).then_some(0));
        let line = line_at
            .and_then(|at| before.get(at..))
            .unwrap_or_default()
            .to_vec();
        let lines_before = (start == 0).then_some(0);
        let nothing = Seen::nothing(Some(identity));
        Ok((
            Seen {
                start,
                end: start,
                window,
                lines: Lines::new(start, 1),
                lines_before,
                ..nothing
            },
            line,
        ))
    }

    /// Continues to read a file, whose positions are bytes: each is read once, also those of an
    /// incomplete line.
    pub(super) fn read_file(
        &mut self,
        object: &dyn ObjectReader,
        end: u64,
        sink: &mut dyn FnMut(Line<'_>),
    ) -> Result<()> {
        let (begin, enough) = (self.end, end.min(self.end + ENOUGH));
        while self.end < enough {
            let chunk = match object.read(self.end, CHUNK.min(enough - self.end)) {
                // What was read before is returned first; the next poll finds the error again.
                Err(_) if self.end > begin => break,
                read => read?,
            };
            if chunk.is_empty() {
                break;
            }
            self.take(&chunk, sink);
        }
        Ok(())
    }

    /// Continues reading where positions are the backend's own.
    pub(super) fn read_rows(
        &mut self,
        object: &dyn ObjectReader,
        sink: &mut dyn FnMut(Line<'_>),
    ) -> Result<()> {
        let (mut count, mut pending) = (self.count, None);
        let end = object.lines(self.end, self.count + 1, &mut |line| {
            if line.bytes.last() == Some(&b'\n') {
                count = line.number;
                sink(line);
            } else {
                pending = Some(line.at);
            }
        })?;
        (self.count, self.end) = (count, pending.unwrap_or(end));
        Ok(())
    }

    fn take(&mut self, chunk: &[u8], sink: &mut dyn FnMut(Line<'_>)) {
        self.lines.push(chunk, sink);
        self.end += chunk.len() as u64;
        self.window.extend_from_slice(chunk);
        let cut = self.window.len().saturating_sub(WINDOW);
        self.window.drain(..cut);
    }

    /// Whether the last read bytes are unchanged. Not called for a log that did not grow.
    pub(super) fn still_there(&self, object: &dyn ObjectReader, end: u64) -> Result<bool> {
        if self.window.is_empty() || end == self.end {
            return Ok(true);
        }
        let len = self.window.len() as u64;
        Ok(object.read(self.end - len, len)? == self.window)
    }
}

/// Returns the position after the last line end before `end`. Reads back no further than that.
fn line_start(object: &dyn ObjectReader, end: u64) -> Result<u64> {
    // Most logs end with a line end.
    let (mut at, mut chunk) = (end, WINDOW as u64);
    while at > 0 {
        let from = at.saturating_sub(chunk);
        if let Some(found) = memchr::memrchr(b'\n', &object.read(from, at - from)?) {
            return Ok(from + found as u64 + 1);
        }
        (at, chunk) = (from, CHUNK);
    }
    Ok(0)
}

/// Returns the number of line ends before `end`.
pub(super) fn count_lines(object: &dyn ObjectReader, end: u64) -> Result<u64> {
    let (mut at, mut count) = (0, 0);
    while at < end {
        let chunk = object.read(at, CHUNK.min(end - at))?;
        if chunk.is_empty() {
            break;
        }
        count += memchr::memchr_iter(b'\n', &chunk).count() as u64;
        at += chunk.len() as u64;
    }
    Ok(count)
}
