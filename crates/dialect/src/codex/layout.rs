//! The layout of a Codex home: where the logs are, and what their names contain.

use std::collections::BTreeMap;

use boswell_model::json::{Json, Raw};
use boswell_model::{Framing, Result};

use super::thread_rows::ThreadRows;
use crate::uuid::is_uuid;
use crate::{Discovered, FileInfo, Files, SessionLocation};

/// Folder of archived sessions.
pub(super) const ARCHIVE: &str = "archived_sessions";
/// The index of titles: one line each time a session is named. The last line of an id counts.
pub(super) const INDEX: &str = "session_index.jsonl";
/// A larger file is not an index of titles.
pub(super) const INDEX_LIMIT: u64 = 64 << 20;
/// Folder levels of logs: year, month and day.
pub(super) const DEPTH: usize = 3;

/// Finds every session below Codex's home.
pub(super) fn discover(files: &dyn Files) -> Result<Discovered> {
    let mut found = Discovered::default();
    let mut packed = Vec::new();
    for (root, hidden) in [("sessions", None), (ARCHIVE, Some("archived"))] {
        let mut open = vec![(root.to_owned(), 0)];
        while let Some((folder, depth)) = open.pop() {
            for info in files.list(&folder)? {
                if info.is_folder() && depth < DEPTH {
                    open.push((info.key, depth + 1));
                } else if info.is_file() {
                    take(info, hidden, &mut found, &mut packed);
                }
            }
        }
    }
    add_packed(packed, &mut found);
    name_reverted(&mut found);
    let titles = titles(files);
    let threads = ThreadRows::read(files, &mut found);
    for session in &mut found.sessions {
        describe(session, &titles, &threads);
    }
    Ok(found)
}

/// Adds what the index of titles and the database of threads state about a session.
fn describe(session: &mut SessionLocation, titles: &Titles, threads: &ThreadRows) {
    let key = session.key.as_deref().unwrap_or_default();
    let thread = reverted(key).map_or(session.id.as_str(), |(thread, _)| thread);
    let (title, row) = (titles.get(thread), threads.of(thread));
    if title.is_none() && row.is_none() {
        return;
    }
    let archived = row.is_some_and(|row| row.archived);
    let title = title.or_else(|| row?.name.as_ref());
    let provider = row.and_then(|row| row.provider.as_deref());
    let row = Json::object()
        .with("id", thread)
        .with_some("thread_name", title.map(String::as_str))
        .with_some("archived", archived.then_some(true))
        .with_some("model_provider", provider);
    session.row = Some(row.to_bytes());
    // Codex lists no thread that its database calls archived, wherever the log is.
    if archived && session.hidden.is_none() {
        session.hidden = Some("archived");
    }
}

fn take(
    info: FileInfo,
    hidden: Option<&'static str>,
    found: &mut Discovered,
    packed: &mut Vec<SessionLocation>,
) {
    let framing = framing(&info.key);
    let Some(stem) = stem_of(&info) else {
        return;
    };
    let location = SessionLocation {
        hidden,
        ..SessionLocation::at(log_id(stem), &info, framing)
    };
    if info.key.ends_with(".zst") {
        packed.push(location);
    } else {
        found.sessions.push(location);
    }
}

/// Returns the name of a log without its ending.
pub(super) fn stem_of(info: &FileInfo) -> Option<&str> {
    [".jsonl", ".json", ".jsonl.zst"]
        .iter()
        .find_map(|end| info.stem(end))
}

/// Adds compressed logs, except those that also exist uncompressed: Codex ignores these too.
fn add_packed(packed: Vec<SessionLocation>, found: &mut Discovered) {
    for location in packed {
        if !found
            .sessions
            .iter()
            .any(|session| session.id == location.id)
        {
            found.sessions.push(location);
        }
    }
}

