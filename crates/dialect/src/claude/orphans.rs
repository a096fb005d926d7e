//! Finds orphans: side files of sessions that no longer exist. Some versions left them when they
//! deleted sessions, and so does a user who removes a log by hand.

use std::collections::HashSet;

use boswell_model::Result;

use super::discover::projects;
use crate::uuid::is_uuid;
use crate::{FileInfo, Files, Orphan, SessionLocation};

/// Folders of the configuration with files per session id, and a description of those files.
const BESIDE: [(&str, &str); 2] = [
    ("file-history", "copies of files"),
    ("tasks", "lists of tasks"),
];

/// Returns every file that has the id of a session without a log.
///
/// After a session was moved, its log may be in another project's folder than its side files; those
/// are not orphans.
pub(super) fn orphans(files: &dyn Files, found: &[SessionLocation]) -> Result<Vec<Orphan>> {
    let logs: HashSet<&str> = found
        .iter()
        .filter(|it| it.owner.is_none())
        .map(|it| it.id.as_str())
        .collect();
    let is_gone =
        |info: &FileInfo| info.is_folder() && is_uuid(info.name()) && !logs.contains(info.name());
    let mut orphans = Vec::new();
    for project in projects(files)? {
        for info in files.list(&project)?.iter().filter(|info| is_gone(info)) {
            let what = "subagents, outputs of tools and the like";
            orphans.extend(Orphan::folder(files, &info.key, Some(info.name()), what)?);
        }
    }
    for (folder, what) in BESIDE {
        for info in files.list(folder)?.iter().filter(|info| is_gone(info)) {
            let left = Orphan::folder(files, &info.key, Some(info.name()), what)?;
            // The client creates a lock file before it creates the list.
            orphans
                .extend(left.filter(|left| left.files.iter().any(|key| !key.ends_with("/.lock"))));
        }
    }
    Ok(orphans)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryFiles;

    const HERE: &str = "aaaaaaaa-0001-4001-8001-000000000001";
    const GONE: &str = "bbbbbbbb-0001-4001-8001-000000000002";

    #[test]
    fn only_files_of_sessions_without_a_log_anywhere_are_orphaned() {
        let mut files = MemoryFiles::default();
        for key in [
            format!("projects/-w/{HERE}.jsonl"),
            format!("projects/-w/{HERE}/tool-results/a.txt"),
            // Files that a move left in another project still have their session.
            format!("projects/-other/{HERE}/subagents/agent-a.jsonl"),
            format!("file-history/{HERE}/0@v1"),
            format!("projects/-w/{GONE}/subagents/agent-b.jsonl"),
            format!("projects/-w/{GONE}/tool-results/b.txt"),
            format!("file-history/{GONE}/1@v1"),
            format!("tasks/{GONE}/.lock"),
            "projects/-w/memory/MEMORY.md".to_owned(),
            "tasks/shared-list/1.json".to_owned(),
        ] {
            files.put(&key, "abc", None);
        }
        let found = super::super::discover::discover(&files).unwrap();
        let left = orphans(&files, &found.sessions).unwrap();
        let told: Vec<_> = left
            .iter()
            .map(|it| (it.key.as_str(), it.files.len(), it.bytes))
            .collect();
        let (side, copies) = (
            format!("projects/-w/{GONE}"),
            format!("file-history/{GONE}"),
        );
        assert_eq!(told, [(side.as_str(), 2, 6), (copies.as_str(), 1, 3)]);
        assert!(left.iter().all(|it| it.session.as_deref() == Some(GONE)));
    }
}
