//! The [`PlanEdits`] power: computing plans for changes of sessions and stores.

use std::path::{Path, PathBuf};

use boswell_model::{Advice, Result};

use crate::{
    Capability, Dialect, EditRequest, Files, IdSource, LockSpec, PlanInput, Planned,
    SessionLocation, StoreRequest, unsupported,
};

/// An agent whose sessions are changed by plans. The store executes a plan and keeps copies, so
/// that every operation can be undone.
pub trait PlanEdits: Dialect {
    /// Whether [`plan`](PlanEdits::plan) supports this operation; if so, it is preferred to
    /// appending.
    fn plans(&self, operation: Capability) -> bool;

    /// Computes the plan for a request. The locks from [`locks`](PlanEdits::locks) are held, so the
    /// session cannot change until the plan is executed.
    fn plan(&self, input: &PlanInput<'_>, request: &EditRequest) -> Result<Planned>;

    /// Returns the locks under which a session is read and changed for a request, in the order in
    /// which they are acquired.
    fn locks(&self, location: &SessionLocation, request: &EditRequest) -> Vec<LockSpec> {
        request.own_locks(self.name(), &location.id)
    }

    /// Computes the plan for a request about the whole store. The locks from
    /// [`store_locks`](PlanEdits::store_locks) are held.
    fn plan_store(
        &self,
        _files: &dyn Files,
        _request: &StoreRequest,
        _id_source: &dyn IdSource,
    ) -> Result<Planned> {
        Err(unsupported(
            self.name(),
            "be changed like that",
            Advice::SeeCapabilities,
        ))
    }

    /// Returns the locks for a change of the whole store.
    fn store_locks(&self, _request: &StoreRequest) -> Vec<LockSpec> {
        Vec::new()
    }

    /// Returns the folder that the keys of a plan for the whole store are relative to. It is above
    /// the root if the agent keeps a part of its state next to it.
    fn plan_root(&self, root: &Path, _request: &StoreRequest) -> PathBuf {
        root.to_owned()
    }
}
