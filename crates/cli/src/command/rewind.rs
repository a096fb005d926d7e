//! `rewind`: returns conversation and files to the state before a prompt.

use std::process::ExitCode;

use boswell_app::checkout::CheckoutRequest;
use boswell_app::planned_change::PlanPreview;
use boswell_app::rewind::{RewindOutcome, RewindRequest, RewoundShape};
use boswell_app::shape::Shape as _;
use boswell_model::Result;
use clap::Args;

use super::checkout;
use crate::app::App;
use crate::confirm::{Agreed, Planned, ask};
use crate::output::Output;
use crate::terminal::escape;
use crate::words::{files, planned_change};

/// Go back to before a prompt, and print the prompt
///
/// The prompt and what followed it stay, on another branch. Where the format has no branches the
/// log is cut: the plan is shown first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell rewind @last a1b2c3d4
  boswell rewind myagents:0b7e 4 --apply    where the log must be cut")]
pub(crate) struct RewindArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    /// The prompt: its entry id, or #LINE
    entry: String,
    /// Also restore files to their state at that time
    #[arg(long)]
    files: bool,
    /// Do it without asking, where the log is cut (MyAgents, open-agent-sdk) or files are restored
    #[arg(long)]
    apply: bool,
}

impl From<&RewindArgs> for RewindRequest {
    fn from(args: &RewindArgs) -> RewindRequest {
        RewindRequest {
            session: args.session.clone(),
            entry: args.entry.clone(),
            files: args.files,
            may_cut: args.apply,
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &RewindArgs) -> Result<ExitCode> {
    let mut request = RewindRequest::from(args);
    if args.files
        && !args.apply
        && differing(app, args)? > 0
        && let Agreed::No(code) = ask(app, false, Planned::RestoreFiles)?
    {
        return Ok(code);
    }
    if let Some(plan) = rewound(app, &request)? {
        let mut out = Output::plain(app);
        planned_change::show(plan, &mut out)?;
        out.finish()?;
        if let Agreed::No(code) = ask(app, false, Planned::Rewrite)? {
            return Ok(code);
        }
        request.may_cut = true;
        rewound(app, &request)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Rewinds and prints the prompt; returns the plan instead where the log must be cut first.
fn rewound(app: &App, request: &RewindRequest) -> Result<Option<PlanPreview>> {
    let mut out = Output::plain(app);
    let outcome = app
        .requests
        .rewind(request, &mut |step| files::restored(step, &mut out));
    let plan = match app.shown(outcome)? {
        RewindOutcome::Rewound(rewound) => {
            print(rewound, &mut out)?;
            None
        }
        RewindOutcome::WouldCut(plan) => Some(plan),
    };
    out.finish()?;
    Ok(plan)
}

/// Shows how the files differ from what they were, and returns how many do.
fn differing(app: &App, args: &RewindArgs) -> Result<usize> {
    let request = CheckoutRequest {
        session: args.session.clone(),
        entry: args.entry.clone(),
        compare_only: true,
        ..CheckoutRequest::default()
    };
    checkout::restored(app, &request)
}

fn print(rewound: RewoundShape, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&rewound.object());
    }
    out.line(&escape(&rewound.text))
}
