//! An immutable part of the index: which terms stand in which blocks of text.
//!
//! The body of its file: the block rows · where each group of terms begins · the length of each term's postings · the
//! dictionary (every term in byte order, each between two newlines, so that one search over it finds terms that are, begin
//! with, end with or hold a stretch) · the postings · the header. A posting is the distance from the block before it and, if it
//! is not 1, how often the term stands there.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use boswell_model::Result;
use memchr::memmem;

use super::pages::{self, Paged, damaged, number};
use super::varint;
use crate::source::Place;

const GROUP: usize = 64;
const ROW: usize = 40;
const HEADER: usize = 6 * 8;

/// Where the text of a block came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockRow {
    pub(crate) at: u64,
    pub(crate) len: u64,
    pub(crate) oldest: i64,
    pub(crate) newest: i64,
    pub(crate) slot: u32,
    pub(crate) line: u32,
}

impl BlockRow {
    pub(crate) fn at(place: Place) -> BlockRow {
        let line = u32::try_from(place.line).unwrap_or(u32::MAX);
        BlockRow { at: place.at, len: 0, oldest: i64::MAX, newest: i64::MIN, slot: place.slot, line }
    }

    /// Notes the time of an entry; one without a time makes the block as old as can be.
    pub(crate) fn saw(&mut self, millis: Option<i64>) {
        self.oldest = self.oldest.min(millis.unwrap_or(i64::MIN));
        self.newest = self.newest.max(millis.unwrap_or(i64::MIN));
    }

    /// The newest time that an entry of it can have, if those without one count as of `otherwise`.
    pub(crate) fn latest(&self, otherwise: i64) -> i64 {
        if self.oldest == i64::MIN { self.newest.max(otherwise) } else { self.newest }
    }

    pub(crate) fn place(&self) -> Place {
        Place { at: self.at, slot: self.slot, line: u64::from(self.line) }
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.at.to_le_bytes());
        out.extend_from_slice(&self.len.to_le_bytes());
        out.extend_from_slice(&self.oldest.to_le_bytes());
        out.extend_from_slice(&self.newest.to_le_bytes());
        out.extend_from_slice(&self.slot.to_le_bytes());
        out.extend_from_slice(&self.line.to_le_bytes());
    }

    fn read(row: &[u8]) -> BlockRow {
        let part = |from: usize, to: usize| number(row.get(from..to).unwrap_or(b""));
        BlockRow {
            at: part(0, 8),
            len: part(8, 16),
            oldest: part(16, 24).cast_signed(),
            newest: part(24, 32).cast_signed(),
            slot: part(32, 36) as u32,
            line: part(36, 40) as u32,
        }
    }
}

/// Takes terms in byte order and gives the bytes of a segment.
#[derive(Debug, Default)]
pub(crate) struct SegmentWriter {
    dictionary: Vec<u8>,
    groups: Vec<u8>,
    lengths: Vec<u8>,
    postings: Vec<u8>,
    terms: u64,
}

impl SegmentWriter {
    pub(crate) fn new() -> SegmentWriter {
        SegmentWriter { dictionary: vec![b'\n'], ..SegmentWriter::default() }
    }

    /// Adds a term with its blocks in ascending order; one without blocks is left out.
    pub(crate) fn term(&mut self, term: &[u8], blocks: impl Iterator<Item = (u32, u32)>) {
        let from = self.postings.len();
        let mut before = 0;
        for (block, count) in blocks {
            let step = u64::from(block.saturating_sub(before)) << 1;
            before = block;
            if count <= 1 {
                varint::put(&mut self.postings, step);
            } else {
                varint::put(&mut self.postings, step | 1);
                varint::put(&mut self.postings, u64::from(count));
            }
        }
        if self.postings.len() == from {
            return;
        }
        if self.terms.is_multiple_of(GROUP as u64) {
            for place in [self.dictionary.len(), self.lengths.len(), from] {
                self.groups.extend_from_slice(&(place as u32).to_le_bytes());
            }
        }
        varint::put(&mut self.lengths, (self.postings.len() - from) as u64);
        self.dictionary.extend_from_slice(term);
        self.dictionary.push(b'\n');
        self.terms += 1;
    }

