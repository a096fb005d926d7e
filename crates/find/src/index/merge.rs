//! Merges several segments into one, without the blocks that no source owns any more.
//!
//! The terms of each segment are sorted, so this is a k-way merge: the smallest term of all cursors
//! is written next. Inputs must be in the order of their new block numbers, because postings are
//! delta-encoded in ascending order.

use boswell_model::Result;

use super::segment::{BlockRow, Dictionary, Posting, Postings, Segment, SegmentWriter, Term};

/// Marks a block that is dropped.
pub(crate) const GONE: u32 = u32::MAX;

/// A segment to merge, with the new number of each of its blocks. Blocks keep their order.
#[derive(Debug)]
pub(crate) struct Input<'s> {
    pub(crate) segment: &'s Segment,
    pub(crate) blocks: Vec<u32>,
}

/// Returns the bytes of the new segment, its seal, and its number of blocks.
pub(crate) fn merge(inputs: &[Input<'_>]) -> Result<(Vec<u8>, u32, u32)> {
    let mut rows: Vec<BlockRow> = Vec::new();
    let read = inputs.iter().map(|input| input.segment.dictionary());
    let dictionaries: Vec<Dictionary> = read.collect::<Result<_>>()?;
    let mut cursors = Vec::new();
    for (input, dictionary) in inputs.iter().zip(&dictionaries) {
        let old = input.segment.rows()?;
        rows.extend(
            old.iter()
                .zip(&input.blocks)
                .filter(|(_, new)| **new != GONE)
                .map(|(row, _)| row),
        );
        let mut terms = Vec::new();
        dictionary.all(&mut |_, term| terms.push(term));
        cursors.push(Cursor {
            input,
            dictionary,
            terms,
            next: 0,
            postings: input.segment.postings(dictionary),
        });
    }
    let mut writer = SegmentWriter::new();
    let mut term = Vec::new();
    let mut postings = Vec::new();
    while let Some(least) = cursors.iter().filter_map(Cursor::bytes).min() {
        term.clear();
        term.extend_from_slice(least);
        postings.clear();
        for cursor in &mut cursors {
            if cursor.bytes() == Some(term.as_slice()) {
                cursor.take(&mut postings)?;
            }
        }
        writer.term(&term, postings.iter().copied());
    }
    let count = rows.len() as u32;
    let (bytes, seal) = writer.finish(&rows);
    Ok((bytes, seal, count))
}

struct Cursor<'i, 's> {
    input: &'i Input<'s>,
    dictionary: &'i Dictionary,
    terms: Vec<Term>,
    next: usize,
    postings: Postings<'i>,
}

impl Cursor<'_, '_> {
    fn bytes(&self) -> Option<&[u8]> {
        self.terms
            .get(self.next)
            .map(|term| self.dictionary.bytes_of(*term))
    }

    /// Appends the postings of the current term to `into` and moves to the next term.
    fn take(&mut self, into: &mut Vec<Posting>) -> Result<()> {
        let Some(term) = self.terms.get(self.next) else {
            return Ok(());
        };
        self.next += 1;
        let blocks = &self.input.blocks;
        self.postings.of(*term, |posting| {
            let new = blocks.get(posting.block as usize);
            if let Some(block) = new.copied().filter(|new| *new != GONE) {
                into.push(Posting { block, ..posting });
            }
        })
    }
}
