//! Executes an edit request on a session or a store: takes the locks, reads the current state, then
//! runs the dialect's plan.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use boswell_dialect::{
    Depth, EditRequest, LockSpec, Plan, PlanInput, Planned, SessionLocation, Step, StoreRequest,
};
use boswell_model::{Advice, Error, ErrorKind, Result, SessionId, SessionRef};

use crate::backend::{BackendFiles, FsBackend, lock_name};
use crate::runner::{Operation, Runner, Start, lower};
use crate::vault::Reason;
use crate::{Session, Store, WritableStore};

/// How many times a change is planned again when another process was faster.
const ATTEMPTS: u64 = 5;

/// An executed request.
#[derive(Debug)]
pub struct Executed {
    /// The operation, which can be undone; without files if there was nothing to do.
    pub operation: Operation,
    /// The plan that was executed, with the messages for the user.
    pub planned: Planned,
}

impl Store {
    /// Plans an edit request. Takes no lock, so the plan may be different when the request is
    /// executed.
    ///
    /// # Errors
    ///
    /// `Unsupported` if the dialect has no plan for it; `Conflict` or `NotFound` if the session is
    /// not as the request expects; an I/O error if it cannot be read.
    pub fn plan(&self, location: &SessionLocation, request: &EditRequest) -> Result<Planned> {
        let session = if request.needs_conversation() {
            let session = self.read_conversation(location, Depth::Facts)?;
            refuse_incomplete(&session)?;
            session
        } else {
            self.read(location, Depth::Facts)?
        };
        self.plan_for(&session, request)
    }

    /// As [`plan`](Store::plan), for a request about the whole store.
    ///
    /// # Errors
    ///
    /// `Unsupported` if the dialect has no plan for it; an I/O error if the store cannot be read.
    pub fn plan_store(&self, request: &StoreRequest) -> Result<Planned> {
        let id_source = self.id_source();
        let edits = self.dialect().planner()?;
        let reach = edits.plan_root(self.root(), request);
        if reach == self.root() {
            let mut planned =
                edits.plan_store(&BackendFiles(self.backend()), request, id_source)?;
            if matches!(
                request,
                StoreRequest::Index | StoreRequest::IndexWith { .. }
            ) {
                self.leave_excluded(&mut planned)?;
            }
            return Ok(planned);
        }
        edits.plan_store(&BackendFiles(&FsBackend::new(&reach)), request, id_source)
    }

    /// Leaves indexes that are in a folder of excluded sessions as they are. An index that all
    /// projects share stays whole: its agent needs every row.
    fn leave_excluded(&self, planned: &mut Planned) -> Result<()> {
        let folder = |location: &SessionLocation| {
            location
                .key
                .as_deref()?
                .rsplit_once('/')
                .map(|(folder, _)| folder.to_owned())
        };
        let hidden: HashSet<String> = self.excluded()?.iter().filter_map(folder).collect();
        if hidden.is_empty() {
            return Ok(());
        }
        let shown: HashSet<String> = self.list()?.sessions.iter().filter_map(folder).collect();
        let is_left = |key: &str| {
            key.rsplit_once('/')
                .is_some_and(|(folder, _)| hidden.contains(folder) && !shown.contains(folder))
        };
        planned
            .plan
            .steps
            .retain(|step| !step.keys().iter().any(|key| is_left(key)));
        planned.plan.derived.retain(|key| !is_left(key));
        Ok(())
    }

    pub(crate) fn plan_for(&self, session: &Session, request: &EditRequest) -> Result<Planned> {
        let asked = PlanInput {
            files: &BackendFiles(self.backend()),
            location: session.location(),
            view: session.view(),
            meta: session.meta(),
            id_source: self.id_source(),
            running_app: self.running_app()?,
        };
        self.dialect().planner()?.plan(&asked, request)
    }

