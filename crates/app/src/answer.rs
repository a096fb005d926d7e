//! The result of a request: its answer or its error, and the warnings that occurred on the way.

use boswell_model::{Error, Remark};

/// Something that a person should know and that is not the answer itself.
///
/// Faces show them in their own way: the command line on stderr, HTTP as a member `warnings`,
/// a screen in its status line.
#[derive(Debug)]
#[non_exhaustive]
pub enum Notice {
    /// What was done or passed over on the way. `--quiet` leaves it out.
    Remark(Remark),
    /// Something could not be read; the answer is right without it. `--quiet` leaves it out.
    Warning(Error),
    /// A part of what was asked for could not be done. It is always shown.
    Failure(Error),
}

/// The answer to a request, and the notices that occurred on the way.
#[derive(Debug)]
#[must_use]
pub struct Answer<T> {
    /// What was asked for.
    pub value: T,
    /// Notices in the order in which they occurred.
    pub notices: Vec<Notice>,
}

/// The error of a request, and the warnings before it.
#[derive(Debug)]
pub struct Refusal {
    /// Why.
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