    /// The bytes of the file, and the number that stands for it.
    pub(crate) fn finish(self, blocks: &[BlockRow]) -> (Vec<u8>, u32) {
        let mut body = Vec::with_capacity(self.postings.len() + self.dictionary.len() + blocks.len() * ROW);
        for row in blocks {
            row.write(&mut body);
        }
        for part in [&self.groups, &self.lengths, &self.dictionary, &self.postings] {
            body.extend_from_slice(part);
        }
        let sizes = [self.groups.len(), self.lengths.len(), self.dictionary.len(), self.postings.len()];
        for value in [blocks.len() as u64, self.terms].into_iter().chain(sizes.map(|size| size as u64)) {
            body.extend_from_slice(&value.to_le_bytes());
        }
        pages::seal(body)
    }
}

/// What a stretch of text must be to a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// The whole term.
    Whole,
    /// Its beginning.
    Start,
    /// Its end.
    End,
    /// Any part of it.
    Inside,
}

/// A segment that was opened.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) number: u64,
    pages: Paged,
    blocks: u32,
    terms: usize,
    /// Where groups, lengths, dictionary, postings begin, and where postings end.
    places: [u64; 5],
    dictionary: OnceLock<Dictionary>,
    rows: OnceLock<Vec<BlockRow>>,
    hurt: AtomicBool,
}

#[derive(Debug)]
struct Dictionary {
    bytes: Vec<u8>,
    /// Where terms, groups and lengths begin in the bytes.
    text: usize,
    groups: usize,
    lengths: usize,
}

/// A term of a segment: its number and its place in the dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) index: usize,
    start: usize,
    end: usize,
}

impl Segment {
    pub(crate) fn open(number: u64, pages: Paged) -> Result<Segment> {
        let at = pages.len().checked_sub(HEADER as u64).ok_or_else(|| damaged("a segment is too short"))?;
        let (bytes, from) = pages.read(at, pages.len())?;
        let value = |index: usize| number_at(&bytes, from + index * 8);
        let (blocks, terms) = (value(0), value(1));
        let mut places = [blocks.checked_mul(ROW as u64).ok_or_else(|| damaged("a segment has too many blocks"))?; 5];
        for index in 0..4 {
            places[index + 1] = places[index].saturating_add(value(index + 2));
        }
        if places[4] != at || value(4) == 0 {
            return Err(damaged("a segment is not as long as it says"));
        }
        Ok(Segment {
            number,
            pages,
            blocks: u32::try_from(blocks).map_err(|_| damaged("a segment has too many blocks"))?,
            terms: usize::try_from(terms).unwrap_or(0),
            places,
            dictionary: OnceLock::new(),
            rows: OnceLock::new(),
            hurt: AtomicBool::new(false),
        })
    }

    pub(crate) fn seal(&self) -> u32 {
        self.pages.seal()
    }

    pub(crate) fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Whether damage was met in it.
    pub(crate) fn is_hurt(&self) -> bool {
        self.hurt.load(Ordering::Relaxed)
    }

    pub(crate) fn mark_hurt(&self) {
        self.hurt.store(true, Ordering::Relaxed);
    }

    /// Reads every byte once.
    pub(crate) fn check(&self) -> Result<()> {
        self.pages.read(0, self.pages.len()).map(|_| ())
    }

    /// Where the text of each block came from.
    pub(crate) fn rows(&self) -> Result<&[BlockRow]> {
        if let Some(rows) = self.rows.get() {
            return Ok(rows);
        }
        let (bytes, from) = self.pages.read(0, self.places[0])?;
        let rows = bytes.get(from..).unwrap_or(b"").chunks_exact(ROW).take(self.blocks as usize).map(BlockRow::read);
        Ok(self.rows.get_or_init(|| rows.collect()))
    }

