//! Repair: fixes what `check` found, so that the agent itself resumes with everything that is in
//! the file.
//!
//! Fixes have three classes. *Rewrite* moves bytes and changes no record, *append* adds lines: both
//! in place. *Fork* alters records, and goes into a fork of the session unless the caller insists.
//! All of it is one operation of the runner: a crash leaves all or nothing, and one `undo` takes it
//! back.
//!
//! A plan is tested before a byte is written. `planner.rs` reads the session through the patch
//! (`patched_reader.rs`), looks for further fixes in the result, and repeats until there are none;
//! `verify.rs` refuses a result that loses a record or lets the agent reach less than before. After
//! writing, the file is read once more.

mod apply;
mod byte_fixes;
mod changed_bytes;
pub(crate) mod check;
mod chosen_steps;
mod fix_selection;
mod late_lines;
mod original_lines;
mod patched_reader;
mod patched_session;
mod planner;
mod remaining_losses;
mod repaired_forks;
#[cfg(test)]
mod sent_tests;
mod target_readers;
#[cfg(test)]
mod tests;
mod verify;

use boswell_dialect::{Confidence, SessionLocation, UnsentReason};
use boswell_model::{Error, ProblemKind, Repair, Result};

use crate::Store;
use crate::operations::{Operation, Runner};
use planner::RepairPlanner;

pub use changed_bytes::ChangedBytes;
pub use late_lines::LateTable;
pub use repaired_forks::{RepairTable, RepairedFork, WrittenSince};

pub use check::{Report, check, hurt, repair_of};
pub(crate) use verify::{reach, reach_without};

/// The kind of a repair's operation.
pub(crate) const REPAIR: &str = "repair";

/// Which fixes a repair applies, and where.
#[derive(Debug, Clone)]
pub struct RepairRequest {
    /// Applies steps that are at least this sure.
    pub level: Confidence,
    /// Names of readers that must lose nothing, in addition to the version that wrote the file and
    /// newer ones.
    pub goals: Vec<String>,
    /// The version of the installed agent, which must lose nothing either.
    pub installed: Option<String>,
    /// Applies exactly these steps, by number, with any confidence.
    pub steps: Vec<usize>,
    /// Changes records in place instead of in a fork; one step at a time.
    pub in_place: bool,
}

impl Default for RepairRequest {
    fn default() -> Self {
        RepairRequest {
            level: Confidence::Certain,
            goals: Vec::new(),
            installed: None,
            steps: Vec::new(),
            in_place: false,
        }
    }
}

/// One fix of a repair plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairStep {
    /// Number of the step in the plan, from 1.
    pub number: usize,
    /// The problem that the step fixes.
    pub problem: ProblemKind,
    /// Line of the problem in the log, from 1.
    pub line: Option<u64>,
    /// Label of the entry that has the problem.
    pub entry: Option<String>,
    /// The class of the fix: rewrite, append or fork.
    pub repair: Repair,
    /// How sure the fix is right.
    pub confidence: Confidence,
    /// Description of the fix in one clause.
    pub does: String,
    /// Whether the request selects the step.
    pub taken: bool,
    /// Names of the readers that the fix helps; empty means all.
    pub helps: &'static [&'static str],
    /// The bytes that it replaces, of the log as the steps before it leave it.
    pub changes: Vec<ChangedBytes>,
}

/// A reader that still loses something after the repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StillLost {
    /// Name of the reader on the command line.
    pub reader: &'static str,
    /// Name of the reader for people.
    pub title: &'static str,
    /// Whether the reader is a goal of the plan.
    pub is_goal: bool,
    /// Each remaining problem, what the reader loses to it, and how often it occurs.
    pub losses: Vec<(ProblemKind, &'static str, usize)>,
}

/// Messages that known readers do not send after the repair, for one reason.
///
/// Predicted from the file for every reader whose behaviour was measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsentRecords {
    /// Why they are not sent.
    pub reason: UnsentReason,
    /// Names of the readers, oldest first.
    pub readers: Vec<&'static str>,
    /// The messages in file order.
    pub records: Vec<UnsentRecord>,
}

/// A message that some readers do not send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsentRecord {
    /// Line in the log as it is now, from 1.
    pub line: u64,
    /// Label of the entry.
    pub entry: String,
}

/// What a repair would do, and what it would leave.
#[derive(Debug, Default)]
pub struct RepairPlan {
    /// All steps in order, also those that the request does not select.
    pub steps: Vec<RepairStep>,
    /// Names of the readers that the plan serves.
    pub goals: Vec<&'static str>,
    /// Readers that still lose something afterwards.
    pub still_lost: Vec<StillLost>,
    /// Messages that readers do not send afterwards, by reason.
    pub unsent: Vec<UnsentRecords>,
    /// Why no step is taken although some are sure enough: their result would be worse.
    pub refused: Option<Error>,
    /// Number of conversation entries that the agent reaches now.
    pub reachable: u64,
    /// Number of conversation entries that it would reach after the repair.
    pub would_reach: u64,
    /// Number of conversation entries in the file.
    pub total: u64,
}

impl RepairPlan {
    /// Returns whether the request selects no step.
    pub fn is_empty(&self) -> bool {
        !self.steps.iter().any(|step| step.taken)
    }
}

/// The result of a repair.
#[derive(Debug, Default)]
pub struct Repaired {
    /// The operation of the whole repair; `None` if there was nothing to do.
    pub operation: Option<Operation>,
    /// Whether the file itself was changed.
    pub in_place: bool,
    /// Id of the repaired fork, if one was made.
    pub fork: Option<String>,
    /// The steps that were applied, in order.
    pub steps: Vec<RepairStep>,
}

impl Store {
    /// Plans a repair of a session. Takes no lock and writes nothing. Does not consider late lines:
    /// see [`Runner::repair_plan`].
    ///
    /// # Errors
    ///
    /// `Unsupported` if it is not a log of lines; an I/O error if it cannot be read.
    pub fn repair_plan(
        &self,
        location: &SessionLocation,
        request: &RepairRequest,
    ) -> Result<RepairPlan> {
        RepairPlanner::new(self, location, request, Vec::new())?.plan()
    }
}

impl Runner {
    /// Plans a repair of a session, with the late lines that an agent wrote into replaced files.
    /// Takes no lock and writes nothing.
    pub fn repair_plan(
        &self,
        store: &Store,
        location: &SessionLocation,
        request: &RepairRequest,
    ) -> Result<RepairPlan> {
        let late = self.late_table()?.lines(store, location);
        RepairPlanner::new(store, location, request, late)?.plan()
    }
}
