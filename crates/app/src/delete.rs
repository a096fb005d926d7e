//! Deletes sessions, keeps a copy in the vault, and restores them.

use boswell_dialect::{Capability, Depth, EditRequest, unsupported};
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::operations::Runner;
use boswell_store::store::{Resolved, Selector, Side};
use boswell_store::{SessionWriter, Wait};

use crate::planned_change::{self, PlanPreview};
use crate::shape::shape;
use crate::{App, AppResult, RequestContext};

/// Which sessions to delete.
#[derive(Debug, Clone, Default)]
pub struct DeleteRequest {
    /// Refs, beginnings of ids, paths, `@last` or `@here`.
    pub sessions: Vec<String>,
}

/// Which sessions to put back.
#[derive(Debug, Clone, Default)]
pub struct RestoreRequest {
    /// Refs as the vault knows them; their ids may be shortened.
    pub refs: Vec<String>,
}

shape! {
    /// From `delete`: a file of a session that would be removed.
    DeleteStep: "step" {
        /// what would be done
        done: &'static str,
        /// the file
        path: String,
    }

    /// A change of a session that was applied.
    SessionOp: "op" {
        /// id of the operation
        op: String,
        /// what was done: `delete`, `restore`, `archive`
        kind: &'static str,
        /// the session
        session: String,
    }
}

/// What deleting a session would do.
#[derive(Debug, Clone)]
pub struct DeletePlan {
    /// The session.
    pub session: SessionRef,
    /// Its files, and what else changes in its store.
    pub removal: RemovalPlan,
    /// Transcripts of the same conversation in other stores, which stay.
    pub staying: Vec<SessionRef>,
}

/// How a session is removed from its store.
#[derive(Debug, Clone)]
pub enum RemovalPlan {
    /// By the plan of its dialect.
    Planned(PlanPreview),
    /// File by file.
    Files(Vec<DeleteStep>),
}

/// A session that was deleted.
#[derive(Debug, Clone)]
pub struct RemovedSession {
    /// The session.
    pub session: SessionRef,
    /// The operation.
    pub op: SessionOp,
    /// Transcripts of the same conversation in other stores, which stay.
    pub staying: Vec<SessionRef>,
}

/// A session that was put back.
#[derive(Debug, Clone)]
pub struct RestoredSession {
    /// The session.
    pub session: SessionRef,
    /// The operation.
    pub op: SessionOp,
    /// How many of its files got the time of now, because by their own time their agent would soon
    /// delete them again.
    pub renewed: usize,
}

impl App {
    /// Calls the sink with the plan of deleting each session. Nothing is changed.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session, Conflict if one is archived, Unsupported where boswell
    /// cannot delete sessions.
    pub fn plan_delete(
        &self,
        request: &DeleteRequest,
        sink: &mut dyn FnMut(DeletePlan) -> Result<()>,
    ) -> AppResult<()> {
        self.answer(|cx| plan_delete(cx, request, sink))
    }

    /// Deletes sessions; the vault keeps a copy. Each is passed to the sink when it is done.
    ///
    /// # Errors
    ///
    /// As [`plan_delete`](App::plan_delete), before anything is changed; Busy if a program is at
    /// work on a session. Sessions that were reported by then are deleted.
    pub fn delete(
        &self,
        request: &DeleteRequest,
        sink: &mut dyn FnMut(RemovedSession) -> Result<()>,
    ) -> AppResult<()> {
        self.answer(|cx| delete(cx, request, sink))
    }

    /// Puts deleted and archived sessions back where they were. Each is passed to the
    /// sink when it is done.
    ///
    /// # Errors
    ///
    /// NotFound if the vault has no such session, Invalid if it has several that begin so, Conflict
    /// if something else is in its place.
    pub fn restore(
        &self,
        request: &RestoreRequest,
        sink: &mut dyn FnMut(RestoredSession) -> Result<()>,
    ) -> AppResult<()> {
        self.answer(|cx| restore(cx, request, sink))
    }
}

fn plan_delete(
    cx: &RequestContext,
    request: &DeleteRequest,
    sink: &mut dyn FnMut(DeletePlan) -> Result<()>,
) -> Result<()> {
    let names = request.sessions.iter();
    let found = names
        .map(|session| cx.resolve_front(session))
        .collect::<Result<Vec<Resolved>>>()?;
    found
        .iter()
        .try_for_each(|it| cx.refuse_archived(&it.store))?;
    for it in &found {
        sink(DeletePlan {
            session: reference(it),
            removal: plan_removal(cx, it)?,
            staying: transcripts(cx, it, &found),
        })?;
    }
    Ok(())
}

fn delete(
    cx: &RequestContext,
    request: &DeleteRequest,
    sink: &mut dyn FnMut(RemovedSession) -> Result<()>,
) -> Result<()> {
    let names = request.sessions.iter();
    let found = names
        .map(|session| cx.resolve_front_for_writing(session))
        .collect::<Result<Vec<Resolved>>>()?;
    for it in &found {
        // Links are read from the session, so before it is gone.
        let staying = transcripts(cx, it, &found);
        let deleted = remove_session(cx, it)?;
        sink(RemovedSession { staying, ..deleted })?;
    }
    Ok(())
}

/// What removing a session would do.
pub(crate) fn plan_removal(cx: &RequestContext, found: &Resolved) -> Result<RemovalPlan> {
    if found.store.dialect().powers().plans(Capability::Delete) {
        let store = cx.planning(found.store.clone());
        let planned = store.plan(&found.location, &EditRequest::Delete)?;
        return Ok(RemovalPlan::Planned(PlanPreview::from(&planned)));
    }
    let step = |key: &String| DeleteStep {
        done: "would remove",
        path: found.store.backend().describe(key),
    };
    Ok(RemovalPlan::Files(
        files_of(found)?.iter().map(step).collect(),
    ))
}

