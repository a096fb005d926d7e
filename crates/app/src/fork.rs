//! Forks a session: creates a new session from a branch of another one.
//!
//! What is copied, and how the new session names its parent (lineage), is decided by the dialect:
//! `dialect/*/fork.rs` and `plan.rs`; `Store::lineage` gives the parent's id or path.
//!
//! Of a conversation in two stores the fuller side is used: see `request_context.rs`.

use std::path::PathBuf;

use boswell_dialect::{Capability, Depth, EditRequest, NewSession, Surroundings, unsupported};
pub use boswell_dialect::{ForkScope, ForkStyle};
use boswell_model::{
    Advice, EntryId, Error, ErrorKind, RequestInput, Result, SessionId, SessionRef, Tip,
};
use boswell_store::WritableStore;
use boswell_store::store::Resolved;

use crate::shape::{self, SessionShape};
use crate::{App, AppResult, RequestContext, planned_change};

/// A request to fork a session.
#[derive(Debug, Clone, Default)]
pub struct ForkRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
    /// The last entry of the fork; `None` for the current leaf.
    pub at: Option<String>,
    /// Title of the new session.
    pub title: Option<String>,
    /// Id of the new session; `None` to have one created.
    pub id: Option<String>,
    /// How entries of Claude's sessions are copied.
    pub style: ForkStyle,
    /// Whether every branch is copied, with the side files.
    pub scope: ForkScope,
    /// Project folder of the new session; `None` for that of the old one.
    pub project: Option<PathBuf>,
}

/// The result of a fork.
#[derive(Debug)]
pub struct Forked {
    /// The new session.
    pub reference: SessionRef,
    /// The new session in its JSON shape.
    pub session: SessionShape,
}

impl App {
    /// Creates a new session from a branch of another one, with a link to its parent.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session or entry, Unsupported if its format has no forks,
    /// Invalid for an id that its agent would refuse.
    pub fn fork(&self, request: &ForkRequest) -> AppResult<Forked> {
        self.answer(|cx| fork(cx, request))
    }
}

fn fork(cx: &RequestContext, request: &ForkRequest) -> Result<Forked> {
    let found = cx.resolve_for_writing(&request.session)?;
    let facts = found.store.dialect().facts();
    if request.style == ForkStyle::Sdk && !facts.has_sdk_forks {
        return Err(unsupported(
            facts.name,
            "be forked as Claude's SDK does it",
            Advice::Omit(RequestInput::ForkStyle),
        ));
    }
    // An option that the format has no place for is refused, not ignored.
    if request.scope == ForkScope::Everything && !facts.forks_all_branches {
        return Err(unsupported(
            facts.name,
            "be forked with all branches",
            Advice::Omit(RequestInput::ForkScope),
        ));
    }
    if request.project.is_some() && !facts.forks_to_other_projects {
        return Err(unsupported(
            facts.name,
            "be forked into another folder",
            Advice::Omit(RequestInput::Project),
        ));
    }
    let new = new_session(cx, request);
    let reference = if found.store.dialect().powers().plans(Capability::Fork) {
        by_plan(
            cx,
            request.at.as_deref().map(EntryId::from).as_ref(),
            new,
            &found,
        )?
    } else {
        let at = request.at.as_deref().map(EntryId::from);
        let writer = found.store.fork(&found.location.id, at.as_ref(), new)?;
        let reference = writer.reference().clone();
        writer.release()?;
        reference
    };
    let summary = found.store.summary(&found.store.find(&reference.id)?)?;
    Ok(Forked {
        session: shape::session(&summary, Some(&found.store)),
        reference,
    })
}

fn new_session(cx: &RequestContext, request: &ForkRequest) -> NewSession {
    let project = request.project.as_ref().map(|project| {
        let project = cx.env.cwd.join(project);
        let project = project.canonicalize().unwrap_or(project);
        project.display().to_string()
    });
    NewSession {
        id: request.id.as_deref().map(SessionId::from),
        title: request.title.clone(),
        project: project.unwrap_or_default(),
        copies: request.scope,
        style: request.style,
        around: Surroundings::of(&cx.env),
        ..NewSession::default()
    }
}

fn by_plan(
    cx: &RequestContext,
    at: Option<&EntryId>,
    new: NewSession,
    found: &Resolved<WritableStore>,
) -> Result<SessionRef> {
    let session = found
        .store
        .read_conversation(&found.location, Depth::Heads)?;
    let at = match at {
        Some(entry) => Tip::At(session.find(entry)?),
        None => session.tip()?,
    };
    let dialect = found.store.dialect();
    if let Some(id) = new
        .id
        .as_ref()
        .map(|id| id.as_str())
        .filter(|id| !dialect.id_is_valid(id))
    {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!("`{}` cannot be the id of a session", id.escape_debug()),
        )
        .advising(Advice::Omit(RequestInput::SessionId)));
    }
    let new = NewSession {
        parent: Some(found.store.lineage(&session, new.copies)),
        ..new
    };
    let done = planned_change::execute(cx, found, &EditRequest::Fork { at, new })?;
    let id = done.planned.session.unwrap_or_default();
    Ok(SessionRef::new(dialect.name(), &id))
}
