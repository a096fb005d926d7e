//! Plans before they are carried out, and the operations that came of them.

use boswell_app::planned_change::{OperationShape, PlanPreview};
use boswell_app::shape::Shape as _;
use boswell_model::Result;

use crate::output::Output;
use crate::terminal::one_line;

/// Shows what a plan would do.
pub(crate) fn show(plan: PlanPreview, out: &mut Output) -> Result<()> {
    if out.json {
        let mut steps = plan.steps.into_iter();
        return steps.try_for_each(|step| out.object(&step.object()));
    }
    let mut lines = plan.text.lines();
    lines.try_for_each(|line| out.line(&one_line(line)))
}

/// Acknowledges a change that was carried out.
pub(crate) fn print(done: OperationShape, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&done.object());
    }
    out.line(&done.session)
}