    /// Finds the session again in the current listing.
    pub(crate) fn relocate(&self, location: &SessionLocation) -> Result<SessionLocation> {
        let mut now = self
            .whole()
            .list()?
            .sessions
            .into_iter()
            .filter(|it| it.id == location.id);
        let same_key = |it: &SessionLocation| it.key == location.key;
        let first = now.next();
        match first {
            Some(it) if same_key(&it) => Ok(it),
            first => now
                .find(same_key)
                .or(first)
                .or_else(|| self.of_its_file(location))
                .ok_or_else(|| {
                    Error::new(
                        ErrorKind::NotFound,
                        format!("the session `{}` does not exist any more", location.id),
                    )
                    .advising(Advice::list_all())
                }),
        }
    }

    /// Returns the session of a file outside all stores as it is now.
    fn of_its_file(&self, location: &SessionLocation) -> Option<SessionLocation> {
        let key = location.key.as_deref().filter(|_| self.is_of_one_file())?;
        let info = self.backend().stat(key).ok()??;
        Some(SessionLocation {
            size: info.size,
            modified: info.modified,
            identity: info.identity,
            ..location.clone()
        })
    }

    /// Returns the sessions whose logs a plan in `root` moves or writes.
    fn moved(&self, root: &Path, planned: &Planned) -> Result<Vec<SessionLocation>> {
        let touched = planned.plan.steps.iter().filter_map(|step| match step {
            Step::Rename { from: key, .. }
            | Step::Append { key, .. }
            | Step::AppendKeepingTime { key, .. }
            | Step::Edit { key, .. } => Some(root.join(key)),
            _ => None,
        });
        let touched: HashSet<PathBuf> = touched.collect();
        if touched.is_empty() {
            return Ok(Vec::new());
        }
        let moves = |location: &SessionLocation| {
            let log = location.key.as_ref().map(|key| self.root().join(key));
            log.is_some_and(|log| log.ancestors().any(|path| touched.contains(path)))
        };
        Ok(self
            .whole()
            .list()?
            .sessions
            .into_iter()
            .filter(moves)
            .collect())
    }
}

impl WritableStore {
    /// Plans once the locks are held.
    fn replan(&self, location: &SessionLocation, request: &EditRequest) -> Result<Planned> {
        let location = self.as_expected(location)?;
        if request.needs_lease() {
            let log = location.key.as_ref().map(|key| self.root().join(key));
            self.refuse_if_live(&location.id, log.as_deref())?;
        }
        let planned = self.plan(&location, request)?;
        // An agent takes no lock of ours: what it wrote meanwhile may be in the plan.
        self.require_expected(&location)?;
        Ok(planned)
    }
}

/// Refuses to copy a conversation of which a part is missing: the copy would look complete.
fn refuse_incomplete(session: &Session) -> Result<()> {
    let Some(missing) = session.missing_history() else {
        return Ok(());
    };
    let what = format!(
        "an earlier part of {} is missing, so it cannot be copied",
        session.reference()
    );
    Err(Error::new(ErrorKind::Damaged, what)
        .because(missing.to_string())
        .advising(Advice::Check {
            session: Some(session.reference().to_string()),
        }))
}

impl Runner {
    /// Executes an edit request. The session is read again when the locks are held.
    pub fn execute(
        &self,
        store: &WritableStore,
        location: &SessionLocation,
        request: &EditRequest,
    ) -> Result<Executed> {
        let dialect = store.dialect();
        let session = SessionRef::new(dialect.name(), &location.id);
        let reason = if *request == EditRequest::Delete {
            Reason::Deleted
        } else {
            Reason::Before
        };
        let locks = dialect.locks_for(location, request);
        self.carry(store.folder()?, &session, reason, &locks, &|| {
            store.replan(location, request)
        })
    }

    /// Moves a session into the vault, with the steps by which its dialect deletes one; it can be
    /// read there and restored.
    pub fn archive(&self, store: &WritableStore, location: &SessionLocation) -> Result<Executed> {
        let session = SessionRef::new(store.dialect().name(), &location.id);
        let locks = store.dialect().locks_for(location, &EditRequest::Delete);
        self.carry(store.folder()?, &session, Reason::Archived, &locks, &|| {
            let mut planned = store.replan(location, &EditRequest::Delete)?;
            planned.plan.kind = "archive".to_owned();
            planned.plan.title = format!("archive {session}");
            Ok(planned)
        })
    }

