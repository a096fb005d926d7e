//! Executes repairs: turns the planner's patches into one plan for the runner.
//!
//! The session is read, planned and written under the dialect's locks, so that the plan fits the
//! file. Rewrites in place and the fork are steps of the same plan: one operation, one undo.

use boswell_dialect::{
    EditRequest, ExpectedState, LockSpec, Modified, Patch, Plan, Precondition, SessionLocation,
    Step,
};
use boswell_model::{Advice, Error, ErrorKind, Repair, Result, SessionRef};

use super::planner::RepairPlanner;
use super::{RepairRequest, RepairStep, Repaired, verify};
use crate::backend::BackendFiles;
use crate::runner::{Lowered, Operation, Runner, Start, lower};
use crate::vault::Reason;
use crate::{Session, Store, WritableStore};

/// The plan of a repair, and what is reported about it.
struct Work {
    plan: Plan,
    steps: Vec<RepairStep>,
    in_place: bool,
    fork: Option<String>,
}

impl Runner {
    /// Repairs a session: what can be done in place, and what goes into a fork, as one operation
    /// with one undo.
    pub fn repair(
        &self,
        store: &WritableStore,
        location: &SessionLocation,
        request: &RepairRequest,
    ) -> Result<Repaired> {
        if request.in_place && request.steps.len() != 1 {
            return Err(Error::new(
                ErrorKind::Invalid,
                "records are changed in place one step at a time",
            )
            .advising(Advice::RepairByStep.or(Advice::RepairIntoFork)));
        }
        let mut done = Repaired::default();
        let operation = self.apply_repair(store, location, request, |bench| {
            let work = match request.steps.is_empty() {
                true => every_step(store, bench)?,
                false => chosen_steps(store, bench, request)?,
            };
            done.steps = work.steps.into_iter().filter(|step| step.taken).collect();
            (done.in_place, done.fork) = (work.in_place, work.fork);
            Ok(work.plan)
        })?;
        if operation.files().is_empty() {
            return Ok(Repaired::default());
        }
        self.read_back(store, location, &operation)?;
        done.operation = Some(operation);
        Ok(done)
    }

    /// Takes the locks, reads the session under them and executes what `plan` returns.
    fn apply_repair(
        &self,
        store: &WritableStore,
        location: &SessionLocation,
        request: &RepairRequest,
        plan: impl FnOnce(&RepairPlanner<'_>) -> Result<Plan>,
    ) -> Result<Operation> {
        let session = SessionRef::new(store.dialect().name(), &location.id);
        let locks: Vec<LockSpec> = store.dialect().locks_for(location, &EditRequest::Repair);
        let start = Start {
            root: store.folder()?,
            session: &session,
            reason: Reason::Before,
            undoes: None,
            locks,
        };
        self.operate(&start, || {
            let location = store.as_expected(location)?;
            // A running agent would go on with what it has in memory, and overwrite or contradict
            // the repair.
            let log = location.key.as_ref().map(|key| store.root().join(key));
            store.refuse_if_live(&location.id, log.as_deref())?;
            let late = self.late_table()?.lines(store, &location);
            let bench = RepairPlanner::new(store, &location, request, late)?;
            let plan = plan(&bench)?;
            if plan.steps.is_empty() {
                return Ok(Lowered {
                    kind: plan.kind,
                    title: plan.title,
                    ..Lowered::default()
                });
            }
            refuse_to_move_history(store, &location, &plan)?;
            self.check(store.root(), &plan.preconditions)?;
            lower(self.disk.as_ref(), store.root(), &plan)
        })
    }

    /// Reads the written file once more, and undoes the repair if that fails.
    fn read_back(
        &self,
        store: &Store,
        location: &SessionLocation,
        operation: &Operation,
    ) -> Result<()> {
        let read = store
            .relocate(location)
            .and_then(|location| store.read(&location, boswell_dialect::Depth::Heads));
        match read {
            Ok(_) => Ok(()),
            Err(error) => {
                self.undo(&operation.id)?;
                Err(error
                    .because("the repaired file could not be read, so the repair was rolled back"))
            }
        }
    }
}

/// Refuses to move bytes of a log that another one continues from a position.
fn refuse_to_move_history(store: &Store, location: &SessionLocation, plan: &Plan) -> Result<()> {
    let (Some(inherit), Some(key)) = (store.dialect().powers().inherit_history, &location.key)
    else {
        return Ok(());
    };
    let moves = |step: &Step| {
        let only_adds = matches!(step, Step::Append { .. } | Step::AppendKeepingTime { .. });
        !only_adds && step.changes() && step.keys().contains(&key.as_str())
    };
    if !plan.steps.iter().any(moves) {
        return Ok(());
    }
    let Some(fork) = inherit.continued_by(&BackendFiles(store.backend()), location)? else {
        return Ok(());
    };
    let what = format!(
        "the log of {} cannot be repaired in place while its fork `{fork}` continues it",
        location.id
    );
    Err(Error::new(ErrorKind::Conflict, what)
        .because("the fork names a position in it, and the repair would move what is there")
        .advising(Advice::Fork {
            session: None,
            at: None,
        }))
}

fn key(bench: &RepairPlanner<'_>) -> String {
    bench.original.location().key.clone().unwrap_or_default()
}

fn title(session: &Session, what: &str) -> Plan {
    Plan::new(
        super::REPAIR,
        format!("repair {}{what}", session.reference()),
    )
}

/// Plans all steps that the request selects: bytes and added lines in place, changed records in a
/// fork.
fn every_step(store: &Store, bench: &RepairPlanner<'_>) -> Result<Work> {
    let session = &bench.original;
    let untouched = Patch::whole(session.log().bytes);
    let placed = bench.in_place(untouched.clone())?;
    let changed = bench.settled(placed.patch.clone())?;
    // Separating a record can cut the conversation while its parent is missing; then everything
    // goes into the fork, and the original stays as it is.
    let alone = bench.verified(&placed, &changed)?;
    let in_place = alone && placed.patch != untouched;
    let base = if alone { &placed.patch } else { &untouched };
    let forks = changed.patch != *base;
    let mut work = Work {
        plan: title(session, destination(in_place, forks)),
        steps: Vec::new(),
        in_place,
        fork: None,
    };
    if in_place || forks {
        work.steps.extend(placed.steps.clone());
    }
    // The fork is made first: it is assembled from pieces of the file that the second step
    // replaces.
    if forks {
        let (plan, id) = with_fork(work.plan, store, bench, &changed.patch)?;
        (work.plan, work.fork) = (plan, Some(id));
        work.steps.extend(changed.steps);
    }
    if in_place {
        work.plan = with_file(work.plan, bench, &placed.patch);
    }
    Ok(work)
}

/// Plans exactly the steps that the request names.
fn chosen_steps(store: &Store, bench: &RepairPlanner<'_>, request: &RepairRequest) -> Result<Work> {
    let session = &bench.original;
    let worked = bench.chosen(&request.steps)?;
    let forks = !request.in_place && worked.steps.iter().any(|step| step.repair == Repair::Fork);
    let mut work = Work {
        plan: title(session, destination(!forks, forks)),
        steps: Vec::new(),
        in_place: !forks,
        fork: None,
    };
    if worked.patch.is_unchanged(session.log().bytes) {
        return Ok(work);
    }
    verify::verify(session, &*bench.session(&worked.patch)?, worked.changed)?;
    if forks {
        let (plan, id) = with_fork(work.plan, store, bench, &worked.patch)?;
        (work.plan, work.fork) = (plan, Some(id));
    } else {
        work.plan = with_file(work.plan, bench, &worked.patch);
    }
    work.steps = worked.steps;
    Ok(work)
}

/// Returns where the repair goes, for the title of its operation.
fn destination(in_place: bool, forks: bool) -> &'static str {
    match (in_place, forks) {
        (true, true) => " in place and into a fork",
        (false, true) => " into a fork",
        _ => "",
    }
}

