//! Reads posting lists: the blocks in which a term occurs, how often, and in which fields at best.

use std::ops::Range;

use boswell_model::Result;

use super::dictionary::{Dictionary, Term};
use crate::extract::Weight;
use crate::index::checksummed_pages::{Paged, damaged};
use crate::varint;

/// A block in which a term occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) block: u32,
    /// How often the term occurs in the block.
    pub(crate) count: u32,
    /// The highest weight of the fields in which it occurs there: most words of a block with a
    /// prompt are not in the prompt, so this is a closer bound of the rank than that of the block.
    pub(crate) weight: Weight,
}

impl Posting {
    /// Returns count and weight as one number.
    pub(super) fn packed(self) -> u64 {
        u64::from(self.count) << 2 | self.weight as u64
    }

    fn unpacked(block: u32, packed: u32) -> Posting {
        Posting {
            block,
            count: packed >> 2,
            weight: Weight::numbered(u64::from(packed & 3)),
        }
    }
}

/// Count and weight of a posting that states none: once, in a plain field.
pub(super) const PLAIN: u32 = 1 << 2;

/// A reader of postings that caches the pages it read last: terms that are neighbours in the
/// dictionary have their postings on the same page.
#[derive(Debug)]
pub(crate) struct Postings<'s> {
    pages: &'s Paged,
    dictionary: &'s Dictionary,
    held: Vec<u8>,
    held_at: u64,
    /// Position of all postings in the body, and the number of blocks that they may refer to.
    place: Range<u64>,
    blocks: u32,
}

impl<'s> Postings<'s> {
    pub(super) fn new(
        pages: &'s Paged,
        dictionary: &'s Dictionary,
        place: Range<u64>,
        blocks: u32,
    ) -> Self {
        Postings {
            pages,
            dictionary,
            held: Vec::new(),
            held_at: 0,
            place,
            blocks,
        }
    }

    /// Calls `sink` with each block in which `term` occurs.
    ///
    /// Generic, so that `sink` is inlined: a part of a word of two letters has millions of
    /// postings.
    pub(crate) fn of(&mut self, term: Term, mut sink: impl FnMut(Posting)) -> Result<()> {
        let (from, to) = self
            .dictionary
            .postings_of(term.index)
            .ok_or_else(|| damaged("a term without postings"))?;
        let base = self.place.start;
        let (from, to) = (base + from, base + to);
        if to > self.place.end {
            return Err(damaged("postings outside of their place"));
        }
        if from < self.held_at || to > self.held_at + self.held.len() as u64 {
            let (bytes, at) = self.pages.read(from, to)?;
            self.held_at = from - at as u64;
            self.held = bytes;
        }
        let start = usize::try_from(from - self.held_at).unwrap_or(usize::MAX);
        let end = usize::try_from(to - self.held_at).unwrap_or(usize::MAX);
        let mut reader = varint::Reader::new(self.held.get(start..end).unwrap_or(b""));
        let mut block = 0u32;
        while let Some(step) = reader.number() {
            // Delta encoding: the distance to the previous block; the low bit of `step` says that
            // count and weight follow.
            block = block.saturating_add(u32::try_from(step >> 1).unwrap_or(u32::MAX));
            let packed = if step & 1 == 1 {
                reader.small().unwrap_or(PLAIN)
            } else {
                PLAIN
            };
            if block >= self.blocks {
                return Err(damaged("a posting of a block that is not there"));
            }
            sink(Posting::unpacked(block, packed));
        }
        Ok(())
    }
}
