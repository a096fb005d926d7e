//! Continues work on many sessions after one of them failed.
//!
//! A folder or file that cannot be read is named and skipped, and the command ends with exit code
//! 3.

use boswell_model::{Error, ErrorKind};

use crate::RequestContext;

impl RequestContext {
    /// Continues after a session that could not be changed. If its agent has just resumed it, there
    /// is a notice; any other error becomes the error of the request after the others are done,
    /// because requested work is missing.
    pub(crate) fn pass_over(&self, error: Error, first: &mut Option<Error>) {
        if first.is_some() || matches!(error.kind(), ErrorKind::Busy | ErrorKind::Conflict) {
            self.fail(error);
        } else {
            *first = Some(error);
        }
    }
}
