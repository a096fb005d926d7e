//! Discovers sessions, and the transcripts of subagents, by file names.
//!
//! The layout is a folder per project (`project_key.rs`) with a log per session,
//! `sessions-index.json` (`sessions_index.rs`) and a folder `memory/` (`side_files.rs`).

use boswell_model::{Framing, Problem, Result};

use super::sessions_index;
use crate::uuid::is_uuid;
use crate::{Discovered, FileInfo, FileKind, Files, SessionLocation};

/// Returns the keys of the folders that contain sessions, one per project.
///
/// The root may be the client's configuration folder, its `projects` folder, or the folder of one
/// project.
pub(super) fn projects(files: &dyn Files) -> Result<Vec<String>> {
    let root = files.list("")?;
    if root.iter().any(|info| {
        matches!(info.kind, FileKind::Folder | FileKind::Link) && info.name() == "projects"
    }) {
        // A symbolic link that leads out of the store is listed too: it appears empty and is
        // recorded as not followed.
        let inside = files.list("projects")?;
        return Ok(inside
            .into_iter()
            .filter(FileInfo::is_folder)
            .map(|info| info.key)
            .collect());
    }
    if root
        .iter()
        .any(|info| info.is_file() && (session_id(info).is_some() || is_agent(info)))
    {
        return Ok(vec![String::new()]);
    }
    Ok(root
        .into_iter()
        .filter(FileInfo::is_folder)
        .map(|info| info.key)
        .collect())
}

/// Converts a key below the configuration folder to a key below this root, which may be deeper.
pub(super) fn below_root(files: &dyn Files, key: &str) -> Result<String> {
    let root = files.list("")?;
    let is_config = |info: &FileInfo| {
        matches!(
            info.name(),
            "projects"
                | "sessions"
                | "settings.json"
                | ".claude.json"
                | "history.jsonl"
                | ".credentials.json"
        )
    };
    if root.is_empty() || root.iter().any(is_config) {
        return Ok(key.to_owned());
    }
    let below = key.strip_prefix("projects/").unwrap_or(key);
    let is_project = root
        .iter()
        .any(|info| info.is_file() && (session_id(info).is_some() || is_agent(info)));
    Ok(match below.split_once('/') {
        Some((_, name)) if is_project => name.to_owned(),
        _ => below.to_owned(),
    })
}

/// Finds every session of the store, and reports wrong entries of its indexes.
pub(super) fn discover(files: &dyn Files) -> Result<Discovered> {
    let mut found = Discovered::default();
    for project in projects(files)? {
        let listing = files.list(&project)?;
        let index = listing
            .iter()
            .find(|info| sessions_index::is_index(info))
            .cloned();
        let start = found.sessions.len();
        for info in listing {
            if info.is_file() {
                found.sessions.extend(session(info));
            } else if info.is_folder() && is_uuid(info.name()) {
                subagents(files, &info, &mut found.sessions)?;
            }
        }
        let sessions = found.sessions.get(start..).unwrap_or_default();
        if let Some(index) = index {
            match sessions_index::compare(files, &index, sessions) {
                Ok(problems) => found.problems.extend(problems),
                // An unreadable index hides no session: sessions are found by their logs.
                Err(error) => found
                    .problems
                    .push((index.key, Problem::unreadable(&error))),
            }
        }
    }
    Ok(found)
}

fn session(info: FileInfo) -> Option<SessionLocation> {
    if let Some(id) = session_id(&info).map(str::to_owned) {
        let mut location = SessionLocation::of_file(id, info, Framing::Lines);
        location.hidden = (location.size == 0).then_some("empty");
        return Some(location);
    }
    // Version 2.0 stored subagents next to the sessions; only their lines name the parent session.
    is_agent(&info).then(|| subagent(&info, None))
}

fn subagents(files: &dyn Files, owner: &FileInfo, out: &mut Vec<SessionLocation>) -> Result<()> {
    let mut folders = vec![format!("{}/subagents", owner.key)];
    while let Some(folder) = folders.pop() {
        for info in files.list(&folder)? {
            if info.is_folder() {
                folders.push(info.key);
            } else if info.is_file() && is_agent(&info) {
                out.push(subagent(&info, Some(owner.name().to_owned())));
            }
        }
    }
    Ok(())
}

fn subagent(info: &FileInfo, owner: Option<String>) -> SessionLocation {
    let id = info.stem(".jsonl").unwrap_or(info.name());
    SessionLocation {
        hidden: Some("subagent"),
        owner,
        ..SessionLocation::at(id, info, Framing::Lines)
    }
}

fn session_id(info: &FileInfo) -> Option<&str> {
    info.stem(".jsonl").filter(|stem| is_uuid(stem))
}

fn is_agent(info: &FileInfo) -> bool {
    info.stem(".jsonl")
        .is_some_and(|stem| stem.strip_prefix("agent-").is_some_and(|id| !id.is_empty()))
}

/// Whether `text` is the id of a subagent: `agent-a016bda`, `agent-acompact-…`.
pub(super) fn is_agent_id(text: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    text.strip_prefix("agent-")
        .is_some_and(|id| !id.is_empty() && id.bytes().all(is_plain))
}

#[cfg(test)]
mod tests {
    use crate::MemoryFiles;

    use super::*;

    const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";
    const EMPTY: &str = "AAAAAAAA-0002-4001-8001-00000000000F";

    fn store(prefix: &str) -> MemoryFiles {
        let mut files = MemoryFiles::default();
        for (name, bytes) in [
            (format!("{ID}.jsonl"), "{}\n"),
            (format!("{EMPTY}.jsonl"), ""),
            ("notes.jsonl".to_owned(), "{}\n"),
            ("agent-a016bda.jsonl".to_owned(), "{}\n"),
            (format!("{ID}/subagents/agent-a1.jsonl"), "{}\n"),
            (format!("{ID}/subagents/agent-a1.meta.json"), "{}"),
            (
                format!("{ID}/subagents/workflows/run/agent-a2.jsonl"),
                "{}\n",
            ),
            ("memory/MEMORY.md".to_owned(), "x"),
        ] {
            files.put(&format!("{prefix}{name}"), bytes, None);
        }
        files
    }

    #[test]
    fn any_of_the_three_roots_finds_the_same_sessions() {
        for prefix in ["projects/-w/", "-w/", ""] {
            let found = discover(&store(prefix)).unwrap();
            let mut seen: Vec<_> = found
                .sessions
                .iter()
                .map(|s| (s.id.as_str(), s.hidden, s.owner.as_deref()))
                .collect();
            seen.sort_unstable();
            let expected = [
                (EMPTY, Some("empty"), None),
                (ID, None, None),
                ("agent-a016bda", Some("subagent"), None),
                ("agent-a1", Some("subagent"), Some(ID)),
                ("agent-a2", Some("subagent"), Some(ID)),
            ];
            assert_eq!(seen, expected, "{prefix}");
            assert!(found.problems.is_empty());
        }
    }

    #[test]
    fn only_uuids_name_sessions() {
        for (text, is) in [
            (ID, true),
            (EMPTY, true),
            ("-aaaaaaa-0001-4001-8001-000000000001", false),
            ("x", false),
            ("", false),
        ] {
            assert_eq!(is_uuid(text), is, "{text}");
        }
    }
}
