//! `rewind`: returns conversation and files to the state before a prompt.

use std::process::ExitCode;

use boswell_app::rewind::{RewindOutcome, RewindRequest, RewoundShape};
use boswell_app::shape::Shape as _;
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::output::Output;
use crate::terminal::escape;
use crate::words::{files, planned_change};

/// Go back to before a prompt, and print the prompt
///
/// The prompt and what followed it stay, on another branch.
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
    /// Also where the log must be cut (MyAgents); without it the plan is printed
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
    let mut out = Output::plain(app);
    let outcome = app
        .requests
        .rewind(&args.into(), &mut |step| files::restored(step, &mut out));
    match app.shown(outcome)? {
        RewindOutcome::Rewound(rewound) => print(rewound, &mut out)?,
        RewindOutcome::WouldCut(plan) => {
            planned_change::show(plan, &mut out)?;
            out.finish()?;
            crate::error_report::say(crate::plan_lines::NOT_APPLIED);
            return Ok(ExitCode::SUCCESS);
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn print(rewound: RewoundShape, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&rewound.object());
    }
    out.line(&escape(&rewound.text))
}
