//! `sessions/index.json`: a cache that is compared with the documents and rebuilt from them.
//!
//! clinvoker itself writes an index that it has not loaded, so rows are lost. We always load the
//! existing index: correct rows keep their bytes, and every document has a row afterwards.

use std::collections::{BTreeMap, BTreeSet};

use boswell_model::json::{Member, Raw, RawKind, scan_object};
use boswell_model::{Problem, ProblemKind, Result};

use crate::{Files, Modified, Step};

use super::row::Row;
use super::{go_json, layout};

/// The key of the index.
pub(crate) const KEY: &str = "sessions/index.json";
const LIMIT: u64 = 256 << 20;
/// How many ids a message lists.
const NAMED: usize = 5;

/// Reports where the index and the documents differ. A missing index is not a problem: clinvoker
/// creates one.
pub(crate) fn compare(
    files: &dyn Files,
    documents: &BTreeSet<String>,
    problems: &mut Vec<(String, Problem)>,
) {
    let mut say =
        |kind, detail: String| problems.push((KEY.to_owned(), Problem::of_file(kind, detail)));
    let bytes = match files.read_whole(KEY, LIMIT) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return,
        Err(error) => {
            return say(
                ProblemKind::Unreadable,
                format!("the index cannot be read: {error}"),
            );
        }
    };
    let rows = match rows_of(&bytes) {
        Ok(rows) => rows
            .members()
            .map(|(id, _)| id.to_text().into_owned())
            .collect::<BTreeSet<String>>(),
        Err(why) => {
            return say(
                ProblemKind::StaleIndex,
                format!("{why}; clinvoker will rebuild it"),
            );
        }
    };
    let deleted_sessions: Vec<_> = rows.difference(documents).map(String::as_str).collect();
    if !deleted_sessions.is_empty() {
        say(
            ProblemKind::StaleIndex,
            format!(
                "{} rows have no document: {}",
                deleted_sessions.len(),
                some(&deleted_sessions)
            ),
        );
    }
    let missing: Vec<_> = documents.difference(&rows).map(String::as_str).collect();
    if !missing.is_empty() {
        say(
            ProblemKind::StaleIndex,
            format!(
                "{} documents have no row, so clinvoker does not list them: {}",
                missing.len(),
                some(&missing)
            ),
        );
    }
}

/// Returns the object with the rows; empty if Go would read no rows.
fn rows_of(bytes: &[u8]) -> std::result::Result<Raw<'_>, &'static str> {
    let root = Raw::parse(bytes).map_err(|_| "the index is not JSON")?;
    if go_json::member(root, "version").and_then(|v| v.i64()) != Some(1) {
        return Err("the index is of another version than 1");
    }
    match go_json::member(root, "index") {
        Some(rows) if rows.kind() == RawKind::Object => Ok(rows),
        Some(rows) if !rows.is_null() => Err("the index holds no rows"),
        _ => Ok(Raw::trusted(b"{}")),
    }
}

fn some(ids: &[&str]) -> String {
    let mut named: Vec<String> = ids
        .iter()
        .take(NAMED)
        .map(|id| format!("`{}`", id.escape_debug()))
        .collect();
    if ids.len() > NAMED {
        named.push("…".to_owned());
    }
    named.join(", ")
}

/// Which rows are compared with their documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Missing rows, and rows of documents that change.
    Names,
    /// Every row.
    Everything,
}

/// The errors of an index that were corrected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Fixed {
    pub(crate) added: usize,
    pub(crate) deleted_sessions: usize,
    pub(crate) stale: usize,
    pub(crate) remake: Option<&'static str>,
}

