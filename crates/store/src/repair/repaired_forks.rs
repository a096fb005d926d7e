//! The forks that repairs made, and what was written to the repaired sessions since.

use boswell_dialect::ReaderLoss;
use boswell_model::{Log, Problem, ProblemKind, Result, SessionRef};

use super::REPAIR;
use crate::operations::{FileFacts, ListedOperation, Operation, Runner};
use crate::sha256::{CHUNK, Hasher};
use crate::{Session, Store};

/// The repairs that were made and not undone.
#[derive(Debug, Default)]
pub struct RepairTable {
    /// The newest first.
    repairs: Vec<Operation>,
}

/// The fork that a repair made of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairedFork {
    /// Id of the fork.
    pub id: String,
    /// The log of the session as the repair left it.
    left: Option<FileFacts>,
}

/// What was written to a session after its repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrittenSince {
    /// Nothing: the fork contains everything.
    Nothing,
    /// Lines at the end.
    Appended {
        /// The first line with new bytes.
        line: u64,
    },
    /// What the repair read is not there any more.
    Rewritten,
}

impl RepairTable {
    /// Returns the fork that the last repair of a session made, if it still exists.
    pub fn fork_of(&self, store: &Store, session: &SessionRef) -> Result<Option<RepairedFork>> {
        let is_of = |op: &&Operation| op.session == *session && op.root == store.root();
        let repairs: Vec<_> = self.repairs.iter().filter(is_of).map(made_by).collect();
        if repairs.iter().all(|(created, _)| created.is_empty()) {
            return Ok(None);
        }
        let listed = match store.is_of_one_file() {
            true => Vec::new(),
            false => store.whole().list()?.sessions,
        };
        let id = |key: &String| {
            if store.is_of_one_file() {
                let is_there = matches!(store.backend().stat(key), Ok(Some(_)));
                return is_there.then(|| key.trim_end_matches(".jsonl").to_owned());
            }
            let mut listed = listed.iter();
            let found = listed.find(|location| location.key.as_ref() == Some(key))?;
            Some(found.id.clone())
        };
        Ok(repairs.iter().find_map(|(created, left)| {
            let id = created.iter().find_map(id)?;
            Some(RepairedFork { id, left: *left })
        }))
    }
}

/// Returns the files that a repair created, and the log as it left it.
fn made_by(repair: &Operation) -> (Vec<String>, Option<FileFacts>) {
    let (old, new): (Vec<_>, Vec<_>) = repair
        .files()
        .into_iter()
        .partition(|file| file.before.is_some());
    let created = new.into_iter().map(|file| file.key).collect();
    (created, old.into_iter().find_map(|file| file.after))
}

impl RepairedFork {
    /// Looks for what was written to the session after the repair.
    pub fn written_since(&self, session: &Session) -> Result<WrittenSince> {
        let Some(left) = &self.left else {
            return Ok(WrittenSince::Nothing);
        };
        let log = session.log();
        if log.bytes < left.len {
            return Ok(WrittenSince::Rewritten);
        }
        let mut hasher = Hasher::default();
        while hasher.len() < left.len {
            let len = (left.len - hasher.len()).min(CHUNK as u64);
            let bytes = session.view().payloads.payload(hasher.len(), len)?;
            if bytes.is_empty() {
                return Ok(WrittenSince::Rewritten);
            }
            hasher.add(&bytes);
        }
        if hasher.finish() != left.sha256 {
            return Ok(WrittenSince::Rewritten);
        }
        Ok(match log.bytes == left.len {
            true => WrittenSince::Nothing,
            false => WrittenSince::Appended {
                line: first_line_after(log, left.len),
            },
        })
    }
}

/// Returns the first line that contains bytes behind a position.
fn first_line_after(log: &Log, at: u64) -> u64 {
    let records = log.heads.iter().skip(log.inherited);
    let records = records.map(|head| (head.at + head.len, u64::from(head.line)));
    let gaps = log.gaps.iter().map(|gap| (gap.at + gap.len, gap.line));
    let lines = records.chain(gaps).filter(|(end, _)| *end > at);
    lines.map(|(_, line)| line).min().unwrap_or(u64::MAX)
}

impl WrittenSince {
    /// Whether a problem is in what was written after the repair, or was caused by it.
    pub fn contains(&self, log: &Log, losses: &[ReaderLoss], problem: &Problem) -> bool {
        let from = match self {
            WrittenSince::Rewritten => return true,
            // Late lines are those that the repair did not see.
            _ if problem.kind == ProblemKind::LateLines => return true,
            WrittenSince::Nothing => return false,
            WrittenSince::Appended { line } => *line,
        };
        let is_new = |line: u64| line >= from;
        let loses_new = |loss: &ReaderLoss| {
            let mut heads = loss.entries.iter().filter_map(|slot| log.head(*slot));
            heads.any(|head| is_new(head.line.into()))
        };
        match problem.line {
            Some(line) => is_new(line),
            None => problem.kind == ProblemKind::Unsent && losses.iter().any(loses_new),
        }
    }
}

impl Runner {
    /// Returns the fork that the last repair of a session made, if it still exists.
    ///
    /// Read from the operation itself: a separate note would be a second write, which a crash can
    /// separate from the first.
    pub fn repaired_as(&self, store: &Store, session: &SessionRef) -> Result<Option<RepairedFork>> {
        self.repair_table()?.fork_of(store, session)
    }

    /// Returns the repairs that were made and not undone, for many sessions.
    pub fn repair_table(&self) -> Result<RepairTable> {
        let (operations, _) = self.operations()?;
        let is_repair = |it: &ListedOperation| !it.undone && it.operation.kind == REPAIR;
        let repairs = operations.into_iter().rev().filter(is_repair);
        Ok(RepairTable {
            repairs: repairs.map(|it| it.operation).collect(),
        })
    }
}