    fn dictionary(&self) -> Result<&Dictionary> {
        if let Some(known) = self.dictionary.get() {
            return Ok(known);
        }
        let (bytes, groups) = self.pages.read(self.places[0], self.places[3])?;
        let part = |index: usize| groups + usize::try_from(self.places[index] - self.places[0]).unwrap_or(0);
        let end = part(3);
        let mut bytes = bytes;
        bytes.truncate(end);
        let read = Dictionary { text: part(2), lengths: part(1), groups, bytes };
        Ok(self.dictionary.get_or_init(|| read))
    }

    /// Hands over every term that `stretch` fits, in order, until `sink` answers false.
    pub(crate) fn terms(&self, stretch: &[u8], fit: Fit, sink: &mut dyn FnMut(Term) -> bool) -> Result<()> {
        let dictionary = self.dictionary()?;
        let text = dictionary.terms();
        let mut needle = Vec::with_capacity(stretch.len() + 2);
        if matches!(fit, Fit::Whole | Fit::Start) {
            needle.push(b'\n');
        }
        needle.extend_from_slice(stretch);
        if matches!(fit, Fit::Whole | Fit::End) {
            needle.push(b'\n');
        }
        let skipped = usize::from(matches!(fit, Fit::Whole | Fit::Start));
        let (mut at, until) = match fit {
            Fit::Whole | Fit::Start => dictionary.range(stretch),
            _ => (0, text.len()),
        };
        let finder = memmem::Finder::new(&needle);
        while let Some(step) = text.get(at..until).and_then(|rest| finder.find(rest)) {
            let term = dictionary.term_at(at + step + skipped);
            if !sink(term) || fit == Fit::Whole {
                break;
            }
            // The newline that ends this term begins the next one.
            at = term.end;
        }
        Ok(())
    }

    /// Hands over every term.
    pub(crate) fn all_terms(&self, sink: &mut dyn FnMut(&[u8], Term)) -> Result<()> {
        let dictionary = self.dictionary()?;
        let text = dictionary.terms();
        let mut start = 1;
        for index in 0..self.terms {
            let Some(len) = text.get(start..).and_then(|rest| memchr::memchr(b'\n', rest)) else { break };
            let term = Term { index, start, end: start + len };
            sink(text.get(start..start + len).unwrap_or(b""), term);
            start += len + 1;
        }
        Ok(())
    }

    /// The bytes of a term.
    pub(crate) fn bytes_of(&self, term: Term) -> &[u8] {
        self.dictionary.get().and_then(|d| d.terms().get(term.start..term.end)).unwrap_or(b"")
    }

    /// A reader of postings; terms are best asked for in order.
    pub(crate) fn postings(&self) -> Result<Postings<'_>> {
        Ok(Postings { segment: self, dictionary: self.dictionary()?, held: Vec::new(), held_at: 0 })
    }
}

fn number_at(bytes: &[u8], at: usize) -> u64 {
    number(bytes.get(at..at + 8).unwrap_or(b""))
}

impl Dictionary {
    fn terms(&self) -> &[u8] {
        self.bytes.get(self.text..).unwrap_or(b"")
    }

    fn group(&self, index: usize) -> Option<[usize; 3]> {
        let at = self.groups + index * 12;
        let row = self.bytes.get(at..at + 12).filter(|_| at + 12 <= self.lengths)?;
        let part = |from: usize| number(row.get(from..from + 4).unwrap_or(b"")) as usize;
        Some([part(0), part(4), part(8)])
    }

    fn groups(&self) -> usize {
        (self.lengths - self.groups) / 12
    }

