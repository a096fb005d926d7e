//! Repairs a damaged session: first a plan, then its execution on request.
//!
//! A plan is not trusted later: [`App::repair`] plans again once the session is locked.

use boswell_dialect::{Confidence, Depth, is_known_agent};
use boswell_model::{Error, ErrorKind, Repair, Result, SessionRef};
use boswell_store::operations::{Operation, Runner};
pub use boswell_store::repair::ChangedBytes;
use boswell_store::repair::{
    RepairPlan, RepairRequest, RepairStep, Repaired, StillLost, UnsentRecords, WrittenSince,
};
use boswell_store::store::Resolved;
use boswell_store::{Store, WritableStore};

use crate::planned_change::OperationShape;
use crate::shape::{Maybe, shape};
use crate::{App, AppResult, RequestContext, agent_version, provider_change};

/// A request to repair a session.
#[derive(Debug, Clone, Default)]
pub struct SessionRepairRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
    /// Also take likely steps, not only certain ones.
    pub likely: bool,
    /// Take exactly these steps of the plan, regardless of their confidence.
    pub steps: Vec<usize>,
    /// Change records in the file itself instead of in a fork; one step at a time.
    pub in_place: bool,
    /// Readers to support in addition to the default ones.
    pub goals: Vec<String>,
    /// Instead of repairing damage, make a session of another model provider again for the
    /// agent's current one.
    pub provider: bool,
}

shape! {
    /// From `repair`: a step, applied or not.
    RepairStepShape: "step" {
        /// the session
        session: String,
        /// number in the plan; 0 once it was applied
        step: usize,
        /// whether it is or would be applied
        taken: bool,
        /// confidence: `certain`, `likely`, `guess`
        confidence: &'static str,
        /// kind of change: `append`, `rewrite`, `change`
        class: &'static str,
        /// the problem that it solves
        problem: &'static str,
        /// line of the problem
        line: Option<u64>,
        /// entry of the problem
        entry: Option<String>,
        /// what it does
        does: String,
        /// readers that it helps; an empty list means all
        helps: Vec<&'static str>,
        /// from the server: the lines that it changes
        changes: Maybe<Vec<ChangedLines>>,
    }

    /// Lines of a log before and after a step. A byte that is not UTF-8 is written as `\\xNN`.
    ChangedLines {
        /// position of the first byte
        at: u64,
        /// as they are
        before: String,
        /// as they would be
        after: String,
    }

    /// From the server: the end of a plan.
    RepairPlanShape: "plan" {
        /// the session
        session: String,
        /// how many steps would be applied
        taken: usize,
        /// messages that the agent reaches now
        reachable: u64,
        /// messages that it would reach
        would_reach: u64,
        /// messages in the file
        total: u64,
        /// why no step is applied although some are sure enough
        refused: Option<String>,
    }

    /// From `repair`: what a reader still loses after the repair.
    LossShape: "loss" {
        /// the session
        session: String,
        /// the name of the reader for `--for`
        reader: &'static str,
        /// whether the repair was asked to help this reader
        goal: bool,
        /// the problem
        problem: &'static str,
        /// what it loses
        loses: &'static str,
        /// how often
        times: usize,
    }

    /// From `repair`: messages that readers do not send after the repair, for one reason.
    UnsentShape: "unsent" {
        /// the session
        session: String,
        /// why: `no_conversation`, `reader_fails`, `not_read`, `no_content`, `same_id`,
        /// `behind_gap`, `parallel_call`, `no_result`, `no_call`, `repeated_call`, `other_branch`,
        /// `before_compaction`, `side_chain`, `client_error`, `nothing_to_send`
        reason: &'static str,
        /// whether the readers leave such messages out of sound sessions too
        intended: bool,
        /// the readers
        readers: Vec<&'static str>,
        /// lines of the messages
        lines: Vec<u64>,
        /// entries of the messages
        entries: Vec<String>,
    }
}

/// The plan of a repair.
#[derive(Debug)]
pub struct SessionRepairPlan {
    /// The session.
    pub session: SessionRef,
    /// The steps in order.
    pub steps: Vec<RepairStepShape>,
    /// The bytes that each step changes, in the order of the steps.
    pub changes: Vec<Vec<ChangedBytes>>,
    /// Number of steps that the request takes.
    pub taken: usize,
    /// Whether a step that is not taken is likely.
    pub likely_left: bool,
    /// What readers still lose after the repair.
    pub losses: Vec<RepairLoss>,
    /// Messages that readers do not send after the repair.
    pub unsent: Vec<UnsentShape>,
    /// Why no step is taken although some are sure enough.
    pub refused: Option<Error>,
    /// A reader that is supported only if it is named.
    pub other_reader: Option<&'static str>,
    /// Conversation entries that the agent reaches now.
    pub reachable: u64,
    /// Conversation entries that the agent would reach.
    pub would_reach: u64,
    /// Conversation entries in the file.
    pub total: u64,
}

/// What a reader still loses after a repair.
#[derive(Debug)]
pub struct RepairLoss {
    /// Display name of the reader.
    pub title: &'static str,
    /// The JSON shape.
    pub shape: LossShape,
}

