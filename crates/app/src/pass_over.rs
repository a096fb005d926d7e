//! Continues work on many sessions after one of them failed.
//!
//! `archive --older-than` and `clean` use it: a session that is busy or was changed meanwhile is
//! named and skipped. Folders that cannot be read are counted by each request itself, and the
//! command line ends with exit code 3 (`left_out` in its `error_report.rs`).

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
