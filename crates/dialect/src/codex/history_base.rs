//! Forks of paginated threads: the header names the log that the fork continues, and nothing is
//! copied.
//!
//! `history_base.thread_id` is the id of a log, not of a session: after a revert, a session has
//! several logs, and the ids of the later ones follow that of the session in the file name.

use boswell_model::json::{Object, Scanned};
use boswell_model::{Instant, Result};

use super::layout::{ARCHIVE, DEPTH, discover, log_id, log_ids, stem_of};
use super::meta::{text, time_of_id};
use super::record::Record;
use crate::{FileInfo, Files, HistoryBase, SessionLocation};

const DAY: i64 = 86_400_000;
/// Most headers are shorter.
const HEADER: usize = 64 << 10;
/// A longer first line is not a header.
const LONGEST_HEADER: usize = 16 << 20;

/// Returns the log that the log with this first record continues.
pub(super) fn history_base(first: &Object<'_>) -> Option<HistoryBase> {
    let Record::Meta(payload) = Record::of(first) else {
        return None;
    };
    let base = payload.get("history_base").filter(|base| !base.is_null())?;
    Some(HistoryBase {
        id: text(base, "thread_id")?,
        end: base.get("end_byte_offset").and_then(|end| end.u64())?,
    })
}

/// Finds the log with an id: next to the log that continues it, in the folders of the days around
/// its creation, in the archive, and at last everywhere.
pub(super) fn base_key(
    files: &dyn Files,
    location: &SessionLocation,
    id: &str,
) -> Result<Option<String>> {
    let own = location.key.as_deref().unwrap_or_default();
    let folder = own.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut likely = vec![folder.to_owned()];
    if let Some(born) = time_of_id(id) {
        likely.extend([0, -1, 1].map(|days| day_folder(born, days)));
    }
    likely.push(ARCHIVE.to_owned());
    for folder in likely {
        if let Some(key) = in_folder(&files.list(&folder)?, id) {
            return Ok(Some(key));
        }
    }
    let mut open = vec![("sessions".to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let infos = files.list(&folder)?;
        if let Some(key) = in_folder(&infos, id) {
            return Ok(Some(key));
        }
        let folders = infos.into_iter().filter(|info| info.is_folder());
        open.extend(
            folders
                .filter(|_| depth < DEPTH)
                .map(|info| (info.key, depth + 1)),
        );
    }
    Ok(None)
}

/// Names contain the local time, so the day may be one off.
fn day_folder(born: Instant, days: i64) -> String {
    let day = Instant::from_millis(born.millis().saturating_add(days * DAY)).to_rfc3339();
    let day = day.get(..10).unwrap_or_default().replace('-', "/");
    format!("sessions/{day}")
}

/// Returns the log with that id; the compressed one only if there is no other.
fn in_folder(infos: &[FileInfo], id: &str) -> Option<String> {
    let mut logs: Vec<&FileInfo> = infos
        .iter()
        .filter(|info| info.is_file() && stem_of(info).is_some_and(|stem| log_id(stem) == id))
        .collect();
    logs.sort_by_key(|info| info.key.ends_with(".zst"));
    logs.first().map(|info| info.key.clone())
}

/// Returns the id of a session that continues one of these logs, which are given by their ids. The
/// logs at `own` are not looked at: they go together.
pub(super) fn continued_by(
    files: &dyn Files,
    ids: &[String],
    own: &[String],
) -> Result<Option<String>> {
    // A fork is younger than what it continues.
    let born = ids.iter().map(|id| time_of_id(id)).min().flatten();
    for other in discover(files)?.sessions {
        let is_older = |key: &String| {
            let log = log_ids(key).pop().and_then(time_of_id);
            born.is_some() && log.is_some_and(|at| Some(at) < born)
        };
        let key = other.key.filter(|key| !own.contains(key) && !is_older(key));
        let Some(key) = key else {
            continue;
        };
        if base_of_file(files, &key)?.is_some_and(|base| ids.contains(&base.id)) {
            return Ok(Some(other.id));
        }
    }
    Ok(None)
}

fn base_of_file(files: &dyn Files, key: &str) -> Result<Option<HistoryBase>> {
    let mut bytes = files.read(key, 0, HEADER)?;
    if bytes.len() == HEADER && memchr::memchr(b'\n', &bytes).is_none() {
        bytes = files.read(key, 0, LONGEST_HEADER)?;
    }
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or(b"");
    let mut scanned = Scanned::default();
    let is_object = scanned.scan(line).is_ok();
    Ok(is_object
        .then(|| history_base(&scanned.object(line)))
        .flatten())
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{location, with};
    use super::*;
    use crate::MemoryFiles;

    const BASE: &str = "01a1e3f3-863d-7d11-8b70-1bc7ecf7e54e";

    #[test]
    fn a_header_names_the_log_that_a_fork_continues() {
        let base = |payload: &str| {
            with(
                &format!(r#"{{"type":"session_meta","payload":{payload}}}"#),
                history_base,
            )
        };
        let found = base(&format!(
            r#"{{"id":"a","history_base":{{"thread_id":"{BASE}","end_ordinal_exclusive":35,"end_byte_offset":45492}}}}"#
        ));
        let expected = HistoryBase {
            id: BASE.to_owned(),
            end: 45492,
        };
        assert_eq!(found, Some(expected));
        assert_eq!(base(r#"{"id":"a","history_base":null}"#), None);
        assert_eq!(base(r#"{"id":"a"}"#), None);
    }

    #[test]
    fn a_log_is_found_by_the_last_id_of_its_name_wherever_it_is() {
        let day = "sessions/2026/11/16/rollout-2026-11-16T10-42-30";
        for key in [
            format!("{day}-{BASE}.jsonl"),
            format!("{day}-019d7e3d-0164-79d1-af76-e4ee6689b94f_{BASE}.jsonl"),
            format!("archived_sessions/rollout-2026-11-16T10-42-30-{BASE}.jsonl"),
            format!("sessions/2020/01/01/rollout-2026-11-16T10-42-30-{BASE}.jsonl.zst"),
            format!("sessions/2026/04/11/rollout-2026-11-16T10-42-30-{BASE}.jsonl"),
        ] {
            let mut files = MemoryFiles::default();
            files.put(&key, "{}\n", None);
            assert_eq!(base_key(&files, &location(), BASE).unwrap(), Some(key));
        }
        let mut files = MemoryFiles::default();
        // The session with this id has been reverted: this is another log of it.
        files.put(
            &format!("{day}-{BASE}_019d7e3d-0164-79d1-af76-e4ee6689b94f.jsonl"),
            "{}\n",
            None,
        );
        assert_eq!(base_key(&files, &location(), BASE).unwrap(), None);
    }
}
