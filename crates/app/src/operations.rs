//! The operations of boswell: their list, and undo.

use boswell_model::{Error, ErrorKind, Instant, Result};
use boswell_store::operations::{ListedOperation, Operation, Runner};

use crate::shape::{Maybe, shape};
use crate::text::one_line;
use crate::{App, AppResult, RequestContext};

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

/// Every operation that is known.
#[derive(Debug)]
pub struct OperationList {
    /// The newest first.
    pub operations: Vec<LoggedOperation>,
    /// When they were examined.
    pub as_of: Instant,
}

/// Which operations to undo.
#[derive(Debug, Clone, Default)]
pub struct UndoRequest {
    /// Their ids, possibly shortened; none for the last operation that can be undone. The
    /// newest is undone first.
    pub operations: Vec<String>,
    /// Keeps what was added to the files since.
    pub keep_new: bool,
}

/// Receives each operation that took another one back.
pub type UndoSink<'s> = &'s mut dyn FnMut(LoggedOperation) -> Result<()>;

impl App {
    /// Lists the changes that boswell made in stores, the newest first.
    ///
    /// # Errors
    ///
    /// Unavailable if the list cannot be read. Single lines that cannot are a notice.
    pub fn operations(&self) -> AppResult<OperationList> {
        self.answer(list)
    }

    /// Takes operations back, bit for bit if nothing changed since. What took each of them back is
    /// handed out at once: a later one may fail.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such operation or nothing to undo, Invalid for a beginning
    /// that fits several, Conflict where files changed since, and every error of `sink`.
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
        let operation = take_back(&last.operation.id)
            .map_err(|error| with_next(error, &runner, &listed, last))?;
        return sink(LoggedOperation::from(&operation));
    }
    for chosen in named(&listed, &request.operations)? {
        let operation = take_back(&chosen.operation.id)?;
        sink(LoggedOperation::from(&operation))?;
    }
    Ok(())
}

/// The last operation: what was undone already, and undo itself, are passed over.
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

/// Where the operation of that id is in the list, else the one whose id begins so.
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
        .hinting("see them with `boswell ops`")),
        _ => Err(Error::new(
            ErrorKind::Invalid,
            format!("`{}` fits several operations", name.escape_debug()),
        )
        .hinting("give more of its id; `boswell ops --json` prints whole ones")),
    }
}

/// Adds to the reason why the last operation stays which one could be undone instead.
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
    let hints = error.hint().map(str::to_owned).into_iter().chain(next);
    let hints: Vec<String> = hints.collect();
    let why = error
        .reason()
        .map_or_else(|| error.to_string(), |reason| format!("{error}: {reason}"));
    let reported = Error::new(
        error.kind(),
        format!("the last operation, \"{title}\", cannot be taken back"),
    )
    .because(why);
    match hints.is_empty() {
        true => reported.hinting("see what was done with `boswell ops`"),
        false => reported.hinting(hints.join("; ")),
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
