//! [`OriginalLines`]: where a position of a patched file is in the file as it is.
//!
//! Steps of later rounds are found in a patched session, whose lines have other numbers. A plan
//! names lines of the file that the user has, which are those that `check` names.

use boswell_dialect::{Patch, PatchPiece};
use boswell_model::{Log, Slot};

/// Finds lines of the original for positions of a patched file.
pub(super) struct OriginalLines<'a> {
    original: &'a Log,
    patch: &'a Patch,
}

impl<'a> OriginalLines<'a> {
    pub(super) fn new(original: &'a Log, patch: &'a Patch) -> Self {
        OriginalLines { original, patch }
    }

    /// Returns the line of a position. New bytes are at the line of the record that they replace;
    /// if that has another label, at the line of the record with the same label.
    pub(super) fn at(&self, at: u64, label: Option<&str>) -> u64 {
        let old = match self.old_position(at) {
            Ok(old) => return self.line(old),
            Err(old) => old,
        };
        let named = label.filter(|label| self.label_at(old).as_deref() != Some(*label));
        match named.and_then(|label| self.original.find(label)) {
            Some(slot) => self.line_of(slot),
            None => self.line(old),
        }
    }

    /// Returns the label of the record that begins at a position of the original.
    fn label_at(&self, at: u64) -> Option<String> {
        let number = self
            .original
            .heads
            .binary_search_by_key(&at, |head| head.at);
        let slot = Slot(u32::try_from(number.ok()?).ok()?);
        Some(self.original.label(slot).into_owned())
    }

    /// Returns the position in the original; for new bytes as an error the position behind the old
    /// bytes before them.
    fn old_position(&self, at: u64) -> Result<u64, u64> {
        let (mut start, mut behind) = (0, 0);
        for piece in self.patch.pieces() {
            match piece {
                PatchPiece::Old { at: old, len } if at < start + len => {
                    return Ok(old + (at - start));
                }
                PatchPiece::Old { at: old, len } => {
                    (start, behind) = (start + len, old + len);
                }
                PatchPiece::New(bytes) => {
                    let end = start + bytes.len() as u64;
                    if at < end {
                        return Err(behind);
                    }
                    start = end;
                }
            }
        }
        Err(behind)
    }

    fn line_of(&self, slot: Slot) -> u64 {
        let head = self.original.head(slot);
        head.map_or(1, |head| u64::from(head.line))
    }

    /// Returns the line of a position of the original: that of the last record or gap that begins
    /// there or before.
    fn line(&self, at: u64) -> u64 {
        let heads = &self.original.heads;
        let head = heads.partition_point(|head| head.at <= at);
        let head = head.checked_sub(1).and_then(|number| heads.get(number));
        let gaps = &self.original.gaps;
        let gap = gaps.partition_point(|gap| gap.at <= at);
        let gap = gap.checked_sub(1).and_then(|number| gaps.get(number));
        let of_head = head.map_or(1, |head| u64::from(head.line));
        let of_gap = gap.map_or(1, |gap| gap.line);
        of_head.max(of_gap)
    }
}
