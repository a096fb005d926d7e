//! `index --native`: agents' own index files, rebuilt from their logs and from the summaries that
//! boswell keeps.

use std::process::ExitCode;

use boswell_app::store_change::ChangeMode;
use boswell_model::Result;

use crate::app::App;
use crate::output::Output;
use crate::{error_report, plan_lines};

/// Shows what is wrong with agents' own indexes; with `apply` puts it right.
pub(crate) fn run(app: &App, apply: bool) -> Result<ExitCode> {
    let mode = if apply {
        ChangeMode::Apply
    } else {
        ChangeMode::Plan
    };
    let mut out = Output::paged(app);
    let changes = app.requests.index_native(mode, &mut |change| {
        plan_lines::store_change(&mut out, change)
    });
    out.finish()?;
    let changes = app.shown(changes)?;
    if !app.quiet {
        if changes.changed == 0 && changes.unread.is_empty() {
            error_report::say("every index that an agent keeps is as its logs say");
        }
        plan_lines::say_next(apply, &changes);
    }
    Ok(error_report::left_out(app, &changes.unread))
}
