//! Deletes sessions with a copy in the vault, and restores them.
//!
//! Of a conversation in two stores only the front side is deleted (see `request_context.rs`); the
//! transcript of the other program stays and is named. The dialect plans which files go
//! (`dialect/claude/delete.rs`, `plan.rs` or `plan/delete.rs` of others), and the runner removes
//! them (`store/runner/execute.rs`) once the vault has a copy (`store/runner/run.rs`). The pi
//! family plans no deletion: there the log and its side files are removed
//! (`store/operations/list.rs`, which also restores). For `--purge` see `purge.rs`.

use boswell_dialect::{Capability, Depth, EditRequest};
use boswell_model::{Advice, Error, ErrorDetails, ErrorKind, Result, SessionRef};
use boswell_store::operations::Runner;
use boswell_store::store::{Resolved, Selector, Side};
use boswell_store::{SessionWriter, Store, Wait, WritableStore};

use crate::planned_change::{self, OperationShape, PlanPreview};
use crate::shape::shape;
use crate::{App, AppResult, RequestContext};

/// The sessions to delete.
#[derive(Debug, Clone, Default)]
pub struct DeleteRequest {
    /// The sessions as users name them: see `boswell_store::store::Selector`.
    pub sessions: Vec<String>,
}

/// The sessions to restore.
#[derive(Debug, Clone, Default)]
pub struct RestoreRequest {
    /// Refs of sessions in the vault; their ids may be shortened.
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
}

/// The plan for deleting a session.
#[derive(Debug, Clone)]
pub struct DeletePlan {
    /// The session.
    pub session: SessionRef,
    /// The files that are removed, and other changes in the store.
    pub removal: RemovalPlan,
    /// Transcripts of the same conversation in other stores, which are not deleted.
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
    pub op: OperationShape,
    /// Transcripts of the same conversation in other stores, which stay.
    pub staying: Vec<SessionRef>,
}

/// A restored session.
#[derive(Debug, Clone)]
pub struct RestoredSession {
    /// The session.
    pub session: SessionRef,
    /// The operation.
    pub op: OperationShape,
    /// How many of its files got the time of now, because by their own time their agent would soon
    /// delete them again.
    pub renewed: usize,
}

impl App {
    /// Passes the plan of deleting each session to the sink. Nothing is changed.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session, Conflict if one is archived, Unsupported if boswell
    /// cannot delete sessions of the dialect.
    pub fn plan_delete(
        &self,
        request: &DeleteRequest,
        sink: &mut dyn FnMut(DeletePlan) -> Result<()>,
    ) -> AppResult<()> {
        self.answer(|cx| plan_delete(cx, request, sink))
    }

    /// Deletes sessions; the vault has a copy. Each is passed to the sink when it is done.
    ///
    /// # Errors
    ///
    /// As [`plan_delete`](App::plan_delete), before anything is changed; Busy if a program has a
    /// session open. Sessions that were already reported are deleted.
    pub fn delete(
        &self,
        request: &DeleteRequest,
        sink: &mut dyn FnMut(RemovedSession) -> Result<()>,
    ) -> AppResult<()> {
        self.answer(|cx| delete(cx, request, sink))
    }

    /// Restores deleted and archived sessions. Each is passed to the sink when it is done.
    ///
    /// # Errors
    ///
    /// NotFound if the vault has no such session, Invalid if several match, Conflict if another
    /// file is in its place.
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
            session: it.reference(),
            removal: plan_removal(it)?,
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
        .collect::<Result<Vec<Resolved<WritableStore>>>>()?;
    for it in &found {
        // Links are read from the session, so this comes before its removal.
        let staying = transcripts(cx, it, &found);
        let deleted = remove_session(cx, it)?;
        sink(RemovedSession { staying, ..deleted })?;
    }
    Ok(())
}

/// Returns the plan for removing a session.
pub(crate) fn plan_removal(found: &Resolved) -> Result<RemovalPlan> {
    if found.store.dialect().powers().plans(Capability::Delete) {
        let planned = found.store.plan(&found.location, &EditRequest::Delete)?;
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

/// Returns transcripts of the same conversation in other stores that this request does not delete.
fn transcripts<S: AsRef<Store>>(
    cx: &RequestContext,
    it: &Resolved<S>,
    deleted: &[Resolved<S>],
) -> Vec<SessionRef> {
    // An unreadable session has no known links, and can be deleted all the same.
    let Ok(session) = it.store.as_ref().read(&it.location, Depth::Facts) else {
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
        Some(other.reference())
    });
    let is_deleted = |other: &SessionRef| deleted.iter().any(|it| it.reference() == *other);
    there.filter(|other| !is_deleted(other)).collect()
}

/// Removes a session in the way of its dialect; the vault has a copy.
///
/// # Errors
///
/// Unsupported if boswell cannot delete sessions of the dialect, Busy if a program has it open.
pub(crate) fn remove_session(
    cx: &RequestContext,
    found: &Resolved<WritableStore>,
) -> Result<RemovedSession> {
    let session = found.reference();
    let op = OperationShape::new(&remove(cx, found)?, "delete", &session);
    Ok(RemovedSession {
        session,
        op,
        staying: Vec::new(),
    })
}

/// As [`remove_session`]; returns the operation's id.
pub(crate) fn remove(cx: &RequestContext, found: &Resolved<WritableStore>) -> Result<String> {
    if found.store.dialect().powers().plans(Capability::Delete) {
        return Ok(planned_change::execute(cx, found, &EditRequest::Delete)?
            .operation
            .id);
    }
    let operation = cx.runner()?.delete_session(&found.store, &found.location)?;
    Ok(operation.id)
}

/// Checks that sessions of that dialect can be removed.
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

/// Returns every file of a session: its log and its side files.
pub(crate) fn files_of<S: AsRef<Store>>(found: &Resolved<S>) -> Result<Vec<String>> {
    found.store.as_ref().session_files(&found.location)
}

/// Acquires the lease of a session, so that its log is not removed while a program writes to it.
pub(crate) fn hold(found: &Resolved<WritableStore>) -> Result<Option<SessionWriter>> {
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
        let op = OperationShape::new(&restored.operation.id, "restore", &session);
        sink(RestoredSession {
            session,
            op,
            renewed: restored.renewed,
        })?;
    }
    Ok(())
}

/// Finds a deleted session in the vault by its ref.
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
        .advising(Advice::ListOperations.or(Advice::ShowKept))),
        (Some(a), Some(b)) => Err(Error::new(
            ErrorKind::Invalid,
            format!(
                "`{}` fits several sessions in the vault",
                name.escape_debug()
            ),
        )
        .because(format!("{a}, {b}…"))
        .detailing(ErrorDetails::Ambiguous {
            candidates: vec![a.to_string(), b.to_string()],
        })
        .advising("give more of the id")),
    }
}
