//! Changes of whole stores, for commands that work on stores themselves.

pub(crate) use boswell_app::store_change::OnStoreError as OnError;
use boswell_app::store_change::{ChangeMode, StoreChanges, WantedChange, each};
use boswell_model::Result;

use crate::app::App;
use crate::output::Output;
pub(crate) use crate::plan_lines::step;
use crate::plan_lines::{self, store_change};

/// Shows what would change in every store; with `apply` carries it out.
pub(crate) fn each_with(
    app: &App,
    wanted: &WantedChange<'_>,
    apply: bool,
    on_error: OnError,
    out: &mut Output,
) -> Result<StoreChanges> {
    let mode = if apply {
        ChangeMode::Apply
    } else {
        ChangeMode::Plan
    };
    each(app, wanted, mode, on_error, &mut |change| {
        store_change(out, change)
    })
}

/// Says how to go on after a plan was shown.
pub(crate) fn say_next(app: &App, apply: bool, changes: &StoreChanges) {
    if !app.quiet {
        plan_lines::say_next(apply, changes);
    }
}
