//! The history that a fork inherits: lines of other logs, which its own log continues.
//!
//! Newer versions of Codex do not copy the lines of a session into its fork. The fork names the log
//! that it continues and a position in it; that log may continue a third one. Here the chain is
//! followed, and what is missing of it is reported: a conversation must not look shorter than it
//! is.

use boswell_dialect::{Dialect, HistoryBase, InheritHistory, Reader, SessionLocation};
use boswell_model::json::Scanned;
use boswell_model::{Framing, Result};

use crate::backend::{Backend, BackendFiles, ObjectReader};

/// Positions of inherited records begin here: no log of our own is as long.
pub(super) const INHERITED: u64 = 1 << 62;
/// Forks of forks are followed this far.
const DEEPEST: usize = 1_000;
/// A longer first line is not that of a log.
const LONGEST_HEADER: u64 = 16 << 20;

/// A part of the inherited history that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingHistory {
    /// Id of the log that contains it.
    pub log: String,
    /// Why it could not be read.
    pub why: WhyMissing,
}

/// Why a part of the inherited history could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhyMissing {
    /// There is no such log.
    Absent,
    /// The log ends before the position, or has no line end there: it was replaced or cut.
    Shorter,
    /// The log continues itself, by way of others.
    Cycle,
    /// This many parts of it are not records.
    Damaged(usize),
}

impl std::fmt::Display for MissingHistory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let MissingHistory { log, why } = self;
        let log = log.escape_debug();
        match why {
            WhyMissing::Absent => write!(f, "the log `{log}`, which contains it, does not exist"),
            WhyMissing::Shorter => write!(
                f,
                "the log `{log}`, which contains it, was shortened or replaced"
            ),
            WhyMissing::Cycle => write!(f, "the log `{log}` continues itself"),
            WhyMissing::Damaged(1) => write!(f, "1 byte range of the log `{log}` is not a record"),
            WhyMissing::Damaged(parts) => {
                write!(f, "{parts} byte ranges of the log `{log}` are not records")
            }
        }
    }
}

/// The logs that a log continues, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Inherited {
    bases: Vec<Base>,
    /// What is missing of the history.
    pub(super) missing: Option<MissingHistory>,
}

#[derive(Debug)]
struct Base {
    id: String,
    object: Box<dyn ObjectReader>,
    /// Position after its last line that belongs to the history.
    end: u64,
    /// Where its records are, as positions of the session.
    shift: u64,
}

impl Inherited {
    /// Follows the chain of the log in `object`.
    pub(super) fn of(
        dialect: &dyn Dialect,
        backend: &dyn Backend,
        object: Option<&dyn ObjectReader>,
        location: &SessionLocation,
    ) -> Result<Inherited> {
        let mut found = Inherited::default();
        let (Some(inherit), Some(object), Framing::Lines) =
            (dialect.powers().inherit_history, object, location.framing)
        else {
            return Ok(found);
        };
        let mut next = base_of(inherit, object)?;
        while let Some(base) = next {
            next = found.follow(inherit, backend, location, base)?;
        }
        found.bases.reverse();
        let mut shift = INHERITED;
        for base in &mut found.bases {
            base.shift = shift;
            shift = shift.saturating_add(base.end);
        }
        Ok(found)
    }

    /// Opens a log of the chain, and returns the one that it continues.
    fn follow(
        &mut self,
        inherit: &dyn InheritHistory,
        backend: &dyn Backend,
        location: &SessionLocation,
        HistoryBase { id, end }: HistoryBase,
    ) -> Result<Option<HistoryBase>> {
        let is_known = self.bases.iter().any(|base| base.id == id);
        if is_known || self.bases.len() >= DEEPEST {
            self.miss(id, WhyMissing::Cycle);
            return Ok(None);
        }
        let Some(key) = inherit.base_key(&BackendFiles(backend), location, &id)? else {
            self.miss(id, WhyMissing::Absent);
            return Ok(None);
        };
        if location.key.as_ref() == Some(&key) {
            self.miss(id, WhyMissing::Cycle);
            return Ok(None);
        }
        let object = backend.open(&key)?;
        let is_there = end <= object.end()?;
        if !is_there || (end > 0 && object.read(end - 1, 1)? != b"\n") {
            self.miss(id.clone(), WhyMissing::Shorter);
        }
        let next = base_of(inherit, object.as_ref())?;
        self.bases.push(Base {
            id,
            object,
            end,
            shift: 0,
        });
        Ok(next)
    }

    fn miss(&mut self, log: String, why: WhyMissing) {
        // The first reason is that of the nearest log.
        self.missing.get_or_insert(MissingHistory { log, why });
    }

    /// Passes the inherited lines to a reader.
    pub(super) fn feed(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        let mut damaged = Vec::new();
        for base in &self.bases {
            let mut parts = 0;
            base.object.lines(0, 1, &mut |line| {
                if line.at < base.end {
                    parts += reader.inherit(&base.id, base.shift, line);
                }
            })?;
            if parts > 0 {
                damaged.push((base.id.clone(), parts));
            }
        }
        for (id, parts) in damaged {
            self.miss(id, WhyMissing::Damaged(parts));
        }
        Ok(())
    }

    /// Reads bytes at a position of [`INHERITED`] or above.
    pub(super) fn read(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        let after = self.bases.partition_point(|base| base.shift <= at);
        match after.checked_sub(1).and_then(|last| self.bases.get(last)) {
            Some(base) => base.object.read(at - base.shift, len),
            None => Ok(Vec::new()),
        }
    }
}

/// Returns the log that this log continues.
fn base_of(inherit: &dyn InheritHistory, object: &dyn ObjectReader) -> Result<Option<HistoryBase>> {
    let mut first = object.read(0, 64 << 10)?;
    if memchr::memchr(b'\n', &first).is_none() && first.len() == 64 << 10 {
        first = object.read(0, LONGEST_HEADER)?;
    }
    let line = first.split(|byte| *byte == b'\n').next().unwrap_or(b"");
    let mut scanned = Scanned::default();
    if scanned.scan(line).is_err() {
        return Ok(None);
    }
    Ok(inherit.history_base(&scanned.object(line)))
}