/// The result of a repair.
#[derive(Debug)]
pub enum SessionRepair {
    /// An earlier repair created this fork, and nothing was written to the session since, so
    /// nothing was done: a new fork each time would only leave copies.
    AlreadyRepaired {
        /// The fork.
        fork: SessionRef,
        /// Its file, if only the path leads to it.
        path: Option<String>,
    },
    /// The steps were taken, if there were any.
    Done(RepairedSession),
}

/// A repaired session.
#[derive(Debug)]
pub struct RepairedSession {
    /// The session.
    pub session: SessionRef,
    /// The steps that were taken, in order.
    pub steps: Vec<RepairStepShape>,
    /// The operation that did it all; none if there was nothing to do.
    pub operation: Option<OperationShape>,
    /// Whether the file itself was changed.
    pub in_place: bool,
    /// The repaired fork, if one was created.
    pub fork: Option<SessionRef>,
    /// The file of the fork, if only the path leads to it.
    pub fork_path: Option<String>,
}

impl App {
    /// Returns the plan of [`repair`](App::repair). Nothing is written.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session, Invalid for an unknown step or reader, Unsupported if
    /// its format cannot be repaired.
    pub fn plan_repair(&self, request: &SessionRepairRequest) -> AppResult<SessionRepairPlan> {
        self.answer(|cx| match request.provider {
            true => provider_change::plan(cx, request),
            false => plan(cx, request),
        })
    }

    /// Repairs a session: byte-level fixes and added lines are applied in place, changed records go
    /// into a fork. One operation, which can be undone.
    ///
    /// # Errors
    ///
    /// Those of [`plan_repair`](App::plan_repair), Denied if nothing may be written, Busy while
    /// another process writes the session.
    pub fn repair(&self, request: &SessionRepairRequest) -> AppResult<SessionRepair> {
        self.answer(|cx| match request.provider {
            true => provider_change::change(cx, request),
            false => repair(cx, request),
        })
    }
}

fn plan(cx: &RequestContext, request: &SessionRepairRequest) -> Result<SessionRepairPlan> {
    let found = cx.resolve(&request.session)?;
    require_session(&found)?;
    let wanted = wanted(cx, request, &found.store);
    let store = &found.store;
    let plan = match &cx.home {
        Some(_) => cx
            .reading_runner()?
            .repair_plan(store, &found.location, &wanted)?,
        None => store.repair_plan(&found.location, &wanted)?,
    };
    Ok(shown(plan, found.reference()))
}

/// Refuses a file of no known agent: moving its bytes would not repair anything.
///
/// # Errors
///
/// [`ErrorKind::Damaged`].
fn require_session<S: AsRef<Store>>(found: &Resolved<S>) -> Result<()> {
    let store = found.store.as_ref();
    if is_known_agent(store.dialect()) {
        return Ok(());
    }
    let key = found.location.key.as_deref();
    let name = key.map(|key| store.backend().describe(key));
    Err(Error::new(
        ErrorKind::Damaged,
        format!(
            "`{}` is not a session of a known agent, so it cannot be repaired",
            name.as_deref().unwrap_or(&found.location.id)
        ),
    )
    .because("it contains no record of a known agent at its beginning"))
}

fn repair(cx: &RequestContext, request: &SessionRepairRequest) -> Result<SessionRepair> {
    let found = cx.resolve_for_writing(&request.session)?;
    require_session(&found)?;
    let wanted = wanted(cx, request, &found.store);
    let runner = cx.runner()?;
    if request.steps.is_empty()
        && !request.in_place
        && let Some(id) = repaired_before(cx, &runner, &found)?
    {
        let fork = SessionRef::new(found.store.dialect().name(), &id);
        let path = fork_path(&found.store, &id);
        return Ok(SessionRepair::AlreadyRepaired { fork, path });
    }
    let done = runner.repair(&found.store, &found.location, &wanted)?;
    let fork = done.fork.as_deref();
    let path = fork.and_then(|id| fork_path(&found.store, id));
    Ok(SessionRepair::Done(RepairedSession {
        fork_path: path,
        ..repaired(done, found.reference())
    }))
}

/// Returns the file of a fork that no store lists: it is beside the repaired one.
fn fork_path(store: &Store, id: &str) -> Option<String> {
    let path = store.root().join(format!("{id}.jsonl"));
    store.is_of_one_file().then(|| path.display().to_string())
}

fn wanted(cx: &RequestContext, request: &SessionRepairRequest, store: &Store) -> RepairRequest {
    RepairRequest {
        level: if request.likely {
            Confidence::Likely
        } else {
            Confidence::Certain
        },
        goals: request.goals.clone(),
        installed: agent_version::version(&cx.env, store.dialect().name()),
        steps: request.steps.clone(),
        in_place: request.in_place,
    }
}

