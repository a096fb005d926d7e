//! Deletes a session: first its files, last its row.

use boswell_model::{Error, ErrorKind, Result};

use crate::{Planned, SideKind, Step};

use super::super::attachment::TOOL_FILES;
use super::super::{layout, visibility};
use super::input::Work;

/// Plans a deletion. The app leaves attachments behind; here they are deleted too, and undo
/// restores them.
pub(super) fn plan(mut work: Work<'_>) -> Result<Planned> {
    if work.is_operations() {
        work.refuse_while_app_runs()?;
    }
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
    let attached = side.iter().filter(|file| file.kind == SideKind::Attachment);
    let folders = attached.filter_map(|file| file.key.rsplit_once('/'));
    let mut folders: Vec<String> = folders.map(|(folder, _)| folder.to_owned()).collect();
    folders.dedup();
    if folders.iter().any(|folder| folder.starts_with(TOOL_FILES)) {
        folders.push(format!("{TOOL_FILES}/{}", work.id()));
    }
    let removed = folders.into_iter().map(|key| Step::RemoveFolder { key });
    work.steps.extend(removed);
    let id = work.id();
    work.index.remove(id);
    let title = format!("delete session {id}");
    work.finish("delete", &title)
}
