//! Errors as JSON: kind, message, reason, hint and details.
//!
//! An exception of an addon has only a text, so the text is the JSON, and `js/errors.ts` makes the
//! class of the kind from it.

use boswell_binding::{ErrorReport, Language};
use boswell_store::Error;
use boswell_store::model::json::Json;

/// Makes the exception of an error.
pub(crate) fn thrown(error: &Error) -> napi::Error {
    napi::Error::from_reason(described(error).to_string())
}

/// Describes an error.
pub(crate) fn described(error: &Error) -> Json {
    ErrorReport::new(error, Language::JavaScript).to_json()
}
