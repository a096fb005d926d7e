//! Archives sessions: moves them into the vault, where they can still be read.
//!
//! `--older-than` chooses sessions that were last active longer ago on every side; those that are
//! open, pinned or `active` are skipped. A named session in such a state is refused.
//! `request_context.rs` refuses to change an archived session.

use std::time::Duration;

use boswell_dialect::Capability;
use boswell_model::{Advice, Error, ErrorKind, Instant, PINNED, Result, SessionRef};
use boswell_store::links::Conversation;
use boswell_store::store::{Resolved, Summary};

use crate::delete::{can_remove, files_of, hold};
use crate::list::warn_about;
use crate::planned_change::OperationShape;
use crate::sessions::list::{last_active, sides};
use crate::shape::shape;
use crate::{App, AppResult, RequestContext, planned_change};

/// The sessions to archive.
#[derive(Debug, Clone)]
pub enum ArchiveRequest {
    /// These sessions as users name them: see `boswell_store::store::Selector`.
    Named(Vec<String>),
    /// All sessions that were last active longer ago than `span`, in every store that contains the
    /// conversation, optionally of one dialect.
    OlderThan {
        /// The minimum time since the last activity.
        span: Duration,
        /// Only sessions of this dialect.
        dialect: Option<String>,
    },
}

shape! {
    /// From `archive`: a session that would be archived.
    ArchiveStep: "step" {
        /// what would be done
        done: &'static str,
        /// the session
        session: String,
        /// time of the last entry
        last_active: Option<Instant>,
    }
}

/// Sessions that would be archived.
#[derive(Debug)]
pub struct ArchivePlan {
    /// The sessions in the order in which they would be archived.
    pub sessions: Vec<ArchiveCandidate>,
    /// Time of the plan.
    pub as_of: Instant,
}

/// A session that would be archived.
#[derive(Debug, Clone)]
pub struct ArchiveCandidate {
    /// The session.
    pub session: SessionRef,
    /// Name of the session in lists.
    pub name: String,
    /// Time of the last activity.
    pub last_active: Option<Instant>,
}

impl ArchiveCandidate {
    /// Returns the JSON shape.
    pub fn step(&self) -> ArchiveStep {
        ArchiveStep {
            done: "would archive",
            session: self.session.to_string(),
            last_active: self.last_active,
        }
    }
}

/// A session that was archived.
#[derive(Debug, Clone)]
pub struct ArchivedSession {
    /// The session.
    pub session: SessionRef,
    /// The operation.
    pub op: OperationShape,
}

impl App {
    /// Returns the sessions that would be archived. Nothing is changed.
    ///
    /// # Errors
    ///
    /// For a session that was named: NotFound if there is none, Busy, Denied or Conflict if it must
    /// not be archived. Unsupported for a dialect whose sessions cannot be archived.
    pub fn plan_archive(&self, request: &ArchiveRequest) -> AppResult<ArchivePlan> {
        self.answer(|cx| plan_archive(cx, request))
    }

    /// Moves sessions into the vault. Each is passed to the sink when it is done.
    ///
    /// # Errors
    ///
    /// As [`plan_archive`](App::plan_archive). For [`ArchiveRequest::OlderThan`], a session that
    /// fails does not stop the others: if its agent has just resumed it, there is a notice; any
    /// other error is returned after the others are done.
    pub fn archive(
        &self,
        request: &ArchiveRequest,
        sink: &mut dyn FnMut(ArchivedSession) -> Result<()>,
    ) -> AppResult<()> {
        self.answer(|cx| archive(cx, request, sink))
    }
}

fn plan_archive(cx: &RequestContext, request: &ArchiveRequest) -> Result<ArchivePlan> {
    let (conversations, rest) = cx.conversations()?;
    let chosen = chosen(cx, &conversations, request)?;
    warn_about(cx, rest);
    let candidate = |(_, summary): (Resolved, Summary)| ArchiveCandidate {
        name: summary.name(),
        last_active: summary.last_active(),
        session: summary.reference,
    };
    Ok(ArchivePlan {
        sessions: chosen.into_iter().map(candidate).collect(),
        as_of: cx.now,
    })
}

fn archive(
    cx: &RequestContext,
    request: &ArchiveRequest,
    sink: &mut dyn FnMut(ArchivedSession) -> Result<()>,
) -> Result<()> {
    cx.may_write()?;
    let (conversations, rest) = cx.conversations()?;
    let mut failed = None;
    for (found, summary) in chosen(cx, &conversations, request)? {
        match (put_away(cx, &found), request) {
            (Ok(operation), _) => {
                let session = summary.reference;
                let op = OperationShape::new(&operation, "archive", &session);
                sink(ArchivedSession { session, op })?;
            }
            // One of many old sessions that was just resumed must not prevent the others
            // from being archived.
            (Err(error), ArchiveRequest::OlderThan { .. }) => cx.pass_over(error, &mut failed),
            (Err(error), ArchiveRequest::Named(_)) => return Err(error),
        }
    }
    warn_about(cx, rest);
    failed.map_or(Ok(()), Err)
}