/// Returns the step that corrects the index. `changes` are the documents after the plan: new bytes,
/// or `None` if deleted.
pub(crate) fn step(
    files: &dyn Files,
    changes: &BTreeMap<String, Option<Vec<u8>>>,
    depth: Depth,
) -> Result<(Option<Step>, Fixed)> {
    let old = files.read_whole(KEY, LIMIT)?;
    let mut fixed = Fixed::default();
    let usable = match old.as_deref().map(rows_of) {
        Some(Ok(rows)) => Some(rows),
        Some(Err(why)) => {
            fixed.remake = Some(why);
            None
        }
        None => {
            fixed.remake = Some("there was no index");
            None
        }
    };
    let ids = ids_after(files, changes)?;
    let row_of = |id: &str| -> Result<Option<Row>> {
        let bytes = match changes.get(id) {
            Some(bytes) => bytes.clone(),
            None => files.read_whole(&layout::key(id), LIMIT)?,
        };
        Ok(bytes.as_deref().and_then(|bytes| Row::of(id, bytes)))
    };
    let mut table = Table::of(usable.unwrap_or(Raw::trusted(b"{}")));
    for (at, id) in table.ids().into_iter().enumerate() {
        if !ids.contains(&id) {
            table.drop_row(at);
            fixed.deleted_sessions += usize::from(changes.get(&id).is_none_or(Option::is_some));
        } else if depth == Depth::Everything || changes.contains_key(&id) {
            // An unreadable document is no reason to change its row.
            if let Some(row) = row_of(&id)?
                && table.mend_row(at, &row)
            {
                fixed.stale += usize::from(!changes.contains_key(&id));
            }
        }
    }
    let known: BTreeSet<String> = table.ids().into_iter().collect();
    for id in ids.difference(&known) {
        if let Some(row) = row_of(id)? {
            table.add_row(id, &row);
            fixed.added += usize::from(!changes.contains_key(id));
        }
    }
    let rows = table.bytes();
    let new = match (&old, usable) {
        (Some(old), Some(before)) => spliced(old, before, &rows),
        _ => [b"{\"version\":1,\"index\":".as_slice(), &rows, b"}"].concat(),
    };
    Ok((put(old, new), fixed))
}

/// The documents that are there once `changes` are made.
fn ids_after(
    files: &dyn Files,
    changes: &BTreeMap<String, Option<Vec<u8>>>,
) -> Result<BTreeSet<String>> {
    let mut ids = layout::documents(files)?;
    for (id, change) in changes {
        if change.is_some() {
            ids.insert(id.clone());
        } else {
            ids.remove(id);
        }
    }
    Ok(ids)
}

/// Replaces the bytes that were read, so that a concurrent change is noticed; creates the file if
/// there is none.
fn put(old: Option<Vec<u8>>, new: Vec<u8>) -> Option<Step> {
    match old {
        Some(old) if old == new => None,
        Some(old) if !old.is_empty() => Some(Step::Edit {
            key: KEY.to_owned(),
            at: Some(0),
            old,
            new,
            modified: Modified::Now,
        }),
        _ => Some(Step::put(KEY, new)),
    }
}

/// Returns the index with other rows; all other bytes stay.
fn spliced(old: &[u8], rows: Raw<'_>, new: &[u8]) -> Vec<u8> {
    let from = rows
        .bytes()
        .as_ptr()
        .addr()
        .wrapping_sub(old.as_ptr().addr());
    let end = from.wrapping_add(rows.bytes().len());
    match (
        old.get(..from),
        old.get(end..),
        old.get(from..end) == Some(rows.bytes()),
    ) {
        (Some(before), Some(after), true) => [before, new, after].concat(),
        // The rows were `null` or missing.
        _ => boswell_model::json::set_member(old.trim_ascii(), &["index"], new)
            .unwrap_or_else(|_| old.to_vec()),
    }
}

/// The rows of an index while they are changed. Unchanged rows keep their bytes and the white space
/// around them.
struct Table<'a> {
    bytes: &'a [u8],
    members: Vec<Member>,
    /// For each member: `None` if it is removed, `Some(Some(_))` if its value changes.
    rows: Vec<Option<Option<Vec<u8>>>>,
    added: Vec<(String, Vec<u8>)>,
}

impl<'a> Table<'a> {
    fn of(rows: Raw<'a>) -> Self {
        let mut members = Vec::new();
        // Cannot fail: the rows are an object that was parsed.
        let _ = scan_object(rows.bytes(), &mut members);
        let kept = vec![Some(None); members.len()];
        let mut table = Table {
            bytes: rows.bytes(),
            members,
            rows: kept,
            added: Vec::new(),
        };
        let ids = table.ids();
        let mut seen = BTreeSet::new();
        for (at, id) in ids.iter().enumerate().rev() {
            // Of duplicate ids the last row counts; the others are ignored.
            if !seen.insert(id.clone()) {
                table.drop_row(at);
            }
        }
        table
    }

