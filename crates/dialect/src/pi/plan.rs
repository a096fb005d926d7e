//! What is wanted of a session, as plans.
//!
//! Whatever can be said by appending is appended by the session's writer: entries, labels, the
//! leaf, pi's titles. Here is what touches more than the end of one file.

use boswell_model::Result;

use super::{Flavour, Pi, branched, migrate, relocate, retitle};
use crate::{
    Asked, Files, Intention, Located, LockSpec, Operation, Planned, StoreIntention, unsupported,
};

/// Whether an operation goes by a plan.
pub(super) fn plans(flavour: Flavour, operation: Operation) -> bool {
    match operation {
        Operation::Title => matches!(flavour, Flavour::Omp | Flavour::Xcsh),
        Operation::Fork => true,
        _ => false,
    }
}

/// Locks for it. A title that stands in the header means a new file, so whoever drives the
/// conversation must not be at it: their writer would be left with the old one.
pub(super) fn locks(pi: Pi, located: &Located, intention: &Intention) -> Vec<LockSpec> {
    let own = intention.own_locks(pi.word(), &located.id);
    if matches!(intention, Intention::Title(_)) && plans(pi.flavour(), Operation::Title) {
        let name = format!("{}-{}", pi.word(), located.id);
        return std::iter::once(LockSpec::Os { name }).chain(own).collect();
    }
    own
}

/// The plan for what is wanted of a session.
pub(super) fn plan(pi: Pi, asked: &Asked<'_>, intention: &Intention) -> Result<Planned> {
    match intention {
        Intention::Title(title) if plans(pi.flavour(), Operation::Title) => {
            retitle::plan(asked, title)
        }
        Intention::Fork { at, new } => branched::plan(pi, asked, *at, new),
        Intention::Migrate => migrate::plan(pi, asked),
        _ => Err(unsupported(
            pi.word(),
            "be changed like that by a plan",
            "add to it with `boswell append`",
        )),
    }
}

/// The plan for what is wanted of the whole store.
pub(super) fn plan_store(pi: Pi, files: &dyn Files, intention: &StoreIntention) -> Result<Planned> {
    match intention {
        StoreIntention::Move { from, to } => relocate::plan(pi, files, from, to),
        _ => Err(unsupported(
            pi.word(),
            "be changed like that",
            "see what each store can with `boswell stores`",
        )),
    }
}