    /// As [`execute`](Runner::execute), for a request that depends on the current state of the
    /// session, such as one more tag. `like` is a request of the same kind, which determines the
    /// locks.
    pub fn execute_with(
        &self,
        store: &WritableStore,
        location: &SessionLocation,
        like: &EditRequest,
        request: &dyn Fn(&boswell_model::SessionMeta) -> EditRequest,
    ) -> Result<Executed> {
        let session = SessionRef::new(store.dialect().name(), &location.id);
        self.carry(
            store.folder()?,
            &session,
            Reason::Before,
            &store.dialect().locks_for(location, like),
            &|| {
                let location = store.as_expected(location)?;
                let session = store.read(&location, Depth::Facts)?;
                let planned = store.plan_for(&session, &request(session.meta()))?;
                store.require_expected(&location)?;
                Ok(planned)
            },
        )
    }

    /// Executes a request about a store as a whole.
    pub fn execute_store(&self, store: &WritableStore, request: &StoreRequest) -> Result<Executed> {
        let dialect = store.dialect();
        let id = match request {
            StoreRequest::Create(new) => new.id.as_ref().map_or("*", SessionId::as_str),
            _ => "*",
        };
        let session = SessionRef::new(dialect.name(), id);
        let edits = dialect.planner()?;
        let root = edits.plan_root(store.folder()?, request);
        if !matches!(request, StoreRequest::Move { .. }) {
            let locks = edits.store_locks(request);
            return self.carry(&root, &session, Reason::Before, &locks, &|| {
                store.plan_store(request)
            });
        }
        let mut locks = self.leases(store, &store.moved(&root, &store.plan_store(request)?)?)?;
        locks.extend(edits.store_locks(request));
        self.carry(&root, &session, Reason::Before, &locks, &|| {
            let planned = store.plan_store(request)?;
            store.refuse_to_move(&store.moved(&root, &planned)?)?;
            Ok(planned)
        })
    }

    /// Executes a plan that is made when the locks are held, and so sees what other processes did
    /// before. The plan itself names no locks.
    pub fn run_with(
        &self,
        root: &Path,
        session: &SessionRef,
        reason: Reason,
        locks: &[LockSpec],
        plan: &dyn Fn() -> Result<Plan>,
    ) -> Result<Operation> {
        let executed = self.carry(root, session, reason, locks, &|| plan().map(Planned::of))?;
        Ok(executed.operation)
    }

    /// Returns the leases of sessions. A lease that was never taken is left out: there may be
    /// thousands of sessions, and each held lock needs an open file.
    fn leases(&self, store: &Store, sessions: &[SessionLocation]) -> Result<Vec<LockSpec>> {
        let mut leases = Vec::new();
        for location in sessions {
            let name = lock_name(&SessionRef::new(store.dialect().name(), &location.id));
            if self.locks.was_taken(&name)? {
                leases.push(LockSpec::Os { name });
            }
        }
        Ok(leases)
    }

    pub(crate) fn carry(
        &self,
        root: &Path,
        session: &SessionRef,
        reason: Reason,
        locks: &[LockSpec],
        plan: &dyn Fn() -> Result<Planned>,
    ) -> Result<Executed> {
        let mut attempt = 1;
        loop {
            let mut planned = None;
            let start = Start {
                root,
                session,
                reason,
                undoes: None,
                locks: locks.to_vec(),
            };
            let operated = self.operate(&start, || {
                let it = planned.insert(plan()?);
                self.check(root, &it.plan.preconditions)?;
                lower(self.disk.as_ref(), root, &it.plan)
            });
            match (operated, planned) {
                (Ok(operation), Some(planned)) => return Ok(Executed { operation, planned }),
                // Another program wrote between the plan and its first change: what was begun is
                // taken back, and everything is read again.
                (Err(error), Some(_))
                    if error.kind() == ErrorKind::Conflict && attempt < ATTEMPTS =>
                {
                    self.disk.sleep(Duration::from_millis(20 * attempt));
                    attempt += 1;
                }
                (Err(error), _) => return Err(error),
                (Ok(_), None) => {
                    return Err(Error::new(
                        ErrorKind::Internal,
                        "an operation was carried out without a plan",
                    ));
                }
            }
        }
    }
}
