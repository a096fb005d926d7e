//! Changes by plans: executed by the runner, with undo.

use boswell_dialect::{EditRequest, Planned};
use boswell_model::{Result, SessionMeta, SessionRef};
use boswell_store::WritableStore;
use boswell_store::operations::Executed;
use boswell_store::store::Resolved;

use crate::RequestContext;
use crate::shape::{Maybe, shape};

shape! {
    /// A step of a plan, applied or not.
    PlanStep: "step" {
        /// what it does
        does: String,
        /// the files that it changes
        keys: Vec<String>,
    }

    /// A change that was applied, and that `undo` reverts.
    OperationShape: "op" {
        /// its id
        op: String,
        /// kind of change, such as `rename` or `delete`
        kind: String,
        /// the session that was changed; `DIALECT:*` for a change of a whole store
        session: String,
        /// for a change that followed a plan: the last entry that it added, if there is one
        entry: Maybe<Option<String>>,
        /// for `repair`: the repaired fork, if one was made
        made: Maybe<Option<String>>,
    }
}

impl OperationShape {
    /// Creates the shape of an operation on a session.
    pub fn new(id: &str, kind: &str, session: &SessionRef) -> OperationShape {
        OperationShape {
            op: id.to_owned(),
            kind: kind.to_owned(),
            session: session.to_string(),
            entry: Maybe::Absent,
            made: Maybe::Absent,
        }
    }

    /// Creates the shape of an executed plan.
    pub fn of(done: &Executed, session: &SessionRef) -> OperationShape {
        OperationShape {
            entry: Maybe::Given(done.planned.entries.last().cloned()),
            ..OperationShape::new(&done.operation.id, &done.operation.kind, session)
        }
    }
}

/// A plan before it is executed.
#[derive(Debug, Clone)]
pub struct PlanPreview {
    /// Title, locks, preconditions and steps, one line each.
    pub text: String,
    /// The steps; empty if there is nothing to do.
    pub steps: Vec<PlanStep>,
}

impl From<&Planned> for PlanPreview {
    fn from(planned: &Planned) -> PlanPreview {
        PlanPreview {
            text: planned.plan.to_string(),
            steps: steps(planned),
        }
    }
}

/// Returns the steps of a plan.
pub fn steps(planned: &Planned) -> Vec<PlanStep> {
    let steps = planned.plan.steps.iter();
    steps
        .map(|step| PlanStep {
            does: step.to_string(),
            keys: step.keys().into_iter().map(str::to_owned).collect(),
        })
        .collect()
}

/// Executes a request on a session, and adds the remarks of its plan as notices.
pub(crate) fn execute(
    cx: &RequestContext,
    found: &Resolved<WritableStore>,
    request: &EditRequest,
) -> Result<Executed> {
    execute_again(cx, found, request, None)
}

/// As [`execute`], for a request that is computed again once the locks are held.
pub(crate) fn execute_again(
    cx: &RequestContext,
    found: &Resolved<WritableStore>,
    request: &EditRequest,
    remake: Option<&dyn Fn(&SessionMeta) -> EditRequest>,
) -> Result<Executed> {
    let runner = cx.runner()?;
    let done = match remake {
        Some(remake) => runner.execute_with(&found.store, &found.location, request, remake)?,
        None => runner.execute(&found.store, &found.location, request)?,
    };
    remark(cx, &done.planned);
    Ok(done)
}

/// Adds the remarks of a plan as notices.
pub(crate) fn remark(cx: &RequestContext, planned: &Planned) {
    planned
        .remarks
        .iter()
        .for_each(|remark| cx.remark(remark.clone()));
}
