//! Sessions with a folder of their own: the other files in it.

use boswell_model::Result;

use crate::{Files, SessionLocation, SideFile, SideKind};

/// Returns every other file in the folder of a session's log, and in the folders below it.
pub(crate) fn next_to(files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>> {
    match location.key.as_deref().and_then(|key| key.rsplit_once('/')) {
        Some((folder, _)) => below(files, folder, location),
        None => Ok(Vec::new()),
    }
}

/// Returns every file below a folder, except the session's log.
pub(crate) fn below(
    files: &dyn Files,
    folder: &str,
    location: &SessionLocation,
) -> Result<Vec<SideFile>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for info in files.list(&folder)? {
            if info.is_folder() {
                open.push(info.key);
            } else if info.is_file() && Some(&info.key) != location.key.as_ref() {
                found.push(SideFile {
                    key: info.key,
                    kind: SideKind::Meta,
                    size: info.size,
                });
            }
        }
    }
    Ok(found)
}
