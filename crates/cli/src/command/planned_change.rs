//! Changes that go by a plan: shown before, carried out by the runner, and can be undone.

use boswell_dialect::{EditRequest, Planned};
use boswell_model::json::Json;
use boswell_model::{Result, SessionMeta, SessionRef};
use boswell_store::{Executed, Resolved};

use crate::app::App;
use crate::json_shape;
use crate::output::Output;
use crate::terminal::one_line;

/// Carries out what is wanted of a session, and tells what the user should know about it.
pub(crate) fn execute(app: &App, found: &Resolved, request: &EditRequest) -> Result<Executed> {
    execute_again(app, found, request, None)
}

/// The same for an intention that is made anew from what the session says once its locks are held.
pub(crate) fn execute_again(
    app: &App,
    found: &Resolved,
    request: &EditRequest,
    remake: Option<&dyn Fn(&SessionMeta) -> EditRequest>,
) -> Result<Executed> {
    let runner = app.runner()?;
    let done = match remake {
        Some(remake) => runner.execute_with(&found.store, &found.location, request, remake)?,
        None => runner.execute(&found.store, &found.location, request)?,
    };
    remark(app, &done.planned);
    Ok(done)
}

/// Tells what a plan's maker remarked.
pub(crate) fn remark(app: &App, planned: &Planned) {
    if !app.quiet {
        planned
            .remarks
            .iter()
            .for_each(|remark| crate::error_report::say(remark));
    }
}

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
