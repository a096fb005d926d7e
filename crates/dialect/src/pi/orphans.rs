//! Finds orphans: artifact folders of sessions that no longer exist.

use std::collections::HashSet;

use boswell_model::Result;

use super::layout::{artifacts_of, projects};
use crate::{Files, Orphan, SessionLocation};

/// Returns the folders in project folders that have the name of a log that does not exist.
pub(super) fn orphans(files: &dyn Files, found: &[SessionLocation]) -> Result<Vec<Orphan>> {
    let stem = |key: &str| {
        key.rsplit('/')
            .next()
            .and_then(|name| name.strip_suffix(".jsonl"))
            .map(str::to_owned)
    };
    let logs: HashSet<String> = found
        .iter()
        .filter_map(|it| stem(it.key.as_deref()?))
        .collect();
    let mut orphans = Vec::new();
    for project in projects(files)? {
        for info in files.list(&project)? {
            // A folder whose name contains no session id does not belong to this program.
            if let Some(session) = artifacts_of(&info).filter(|_| !logs.contains(info.name())) {
                orphans.extend(Orphan::folder(
                    files,
                    &info.key,
                    Some(session),
                    "artifacts",
                )?);
            }
        }
    }
    Ok(orphans)
}

#[cfg(test)]
mod tests {
    use super::super::layout;
    use super::*;
    use crate::MemoryFiles;

    #[test]
    fn artifacts_without_a_log_anywhere_are_orphaned_and_other_folders_are_not() {
        let mut files = MemoryFiles::default();
        for key in [
            "sessions/--p--/2026-02-16T10-20-30-000Z_here.jsonl",
            "sessions/--p--/2026-02-16T10-20-30-000Z_here/1.bash.log",
            "sessions/--q--/2026-02-16T10-20-30-000Z_here/2.bash.log",
            "sessions/--p--/2026-02-17T10-20-30-000Z_gone/0-Explore.jsonl",
            "sessions/--p--/2026-02-17T10-20-30-000Z_gone/deep/1.bash.log",
            "sessions/--p--/backup/x.txt",
        ] {
            files.put(key, "abc", None);
        }
        let found = layout::discover(&files).unwrap();
        let left = orphans(&files, &found.sessions).unwrap();
        let told: Vec<_> = left
            .iter()
            .map(|it| (it.session.as_deref(), it.files.len(), it.folders.len()))
            .collect();
        assert_eq!(told, [(Some("gone"), 2, 2)]);
    }
}