fn chosen(
    cx: &RequestContext,
    conversations: &[Conversation],
    request: &ArchiveRequest,
) -> Result<Vec<(Resolved, Summary)>> {
    match request {
        ArchiveRequest::OlderThan { span, dialect } => {
            old(cx, conversations, *span, dialect.as_deref())
        }
        ArchiveRequest::Named(sessions) => sessions
            .iter()
            .map(|session| named(cx, conversations, session))
            .collect(),
    }
}

/// Checks that a named session can be archived.
fn named(
    cx: &RequestContext,
    conversations: &[Conversation],
    session: &str,
) -> Result<(Resolved, Summary)> {
    let found = cx.resolve(session)?;
    cx.refuse_archived(&found.store)?;
    let reference = found.reference();
    let known = conversations
        .iter()
        .flat_map(sides)
        .find(|side| side.reference == reference)
        .cloned();
    let summary = known.map_or_else(|| found.store.summary(&found.location), Ok)?;
    can_remove(&found)?;
    match in_use(&summary, &found) {
        Some((kind, why, advice)) => {
            Err(Error::new(kind, format!("{reference} stays where it is"))
                .because(why)
                .advising(advice))
        }
        None => Ok((found, summary)),
    }
}

/// Returns every session that is old enough, in each store that contains the conversation, and can
/// be archived.
fn old(
    cx: &RequestContext,
    conversations: &[Conversation],
    span: Duration,
    dialect: Option<&str>,
) -> Result<Vec<(Resolved, Summary)>> {
    let span = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    let before = Instant::from_millis(cx.now.millis().saturating_sub(span));
    let mut chosen = Vec::new();
    let is_pinned = |it: &Conversation| sides(it).any(|side| side.meta.is_pinned());
    let is_old =
        |it: &&Conversation| last_active(it).is_some_and(|at| at < before) && !is_pinned(it);
    for conversation in conversations.iter().filter(is_old) {
        for (store, summary) in std::iter::once(&conversation.front).chain(&conversation.linked) {
            let Some(store) = cx
                .stores
                .get(*store)
                .filter(|store| store.archived().is_none())
            else {
                continue;
            };
            if summary.location.owner.is_some()
                || dialect.is_some_and(|it| it != summary.reference.dialect)
            {
                continue;
            }
            let found = Resolved {
                store: store.clone(),
                location: summary.location.clone(),
            };
            match can_remove(&found) {
                Err(error) if dialect.is_some() => return Err(error),
                // An agent whose sessions cannot be archived is no news; a file that cannot be read
                // is.
                Err(error) if error.kind() != ErrorKind::Unsupported => cx.warn(error),
                Ok(()) if in_use(summary, &found).is_none() => {
                    chosen.push((found, summary.clone()))
                }
                _ => {}
            }
        }
    }
    Ok(chosen)
}

/// Returns why a session must not be archived, with the kind of error and the way out: its agent
/// has it open, it is pinned, or its status is `active`.
fn in_use(summary: &Summary, found: &Resolved) -> Option<(ErrorKind, &'static str, Advice)> {
    let session = &summary.reference;
    if !found.store.was_live(&session.id).is_empty() {
        return Some((
            ErrorKind::Busy,
            "its agent is at work on it",
            Advice::CloseAgent,
        ));
    }
    if summary.meta.is_pinned() {
        let tagged = summary.meta.tags.iter().any(|tag| tag == PINNED);
        let unpin = match tagged {
            true => Advice::Unpin {
                session: session.to_string(),
            },
            false => Advice::from("unpin it first in its agent"),
        };
        return Some((ErrorKind::Denied, "it is pinned", unpin));
    }
    if summary.meta.status.as_deref() == Some("active") {
        return Some((
            ErrorKind::Denied,
            "it is active",
            Advice::CompleteSession {
                session: session.to_string(),
            },
        ));
    }
    None
}

fn put_away(cx: &RequestContext, found: &Resolved) -> Result<String> {
    let found = Resolved {
        store: cx.writable(found.store.clone())?,
        location: found.location.clone(),
    };
    let runner = cx.runner()?;
    if found.store.dialect().powers().plans(Capability::Delete) {
        let done = runner.archive(&found.store, &found.location)?;
        planned_change::remark(cx, &done.planned);
        return Ok(done.operation.id);
    }
    let keys = files_of(&found)?;
    let writer = hold(&found)?;
    let reference = found.reference();
    let operation = runner.archive_files(found.store.root(), &keys, &reference)?;
    if let Some(writer) = writer {
        // Nothing is written by this: it only releases the lease.
        let _ = writer.release();
    }
    Ok(operation.id)
}
