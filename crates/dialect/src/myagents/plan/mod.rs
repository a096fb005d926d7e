//! Plans for edit requests on a MyAgents store.
//!
//! Every change is made under the app's own locks, first that of the transcript and then that of
//! the index, in the order of the app. A row is written before its transcript is created, and
//! removed after its transcript is deleted: a concurrent reader sees an empty session, never a file
//! without a row.

mod append;
mod append_operations;
mod create;
mod delete;
mod fork;
mod input;
mod move_project;
mod recover_rewind;
mod reindex;
mod rewind;
mod transcript;

use boswell_model::{Result, SessionId};

use crate::{
    Capability, EditRequest, Files, IdSource, LockSpec, PlanInput, Planned, SessionLocation,
    StoreRequest, unsupported,
};

use super::id;
use input::Work;

const INDEX_LOCK: &str = "sessions.lock";

/// Whether a capability is implemented by a plan; the others are stored in notes.
pub(crate) fn plans(operation: Capability) -> bool {
    matches!(
        operation,
        Capability::Append
            | Capability::Rewind
            | Capability::Fork
            | Capability::Title
            | Capability::Delete
    )
}

/// Returns the locks: our own, then those of the transcripts by id, then that of the index.
pub(crate) fn locks(location: &SessionLocation, request: &EditRequest) -> Vec<LockSpec> {
    let mut ids = vec![location.id.as_str()];
    if let EditRequest::Fork { new, .. } = request {
        ids.extend(new.id.as_ref().map(SessionId::as_str));
    }
    ids.sort_unstable();
    ids.dedup();
    let own = request.own_locks("myagents", &location.id);
    let transcripts = ids.into_iter().map(|of| LockSpec::AgentMkdir {
        key: id::lock_folder(of),
    });
    own.into_iter()
        .chain(transcripts)
        .chain(index_lock())
        .collect()
}

fn index_lock() -> [LockSpec; 1] {
    [LockSpec::AgentMkdir {
        key: INDEX_LOCK.to_owned(),
    }]
}

/// Returns the plan for a request on a session.
pub(crate) fn plan(asked: &PlanInput<'_>, request: &EditRequest) -> Result<Planned> {
    let work = Work::begin(asked)?;
    match request {
        EditRequest::Append(drafts) => append::plan(work, drafts, None),
        EditRequest::AppendAfter { expect, drafts } => append::plan(work, drafts, Some(expect)),
        EditRequest::Title(title) => title_plan(work, title),
        EditRequest::Rewind(tip) => rewind::plan(work, *tip),
        EditRequest::Fork { at, new } => fork::plan(work, *at, new),
        EditRequest::Delete => delete::plan(work),
        EditRequest::Migrate => migrate_plan(work),
        _ => Err(unsupported(
            "myagents",
            "be changed like that",
            "tags, labels and status are kept as notes",
        )),
    }
}

/// Returns the locks for a request on the whole store.
pub(crate) fn store_locks(request: &StoreRequest) -> Vec<LockSpec> {
    let session = match request {
        StoreRequest::Create(new) => new.id.as_ref().map(SessionId::as_str),
        _ => None,
    };
    let transcript = session.map(|of| LockSpec::AgentMkdir {
        key: id::lock_folder(of),
    });
    transcript.into_iter().chain(index_lock()).collect()
}

/// Returns the plan for a request on the whole store.
pub(crate) fn plan_store(
    files: &dyn Files,
    request: &StoreRequest,
    id_source: &dyn IdSource,
) -> Result<Planned> {
    match request {
        StoreRequest::Create(new) => create::plan(files, new, id_source),
        StoreRequest::Move { from, to } => move_project::plan(files, from, to, id_source),
        StoreRequest::Index | StoreRequest::IndexWith { .. } => reindex::plan(files, id_source),
    }
}

/// Plans a new title. A title set by the user is final: the app never replaces it.
fn title_plan(mut work: Work<'_>, title: &str) -> Result<Planned> {
    let title = input::one_line(title)?;
    let mut row = work.row()?;
    row.set("title", title.as_str())?;
    row.set("titleSource", "user")?;
    work.put_row(row);
    work.finish("rename", &format!("call it {title:?}"))
}

/// Plans the migration of a session from before 0.1.4 to a line log, as the app does when it next
/// writes to it.
fn migrate_plan(mut work: Work<'_>) -> Result<Planned> {
    work.refuse_operations()?;
    work.settle()?;
    let steps = work.transcript()?.migrated();
    if steps.is_empty() {
        work.remarks
            .push("it is in the app's newest form already".into());
    }
    work.steps.extend(steps);
    work.finish("migrate", "turn the document into a line log")
}
