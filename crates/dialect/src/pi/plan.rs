//! Plans for edit requests that touch more than the end of one file.
//!
//! Everything that can be expressed by appending (entries, labels, the leaf, pi's titles) is
//! appended by the session's writer instead.

use boswell_model::{Advice, Result};

use super::{Flavour, Pi, fork, migrate, move_project, set_title};
use crate::{
    Capability, EditRequest, Files, LockSpec, PlanInput, Planned, SessionLocation, StoreRequest,
    unsupported,
};

/// Whether a capability needs a plan.
pub(super) fn plans(flavour: Flavour, operation: Capability) -> bool {
    match operation {
        Capability::Title => matches!(flavour, Flavour::Omp | Flavour::Xcsh),
        Capability::Fork => true,
        _ => false,
    }
}

/// Returns the locks for a request. A title in the header needs a new file, so no writer may be
/// active: it would keep writing to the old one.
pub(super) fn locks(pi: Pi, location: &SessionLocation, request: &EditRequest) -> Vec<LockSpec> {
    let own = request.own_locks(pi.word(), &location.id);
    if matches!(request, EditRequest::Title(_)) && plans(pi.flavour(), Capability::Title) {
        let name = format!("{}-{}", pi.word(), location.id);
        return std::iter::once(LockSpec::Os { name }).chain(own).collect();
    }
    own
}

/// Returns the plan for an edit request on a session.
pub(super) fn plan(pi: Pi, asked: &PlanInput<'_>, request: &EditRequest) -> Result<Planned> {
    match request {
        EditRequest::Title(title) if plans(pi.flavour(), Capability::Title) => {
            set_title::plan(asked, title)
        }
        EditRequest::Fork { at, new } => fork::plan(pi, asked, *at, new),
        EditRequest::Migrate => migrate::plan(pi, asked),
        _ => Err(unsupported(
            pi.word(),
            "be changed like that by a plan",
            Advice::AppendTo { session: None },
        )),
    }
}

/// Returns the plan for a request on the whole store.
pub(super) fn plan_store(pi: Pi, files: &dyn Files, request: &StoreRequest) -> Result<Planned> {
    match request {
        StoreRequest::Move { from, to } => move_project::plan(pi, files, from, to),
        _ => Err(unsupported(
            pi.word(),
            "be changed like that",
            Advice::SeeCapabilities,
        )),
    }
}
