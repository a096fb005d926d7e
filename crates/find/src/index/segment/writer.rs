//! Encodes a segment; the layout is described in the module documentation of `segment`.

use super::GROUP;
use super::postings::{PLAIN, Posting};
use super::row::{BlockRow, ROW};
use crate::index::checksummed_pages;
use crate::varint;

/// Collects terms in byte order and returns the bytes of a segment.
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
        SegmentWriter {
            dictionary: vec![b'\n'],
            ..SegmentWriter::default()
        }
    }

    /// Adds a term with its postings in ascending order of blocks; a term without any is left out.
    pub(crate) fn term(&mut self, term: &[u8], postings: impl Iterator<Item = Posting>) {
        let from = self.postings.len();
        let mut before = 0;
        for posting in postings {
            let step = u64::from(posting.block.saturating_sub(before)) << 1;
            before = posting.block;
            let packed = posting.packed();
            if packed == u64::from(PLAIN) {
                varint::put(&mut self.postings, step);
            } else {
                varint::put(&mut self.postings, step | 1);
                varint::put(&mut self.postings, packed);
            }
        }
        // After a merge all blocks of a term may be dead: then the term itself must disappear,
        // which `purge` relies on.
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

    /// Returns the bytes of the file and its seal.
    pub(crate) fn finish(self, blocks: &[BlockRow]) -> (Vec<u8>, u32) {
        let mut body =
            Vec::with_capacity(self.postings.len() + self.dictionary.len() + blocks.len() * ROW);
        for row in blocks {
            row.write(&mut body);
        }
        for part in [
            &self.groups,
            &self.lengths,
            &self.dictionary,
            &self.postings,
        ] {
            body.extend_from_slice(part);
        }
        let sizes = [
            self.groups.len(),
            self.lengths.len(),
            self.dictionary.len(),
            self.postings.len(),
        ];
        for value in [blocks.len() as u64, self.terms]
            .into_iter()
            .chain(sizes.map(|size| size as u64))
        {
            body.extend_from_slice(&value.to_le_bytes());
        }
        checksummed_pages::seal(body)
    }
}
