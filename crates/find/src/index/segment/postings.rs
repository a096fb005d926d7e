//! Reads posting lists: the blocks in which a term occurs, and how often.

use std::ops::Range;

use boswell_model::Result;

use super::dictionary::{Dictionary, Term};
use crate::index::checksummed_pages::{Paged, damaged};
use crate::varint;

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

    /// Calls `sink` with each block in which `term` occurs, and how often it occurs there.
    pub(crate) fn of(&mut self, term: Term, sink: &mut dyn FnMut(u32, u32)) -> Result<()> {
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
            // Delta encoding: the distance to the previous block; the low bit of `step` says that a
            // count follows.
            block = block.saturating_add(u32::try_from(step >> 1).unwrap_or(u32::MAX));
            let count = if step & 1 == 1 {
                reader.small().unwrap_or(1)
            } else {
                1
            };
            if block >= self.blocks {
                return Err(damaged("a posting of a block that is not there"));
            }
            sink(block, count);
        }
        Ok(())
    }
}
