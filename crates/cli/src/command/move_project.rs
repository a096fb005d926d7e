//! `move`: a project folder was moved, and what agents file under it follows.

use std::path::PathBuf;
use std::process::ExitCode;

use boswell_app::move_project::{MoveRequest, MovedProject};
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::error_report::say;
use crate::output::Output;
use crate::plan_lines;
use crate::terminal::one_line;

/// Let sessions, memory and history follow a project folder that moved
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell move ~/old/api ~/new/api            what would change
  boswell move ~/old/api ~/new/api --apply    do it; `boswell undo` takes it back")]
pub(crate) struct MoveArgs {
    /// Where the project was
    old: PathBuf,
    /// Where it is now
    new: PathBuf,
    /// Do it
    #[arg(long)]
    apply: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &MoveArgs) -> Result<ExitCode> {
    let request = MoveRequest {
        old: args.old.clone(),
        new: args.new.clone(),
    };
    let mut out = Output::paged(app);
    let sink = &mut |change| plan_lines::store_change(&mut out, change);
    let done = if args.apply {
        app.requests.move_project(&request, sink)
    } else {
        app.requests.plan_move(&request, sink)
    };
    let printed = out.finish();
    let moved = app.shown(done)?;
    printed?;
    if moved.memory_stays {
        say(&format!(
            "boswell's own memory of `{}` stays: there is one of the new folder",
            one_line(&moved.from)
        ));
    }
    if !app.quiet {
        say_what_to_know(&moved);
        plan_lines::say_next(args.apply, &moved.changes);
    }
    Ok(ExitCode::SUCCESS)
}

fn say_what_to_know(moved: &MovedProject) {
    if moved.changes.changed == 0 {
        say(&format!(
            "no agent has filed anything under `{}`",
            one_line(&moved.from)
        ));
        say("see the folders that sessions were held in with `boswell projects`");
    } else if !moved.is_there {
        say(&format!(
            "`{}` is not there yet: agents find the sessions once it is",
            one_line(&moved.to)
        ));
    }
    if !moved.changes.left_out.is_empty() {
        say(&format!(
            "left as they are, because boswell cannot move there: {}",
            moved.changes.left_out.join(", ")
        ));
    }
}
