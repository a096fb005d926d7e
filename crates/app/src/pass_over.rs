//! Work on many sessions that goes on after one of them failed.

use boswell_model::{Error, ErrorKind};

use crate::RequestContext;

impl RequestContext {
    /// Goes on with the other sessions after one that could not be changed. One that its agent has
    /// just taken up is left alone with a notice; any other error is the error of the request once
    /// the others are done, because work that was asked for is missing.
    pub(crate) fn pass_over(&self, error: Error, first: &mut Option<Error>) {
        if first.is_some() || matches!(error.kind(), ErrorKind::Busy | ErrorKind::Conflict) {
            self.fail(error);
        } else {
            *first = Some(error);
        }
    }
}
