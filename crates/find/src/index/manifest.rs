//! The manifest: the current segments, and for each source how far it is indexed and which blocks
//! it owns.
//!
//! It is the only file of the index that is ever replaced, and it is replaced atomically: a reader
//! sees the index before or after a change. Deleting a source removes only its row: a block that no
//! source owns is dead, and its terms are dropped when the segment is rewritten.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::sync::OnceLock;

use boswell_model::{Result, SessionRef};
use hashbrown::{DefaultHashBuilder, HashTable};

use super::checksummed_pages::damaged;
use crate::source::TextPosition;
use crate::varint::{self, Reader};

/// File name of the manifest.
pub(crate) const NAME: &str = "manifest";
/// Upper limit of its size: a hundred bytes for each of ten million sources.
pub(crate) const LONGEST: u64 = 1 << 30;
const MAGIC: &[u8; 8] = b"boswellm";

/// A current segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentRow {
    pub(crate) number: u64,
    pub(crate) blocks: u32,
    /// The seal of the file (see `checksummed_pages`).
    pub(crate) seal: u32,
    /// Bytes of text that the segment was built from.
    pub(crate) text: u64,
    pub(crate) bytes: u64,
}

impl SegmentRow {
    /// Returns the file name of the segment.
    pub(crate) fn name(&self) -> String {
        segment_name(self.number)
    }
}

/// Returns the file name of the segment with this number.
pub(crate) fn segment_name(number: u64) -> String {
    format!("segment-{number}")
}

/// A range of consecutive blocks of one segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) segment: u64,
    pub(crate) first: u32,
    pub(crate) count: u32,
}

/// The block ranges of a source. Most sources have one range, which is stored inline without an
/// allocation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ranges {
    first: Option<Range>,
    more: Vec<Range>,
}

impl Ranges {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Range> {
        self.first.iter().chain(&self.more)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Range> {
        self.first.iter_mut().chain(&mut self.more)
    }

    pub(crate) fn push(&mut self, range: Range) {
        if self.first.is_none() {
            self.first = Some(range)
        } else {
            self.more.push(range)
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Ranges::default();
    }

    fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.more.len()
    }
}

/// Position and length of dialect and id of a source in `Manifest::text`.
#[derive(Debug, Clone, Copy)]
struct Name {
    dialect: (u32, u32),
    id: (u32, u32),
}

/// A source in the index and how far it is covered.
#[derive(Debug, Clone)]
pub(crate) struct SourceRow {
    name: Name,
    pub(crate) generation: u64,
    /// Everything before this position is indexed.
    pub(crate) covered: TextPosition,
    pub(crate) ranges: Ranges,
}

/// A dialect and an id, as bytes.
type SourceName<'n> = (&'n [u8], &'n [u8]);

fn name_of(reference: &SessionRef) -> SourceName<'_> {
    (reference.dialect.as_bytes(), reference.id.as_bytes())
}

/// Compares two sources by their place in a listing: folders by name, and in a folder its files
/// by name, so that `/` comes before every other character.
fn by_listing(a: SourceName<'_>, b: SourceName<'_>) -> Ordering {
    let rank = |byte: &u8| (*byte != b'/', *byte);
    let ids = || match a.1.iter().zip(b.1).find(|(a, b)| a != b) {
        Some((a, b)) => rank(a).cmp(&rank(b)),
        None => a.1.len().cmp(&b.1.len()),
    };
    a.0.cmp(b.0).then_with(ids)
}

/// A hash table of positions by name, without copies of the names: a search of ten thousand
/// sessions in a fresh process would spend a tenth of its time on making them.
#[derive(Debug, Clone, Default)]
struct Places {
    /// The hash of a name, and its position.
    table: HashTable<(u64, usize)>,
    hasher: DefaultHashBuilder,
}

impl Places {
    fn of<'n>(names: impl ExactSizeIterator<Item = SourceName<'n>>) -> Places {
        let table = HashTable::with_capacity(names.len());
        let mut places = Places {
            table,
            ..Places::default()
        };
        for (place, name) in names.enumerate() {
            places.add(name, place);
        }
        places
    }

    fn add(&mut self, name: SourceName<'_>, place: usize) {
        let hash = self.hasher.hash_one(name);
        self.table
            .insert_unique(hash, (hash, place), |(hash, _)| *hash);
    }

    fn find(&self, name: SourceName<'_>, is_it: impl Fn(usize) -> bool) -> Option<usize> {
        let hash = self.hasher.hash_one(name);
        let found = self.table.find(hash, |(_, place)| is_it(*place));
        found.map(|(_, place)| *place)
    }
}

