//! Moves the leaf of a session, so that the next entry becomes the child of another one.
//!
//! The entry that moves the leaf is `leaf_draft` of the store's `writer/mod.rs`.
//!
//! Of a conversation in two stores the fuller side is used: see `request_context.rs`.

use boswell_dialect::{Capability, Depth, EditRequest, unsupported};
use boswell_model::{Advice, EntryId, Error, ErrorKind, RequestInput, Result, Tip};
use boswell_store::store::Resolved;
use boswell_store::{Session, Wait, WritableStore};

use crate::acknowledgement::{Acknowledgement, ReceiptShape};
use crate::planned_change::{self, OperationShape};
use crate::{App, AppResult, RequestContext};

/// A request to move the leaf.
#[derive(Debug, Clone, Default)]
pub struct BranchRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
    /// The parent of the next entry; `None` for a new root.
    pub entry: Option<String>,
    /// A summary of the abandoned branch.
    pub summary: Option<String>,
}

impl App {
    /// Moves the leaf of a session.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session or entry, Unsupported for an entry without an id, or
    /// for a summary where the format has none, Busy if another process writes the session.
    pub fn branch(&self, request: &BranchRequest) -> AppResult<Acknowledgement> {
        self.answer(|cx| branch(cx, request))
    }
}

fn branch(cx: &RequestContext, request: &BranchRequest) -> Result<Acknowledgement> {
    let found = cx.resolve_for_writing(&request.session)?;
    let session = found.store.read(&found.location, Depth::Heads)?;
    let entry = request.entry.as_deref();
    let entry = entry.map(|name| id_of(&session, name)).transpose()?;
    if found.store.dialect().powers().plans(Capability::Branch) {
        return by_plan(cx, request, &found, &session);
    }
    let writer = found.store.writer(&found.location.id, Wait::No)?;
    let receipt = match (&entry, &request.summary) {
        (_, Some(summary)) => writer.branch_with_summary(entry.as_ref(), summary)?,
        (Some(entry), None) => writer.branch(entry)?,
        (None, None) => writer.reset()?,
    };
    writer.release()?;
    Ok(Acknowledgement::Receipt(ReceiptShape::from(&receipt)))
}

fn id_of(session: &Session, name: &str) -> Result<EntryId> {
    let slot = session.find(name)?;
    let head = session.log().head(slot);
    if head.is_none_or(|head| head.id.is_none()) {
        return Err(Error::new(
            ErrorKind::Unsupported,
            "an entry without an id cannot be attached to",
        )
        .advising(Advice::ShowTree));
    }
    Ok(session.log().label(slot).as_ref().into())
}

fn by_plan(
    cx: &RequestContext,
    request: &BranchRequest,
    found: &Resolved<WritableStore>,
    session: &Session,
) -> Result<Acknowledgement> {
    if request.summary.is_some() {
        return Err(unsupported(
            found.store.dialect().name(),
            "hold the summary of a branch",
            Advice::Omit(RequestInput::BranchSummary),
        ));
    }
    let tip = match &request.entry {
        Some(name) => Tip::At(session.find(name)?),
        None => Tip::Root,
    };
    let done = planned_change::execute(cx, found, &EditRequest::Stand(tip))?;
    let shape = OperationShape::of(&done, &session.reference());
    Ok(Acknowledgement::Operation(shape))
}