/// Transcripts of the same conversation in other stores that this request does not delete.
fn transcripts(cx: &RequestContext, it: &Resolved, deleted: &[Resolved]) -> Vec<SessionRef> {
    // A session that cannot be read does not refer to others, and can be deleted all the same.
    let Ok(session) = it.store.read(&it.location, Depth::Facts) else {
        return Vec::new();
    };
    let links = session
        .dialect()
        .linked_sessions(session.meta(), &it.location.id)
        .into_iter();
    let there = links.filter_map(|link| {
        let selector = Selector::Ref(link.dialect.to_owned(), link.id);
        let other = cx
            .stores
            .resolve(&selector, &cx.env.cwd, Side::Fuller)
            .ok()?;
        Some(reference(&other))
    });
    let is_deleted = |other: &SessionRef| deleted.iter().any(|it| reference(it) == *other);
    there.filter(|other| !is_deleted(other)).collect()
}

pub(crate) fn reference(found: &Resolved) -> SessionRef {
    SessionRef::new(found.store.dialect().name(), &found.location.id)
}

/// Removes a session in the way of its dialect; the vault keeps a copy.
///
/// # Errors
///
/// Unsupported where boswell cannot delete sessions, Busy if a program is at work on it.
pub(crate) fn remove_session(cx: &RequestContext, found: &Resolved) -> Result<RemovedSession> {
    let session = reference(found);
    let op = SessionOp {
        op: remove(cx, found)?,
        kind: "delete",
        session: session.to_string(),
    };
    Ok(RemovedSession {
        session,
        op,
        staying: Vec::new(),
    })
}

/// As [`remove_session`]; returns the operation's id.
pub(crate) fn remove(cx: &RequestContext, found: &Resolved) -> Result<String> {
    if found.store.dialect().powers().plans(Capability::Delete) {
        return Ok(planned_change::execute(cx, found, &EditRequest::Delete)?
            .operation
            .id);
    }
    let keys = files_of(found)?;
    let writer = hold(found)?;
    let operation = cx
        .runner()?
        .delete(found.store.root(), &keys, &reference(found))?;
    if let Some(writer) = writer {
        // Nothing is written by this: only the lease is given up.
        let _ = writer.release();
    }
    Ok(operation.id)
}

/// Whether sessions of that dialect can be removed at all.
///
/// # Errors
///
/// Unsupported if they cannot.
pub fn can_remove(found: &Resolved) -> Result<()> {
    if found.store.dialect().powers().plans(Capability::Delete) {
        Ok(())
    } else {
        files_of(found).map(|_| ())
    }
}

/// Every file of a session: its log and its side files.
pub(crate) fn files_of(found: &Resolved) -> Result<Vec<String>> {
    let facts = found.store.dialect().facts();
    if !facts.log_is_session {
        return Err(unsupported(
            facts.name,
            "be deleted yet",
            "delete it with its own agent",
        ));
    }
    let mut keys: Vec<String> = found.location.key.iter().cloned().collect();
    keys.extend(
        found
            .store
            .side_files(&found.location)?
            .into_iter()
            .map(|file| file.key),
    );
    Ok(keys)
}

/// Takes the lease of a session: a program that drives the conversation must not find its log gone.
pub(crate) fn hold(found: &Resolved) -> Result<Option<SessionWriter>> {
    match found.store.writer(&found.location.id, Wait::No) {
        Ok(writer) => Ok(Some(writer)),
        Err(error) if error.kind() == ErrorKind::Busy => Err(error),
        // A log that cannot be appended to can be removed all the same.
        Err(_) => Ok(None),
    }
}

fn restore(
    cx: &RequestContext,
    request: &RestoreRequest,
    sink: &mut dyn FnMut(RestoredSession) -> Result<()>,
) -> Result<()> {
    cx.may_write()?;
    let runner = cx.runner()?;
    for name in &request.refs {
        let session = in_vault(&runner, name)?;
        let restored = runner.restore(&session)?;
        let op = SessionOp {
            op: restored.operation.id,
            kind: "restore",
            session: session.to_string(),
        };
        sink(RestoredSession {
            session,
            op,
            renewed: restored.renewed,
        })?;
    }
    Ok(())
}

/// The deleted session that is meant: the vault knows its ref.
pub(crate) fn in_vault(runner: &Runner, name: &str) -> Result<SessionRef> {
    let (records, _) = runner.vault().list()?;
    let mut refs: Vec<SessionRef> = records.into_iter().map(|record| record.session).collect();
    refs.extend(
        runner
            .vault()
            .kept()?
            .files()
            .map(|file| file.session.clone()),
    );
    refs.sort();
    refs.dedup();
    let fits = |reference: &SessionRef| {
        reference.to_string().starts_with(name) || reference.id.starts_with(name)
    };
    let mut found = refs.into_iter().filter(fits);
    match (found.next(), found.next()) {
        (Some(reference), None) => Ok(reference),
        (None, _) => Err(Error::new(
            ErrorKind::NotFound,
            format!("the vault holds no session `{}`", name.escape_debug()),
        )
        .hinting(
            "see what was deleted with `boswell ops`, and what is kept with `boswell keep status`",
        )),
        (Some(a), Some(b)) => Err(Error::new(
            ErrorKind::Invalid,
            format!(
                "`{}` fits several sessions in the vault",
                name.escape_debug()
            ),
        )
        .because(format!("{a}, {b}…"))
        .hinting("give more of the id")),
    }
}
