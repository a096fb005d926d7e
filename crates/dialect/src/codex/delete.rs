//! Deletes a session: its log, and its lines in the index of titles.
//!
//! Codex finds logs by their names and takes titles from `session_index.jsonl`, to which it only
//! appends. The SQLite files of newer versions are derived from the logs, and Codex updates them
//! itself. Prompts stay in its history, which belongs to the user; a purge removes them.

use boswell_model::json::Raw;
use boswell_model::{Advice, Error, ErrorKind, Result};

use super::history_base;
use super::layout::{INDEX, INDEX_LIMIT, discover, log_ids};
use super::plan::{key_of, unused};
use crate::{FileInfo, Files, Modified, Plan, PlanInput, Planned, Step, without_sessions};

/// Plans a deletion: of all logs of the session, so that an older one does not appear in its place.
pub(super) fn plan(asked: &PlanInput<'_>) -> Result<Planned> {
    let id = &asked.location.id;
    let logs = logs_of(asked)?;
    refuse_while_continued(asked.files, id, &logs)?;
    let mut plan = Plan::new("delete", format!("delete the session {id}"));
    for key in logs {
        plan.preconditions.extend(unused(asked, &key));
        plan.steps.push(Step::remove(key));
    }
    let old = asked
        .files
        .read_whole(INDEX, INDEX_LIMIT)?
        .unwrap_or_default();
    let left: Vec<&[u8]> = lines(&old).filter(|line| !speaks_of(line, id)).collect();
    let new = left.concat();
    if new != old {
        // `old` is the whole file, so that a line that Codex appends in the meantime is noticed.
        plan.steps.push(Step::Edit {
            key: INDEX.to_owned(),
            at: Some(0),
            old,
            new,
            modified: Modified::Kept,
        });
    }
    Ok(Planned::of(plan))
}

/// Returns the keys of the logs that are deleted: of a session that was reverted, all of them.
fn logs_of(asked: &PlanInput<'_>) -> Result<Vec<String>> {
    let key = key_of(asked)?;
    let ids = log_ids(&key);
    if ids.len() < 2 || asked.location.hidden == Some("superseded") {
        return Ok(vec![key]);
    }
    let thread = &asked.location.id;
    let others = discover(asked.files)?.sessions.into_iter();
    let others = others
        .filter_map(|it| it.key)
        .filter(|other| *other != key && log_ids(other).first() == Some(&thread.as_str()));
    let mut logs: Vec<String> = others.collect();
    logs.insert(0, key);
    Ok(logs)
}

/// Refuses to remove a log that another one continues: the fork would lose its beginning, and Codex
/// would not resume it any more. Codex refuses this too.
fn refuse_while_continued(files: &dyn Files, id: &str, logs: &[String]) -> Result<()> {
    let ids: Vec<String> = logs
        .iter()
        .filter_map(|key| log_ids(key).pop().map(str::to_owned))
        .collect();
    let fork = history_base::continued_by(files, &ids, logs)?;
    let Some(fork) = fork else {
        return Ok(());
    };
    Err(Error::new(
        ErrorKind::Conflict,
        format!("the session `{id}` contains the beginning of its fork `{fork}`"),
    )
    .because("a fork does not copy the lines that it continues, so it would lose them")
    .advising(Advice::Plain("delete the fork first".into())))
}

/// Three-way merge of the index: removes or restores lines in the version that Codex wrote since. A
/// restored line is inserted after the line that it followed.
pub(super) fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    // A last line without a line end is still being written, so nothing can be appended after it.
    if !theirs.is_empty() && !theirs.ends_with(b"\n") {
        return None;
    }
    let mut now: Vec<&[u8]> = lines(theirs).collect();
    let mut at = 0;
    for (line, place) in side_files(ours, base)? {
        let found = now
            .iter()
            .skip(at)
            .position(|it| *it == line)
            .map(|found| at + found);
        match (place, found) {
            (DeletedPart::Both, found) => at = found.map_or(at, |found| found + 1),
            (DeletedPart::OnlyOurs, _) => {
                now.insert(at.min(now.len()), line);
                at += 1;
            }
            (DeletedPart::OnlyBase, Some(found)) => drop(now.remove(found)),
            (DeletedPart::OnlyBase, None) => {}
        }
    }
    Some(now.concat())
}

