//! Changes that go by a plan: carried out by the runner, and can be undone.

use boswell_dialect::{EditRequest, Planned};
use boswell_model::{Result, SessionMeta};
use boswell_store::{Executed, Resolved};

use crate::RequestContext;
use crate::shape::shape;

shape! {
    /// A step of a plan that was or would be carried out.
    PlanStep: "step" {
        /// what it does
        does: String,
        /// the files that it changes
        keys: Vec<String>,
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
pub fn execute(cx: &RequestContext, found: &Resolved, request: &EditRequest) -> Result<Executed> {
    execute_again(cx, found, request, None)
}

/// As [`execute`], for a request that is made again from what the session says once its locks are
/// held.
pub fn execute_again(
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
pub fn remark(cx: &RequestContext, planned: &Planned) {
    planned.remarks.iter().for_each(|remark| cx.remark(remark));
}
