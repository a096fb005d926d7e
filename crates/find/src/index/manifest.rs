//! The list of what is in force: segments, and for each source how far it is indexed and which blocks are its own.
//!
//! It is the one file that is ever replaced, and it is replaced as a whole: whoever reads it sees the index before or after a
//! change. A block that no source claims is dead, which is all that deleting takes.

use std::collections::HashMap;
use std::sync::OnceLock;

use boswell_model::{Result, SessionRef};

use super::pages::damaged;
use crate::source::Place;
use crate::varint::{self, Reader};

/// Name of its file.
pub(crate) const NAME: &str = "manifest";
/// Longer than any manifest: a hundred bytes for each of ten million sources.
pub(crate) const LONGEST: u64 = 1 << 30;
const MAGIC: &[u8; 8] = b"boswellm";

/// A segment in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentRow {
    pub(crate) number: u64,
    pub(crate) blocks: u32,
    /// The number that stands for the whole file.
    pub(crate) seal: u32,
    /// How much text it was made from.
    pub(crate) text: u64,
    pub(crate) bytes: u64,
}

impl SegmentRow {
    /// Name of its file.
    pub(crate) fn name(&self) -> String {
        segment_name(self.number)
    }
}

/// Name of the file of a segment.
pub(crate) fn segment_name(number: u64) -> String {
    format!("segment-{number}")
}

/// Neighbouring blocks of one segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) segment: u64,
    pub(crate) first: u32,
    pub(crate) count: u32,
}

/// How far a source is indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceRow {
    pub(crate) reference: SessionRef,
    pub(crate) generation: u64,
    /// Everything before is in the index.
    pub(crate) covered: Place,
    pub(crate) ranges: Vec<Range>,
}

/// What is in force.
#[derive(Debug, Clone, Default)]
pub(crate) struct Manifest {
    /// Number of the next segment; never used twice, so that a name means one file for ever.
    pub(crate) next: u64,
    pub(crate) segments: Vec<SegmentRow>,
    pub(crate) sources: Vec<SourceRow>,
    /// Where each source stands, once somebody asks out of order.
    places: OnceLock<HashMap<SessionRef, usize>>,
}

impl Manifest {
    /// What is known of a source; `next` is where it stands if sources come in the order of the rows, which they mostly do.
    pub(crate) fn source_near(&self, reference: &SessionRef, next: &mut usize) -> Option<&SourceRow> {
        let guessed = self.sources.get(*next).filter(|row| row.reference == *reference);
        let index = if guessed.is_some() { *next } else { *self.places().get(reference)? };
        *next = index.saturating_add(1);
        self.sources.get(index)
    }

    fn places(&self) -> &HashMap<SessionRef, usize> {
        self.places.get_or_init(|| {
            self.sources.iter().enumerate().map(|(index, row)| (row.reference.clone(), index)).collect()
        })
    }

    /// The row of a source, made if it is new.
    pub(crate) fn source_mut(&mut self, reference: &SessionRef) -> &mut SourceRow {
        let index = match self.places().get(reference) {
            Some(index) => *index,
            None => {
                let index = self.sources.len();
                if let Some(places) = self.places.get_mut() {
                    places.insert(reference.clone(), index);
                }
                let (reference, ranges) = (reference.clone(), Vec::new());
                self.sources.push(SourceRow { reference, generation: 0, covered: Place::START, ranges });
                index
            }
        };
        &mut self.sources[index]
    }

    /// Keeps only the sources that `keep` wants.
    pub(crate) fn retain(&mut self, keep: impl FnMut(&SourceRow) -> bool) {
        self.sources.retain(keep);
        self.places = OnceLock::new();
    }

    /// How many blocks of each segment are alive.
    pub(crate) fn living(&self) -> HashMap<u64, u64> {
        let mut living = HashMap::new();
        for range in self.sources.iter().flat_map(|source| &source.ranges) {
            *living.entry(range.segment).or_insert(0) += u64::from(range.count);
        }
        living
    }

