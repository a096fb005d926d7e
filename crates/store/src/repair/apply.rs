//! Carries repairs out.

use boswell_dialect::{
    EditRequest, ExpectedState, LockSpec, Modified, Patch, Plan, Precondition, SessionLocation,
    Step,
};
use boswell_model::{Error, ErrorKind, Repair, Result, SessionRef};

use super::planner::RepairPlanner;
use super::{RepairRequest, RepairStep, Repaired, verify};
use crate::runner::{Lowered, Operation, Runner, Start, lower};
use crate::vault::Reason;
use crate::{Session, Store};

/// What a repair comes down to: one plan, and what is reported about it.
struct Work {
    plan: Plan,
    steps: Vec<RepairStep>,
    in_place: bool,
    fork: Option<String>,
}

impl Runner {
    /// Repairs a session: what can be done in place, and what goes into a fork, as one
    /// operation with one undo.
    pub fn repair(
        &self,
        store: &Store,
        location: &SessionLocation,
        request: &RepairRequest,
    ) -> Result<Repaired> {
        if request.in_place && request.steps.len() != 1 {
            return Err(Error::new(ErrorKind::Invalid, "records are changed in place one step at a time")
                .hinting("name the step with `--step N`, or leave out --in-place to have a repaired fork made"));
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

    /// Takes the locks, reads the session under them and does what `plan` says.
    fn apply_repair(
        &self,
        store: &Store,
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
            let location = store.relocate(location)?;
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
            self.check(store.root(), &plan.preconditions)?;
            lower(self.disk.as_ref(), store.root(), &plan)
        })
    }

    /// What was written must read as it did when it was planned; else it is taken back.
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
                    .because("the repaired file could not be read, so the repair was taken back"))
            }
        }
    }
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

/// Everything that the request takes: bytes and added lines in place, changed records in a fork.
fn every_step(store: &Store, bench: &RepairPlanner<'_>) -> Result<Work> {
    let session = &bench.original;
    let untouched = Patch::whole(session.log().bytes);
    let placed = bench.in_place(untouched.clone())?;
    let changed = bench.settled(placed.patch.clone())?;
    // A record that is set free can cut the conversation as long as its parent is missing: then
    // all goes into the fork.
    let alone = bench.stands_alone(&placed)?;
    let in_place = alone && placed.patch != untouched;
    let base = if alone { &placed.patch } else { &untouched };
    let forks = changed.patch != *base;
    let mut work = Work {
        plan: title(session, told(in_place, forks)),
        steps: Vec::new(),
        in_place,
        fork: None,
    };
    if in_place || forks {
        work.steps.extend(placed.steps.clone());
    }
    // The fork is made first: it is put together from pieces of the file that the
    // second step replaces.
    if forks {
        verify::verify(
            &*bench.session(base)?,
            &*bench.session(&changed.patch)?,
            changed.changed,
        )?;
        let (plan, id) = with_fork(work.plan, store, bench, &changed.patch)?;
        (work.plan, work.fork) = (plan, Some(id));
        work.steps.extend(changed.steps);
    }
    if in_place {
        verify::verify(session, &*bench.session(&placed.patch)?, 0)?;
        work.plan = with_file(work.plan, bench, &placed.patch);
    }
    Ok(work)
}

/// Exactly the steps that were named.
fn chosen_steps(store: &Store, bench: &RepairPlanner<'_>, request: &RepairRequest) -> Result<Work> {
    let session = &bench.original;
    let worked = bench.chosen(&request.steps)?;
    let forks = !request.in_place && worked.steps.iter().any(|step| step.repair == Repair::Fork);
    let mut work = Work {
        plan: title(session, told(!forks, forks)),
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

/// Where the repair goes, for the title of its operation.
fn told(in_place: bool, forks: bool) -> &'static str {
    match (in_place, forks) {
        (true, true) => " in place and into a fork",
        (false, true) => " into a fork",
        _ => "",
    }
}

/// The plan that also changes the file itself.
fn with_file(plan: Plan, bench: &RepairPlanner<'_>, patch: &Patch) -> Plan {
    let (session, key) = (&bench.original, key(bench));
    let plan = plan
        .requiring(unchanged(session, &key))
        .requiring(Precondition::NotLive { key: key.clone() });
    plan.step(match patch.added(session.log().bytes) {
        // The runner itself ends a line that is not ended.
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

/// The plan that also makes a repaired fork, and the id of the new session.
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
        .hinting("change it in place, one step at a time: `--step N --in-place --apply`"));
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
