//! Carries out what is wanted of a session or a store: locks, then a look at what is there, then the dialect's plan.

use boswell_dialect::{Asked, Depth, Intention, Located, Planned, StoreIntention};
use boswell_model::{Error, ErrorKind, Result, SessionRef};

use crate::backend::BackendFiles;
use crate::runner::{Operation, Runner, Start, lower};
use crate::vault::Reason;
use crate::{Session, Store};

/// What was done.
#[derive(Debug)]
pub struct CarriedOut {
    /// The change, which can be undone; without files if there was nothing to do.
    pub operation: Operation,
    /// The plan that it followed, with what the user is told.
    pub planned: Planned,
}

impl Store {
    /// What carrying out an intention would change. Takes no lock: by the time it is carried out the plan may be another.
    pub fn plan(&self, located: &Located, intention: &Intention) -> Result<Planned> {
        let session = self.read(located, Depth::Facts)?;
        self.plan_for(&session, intention)
    }

    /// The same for an intention about the whole store.
    pub fn plan_store(&self, intention: &StoreIntention) -> Result<Planned> {
        let chance = self.writing()?.chance.as_ref();
        self.dialect().plan_store(&BackendFiles(self.backend()), intention, chance)
    }

    fn plan_for(&self, session: &Session, intention: &Intention) -> Result<Planned> {
        let asked = Asked {
            files: &BackendFiles(self.backend()),
            located: session.located(),
            view: session.view(),
            facts: session.facts(),
            chance: self.writing()?.chance.as_ref(),
        };
        self.dialect().plan(&asked, intention)
    }

    /// The session again, as a listing finds it now.
    pub(crate) fn look_again(&self, located: &Located) -> Result<Located> {
        let mut now = self.list()?.sessions.into_iter().filter(|it| it.id == located.id);
        let same_key = |it: &Located| it.key == located.key;
        let first = now.next();
        match first {
            Some(it) if same_key(&it) => Ok(it),
            first => now.find(same_key).or(first).ok_or_else(|| {
                Error::new(ErrorKind::NotFound, format!("the session `{}` is not there any more", located.id))
                    .hinting("see the sessions with `boswell list --hidden`")
            }),
        }
    }
}

impl Runner {
    /// Carries out what is wanted of a session. The session is read again once the locks are held.
    pub fn carry_out(&self, store: &Store, located: &Located, intention: &Intention) -> Result<CarriedOut> {
        let dialect = store.dialect();
        let session = SessionRef::new(dialect.name(), &located.id);
        let reason = if *intention == Intention::Delete { Reason::Deleted } else { Reason::Before };
        let locks = dialect.locks(located, intention);
        self.carry(store, &session, reason, locks, || {
            let located = store.look_again(located)?;
            store.plan(&located, intention)
        })
    }

    /// Carries out what is wanted of a store as a whole.
    pub fn carry_out_store(&self, store: &Store, intention: &StoreIntention) -> Result<CarriedOut> {
        let dialect = store.dialect();
        let id = match intention {
            StoreIntention::Create(new) => new.id.as_deref().unwrap_or("*"),
            _ => "*",
        };
        let session = SessionRef::new(dialect.name(), id);
        self.carry(store, &session, Reason::Before, dialect.store_locks(intention), || store.plan_store(intention))
    }

    fn carry(
        &self,
        store: &Store,
        session: &SessionRef,
        reason: Reason,
        locks: Vec<boswell_dialect::LockSpec>,
        plan: impl FnOnce() -> Result<Planned>,
    ) -> Result<CarriedOut> {
        let mut planned = None;
        let start = Start { root: store.root(), session, reason, undoes: None, locks };
        let operation = self.operate(&start, || {
            let it = planned.insert(plan()?);
            self.check(store.root(), &it.plan.preconditions)?;
            lower(self.disk.as_ref(), store.root(), &it.plan)
        })?;
        match planned {
            Some(planned) => Ok(CarriedOut { operation, planned }),
            None => Err(Error::new(ErrorKind::Internal, "an operation was carried out without a plan")),
        }
    }
}
