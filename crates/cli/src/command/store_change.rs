//! Changes of whole stores, for every store that knows how: shown first, done with `--apply`.

use boswell_dialect::StoreRequest;
use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::{Executed, Store};

use super::ops::way_back;
use super::planned_change;
use crate::app::App;
use crate::output::Output;
use crate::terminal::one_line;

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Stores in which something changes, or changed.
    pub(crate) changed: usize,
    /// Ids of the operations that were carried out, oldest first.
    pub(crate) operations: Vec<String>,
    /// Names of stores that do not know how.
    pub(crate) left_out: Vec<&'static str>,
    /// What could not be read, and stays as it is.
    pub(crate) unread: Vec<Error>,
}

/// What happens to the other stores if one of them fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnError {
    /// They are left alone.
    Stop,
    /// They are changed all the same.
    GoOn,
}

/// Shows what an intention would change in every store; with `apply` carries it out.
pub(crate) fn each(
    app: &App,
    request: &StoreRequest,
    apply: bool,
    out: &mut Output,
) -> Result<Outcome> {
    each_with(app, &|_| request.clone(), apply, OnError::Stop, out)
}

/// The same, where what is wanted depends on the store.
pub(crate) fn each_with(
    app: &App,
    wanted: &dyn Fn(&Store) -> StoreRequest,
    apply: bool,
    on_error: OnError,
    out: &mut Output,
) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for (_, store) in app.stores.iter() {
        let request = &wanted(store);
        let planned = match app.planning(store.clone()).plan_store(request) {
            Ok(planned) => planned,
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                outcome.left_out.push(store.dialect().name());
                continue;
            }
            Err(error) if on_error == OnError::GoOn => {
                outcome.unread.push(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        let unread = planned.left_out.iter().map(|(path, why)| {
            Error::new(ErrorKind::Denied, format!("`{path}` was left as it is"))
                .because(why.clone())
                .hinting("make it readable, and try again")
        });
        outcome.unread.extend(unread);
        if planned.plan.steps.is_empty() {
            planned_change::remark(app, &planned);
            continue;
        }
        outcome.changed += 1;
        if apply {
            let done = app
                .runner()?
                .execute_store(&app.writable(store.clone())?, request)?;
            planned_change::remark(app, &done.planned);
            outcome.operations.push(done.operation.id.clone());
            report(&done, &SessionRef::new(store.dialect().name(), "*"), out)?;
        } else {
            planned_change::show(&planned, out)?;
            planned_change::remark(app, &planned);
        }
    }
    Ok(outcome)
}

/// Acknowledges a change of a whole store.
fn report(done: &Executed, session: &SessionRef, out: &mut Output) -> Result<()> {
    if out.json {
        return planned_change::report(done, session, out);
    }
    let files = done.operation.files().len();
    out.line(&format!(
        "{}: {} ({files} files)",
        session.dialect,
        one_line(&done.operation.title)
    ))
}

/// Says how to go on after a plan was shown.
pub(crate) fn say_next(app: &App, apply: bool, outcome: &Outcome) {
    if app.quiet || outcome.changed == 0 {
        return;
    }
    crate::error_report::say(&match apply {
        true => way_back(&outcome.operations),
        false => "nothing was changed; do it with `--apply`".to_owned(),
    });
}

/// A line of the `step` shape.
pub(crate) fn step(out: &mut Output, does: &str) -> Result<()> {
    if out.json {
        return out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "step")
                .with("does", does),
        );
    }
    out.line(&one_line(does))
}
