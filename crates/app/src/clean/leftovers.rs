//! Orphans of agents: files of sessions that no longer exist, and locks that no process holds.

use boswell_model::{Advice, Error, ErrorKind, Result, SessionRef};
use boswell_store::Store;
use boswell_store::operations::{Executed, Leftovers};

use crate::planned_change::{OperationShape, PlanPreview};
use crate::shape::shape;
use crate::text::one_line;
use crate::{App, AppResult, RequestContext};

shape! {
    /// From `clean`: a stale lock that was or would be removed.
    LockStep: "step" {
        /// what was or would be done
        done: &'static str,
        /// the lock
        path: String,
    }
}

/// The result of one store.
#[derive(Debug)]
pub enum LeftoverEvent {
    /// Files would be moved into the vault.
    Plan(PlanPreview),
    /// Files were moved into the vault.
    Cleared(ClearedLeftovers),
    /// A lock was or would be broken.
    Lock(LockStep),
}

/// Orphaned files that were moved into the vault.
#[derive(Debug)]
pub struct ClearedLeftovers {
    /// The dialect of their store.
    pub dialect: &'static str,
    /// Description of the operation, in one line.
    pub title: String,
    /// Number of files.
    pub files: usize,
    /// What moved them.
    pub operation: OperationShape,
}

/// The totals.
#[derive(Debug, Default)]
pub struct LeftoverSummary {
    /// Number of files and locks.
    pub count: usize,
    /// Ids of the operations that moved files, oldest first.
    pub operations: Vec<String>,
}

/// Receives each event.
pub type LeftoverSink<'s> = &'s mut dyn FnMut(LeftoverEvent) -> Result<()>;

impl App {
    /// Lists orphans in the stores of a dialect. Nothing is written.
    ///
    /// # Errors
    ///
    /// Invalid if there is no such dialect, and every error of `sink`.
    pub fn plan_clean_leftovers(
        &self,
        dialect: &str,
        sink: LeftoverSink<'_>,
    ) -> AppResult<LeftoverSummary> {
        self.answer(|cx| {
            let mut summary = LeftoverSummary::default();
            for store in stores(cx, dialect)? {
                summary.count += plan(cx, store, sink)?;
            }
            Ok(summary)
        })
    }

    /// Moves orphans in the stores of a dialect into the vault, and breaks locks that no process
    /// holds.
    ///
    /// # Errors
    ///
    /// Invalid if there is no such dialect, Denied if nothing may be written, and errors of `sink`.
    pub fn clean_leftovers(
        &self,
        dialect: &str,
        sink: LeftoverSink<'_>,
    ) -> AppResult<LeftoverSummary> {
        self.answer(|cx| {
            let stores = stores(cx, dialect)?;
            cx.may_write()?;
            let mut summary = LeftoverSummary::default();
            for store in stores {
                clear(cx, store, &mut summary, sink)?;
            }
            Ok(summary)
        })
    }
}

fn stores<'c>(cx: &'c RequestContext, dialect: &str) -> Result<Vec<&'c Store>> {
    if boswell_dialect::by_name(dialect).is_none() {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!("there is no dialect `{}`", dialect.escape_debug()),
        )
        .advising(Advice::ListStores));
    }
    let stores = cx.stores.iter().map(|(_, store)| store);
    Ok(stores
        .filter(|store| store.dialect().name() == dialect)
        .collect())
}

fn plan(cx: &RequestContext, store: &Store, sink: LeftoverSink<'_>) -> Result<usize> {
    let (found, planned) = store.plan_clearing()?;
    if !found.orphans.is_empty() {
        sink(LeftoverEvent::Plan(PlanPreview::from(&planned)))?;
    }
    locks(store, &found, "would break", sink)?;
    remark_left_alone(cx, store, &found);
    Ok(found.orphans.len() + found.locks.len())
}

fn clear(
    cx: &RequestContext,
    store: &Store,
    summary: &mut LeftoverSummary,
    sink: LeftoverSink<'_>,
) -> Result<()> {
    let (found, done) = cx.runner()?.clear_leftovers(&cx.writable(store.clone())?)?;
    let files = done.operation.files().len();
    if files > 0 {
        summary.operations.push(done.operation.id.clone());
        sink(LeftoverEvent::Cleared(cleared(store, done, files)))?;
    }
    locks(store, &found, "broke", sink)?;
    remark_left_alone(cx, store, &found);
    summary.count += files + found.locks.len();
    Ok(())
}

fn cleared(store: &Store, done: Executed, files: usize) -> ClearedLeftovers {
    let dialect = store.dialect().name();
    ClearedLeftovers {
        dialect,
        operation: OperationShape::of(&done, &SessionRef::new(dialect, "*")),
        title: done.operation.title,
        files,
    }
}

fn locks(
    store: &Store,
    found: &Leftovers,
    done: &'static str,
    sink: LeftoverSink<'_>,
) -> Result<()> {
    found.locks.iter().try_for_each(|lock| {
        let path = store.backend().describe(&lock.key);
        sink(LeftoverEvent::Lock(LockStep { done, path }))
    })
}

fn remark_left_alone(cx: &RequestContext, store: &Store, found: &Leftovers) {
    for (orphan, why) in &found.left_alone {
        let path = store.backend().describe(&orphan.key);
        cx.remark(format!("`{}` is left alone: {why}", one_line(&path)));
    }
}
