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

/// Stand as before a prompt, and print the prompt
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell rewind @last a1b2c3d4
  boswell rewind myagents:0b7e 4 --apply     in a store that has to cut its log")]
pub(crate) struct RewindArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
    /// The prompt
    entry: String,
    /// Also put files back to what they were then
    #[arg(long)]
    files: bool,
    /// Do it where the log is cut for it; without this its plan is shown
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
    let mut out = Output::paged(app);
    let outcome = app
        .requests
        .rewind(&args.into(), &mut |step| files::restored(step, &mut out));
    match app.shown(outcome)? {
        RewindOutcome::Rewound(rewound) => print(rewound, &mut out)?,
        RewindOutcome::WouldCut(plan) => {
            planned_change::show(plan, &mut out)?;
            out.finish()?;
            crate::error_report::say("nothing was changed: add --apply to do it");
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
