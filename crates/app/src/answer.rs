//! The result of a request: its answer or its error, and the warnings that occurred on the way.

use boswell_model::{Error, Remark};

/// A message for the user in addition to the answer.
///
/// Each face shows it in its own way: the command line on stderr, HTTP as a member `warnings`, a
/// screen in its status line.
#[derive(Debug)]
#[non_exhaustive]
pub enum Notice {
    /// Something that was done or skipped. `--quiet` omits it.
    Remark(Remark),
    /// Something could not be read; the answer is correct without it. `--quiet` omits it.
    Warning(Error),
    /// A part of the request failed. Always shown.
    Failure(Error),
}

/// The answer to a request, and the notices that occurred on the way.
#[derive(Debug)]
#[must_use]
pub struct Answer<T> {
    /// The result of the request.
    pub value: T,
    /// Notices in the order in which they occurred.
    pub notices: Vec<Notice>,
}

/// The error of a request, and the warnings before it.
#[derive(Debug)]
pub struct Refusal {
    /// The error.
    pub error: Error,
    /// Notices in the order in which they occurred: an operation of an earlier run may have been
    /// finished before this request failed.
    pub notices: Vec<Notice>,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for Refusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal {
            error,
            notices: Vec::new(),
        }
    }
}

/// What every request of [`App`](crate::App) returns.
pub type AppResult<T> = std::result::Result<Answer<T>, Refusal>;
