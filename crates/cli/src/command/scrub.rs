//! `secrets --scrub`: replaces secrets permanently, wherever boswell can reach them.

use std::process::ExitCode;

use boswell_app::scrub::{ScrubPlan, ScrubPlanning, ScrubRequest, ScrubScope, ScrubbedSession};
use boswell_app::shape::Shape as _;
use boswell_model::Result;

use crate::app::App;
use crate::confirm::{Agreed, Planned, ask};
use crate::error_report::{PARTLY, say};
use crate::output::Output;
use crate::terminal::{Style, one_line};
use crate::words::count;

/// The warning before the plan.
const FOR_GOOD: &str =
    "secrets are replaced permanently: this cannot be undone, and no copy of them is kept";

/// What is wanted of the command.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) scope: ScrubScope,
    pub(crate) apply: bool,
}

/// Shows what would be replaced in these sessions, and does so if that is wanted.
pub(crate) fn run(app: &App, wanted: Wanted) -> Result<ExitCode> {
    if wanted.apply {
        app.requests.may_write()?;
    }
    let mut out = Output::plain(app);
    let (mut shown, mut count) = (Vec::new(), 0);
    let named = wanted.scope != ScrubScope::All;
    let planned = app.requests.plan_scrub(&wanted.scope, &mut |step| {
        let ScrubPlanning::Planned(plan) = step else {
            say(FOR_GOOD);
            return Ok(());
        };
        if named || !plan.is_empty {
            shown.push(plan.token.clone());
        }
        count += usize::from(!plan.is_empty);
        show(&plan, &mut out)
    });
    if planned.is_ok() && count == 0 && !out.json {
        out.line("no secrets to replace")?;
    }
    let printed = out.finish();
    let planned = app.shown(planned)?;
    printed?;
    if count == 0 {
        return Ok(code(planned.refused));
    }
    if let Agreed::No(code) = ask(app, wanted.apply, Planned::Scrub)? {
        return Ok(code);
    }
    let request = ScrubRequest {
        scope: wanted.scope,
        shown: Some(shown),
    };
    let mut out = Output::plain(app);
    let done = app
        .requests
        .scrub(&request, &mut |scrubbed| report(scrubbed, &mut out));
    let printed = out.finish();
    let done = app.shown(done)?;
    printed?;
    if !app.quiet {
        say(
            "not reached: what was sent to the provider, your project's files and git, exports, and sessions made from these; replace the secrets themselves too",
        );
    }
    Ok(code(planned.refused + done.refused))
}

fn code(refused: usize) -> ExitCode {
    if refused > 0 {
        ExitCode::from(PARTLY)
    } else {
        ExitCode::SUCCESS
    }
}

fn show(plan: &ScrubPlan, out: &mut Output) -> Result<()> {
    if !plan.is_empty {
        steps(plan, out)?;
    }
    for it in &plan.unreached {
        say(&format!("not reached: {it}"));
    }
    Ok(())
}

fn steps(plan: &ScrubPlan, out: &mut Output) -> Result<()> {
    if out.json {
        for file in &plan.files {
            out.object(&plan.file_step(file).object())?;
        }
        return out.object(&plan.copies_step().object());
    }
    out.line(&out.paint(Style::Strong, &one_line(&plan.session.to_string())))?;
    for file in &plan.files {
        let kinds: Vec<String> = file
            .kinds
            .iter()
            .map(|(kind, count)| format!("{kind} {count}"))
            .collect();
        let blobs = match file.blobs {
            0 => String::new(),
            blobs => format!(", {}", count(blobs, "blob", "blobs")),
        };
        out.line(&format!(
            "  {}: {} ({}){blobs}",
            one_line(&file.path),
            file.secrets,
            kinds.join(", ")
        ))?;
    }
    out.line(&format!(
        "  {} in the vault, {}; its rows in catalog and index are removed",
        count(plan.copies, "copy", "copies"),
        count(plan.records, "note or record", "notes and records")
    ))
}

fn report(scrubbed: ScrubbedSession, out: &mut Output) -> Result<()> {
    for blob in &scrubbed.staying_blobs {
        say(&format!(
            "the blob {blob} stays: another session refers to it and contains the same secret"
        ));
    }
    if out.json {
        return out.object(&scrubbed.step.object());
    }
    out.line(&format!(
        "{}: {} replaced",
        scrubbed.session,
        count(scrubbed.step.secrets, "secret", "secrets")
    ))
}
