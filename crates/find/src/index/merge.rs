//! Makes one segment of several, without the blocks that no source claims any more.

use boswell_model::Result;

use super::segment::{BlockRow, Postings, Segment, SegmentWriter, Term};

/// Marks a block that does not come along.
pub(crate) const GONE: u32 = u32::MAX;

/// A segment to be merged, and the new number of each of its blocks. Blocks keep their order.
#[derive(Debug)]
pub(crate) struct Input<'s> {
    pub(crate) segment: &'s Segment,
    pub(crate) blocks: Vec<u32>,
}

/// The bytes of the new segment, the number that stands for it, and how many blocks it has.
pub(crate) fn merge(inputs: &[Input<'_>]) -> Result<(Vec<u8>, u32, u32)> {
    let mut rows: Vec<BlockRow> = Vec::new();
    let mut cursors = Vec::new();
    for input in inputs {
        let old = input.segment.rows()?;
        rows.extend(
            old.iter()
                .zip(&input.blocks)
                .filter(|(_, new)| **new != GONE)
                .map(|(row, _)| row),
        );
        let mut terms = Vec::new();
        input.segment.all_terms(&mut |_, term| terms.push(term))?;
        cursors.push(Cursor {
            input,
            terms,
            next: 0,
            postings: input.segment.postings()?,
        });
    }
    let mut writer = SegmentWriter::new();
    let mut term = Vec::new();
    let mut blocks = Vec::new();
    while let Some(least) = cursors.iter().filter_map(Cursor::bytes).min() {
        term.clear();
        term.extend_from_slice(least);
        blocks.clear();
        for cursor in &mut cursors {
            if cursor.bytes() == Some(term.as_slice()) {
                cursor.take(&mut blocks)?;
            }
        }
        writer.term(&term, blocks.iter().copied());
    }
    let count = rows.len() as u32;
    let (bytes, seal) = writer.finish(&rows);
    Ok((bytes, seal, count))
}

struct Cursor<'i, 's> {
    input: &'i Input<'s>,
    terms: Vec<Term>,
    next: usize,
    postings: Postings<'s>,
}

impl Cursor<'_, '_> {
    fn bytes(&self) -> Option<&[u8]> {
        self.terms
            .get(self.next)
            .map(|term| self.input.segment.bytes_of(*term))
    }

    /// Takes the blocks of the term at hand and goes on to the next.
    fn take(&mut self, into: &mut Vec<(u32, u32)>) -> Result<()> {
        let Some(term) = self.terms.get(self.next) else {
            return Ok(());
        };
        self.next += 1;
        let blocks = &self.input.blocks;
        self.postings.of(*term, &mut |block, count| {
            if let Some(new) = blocks.get(block as usize).filter(|new| **new != GONE) {
                into.push((*new, count));
            }
        })
    }
}
