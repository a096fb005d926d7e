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
pub(crate) mod check;
mod fix_selection;
mod late_lines;
mod patched_reader;
mod patched_session;
mod planner;
mod target_readers;
#[cfg(test)]
mod tests;
mod verify;

use boswell_dialect::{Confidence, SessionLocation};
use boswell_model::{ProblemKind, Repair, Result, SessionRef};

use crate::Store;
use crate::operations::{ListedOperation, Operation, Runner};
use planner::RepairPlanner;

pub use late_lines::LateTable;

pub use check::{Report, check, hurt, repair_of};
pub(crate) use verify::reach;

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

/// What a repair would do, and what it would leave.
#[derive(Debug, Clone, Default)]
pub struct RepairPlan {
    /// All steps in order, also those that the request does not select.
    pub steps: Vec<RepairStep>,
    /// Names of the readers that the plan serves.
    pub goals: Vec<&'static str>,
    /// Readers that still lose something afterwards.
    pub still_lost: Vec<StillLost>,
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

impl Runner {
    /// Returns the fork that the last repair of a session made, if it still exists.
    ///
    /// Read from the operation itself: a separate note would be a second write, which a crash can
    /// separate from the first.
    pub fn repaired_as(&self, store: &Store, session: &SessionRef) -> Result<Option<String>> {
        let (operations, _) = self.operations()?;
        let repaired = |it: &&ListedOperation| {
            let op = &it.operation;
            !it.undone && op.kind == REPAIR && op.session == *session && op.root == store.root()
        };
        let created = operations
            .iter()
            .rev()
            .filter(repaired)
            .flat_map(|it| it.operation.files());
        let created: Vec<String> = created
            .filter(|file| file.before.is_none())
            .map(|file| file.key)
            .collect();
        let here = store.whole().list()?.sessions;
        let fork = created.iter().find_map(|key| {
            here.iter()
                .find(|location| location.key.as_ref() == Some(key))
        });
        Ok(fork.map(|location| location.id.clone()))
    }
}

impl Store {
    /// Plans a repair of a session. Takes no lock and writes nothing. Does not consider late lines:
    /// see [`Runner::repair_plan`].
    ///
    /// # Errors
    ///
    /// `Unsupported` if it is not a log of lines, `Conflict` if the goals exclude each other; an
    /// I/O error if it cannot be read.
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
