//! `ops` and `undo`: lists what boswell changed, and reverts it.

use std::process::ExitCode;

use boswell_app::operations::{LoggedOperation, UndoRequest};
use boswell_app::shape::{Maybe, Shape as _};
use boswell_model::{Instant, Result};
use clap::Args;

use crate::app::App;
use crate::output::Output;
use crate::terminal::{Style, fit, one_line};

/// List the changes that boswell made, and which can be undone
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell ops
  boswell ops --json")]
pub(crate) struct OpsArgs {}

/// Undo an operation, such as a deletion or a repair
///
/// Files are restored byte for byte. If they have changed since, nothing is undone unless
/// --keep-new is given.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell undo                undo the last operation
  boswell undo 5f3a --keep-new")]
pub(crate) struct UndoArgs {
    /// Operations from `boswell ops`, newest undone first [default: the last one]
    #[arg(value_name = "OP")]
    ops: Vec<String>,
    /// Keep what was added to the files since then
    #[arg(long)]
    keep_new: bool,
}

/// Runs `ops`.
pub(crate) fn run(app: &App, _args: &OpsArgs) -> Result<ExitCode> {
    let list = app.shown(app.requests.operations())?;
    let mut out = Output::paged(app);
    for operation in list.operations {
        if out.json {
            out.object(&operation.object())?;
        } else {
            print(&operation, list.as_of, &mut out)?;
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn print(op: &LoggedOperation, now: Instant, out: &mut Output) -> Result<()> {
    let state = match (&op.undone, &op.undoable) {
        (Maybe::Given(true), _) => "undone",
        (_, Maybe::Given(true)) => "can be undone",
        _ => "",
    };
    let short: String = op.op.chars().take(8).collect();
    let line = format!(
        "{}  {}  {}  {}",
        out.paint(Style::Strong, &short),
        fit(&out.ago(op.at, now), 10),
        fit(state, 13),
        one_line(&op.title)
    );
    out.line(line.trim_end())
}

/// Runs `undo`.
pub(crate) fn undo(app: &App, args: &UndoArgs) -> Result<ExitCode> {
    let mut out = Output::plain(app);
    let request = UndoRequest {
        operations: args.ops.clone(),
        keep_new: args.keep_new,
    };
    app.shown(app.requests.undo(&request, &mut |operation| {
        if out.json {
            out.object(&operation.object())
        } else {
            out.line(&one_line(&operation.title))
        }
    }))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