/// The contents of the manifest file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Manifest {
    /// Number of the next segment; numbers are never reused, so a file name always means the same
    /// file.
    pub(crate) next: u64,
    pub(crate) segments: Vec<SegmentRow>,
    pub(crate) sources: Vec<SourceRow>,
    /// The bytes of the file, which contain the names of the sources; names of new sources are
    /// appended. Rows refer to it by position, which saves two allocations per source.
    text: Vec<u8>,
    /// Positions in `sources` by name, built at the first lookup that is out of order. It has no
    /// keys of its own: they are compared in `text`, which saves two allocations per source.
    places: OnceLock<Places>,
}

impl Manifest {
    /// Returns the row of a source. `next` is the expected position: callers mostly ask in the
    /// order of the rows, and then no hash map is needed.
    pub(crate) fn source_near(
        &self,
        reference: &SessionRef,
        next: &mut usize,
    ) -> Option<&SourceRow> {
        let guessed = self
            .sources
            .get(*next)
            .filter(|row| self.is_named(row, reference));
        let index = if guessed.is_some() {
            *next
        } else {
            self.place_of(reference)?
        };
        *next = index.saturating_add(1);
        self.sources.get(index)
    }

    fn is_named(&self, row: &SourceRow, reference: &SessionRef) -> bool {
        self.part(row.name.id) == reference.id.as_bytes()
            && self.part(row.name.dialect) == reference.dialect.as_bytes()
    }

    fn part(&self, (at, len): (u32, u32)) -> &[u8] {
        self.text
            .get(at as usize..at as usize + len as usize)
            .unwrap_or(b"")
    }

