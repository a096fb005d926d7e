//! Restores project files to their state at an entry.
//!
//! The files come from boswell's own checkpoints or from the agent's copies (`files.rs`);
//! `rewind --files` uses the same.

use boswell_dialect::Depth;
use boswell_model::Result;

use crate::files::{FileDifference, FormerFiles, RestoreStep};
use crate::{App, AppResult, RequestContext};

/// A request to restore files.
#[derive(Debug, Clone, Default)]
pub struct CheckoutRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
    /// Id of the entry.
    pub entry: String,
    /// Only files below these paths; empty for all.
    pub paths: Vec<String>,
    /// Only compare, restore nothing.
    pub compare_only: bool,
    /// Also restore files that another program changed since.
    pub force: bool,
}

/// An event while files are restored.
#[derive(Debug)]
pub enum CheckoutEvent {
    /// How the files differ from their former state, before any of them is changed.
    Differences(Vec<FileDifference>),
    /// A file was restored, or could not be.
    Step(RestoreStep),
}

impl App {
    /// Compares files of a session's project with their state at an entry, and restores them
    /// unless they are only compared.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session or entry, or if the project's folder does not exist;
    /// Unsupported if neither the agent nor boswell has copies; Conflict if another program changed
    /// a file and `force` is not set: then nothing is restored.
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
    let wanted = (!request.compare_only).then(|| cx.resolve_for_writing(&request.session));
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
