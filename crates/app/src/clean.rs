//! Moves old sessions into the vault, removes old copies from it, and removes orphans of agents.
//!
//! `--older-than` takes sessions that are neither pinned nor `active`; `--vault` removes copies
//! that are older than the settings under `retention` (the store's `vault/retention.rs`);
//! `--leftovers` is in `clean/leftovers.rs`.

mod leftovers;

use std::time::Duration;

use boswell_model::{Instant, Result, SessionRef};
use boswell_store::links::Conversation;
use boswell_store::store::{Resolved, Summary};
use boswell_store::vault::Retention;

pub use self::leftovers::{
    ClearedLeftovers, LeftoverEvent, LeftoverSink, LeftoverSummary, LockStep,
};

use crate::delete::{can_remove, remove};
use crate::list::warn_about;
use crate::planned_change::OperationShape;
use crate::shape::shape;
use crate::{App, AppResult, RequestContext};

/// A request to clean up old sessions.
#[derive(Debug, Clone)]
pub struct CleanRequest {
    /// Only sessions last active longer ago than this.
    pub older_than: Duration,
    /// Only sessions of this dialect.
    pub dialect: String,
}

shape! {
    /// From `clean`: a session that would be moved into the vault.
    CleanStep: "step" {
        /// what would be done
        done: &'static str,
        /// the session
        session: String,
        /// time of the last entry
        last_active: Option<Instant>,
    }

    /// From `clean --vault`: copies that were or would be dropped from the vault.
    VaultStep: "step" {
        /// what was or would be done
        done: &'static str,
        /// how many copies
        records: usize,
        /// how many files of the vault were removed; `null` in a plan
        objects: Option<usize>,
        /// how many bytes were freed; `null` in a plan
        bytes: Option<u64>,
    }
}

/// A session that would be moved into the vault.
#[derive(Debug)]
pub struct OldSession {
    /// Name of the session in lists.
    pub name: String,
    /// Time of the listing.
    pub as_of: Instant,
    /// The other members of the JSON shape.
    pub step: CleanStep,
}

/// A session that was moved into the vault.
#[derive(Debug)]
pub struct CleanedSession {
    /// The session, by which it can be restored.
    pub reference: SessionRef,
    /// What moved it.
    pub operation: OperationShape,
}

impl App {
    /// Lists old sessions and returns their number. Nothing is written.
    ///
    /// # Errors
    ///
    /// Unsupported if sessions of that dialect cannot be deleted, and every error of `sink`.
    pub fn plan_clean(
        &self,
        request: &CleanRequest,
        sink: &mut dyn FnMut(OldSession) -> Result<()>,
    ) -> AppResult<usize> {
        self.answer(|cx| {
            each_old(cx, request, &mut |found, summary| {
                can_remove(&found)?;
                sink(OldSession::new(cx, summary))
            })
        })
    }

    /// Moves old sessions into the vault, and returns their number. A session that cannot be moved
    /// does not stop the others.
    ///
    /// # Errors
    ///
    /// Denied if nothing may be written, errors of `sink`, and, after all others are moved, the
    /// first error. A session that its agent has just resumed is a notice.
    pub fn clean(
        &self,
        request: &CleanRequest,
        sink: &mut dyn FnMut(CleanedSession) -> Result<()>,
    ) -> AppResult<usize> {
        self.answer(|cx| clean(cx, request, sink))
    }

    /// Counts the copies that are older than the `retention` settings allow. Nothing is written.
    ///
    /// # Errors
    ///
    /// Invalid without a home, Damaged if the vault's list cannot be read.
    pub fn plan_clean_vault(&self) -> AppResult<VaultStep> {
        self.answer(|cx| {
            let vault = cx.reading_runner()?;
            let expiring = vault.vault().expiring(cx.now, &retention(cx))?;
            Ok(VaultStep {
                done: "would drop",
                records: expiring.len(),
                objects: None,
                bytes: None,
            })
        })
    }

