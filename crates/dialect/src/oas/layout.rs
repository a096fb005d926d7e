//! The layout of an open-agent-sdk store: a folder per project, and an older flat one.

use std::collections::BTreeSet;

use boswell_model::{Framing, Problem, ProblemKind, Result};

use crate::uuid::is_uuid;
use crate::{Discovered, Files, SessionLocation};

use super::index;

/// Finds every session by its file. The name of a project's folder is not decoded: the header
/// contains the path.
pub(crate) fn discover(files: &dyn Files) -> Result<Discovered> {
    let mut found = Discovered::default();
    for folder in folders(files)? {
        discover_in(files, &folder, &mut found)?;
    }
    Ok(found)
}

/// Returns every folder that may contain sessions: one per project, and the flat one.
pub(crate) fn folders(files: &dyn Files) -> Result<Vec<String>> {
    let projects = files.list("projects")?;
    let mut folders: Vec<String> = projects
        .into_iter()
        .filter(|info| info.is_folder())
        .map(|info| info.key)
        .collect();
    folders.push("sessions".to_owned());
    Ok(folders)
}

/// Returns the folder name of a project: only `/` is replaced.
pub(crate) fn folder_for(project: &str) -> String {
    format!("projects/{}", project.replace('/', "-"))
}

/// Returns the sessions of one folder.
pub(crate) fn sessions_in(files: &dyn Files, folder: &str) -> Result<Vec<SessionLocation>> {
    let is_one = |info: &crate::FileInfo| {
        let id = info
            .stem(".jsonl")
            .filter(|id| is_uuid(id) && info.is_file())?;
        Some(SessionLocation::at(id, info, Framing::Lines))
    };
    Ok(files.list(folder)?.iter().filter_map(is_one).collect())
}

fn discover_in(files: &dyn Files, folder: &str, found: &mut Discovered) -> Result<()> {
    let mut sessions = BTreeSet::new();
    for info in files.list(folder)? {
        let Some(session) = info.stem(".jsonl").filter(|_| !info.is_folder()) else {
            continue;
        };
        let trouble = if !is_uuid(session) {
            Some("its name is not a session id, so it is not listed; it can be read by its path")
        } else if !info.is_file() {
            Some("it is not a regular file")
        } else {
            None
        };
        match trouble {
            Some(detail) => {
                found.problems.push((
                    info.key.clone(),
                    Problem::of_file(ProblemKind::Unreadable, detail),
                ));
            }
            None => {
                sessions.insert(session.to_lowercase());
                found
                    .sessions
                    .push(SessionLocation::at(session, &info, Framing::Lines));
            }
        }
    }
    index::compare(files, folder, &sessions, &mut found.problems);
    Ok(())
}
