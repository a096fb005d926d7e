//! Errors by kind, with reason, next step and details, in the words of a language.

use boswell_model::json::Json;
use boswell_model::{Advice, Error, ErrorDetails, ErrorKind, RequestInput};

use crate::Language;

/// An error as a package shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorReport {
    /// The class: `NotFound`, `Busy`, `Conflict` and so on.
    pub class: &'static str,
    /// What happened.
    pub message: String,
    /// Why.
    pub reason: Option<String>,
    /// The next step.
    pub hint: Option<String>,
    /// The state that a refused append expected.
    pub expected: Option<String>,
    /// The state that it met.
    pub actual: Option<String>,
    /// The process that holds the lease.
    pub holder_pid: Option<u32>,
    /// After a failed write: entries of which it is unknown whether they survive.
    pub in_doubt: Option<Vec<String>>,
}

/// Makes the error of a request that is not valid before the library sees it.
pub fn refused(what: impl Into<String>, hint: impl Into<String>) -> Error {
    Error::new(ErrorKind::Invalid, what).advising(hint.into())
}

impl ErrorReport {
    /// Describes an error in the words of a language.
    pub fn new(error: &Error, language: Language) -> ErrorReport {
        let mut report = ErrorReport {
            class: class_of(error.kind()),
            message: error.to_string(),
            reason: reason(error),
            hint: error.advice().map(|advice| hint(advice, language)),
            expected: None,
            actual: None,
            holder_pid: None,
            in_doubt: None,
        };
        match error.details() {
            Some(ErrorDetails::Conflict { expected, actual }) => {
                report.expected = Some(expected.to_string());
                report.actual = actual.as_ref().map(ToString::to_string);
            }
            Some(ErrorDetails::Unacknowledged { entries }) => {
                let entries = entries.iter().map(ToString::to_string);
                report.in_doubt = Some(entries.collect());
            }
            Some(ErrorDetails::Held { holder }) => report.holder_pid = holder.pid,
            _ => {}
        }
        report
    }

    /// Returns it as JSON, with members in camel case.
    pub fn to_json(&self) -> Json {
        Json::object()
            .with("kind", self.class)
            .with("message", self.message.as_str())
            .with_some("reason", self.reason.as_deref())
            .with_some("hint", self.hint.as_deref())
            .with_some("expected", self.expected.as_deref())
            .with_some("actual", self.actual.as_deref())
            .with_some("holderPid", self.holder_pid)
            .with_some("inDoubt", self.in_doubt.clone())
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

/// Phrases the next step for a caller of a package.
fn hint(advice: &Advice, language: Language) -> String {
    let joined = |steps: &[Advice], word: &str| {
        let steps: Vec<String> = steps.iter().map(|step| hint(step, language)).collect();
        steps.join(word)
    };
    let fixed = match advice {
        Advice::Plain(text) => return text.clone().into_owned(),
        Advice::AnyOf(steps) => return joined(steps, ", or "),
        Advice::InOrder(steps) => return joined(steps, ", then "),
        Advice::AllOf(steps) => return joined(steps, "; "),
        Advice::Retry => "try again",
        Advice::RetryLater => "try again when the other process has ended",
        Advice::WaitLonger if language == Language::Python => {
            "wait longer: `store.writer(id, wait=10)`"
        }
        Advice::WaitLonger => "wait longer: `store.writer(id, { wait: 10_000 })`",
        Advice::ReopenSession => "open the session again with `store.writer(id)`, and append there",
        Advice::ReadAgain => {
            "read the session again, and append with the revision or leaf that it has"
        }
        Advice::Upgrade => "update boswell-store",
        Advice::Omit(RequestInput::SessionId) => "leave `id` out, and one is generated",
        Advice::ListSessions { .. } => "`store.list()` lists the sessions",
        Advice::ShowTree | Advice::ShowRecords { .. } => "`session.entries()` returns the entries",
        Advice::NewSession => "make a session with `store.create()`",
        Advice::AppendTo { .. } => "open it with `store.writer(id)`",
        Advice::Fork { .. } => "fork it with `store.fork(id)`",
        Advice::Restore { .. } => "restore it with `store.restore(id)`",
        other => return other.word().replace('_', " "),
    };
    fixed.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_step_is_a_call_of_the_language() {
        let error = Error::new(ErrorKind::Busy, "it is held").advising(Advice::WaitLonger);
        let report = ErrorReport::new(&error, Language::Python);
        assert_eq!(report.class, "Busy");
        assert_eq!(
            report.hint.as_deref(),
            Some("wait longer: `store.writer(id, wait=10)`")
        );
        let report = ErrorReport::new(&error, Language::JavaScript);
        assert!(report.to_json().to_string().contains("{ wait: 10_000 }"));
    }

    #[test]
    fn the_causes_of_an_error_are_its_reason() {
        let cause = std::io::Error::other("the disk is on fire");
        let error = Error::new(ErrorKind::Unavailable, "nothing works").caused_by(cause);
        let report = ErrorReport::new(&error, Language::Python);
        assert_eq!(report.reason.as_deref(), Some("the disk is on fire"));
    }
}
