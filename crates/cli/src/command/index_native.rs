//! `index --native`: agents' own index files, rebuilt from their logs and from the summaries that
//! boswell keeps.

use std::process::ExitCode;

use boswell_app::store_change::{ChangeMode, StoreChanges};
use boswell_model::Result;

use crate::app::App;
use crate::confirm::{Agreed, Planned, ask};
use crate::error_report::{left_out, say};
use crate::output::Output;
use crate::plan_lines;

/// Shows what is wrong with agents' own indexes; with `apply` fixes it.
pub(crate) fn run(app: &App, apply: bool) -> Result<ExitCode> {
    if !apply {
        let planned = rebuilt(app, ChangeMode::Plan)?;
        if planned.changed == 0 {
            return Ok(left_out(app, &planned.unread));
        }
        if let Agreed::No(code) = ask(app, false, Planned::Rewrite)? {
            left_out(app, &planned.unread);
            return Ok(code);
        }
    }
    let changes = rebuilt(app, ChangeMode::Apply)?;
    if !app.quiet {
        plan_lines::say_next(&changes);
    }
    Ok(left_out(app, &changes.unread))
}

fn rebuilt(app: &App, mode: ChangeMode) -> Result<StoreChanges> {
    let mut out = Output::plain(app);
    let mut print = |change| plan_lines::store_change(&mut out, change);
    let changes = app.shown(app.requests.rebuild_native_indexes(mode, &mut print))?;
    out.finish()?;
    if !app.quiet && changes.changed == 0 && changes.unread.is_empty() {
        say("all agents' index files match their logs");
    }
    Ok(changes)
}
