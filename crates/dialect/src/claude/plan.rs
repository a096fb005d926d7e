//! What has to happen in the client's files for an intention to come true.

use boswell_model::{Error, ErrorKind, Result};

use super::{delete, discover, fork, metadata, stand};
use crate::uuid::is_uuid;
use crate::{Asked, Files, Intention, Located, Operation, Planned, unsupported};

/// Whether there is a plan for an operation. Entries are appended by a writer.
pub(super) fn plans(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Title
            | Operation::Tag
            | Operation::Branch
            | Operation::Rewind
            | Operation::Fork
            | Operation::Delete
    )
}

/// The plan for an intention.
pub(super) fn plan(asked: &Asked<'_>, intention: &Intention) -> Result<Planned> {
    match intention {
        Intention::Title(title) => metadata::title(asked, title),
        Intention::Tags(tags) => metadata::tags(asked, tags),
        Intention::Stand(tip) => stand::stand(asked, *tip),
        Intention::Rewind(tip) => stand::rewind(asked, *tip),
        Intention::Fork { at, new } => fork::fork(asked, *at, new),
        Intention::Delete => delete::delete(asked),
        _ => Err(unsupported(
            "claude",
            "be changed like that",
            "see what each store can with `boswell stores`",
        )),
    }
}

/// Key of the session's log.
pub(super) fn log_key(located: &Located) -> Result<&str> {
    located.key.as_deref().ok_or_else(|| {
        Error::new(
            ErrorKind::NotFound,
            format!("the session `{}` has no log", located.id.escape_debug()),
        )
        .hinting("see the sessions with `boswell list --hidden`")
    })
}

/// The folder beside a log.
pub(super) fn side_folder(key: &str) -> String {
    key.strip_suffix(".jsonl").unwrap_or(key).to_owned()
}

/// Refuses what only a session of its own can do.
pub(super) fn whole_session(located: &Located, what: &str) -> Result<()> {
    if located.hidden == Some("subagent") {
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
        .hinting("leave --id out to have one made"));
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
        .hinting(format!(
            "append to it with `boswell append {id}`, or leave --id out"
        )));
    }
    Ok(())
}