    /// Removes copies from the vault that are older than the `retention` settings allow.
    ///
    /// # Errors
    ///
    /// As [`plan_clean_vault`](App::plan_clean_vault), and Denied if nothing may be written.
    pub fn clean_vault(&self) -> AppResult<VaultStep> {
        self.answer(|cx| {
            let runner = cx.reading_runner()?;
            cx.may_write()?;
            let gone = runner.vault().expire(cx.now, &retention(cx))?;
            Ok(VaultStep {
                done: "dropped",
                records: gone.records,
                objects: Some(gone.objects),
                bytes: Some(gone.bytes),
            })
        })
    }
}

fn clean(
    cx: &RequestContext,
    request: &CleanRequest,
    sink: &mut dyn FnMut(CleanedSession) -> Result<()>,
) -> Result<usize> {
    cx.may_write()?;
    let (mut first, mut moved) = (None, 0);
    each_old(cx, request, &mut |found, summary| {
        let found = Resolved {
            store: cx.writable(found.store)?,
            location: found.location,
        };
        match remove(cx, &found) {
            Ok(operation) => {
                moved += 1;
                sink(CleanedSession::new(&summary.reference, &operation))
            }
            Err(error) => {
                cx.pass_over(error, &mut first);
                Ok(())
            }
        }
    })?;
    first.map_or(Ok(moved), Err)
}

/// Calls the sink with every old session, and returns their number.
fn each_old(
    cx: &RequestContext,
    request: &CleanRequest,
    take: &mut dyn FnMut(Resolved, &Summary) -> Result<()>,
) -> Result<usize> {
    let span = i64::try_from(request.older_than.as_millis()).unwrap_or(i64::MAX);
    let before = Instant::from_millis(cx.now.millis().saturating_sub(span));
    let (conversations, rest) = cx.conversations()?;
    let mut count = 0;
    let fronts = conversations.iter().filter(|it| {
        let summary = &it.front.1;
        summary.reference.dialect == request.dialect && is_old(summary, before)
    });
    for conversation in fronts {
        if let Some(found) = in_place(cx, conversation) {
            count += 1;
            take(found, &conversation.front.1)?;
        }
    }
    warn_about(cx, rest);
    Ok(count)
}

/// Returns the front of a conversation, unless it is already in the vault.
fn in_place(cx: &RequestContext, conversation: &Conversation) -> Option<Resolved> {
    let (id, summary) = &conversation.front;
    let store = cx.stores.get(*id)?;
    store.archived().is_none().then(|| Resolved {
        store: store.clone(),
        location: summary.location.clone(),
    })
}

/// Whether a session is old, and neither active nor pinned. If a process writes it, the lease
/// refuses the move later.
fn is_old(summary: &Summary, before: Instant) -> bool {
    let kept = summary.meta.is_pinned() || summary.meta.status.as_deref() == Some("active");
    !kept && summary.last_active().is_some_and(|at| at < before)
}

/// Returns how long copies stay in the vault.
fn retention(cx: &RequestContext) -> Retention {
    let days = |key: &str| {
        let span = cx.config.span(&format!("retention.{key}"))?;
        u32::try_from(span.as_secs() / 86_400).ok()
    };
    Retention {
        before: days("before"),
        deleted: days("deleted"),
        archived: days("archived"),
        kept: days("kept"),
    }
}

impl OldSession {
    fn new(cx: &RequestContext, summary: &Summary) -> OldSession {
        OldSession {
            name: summary.name(),
            as_of: cx.now,
            step: CleanStep {
                done: "would delete",
                session: summary.reference.to_string(),
                last_active: summary.last_active(),
            },
        }
    }
}

impl CleanedSession {
    fn new(reference: &SessionRef, operation: &str) -> CleanedSession {
        CleanedSession {
            operation: OperationShape::new(operation, "delete", reference),
            reference: reference.clone(),
        }
    }
}
