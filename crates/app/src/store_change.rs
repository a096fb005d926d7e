//! Changes of whole stores, in every store that knows how: planned first, carried out on request.

use boswell_dialect::StoreRequest;
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::Store;
use boswell_store::operations::Executed;

use crate::RequestContext;
use crate::planned_change::{self, PlanPreview};
use crate::shape::shape;

shape! {
    /// A step, applied or planned.
    ChangeStep: "step" {
        /// what it does
        does: String,
    }

    /// A change of a whole store that was applied.
    StoreChangeOp: "op" {
        /// id of the operation
        op: String,
        /// what was done
        kind: String,
        /// DIALECT:*
        session: String,
        /// the last entry that was written, if there is one
        entry: Option<String>,
    }
}

impl ChangeStep {
    /// A step that does this.
    pub fn new(does: impl Into<String>) -> ChangeStep {
        ChangeStep { does: does.into() }
    }
}

/// What is handed over while stores are changed.
#[derive(Debug, Clone)]
pub enum StoreChange {
    /// What would change in a store.
    Planned(PlanPreview),
    /// What changed in a store.
    Changed(ChangedStore),
    /// What changes or changed in boswell's own folder.
    Step(ChangeStep),
}

/// A store that was changed.
#[derive(Debug, Clone)]
pub struct ChangedStore {
    /// Whose store it is.
    pub dialect: String,
    /// What was done to it.
    pub title: String,
    /// How many files were changed.
    pub files: usize,
    /// The operation.
    pub op: StoreChangeOp,
}

/// What became of a change of all stores.
#[derive(Debug, Default)]
pub struct StoreChanges {
    /// Stores in which something changes, or changed.
    pub changed: usize,
    /// Ids of the operations that were carried out, oldest first.
    pub operations: Vec<String>,
    /// Names of stores that do not know how.
    pub left_out: Vec<&'static str>,
    /// What could not be read, and stays as it is.
    pub unread: Vec<Error>,
}

/// What happens to the other stores if one of them fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnStoreError {
    /// They are left alone.
    Stop,
    /// They are changed all the same.
    GoOn,
}

/// Whether a change is only planned or carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeMode {
    /// Nothing is written.
    Plan,
    /// The change is planned again under the locks of the store, and carried out.
    Apply,
}

/// What is wanted of a store.
pub type WantedChange<'w> = dyn Fn(&Store) -> StoreRequest + 'w;

/// Receives what would change, or what changed, store by store.
pub type StoreChangeSink<'s> = dyn FnMut(StoreChange) -> Result<()> + 's;

/// Plans or carries out a change in every store.
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
        let planned = match cx.planning(store.clone()).plan_store(request) {
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
        let unread = planned.left_out.iter().map(|(path, why)| {
            Error::new(ErrorKind::Denied, format!("`{path}` was left as it is"))
                .because(why.clone())
                .hinting("make it readable, and try again")
        });
        changes.unread.extend(unread);
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
        let done = cx
            .runner()?
            .execute_store(&cx.writable(store.clone())?, request)?;
        planned_change::remark(cx, &done.planned);
        changes.operations.push(done.operation.id.clone());
        sink(StoreChange::Changed(changed(&done, store)))?;
    }
    Ok(changes)
}

fn changed(done: &Executed, store: &Store) -> ChangedStore {
    let session = SessionRef::new(store.dialect().name(), "*");
    ChangedStore {
        title: done.operation.title.clone(),
        files: done.operation.files().len(),
        op: StoreChangeOp {
            op: done.operation.id.clone(),
            kind: done.operation.kind.clone(),
            session: session.to_string(),
            entry: done.planned.entries.last().cloned(),
        },
        dialect: session.dialect,
    }
}
