//! The list of boswell's operations, and undo.
//!
//! `ops` lists them, newest first, with those that were undone and those that can be. `undo`
//! without an id takes the last operation that was not undone; if that one cannot be undone, the
//! error names the one before it that can be. The store's `operations/undo.rs` undoes.

use boswell_model::{Advice, Error, ErrorDetails, ErrorKind, Instant, Result};
use boswell_store::operations::{ListedOperation, Operation, Runner};

use crate::shape::{Maybe, shape};
use crate::text::one_line;
use crate::{App, AppResult, RequestContext, convert};

shape! {
    /// From `ops`: a change that boswell made in stores.
    LoggedOperation: "op" {
        /// its id
        op: String,
        /// when it was created
        at: Instant,
        /// kind of change, such as `rename` or `delete`
        kind: String,
        /// the session that was changed
        session: String,
        /// what was done, in one line
        title: String,
        /// the files that it changed
        files: Vec<ChangedFile>,
        /// the operation that it undid
        undoes: Option<String>,
        /// whether it was undone
        undone: Maybe<bool>,
        /// whether it can probably be undone
        undoable: Maybe<bool>,
    }

    /// A file that an operation changed.
    ChangedFile {
        /// the file
        path: String,
        /// size before; `null` if the file did not exist
        before: Option<u64>,
        /// size after; `null` if the file was removed
        after: Option<u64>,
        /// how many bytes were appended, if nothing else changed
        appended: Option<u64>,
    }
}

/// All operations.
#[derive(Debug)]
pub struct OperationList {
    /// The operations, newest first.
    pub operations: Vec<LoggedOperation>,
    /// Time of the list.
    pub as_of: Instant,
}

/// The operations to undo.
#[derive(Debug, Clone, Default)]
pub struct UndoRequest {
    /// Ids, possibly shortened; empty for the last operation that was not undone. The newest is
    /// undone first.
    pub operations: Vec<String>,
    /// Keep lines that were added to the files since.
    pub keep_new: bool,
}

/// Receives each operation that undid another one.
pub type UndoSink<'s> = &'s mut dyn FnMut(LoggedOperation) -> Result<()>;

impl App {
    /// Lists boswell's changes of stores, newest first.
    ///
    /// # Errors
    ///
    /// Unavailable if the list cannot be read. Unreadable single lines are a notice.
    pub fn operations(&self) -> AppResult<OperationList> {
        self.answer(list)
    }

    /// Undoes operations, byte for byte if nothing changed since. Each result is passed to `sink`
    /// immediately, because a later one may fail.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such operation or nothing to undo, Invalid for an ambiguous id,
    /// Conflict if files changed since, and every error of `sink`.
    pub fn undo(&self, request: &UndoRequest, sink: UndoSink<'_>) -> AppResult<()> {
        self.answer(|cx| undo(cx, request, sink))
    }
}

fn list(cx: &RequestContext) -> Result<OperationList> {
    let mut operations = Vec::new();
    let home = cx.home.as_ref();
    if home.is_some_and(|home| home.join("ops.jsonl").is_file()) {
        let (listed, damaged) = cx.reading_runner()?.operations()?;
        operations = listed.iter().rev().map(listed_shape).collect();
        if !damaged.is_empty() {
            cx.fail(Error::new(
                ErrorKind::Damaged,
                format!("{} lines of ops.jsonl cannot be read", damaged.len()),
            ));
        }
    }
    Ok(OperationList {
        operations,
        as_of: cx.now,
    })
}

fn listed_shape(it: &ListedOperation) -> LoggedOperation {
    LoggedOperation {
        undone: Maybe::Given(it.undone),
        undoable: Maybe::Given(it.undoable),
        ..LoggedOperation::from(&it.operation)
    }
}

impl From<&Operation> for LoggedOperation {
    fn from(op: &Operation) -> LoggedOperation {
        let files = op.files().into_iter().map(|file| ChangedFile {
            path: op.root.join(&file.key).display().to_string(),
            before: file.before.as_ref().map(|it| it.len),
            after: file.after.as_ref().map(|it| it.len),
            appended: file.appended,
        });
        LoggedOperation {
            op: op.id.clone(),
            at: op.at,
            kind: op.kind.clone(),
            session: op.session.to_string(),
            title: op.title.clone(),
            files: files.collect(),
            undoes: op.undoes.clone(),
            undone: Maybe::Absent,
            undoable: Maybe::Absent,
        }
    }
}

