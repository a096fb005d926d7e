//! Errors of requests as one harmless line.

use boswell_app::text::one_line;
use boswell_app::{Notice, Refusal};
use boswell_model::Error;

/// Returns the error of a request.
pub(crate) fn refusal(refusal: &Refusal) -> String {
    error(&refusal.error)
}

/// Returns an error with its reason.
pub(crate) fn error(error: &Error) -> String {
    let text = match error.reason() {
        Some(reason) => format!("{error}: {reason}"),
        None => error.to_string(),
    };
    one_line(&text)
}

/// Returns the first warning among notices.
pub(crate) fn warning(notices: &[Notice]) -> Option<String> {
    notices.iter().find_map(|notice| match notice {
        Notice::Warning(it) | Notice::Failure(it) => Some(error(it)),
        _ => None,
    })
}
