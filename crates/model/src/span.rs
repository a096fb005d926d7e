//! Splits the bytes of a log into spans; every byte belongs to exactly one span.
//!
//! A span is a record, or a gap between records: a line end, white space, NUL bytes left by a
//! crash, garbage, a byte order mark, or a tail without a newline, whose append may still be in
//! progress. The spans in order, concatenated, are the file. Tests check this on damaged input, so
//! no byte is ever dropped.
//!
//! Damage does not stop the splitter: after garbage it searches for the next object on the line
//! that the dialect accepts as a record. Spans have positions, not meanings; what a record is about
//! is the dialect's task.
//!
//! A line that is torn, glued to another one, padded with NUL bytes or garbage becomes a [`Gap`]; a
//! record behind garbage is salvaged. `check` reports gaps (`of_gaps` in the store's `check.rs`).

use memchr::memmem;

use crate::json::{Object, Raw, Scanned};

mod lines;

pub use lines::Lines;

/// A contiguous range of bytes of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Position of the first byte in the file.
    pub at: u64,
    /// Length in bytes.
    pub len: u64,
    /// Number of the line that the span begins on, from 1.
    pub line: u64,
    /// Whether the span is a record, or which kind of gap.
    pub kind: SpanKind,
}

/// The kind of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// One JSON object.
    Record {
        /// Index of the record within its line, from 0. Above 0, two records were written without a
        /// newline between them.
        nth: u32,
        /// Whether some of the record's bytes are not UTF-8.
        bad_utf8: bool,
        /// Whether NUL bytes or garbage precede the record on its line.
        salvaged: bool,
    },
    /// Bytes between records.
    Gap(Gap),
}

/// The kind of a gap between records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// A line end.
    Newline,
    /// Spaces, tabs, carriage returns.
    Blank,
    /// A byte order mark at the start of the file.
    Bom,
    /// A run of NUL bytes.
    Nul,
    /// Bytes that are not a record.
    Garbage,
    /// Bytes after the last line end that are not a record yet: a torn tail, or an append in
    /// progress.
    Pending,
    /// Brackets, commas and other members around the records of a document.
    Frame,
}

/// How a file is divided into records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// One record per line.
    Lines,
    /// The whole file is one record.
    Document,
    /// The records are the items of the array under this key of one document.
    Rows(&'static str),
}

/// A line of a log with the newline that ends it, if there is one.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// Position of the first byte in the file.
    pub at: u64,
    /// Line number, from 1.
    pub number: u64,
    /// The bytes of the line, including the newline.
    pub bytes: &'a [u8],
}

/// A span with its bytes, and the scanned object if the span is a record.
#[derive(Debug)]
pub struct SplitRecord<'a> {
    /// Position and kind of the span.
    pub span: Span,
    /// The bytes of the span.
    pub bytes: &'a [u8],
    /// The scanned record; `None` for a gap.
    pub object: Option<Object<'a>>,
}

/// Splits lines and documents into spans. Reuses its buffers, so one value serves a whole file.
#[derive(Debug, Default)]
pub struct Splitter {
    scanned: Scanned,
}

/// Decides whether an object found after garbage is a record of its own, and not a nested object of
/// the record that was torn.
pub type IsRecord<'r> = dyn Fn(&Object<'_>) -> bool + 'r;

