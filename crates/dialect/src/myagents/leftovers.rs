//! Finds orphans: files of deleted sessions, and locks that the app left.

use std::collections::HashSet;

use boswell_model::Result;

use crate::{FileInfo, Files, Orphan, SessionLocation};

use super::attachment::TOOL_FILES;
use super::v2;

/// Folders that contain lock folders; that of the index is in the root.
const LOCKS: [&str; 2] = ["session-locks", ""];

/// Returns attachments and partial transcripts of sessions that have neither a row nor a
/// transcript, and broken locks.
pub(super) fn orphans(files: &dyn Files, found: &[SessionLocation]) -> Result<Vec<Orphan>> {
    let known: HashSet<&str> = found.iter().map(|it| it.id.as_str()).collect();
    let mut orphans = folders(files, &known, "attachments", "attachments")?;
    orphans.extend(rewinds(files, &known)?);
    orphans.extend(folders(files, &known, TOOL_FILES, "files of tools")?);
    orphans.extend(not_put_in_place(files, &known)?);
    for info in lock_like(files, |name| name.contains(".lock.stale-"))? {
        let what = "a lock that was broken";
        orphans.extend(Orphan::folder(files, &info.key, None, what)?);
    }
    Ok(orphans)
}

/// Returns the folders below `parent` that are named by a session that is not known.
fn folders(
    files: &dyn Files,
    known: &HashSet<&str>,
    parent: &str,
    what: &'static str,
) -> Result<Vec<Orphan>> {
    let mut orphans = Vec::new();
    for info in files.list(parent)? {
        if info.is_folder() && !known.contains(info.name()) {
            let session = Some(info.name());
            orphans.extend(Orphan::folder(files, &info.key, session, what)?);
        }
    }
    Ok(orphans)
}

/// Returns the files of unfinished rewinds of sessions that are not known.
fn rewinds(files: &dyn Files, known: &HashSet<&str>) -> Result<Vec<Orphan>> {
    let mut orphans = Vec::new();
    for info in files.list("sessions")?.iter().filter(|info| info.is_file()) {
        let parts = info.name().split_once(".jsonl.rewind-");
        if let Some((session, _)) = parts.filter(|(session, _)| !known.contains(session)) {
            let what = "a rewind that was not finished";
            orphans.push(Orphan::file(info, Some(session), what));
        }
    }
    Ok(orphans)
}

/// Returns the temporary transcripts of sessions that are not known.
fn not_put_in_place(files: &dyn Files, known: &HashSet<&str>) -> Result<Vec<Orphan>> {
    let mut orphans = Vec::new();
    for info in files.list(v2::FOLDER)?.iter().filter(|info| info.is_file()) {
        let name = info.name().strip_prefix('.');
        let name = name.and_then(|name| name.strip_suffix(".tmp"));
        let parts = name.and_then(|name| name.split_once('.'));
        if let Some((session, _)) = parts.filter(|(session, _)| !known.contains(session)) {
            let what = "a transcript that was not put in place";
            orphans.push(Orphan::file(info, Some(session), what));
        }
    }
    Ok(orphans)
}

/// Returns the existing locks, those of transcripts first, which is the order in which the app
/// acquires them.
pub(super) fn locks(files: &dyn Files) -> Result<Vec<String>> {
    let is_ours = |name: &str| name == "sessions.lock" || name.ends_with(".jsonl.lock");
    Ok(lock_like(files, is_ours)?
        .into_iter()
        .map(|info| info.key)
        .collect())
}

fn lock_like(files: &dyn Files, is_one: impl Fn(&str) -> bool) -> Result<Vec<FileInfo>> {
    let mut found = Vec::new();
    for folder in LOCKS {
        found.extend(
            files
                .list(folder)?
                .into_iter()
                .filter(|info| info.is_folder() && is_one(info.name())),
        );
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryFiles;

    #[test]
    fn rows_keep_their_files_and_locks_come_in_the_order_in_which_they_are_taken() {
        let mut files = MemoryFiles::default();
        for (key, text) in [
            ("sessions.json", r#"[{"id":"row"}]"#),
            ("sessions/file.jsonl", "{}\n"),
            ("attachments/row/a.png", "x"),
            ("attachments/file/a.png", "x"),
            ("attachments/gone/a.png", "xyz"),
            ("sessions/file.jsonl.rewind-7.tmp", "x"),
            ("sessions/gone.jsonl.rewind-7.tmp", "x"),
            ("sessions.lock/owner", "node:1\n"),
            ("session-locks/b.jsonl.lock/owner", "node:1\n"),
            ("session-locks/a.jsonl.lock/owner", "node:1\n"),
            ("session-locks/a.jsonl.lock.stale-7-8-9/owner", "node:1\n"),
            ("other.lock/owner", "node:1\n"),
        ] {
            files.put(key, text, None);
        }
        let found = super::super::layout::discover(&files).unwrap();
        let left: Vec<_> = orphans(&files, &found.sessions)
            .unwrap()
            .into_iter()
            .map(|it| it.key)
            .collect();
        assert_eq!(
            left,
            [
                "attachments/gone",
                "sessions/gone.jsonl.rewind-7.tmp",
                "session-locks/a.jsonl.lock.stale-7-8-9"
            ]
        );
        assert_eq!(
            locks(&files).unwrap(),
            [
                "session-locks/a.jsonl.lock",
                "session-locks/b.jsonl.lock",
                "sessions.lock"
            ]
        );
    }
}
