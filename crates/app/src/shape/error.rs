//! Why there is no answer.

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

impl From<&Error> for ErrorShape {
    fn from(error: &Error) -> ErrorShape {
        let what = std::iter::once(error.to_string());
        let parts: Vec<String> = what.chain(reasons(error)).collect();
        ErrorShape {
            kind: error.kind().word(),
            message: parts.join(": "),
            hint: error.hint().map(str::to_owned),
        }
    }
}

/// Why something failed: what is known of it, then its causes.
pub fn reasons(error: &Error) -> Vec<String> {
    let mut reasons: Vec<String> = error.reason().map(str::to_owned).into_iter().collect();
    let mut source = error.source();
    while let Some(cause) = source {
        reasons.push(cause.to_string());
        source = cause.source();
    }
    reasons
}
