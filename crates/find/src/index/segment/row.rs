//! Block rows: which part of its source a block was made from, forty bytes each.

use crate::extract::{Field, Weight};
use crate::source::TextPosition;

/// Size of a row in bytes.
pub(super) const ROW: usize = 40;

/// Position of a block in its source, and what ranking and time filters need to know of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockRow {
    pub(crate) at: u64,
    pub(crate) len: u64,
    pub(crate) oldest: i64,
    pub(crate) newest: i64,
    pub(crate) slot: u32,
    pub(crate) line: u32,
    /// The highest weight of the fields that the block contains text of.
    pub(crate) weight: Weight,
}

/// Number of bits of the length; the weight is in the eight bits above.
const LEN_BITS: u32 = 56;

impl BlockRow {
    pub(crate) fn at(place: TextPosition) -> BlockRow {
        let line = u32::try_from(place.line).unwrap_or(u32::MAX);
        BlockRow {
            at: place.at,
            len: 0,
            oldest: i64::MAX,
            newest: i64::MIN,
            slot: place.slot,
            line,
            weight: Weight::Plain,
        }
    }

    /// Records the time of an entry; an entry without a time sets `oldest` to the minimum.
    pub(crate) fn saw(&mut self, millis: Option<i64>) {
        self.oldest = self.oldest.min(millis.unwrap_or(i64::MIN));
        self.newest = self.newest.max(millis.unwrap_or(i64::MIN));
    }

    /// Records that the block contains text of `field`.
    pub(crate) fn holds(&mut self, field: Field) {
        self.weight = self.weight.max(field.weight());
    }

    /// Returns the newest time that an entry of the block can have, if entries without a time count
    /// as of `otherwise`.
    pub(crate) fn latest(&self, otherwise: i64) -> i64 {
        if self.oldest == i64::MIN {
            self.newest.max(otherwise)
        } else {
            self.newest
        }
    }

    pub(crate) fn place(&self) -> TextPosition {
        TextPosition {
            at: self.at,
            slot: self.slot,
            line: u64::from(self.line),
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.at.to_le_bytes());
        out.extend_from_slice(&(self.len | (self.weight as u64) << LEN_BITS).to_le_bytes());
        out.extend_from_slice(&self.oldest.to_le_bytes());
        out.extend_from_slice(&self.newest.to_le_bytes());
        out.extend_from_slice(&self.slot.to_le_bytes());
        out.extend_from_slice(&self.line.to_le_bytes());
    }

    // A word of two letters is in most blocks, so the numbers are taken as a whole, not byte by
    // byte.
    fn read(row: &[u8; ROW]) -> BlockRow {
        let (numbers, _) = row.as_chunks::<8>();
        let [at, len, oldest, newest, place] = match numbers {
            [a, b, c, d, e] => [a, b, c, d, e].map(|number| u64::from_le_bytes(*number)),
            _ => [0; 5],
        };
        BlockRow {
            at,
            len: len & ((1 << LEN_BITS) - 1),
            oldest: oldest.cast_signed(),
            newest: newest.cast_signed(),
            slot: place as u32,
            line: (place >> 32) as u32,
            weight: Weight::numbered(len >> LEN_BITS),
        }
    }
}

/// The rows of a segment, decoded one by one on demand: a search needs few of them.
#[derive(Debug)]
pub(crate) struct Rows {
    bytes: Vec<u8>,
    blocks: u32,
}

impl Rows {
    pub(super) fn of(bytes: Vec<u8>, blocks: u32) -> Rows {
        Rows { bytes, blocks }
    }

    pub(crate) fn get(&self, block: u32) -> Option<BlockRow> {
        let at = block as usize * ROW;
        self.bytes
            .get(at..)
            .and_then(|rest| rest.first_chunk())
            .filter(|_| block < self.blocks)
            .map(BlockRow::read)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = BlockRow> {
        (0..self.blocks).filter_map(|block| self.get(block))
    }
}
