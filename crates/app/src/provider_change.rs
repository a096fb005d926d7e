//! `repair --provider`: a session of another model provider, made again for the current one.
//!
//! The agent's dialect plans it ([`EditRequest::Provider`]); the session itself stays as it is.

use boswell_dialect::{Depth, EditRequest};
use boswell_model::{ProblemKind, Result, SessionRef};
use boswell_store::Store;
use boswell_store::store::Resolved;

use crate::RequestContext;
use crate::planned_change::{self, OperationShape};
use crate::repair::{
    RepairStepShape, RepairedSession, SessionRepair, SessionRepairPlan, SessionRepairRequest,
};
use crate::shape::Maybe;

/// Plans the change; without steps if the session is of the current provider.
pub(crate) fn plan(
    cx: &RequestContext,
    request: &SessionRepairRequest,
) -> Result<SessionRepairPlan> {
    let found = cx.resolve(&request.session)?;
    let planned = found.store.plan(&found.location, &EditRequest::Provider)?;
    let session = found.reference();
    let steps = steps(&found, &session, planned.plan.steps.is_empty())?;
    Ok(SessionRepairPlan {
        taken: steps.len(),
        changes: steps.iter().map(|_| Vec::new()).collect(),
        steps,
        session,
        likely_left: false,
        losses: Vec::new(),
        unsent: Vec::new(),
        refused: None,
        other_reader: None,
        reachable: 0,
        would_reach: 0,
        total: 0,
    })
}

/// Makes the change.
pub(crate) fn change(cx: &RequestContext, request: &SessionRepairRequest) -> Result<SessionRepair> {
    let found = cx.resolve_for_writing(&request.session)?;
    let session = found.reference();
    let reading = found.reading();
    let planned = found.store.plan(&found.location, &EditRequest::Provider)?;
    let steps = steps(&reading, &session, planned.plan.steps.is_empty())?;
    if steps.is_empty() {
        return Ok(SessionRepair::Done(RepairedSession {
            session,
            steps,
            operation: None,
            in_place: false,
            fork: None,
            fork_path: None,
        }));
    }
    let done = planned_change::execute(cx, &found, &EditRequest::Provider)?;
    let fork = done.planned.session.as_ref();
    let fork = fork.map(|id| SessionRef::new(&session.dialect, id));
    let operation = OperationShape {
        made: Maybe::Given(fork.as_ref().map(SessionRef::to_string)),
        ..OperationShape::new(&done.operation.id, &done.operation.kind, &session)
    };
    Ok(SessionRepair::Done(RepairedSession {
        session,
        steps,
        operation: Some(operation),
        in_place: false,
        fork,
        fork_path: None,
    }))
}

fn steps(
    found: &Resolved<Store>,
    session: &SessionRef,
    is_current: bool,
) -> Result<Vec<RepairStepShape>> {
    if is_current {
        return Ok(Vec::new());
    }
    let read = found.store.read(&found.location, Depth::Facts)?;
    let problem = found.store.hidden_by_agent(&read)?;
    let why = problem.map_or_else(String::new, |problem| format!(": {}", problem.detail));
    Ok(vec![RepairStepShape {
        changes: crate::shape::Maybe::Absent,
        session: session.to_string(),
        step: 1,
        taken: true,
        confidence: "certain",
        class: "change",
        problem: ProblemKind::OtherProvider.word(),
        line: None,
        entry: None,
        does: format!("writes a fork for the current provider{why}"),
        helps: Vec::new(),
    }])
}
