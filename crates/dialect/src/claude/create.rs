//! Creates a session in the folder of its project.

use boswell_model::{Error, ErrorKind, Result};

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
            format!("`{}` is no absolute folder", new.project.escape_debug()),
        )
        .hinting("say where the session is held with `--project DIR`"));
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
    let remarks =
        vec!["Claude Code takes it up once something was said in it: `boswell append`".to_owned()];
    Ok(Planned {
        plan,
        session: Some(id),
        remarks,
        ..Planned::default()
    })
}
