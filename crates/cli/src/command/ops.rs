//! `ops` and `undo`: what boswell changed, and taking it back.

use std::process::ExitCode;

use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result};
use boswell_store::{ListedOperation, Operation};
use clap::Args;

use crate::machine::Machine;
use crate::output::Output;
use crate::terminal::{Style, fit, one_line};
use crate::when;

/// List changes that boswell made in stores, and what `undo` can take back
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell ops
  boswell ops --json")]
pub(crate) struct OpsArgs {}

/// Take back an operation: bit for bit if nothing changed since
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell undo                take back the last operation
  boswell undo 5f3a --keep-new")]
pub(crate) struct UndoArgs {
    /// The operation, possibly shortened [default: the last one that can be taken back]
    op: Option<String>,
    /// Keep what was added to the files since
    #[arg(long)]
    keep_new: bool,
}

/// Runs `ops`.
pub(crate) fn run(machine: &Machine, _args: &OpsArgs) -> Result<ExitCode> {
    let mut out = Output::paged(machine);
    if machine.home.as_ref().is_some_and(|home| home.join("ops.jsonl").is_file()) {
        let (listed, damaged) = machine.reading_runner()?.operations()?;
        for it in listed.iter().rev() {
            print(machine, it, &mut out)?;
        }
        if !damaged.is_empty() {
            crate::failure::warn(&Error::new(
                ErrorKind::Damaged,
                format!("{} lines of ops.jsonl cannot be read", damaged.len()),
            ));
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn print(machine: &Machine, it: &ListedOperation, out: &mut Output) -> Result<()> {
    let op = &it.operation;
    if out.json {
        return out.object(&shape(op).with("undone", it.undone).with("undoable", it.undoable));
    }
    let state = match (it.undone, it.undoable) {
        (true, _) => "taken back",
        (false, true) => "can be undone",
        (false, false) => "",
    };
    let short: String = op.id.chars().take(8).collect();
    let line = format!(
        "{}  {}  {}  {}",
        out.paint(Style::Strong, &short),
        fit(&when::ago(op.at, machine.now), 10),
        fit(state, 13),
        one_line(&op.title)
    );
    out.line(line.trim_end())
}

fn shape(op: &Operation) -> Json {
    let files: Vec<Json> = op
        .files()
        .iter()
        .map(|file| {
            Json::object()
                .with("path", op.root.join(&file.key).display().to_string())
                .with("before", file.before.as_ref().map(|f| f.len))
                .with("after", file.after.as_ref().map(|f| f.len))
                .with("appended", file.appended)
        })
        .collect();
    Json::object()
        .with("v", 1)
        .with("type", "op")
        .with("op", &op.id)
        .with("at", op.at.to_rfc3339())
        .with("kind", &op.kind)
        .with("session", op.session.to_string())
        .with("title", &op.title)
        .with("files", Json::Array(files))
        .with("undoes", op.undoes.as_deref())
}

/// Runs `undo`.
pub(crate) fn undo(machine: &Machine, args: &UndoArgs) -> Result<ExitCode> {
    machine.may_write()?;
    let runner = machine.runner()?;
    let (listed, _) = runner.operations()?;
    let fits = |it: &&ListedOperation| match &args.op {
        Some(name) => it.operation.id.starts_with(name.as_str()),
        None => it.undoable && it.operation.undoes.is_none(),
    };
    let found: Vec<&ListedOperation> = listed.iter().rev().filter(fits).collect();
    let chosen = match (found.as_slice(), &args.op) {
        ([], None) => {
            return Err(Error::new(ErrorKind::NotFound, "there is nothing to take back")
                .hinting("see what was done with `boswell ops`"));
        }
        ([], Some(name)) => {
            return Err(Error::new(ErrorKind::NotFound, format!("there is no operation `{}`", name.escape_debug()))
                .hinting("see them with `boswell ops`"));
        }
        ([first, _, ..], Some(name)) if first.operation.id != *name => {
            return Err(Error::new(ErrorKind::Invalid, format!("`{}` fits several operations", name.escape_debug()))
                .hinting("give more of its id"));
        }
        ([first, ..], _) => first.operation.id.clone(),
    };
    let operation = if args.keep_new { runner.undo_keep_new(&chosen)? } else { runner.undo(&chosen)? };
    let mut out = Output::paged(machine);
    if out.json {
        out.object(&shape(&operation))?;
    } else {
        out.line(&one_line(&operation.title))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