    /// Its bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        varint::put(&mut out, u64::from(super::pages::VERSION));
        varint::put(&mut out, self.next);
        varint::put(&mut out, self.segments.len() as u64);
        for row in &self.segments {
            for value in [row.number, u64::from(row.blocks), u64::from(row.seal), row.text, row.bytes] {
                varint::put(&mut out, value);
            }
        }
        varint::put(&mut out, self.sources.len() as u64);
        for row in &self.sources {
            encode_source(row, &mut out);
        }
        let sum = crc32fast::hash(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    /// Reads what [`encode`](Manifest::encode) wrote; anything else is damage.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Manifest> {
        let stated = bytes.split_last_chunk::<4>().filter(|(body, sum)| crc32fast::hash(body).to_le_bytes() == **sum);
        let body = stated.and_then(|(body, _)| body.strip_prefix(MAGIC)).ok_or_else(|| damaged("its list"))?;
        decode_body(body).ok_or_else(|| damaged("its list is of another version"))
    }
}

fn encode_source(row: &SourceRow, out: &mut Vec<u8>) {
    for text in [&row.reference.dialect, &row.reference.id] {
        varint::put(out, text.len() as u64);
        out.extend_from_slice(text.as_bytes());
    }
    let Place { at, slot, line } = row.covered;
    for value in [row.generation, at, u64::from(slot), line, row.ranges.len() as u64] {
        varint::put(out, value);
    }
    for range in &row.ranges {
        for value in [range.segment, u64::from(range.first), u64::from(range.count)] {
            varint::put(out, value);
        }
    }
}

fn decode_body(body: &[u8]) -> Option<Manifest> {
    let mut reader = Reader::new(body);
    if reader.number()? != u64::from(super::pages::VERSION) {
        return None;
    }
    let next = reader.number()?;
    let mut segments = Vec::new();
    for _ in 0..reader.number()? {
        segments.push(SegmentRow {
            number: reader.number()?,
            blocks: reader.small()?,
            seal: reader.small()?,
            text: reader.number()?,
            bytes: reader.number()?,
        });
    }
    let mut sources = Vec::new();
    for _ in 0..reader.number()? {
        sources.push(decode_source(&mut reader)?);
    }
    reader.is_empty().then_some(Manifest { next, segments, sources, places: OnceLock::new() })
}

fn decode_source(reader: &mut Reader<'_>) -> Option<SourceRow> {
    let reference = SessionRef::new(reader.text()?, reader.text()?);
    let generation = reader.number()?;
    let covered = Place { at: reader.number()?, slot: reader.small()?, line: reader.number()? };
    let mut ranges = Vec::new();
    for _ in 0..reader.number()? {
        ranges.push(Range { segment: reader.number()?, first: reader.small()?, count: reader.small()? });
    }
    Some(SourceRow { reference, generation, covered, ranges })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Manifest {
        let mut manifest = Manifest { next: 9, ..Manifest::default() };
        manifest.segments.push(SegmentRow { number: 7, blocks: 12, seal: u32::MAX, text: 1 << 40, bytes: 5 });
        for id in ["a", "b", "c会"] {
            let row = manifest.source_mut(&SessionRef::new("claude", id));
            row.generation = 3;
            row.covered = Place { at: 1 << 33, slot: 17, line: 18 };
            row.ranges.push(Range { segment: 7, first: 2, count: 4 });
        }
        manifest
    }

    #[test]
    fn a_manifest_reads_back() {
        let manifest = some();
        let back = Manifest::decode(&manifest.encode()).unwrap();
        assert_eq!(back.sources, manifest.sources);
        assert_eq!((back.next, &back.segments), (9, &manifest.segments));
        let mut next = 0;
        for id in ["a", "c会", "b"] {
            assert!(
                back.source_near(&SessionRef::new("claude", id), &mut next).is_some_and(|row| row.reference.id == id)
            );
        }
        assert!(back.source_near(&SessionRef::new("pi", "a"), &mut next).is_none());
    }

    #[test]
    fn every_flipped_or_missing_byte_is_seen() {
        let bytes = some().encode();
        for at in 0..bytes.len() {
            let mut hurt = bytes.clone();
            hurt[at] ^= 4;
            assert!(Manifest::decode(&hurt).is_err(), "byte {at}");
            assert!(Manifest::decode(&bytes[..at]).is_err(), "cut at {at}");
        }
    }
}