/// Names reverted sessions: the newest log of a session has the id of the session, because it
/// continues the others and Codex shows no other. The older ones are hidden.
fn name_reverted(found: &mut Discovered) {
    let mut newest: BTreeMap<String, String> = BTreeMap::new();
    for session in &found.sessions {
        if let Some((thread, log)) = session.key.as_deref().and_then(reverted) {
            // Ids begin with their time.
            let last = newest.entry(thread.to_owned()).or_default();
            *last = std::mem::take(last).max(log.to_owned());
        }
    }
    if newest.is_empty() {
        return;
    }
    for session in &mut found.sessions {
        let key = session.key.as_deref().unwrap_or_default();
        let thread = reverted(key).map_or(session.id.as_str(), |(thread, _)| thread);
        let Some(log) = newest.get(thread) else {
            continue;
        };
        if *log == session.id {
            session.id = thread.to_owned();
        } else if session.hidden.is_none() {
            session.hidden = Some("superseded");
        }
    }
    // The first log has the id of the session too, and whoever looks for the id takes the first.
    found.sessions.sort_by_key(|it| it.hidden.is_some());
}

/// Returns the ids in the name of a log: that of the session, and that of the log if it differs.
pub(super) fn log_ids(key: &str) -> Vec<&str> {
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    let stem = name.split_once(".json").map_or(name, |(stem, _)| stem);
    match reverted(key) {
        Some((thread, log)) => vec![thread, log],
        None => vec![log_id(stem)],
    }
}

/// Returns the ids of the session and the log, if a session has several logs.
fn reverted(key: &str) -> Option<(&str, &str)> {
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    let stem = name.split_once(".json").map_or(name, |(stem, _)| stem);
    let (before, log) = stem.rsplit_once('_').filter(|(_, log)| is_uuid(log))?;
    let thread = before.get(before.len().checked_sub(36)?..)?;
    is_uuid(thread).then_some((thread, log))
}

/// Titles by the id of their session.
type Titles = BTreeMap<String, String>;

fn titles(files: &dyn Files) -> Titles {
    let mut titles = Titles::new();
    // An unreadable index is not an error: without it sessions only lack their titles.
    let Ok(Some(bytes)) = files.read_whole(INDEX, INDEX_LIMIT) else {
        return titles;
    };
    for line in bytes.split(|b| *b == b'\n') {
        if let Ok(row) = Raw::parse(line)
            && let Some(id) = row.get("id").and_then(|id| id.text())
            && let Some(title) = row.get("thread_name").and_then(|title| title.text())
        {
            titles.insert(id.into_owned(), title.into_owned());
        }
    }
    titles
}

/// The first versions wrote one document per session; all others write one record per line.
pub(super) fn framing(key: &str) -> Framing {
    if key.ends_with(".json") {
        Framing::Rows("items")
    } else {
        Framing::Lines
    }
}

/// Returns the id in a file name: the UUID at its end, else the whole name.
pub(super) fn log_id(stem: &str) -> &str {
    let tail = stem.len().checked_sub(36).and_then(|at| stem.get(at..));
    tail.filter(|tail| is_uuid(tail))
        .unwrap_or_else(|| stem.strip_prefix("rollout-").unwrap_or(stem))
}

/// Whether the log is in the archive folder.
pub(super) fn is_archived(location: &SessionLocation) -> bool {
    location.hidden == Some("archived")
        || location
            .key
            .as_deref()
            .is_some_and(|key| key.starts_with(ARCHIVE))
}

#[cfg(test)]
mod tests {
    use crate::MemoryFiles;

    use super::*;

    const A: &str = "0199a0c2-1111-7000-8000-000000000001";
    const B: &str = "0199a0c2-1111-7000-8000-000000000002";

    fn found(keys: &[String]) -> Discovered {
        let mut files = MemoryFiles::default();
        for key in keys {
            files.put(key, "{}\n", None);
        }
        let index = format!(
            "{{\"id\":\"{A}\",\"thread_name\":\"old\"}}\nnot json\n{{\"id\":\"{A}\",\"thread_name\":\"new\"}}\n"
        );
        files.put("session_index.jsonl", index, None);
        files.put("history.jsonl", "{}\n", None);
        discover(&files).unwrap()
    }

