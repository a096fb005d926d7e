//! Deletes a session: first its files, last its row.

use boswell_model::{Error, ErrorKind, Result};

use crate::{Planned, SideKind, Step};

use super::super::{layout, visibility};
use super::input::Work;

/// Plans a deletion. The app leaves attachments behind; here they are deleted too, and undo
/// restores them.
pub(super) fn plan(mut work: Work<'_>) -> Result<Planned> {
    work.refuse_newer()?;
    if work
        .index
        .row(work.id())
        .is_some_and(|row| visibility::is_maintenance(row.raw()))
    {
        return Err(Error::new(
            ErrorKind::Denied,
            format!("session {} is kept by MyAgents for itself", work.id()),
        )
        .advising("leave it to MyAgents"));
    }
    let location = work.asked.location;
    work.steps.extend(location.key.iter().map(Step::remove));
    let side = layout::side_files(work.asked.files, location)?;
    work.steps
        .extend(side.iter().map(|file| Step::remove(&file.key)));
    if side.iter().any(|file| file.kind == SideKind::Attachment) {
        work.steps.push(Step::RemoveFolder {
            key: format!("attachments/{}", work.id()),
        });
    }
    let id = work.id();
    work.index.remove(id);
    let title = format!("delete session {id}");
    work.finish("delete", &title)
}
