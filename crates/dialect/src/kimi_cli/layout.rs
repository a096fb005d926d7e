//! The layout of kimi-cli's folder.

use boswell_model::json::{Json, Raw};
use boswell_model::{Framing, Result};
use md5::{Digest, Md5};

use crate::members::text;
use crate::{Discovered, FileInfo, Files, SessionLocation};

const INDEX_LIMIT: u64 = 16 << 20;

/// Finds every session, and the contexts that an undo or a compaction left behind.
pub(super) fn discover(files: &dyn Files) -> Result<Discovered> {
    let mut found = Discovered::default();
    let folders = work_folders(files)?;
    for place in files
        .list("sessions")?
        .into_iter()
        .filter(FileInfo::is_folder)
    {
        // Folders of remote machines begin with the name of the connection.
        let hash = place.name().rsplit('_').next().unwrap_or_default();
        let project = folders.iter().find(|(known, _)| known == hash);
        let row = project.map(|(_, path)| Json::object().with("path", path.as_str()).to_bytes());
        for info in files.list(&place.key)? {
            if info.is_folder() {
                of_session(files, &info, row.as_ref(), &mut found)?;
            } else if let (true, Some(id)) = (info.is_file(), info.stem(".jsonl")) {
                found.sessions.push(SessionLocation {
                    row: row.clone(),
                    ..SessionLocation::at(id, &info, Framing::Lines)
                });
            }
        }
    }
    Ok(found)
}

fn of_session(
    files: &dyn Files,
    session: &FileInfo,
    row: Option<&Vec<u8>>,
    found: &mut Discovered,
) -> Result<()> {
    for info in files
        .list(&session.key)?
        .into_iter()
        .filter(FileInfo::is_file)
    {
        let Some(name) = info
            .stem(".jsonl")
            .and_then(|it| it.strip_prefix("context"))
        else {
            continue;
        };
        let id = session.name();
        found.sessions.push(match name.strip_prefix('_') {
            None if name.is_empty() => SessionLocation {
                row: row.cloned(),
                ..SessionLocation::at(id, &info, Framing::Lines)
            },
            Some(number) => SessionLocation {
                row: row.cloned(),
                hidden: Some("replaced"),
                owner: Some(id.to_owned()),
                ..SessionLocation::at(format!("{id}-{number}"), &info, Framing::Lines)
            },
            None => continue,
        });
    }
    Ok(())
}

/// Returns the project folders that the program knows, by the names of their folders here.
fn work_folders(files: &dyn Files) -> Result<Vec<(String, String)>> {
    let bytes = files
        .read_whole("kimi.json", INDEX_LIMIT)?
        .unwrap_or_default();
    let Ok(raw) = Raw::parse(bytes.trim_ascii()) else {
        return Ok(Vec::new());
    };
    let folders = raw.get("work_dirs").into_iter().flat_map(|it| it.items());
    let paths = folders.filter_map(|it| text(it, "path"));
    Ok(paths.map(|path| (hash(&path), path)).collect())
}

fn hash(path: &str) -> String {
    let hash = Md5::digest(path.as_bytes());
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the project that the listing knew.
pub(super) fn project(location: &SessionLocation) -> Option<String> {
    text(Raw::parse(location.row.as_deref()?).ok()?, "path")
}

/// Returns the folder of a session; `None` if the session is a file.
pub(super) fn folder(location: &SessionLocation) -> Option<&str> {
    let (folder, name) = location.key.as_deref()?.rsplit_once('/')?;
    (name == "context.jsonl").then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_folder_is_named_by_its_hash() {
        assert_eq!(hash("/srv/demo"), "53047a12773840031095a19f6edff059");
    }
}
