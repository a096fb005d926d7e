//! `ops` and `undo`: what boswell changed, and taking it back.

use std::process::ExitCode;

use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result};
use boswell_store::{ListedOperation, Operation, Runner};
use clap::Args;

use crate::app::App;
use crate::output::Output;
pub(crate) use crate::plan_lines::way_back;
use crate::terminal::{Style, fit, one_line};
use crate::time;

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
    /// Operations, possibly shortened; the newest is taken back first [default: the last operation]
    #[arg(value_name = "OP")]
    ops: Vec<String>,
    /// Keep what was added to the files since
    #[arg(long)]
    keep_new: bool,
}

/// Runs `ops`.
pub(crate) fn run(app: &App, _args: &OpsArgs) -> Result<ExitCode> {
    let mut out = Output::paged(app);
    if app
        .home
        .as_ref()
        .is_some_and(|home| home.join("ops.jsonl").is_file())
    {
        let (listed, damaged) = app.reading_runner()?.operations()?;
        for it in listed.iter().rev() {
            print(app, it, &mut out)?;
        }
        if !damaged.is_empty() {
            crate::error_report::warn(&Error::new(
                ErrorKind::Damaged,
                format!("{} lines of ops.jsonl cannot be read", damaged.len()),
            ));
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn print(app: &App, it: &ListedOperation, out: &mut Output) -> Result<()> {
    let op = &it.operation;
    if out.json {
        return out.object(
            &shape(op)
                .with("undone", it.undone)
                .with("undoable", it.undoable),
        );
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
        fit(&time::ago(op.at, app.now), 10),
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
pub(crate) fn undo(app: &App, args: &UndoArgs) -> Result<ExitCode> {
    app.may_write()?;
    let runner = app.runner()?;
    let (listed, _) = runner.operations()?;
    let take_back = |id: &str| {
        if args.keep_new {
            runner.undo_keep_new(id)
        } else {
            runner.undo(id)
        }
    };
    let mut out = Output::paged(app);
    if args.ops.is_empty() {
        let last = last(&listed)?;
        let operation = take_back(&last.operation.id)
            .map_err(|error| with_next(error, &runner, &listed, last))?;
        tell(&operation, &mut out)?;
    } else {
        for chosen in named(&listed, &args.ops)? {
            tell(&take_back(&chosen.operation.id)?, &mut out)?;
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn tell(operation: &Operation, out: &mut Output) -> Result<()> {
    if out.json {
        out.object(&shape(operation))
    } else {
        out.line(&one_line(&operation.title))
    }
}

/// The last operation: what was taken back already, and taking back itself, are passed over.
fn last(listed: &[ListedOperation]) -> Result<&ListedOperation> {
    listed.iter().rev().find(|it| is_open(it)).ok_or_else(|| {
        Error::new(ErrorKind::NotFound, "there is nothing to take back")
            .hinting("see what was done with `boswell ops`")
    })
}

fn is_open(it: &ListedOperation) -> bool {
    !it.undone && it.operation.undoes.is_none()
}

/// Operations by the beginnings of their ids, newest first.
fn named<'l>(listed: &'l [ListedOperation], names: &[String]) -> Result<Vec<&'l ListedOperation>> {
    let mut places = Vec::new();
    for name in names {
        let fits = |whole: bool| {
            let is_it = move |id: &str| {
                if whole {
                    id == name
                } else {
                    id.starts_with(name.as_str())
                }
            };
            let found = listed
                .iter()
                .enumerate()
                .filter(move |(_, it)| is_it(&it.operation.id));
            found.map(|(place, _)| place).collect::<Vec<usize>>()
        };
        let found = Some(fits(true))
            .filter(|exact| !exact.is_empty())
            .unwrap_or_else(|| fits(false));
        match found.as_slice() {
            [place] => places.push(*place),
            [] => {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    format!("there is no operation `{}`", name.escape_debug()),
                )
                .hinting("see them with `boswell ops`"));
            }
            _ => {
                return Err(Error::new(
                    ErrorKind::Invalid,
                    format!("`{}` fits several operations", name.escape_debug()),
                )
                .hinting("give more of its id; `boswell ops --json` prints whole ones"));
            }
        }
    }
    places.sort_unstable();
    places.dedup();
    Ok(places
        .iter()
        .rev()
        .filter_map(|place| listed.get(*place))
        .collect())
}

/// Adds to the reason why the last operation stays which one could be taken back instead.
/// Nothing is done unasked.
fn with_next(
    error: Error,
    runner: &Runner,
    listed: &[ListedOperation],
    last: &ListedOperation,
) -> Error {
    let title = one_line(&last.operation.title);
    let before = listed
        .iter()
        .rev()
        .skip_while(|it| it.operation.id != last.operation.id)
        .skip(1);
    // `undoable` looks at lengths alone: what is suggested is played through first.
    let next = before
        .filter(|it| is_open(it) && it.undoable)
        .find(|it| runner.can_undo(&it.operation.id).is_ok());
    let next = next.map(|it| {
        let id = short(&it.operation.id, listed);
        format!(
            "the one before it, \"{}\", is taken back with `boswell undo {id}`",
            one_line(&it.operation.title)
        )
    });
    let hints: Vec<String> = error
        .hint()
        .map(str::to_owned)
        .into_iter()
        .chain(next)
        .collect();
    let why = error
        .reason()
        .map_or_else(|| error.to_string(), |reason| format!("{error}: {reason}"));
    let kind = error.kind();
    let told = Error::new(
        kind,
        format!("the last operation, \"{title}\", cannot be taken back"),
    )
    .because(why);
    match hints.is_empty() {
        true => told.hinting("see what was done with `boswell ops`"),
        false => told.hinting(hints.join("; ")),
    }
}

/// As much of an id as names one operation.
fn short<'i>(id: &'i str, listed: &[ListedOperation]) -> &'i str {
    let is_unique = |len: &usize| {
        let start = id.get(..*len).unwrap_or(id);
        listed
            .iter()
            .filter(|it| it.operation.id.starts_with(start))
            .count()
            == 1
    };
    (8..id.len())
        .find(is_unique)
        .and_then(|len| id.get(..len))
        .unwrap_or(id)
}
