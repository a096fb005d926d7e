//! Reads `sessions-index.json`, a hint that some versions wrote and no version keeps up to date.
//!
//! The index is compared with the logs and never trusted; differences are reported as
//! `stale_index`. `native_index.rs` writes it again.

use std::collections::BTreeSet;

use boswell_model::json::Raw;
use boswell_model::{Problem, ProblemKind, Result};

use crate::{FileInfo, Files, SessionLocation};

const NAME: &str = "sessions-index.json";
/// A larger file was not written by the client.
const LIMIT: u64 = 256 << 20;

pub(super) fn is_index(info: &FileInfo) -> bool {
    info.is_file() && info.name() == NAME
}

/// Compares the index of a project folder with the sessions in it.
pub(super) fn compare(
    files: &dyn Files,
    info: &FileInfo,
    sessions: &[SessionLocation],
) -> Result<Vec<(String, Problem)>> {
    let stale = |detail: String| {
        (
            info.key.clone(),
            Problem::of_file(ProblemKind::StaleIndex, detail),
        )
    };
    if info.size > LIMIT {
        return Ok(vec![stale(format!(
            "the index is {} bytes long and was not read",
            info.size
        ))]);
    }
    let bytes = files.read_whole(&info.key, LIMIT)?.unwrap_or_default();
    let Some(listed) = listed(&bytes) else {
        return Ok(vec![stale(
            "the index is not JSON with a list of entries".to_owned(),
        )]);
    };
    let present: BTreeSet<String> = sessions
        .iter()
        .filter(|s| s.hidden.is_none())
        .map(|s| s.id.to_ascii_lowercase())
        .collect();
    let any_file: BTreeSet<String> = sessions.iter().map(|s| s.id.to_ascii_lowercase()).collect();
    let deleted_sessions: Vec<&String> = listed.difference(&any_file).collect();
    let missing: Vec<&String> = present.difference(&listed).collect();
    let mut problems = Vec::new();
    if !deleted_sessions.is_empty() {
        problems.push(stale(format!(
            "the index lists {}, but there is no such file",
            some_of(&deleted_sessions)
        )));
    }
    if !missing.is_empty() {
        problems.push(stale(format!(
            "the index does not list {}",
            some_of(&missing)
        )));
    }
    Ok(problems)
}

fn listed(bytes: &[u8]) -> Option<BTreeSet<String>> {
    let entries = Raw::parse(bytes).ok()?.get("entries")?;
    Some(
        entries
            .items()
            .filter_map(|entry| entry.get("sessionId")?.text())
            .map(|id| id.to_ascii_lowercase())
            .collect(),
    )
}

fn some_of(ids: &[&String]) -> String {
    let shown: Vec<&str> = ids.iter().take(3).map(|id| id.as_str()).collect();
    let more = ids.len() - shown.len();
    let shown = shown.join(", ");
    if more > 0 {
        format!("{shown} and {more} more")
    } else {
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::super::discover::discover;
    use crate::MemoryFiles;

    const A: &str = "aaaaaaaa-0001-4001-8001-000000000001";
    const B: &str = "aaaaaaaa-0002-4001-8001-000000000002";
    const GHOST: &str = "aaaaaaaa-0003-4001-8001-000000000003";

    #[test]
    fn ghosts_and_missing_sessions_are_reported_and_the_index_is_not_believed() {
        let mut files = MemoryFiles::default();
        files.put(&format!("projects/-w/{A}.jsonl"), "{}\n", None);
        files.put(&format!("projects/-w/{B}.jsonl"), "{}\n", None);
        let index = format!(
            r#"{{"version":1,"entries":[{{"sessionId":"{A}"}},{{"sessionId":"{GHOST}"}}]}}"#
        );
        files.put("projects/-w/sessions-index.json", index, None);
        let found = discover(&files).unwrap();
        assert_eq!(found.sessions.len(), 2);
        let details: Vec<_> = found
            .problems
            .iter()
            .map(|(_, problem)| problem.detail.as_str())
            .collect();
        assert_eq!(
            details,
            [
                format!("the index lists {GHOST}, but there is no such file"),
                format!("the index does not list {B}")
            ]
        );
    }

    #[test]
    fn a_broken_index_is_one_problem() {
        let mut files = MemoryFiles::default();
        files.put(&format!("{A}.jsonl"), "{}\n", None);
        files.put("sessions-index.json", "{", None);
        assert_eq!(discover(&files).unwrap().problems.len(), 1);
    }
}
