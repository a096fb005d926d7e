//! Errors as JSON: kind, message, reason, hint and details.
//!
//! An exception of an addon has only a text, so the text is the JSON, and `js/errors.ts` makes the
//! class of the kind from it.

use boswell_store::model::json::Json;
use boswell_store::model::{Advice, ErrorDetails, RequestInput};
use boswell_store::{Error, ErrorKind};

/// Makes the exception of an error.
pub(crate) fn thrown(error: &Error) -> napi::Error {
    napi::Error::from_reason(described(error).to_string())
}

/// Makes the error of a request that is not valid before the library sees it.
pub(crate) fn invalid(what: impl Into<String>, hint: &'static str) -> Error {
    Error::new(ErrorKind::Invalid, what).advising(hint)
}

/// Describes an error.
pub(crate) fn described(error: &Error) -> Json {
    let made = Json::object()
        .with("kind", class_of(error.kind()))
        .with("message", error.to_string())
        .with_some("reason", reason(error))
        .with_some("hint", error.advice().map(hint));
    match error.details() {
        Some(ErrorDetails::Conflict { expected, actual }) => made
            .with("expected", expected.to_string())
            .with_some("actual", actual.as_ref().map(ToString::to_string)),
        Some(ErrorDetails::Unacknowledged { entries }) => {
            let entries: Vec<&str> = entries.iter().map(|entry| entry.as_str()).collect();
            made.with("inDoubt", entries)
        }
        Some(ErrorDetails::Held { holder }) => made.with("holderPid", holder.pid),
        _ => made,
    }
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

/// Phrases the next step for a caller in JavaScript.
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
        Advice::WaitLonger => "wait longer: `store.writer(id, { wait: 10_000 })`".to_owned(),
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
