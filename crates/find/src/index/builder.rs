//! Collects the terms of blocks in memory until they become a segment.
//!
//! An open-addressing hash table with linear probing maps the bytes of a term to its number. A
//! [`Cell`] contains the first sixteen bytes of its term, so most terms are compared without
//! leaving the cell; longer terms are compared with the arena to the last byte. A hash never
//! decides equality alone.
//!
//! A block is open while its text is added: each cell counts its term in the open block, and
//! [`Builder::close`] turns the counts of the touched cells into postings.

use super::segment::{BlockRow, Posting, SegmentWriter};
use crate::extract::{Field, Weight};
use crate::source::TextPosition;
use crate::tokenizer;

/// Bytes of folded text after which a block is closed at the end of the current line.
pub(crate) const BLOCK_TEXT: usize = 16 << 10;
/// Bytes of folded text after which a segment is written.
pub(crate) const SEGMENT_TEXT: u64 = 64 << 20;
/// Maximum number of blocks in a segment: a posting packs the block number, a weight of 2 bits and
/// a count of 10 bits into 32 bits.
pub(crate) const MOST_BLOCKS: usize = 1 << 20;
const COUNT_BITS: u32 = 10;
const MOST_COUNT: u16 = (1 << COUNT_BITS) - 1;
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    /// The first eight bytes of the term, big-endian, so that numbers sort as the bytes do.
    prefix: u64,
    /// The eight bytes after `prefix`.
    second: u64,
    /// Number of the term plus one; zero marks a free cell.
    term: u32,
    /// High bits of the hash, so that long terms are rarely compared in vain.
    tag: u16,
    /// How often the term occurs in the open block, and above [`COUNT_BITS`] one bit for each
    /// weight beyond plain of the fields in which it does.
    count: u16,
}

/// A segment that is being built in memory.
#[derive(Debug)]
pub(crate) struct Builder {
    cells: Vec<Cell>,
    seed: u64,
    arena: Vec<u8>,
    /// Start of each term in the arena, and its first eight bytes.
    terms: Vec<(u32, u64)>,
    /// Cells of the terms in the open block; only the first `touched_count` are valid. The vector
    /// always has one element more than there are terms, so that [`Builder::count`] can write
    /// without a branch.
    touched: Vec<u32>,
    touched_count: usize,
    /// Term number, and block number with count, in block order.
    postings: Vec<(u32, u32)>,
    blocks: Vec<BlockRow>,
    open: Option<BlockRow>,
    open_text: usize,
    text: u64,
    /// Terms that were tokenized and not counted yet.
    waiting: Vec<Waiting>,
    /// The bit of [`Cell::count`] for the field of these terms.
    weight: u16,
}

/// A term that was tokenized and not counted yet.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    prefix: u64,
    second: u64,
    hash: u64,
    from: usize,
    to: usize,
}

/// Number of terms that are tokenized before they are counted together.
const TOGETHER: usize = 128;

