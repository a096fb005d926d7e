//! Carries repairs out.

use boswell_dialect::{Dialect, Intention, Located, LockSpec, Modified, Patch, Plan, Precondition, Seen, Step};
use boswell_model::{Error, ErrorKind, Repair, Result, SessionRef};

use super::workbench::{Workbench, Worked};
use super::{RepairRequest, Repaired, verify};
use crate::runner::{Lowered, Operation, Runner, Start, lower};
use crate::vault::Reason;
use crate::{Session, Store};

impl Runner {
    /// Repairs a session: first what is done in place, then what goes into a fork. Each is an operation that can be undone.
    pub fn repair(&self, store: &Store, located: &Located, request: &RepairRequest) -> Result<Repaired> {
        if request.in_place && request.steps.len() != 1 {
            return Err(Error::new(ErrorKind::Invalid, "records are changed in place one step at a time")
                .hinting("name the step with `--step N`, or leave out --in-place to have a repaired fork made"));
        }
        let mut done = Repaired::default();
        if request.steps.is_empty() {
            self.place(store, located, request, &mut done)?;
            self.fork(store, located, request, &mut done)?;
        } else {
            self.choose(store, located, request, &mut done)?;
        }
        Ok(done)
    }

    fn place(&self, store: &Store, located: &Located, request: &RepairRequest, done: &mut Repaired) -> Result<()> {
        let mut steps = Vec::new();
        let operation = self.mend(store, located, request, |bench| {
            let worked = bench.in_place(Patch::whole(bench.original.log().bytes))?;
            if !bench.stands_alone(&worked)? {
                return Ok(title(&bench.original, ""));
            }
            in_place(bench, &worked, &mut steps)
        })?;
        done.in_place = Some(operation).filter(|operation| !operation.files().is_empty());
        if let Some(operation) = &done.in_place {
            self.look_again(store, located, operation)?;
            done.steps.extend(steps.into_iter().filter(|step| step.taken));
        }
        Ok(())
    }

    fn fork(&self, store: &Store, located: &Located, request: &RepairRequest, done: &mut Repaired) -> Result<()> {
        let located = store.look_again(located)?;
        let (mut steps, mut id) = (Vec::new(), None);
        let operation = self.mend(store, &located, request, |bench| {
            let worked = bench.forked()?;
            let (plan, made) = forked(store, bench, &worked)?;
            steps = worked.steps;
            id = made;
            Ok(plan)
        })?;
        if let Some(id) = id.filter(|_| !operation.files().is_empty()) {
            done.steps.extend(steps.into_iter().filter(|step| step.taken));
            done.fork = Some((operation, id));
        }
        Ok(())
    }

    fn choose(&self, store: &Store, located: &Located, request: &RepairRequest, done: &mut Repaired) -> Result<()> {
        let (mut steps, mut id) = (Vec::new(), None);
        let operation = self.mend(store, located, request, |bench| {
            let worked = bench.chosen(&request.steps)?;
            let changes = worked.steps.iter().any(|step| step.repair == Repair::Fork);
            if !changes || request.in_place {
                return in_place(bench, &worked, &mut steps);
            }
            let (plan, made) = forked(store, bench, &worked)?;
            steps = worked.steps;
            id = made;
            Ok(plan)
        })?;
        done.steps = steps;
        match id {
            Some(id) => done.fork = Some((operation, id)),
            None => {
                self.look_again(store, located, &operation)?;
                done.in_place = Some(operation).filter(|operation| !operation.files().is_empty());
            }
        }
        Ok(())
    }