/// Returns the fork from an earlier repair of the session, if it still exists and nothing was
/// written to the session since.
fn repaired_before(
    cx: &RequestContext,
    runner: &Runner,
    found: &Resolved<WritableStore>,
) -> Result<Option<String>> {
    let session = found.reference();
    if let Some(fork) = runner.repaired_as(&found.store, &session)? {
        let read = found.store.read(&found.location, Depth::Heads)?;
        let is_whole = fork.written_since(&read)? == WrittenSince::Nothing;
        return Ok(is_whole.then_some(fork.id));
    }
    // Earlier builds recorded the fork in a note.
    let noted = cx.notes()?.of(&session).repaired_as;
    Ok(noted.filter(|id| found.store.find(id).is_ok()))
}

fn shown(plan: RepairPlan, session: SessionRef) -> SessionRepairPlan {
    let is_likely = |step: &RepairStep| !step.taken && step.confidence == Confidence::Likely;
    SessionRepairPlan {
        steps: plan.steps.iter().map(|it| step(it, &session)).collect(),
        changes: plan.steps.iter().map(|it| it.changes.clone()).collect(),
        taken: plan.steps.iter().filter(|step| step.taken).count(),
        likely_left: plan.steps.iter().any(is_likely),
        losses: plan
            .still_lost
            .iter()
            .flat_map(|it| losses(it, &session))
            .collect(),
        unsent: plan.unsent.iter().map(|it| unsent(it, &session)).collect(),
        other_reader: other_reader(&plan),
        reachable: plan.reachable,
        would_reach: plan.would_reach,
        total: plan.total,
        refused: plan.refused,
        session,
    }
}

/// Returns a reader that loses something and that the plan does not serve.
fn other_reader(plan: &RepairPlan) -> Option<&'static str> {
    let is_other = |reader: &&str| !plan.goals.contains(reader);
    let unsent = plan.unsent.iter().filter(|it| !it.reason.is_intended());
    let mut readers = unsent.flat_map(|it| it.readers.iter().copied());
    let lost = plan.still_lost.iter().find(|lost| !lost.is_goal);
    readers.rfind(is_other).or(lost.map(|lost| lost.reader))
}

fn unsent(unsent: &UnsentRecords, session: &SessionRef) -> UnsentShape {
    let records = unsent.records.iter();
    UnsentShape {
        session: session.to_string(),
        reason: unsent.reason.word(),
        intended: unsent.reason.is_intended(),
        readers: unsent.readers.clone(),
        lines: records.clone().map(|record| record.line).collect(),
        entries: records.map(|record| record.entry.clone()).collect(),
    }
}

fn losses(lost: &StillLost, session: &SessionRef) -> Vec<RepairLoss> {
    let losses = lost.losses.iter();
    losses
        .map(|(problem, loses, times)| RepairLoss {
            title: lost.title,
            shape: LossShape {
                session: session.to_string(),
                reader: lost.reader,
                goal: lost.is_goal,
                problem: problem.word(),
                loses,
                times: *times,
            },
        })
        .collect()
}

fn step(step: &RepairStep, session: &SessionRef) -> RepairStepShape {
    RepairStepShape {
        session: session.to_string(),
        step: step.number,
        taken: step.taken,
        confidence: step.confidence.word(),
        class: match step.repair {
            Repair::Fork => "change",
            repair => repair.word(),
        },
        problem: step.problem.word(),
        line: step.line,
        entry: step.entry.clone(),
        does: step.does.clone(),
        helps: step.helps.to_vec(),
        changes: Maybe::Absent,
    }
}

impl SessionRepairPlan {
    /// Returns the steps with the lines that each of them changes.
    pub fn steps_with_changes(&self) -> Vec<RepairStepShape> {
        let steps = self.steps.iter().zip(&self.changes);
        let shown = |(step, changes): (&RepairStepShape, &Vec<ChangedBytes>)| RepairStepShape {
            changes: Maybe::Given(changes.iter().map(changed_lines).collect()),
            ..step.clone()
        };
        steps.map(shown).collect()
    }

    /// Returns the end of the plan.
    pub fn shape(&self) -> RepairPlanShape {
        RepairPlanShape {
            session: self.session.to_string(),
            taken: self.taken,
            reachable: self.reachable,
            would_reach: self.would_reach,
            total: self.total,
            refused: self.refused.as_ref().map(ToString::to_string),
        }
    }
}

fn changed_lines(changed: &ChangedBytes) -> ChangedLines {
    ChangedLines {
        at: changed.at,
        before: readable(&changed.before),
        after: readable(&changed.after),
    }
}

/// Returns bytes as text, with those that are not UTF-8 as `\xNN`.
fn readable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

fn repaired(done: Repaired, session: SessionRef) -> RepairedSession {
    let fork = done.fork.as_ref();
    let fork = fork.map(|id| SessionRef::new(&session.dialect, id));
    let made = fork.as_ref().map(SessionRef::to_string);
    let operation = |it: Operation| OperationShape {
        made: Maybe::Given(made),
        ..OperationShape::new(&it.id, &it.kind, &session)
    };
    RepairedSession {
        steps: done.steps.iter().map(|it| step(it, &session)).collect(),
        operation: done.operation.map(operation),
        in_place: done.in_place,
        fork,
        fork_path: None,
        session,
    }
}
