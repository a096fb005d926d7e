//! What commands that still make their plans themselves show of them.

use boswell_app::planned_change::{OperationShape, PlanPreview};
pub(crate) use boswell_app::planned_change::{execute, remark};
use boswell_dialect::Planned;
use boswell_model::{Result, SessionRef};
use boswell_store::Executed;

use crate::output::Output;
use crate::words;

/// Shows what a plan would do.
pub(crate) fn show(planned: &Planned, out: &mut Output) -> Result<()> {
    words::planned_change::show(PlanPreview::from(planned), out)
}

/// Acknowledges a change that was carried out.
pub(crate) fn report(done: &Executed, session: &SessionRef, out: &mut Output) -> Result<()> {
    words::planned_change::print(OperationShape::of(done, session), out)
}