    fn ids(&self) -> Vec<String> {
        let id = |member: &Member| {
            let key = self
                .bytes
                .get(member.key_start..member.key_end)
                .unwrap_or(b"\"\"");
            Raw::trusted(key).text().unwrap_or_default().into_owned()
        };
        self.members.iter().map(id).collect()
    }

    fn drop_row(&mut self, at: usize) {
        if let Some(row) = self.rows.get_mut(at) {
            *row = None;
        }
    }

    /// Corrects a row; returns whether it was wrong.
    fn mend_row(&mut self, at: usize, want: &Row) -> bool {
        let Some((member, slot)) = self.members.get(at).zip(self.rows.get_mut(at)) else {
            return false;
        };
        let value = self.bytes.get(member.start..member.end).unwrap_or(b"null");
        match (slot.is_some(), want.fixed(value)) {
            (true, Some(new)) => {
                *slot = Some(Some(new));
                true
            }
            _ => false,
        }
    }

    fn add_row(&mut self, id: &str, row: &Row) {
        self.added.push((id.to_owned(), row.bytes()));
    }

    fn bytes(&self) -> Vec<u8> {
        let gap = self
            .members
            .first()
            .and_then(|first| self.bytes.get(1..first.key_start))
            .unwrap_or(b"");
        let mut out = vec![b'{'];
        let mut any = false;
        for (at, (member, row)) in self.members.iter().zip(&self.rows).enumerate() {
            let Some(row) = row else { continue };
            let before = if any {
                at.checked_sub(1).and_then(|at| self.members.get(at))
            } else {
                None
            };
            let between = before.and_then(|before| self.bytes.get(before.end..member.key_start));
            out.extend_from_slice(between.unwrap_or(gap));
            out.extend_from_slice(
                self.bytes
                    .get(member.key_start..member.start)
                    .unwrap_or(b""),
            );
            out.extend_from_slice(match row {
                Some(new) => new,
                None => self.bytes.get(member.start..member.end).unwrap_or(b"null"),
            });
            any = true;
        }
        for (id, row) in &self.added {
            if any {
                out.push(b',');
            }
            out.extend_from_slice(gap);
            out.extend_from_slice(&go_json::string(id));
            out.push(b':');
            out.extend_from_slice(row);
            any = true;
        }
        let end = self.members.last().map_or(1, |last| last.end);
        out.extend_from_slice(self.bytes.get(end..).unwrap_or(b"}"));
        out
    }
}