    fn name(&self, row: &SourceRow) -> SourceName<'_> {
        (self.part(row.name.dialect), self.part(row.name.id))
    }

    /// Returns the reference of the source of `row`.
    pub(crate) fn reference(&self, row: &SourceRow) -> SessionRef {
        let text = |part| String::from_utf8_lossy(self.part(part)).into_owned();
        SessionRef::new(text(row.name.dialect), text(row.name.id))
    }

    /// Returns whether `bytes` differ from the file that this manifest was read from.
    pub(crate) fn differs_from(&self, bytes: &[u8]) -> bool {
        self.text != bytes
    }

    fn place_of(&self, reference: &SessionRef) -> Option<usize> {
        let places = self.places.get_or_init(|| {
            let names = self.sources.iter();
            Places::of(names.map(|row| self.name(row)))
        });
        places.find(name_of(reference), |place| {
            let row = self.sources.get(place);
            row.is_some_and(|row| self.is_named(row, reference))
        })
    }

    /// Returns the row of a source; creates it if it is missing.
    pub(crate) fn source_mut(&mut self, reference: &SessionRef) -> &mut SourceRow {
        let index = match self.place_of(reference) {
            Some(index) => index,
            None => {
                let index = self.sources.len();
                if let Some(places) = self.places.get_mut() {
                    places.add(name_of(reference), index);
                }
                let name = Name {
                    dialect: self.add_text(&reference.dialect),
                    id: self.add_text(&reference.id),
                };
                let ranges = Ranges::default();
                self.sources.push(SourceRow {
                    name,
                    generation: 0,
                    covered: TextPosition::START,
                    ranges,
                });
                index
            }
        };
        &mut self.sources[index]
    }

    fn add_text(&mut self, text: &str) -> (u32, u32) {
        let at = self.text.len();
        self.text.extend_from_slice(text.as_bytes());
        (at as u32, text.len() as u32)
    }

    /// Removes the sources for which `keep` returns false.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&Manifest, &SourceRow) -> bool) {
        let mut sources = std::mem::take(&mut self.sources);
        sources.retain(|row| keep(self, row));
        self.sources = sources;
        // Positions changed, so the index by reference is no longer valid.
        self.places = OnceLock::new();
    }

    /// Returns the number of blocks that sources own, by segment.
    pub(crate) fn living(&self) -> HashMap<u64, u64> {
        let mut living = HashMap::new();
        for range in self.sources.iter().flat_map(|source| source.ranges.iter()) {
            *living.entry(range.segment).or_insert(0) += u64::from(range.count);
        }
        living
    }

    /// Returns the bytes of the file: magic number, varints, and a CRC-32 at the end.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        varint::put(&mut out, u64::from(super::checksummed_pages::VERSION));
        varint::put(&mut out, self.next);
        varint::put(&mut out, self.segments.len() as u64);
        for row in &self.segments {
            for value in [
                row.number,
                u64::from(row.blocks),
                u64::from(row.seal),
                row.text,
                row.bytes,
            ] {
                varint::put(&mut out, value);
            }
        }
        varint::put(&mut out, self.sources.len() as u64);
        // In the order of a listing, so that a search which asks in that order needs no hash table.
        // A stable sort passes rows that are in order already once.
        let mut rows: Vec<&SourceRow> = self.sources.iter().collect();
        rows.sort_by(|a, b| by_listing(self.name(a), self.name(b)));
        for row in rows {
            self.encode_source(row, &mut out);
        }
        let sum = crc32fast::hash(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    fn encode_source(&self, row: &SourceRow, out: &mut Vec<u8>) {
        for text in [self.part(row.name.dialect), self.part(row.name.id)] {
            varint::put(out, text.len() as u64);
            out.extend_from_slice(text);
        }
        let TextPosition { at, slot, line } = row.covered;
        for value in [
            row.generation,
            at,
            u64::from(slot),
            line,
            row.ranges.len() as u64,
        ] {
            varint::put(out, value);
        }
        for range in row.ranges.iter() {
            for value in [
                range.segment,
                u64::from(range.first),
                u64::from(range.count),
            ] {
                varint::put(out, value);
            }
        }
    }

    /// Reads what [`encode`](Manifest::encode) wrote; an error for anything else.
    pub(crate) fn decode(bytes: Vec<u8>) -> Result<Manifest> {
        let stated = bytes
            .split_last_chunk::<4>()
            .filter(|(body, sum)| crc32fast::hash(body).to_le_bytes() == **sum);
        let body = stated
            .map(|(body, _)| body)
            .filter(|body| body.starts_with(MAGIC));
        let read = decode_body(body.ok_or_else(|| damaged("its list"))?);
        let read = read.ok_or_else(|| damaged("its list is of another version"))?;
        Ok(Manifest {
            text: bytes,
            ..read
        })
    }
}

fn decode_body(body: &[u8]) -> Option<Manifest> {
    let mut reader = Reader::new(body);
    reader.bytes(MAGIC.len())?;
    if reader.number()? != u64::from(super::checksummed_pages::VERSION) {
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
    let count = reader.number()?;
    // A row takes at least ten bytes, so a wrong count cannot cause a large allocation.
    let mut sources = Vec::with_capacity(usize::try_from(count).unwrap_or(0).min(body.len() / 10));
    for _ in 0..count {
        sources.push(decode_source(&mut reader, body.len())?);
    }
    reader.is_empty().then_some(Manifest {
        next,
        segments,
        sources,
        ..Manifest::default()
    })
}

fn decode_source(reader: &mut Reader<'_>, len: usize) -> Option<SourceRow> {
    let mut part = || {
        let text = reader.text()?;
        Some((
            u32::try_from(len - reader.left() - text.len()).ok()?,
            u32::try_from(text.len()).ok()?,
        ))
    };
    let name = Name {
        dialect: part()?,
        id: part()?,
    };
    let generation = reader.number()?;
    let covered = TextPosition {
        at: reader.number()?,
        slot: reader.small()?,
        line: reader.number()?,
    };
    let mut ranges = Ranges::default();
    for _ in 0..reader.number()? {
        ranges.push(Range {
            segment: reader.number()?,
            first: reader.small()?,
            count: reader.small()?,
        });
    }
    Some(SourceRow {
        name,
        generation,
        covered,
        ranges,
    })
}

#[cfg(test)]
mod tests;
