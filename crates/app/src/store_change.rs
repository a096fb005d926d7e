//! Changes of whole stores, in every store that supports them: planned first, executed on request.
//!
//! `move`, `index --native` and `clean` make one operation in each store.

use boswell_dialect::StoreRequest;
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::Store;
use boswell_store::operations::Executed;

use crate::RequestContext;
use crate::planned_change::{self, OperationShape, PlanPreview};
use crate::shape::shape;

shape! {
    /// A step, applied or planned.
    ChangeStep: "step" {
        /// what it does
        does: String,
    }
}

impl ChangeStep {
    /// Creates a step with this description.
    pub fn new(does: impl Into<String>) -> ChangeStep {
        ChangeStep { does: does.into() }
    }
}

/// An event while stores are changed.
#[derive(Debug, Clone)]
pub enum StoreChange {
    /// The plan of a store.
    Planned(PlanPreview),
    /// A changed store.
    Changed(ChangedStore),
    /// A planned or executed change of boswell's own home.
    Step(ChangeStep),
}

/// A store that was changed.
#[derive(Debug, Clone)]
pub struct ChangedStore {
    /// Dialect of the store.
    pub dialect: String,
    /// Description of the change.
    pub title: String,
    /// Number of changed files.
    pub files: usize,
    /// The operation.
    pub op: OperationShape,
}

/// The result of a change of all stores.
#[derive(Debug, Default)]
pub struct StoreChanges {
    /// Number of stores that are or would be changed.
    pub changed: usize,
    /// Ids of the executed operations, oldest first.
    pub operations: Vec<String>,
    /// Names of stores that do not support the change.
    pub left_out: Vec<&'static str>,
    /// Files that could not be read, and stay unchanged.
    pub unread: Vec<Error>,
}

/// What happens to the other stores if one fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnStoreError {
    /// They are not changed.
    Stop,
    /// They are changed all the same.
    GoOn,
}

/// Whether a change is only planned or executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeMode {
    /// Nothing is written.
    Plan,
    /// The change is planned again under the locks of the store, and executed.
    Apply,
}

/// Returns the request for a store.
pub type WantedChange<'w> = dyn Fn(&Store) -> StoreRequest + 'w;

/// Receives the planned or executed change of each store.
pub type StoreChangeSink<'s> = dyn FnMut(StoreChange) -> Result<()> + 's;

/// Plans or executes a change in every store.
pub(crate) fn each(
    cx: &RequestContext,
    wanted: &WantedChange<'_>,
    mode: ChangeMode,
    on_error: OnStoreError,
    sink: &mut StoreChangeSink<'_>,
) -> Result<StoreChanges> {
    let mut changes = StoreChanges::default();
    for (_, store) in cx.stores.iter() {
        let request = &wanted(store);
        let planned = match store.plan_store(request) {
            Ok(planned) => planned,
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                changes.left_out.push(store.dialect().name());
                continue;
            }
            Err(error) if on_error == OnStoreError::GoOn => {
                changes.unread.push(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        for (path, why) in &planned.left_out {
            let error = Error::new(ErrorKind::Denied, format!("`{path}` was left as it is"))
                .because(why.clone())
                .advising("make it readable, and try again");
            changes.unread.push(error);
        }
        if planned.plan.steps.is_empty() {
            planned_change::remark(cx, &planned);
            continue;
        }
        changes.changed += 1;
        if mode == ChangeMode::Plan {
            sink(StoreChange::Planned(PlanPreview::from(&planned)))?;
            planned_change::remark(cx, &planned);
            continue;
        }
        let done = carry_out(cx, store, request)?;
        changes.operations.push(done.operation.id.clone());
        sink(StoreChange::Changed(changed(&done, store)))?;
    }
    Ok(changes)
}

fn carry_out(cx: &RequestContext, store: &Store, request: &StoreRequest) -> Result<Executed> {
    let writable = cx.writable(store.clone())?;
    let done = cx.runner()?.execute_store(&writable, request)?;
    planned_change::remark(cx, &done.planned);
    Ok(done)
}

fn changed(done: &Executed, store: &Store) -> ChangedStore {
    let session = SessionRef::new(store.dialect().name(), "*");
    ChangedStore {
        title: done.operation.title.clone(),
        files: done.operation.files().len(),
        op: OperationShape::of(done, &session),
        dialect: session.dialect,
    }
}