    #[test]
    fn sessions_are_found_in_days_flat_and_in_the_archive() {
        let found = found(&[
            format!("sessions/2025/10/01/rollout-2025-10-01T10-00-00-{A}.jsonl"),
            "sessions/rollout-tool-call.jsonl".to_owned(),
            format!("sessions/rollout-2025-04-18-{B}.json"),
            format!("archived_sessions/rollout-2025-10-02T10-00-00-{B}.jsonl"),
            "sessions/2025/10/01/notes.txt".to_owned(),
        ]);
        let mut seen: Vec<_> = found
            .sessions
            .iter()
            .map(|s| (s.id.as_str(), s.hidden, s.framing))
            .collect();
        seen.sort_by_key(|(id, hidden, _)| (*id, hidden.is_some()));
        let expected = [
            (A, None, Framing::Lines),
            (B, None, Framing::Rows("items")),
            (B, Some("archived"), Framing::Lines),
            ("tool-call", None, Framing::Lines),
        ];
        assert_eq!(seen, expected);
        assert!(found.problems.is_empty());
    }

    #[test]
    fn the_last_title_of_an_index_counts() {
        let found = found(&[format!(
            "sessions/2025/10/01/rollout-2025-10-01T10-00-00-{A}.jsonl"
        )]);
        let row = String::from_utf8(found.sessions[0].row.clone().unwrap()).unwrap();
        assert!(row.contains("new"), "{row}");
        assert_eq!(
            crate::Dialect::begin(&super::super::Codex, &found.sessions[0])
                .title
                .as_deref(),
            Some("new")
        );
    }

    #[test]
    fn a_compressed_log_is_a_session_unless_the_plain_one_is_there() {
        let name = |id: &str, end: &str| {
            format!("sessions/2025/10/01/rollout-2025-10-01T10-00-00-{id}{end}")
        };
        let found = found(&[
            name(A, ".jsonl.zst"),
            name(B, ".jsonl.zst"),
            name(B, ".jsonl"),
        ]);
        let mut keys: Vec<_> = found
            .sessions
            .iter()
            .filter_map(|session| session.key.clone())
            .collect();
        keys.sort();
        assert_eq!(keys, [name(A, ".jsonl.zst"), name(B, ".jsonl")]);
        assert!(
            found.problems.is_empty()
                && found.sessions.iter().all(|it| it.framing == Framing::Lines)
        );
    }

    #[test]
    fn of_a_reverted_session_only_the_newest_log_is_listed_with_its_title() {
        let day = "sessions/2025/10/01/rollout-2025-10-01T10-00-00";
        let (second, third) = (
            "0199a0c2-2222-7000-8000-000000000001",
            "0199a0c2-3333-7000-8000-000000000001",
        );
        let found = found(&[
            format!("{day}-{A}.jsonl"),
            format!("{day}-{A}_{second}.jsonl"),
            format!("{day}-{A}_{third}.jsonl"),
            format!("{day}-{B}.jsonl"),
        ]);
        let mut seen: Vec<_> = (found.sessions.iter())
            .map(|it| (it.id.as_str(), it.hidden, it.row.is_some()))
            .collect();
        seen.sort_unstable();
        let old = Some("superseded");
        let first = found.sessions.iter().find(|it| it.id == A).unwrap();
        assert!(
            first.key.as_ref().unwrap().contains(third),
            "the newest is found first"
        );
        assert_eq!(
            seen,
            [
                (A, None, true),
                (A, old, true),
                (B, None, false),
                (second, old, true)
            ]
        );
    }

    #[test]
    fn ids_are_uuids() {
        assert!(is_uuid(A));
        for id in [
            "",
            "-rf",
            "0199a0c2-1111-7000-8000-00000000000g",
            "0199a0c2_1111_7000_8000_000000000001",
        ] {
            assert!(!is_uuid(id), "{id}");
        }
    }
}
