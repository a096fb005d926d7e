//! `delete --purge`: removes a session and every trace of it, after showing the plan.

use std::process::ExitCode;

use boswell_app::purge::{PurgePlan, PurgeRequest, PurgedSession};
use boswell_app::shape::Shape as _;
use boswell_model::Result;

use crate::app::App;
use crate::confirm::{Agreed, Planned, ask};
use crate::error_report::say;
use crate::output::Output;
use crate::plan_lines;
use crate::terminal::one_line;
use crate::words::count;

/// Shows what would be removed, and removes it if that is wanted.
pub(crate) fn run(app: &App, sessions: &[String], apply: bool) -> Result<ExitCode> {
    if apply {
        app.requests.may_write()?;
    }
    let mut request = PurgeRequest {
        sessions: sessions.to_vec(),
        shown: None,
    };
    let plans = app.shown(app.requests.plan_purge(&request))?;
    request.shown = Some(plans.iter().map(|plan| plan.token.clone()).collect());
    let mut out = Output::plain(app);
    for plan in plans {
        show(plan, &mut out)?;
    }
    out.finish()?;
    if let Agreed::No(code) = ask(app, apply, Planned::Purge)? {
        return Ok(code);
    }
    let mut out = Output::plain(app);
    let mut purged = Vec::new();
    let done = app.requests.purge(&request, &mut |session| {
        report(&session, &mut out)?;
        purged.push(session);
        Ok(())
    });
    let printed = out.finish();
    app.shown(done)?;
    printed?;
    if !app.quiet {
        purged.iter().for_each(say_what_stays);
    }
    Ok(ExitCode::SUCCESS)
}

fn show(plan: PurgePlan, out: &mut Output) -> Result<()> {
    plan_lines::change_step(out, plan.opening())?;
    let rest = plan.rest();
    if let Some(removal) = plan.removal {
        plan_lines::removal(out, removal)?;
    }
    rest.into_iter()
        .try_for_each(|step| plan_lines::change_step(out, step))
}

fn report(purged: &PurgedSession, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&purged.op.clone().object());
    }
    out.line(&format!(
        "purged {} and {} of it",
        purged.session,
        count(purged.op.purged, "copy", "copies")
    ))
}

/// Prints what contains text of the session that cannot be distinguished from that of others.
fn say_what_stays(purged: &PurgedSession) {
    for other in &purged.linked {
        say(&format!(
            "the linked session {other} stays; purge it with `boswell delete --purge {other}`"
        ));
    }
    for file in &purged.untied {
        say(&format!(
            "not searched: {} in `{}`, which cannot be matched to a session",
            file.what,
            one_line(&file.path)
        ));
    }
}