impl Splitter {
    /// Splits one line of a line-framed log and passes its spans to `sink` in order.
    pub fn line(
        &mut self,
        line: Line<'_>,
        is_record: &IsRecord<'_>,
        sink: &mut dyn FnMut(SplitRecord<'_>),
    ) {
        let ended = line.bytes.last() == Some(&b'\n');
        let text = if ended {
            line.bytes.get(..line.bytes.len() - 1).unwrap_or(b"")
        } else {
            line.bytes
        };
        let mut nth = 0;
        let mut at = 0;
        // False once NUL bytes or garbage were found: records after them count as salvaged.
        let mut clean = true;
        if line.at == 0 && text.starts_with(b"\xEF\xBB\xBF") {
            emit_gap(&line, 0, 3, Gap::Bom, sink);
            at = 3;
        }
        while let Some(byte) = text.get(at) {
            let rest = text.get(at..).unwrap_or(b"");
            match byte {
                b' ' | b'\t' | b'\r' => {
                    let len = run(rest, |b| matches!(b, b' ' | b'\t' | b'\r'));
                    emit_gap(&line, at, len, Gap::Blank, sink);
                    at += len;
                    continue;
                }
                0 => {
                    let len = run(rest, |b| b == 0);
                    emit_gap(&line, at, len, Gap::Nul, sink);
                    at += len;
                    clean = false;
                    continue;
                }
                b'{' => {
                    // Only the first record of a clean line gets an outline: it covers all of
                    // `rest`, and further records on the same line are damage, thus rare.
                    let first = nth == 0 && clean;
                    let scanned = if first {
                        self.scanned.scan(rest)
                    } else {
                        self.scanned.scan_plainly(rest)
                    };
                    if let Ok(len) = scanned {
                        emit_record(&line, at, self.scanned.object(rest), nth, !clean, sink);
                        nth += 1;
                        at += len;
                        continue;
                    }
                }
                // Not an object, or one that does not parse: falls through to garbage.
                _ => {}
            }
            let len = self.garbage(rest, is_record);
            // Without a newline the tail may be an append in progress, which is not damage.
            let gap = if !ended && at + len == text.len() {
                Gap::Pending
            } else {
                Gap::Garbage
            };
            emit_gap(&line, at, len, gap, sink);
            at += len;
            clean = false;
        }
        if ended {
            emit_gap(&line, text.len(), 1, Gap::Newline, sink);
        }
    }

    /// Splits a file that is one JSON document. A file that is not valid JSON becomes one gap and
    /// has no records. A top-level array has its objects as records.
    pub fn document(
        &mut self,
        bytes: &[u8],
        framing: Framing,
        sink: &mut dyn FnMut(SplitRecord<'_>),
    ) {
        let whole = Line {
            at: 0,
            number: 1,
            bytes,
        };
        let mut start = if bytes.starts_with(b"\xEF\xBB\xBF") {
            emit_gap(&whole, 0, 3, Gap::Bom, sink);
            3
        } else {
            0
        };
        let blank = run(bytes.get(start..).unwrap_or(b""), is_space);
        if blank > 0 {
            emit_gap(&whole, start, blank, Gap::Blank, sink);
            start += blank;
        }
        let rest = bytes.get(start..).unwrap_or(b"");
        if rest.is_empty() {
            return;
        }
        let Ok(len) = self.scanned.scan_plainly(rest) else {
            // Not an object: an array of records, or not JSON.
            let body = rest.trim_ascii_end();
            match Raw::parse(body).map(|array| items_in(body, array)) {
                Ok(items) if body.starts_with(b"[") => self.items(&whole, start, rest, items, sink),
                _ => emit_gap(&whole, start, rest.len(), Gap::Garbage, sink),
            }
            return;
        };
        let body = rest.get(..len).unwrap_or(rest);
        match framing {
            Framing::Rows(key) => self.rows(&whole, start, body, key, sink),
            _ => emit_record(&whole, start, self.scanned.object(body), 0, false, sink),
        }
        emit_after(&whole, start + len, sink);
    }

    /// Emits the items of the array under `key` as records; brackets, commas and all other members
    /// are frame.
    fn rows(
        &mut self,
        whole: &Line<'_>,
        start: usize,
        body: &[u8],
        key: &str,
        sink: &mut dyn FnMut(SplitRecord<'_>),
    ) {
        let items = self
            .scanned
            .object(body)
            .get(key)
            .map(|array| items_in(body, array))
            .unwrap_or_default();
        self.items(whole, start, body, items, sink);
    }

    /// Emits the items that are objects as records and everything else as frame.
    fn items(
        &mut self,
        whole: &Line<'_>,
        start: usize,
        body: &[u8],
        items: Vec<(usize, usize)>,
        sink: &mut dyn FnMut(SplitRecord<'_>),
    ) {
        let mut at = 0;
        let mut nth = 0;
        for (item, len) in items {
            let bytes = body.get(item..item + len).unwrap_or(b"");
            if self.scanned.scan_plainly(bytes).is_err() {
                // Not an object: the next frame, which starts at `at`, includes its bytes.
                continue;
            }
            if item > at {
                emit_gap(whole, start + at, item - at, Gap::Frame, sink);
            }
            emit_record(
                whole,
                start + item,
                self.scanned.object(bytes),
                nth,
                false,
                sink,
            );
            nth += 1;
            at = item + len;
        }
        if body.len() > at {
            emit_gap(whole, start + at, body.len() - at, Gap::Frame, sink);
        }
    }

    /// Returns the length of the garbage: up to the next record on the line, or to the line's end.
    ///
    /// Every `{"` is a candidate. The number of scanned bytes is bounded: without the budget a torn
    /// line of many megabytes would take quadratic time.
    fn garbage(&mut self, text: &[u8], is_record: &IsRecord<'_>) -> usize {
        let mut budget = text.len().saturating_mul(8).saturating_add(1 << 16);
        let finder = memmem::Finder::new(b"{\"");
        // The first byte is garbage in any case: the caller failed to scan an object there.
        let mut from = 1;
        while let Some(step) = text.get(from..).and_then(|rest| finder.find(rest)) {
            let candidate = from + step;
            let rest = text.get(candidate..).unwrap_or(b"");
            match self.scanned.scan_plainly(rest) {
                Ok(len) => {
                    if is_record(&self.scanned.object(rest)) {
                        return candidate;
                    }
                    // A valid object that is not a record: nested objects are skipped with it.
                    from = candidate + len;
                    budget = budget.saturating_sub(len);
                }
                Err(fault) => {
                    from = candidate + 1;
                    budget = budget.saturating_sub(fault.at);
                }
            }
            if budget == 0 {
                break;
            }
        }
        text.len()
    }
}

fn emit_record(
    line: &Line<'_>,
    at: usize,
    object: Object<'_>,
    nth: u32,
    salvaged: bool,
    sink: &mut dyn FnMut(SplitRecord<'_>),
) {
    // The outline already knows whether the line is ASCII, which saves validating most records.
    let bytes = object.raw().bytes();
    let bad_utf8 = !object.is_known_ascii() && simdutf8::basic::from_utf8(bytes).is_err();
    // Only documents have newlines before a record: there the "line" is the whole file.
    let number = line.number + newlines_before(line, at);
    let kind = SpanKind::Record {
        nth,
        bad_utf8,
        salvaged,
    };
    let span = Span {
        at: line.at + at as u64,
        len: bytes.len() as u64,
        line: number,
        kind,
    };
    sink(SplitRecord {
        span,
        bytes,
        object: Some(object),
    });
}

/// What follows a document in its file.
fn emit_after(whole: &Line<'_>, end: usize, sink: &mut dyn FnMut(SplitRecord<'_>)) {
    let after = whole.bytes.get(end..).unwrap_or(b"");
    if !after.is_empty() {
        let gap = if after.iter().all(|b| is_space(*b)) {
            Gap::Blank
        } else {
            Gap::Garbage
        };
        emit_gap(whole, end, after.len(), gap, sink);
    }
}

fn emit_gap(
    line: &Line<'_>,
    at: usize,
    len: usize,
    gap: Gap,
    sink: &mut dyn FnMut(SplitRecord<'_>),
) {
    let bytes = line.bytes.get(at..at + len).unwrap_or(b"");
    let span = Span {
        at: line.at + at as u64,
        len: len as u64,
        line: line.number,
        kind: SpanKind::Gap(gap),
    };
    sink(SplitRecord {
        span,
        bytes,
        object: None,
    });
}

fn newlines_before(line: &Line<'_>, at: usize) -> u64 {
    memchr::memchr_iter(b'\n', line.bytes.get(..at).unwrap_or(b"")).count() as u64
}

fn run(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    bytes
        .iter()
        .position(|b| !belongs(*b))
        .unwrap_or(bytes.len())
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Returns position and length of each item of `array`, which must be a part of `body`.
fn items_in(body: &[u8], array: Raw<'_>) -> Vec<(usize, usize)> {
    array
        .items()
        .map(|item| (offset_in(body, item.bytes()), item.bytes().len()))
        .collect()
}

fn offset_in(whole: &[u8], part: &[u8]) -> usize {
    part.as_ptr().addr().saturating_sub(whole.as_ptr().addr())
}

#[cfg(test)]
mod tests;
