//! Repair: what `check` found is mended, so that the agent itself resumes with everything
//! that is in the file.
//!
//! Mends come in three classes. *Rewrite* moves bytes and changes no record, *append* adds lines:
//! both in place. *Change* alters records, and goes into a fork of the session unless the caller
//! insists. All of it is one operation of the runner: a crash leaves all or nothing, and one `undo`
//! takes it back. Everything is played through on a patched view of the file first: a plan whose
//! result would lose a record, reach less than before or need mending again is refused before a
//! byte is written, and the written file is looked at once more.

mod apply;
mod byte_fixes;
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

pub use crate::check::{Report, check, hurt, repair_of};
pub(crate) use verify::reach;

/// The kind of the operation that a repair is.
pub(crate) const REPAIR: &str = "repair";

/// What a repair is to do.
#[derive(Debug, Clone)]
pub struct RepairRequest {
    /// Takes steps that are at least this sure.
    pub level: Confidence,
    /// Readers that are to lose nothing, besides the version that wrote the file and newer ones.
    pub goals: Vec<String>,
    /// The version of the agent that is installed, which is to lose nothing either.
    pub installed: Option<String>,
    /// Takes exactly these steps, by their numbers, whatever their confidence.
    pub steps: Vec<usize>,
    /// Changes records in place instead of into a fork; one step at a time.
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

/// One thing that a repair would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairStep {
    /// Its number in the plan, from 1.
    pub number: usize,
    /// The problem that it is about.
    pub problem: ProblemKind,
    /// Line of the problem.
    pub line: Option<u64>,
    /// Entry of the problem.
    pub entry: Option<String>,
    /// What kind of repair it is.
    pub repair: Repair,
    /// How sure it is.
    pub confidence: Confidence,
    /// What it does, in one clause.
    pub does: String,
    /// Whether the request takes it.
    pub taken: bool,
    /// Readers that it helps; none named means all.
    pub helps: &'static [&'static str],
}

/// A reader that still loses something once the plan is carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StillLost {
    /// Its name on the command line.
    pub reader: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Whether the plan was to serve it.
    pub is_goal: bool,
    /// The problem and what is lost to it, with how often.
    pub losses: Vec<(ProblemKind, &'static str, usize)>,
}

/// What a repair would do.
#[derive(Debug, Clone, Default)]
pub struct RepairPlan {
    /// Steps, in order.
    pub steps: Vec<RepairStep>,
    /// Readers that the plan serves.
    pub goals: Vec<&'static str>,
    /// Readers that still lose something afterwards.
    pub still_lost: Vec<StillLost>,
    /// Conversation entries that the agent reaches now.
    pub reachable: u64,
    /// Those that it would reach.
    pub would_reach: u64,
    /// Conversation entries in the file.
    pub total: u64,
}

impl RepairPlan {
    /// Whether there is anything that the request takes.
    pub fn is_empty(&self) -> bool {
        !self.steps.iter().any(|step| step.taken)
    }
}

/// What a repair did.
#[derive(Debug, Default)]
pub struct Repaired {
    /// The one operation that did it all; none if there was nothing to do.
    pub operation: Option<Operation>,
    /// Whether the file itself was changed.
    pub in_place: bool,
    /// The id of the repaired fork, if one was made.
    pub fork: Option<String>,
    /// What was done, in order.
    pub steps: Vec<RepairStep>,
}

impl Runner {
    /// The fork that the last repair of a session made, if it is still there.
    ///
    /// Read from the operation itself: a note beside it would be a second write that a crash can
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
    /// What repairing a session would do. Takes no lock and writes nothing. Knows nothing of lines
    /// that were written late: see [`Runner::repair_plan`].
    pub fn repair_plan(
        &self,
        location: &SessionLocation,
        request: &RepairRequest,
    ) -> Result<RepairPlan> {
        RepairPlanner::new(self, location, request, Vec::new())?.plan()
    }
}

impl Runner {
    /// What repairing a session would do, with lines that an agent wrote late. Takes no
    /// lock and writes nothing.
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
