//! Creates a session.
//!
//! It chooses the store for `--dialect`, and creates by a writer (`store/native.rs` of the store)
//! or by a plan of the dialect, with `--id`, `--title`, `--project` and `--backend`.

use std::path::PathBuf;

use boswell_dialect::{NewSession, StoreRequest, Surroundings, by_name, facts_of};
use boswell_model::{Advice, Error, ErrorKind, Result, SessionId, SessionRef};
use boswell_store::WritableStore;

use crate::shape::{self, SessionShape};
use crate::{App, AppResult, RequestContext, planned_change};

/// A request to create a session.
#[derive(Debug, Clone)]
pub struct NewSessionRequest {
    /// The dialect of the session.
    pub dialect: String,
    /// The project folder.
    pub project: PathBuf,
    /// Title of the session.
    pub title: Option<String>,
    /// Id of the session; `None` to have one created.
    pub id: Option<String>,
    /// The program that answers, for dialects that run other agents: `claude`, `codex`, `gemini`.
    pub backend: Option<String>,
}

impl Default for NewSessionRequest {
    /// A boswell session in the current folder.
    fn default() -> NewSessionRequest {
        NewSessionRequest {
            dialect: "boswell".to_owned(),
            project: PathBuf::from("."),
            title: None,
            id: None,
            backend: None,
        }
    }
}

/// A created session.
#[derive(Debug)]
pub struct CreatedSession {
    /// The new session.
    pub reference: SessionRef,
    /// The new session in its JSON shape.
    pub session: SessionShape,
}

impl App {
    /// Creates a session without entries.
    ///
    /// # Errors
    ///
    /// Invalid for a dialect that does not exist or an id that its agent would refuse, NotFound if
    /// there is no store of the dialect, Unsupported if its sessions cannot be created.
    pub fn new_session(&self, request: &NewSessionRequest) -> AppResult<CreatedSession> {
        self.answer(|cx| new_session(cx, request))
    }
}

fn new_session(cx: &RequestContext, request: &NewSessionRequest) -> Result<CreatedSession> {
    cx.may_write()?;
    let store = store_for(cx, &request.dialect)?;
    let project = cx.env.cwd.join(&request.project);
    let project = project.canonicalize().unwrap_or(project);
    let new = NewSession {
        project: project.display().to_string(),
        id: request.id.as_deref().map(SessionId::from),
        title: request.title.clone(),
        backend: request.backend.clone(),
        around: Surroundings::of(&cx.env),
        ..NewSession::default()
    };
    let reference = if store.dialect().facts().creates_by_plan {
        by_plan(cx, &store, new)?
    } else {
        let writer = store.create(new)?;
        let reference = writer.reference().clone();
        writer.release()?;
        reference
    };
    let summary = store.summary(&store.find(&reference.id)?)?;
    Ok(CreatedSession {
        session: shape::session(&summary, Some(&store)),
        reference,
    })
}

fn by_plan(cx: &RequestContext, store: &WritableStore, new: NewSession) -> Result<SessionRef> {
    let request = StoreRequest::Create(new);
    let done = cx.runner()?.execute_store(store, &request)?;
    planned_change::remark(cx, &done.planned);
    let id = done.planned.session.unwrap_or_default();
    Ok(SessionRef::new(store.dialect().name(), id))
}

/// Returns the store for a new session of a dialect: the named or discovered one; for boswell's own
/// sessions its home.
pub(crate) fn store_for(cx: &RequestContext, dialect: &str) -> Result<WritableStore> {
    let mut stores = cx.stores.iter();
    if let Some((_, store)) = stores.find(|(_, store)| store.dialect().name() == dialect) {
        return cx.writable(store.clone());
    }
    if facts_of(dialect).is_some_and(|facts| facts.is_own) {
        return cx.own_home()?.sessions();
    }
    if by_name(dialect).is_none() {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!("there is no dialect `{}`", dialect.escape_debug()),
        )
        .advising(Advice::ListStores));
    }
    Err(Error::new(
        ErrorKind::NotFound,
        format!("no store of the dialect `{dialect}` was found"),
    )
    .advising(Advice::NameStore {
        dialect: Some(dialect.to_owned()),
    }))
}
