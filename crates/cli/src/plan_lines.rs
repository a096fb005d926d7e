//! Prints plans and their steps, and the command that undoes them.

use boswell_app::delete::RemovalPlan;
use boswell_app::shape::Shape as _;
use boswell_app::store_change::{ChangeStep, StoreChange, StoreChanges};
use boswell_model::Result;

use crate::output::Output;
use crate::terminal::one_line;
use crate::words::{count, planned_change};

/// The hint after a plan that was only shown.
pub(crate) const NOT_APPLIED: &str = "nothing was changed; add `--apply` to do it";

/// Something that was or would be done.
pub(crate) fn change_step(out: &mut Output, step: ChangeStep) -> Result<()> {
    if out.json {
        return out.object(&step.object());
    }
    out.line(&one_line(&step.does))
}

/// What would be removed of a session.
pub(crate) fn removal(out: &mut Output, removal: RemovalPlan) -> Result<()> {
    match removal {
        RemovalPlan::Planned(text) => planned_change::show(text, out),
        RemovalPlan::Files(steps) if out.json => steps
            .into_iter()
            .try_for_each(|step| out.object(&step.object())),
        RemovalPlan::Files(steps) => steps
            .iter()
            .try_for_each(|step| out.line(&format!("{} {}", step.done, one_line(&step.path)))),
    }
}

/// What changes, or changed, in a store.
pub(crate) fn store_change(out: &mut Output, change: StoreChange) -> Result<()> {
    match change {
        StoreChange::Planned(text) => planned_change::show(text, out),
        StoreChange::Step(step) => change_step(out, step),
        StoreChange::Changed(store) if out.json => out.object(&store.op.object()),
        StoreChange::Changed(store) => out.line(&format!(
            "{}: {} ({})",
            store.dialect,
            one_line(&store.title),
            count(store.files, "file", "files")
        )),
    }
}

/// Prints how to undo a plan that was carried out.
pub(crate) fn say_next(changes: &StoreChanges) {
    if changes.changed > 0 {
        crate::error_report::say(&way_back(&changes.operations));
    }
}

/// The hint after a command that says how to undo it: bare `undo` is the
/// last operation alone.
pub(crate) fn way_back(operations: &[String]) -> String {
    match operations {
        [] | [_] => "undo it with `boswell undo`".to_owned(),
        several => {
            let ids: Vec<&str> = several.iter().map(|id| id.get(..8).unwrap_or(id)).collect();
            format!("undo all of it with `boswell undo {}`", ids.join(" "))
        }
    }
}
