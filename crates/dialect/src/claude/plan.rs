//! Plans for edit requests on the client's files: one function per request.

use boswell_model::{Advice, Error, ErrorKind, RequestInput, Result};

use super::{delete, discover, fork, metadata, set_leaf};
use crate::uuid::is_uuid;
use crate::{Capability, EditRequest, Files, PlanInput, Planned, SessionLocation, unsupported};

/// Whether there is a plan for a capability. Entries are appended by a writer, not by a plan.
pub(super) fn plans(operation: Capability) -> bool {
    matches!(
        operation,
        Capability::Title
            | Capability::Tag
            | Capability::Branch
            | Capability::Rewind
            | Capability::Fork
            | Capability::Delete
    )
}

/// Returns the plan for an edit request.
pub(super) fn plan(asked: &PlanInput<'_>, request: &EditRequest) -> Result<Planned> {
    match request {
        EditRequest::Title(title) => metadata::title(asked, title),
        EditRequest::Tags(tags) => metadata::tags(asked, tags),
        EditRequest::Stand(tip) => set_leaf::stand(asked, *tip),
        EditRequest::Rewind(tip) => set_leaf::rewind(asked, *tip),
        EditRequest::Fork { at, new } => fork::fork(asked, *at, new),
        EditRequest::Delete => delete::delete(asked),
        _ => Err(unsupported(
            "claude",
            "be changed like that",
            Advice::SeeCapabilities,
        )),
    }
}

/// Returns the key of the session's log.
pub(super) fn log_key(location: &SessionLocation) -> Result<&str> {
    location.key.as_deref().ok_or_else(|| {
        Error::new(
            ErrorKind::NotFound,
            format!("the session `{}` has no log", location.id.escape_debug()),
        )
        .advising(Advice::list_all())
    })
}

/// Returns the key of the side folder of a log.
pub(super) fn side_folder(key: &str) -> String {
    key.strip_suffix(".jsonl").unwrap_or(key).to_owned()
}

/// Refuses a request that a subagent's transcript does not support.
pub(super) fn whole_session(location: &SessionLocation, what: &str) -> Result<()> {
    if location.hidden == Some("subagent") {
        return Err(unsupported(
            "claude",
            &format!("{what}: it is a subagent's"),
            "name the session that started it",
        ));
    }
    Ok(())
}

/// Checks that an id is one the client accepts and that no session of any project has it.
pub(super) fn free_id(files: &dyn Files, id: &str) -> Result<()> {
    if !is_uuid(id) {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!("`{}` cannot be the id of a session", id.escape_debug()),
        )
        .because("Claude Code knows its sessions by UUIDs")
        .advising(Advice::Omit(RequestInput::SessionId)));
    }
    let taken = discover::discover(files)?
        .sessions
        .iter()
        .any(|it| it.id.eq_ignore_ascii_case(id));
    if taken {
        return Err(Error::new(
            ErrorKind::Conflict,
            format!("there is a session {id} already"),
        )
        .advising(Advice::append_or_other_id(id)));
    }
    Ok(())
}
