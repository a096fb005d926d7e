//! [`PatchedReader`]: reads a log as a patch would leave it, without writing it.
//!
//! Only the new bytes of the patch are in memory; old pieces are read from the file on demand, so
//! that a log larger than memory can be repaired.

use boswell_dialect::{Patch, PatchPiece};
use boswell_model::{Line, Lines, Result};

use crate::backend::{ObjectReader, ends_of_bytes};

/// How many bytes are read at a time.
const CHUNK: u64 = 1 << 20;

/// An object read through a patch.
#[derive(Debug)]
pub(super) struct PatchedReader {
    inner: Box<dyn ObjectReader>,
    /// Each piece with its start in the patched file, sorted.
    pieces: Vec<(u64, PatchPiece)>,
    len: u64,
}

impl PatchedReader {
    pub(super) fn new(inner: Box<dyn ObjectReader>, patch: &Patch) -> Self {
        let mut len = 0;
        let mut pieces = Vec::with_capacity(patch.pieces().len());
        for piece in patch.pieces() {
            pieces.push((len, piece.clone()));
            len += match piece {
                PatchPiece::Old { len, .. } => *len,
                PatchPiece::New(bytes) => bytes.len() as u64,
            };
        }
        PatchedReader { inner, pieces, len }
    }
}

impl ObjectReader for PatchedReader {
    fn end(&self) -> Result<u64> {
        Ok(self.len)
    }

    fn read(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        let to = at.saturating_add(len).min(self.len);
        let mut out = Vec::with_capacity(usize::try_from(to.saturating_sub(at)).unwrap_or(0));
        let first = self
            // The last piece that begins at or before `at`.
            .pieces
            .partition_point(|(start, _)| *start <= at)
            .saturating_sub(1);
        for (start, piece) in self.pieces.get(first..).unwrap_or_default() {
            if *start >= to {
                break;
            }
            let from = at.max(*start) - start;
            match piece {
                PatchPiece::Old { at: old, len } => {
                    let until = (to - start).min(*len);
                    if from < until {
                        out.extend(self.inner.read(old + from, until - from)?);
                    }
                }
                PatchPiece::New(bytes) => {
                    let cut = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                    out.extend_from_slice(
                        bytes.get(cut(from)..cut(to - start)).unwrap_or_default(),
                    );
                }
            }
        }
        Ok(out)
    }

    fn lines(&self, from: u64, number: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64> {
        let mut lines = Lines::new(from, number);
        let mut at = from;
        while at < self.len {
            let chunk = self.read(at, CHUNK)?;
            if chunk.is_empty() {
                break;
            }
            lines.push(&chunk, sink);
            at += chunk.len() as u64;
        }
        lines.finish(sink);
        Ok(at)
    }

    fn ends(&self, window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<bool> {
        ends_of_bytes(self, window, sink)
    }
}