/// Returns the row of a session in an index.
#[cfg(test)]
pub(crate) fn row_in<'a>(index: &'a [u8], id: &str) -> Option<Raw<'a>> {
    rows_of(index).ok()?.get(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryFiles;

    const A: &str = r#"{"id":"aa","backend":"claude","created_at":"2026-01-31T23:35:40.9+09:00","last_used":"2026-01-31T23:45:41.123456789+09:00","working_dir":"","tags":null}"#;
    const B: &str = r#"{"id":"bb","backend":"codex","created_at":"0001-01-01T00:00:00Z","last_used":"0001-01-01T00:00:00Z","working_dir":"/p","title":"\u003ct\u003e","tags":[ "x" ]}"#;

    fn files(index: Option<&str>) -> MemoryFiles {
        let mut files = MemoryFiles::default();
        files.put("sessions/aa.json", A, None);
        files.put("sessions/bb.json", B, None);
        if let Some(index) = index {
            files.put(KEY, index, None);
        }
        files
    }

    fn made(index: Option<&str>, depth: Depth) -> (Option<String>, Fixed) {
        let (step, fixed) = step(&files(index), &BTreeMap::new(), depth).unwrap();
        let text = step.map(|step| match step {
            Step::Put { bytes, .. } => String::from_utf8(bytes).unwrap(),
            Step::Edit { new, old, .. } => {
                assert_eq!(old, index.unwrap().as_bytes());
                String::from_utf8(new).unwrap()
            }
            other => panic!("{other}"),
        });
        (text, fixed)
    }

    const ROW_A: &str = r#""aa":{"ID":"aa","Backend":"claude","Status":"","LastUsed":"2026-01-31T23:45:41.123456789+09:00","Model":"","WorkDir":"","Title":"","Tags":null,"CreatedAt":"2026-01-31T23:35:40.9+09:00"}"#;
    const ROW_B: &str = r#""bb":{"ID":"bb","Backend":"codex","Status":"","LastUsed":"0001-01-01T00:00:00Z","Model":"","WorkDir":"/p","Title":"\u003ct\u003e","Tags":["x"],"CreatedAt":"0001-01-01T00:00:00Z"}"#;

    #[test]
    fn an_index_that_is_missing_or_corrupt_is_made_anew_with_go_names_null_tags_and_times_as_found()
    {
        let right = format!(r#"{{"version":1,"index":{{{ROW_A},{ROW_B}}}}}"#);
        for index in [
            None,
            Some(""),
            Some("{\"version\":1,"),
            Some(r#"{"version":2,"index":{}}"#),
            Some("[1]"),
        ] {
            let (text, fixed) = made(index, Depth::Names);
            assert_eq!(text.as_deref(), Some(right.as_str()), "{index:?}");
            assert!(fixed.remake.is_some());
        }
        let (text, fixed) = made(Some(r#"{"version":1,"index":null}"#), Depth::Names);
        assert_eq!((text.as_deref(), fixed.added), (Some(right.as_str()), 2));
        assert_eq!(
            made(Some(&right), Depth::Everything),
            (None, Fixed::default()),
            "a right one is left alone"
        );
    }

    #[test]
    fn ghosts_go_missing_rows_come_and_all_other_bytes_stay() {
        let index = format!(
            "{{ \"later\":[1.0], \"version\": 1,\n \"index\": {{\n   \"ghost\": {{}},\n   {ROW_A},\n   \"dead\": null }} }}\n"
        );
        let (text, fixed) = made(Some(&index), Depth::Everything);
        let right = format!(
            "{{ \"later\":[1.0], \"version\": 1,\n \"index\": {{\n   {ROW_A},\n   {ROW_B} }} }}\n"
        );
        assert_eq!(text.as_deref(), Some(right.as_str()));
        assert_eq!(
            fixed,
            Fixed {
                added: 1,
                deleted_sessions: 2,
                stale: 0,
                remake: None
            }
        );
    }

    #[test]
    fn stale_rows_are_mended_and_keep_what_is_not_known() {
        let stale = ROW_A
            .replace(
                "2026-01-31T23:45:41.123456789+09:00",
                "2020-01-01T00:00:00Z",
            )
            .replace("\"Tags\":null", "\"Tags\":null,\"Later\": 7");
        let index = format!(r#"{{"version":1,"index":{{{stale},{ROW_B}}}}}"#);
        assert_eq!(
            made(Some(&index), Depth::Names).0,
            None,
            "rows of others are not read for a small change"
        );
        let (text, fixed) = made(Some(&index), Depth::Everything);
        let right = ROW_A.replace("\"Tags\":null", "\"Tags\":null,\"Later\": 7");
        assert_eq!(
            text.unwrap(),
            format!(r#"{{"version":1,"index":{{{right},{ROW_B}}}}}"#)
        );
        assert_eq!(fixed.stale, 1);
    }

    #[test]
    fn a_document_that_cannot_be_read_keeps_its_row_and_gets_none() {
        let mut files = files(Some(&format!(
            r#"{{"version":1,"index":{{{ROW_A},{ROW_B}}}}}"#
        )));
        files.put("sessions/aa.json", "{\"id\":", None);
        files.put("sessions/cc.json", "{\"id\":", None);
        assert_eq!(
            step(&files, &BTreeMap::new(), Depth::Everything).unwrap().0,
            None
        );
    }

    #[test]
    fn rows_that_are_no_objects_and_doubled_rows_are_made_right() {
        let index = format!(r#"{{"version":1,"index":{{"aa":{{"ID":"x"}},{ROW_B},"aa":null}}}}"#);
        let (text, _) = made(Some(&index), Depth::Everything);
        assert_eq!(
            text.unwrap(),
            format!(r#"{{"version":1,"index":{{{ROW_B},{ROW_A}}}}}"#)
        );
        assert!(row_in(index.as_bytes(), "aa").unwrap().is_null());
    }
}
