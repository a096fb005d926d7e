//! Changes that go by a plan: shown before, carried out by the runner, and can be undone.

pub(crate) use boswell_app::planned_change::{execute, execute_again, remark};
use boswell_dialect::Planned;
use boswell_model::json::Json;
use boswell_model::{Result, SessionRef};
use boswell_store::Executed;

use crate::json_shape;
use crate::output::Output;
use crate::terminal::one_line;

/// Shows what a plan would do.
pub(crate) fn show(planned: &Planned, out: &mut Output) -> Result<()> {
    if out.json {
        for step in &planned.plan.steps {
            let keys: Vec<Json> = step.keys().into_iter().map(Json::from).collect();
            out.object(
                &Json::object()
                    .with("v", 1)
                    .with("type", "step")
                    .with("does", step.to_string())
                    .with("keys", keys),
            )?;
        }
        return Ok(());
    }
    planned
        .plan
        .to_string()
        .lines()
        .try_for_each(|line| out.line(&one_line(line)))
}

/// Acknowledges a change that was carried out.
pub(crate) fn report(done: &Executed, session: &SessionRef, out: &mut Output) -> Result<()> {
    if out.json {
        let shape = json_shape::op(&done.operation.id, &done.operation.kind, session);
        return out.object(&shape.with("entry", done.planned.entries.last().map(String::as_str)));
    }
    out.line(&session.to_string())
}
