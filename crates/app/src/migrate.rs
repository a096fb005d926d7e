//! Migrates a session to the newest version of its format.

use boswell_dialect::EditRequest;
use boswell_model::{Result, SessionRef};

use crate::planned_change::{self, OperationShape, PlanPreview};
use crate::{App, AppResult, RequestContext};

/// A request to migrate a session.
#[derive(Debug, Clone, Default)]
pub struct MigrateRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
}

impl App {
    /// Returns the plan of [`migrate`](App::migrate); without steps if the session has the newest
    /// version.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session, Unsupported if its format has no migrations.
    pub fn plan_migrate(&self, request: &MigrateRequest) -> AppResult<PlanPreview> {
        self.answer(|cx| plan_migrate(cx, request))
    }

    /// Migrates a session to the newest version of its format; `None` if it already has that.
    ///
    /// # Errors
    ///
    /// As [`plan_migrate`](App::plan_migrate), and Busy if another process writes the session.
    pub fn migrate(&self, request: &MigrateRequest) -> AppResult<Option<OperationShape>> {
        self.answer(|cx| migrate(cx, request))
    }
}

fn plan_migrate(cx: &RequestContext, request: &MigrateRequest) -> Result<PlanPreview> {
    let found = cx.resolve(&request.session)?;
    let planned = found.store.plan(&found.location, &EditRequest::Migrate)?;
    planned_change::remark(cx, &planned);
    Ok(PlanPreview::from(&planned))
}

fn migrate(cx: &RequestContext, request: &MigrateRequest) -> Result<Option<OperationShape>> {
    let found = cx.resolve_for_writing(&request.session)?;
    let done = planned_change::execute(cx, &found, &EditRequest::Migrate)?;
    if done.planned.plan.steps.is_empty() {
        return Ok(None);
    }
    let reference = SessionRef::new(found.store.dialect().name(), &found.location.id);
    Ok(Some(OperationShape::of(&done, &reference)))
}
