//! The JSON shape of an error.

use std::error::Error as _;

use boswell_model::Error;

use super::shape;

shape! {
    /// An error, printed on stderr.
    ErrorShape: "error" {
        /// `not_found`, `busy`, `conflict`, `invalid`, `unsupported`, `denied`, `damaged`,
        /// `too_new`, `no_space`, `unavailable`, `internal`
        kind: &'static str,
        /// what failed and why
        message: String,
        /// what to do next
        hint: Option<String>,
    }
}

impl ErrorShape {
    /// The shape of an error, with its next step as the face phrases it.
    pub fn new(error: &Error, hint: Option<String>) -> ErrorShape {
        let what = std::iter::once(error.to_string());
        let parts: Vec<String> = what.chain(reasons(error)).collect();
        ErrorShape {
            kind: error.kind().word(),
            message: parts.join(": "),
            hint,
        }
    }
}

/// Returns the reasons of an error: its context, then its causes.
pub fn reasons(error: &Error) -> Vec<String> {
    let mut reasons: Vec<String> = error.reason().map(str::to_owned).into_iter().collect();
    let mut source = error.source();
    while let Some(cause) = source {
        reasons.push(cause.to_string());
        source = cause.source();
    }
    reasons
}
