//! Creates a session: a row, as the app writes it. The transcript is created with the first
//! message.

use boswell_model::json::Json;
use boswell_model::{Advice, Error, ErrorKind, RequestInput, Result};

use crate::uuid::is_uuid;
use crate::{Files, IdSource, NewSession, Plan, Planned};

use super::super::index_file::{IndexFile, RowEdit};
use super::super::{id, title, v2};
use super::input::one_line;
use super::transcript::key_of;

pub(super) fn plan(
    files: &dyn Files,
    new: &NewSession,
    id_source: &dyn IdSource,
) -> Result<Planned> {
    let mut index = IndexFile::load(files)?;
    let session = (new.id.as_ref()).map_or_else(|| id_source.uuid_v4(), ToString::to_string);
    is_free(files, &index, &session)?;
    let now = id_source.now();
    let named = new.title.as_deref().map(one_line).transpose()?;
    let row = Json::object()
        .with("id", &session)
        .with("agentDir", &new.project)
        .with("title", named.as_deref().unwrap_or(title::NEW_CHAT))
        .with("createdAt", now.to_rfc3339())
        .with("lastActiveAt", now.to_rfc3339())
        // The engine accepts only UUIDs; for a session with another id it creates a second one with
        // the first prompt.
        .with_some("unifiedSession", is_uuid(&session).then_some(true))
        .with_some("titleSource", named.as_ref().map(|_| "user"))
        .with("runtime", "builtin");
    index.put(&session, RowEdit::of(&row));
    let mut plan = Plan::new("new", format!("make session {session}"));
    plan.steps = index.steps(files, now)?;
    Ok(Planned {
        plan,
        session: Some(session),
        ..Planned::default()
    })
}

/// Fails unless the id is valid and not in use.
pub(super) fn is_free(files: &dyn Files, index: &IndexFile, session: &str) -> Result<()> {
    if !id::is_valid(session) {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!(
                "`{}` is not a session id of MyAgents",
                session.escape_debug()
            ),
        )
        .because("it has 1 to 99 letters, digits and hyphens, and does not start with a hyphen")
        .advising(Advice::Omit(RequestInput::SessionId)));
    }
    let file = [
        key_of(session),
        format!("sessions/{session}.json"),
        v2::key_of(session),
    ]
    .iter()
    .find_map(|key| files.stat(key).transpose())
    .transpose()?;
    if index.row(session).is_none() && file.is_none() {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Conflict,
        format!("there is a session {session} already"),
    )
    .advising(Advice::show(format!("myagents:{session}")).or("give another id")))
}
