//! The bytes of a log before and after a step of a repair, for people who want to see them.

use boswell_dialect::{Fix, Splice};

use crate::Session;

/// Bytes around a change that are shown with it.
const AROUND: u64 = 60;
/// Most bytes of one change, and most changes of one step.
const LONGEST: usize = 4 << 10;
const MOST: usize = 16;

/// A range of bytes before and after a change, with a few bytes around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedBytes {
    /// Position of the first of these bytes.
    pub at: u64,
    /// The bytes as they are.
    pub before: Vec<u8>,
    /// The bytes as they would be.
    pub after: Vec<u8>,
}

/// Returns what a fix changes. What cannot be read any more is left out: this is for display only.
pub(super) fn of(session: &Session, fix: &Fix) -> Vec<ChangedBytes> {
    let splices = fix.splices.iter().take(MOST);
    splices.filter_map(|it| changed(session, it)).collect()
}

fn changed(session: &Session, splice: &Splice) -> Option<ChangedBytes> {
    let end = session.log().bytes;
    let from = splice.at.saturating_sub(AROUND);
    let to = splice.end().saturating_add(AROUND).min(end);
    let view = session.view();
    let read = |from: u64, to: u64| {
        let bytes = view.payloads.payload(from, to.saturating_sub(from)).ok()?;
        Some(bytes.into_owned())
    };
    let (lead, tail) = (read(from, splice.at)?, read(splice.end().min(end), to)?);
    // Whole lines only: what is before the last line end and behind the next one is another line.
    let start = lead
        .iter()
        .rposition(|it| *it == b'\n')
        .map_or(0, |at| at + 1);
    let tail_end = tail
        .iter()
        .position(|it| *it == b'\n')
        .unwrap_or(tail.len());
    let (lead, tail) = (lead.get(start..)?, tail.get(..tail_end)?);
    let joined = |middle: &[u8]| {
        let middle = middle.get(..middle.len().min(LONGEST)).unwrap_or_default();
        [lead, middle, tail].concat()
    };
    let old_end = splice.end().min(splice.at.saturating_add(LONGEST as u64));
    Some(ChangedBytes {
        at: from + start as u64,
        before: joined(&read(splice.at, old_end)?),
        after: joined(&splice.with),
    })
}
