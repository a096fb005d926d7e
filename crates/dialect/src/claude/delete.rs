//! Deletes a session with all files that the client stores for it, and its rows in shared files.

use boswell_model::Result;
use boswell_model::json::Raw;

use super::discover;
use super::plan::{log_key, side_folder};
use super::side_files::walk;
use crate::uuid::is_uuid;
use crate::{FileInfo, FileKind, Files, Plan, PlanInput, Planned, Step, without_sessions};

/// Folders in which the client has a subfolder per session id.
const FOLDERS: [&str; 3] = ["file-history", "session-env", "tasks"];

/// Plans a deletion. The prompts stay in the client's history, which belongs to the user; a purge
/// removes them.
pub(super) fn delete(asked: &PlanInput<'_>) -> Result<Planned> {
    let key = log_key(asked.location)?;
    let files = asked.files;
    let mut folders = vec![side_folder(key)];
    let mut alone = vec![key.to_owned()];
    alone.extend(there(files, &format!("{}.meta.json", side_folder(key)))?);
    let id = &asked.location.id;
    if asked.location.hidden != Some("subagent") && is_uuid(id) {
        folders.extend(FOLDERS.iter().map(|folder| format!("{folder}/{id}")));
        let begins = format!("{id}-agent-");
        for info in files.list("todos")? {
            if info.is_file() && info.name().starts_with(&begins) {
                alone.push(info.key);
            }
        }
        alone.extend(there(files, &format!("debug/{id}.txt"))?);
    }
    let mut plan = Plan::new("delete", format!("delete the session {id}"));
    for key in alone {
        plan = plan.step(Step::remove(key));
    }
    for folder in folders {
        let mut inside = Vec::new();
        walk(files, &folder, &mut |info| inside.push(info.key.clone()))?;
        let mut above = subfolders(files, &folder)?;
        // Deepest first: only an empty folder can be removed.
        above.reverse();
        let steps = inside.into_iter().map(Step::remove);
        plan.steps
            .extend(steps.chain(above.into_iter().map(|key| Step::RemoveFolder { key })));
    }
    Ok(Planned::of(plan))
}

/// The prompt history, one line per prompt.
const HISTORY: &str = "history.jsonl";
/// The index from which versions around 2.1.17 list sessions, one per project folder.
const INDEX: &str = "sessions-index.json";

/// Whether a file contains data of several sessions.
pub(super) fn is_shared(key: &str) -> bool {
    matches!(key.rsplit('/').next(), Some(HISTORY | INDEX))
}

/// Returns the shared files that exist. A session whose project was moved may still be in the index
/// of its old folder.
pub(super) fn shared_files(files: &dyn Files) -> Result<Vec<String>> {
    let mut found: Vec<String> = there(files, HISTORY)?.into_iter().collect();
    for project in discover::projects(files)? {
        found.extend(there(files, &format!("{project}/{INDEX}"))?);
    }
    Ok(found)
}

/// Returns a shared file without the data of these sessions.
pub(super) fn without(key: &str, bytes: &[u8], ids: &[String]) -> Option<Vec<u8>> {
    let speaks = |row: Raw<'_>| {
        let id = row.get("sessionId").and_then(|id| id.text());
        id.is_some_and(|id| ids.iter().any(|gone| id.eq_ignore_ascii_case(gone)))
    };
    match key.rsplit('/').next() {
        Some(HISTORY) => Some(without_sessions::lines(bytes, ids, speaks)),
        Some(INDEX) => without_sessions::items(bytes, &["entries"], speaks),
        _ => None,
    }
}

fn there(files: &dyn Files, key: &str) -> Result<Option<String>> {
    Ok(files
        .stat(key)?
        .filter(FileInfo::is_file)
        .map(|info| info.key))
}

/// Returns `folder` and all folders below it, parents first; empty if `folder` does not exist.
///
/// Symbolic links are included: the runner refuses to remove them before it removes anything.
fn subfolders(files: &dyn Files, folder: &str) -> Result<Vec<String>> {
    let goes = |info: &FileInfo| matches!(info.kind, FileKind::Folder | FileKind::Link);
    let mut found: Vec<String> = files
        .stat(folder)?
        .filter(goes)
        .map(|info| info.key)
        .into_iter()
        .collect();
    let mut at = 0;
    while let Some(folder) = found.get(at).cloned() {
        found.extend(
            files
                .list(&folder)?
                .into_iter()
                .filter(goes)
                .map(|info| info.key),
        );
        at += 1;
    }
    Ok(found)
}
