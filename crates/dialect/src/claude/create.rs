//! Creates a session in the folder of its project.

use boswell_model::{Advice, Error, ErrorKind, Remark, RequestInput, Result};

use super::plan::{free_id, side_folder};
use super::{discover, encode, metadata};
use crate::{Files, IdSource, NewSession, Plan, Planned, Precondition, Step};

/// Plans a new session.
pub(super) fn create(
    files: &dyn Files,
    new: &NewSession,
    id_source: &dyn IdSource,
) -> Result<Planned> {
    if !new.project.starts_with(['/', '\\']) && !new.project.contains(':') {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!("`{}` is not an absolute path", new.project.escape_debug()),
        )
        .advising(Advice::Give(RequestInput::Project)));
    }
    let id = (new.id.as_ref()).map_or_else(|| id_source.uuid_v4(), ToString::to_string);
    free_id(files, &id)?;
    let log = encode::new_log(new, &id, id_source.now())?;
    let key = discover::below_root(files, &log.key)?;
    let mut plan = Plan::new("new", "make a session")
        .requiring(Precondition::Absent { key: key.clone() })
        .step(Step::put(&key, log.bytes));
    if let Some(title) = &new.title {
        plan = plan.step(metadata::sidecar(
            &side_folder(&key),
            &metadata::clean_title(title)?,
        ));
    }
    let remarks = vec![
        Remark::new("Claude Code lists it once it contains a message")
            .advising(Advice::AppendTo { session: None }),
    ];
    Ok(Planned {
        plan,
        session: Some(id),
        remarks,
        ..Planned::default()
    })
}
