//! Changing sessions and stores by plans.

use std::path::{Path, PathBuf};

use boswell_model::Result;

use crate::draft::SEE_STORES;
use crate::{
    Capability, Dialect, EditRequest, Files, IdSource, LockSpec, PlanInput, Planned,
    SessionLocation, StoreRequest, unsupported,
};

/// An agent whose sessions are changed by plans, which the store carries out with copies, so that
/// each can be undone.
pub trait PlanEdits: Dialect {
    /// Whether [`plan`](PlanEdits::plan) knows this operation; if so it is preferred to appending.
    fn plans(&self, operation: Capability) -> bool;

    /// What has to happen for a request to come true. The locks that
    /// [`locks`](PlanEdits::locks) named are held.
    fn plan(&self, input: &PlanInput<'_>, request: &EditRequest) -> Result<Planned>;

    /// Locks under which a session is read and changed for a request, in the order in which they
    /// are taken.
    fn locks(&self, location: &SessionLocation, request: &EditRequest) -> Vec<LockSpec> {
        request.own_locks(self.name(), &location.id)
    }

    /// What has to happen for a request about the whole store. The locks that it needs are held.
    fn plan_store(
        &self,
        _files: &dyn Files,
        _request: &StoreRequest,
        _id_source: &dyn IdSource,
    ) -> Result<Planned> {
        Err(unsupported(self.name(), "be changed like that", SEE_STORES))
    }

    /// Locks for a change of the store as a whole.
    fn store_locks(&self, _request: &StoreRequest) -> Vec<LockSpec> {
        Vec::new()
    }

    /// The folder that a change of the whole store happens in, where that is more than its root:
    /// the agent may keep a part of its state next to it. Keys of the plan are below this folder.
    fn plan_root(&self, root: &Path, _request: &StoreRequest) -> PathBuf {
        root.to_owned()
    }
}
