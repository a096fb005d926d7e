//! Spans: every byte of a log belongs to exactly one.
//!
//! A span is a record, or a gap between records: line ends, blank stretches, NULs left by a
//! crash, garbage, a byte order mark, or the unfinished tail of an append that may still be
//! under way. Concatenated in order they give back the file, which is how we know that
//! nothing is ever dropped.

use memchr::memmem;

use crate::json::{Object, Raw, Scanned};

mod lines;

pub use lines::Lines;

/// A stretch of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Position of its first byte.
    pub at: u64,
    /// Length in bytes.
    pub len: u64,
    /// Line that it begins on, from 1.
    pub line: u64,
    /// What it is.
    pub kind: SpanKind,
}

/// What a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// One JSON object.
    Record {
        /// Which record of its line it is, from 0; more than one means that
        /// they are glued together.
        nth: u32,
        /// Whether some of its bytes are not UTF-8.
        bad_utf8: bool,
        /// Whether other bytes than white space stand before it on its line.
        salvaged: bool,
    },
    /// Anything between records.
    Gap(Gap),
}

/// What stands between records.
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
    /// Bytes that are no record.
    Garbage,
    /// Bytes after the last line end that are no record yet.
    Pending,
    /// Brackets and commas around the records of a document.
    Frame,
}

/// How records stand in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// One record a line.
    Lines,
    /// The whole file is one record.
    Document,
    /// The records are the items of the array under this key of one document.
    Rows(&'static str),
}

/// A line of a log with the newline that ends it, if there is one.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// Position of its first byte.
    pub at: u64,
    /// Its number, from 1.
    pub number: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// A span, and the scanned object if it is a record.
#[derive(Debug)]
pub struct SplitRecord<'a> {
    /// Where and what.
    pub span: Span,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// The record.
    pub object: Option<Object<'a>>,
}

/// Splits lines and documents into spans. Keeps its scratch space, so one serves a whole file.
#[derive(Debug, Default)]
pub struct Splitter {
    scanned: Scanned,
}

/// Decides whether an object found behind garbage is a record of its own, not a part of
/// the one that was torn.
pub type IsRecord<'r> = dyn Fn(&Object<'_>) -> bool + 'r;

impl Splitter {
    /// Splits one line of a line-framed log.
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
                    // Only the first record of a line is worth the index: others on the
                    // same line are damage.
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
                _ => {}
            }
            let len = self.garbage(rest, is_record);
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

    /// Splits a file that is one document. What is no JSON is one gap; then the file has no record.
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
        let after = rest.get(len..).unwrap_or(b"");
        if !after.is_empty() {
            let gap = if after.iter().all(|b| is_space(*b)) {
                Gap::Blank
            } else {
                Gap::Garbage
            };
            emit_gap(&whole, start + len, after.len(), gap, sink);
        }
    }

    /// The items of the array under `key` are records; brackets, commas and all
    /// other members are frame.
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

    /// Those items that are objects are records, all else is frame.
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

    /// How far garbage reaches: to the next record on the line, or to its end.
    ///
    /// Every `{"` is a candidate. The work is bounded, or a torn line of many megabytes
    /// would cost its square.
    fn garbage(&mut self, text: &[u8], is_record: &IsRecord<'_>) -> usize {
        let mut budget = text.len().saturating_mul(8).saturating_add(1 << 16);
        let finder = memmem::Finder::new(b"{\"");
        let mut from = 1;
        while let Some(step) = text.get(from..).and_then(|rest| finder.find(rest)) {
            let candidate = from + step;
            let rest = text.get(candidate..).unwrap_or(b"");
            match self.scanned.scan_plainly(rest) {
                Ok(len) => {
                    if is_record(&self.scanned.object(rest)) {
                        return candidate;
                    }
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
    let bytes = object.raw().bytes();
    let bad_utf8 = !object.is_known_ascii() && simdutf8::basic::from_utf8(bytes).is_err();
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

/// Where the items of an array stand in the text that holds it, and how long they are.
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
