//! Spans: every byte of a log belongs to exactly one.
//!
//! A span is a record, or a gap between records: line ends, blank stretches, NULs left by a
//! crash, garbage, a byte order mark, or the unfinished tail of an append that may still be
//! under way. Concatenated in order they give back the file, which is how we know that
//! nothing is ever dropped.

use memchr::{memchr, memmem};

use crate::json::{Object, Raw, Scanned};

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

/// Puts lines together from chunks of a file, whatever their size.
#[derive(Debug)]
pub struct Lines {
    held: Vec<u8>,
    at: u64,
    number: u64,
}

impl Lines {
    /// Starts at a line that begins at position `at` and has the number `number`.
    pub fn new(at: u64, number: u64) -> Self {
        Lines {
            held: Vec::new(),
            at,
            number,
        }
    }

    /// Hands over every line that ends in this chunk and keeps the rest.
    pub fn push(&mut self, chunk: &[u8], sink: &mut dyn FnMut(Line<'_>)) {
        let mut rest = chunk;
        while let Some(end) = memchr(b'\n', rest) {
            let (head, tail) = rest.split_at(end + 1);
            if self.held.is_empty() {
                self.emit(head, sink);
            } else {
                self.held.extend_from_slice(head);
                let line = std::mem::take(&mut self.held);
                self.emit(&line, sink);
                // One long line must not cost its size until the end of the file.
                if line.capacity() <= 1 << 20 {
                    self.held = line;
                    self.held.clear();
                }
            }
            rest = tail;
        }
        self.held.extend_from_slice(rest);
    }

    /// Hands over what stands after the last newline.
    pub fn finish(mut self, sink: &mut dyn FnMut(Line<'_>)) {
        if !self.held.is_empty() {
            let line = std::mem::take(&mut self.held);
            self.emit(&line, sink);
        }
    }

    fn emit(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Line<'_>)) {
        sink(Line {
            at: self.at,
            number: self.number,
            bytes,
        });
        self.at += bytes.len() as u64;
        self.number += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn typed(object: &Object<'_>) -> bool {
        object.get("type").is_some()
    }

    fn split(bytes: &[u8], chunk: usize) -> Vec<(SpanKind, String)> {
        let mut out: Vec<(SpanKind, Vec<u8>)> = Vec::new();
        let mut splitter = Splitter::default();
        let mut next = 0;
        let mut take = |piece: SplitRecord<'_>| {
            assert_eq!(piece.span.at, next, "spans follow each other");
            assert_eq!(piece.span.len, piece.bytes.len() as u64);
            next += piece.span.len;
            out.push((piece.span.kind, piece.bytes.to_vec()));
        };
        let mut lines = Lines::new(0, 1);
        for part in bytes.chunks(chunk) {
            lines.push(part, &mut |line| splitter.line(line, &typed, &mut take));
        }
        lines.finish(&mut |line| splitter.line(line, &typed, &mut take));
        assert_eq!(
            out.iter().flat_map(|(_, b)| b.clone()).collect::<Vec<u8>>(),
            bytes,
            "spans tile the file"
        );
        out.into_iter()
            .map(|(kind, b)| (kind, String::from_utf8_lossy(&b).into_owned()))
            .collect()
    }

    fn records(bytes: &[u8]) -> Vec<String> {
        split(bytes, 7)
            .into_iter()
            .filter(|(k, _)| matches!(k, SpanKind::Record { .. }))
            .map(|(_, t)| t)
            .collect()
    }

    fn gaps(bytes: &[u8]) -> Vec<Gap> {
        let gap = |(kind, _)| {
            if let SpanKind::Gap(gap) = kind {
                Some(gap)
            } else {
                None
            }
        };
        split(bytes, 5)
            .into_iter()
            .filter_map(gap)
            .filter(|g| *g != Gap::Newline)
            .collect()
    }

    const A: &str = r#"{"type":"a","n":{"x":"}{"}}"#;
    const B: &str = r#"{"type":"b"}"#;

    #[test]
    fn glued_records_are_told_apart() {
        let glued = format!("{A}{B}\n{A}\n");
        assert_eq!(records(glued.as_bytes()), [A, B, A]);
        let nths: Vec<_> = split(glued.as_bytes(), 64)
            .iter()
            .filter_map(|(k, _)| {
                if let SpanKind::Record { nth, .. } = k {
                    Some(*nth)
                } else {
                    None
                }
            })
            .collect();
        assert_eq!(nths, [0, 1, 0]);
    }

    #[test]
    fn a_record_behind_a_torn_one_is_salvaged_and_parts_of_the_torn_one_are_not() {
        let torn = r#"{"type":"a","m":{"role":"user","text":"cut h"#;
        assert_eq!(records(format!("{torn}{B}\n").as_bytes()), [B]);
        assert_eq!(gaps(format!("{torn}{B}\n").as_bytes()), [Gap::Garbage]);
        assert_eq!(records(format!("{torn}\n{B}\n").as_bytes()), [B]);
    }

    #[test]
    fn nuls_before_a_record_do_not_hide_it() {
        let holed = format!("{A}\n\0\0\0\0{B}\n\0\0\n\0\0");
        assert_eq!(records(holed.as_bytes()), [A, B]);
        assert_eq!(gaps(holed.as_bytes()), [Gap::Nul, Gap::Nul, Gap::Nul]);
    }

    #[test]
    fn the_unfinished_tail_is_pending_and_a_whole_one_without_newline_a_record() {
        assert_eq!(
            gaps(format!("{A}\n{{\"type\":\"b").as_bytes()),
            [Gap::Pending]
        );
        assert_eq!(records(format!("{A}\n{B}").as_bytes()), [A, B]);
        assert_eq!(gaps(b"half\n{\"type\":\"b"), [Gap::Garbage, Gap::Pending]);
    }

    #[test]
    fn byte_order_marks_carriage_returns_and_values_that_are_no_objects_are_gaps() {
        let bytes = format!("\u{FEFF}{A}\r\n\r\n 12 \n[{B}]\nnull\n");
        assert_eq!(records(bytes.as_bytes()), [A, B]);
        assert_eq!(
            gaps(bytes.as_bytes())[..3],
            [Gap::Bom, Gap::Blank, Gap::Blank]
        );
    }

    #[test]
    fn a_torn_line_full_of_openings_does_not_cost_its_square() {
        let torn = "{\"".repeat(1 << 20);
        assert_eq!(gaps_whole(torn.as_bytes()), [Gap::Pending]);
    }

    fn gaps_whole(bytes: &[u8]) -> Vec<Gap> {
        let mut out = Vec::new();
        Splitter::default().line(
            Line {
                at: 0,
                number: 1,
                bytes,
            },
            &typed,
            &mut |p| {
                if let SpanKind::Gap(gap) = p.span.kind {
                    out.push(gap);
                }
            },
        );
        out
    }

    #[test]
    fn the_objects_of_an_array_are_records_and_all_else_is_frame() {
        let tiles = |bytes: &[u8]| {
            let mut kinds = Vec::new();
            let mut all = Vec::new();
            Splitter::default().document(bytes, Framing::Document, &mut |piece| {
                assert_eq!(piece.span.at, all.len() as u64, "spans follow each other");
                all.extend_from_slice(piece.bytes);
                kinds.push(matches!(piece.span.kind, SpanKind::Record { .. }));
            });
            assert_eq!(all, bytes, "spans tile the file");
            kinds.into_iter().filter(|is_record| *is_record).count()
        };
        assert_eq!(
            tiles(b"\xEF\xBB\xBF [\n {\"a\":1},\n 7, {\"b\":[{}]}\n]\n"),
            2
        );
        assert_eq!(tiles(b"[]"), 0);
        assert_eq!(tiles(b"[{\"a\":1}"), 0, "torn");
        assert_eq!(tiles(b"[{\"a\":1}] x"), 0, "followed by something else");
    }

    #[test]
    fn rows_of_a_document_are_records_and_all_else_is_frame() {
        let doc = b"{\n \"v\":1, \"messages\" : [\n  {\"id\":\"0\"},\n  7, {\"id\":\"1\"}\n ] }\n";
        let mut out = Vec::new();
        let mut whole = Vec::new();
        Splitter::default().document(doc, Framing::Rows("messages"), &mut |p| {
            whole.extend_from_slice(p.bytes);
            if p.object.is_some() {
                out.push((p.span.line, String::from_utf8_lossy(p.bytes).into_owned()));
            }
        });
        assert_eq!(whole, doc);
        assert_eq!(
            out,
            [
                (3, "{\"id\":\"0\"}".to_owned()),
                (4, "{\"id\":\"1\"}".to_owned())
            ]
        );
    }

    proptest! {
        #[test]
        fn any_bytes_tile(bytes in proptest::collection::vec(prop_oneof![
            any::<u8>(), Just(b'{'), Just(b'}'), Just(b'"'), Just(b'\n'), Just(0u8), Just(b':'),
        ], 0..300), chunk in 1usize..40) {
            split(&bytes, chunk);
        }

        #[test]
        fn any_damaged_log_tiles(cut in any::<(u16, u16)>(), filler in "[\\PC\0\n]{0,6}", chunk in 1usize..50) {
            let log = format!("{A}\n{B}\n{A}{B}\n\n{B}\n");
            let from = usize::from(cut.0) % log.len();
            let to = (from + usize::from(cut.1) % 20).min(log.len());
            let damaged = [&log.as_bytes()[..from], filler.as_bytes(), &log.as_bytes()[to..]].concat();
            let one = split(&damaged, chunk);
            prop_assert_eq!(one, split(&damaged, damaged.len().max(1)), "chunks do not matter");
        }
    }
}
