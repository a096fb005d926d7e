//! Removes a session with everything that the client keeps for it.

use boswell_model::Result;

use super::discover;
use super::plan::{log_key, side_folder};
use super::side_files::walk;
use crate::{Asked, FileInfo, FileKind, Files, Plan, Planned, Step};

/// Folders in which the client keeps something under the id of a session.
const FOLDERS: [&str; 3] = ["file-history", "session-env", "tasks"];

/// The plan for a removal. Prompts stay in the client's history: it has no owner but the user.
pub(super) fn delete(asked: &Asked<'_>) -> Result<Planned> {
    let key = log_key(asked.located)?;
    let files = asked.files;
    let mut folders = vec![side_folder(key)];
    let mut alone = vec![key.to_owned()];
    alone.extend(there(files, &format!("{}.meta.json", side_folder(key)))?);
    if asked.located.hidden != Some("subagent") && discover::is_uuid(&asked.located.id) {
        folders.extend(FOLDERS.iter().map(|folder| format!("{folder}/{}", asked.located.id)));
        let begins = format!("{}-agent-", asked.located.id);
        let todos = files.list("todos")?.into_iter().filter(|info| info.is_file() && info.name().starts_with(&begins));
        alone.extend(todos.map(|info| info.key));
        alone.extend(there(files, &format!("debug/{}.txt", asked.located.id))?);
    }
    let mut plan = Plan::new("delete", format!("delete the session {}", asked.located.id));
    for key in alone {
        plan = plan.step(Step::remove(key));
    }
    for folder in folders {
        let mut inside = Vec::new();
        walk(files, &folder, &mut |info| inside.push(info.key.clone()))?;
        let mut above = subfolders(files, &folder)?;
        // The deepest first: a folder goes when it is empty.
        above.reverse();
        let steps = inside.into_iter().map(Step::remove);
        plan.steps.extend(steps.chain(above.into_iter().map(|key| Step::RemoveFolder { key })));
    }
    Ok(Planned::of(plan))
}

fn there(files: &dyn Files, key: &str) -> Result<Option<String>> {
    Ok(files.stat(key)?.filter(FileInfo::is_file).map(|info| info.key))
}

/// The folder and those below it, each after the one that it lies in; none if there is no such folder.
///
/// Links that lead elsewhere are among them: the runner refuses to remove them, before it removes anything.
fn subfolders(files: &dyn Files, folder: &str) -> Result<Vec<String>> {
    let goes = |info: &FileInfo| matches!(info.kind, FileKind::Folder | FileKind::Link);
    let mut found: Vec<String> = files.stat(folder)?.filter(goes).map(|info| info.key).into_iter().collect();
    let mut at = 0;
    while let Some(folder) = found.get(at).cloned() {
        found.extend(files.list(&folder)?.into_iter().filter(goes).map(|info| info.key));
        at += 1;
    }
    Ok(found)
}
