//! Puts files back to what they were at an entry.

use boswell_dialect::Depth;
use boswell_model::Result;

use crate::files::{FileDifference, FormerFiles, RestoreStep};
use crate::{App, AppResult, RequestContext};

/// Which files are put back, and to what.
#[derive(Debug, Clone, Default)]
pub struct CheckoutRequest {
    /// The session: a ref, the beginning of an id, a path, `@last` or `@here`.
    pub session: String,
    /// The entry.
    pub entry: String,
    /// Only files below these paths; else all.
    pub paths: Vec<String>,
    /// Only compare.
    pub dry_run: bool,
    /// Also files that another program changed since.
    pub force: bool,
}

/// What happens while files are put back.
#[derive(Debug)]
pub enum CheckoutEvent {
    /// How the files differ from what they were, before any of them is changed.
    Differences(Vec<FileDifference>),
    /// A file was put back, or was not.
    Step(RestoreStep),
}

impl App {
    /// Compares files of a session's project with what they were at an entry, and puts them back
    /// unless it is a dry run.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session or entry, or if the project's folder is gone;
    /// Unsupported where neither the agent nor boswell keeps copies; Conflict if another program
    /// changed a file and `force` is not given, after the steps that were done were reported.
    pub fn checkout(
        &self,
        request: &CheckoutRequest,
        sink: &mut dyn FnMut(CheckoutEvent) -> Result<()>,
    ) -> AppResult<()> {
        self.answer(|cx| checkout(cx, request, sink))
    }
}

fn checkout(
    cx: &RequestContext,
    request: &CheckoutRequest,
    sink: &mut dyn FnMut(CheckoutEvent) -> Result<()>,
) -> Result<()> {
    let wanted = (!request.dry_run).then(|| cx.resolve_for_writing(&request.session));
    let writable = wanted.transpose()?;
    let found = match &writable {
        Some(found) => found.reading(),
        None => cx.resolve(&request.session)?,
    };
    let session = found.store.read(&found.location, Depth::Facts)?;
    let reference = session.reference();
    let paths: Vec<&str> = request.paths.iter().map(String::as_str).collect();
    let files = FormerFiles::at(cx, &found, &session, &request.entry, &paths)?;
    sink(CheckoutEvent::Differences(files.differences(&reference)))?;
    let Some(writable) = writable else {
        return Ok(());
    };
    files.restore(cx, (&writable, &reference), request.force, &mut |step| {
        sink(CheckoutEvent::Step(step))
    })
}
