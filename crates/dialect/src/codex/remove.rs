//! Removes a session: its log, and the lines of the index of titles that speak of it.
//!
//! Codex looks for logs by their names and takes titles from `session_index.jsonl`, to which it only adds. What newer versions
//! keep in SQLite files follows from the logs, and is theirs to mend. Prompts stay in its history: that is the user's.

use boswell_model::json::Raw;
use boswell_model::{Error, ErrorKind, Result};

use super::layout::{INDEX, INDEX_LIMIT};
use crate::{Asked, Modified, Plan, Planned, Precondition, Step};

/// The plan for a removal.
pub(super) fn plan(asked: &Asked<'_>) -> Result<Planned> {
    let id = &asked.located.id;
    let key = asked.located.key.clone().ok_or_else(|| {
        Error::new(ErrorKind::NotFound, format!("the session `{id}` has no log"))
            .hinting("see the sessions with `boswell list --hidden`")
    })?;
    let mut plan = Plan::new("delete", format!("delete the session {id}"));
    plan.preconditions.push(Precondition::NotLive { key: key.clone() });
    plan.steps.push(Step::remove(key));
    let old = asked.files.read_whole(INDEX, INDEX_LIMIT)?.unwrap_or_default();
    let left: Vec<&[u8]> = lines(&old).filter(|line| !speaks_of(line, id)).collect();
    let new = left.concat();
    if new != old {
        // All of it is named, so that a line that Codex adds meanwhile is noticed.
        plan.steps.push(Step::Edit { key: INDEX.to_owned(), at: Some(0), old, new, modified: Modified::Kept });
    }
    Ok(Planned::of(plan))
}

/// What was taken out of the index put back into what Codex made of it since: each line behind the one that it followed.
pub(super) fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    let mut now: Vec<&[u8]> = lines(theirs).collect();
    // A line without an end is being written, and nothing can stand behind it.
    if !theirs.is_empty() && !theirs.ends_with(b"\n") {
        return None;
    }
    let mut kept = lines(base).peekable();
    let mut at = 0;
    for line in lines(ours) {
        if kept.peek() == Some(&line) {
            kept.next();
            at = now.iter().skip(at).position(|it| *it == line).map_or(at, |found| at + found + 1);
        } else {
            now.insert(at.min(now.len()), line);
            at += 1;
        }
    }
    kept.next().is_none().then(|| now.concat())
}

/// Lines with their ends.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n')
}

fn speaks_of(line: &[u8], id: &str) -> bool {
    Raw::parse(line.trim_ascii()).ok().and_then(|row| row.get("id")).is_some_and(|it| it.is(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(ids: &str) -> Vec<u8> {
        ids.chars().map(|id| format!("{{\"id\":\"{id}\",\"thread_name\":\"题 {id}\"}}\n")).collect::<String>().into_bytes()
    }

    #[test]
    fn lines_come_back_where_they_stood_in_whatever_order_sessions_return() {
        let (all, no_b, neither) = (index("xbycz"), index("xycz"), index("xyz"));
        assert_eq!(merge(&no_b, &all, &neither), Some(index("xbyz")), "c is still away");
        assert_eq!(merge(&neither, &no_b, &index("xbyz")), Some(all.clone()));
        assert_eq!(merge(&no_b, &all, &index("xyczn")), Some(index("xbyczn")), "what was added since stays");
        assert_eq!(merge(&no_b, &all, &index("n")), Some(index("bn")), "an index made anew");
        assert_eq!(merge(&no_b, &all, b""), Some(index("b")));
        assert_eq!(merge(&no_b, &all, b"{\"id\""), None, "a line is being written");
    }

    #[test]
    fn only_lines_of_the_session_itself_go() {
        assert!(speaks_of(b"{\"id\":\"b\",\"thread_name\":\"c\"}\n", "b"));
        for other in [&b"{\"id\":\"c\",\"thread_name\":\"b\"}\n"[..], b"b\n", b"\n", b"{\"of\":{\"id\":\"b\"}}\n"] {
            assert!(!speaks_of(other, "b"));
        }
    }
}