fn undo(cx: &RequestContext, request: &UndoRequest, sink: UndoSink<'_>) -> Result<()> {
    cx.may_write()?;
    let runner = cx.runner()?;
    let (listed, _) = runner.operations()?;
    let take_back = |id: &str| {
        if request.keep_new {
            runner.undo_keep_new(id)
        } else {
            runner.undo(id)
        }
    };
    if request.operations.is_empty() {
        let last = last(&listed)?;
        convert::importer::take_back(cx, &last.operation)?;
        let operation = take_back(&last.operation.id)
            .map_err(|error| with_next(error, &runner, &listed, last))?;
        convert::forget_lineage(cx, &last.operation)?;
        return sink(LoggedOperation::from(&operation));
    }
    for chosen in named(&listed, &request.operations)? {
        convert::importer::take_back(cx, &chosen.operation)?;
        let operation = take_back(&chosen.operation.id)?;
        convert::forget_lineage(cx, &chosen.operation)?;
        sink(LoggedOperation::from(&operation))?;
    }
    Ok(())
}

/// Returns the last operation; undone ones and undo itself are skipped.
fn last(listed: &[ListedOperation]) -> Result<&ListedOperation> {
    listed.iter().rev().find(|it| is_open(it)).ok_or_else(|| {
        Error::new(ErrorKind::NotFound, "there is nothing to undo").advising(Advice::ListOperations)
    })
}

fn is_open(it: &ListedOperation) -> bool {
    !it.undone && it.operation.undoes.is_none()
}

/// Returns operations by the beginnings of their ids, newest first.
fn named<'l>(listed: &'l [ListedOperation], names: &[String]) -> Result<Vec<&'l ListedOperation>> {
    let mut places = Vec::new();
    for name in names {
        places.push(place_of(listed, name)?);
    }
    places.sort_unstable();
    places.dedup();
    Ok(places
        .iter()
        .rev()
        .filter_map(|place| listed.get(*place))
        .collect())
}

/// Returns the index of the operation with that id, else of the one whose id begins with it.
fn place_of(listed: &[ListedOperation], name: &str) -> Result<usize> {
    let places = |is_it: &dyn Fn(&str) -> bool| {
        let all = listed.iter().enumerate();
        all.filter(|(_, it)| is_it(&it.operation.id))
            .map(|(place, _)| place)
            .collect::<Vec<usize>>()
    };
    let mut found = places(&|id| id == name);
    if found.is_empty() {
        found = places(&|id| id.starts_with(name));
    }
    match found.as_slice() {
        [place] => Ok(*place),
        [] => Err(Error::new(
            ErrorKind::NotFound,
            format!("there is no operation `{}`", name.escape_debug()),
        )
        .advising(Advice::ListOperations)),
        several => Err(Error::new(
            ErrorKind::Invalid,
            format!("`{}` fits several operations", name.escape_debug()),
        )
        .detailing(ErrorDetails::Ambiguous {
            candidates: several
                .iter()
                .filter_map(|place| Some(listed.get(*place)?.operation.id.clone()))
                .collect(),
        })
        .advising(Advice::GiveLongerOperationId)),
    }
}

/// Adds to the reason why the last operation cannot be undone which other one could be. Nothing
/// else is undone automatically.
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
    // `undoable` compares lengths only, so a suggestion is tried completely first.
    let next = before
        .filter(|it| is_open(it) && it.undoable)
        .find(|it| runner.can_undo(&it.operation.id).is_ok());
    let next = next.map(|it| Advice::UndoEarlier {
        operation: short(&it.operation.id, listed).to_owned(),
        title: one_line(&it.operation.title),
    });
    let advice = match (error.advice().cloned(), next) {
        (Some(advice), Some(next)) => advice.also(next),
        (Some(advice), None) | (None, Some(advice)) => advice,
        (None, None) => Advice::ListOperations,
    };
    let why = error
        .reason()
        .map_or_else(|| error.to_string(), |reason| format!("{error}: {reason}"));
    Error::new(
        error.kind(),
        format!("the last operation, \"{title}\", cannot be undone"),
    )
    .because(why)
    .advising(advice)
}

/// Returns the shortest prefix of an id that is unique.
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
