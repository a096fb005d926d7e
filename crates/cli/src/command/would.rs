//! What `archive` says of a session that it would move.

use boswell_model::Result;
use boswell_model::json::Json;
use boswell_store::Summary;

use crate::app::App;
use crate::output::Output;
use crate::terminal::{cut, one_line};
use crate::time;

/// Says what would be done to a session.
pub(crate) fn would(app: &App, what: &str, summary: &Summary, out: &mut Output) -> Result<()> {
    let active = summary.last_active();
    if out.json {
        return out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "step")
                .with("done", format!("would {what}"))
                .with("session", summary.reference.to_string())
                .with("last_active", active.map(|at| at.to_rfc3339())),
        );
    }
    let ago = active.map(|at| time::ago(at, app.now)).unwrap_or_default();
    out.line(&format!(
        "would {what} {}  {ago}  {}",
        summary.reference,
        cut(&one_line(&summary.name()), 60)
    ))
}
