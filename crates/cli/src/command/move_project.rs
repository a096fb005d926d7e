//! `move`: a project folder was moved; sessions and memory files of agents follow.

use std::path::PathBuf;
use std::process::ExitCode;

use boswell_app::move_project::{MoveRequest, MovedProject};
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::confirm::{Agreed, Planned, ask};
use crate::error_report::say;
use crate::output::Output;
use crate::plan_lines;
use crate::terminal::one_line;

/// Update sessions and memory after a project folder was moved
///
/// The plan is printed first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell move ~/old/api ~/new/api            show what would change
  boswell move ~/old/api ~/new/api --apply    do it; `boswell undo` reverts it")]
pub(crate) struct MoveArgs {
    /// Old path of the project
    old: PathBuf,
    /// New path of the project
    new: PathBuf,
    /// Do it without asking; needed where there is no terminal
    #[arg(long)]
    apply: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &MoveArgs) -> Result<ExitCode> {
    let request = MoveRequest {
        old: args.old.clone(),
        new: args.new.clone(),
    };
    if !args.apply {
        let mut out = Output::plain(app);
        let sink = &mut |change| plan_lines::store_change(&mut out, change);
        let planned = app.requests.plan_move(&request, sink);
        let printed = out.finish();
        let planned = app.shown(planned)?;
        printed?;
        say_about(app, &planned);
        if planned.changes.changed == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        if let Agreed::No(code) = ask(app, false, Planned::Rewrite)? {
            return Ok(code);
        }
    }
    let mut out = Output::plain(app);
    let sink = &mut |change| plan_lines::store_change(&mut out, change);
    let done = app.requests.move_project(&request, sink);
    let printed = out.finish();
    let moved = app.shown(done)?;
    printed?;
    if args.apply {
        say_about(app, &moved);
    }
    if !app.quiet {
        plan_lines::say_next(&moved.changes);
    }
    Ok(ExitCode::SUCCESS)
}

fn say_about(app: &App, moved: &MovedProject) {
    if moved.memory_stays {
        say(&format!(
            "boswell's own memory of `{}` was not moved: the new folder has one already",
            one_line(&moved.from)
        ));
    }
    if !app.quiet {
        say_remarks(moved);
    }
}

fn say_remarks(moved: &MovedProject) {
    if moved.changes.changed == 0 {
        say(&format!(
            "no agent has sessions or memory of `{}`",
            one_line(&moved.from)
        ));
        say("list the folders of all sessions with `boswell projects`");
    } else if !moved.is_there {
        say(&format!(
            "`{}` does not exist yet: agents find the sessions once it does",
            one_line(&moved.to)
        ));
    }
    if !moved.changes.left_out.is_empty() {
        say(&format!(
            "not changed, because boswell cannot move sessions there: {}",
            moved.changes.left_out.join(", ")
        ));
    }
}