    /// The stretch of the dictionary in which terms that begin with `stretch` can stand.
    fn range(&self, stretch: &[u8]) -> (usize, usize) {
        let first = |index: usize| {
            let start = self.group(index).map_or(0, |group| group[0]);
            let rest = self.terms().get(start..).unwrap_or(b"");
            rest.get(..memchr::memchr(b'\n', rest).unwrap_or(rest.len())).unwrap_or(b"")
        };
        let past = |below: &dyn Fn(&[u8]) -> bool| {
            let (mut low, mut high) = (0, self.groups());
            while low < high {
                let middle = (low + high) / 2;
                if below(first(middle)) { low = middle + 1 } else { high = middle }
            }
            low
        };
        let from = past(&|term| term < stretch).saturating_sub(1);
        let to = past(&|term| term < stretch || term.starts_with(stretch));
        let start = self.group(from).map_or(0, |group| group[0].saturating_sub(1));
        let end = self.group(to).map_or(self.terms().len(), |group| group[0]);
        (start, end)
    }

    /// The term that holds the byte at `at`.
    fn term_at(&self, at: usize) -> Term {
        let text = self.terms();
        let start = memchr::memrchr(b'\n', text.get(..at).unwrap_or(b"")).map_or(0, |newline| newline + 1);
        let end = text.get(start..).and_then(|rest| memchr::memchr(b'\n', rest)).map_or(text.len(), |len| start + len);
        let (mut low, mut high) = (0, self.groups());
        while low < high {
            let middle = (low + high) / 2;
            if self.group(middle).is_some_and(|group| group[0] <= start) { low = middle + 1 } else { high = middle }
        }
        let group = low.saturating_sub(1);
        let from = self.group(group).map_or(0, |g| g[0]);
        let before = memchr::memchr_iter(b'\n', text.get(from..start).unwrap_or(b"")).count();
        Term { index: group * GROUP + before, start, end }
    }

    /// Where the postings of a term begin and end.
    fn postings_of(&self, term: usize) -> Option<(u64, u64)> {
        let [_, lengths, mut at] = self.group(term / GROUP)?;
        let mut reader = varint::Reader::new(self.bytes.get(self.lengths + lengths..self.text)?);
        for _ in 0..term % GROUP {
            at = at.checked_add(usize::try_from(reader.number()?).ok()?)?;
        }
        let len = reader.number()?;
        Some((at as u64, (at as u64).checked_add(len)?))
    }
}

/// Reads postings and keeps the pages it read last.
#[derive(Debug)]
pub(crate) struct Postings<'s> {
    segment: &'s Segment,
    dictionary: &'s Dictionary,
    held: Vec<u8>,
    held_at: u64,
}

impl Postings<'_> {
    /// Hands over the blocks of a term and how often it stands in each.
    pub(crate) fn of(&mut self, term: Term, sink: &mut dyn FnMut(u32, u32)) -> Result<()> {
        let (from, to) = self.dictionary.postings_of(term.index).ok_or_else(|| damaged("a term without postings"))?;
        let base = self.segment.places[3];
        let (from, to) = (base + from, base + to);
        if to > self.segment.places[4] {
            return Err(damaged("postings outside of their place"));
        }
        if from < self.held_at || to > self.held_at + self.held.len() as u64 {
            let (bytes, at) = self.segment.pages.read(from, to)?;
            self.held_at = from - at as u64;
            self.held = bytes;
        }
        let start = usize::try_from(from - self.held_at).unwrap_or(usize::MAX);
        let end = usize::try_from(to - self.held_at).unwrap_or(usize::MAX);
        let mut reader = varint::Reader::new(self.held.get(start..end).unwrap_or(b""));
        let mut block = 0u32;
        while let Some(step) = reader.number() {
            block = block.saturating_add(u32::try_from(step >> 1).unwrap_or(u32::MAX));
            let count = if step & 1 == 1 { reader.small().unwrap_or(1) } else { 1 };
            if block >= self.segment.blocks {
                return Err(damaged("a posting of a block that is not there"));
            }
            sink(block, count);
        }
        Ok(())
    }
}