impl Builder {
    /// Returns an empty builder. The random seed of the hash prevents text that is crafted to
    /// collide from slowing the table down.
    pub(crate) fn new() -> Builder {
        use std::hash::BuildHasher;
        Builder {
            cells: vec![Cell::default(); 1 << 16],
            seed: std::hash::RandomState::new().hash_one(0u8),
            arena: Vec::new(),
            terms: Vec::new(),
            touched: Vec::new(),
            touched_count: 0,
            postings: Vec::new(),
            blocks: Vec::new(),
            open: None,
            open_text: 0,
            text: 0,
            waiting: Vec::with_capacity(TOGETHER),
            weight: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.open.is_none()
    }

    /// Returns the number of bytes of text so far.
    pub(crate) fn text(&self) -> u64 {
        self.text
    }

    /// Returns the number of closed blocks.
    pub(crate) fn blocks(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// Returns whether the segment should be written now, if it may have that much text.
    pub(crate) fn is_full(&self, most: u64) -> bool {
        self.text >= most || self.blocks.len() >= MOST_BLOCKS - 1 || self.arena.len() > 1 << 30
    }

    /// Returns whether the open block has enough text to be closed.
    pub(crate) fn block_is_full(&self) -> bool {
        self.open_text >= BLOCK_TEXT
    }

    /// Opens a block at `place`, unless one is open.
    pub(crate) fn open(&mut self, place: TextPosition) {
        if self.open.is_none() {
            self.open = Some(BlockRow::at(place));
            self.open_text = 0;
        }
    }

    /// Adds a piece of folded text to the open block.
    pub(crate) fn add(&mut self, field: Field, folded: &str) {
        if let Some(row) = &mut self.open {
            row.holds(field);
        }
        self.weight = weight_bit(field.weight());
        self.open_text += folded.len() + 1;
        self.text += folded.len() as u64 + 1;
        let text = folded.as_bytes();
        tokenizer::terms(folded, &mut |from, to| {
            let prefix = prefix_of(text, from, to);
            let second = if to - from > 8 {
                prefix_of(text, from + 8, to)
            } else {
                0
            };
            let hash = hash_of(self.seed, prefix, second, text, from, to);
            self.waiting.push(Waiting {
                prefix,
                second,
                hash,
                from,
                to,
            });
            if self.waiting.len() == TOGETHER {
                self.count_waiting(text);
            }
        });
        self.count_waiting(text);
    }

    /// Counts the waiting terms.
    ///
    /// The table is larger than the L1 cache. A first pass only loads the cells: no load depends on
    /// another, so the cache misses overlap. The second pass then finds the cells in the cache.
    fn count_waiting(&mut self, text: &[u8]) {
        let waiting = std::mem::take(&mut self.waiting);
        let mask = self.cells.len() - 1;
        let touched = waiting.iter().fold(0, |all, it| {
            all | self
                .cells
                .get(it.hash as usize & mask)
                .map_or(0, |c| c.term)
        });
        // Without this the compiler removes the first pass, because its result is not used.
        std::hint::black_box(touched);
        for it in &waiting {
            self.term(*it, text);
        }
        self.waiting = waiting;
        self.waiting.clear();
    }

    /// Records the time of an entry of the open block.
    pub(crate) fn saw(&mut self, millis: Option<i64>) {
        if let Some(row) = &mut self.open {
            row.saw(millis);
        }
    }

    /// Closes the open block at `end` and writes its postings.
    pub(crate) fn close(&mut self, end: TextPosition) {
        let Some(mut row) = self.open.take() else {
            return;
        };
        row.len = end.at.saturating_sub(row.at);
        let block = self.blocks.len() as u32;
        for cell in self.touched.iter().take(self.touched_count) {
            if let Some(cell) = self.cells.get_mut(*cell as usize) {
                self.postings
                    .push((cell.term - 1, block << 12 | u32::from(cell.count)));
                cell.count = 0;
            }
        }
        self.touched_count = 0;
        self.blocks.push(row);
    }

    #[inline]
    fn term(&mut self, waiting: Waiting, text: &[u8]) {
        let Waiting {
            prefix,
            second,
            hash,
            from,
            to,
        } = waiting;
        let tag = (hash >> 48) as u16;
        let mask = self.cells.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let Some(cell) = self.cells.get(at) else {
                return;
            };
            if cell.term == 0 {
                break;
            }
            let alike = cell.prefix == prefix && cell.second == second && cell.tag == tag;
            if alike && self.same(cell.term - 1, text, from, to) {
                return self.count(at);
            }
            at = (at + 1) & mask;
        }
        self.insert(at, waiting, tag, text);
    }

    /// Returns whether a term with the same first sixteen bytes is equal to its end.
    #[inline]
    fn same(&self, term: u32, text: &[u8], from: usize, to: usize) -> bool {
        if to - from < 16 {
            // Terms contain no NUL and short ones are padded with NUL, so equal prefixes below
            // sixteen bytes are equal terms.
            return true;
        }
        let start = self.terms.get(term as usize).map_or(0, |t| t.0 as usize);
        let end = self
            .terms
            .get(term as usize + 1)
            .map_or(self.arena.len(), |t| t.0 as usize);
        self.arena.get(start..end) == text.get(from..to)
    }

    #[inline]
    fn count(&mut self, at: usize) {
        if let Some((cell, room)) = self
            .cells
            .get_mut(at)
            .zip(self.touched.get_mut(self.touched_count))
        {
            // The branch predictor cannot foresee whether a term is new in its block, so the cell
            // is written in any case and only the count decides.
            *room = at as u32;
            self.touched_count += usize::from(cell.count == 0);
            let more = u16::from(cell.count & MOST_COUNT < MOST_COUNT);
            cell.count = (cell.count | self.weight) + more;
        }
    }

    #[cold]
    fn insert(&mut self, at: usize, waiting: Waiting, tag: u16, text: &[u8]) {
        let Waiting {
            prefix,
            second,
            from,
            to,
            ..
        } = waiting;
        let term = self.terms.len() as u32 + 1;
        self.terms.push((self.arena.len() as u32, prefix));
        self.arena
            .extend_from_slice(text.get(from..to).unwrap_or(b""));
        // Keeps the one spare element that `count` writes to.
        self.touched.resize(self.terms.len() + 1, 0);
        if let Some(cell) = self.cells.get_mut(at) {
            *cell = Cell {
                prefix,
                second,
                term,
                tag,
                count: 0,
            };
        }
        self.count(at);
        if self.terms.len() * 2 > self.cells.len() {
            self.grow();
        }
    }

    /// Doubles the table. Cells move, so the list of touched cells is rebuilt from their counts.
    fn grow(&mut self) {
        let mut cells = vec![Cell::default(); self.cells.len() * 2];
        let mask = cells.len() - 1;
        for cell in self.cells.iter().filter(|cell| cell.term != 0) {
            let bytes = self.bytes_of(cell.term - 1);
            let mut at =
                hash_of(self.seed, cell.prefix, cell.second, bytes, 0, bytes.len()) as usize & mask;
            while cells.get(at).is_some_and(|other| other.term != 0) {
                at = (at + 1) & mask;
            }
            if let Some(free) = cells.get_mut(at) {
                *free = *cell;
            }
        }
        self.cells = cells;
        let counted = self
            .cells
            .iter()
            .enumerate()
            .filter(|(_, cell)| cell.count > 0);
        for ((at, _), room) in counted.zip(&mut self.touched) {
            *room = at as u32;
        }
    }

    /// Returns the bytes of the segment and its seal (see `checksummed_pages`), and empties the
    /// builder.
    pub(crate) fn finish(&mut self) -> (Vec<u8>, u32) {
        let order = self.order();
        // A counting sort groups the postings by term. It is stable, so they stay in block order,
        // which the delta encoding of postings requires.
        let mut starts = vec![0u32; self.terms.len() + 1];
        for (term, _) in &self.postings {
            if let Some(count) = starts.get_mut(*term as usize + 1) {
                *count += 1;
            }
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut sorted = vec![0u32; self.postings.len()];
        let mut next = starts.clone();
        for (term, posting) in &self.postings {
            let place = &mut next[*term as usize];
            sorted[*place as usize] = *posting;
            *place += 1;
        }
        let mut writer = SegmentWriter::new();
        for term in order {
            let (from, to) = (
                starts[term as usize] as usize,
                starts[term as usize + 1] as usize,
            );
            let postings = sorted.get(from..to).unwrap_or(&[]);
            writer.term(
                self.bytes_of(term),
                postings.iter().map(|packed| posting(*packed)),
            );
        }
        let file = writer.finish(&self.blocks);
        self.clear();
        file
    }

    /// Empties the builder but keeps its memory: the next segment needs about as much, and the
    /// table need not grow again.
    fn clear(&mut self) {
        self.cells.fill(Cell::default());
        self.arena.clear();
        self.terms.clear();
        self.touched.clear();
        self.postings.clear();
        self.blocks.clear();
        (self.open, self.open_text, self.text, self.touched_count) = (None, 0, 0, 0);
    }

    fn bytes_of(&self, term: u32) -> &[u8] {
        let start = self.terms.get(term as usize).map_or(0, |t| t.0 as usize);
        let end = self
            .terms
            .get(term as usize + 1)
            .map_or(self.arena.len(), |t| t.0 as usize);
        self.arena.get(start..end).unwrap_or(b"")
    }

    /// Returns the term numbers in the byte order of their terms.
    fn order(&self) -> Vec<u32> {
        let mut order: Vec<(u64, u32)> = self
            .terms
            .iter()
            .enumerate()
            .map(|(index, (_, prefix))| (*prefix, index as u32))
            .collect();
        order.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0)
                .then_with(|| self.bytes_of(a.1).cmp(self.bytes_of(b.1)))
        });
        order.into_iter().map(|(_, term)| term).collect()
    }
}