/// Adds the change of the file itself to a plan.
fn with_file(plan: Plan, bench: &RepairPlanner<'_>, patch: &Patch) -> Plan {
    let (session, key) = (&bench.original, key(bench));
    let plan = plan
        .requiring(unchanged(session, &key))
        .requiring(Precondition::NotLive { key: key.clone() });
    plan.step(match patch.added(session.log().bytes) {
        // A patch that only appends is executed as an append: agents that have the file open keep
        // seeing it. The runner itself adds the newline that the last line lacks.
        Some(added) => Step::append(
            key,
            added
                .strip_prefix(b"\n")
                .filter(|_| !session.log().ended)
                .unwrap_or(added),
        ),
        None => Step::Assemble {
            key: key.clone(),
            from: key,
            patch: patch.clone(),
            modified: Modified::Kept,
        },
    })
}

/// Adds the repaired fork to a plan; returns the plan and the id of the new session.
fn with_fork(
    plan: Plan,
    store: &Store,
    bench: &RepairPlanner<'_>,
    patch: &Patch,
) -> Result<(Plan, String)> {
    let (session, from) = (&bench.original, key(bench));
    let fixed = bench.session(patch)?;
    let original = session.path().unwrap_or(&from).to_owned();
    let place = match store.dialect().powers().repair {
        Some(repair) => repair.repaired_fork(&fixed.repair_input(store.id_source()), &original)?,
        None => None,
    };
    let Some(place) = place else {
        return Err(Error::new(
            ErrorKind::Unsupported,
            format!("no fork of {} can be made", session.reference()),
        )
        .advising(Advice::RepairInPlace));
    };
    let plan = plan
        .requiring(unchanged(session, &from))
        .requiring(Precondition::NotLive { key: from.clone() })
        .requiring(Precondition::Absent {
            key: place.key.clone(),
        })
        .step(Step::Assemble {
            key: place.key,
            from,
            patch: patch.spliced(&place.splices),
            modified: Modified::Now,
        });
    Ok((plan, place.id))
}

fn unchanged(session: &Session, key: &str) -> Precondition {
    let was = ExpectedState {
        len: Some(session.log().bytes),
        sha256: None,
        identity: session.location().identity.map(|identity| identity.file),
    };
    Precondition::Unchanged {
        key: key.to_owned(),
        was,
    }
}