    /// Takes the locks, reads the session under them and does what `plan` says.
    fn mend(
        &self,
        store: &Store,
        located: &Located,
        request: &RepairRequest,
        plan: impl FnOnce(&Workbench<'_>) -> Result<Plan>,
    ) -> Result<Operation> {
        let session = SessionRef::new(store.dialect().name(), &located.id);
        let locks: Vec<LockSpec> = store.dialect().locks(located, &Intention::Repair);
        let start = Start { root: store.folder()?, session: &session, reason: Reason::Before, undoes: None, locks };
        self.operate(&start, || {
            let located = store.look_again(located)?;
            let log = located.key.as_ref().map(|key| store.root().join(key));
            store.refuse_if_live(&located.id, log.as_deref())?;
            let late = self.late_table()?.lines(store, &located);
            let bench = Workbench::new(store, &located, request, late)?;
            let plan = plan(&bench)?;
            if plan.steps.is_empty() {
                return Ok(Lowered { kind: plan.kind, title: plan.title, ..Lowered::default() });
            }
            self.check(store.root(), &plan.preconditions)?;
            lower(self.disk.as_ref(), store.root(), &plan)
        })
    }

    /// What was written must read as it did when it was planned; else it is taken back.
    fn look_again(&self, store: &Store, located: &Located, operation: &Operation) -> Result<()> {
        if operation.files().is_empty() {
            return Ok(());
        }
        let read = store.look_again(located).and_then(|located| store.read(&located, boswell_dialect::Depth::Heads));
        match read {
            Ok(_) => Ok(()),
            Err(error) => {
                self.undo(&operation.id)?;
                Err(error.because("the repaired file could not be read, so the repair was taken back"))
            }
        }
    }
}

fn key(bench: &Workbench<'_>) -> String {
    bench.original.located().key.clone().unwrap_or_default()
}

fn title(session: &Session, what: &str) -> Plan {
    Plan::new("repair", format!("repair {}{what}", session.reference()))
}

/// A plan that changes the file itself.
fn in_place(bench: &Workbench<'_>, worked: &Worked, steps: &mut Vec<super::RepairStep>) -> Result<Plan> {
    let session = &bench.original;
    let mut plan = title(session, "");
    let len = session.log().bytes;
    if worked.patch.is_unchanged(len) {
        return Ok(plan);
    }
    let mended = bench.session(&worked.patch)?;
    verify::verify(session, &mended, worked.changed)?;
    steps.clone_from(&worked.steps);
    let key = key(bench);
    plan = plan.requiring(unchanged(session, &key)).requiring(Precondition::NotLive { key: key.clone() });
    Ok(plan.step(match worked.patch.added(len) {
        // The runner itself ends a line that is not ended.
        Some(added) => Step::append(key, added.strip_prefix(b"\n").filter(|_| !session.log().ended).unwrap_or(added)),
        None => Step::Assemble { key: key.clone(), from: key, patch: worked.patch.clone(), modified: Modified::Kept },
    }))
}

/// A plan that makes a repaired fork, and the id of the new session.
fn forked(store: &Store, bench: &Workbench<'_>, worked: &Worked) -> Result<(Plan, Option<String>)> {
    let session = &bench.original;
    let dialect: &dyn Dialect = store.dialect();
    let mut plan = title(session, " into a fork");
    if worked.patch.is_unchanged(session.log().bytes) {
        return Ok((plan, None));
    }
    let mended = bench.session(&worked.patch)?;
    verify::verify(session, &mended, worked.changed)?;
    let from = key(bench);
    let original = session.path().unwrap_or(&from).to_owned();
    let Some(place) = dialect.repaired_fork(&mended.mending(store.chance()), &original)? else {
        return Err(Error::new(ErrorKind::Unsupported, format!("no fork of {} can be made", session.reference()))
            .hinting("change it in place, one step at a time: `--step N --in-place --apply`"));
    };
    let patch = worked.patch.spliced(&place.splices);
    plan = plan
        .requiring(unchanged(session, &from))
        .requiring(Precondition::NotLive { key: from.clone() })
        .requiring(Precondition::Absent { key: place.key.clone() })
        .step(Step::Assemble { key: place.key, from, patch, modified: Modified::Now });
    Ok((plan, Some(place.id)))
}

fn unchanged(session: &Session, key: &str) -> Precondition {
    let was = Seen {
        len: Some(session.log().bytes),
        sha256: None,
        identity: session.located().identity.map(|identity| identity.file),
    };
    Precondition::Unchanged { key: key.to_owned(), was }
}