enum DeletedPart {
    Both,
    OnlyOurs,
    OnlyBase,
}

/// Compares two indexes, one of which must be the other without some lines. Returns the lines of
/// the longer one.
fn side_files<'a>(ours: &'a [u8], base: &'a [u8]) -> Option<Vec<(&'a [u8], DeletedPart)>> {
    let (long, short) = if ours.len() >= base.len() {
        (ours, base)
    } else {
        (base, ours)
    };
    let mut left = lines(short).peekable();
    let mut found = Vec::new();
    for line in lines(long) {
        let place = match left.next_if_eq(&line) {
            Some(_) => DeletedPart::Both,
            None if ours.len() >= base.len() => DeletedPart::OnlyOurs,
            None => DeletedPart::OnlyBase,
        };
        found.push((line, place));
    }
    left.next().is_none().then_some(found)
}

/// The prompt history, one line per prompt.
const HISTORY: &str = "history.jsonl";

/// Whether a file contains data of several sessions.
pub(super) fn is_shared(key: &str) -> bool {
    matches!(key, INDEX | HISTORY)
}

/// Returns the shared files that exist.
pub(super) fn shared_files(files: &dyn Files) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for key in [INDEX, HISTORY] {
        found.extend(
            files
                .stat(key)?
                .filter(FileInfo::is_file)
                .map(|info| info.key),
        );
    }
    Ok(found)
}

/// Returns a shared file without the lines of these sessions.
pub(super) fn without(key: &str, bytes: &[u8], ids: &[String]) -> Option<Vec<u8>> {
    let member = match key {
        INDEX => "id",
        HISTORY => "session_id",
        _ => return None,
    };
    let speaks = |line: Raw<'_>| {
        line.get(member)
            .is_some_and(|it| ids.iter().any(|id| it.is(id)))
    };
    Some(without_sessions::lines(bytes, ids, speaks))
}

/// Iterates over lines, including their line ends.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n')
}

fn speaks_of(line: &[u8], id: &str) -> bool {
    Raw::parse(line.trim_ascii())
        .ok()
        .and_then(|row| row.get("id"))
        .is_some_and(|it| it.is(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(ids: &str) -> Vec<u8> {
        ids.chars()
            .map(|id| format!("{{\"id\":\"{id}\",\"thread_name\":\"题 {id}\"}}\n"))
            .collect::<String>()
            .into_bytes()
    }

    #[test]
    fn lines_come_back_where_they_stood_and_what_was_added_since_stays() {
        let (all, no_b) = (index("xbycz"), index("xycz"));
        for (now, then) in [("xyz", "xbyz"), ("xyczn", "xbyczn"), ("n", "bn"), ("", "b")] {
            assert_eq!(merge(&no_b, &all, &index(now)), Some(index(then)), "{now}");
        }
        assert_eq!(
            merge(&no_b, &all, b"{\"id\""),
            None,
            "a line is being written"
        );
        assert_eq!(
            merge(&index("ab"), &index("bca"), &all),
            None,
            "that is another change"
        );
    }

    #[test]
    fn lines_go_from_what_was_made_of_the_index_since() {
        let (all, without) = (index("abxab"), index("bxb"));
        for (now, then) in [("abxabn", "bxbn"), ("bxab", "bxb"), ("n", "n")] {
            assert_eq!(
                merge(&all, &without, &index(now)),
                Some(index(then)),
                "{now}"
            );
        }
    }

    #[test]
    fn only_lines_of_the_session_itself_go() {
        assert!(speaks_of(b"{\"id\":\"b\",\"thread_name\":\"c\"}\n", "b"));
        for other in [
            &b"{\"id\":\"c\",\"thread_name\":\"b\"}\n"[..],
            b"b\n",
            b"\n",
            b"{\"of\":{\"id\":\"b\"}}\n",
        ] {
            assert!(!speaks_of(other, "b"));
        }
    }
}
