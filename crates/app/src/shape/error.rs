//! The JSON shape of an error.

use std::error::Error as _;

use boswell_model::{Advice, Error};

use super::shape;
use crate::Notice;

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

    /// From the server: something that was noticed on the way to an answer.
    NoticeShape: "notice" {
        /// `remark`, or as in `error` the kind of what could not be read
        kind: &'static str,
        /// what was noticed
        message: String,
        /// what to do next
        hint: Option<String>,
    }
}

impl NoticeShape {
    /// The shape of a notice, with its next step as the face phrases it.
    pub fn new(notice: &Notice, phrase: &dyn Fn(&Advice) -> String) -> NoticeShape {
        match notice {
            Notice::Remark(remark) => NoticeShape {
                kind: "remark",
                message: remark.phrased(phrase),
                hint: None,
            },
            Notice::Warning(error) | Notice::Failure(error) => {
                let shape = ErrorShape::new(error, error.advice().map(phrase));
                NoticeShape {
                    kind: shape.kind,
                    message: shape.message,
                    hint: shape.hint,
                }
            }
        }
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