/// Returns the bit of a cell's count that stands for a weight.
fn weight_bit(weight: Weight) -> u16 {
    match weight {
        Weight::Plain => 0,
        Weight::Asked => 1 << COUNT_BITS,
        Weight::Title => 2 << COUNT_BITS,
    }
}

/// Unpacks a posting of the segment that is being built.
fn posting(packed: u32) -> Posting {
    Posting {
        block: packed >> 12,
        count: packed & u32::from(MOST_COUNT),
        // With both bits set, the number is beyond those of all weights and stands for the highest.
        weight: Weight::numbered(u64::from(packed >> COUNT_BITS & 3)),
    }
}

#[inline]
/// Returns up to eight bytes of `text[from..to]` as a big-endian number, padded with zero bytes.
fn prefix_of(text: &[u8], from: usize, to: usize) -> u64 {
    let len = to - from;
    match text
        .get(from..from + 8)
        .and_then(|eight| <[u8; 8]>::try_from(eight).ok())
    {
        Some(eight) if len >= 8 => u64::from_be_bytes(eight),
        // Eight bytes are readable but the term is shorter: the bytes after it are masked out.
        // `len` is at least 1, so the shift is below 64.
        Some(eight) => u64::from_be_bytes(eight) & !(u64::MAX >> (8 * len)),
        None => {
            let mut eight = [0; 8];
            for (place, byte) in eight.iter_mut().zip(text.get(from..to).unwrap_or(b"")) {
                *place = *byte;
            }
            u64::from_be_bytes(eight)
        }
    }
}

#[inline]
fn hash_of(seed: u64, prefix: u64, second: u64, text: &[u8], from: usize, to: usize) -> u64 {
    let mut hash = (prefix ^ seed).wrapping_mul(FACTOR);
    hash = (hash ^ (hash >> 29) ^ second).wrapping_mul(FACTOR);
    let mut at = from + 16;
    while at < to {
        hash = (hash ^ (hash >> 29) ^ prefix_of(text, at, to.min(at + 8))).wrapping_mul(FACTOR);
        at += 8;
    }
    hash ^ (hash >> 32)
}
