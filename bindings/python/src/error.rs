//! Errors as exceptions: one class for each kind, with reason, hint and details.
//!
//! The classes are Python code (`errors.py`), so that they can be pickled and subclassed.

use boswell_store::model::{Advice, ErrorDetails, RequestInput};
use boswell_store::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Makes the exception of an error.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    exception(py, error).unwrap_or_else(|failed| failed)
}

/// Makes the exception of a request that is not valid before the library sees it.
pub(crate) fn invalid(py: Python<'_>, what: impl Into<String>, hint: &'static str) -> PyErr {
    raise(py, &Error::new(ErrorKind::Invalid, what).advising(hint))
}

fn exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let class = py
        .import("boswell_store.errors")?
        .getattr(class_of(error.kind()))?;
    let details = PyDict::new(py);
    details.set_item("reason", reason(error))?;
    details.set_item("hint", error.advice().map(hint))?;
    match error.details() {
        Some(ErrorDetails::Conflict { expected, actual }) => {
            details.set_item("expected", expected)?;
            details.set_item("actual", actual.as_deref())?;
        }
        Some(ErrorDetails::Unacknowledged { entries }) => {
            let entries: Vec<&str> = entries.iter().map(|entry| entry.as_str()).collect();
            details.set_item("in_doubt", entries)?;
        }
        Some(ErrorDetails::Held { holder }) => details.set_item("holder_pid", holder.pid)?,
        _ => {}
    }
    let value = class.call((error.to_string(),), Some(&details))?;
    Ok(PyErr::from_value(value))
}

fn class_of(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "NotFound",
        ErrorKind::Busy => "Busy",
        ErrorKind::Conflict => "Conflict",
        ErrorKind::Invalid => "Invalid",
        ErrorKind::Unsupported => "Unsupported",
        ErrorKind::Denied => "Denied",
        ErrorKind::Damaged => "Damaged",
        ErrorKind::TooNew => "TooNew",
        ErrorKind::NoSpace => "NoSpace",
        ErrorKind::Unavailable => "Unavailable",
        _ => "Internal",
    }
}

/// The stated reason, else the causes: an I/O error has its text only there.
fn reason(error: &Error) -> Option<String> {
    let mut texts: Vec<String> = error.reason().map(str::to_owned).into_iter().collect();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        texts.push(cause.to_string());
        source = cause.source();
    }
    (!texts.is_empty()).then(|| texts.join(": "))
}

/// Phrases the next step for a caller in Python.
fn hint(advice: &Advice) -> String {
    let joined = |steps: &[Advice], word: &str| {
        let steps: Vec<String> = steps.iter().map(hint).collect();
        steps.join(word)
    };
    match advice {
        Advice::Plain(text) => text.clone().into_owned(),
        Advice::AnyOf(steps) => joined(steps, ", or "),
        Advice::InOrder(steps) => joined(steps, ", then "),
        Advice::AllOf(steps) => joined(steps, "; "),
        Advice::Retry => "try again".to_owned(),
        Advice::RetryLater => "try again when the other process has ended".to_owned(),
        Advice::WaitLonger => "wait longer: `store.writer(id, wait=10)`".to_owned(),
        Advice::ReopenSession => {
            "open the session again with `store.writer(id)`, and append there".to_owned()
        }
        Advice::ReadAgain => {
            "read the session again, and append with the revision or leaf that it has".to_owned()
        }
        Advice::Upgrade => "update boswell-store".to_owned(),
        Advice::Omit(RequestInput::SessionId) => "leave `id` out, and one is generated".to_owned(),
        Advice::ListSessions { .. } => "`store.list()` lists the sessions".to_owned(),
        Advice::ShowTree | Advice::ShowRecords { .. } => {
            "`session.entries()` returns the entries".to_owned()
        }
        Advice::NewSession => "make a session with `store.create()`".to_owned(),
        Advice::AppendTo { .. } => "open it with `store.writer(id)`".to_owned(),
        Advice::Fork { .. } => "fork it with `store.fork(id)`".to_owned(),
        Advice::Restore { .. } => "restore it with `store.restore(id)`".to_owned(),
        other => other.word().replace('_', " "),
    }
}
