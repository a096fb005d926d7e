//! Changes that go by a plan: carried out by the runner, and can be undone.

use boswell_dialect::{EditRequest, Planned};
use boswell_model::{Result, SessionMeta, SessionRef};
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
        /// the session that was changed
        session: String,
        /// for a change of a session: the last entry that it added
        entry: Maybe<Option<String>>,
    }
}

impl OperationShape {
    /// An operation on a session.
    pub fn new(id: &str, kind: &str, session: &SessionRef) -> OperationShape {
        OperationShape {
            op: id.to_owned(),
            kind: kind.to_owned(),
            session: session.to_string(),
            entry: Maybe::Absent,
        }
    }

    /// An operation that followed a plan.
    pub fn of(done: &Executed, session: &SessionRef) -> OperationShape {
        OperationShape {
            entry: Maybe::Given(done.planned.entries.last().cloned()),
            ..OperationShape::new(&done.operation.id, &done.operation.kind, session)
        }
    }
}

/// What a plan would do, shown before it is carried out.
#[derive(Debug, Clone)]
pub struct PlanPreview {
    /// Its title, the locks that it takes, its preconditions and steps, a line each.
    pub text: String,
    /// Its steps; none where there is nothing to do.
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

/// The steps of a plan.
pub fn steps(planned: &Planned) -> Vec<PlanStep> {
    let steps = planned.plan.steps.iter();
    steps
        .map(|step| PlanStep {
            does: step.to_string(),
            keys: step.keys().into_iter().map(str::to_owned).collect(),
        })
        .collect()
}

/// Carries out what is wanted of a session, and notes what its plan's maker remarked.
pub(crate) fn execute(
    cx: &RequestContext,
    found: &Resolved,
    request: &EditRequest,
) -> Result<Executed> {
    execute_again(cx, found, request, None)
}

/// As [`execute`], for a request that is made again from the session once its locks are
/// held.
pub(crate) fn execute_again(
    cx: &RequestContext,
    found: &Resolved,
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

/// Notes what a plan's maker remarked.
pub(crate) fn remark(cx: &RequestContext, planned: &Planned) {
    planned.remarks.iter().for_each(|remark| cx.remark(remark));
}
