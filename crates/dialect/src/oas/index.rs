//! `sessions-index.json` of a folder: the SDK trusts it, so we compare and correct it.

use std::collections::{BTreeMap, BTreeSet};

use boswell_model::json::{Json, Raw, RawKind, set_member};
use boswell_model::{EntryKind, Lines, Problem, ProblemKind, Result};

use crate::{Depth, Files, Modified, Reader, SessionLocation, Step, json_layout};

use super::OpenAgentSdk;
use super::layout::sessions_in;

/// File name of the index.
pub(crate) const NAME: &str = "sessions-index.json";
const LIMIT: u64 = 256 << 20;
const CHUNK: usize = 1 << 20;
/// White space before the members of a row in a newly created index.
const ROW_GAP: &[u8] = b"\n    ";

/// Reports the differences between the index of `folder` and its files. A missing index is not a
/// problem.
pub(crate) fn compare(
    files: &dyn Files,
    folder: &str,
    sessions: &BTreeSet<String>,
    problems: &mut Vec<(String, Problem)>,
) {
    let key = key(folder);
    let mut say =
        |kind, detail: String| problems.push((key.clone(), Problem::of_file(kind, detail)));
    let bytes = match files.read_whole(&key, LIMIT) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return,
        Err(error) => {
            return say(
                ProblemKind::Unreadable,
                format!("the index cannot be read: {error}"),
            );
        }
    };
    let Some(rows) = rows_of(&bytes) else {
        return say(
            ProblemKind::StaleIndex,
            "the index is not in the SDK's format; the next save would replace it by one row"
                .to_owned(),
        );
    };
    let rows: BTreeSet<String> = rows.items().filter_map(id_of).collect();
    let deleted_sessions = rows.difference(sessions).count();
    if deleted_sessions > 0 {
        say(
            ProblemKind::StaleIndex,
            format!("{deleted_sessions} rows have no file; the SDK lists them all the same"),
        );
    }
    let missing = sessions.difference(&rows).count();
    if missing > 0 {
        say(
            ProblemKind::StaleIndex,
            format!("{missing} files have no row; the SDK does not list them"),
        );
    }
}

/// Returns the key of a folder's index.
pub(crate) fn key(folder: &str) -> String {
    format!("{folder}/{NAME}")
}

/// Whether the key is that of an index.
pub(crate) fn is_index(key: &str) -> bool {
    key.rsplit('/').next() == Some(NAME)
}

fn rows_of(bytes: &[u8]) -> Option<Raw<'_>> {
    Raw::parse(bytes)
        .ok()?
        .get("sessions")
        .filter(|s| s.kind() == RawKind::Array)
}

fn id_of(row: Raw<'_>) -> Option<String> {
    row.get("id")?.text().map(|id| id.to_lowercase())
}

/// The facts that an index row contains about a session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) first_prompt: String,
    pub(crate) messages: u64,
    pub(crate) created: i64,
    pub(crate) modified: i64,
}

impl Row {
    fn fields(&self) -> [(&'static str, Vec<u8>); 5] {
        let print = |json: Json| json.to_bytes();
        [
            ("id", print(Json::from(self.id.as_str()))),
            ("firstPrompt", print(Json::from(self.first_prompt.as_str()))),
            ("messageCount", print(Json::from(self.messages))),
            ("created", print(Json::from(self.created))),
            ("modified", print(Json::from(self.modified))),
        ]
    }

    /// Returns an existing row with its wrong members replaced.
    fn fixed(&self, row: Raw<'_>) -> Vec<u8> {
        let mut new = row.bytes().to_vec();
        for (name, want) in self.fields() {
            let want = Raw::trusted(&want);
            let same = Raw::trusted(&new).get(name).is_some_and(|is| match name {
                "id" => is
                    .text()
                    .is_some_and(|id| id.eq_ignore_ascii_case(&self.id)),
                _ => is.kind() == want.kind() && is.text() == want.text() && is.f64() == want.f64(),
            });
            if !same {
                new = set_member(&new, &[name], want.bytes()).unwrap_or(new);
            }
        }
        new
    }
}

/// Reads a session's file to compute its row. Without a header, the times are those of its rows, if
/// any.
pub(crate) fn row_of(files: &dyn Files, location: &SessionLocation) -> Result<Option<Row>> {
    let Some(key) = &location.key else {
        return Ok(None);
    };
    let mut reader = Reader::new(&OpenAgentSdk, location, Depth::Facts);
    let mut lines = Lines::new(0, 1);
    let mut at = 0;
    loop {
        let chunk = files.read(key, at, CHUNK)?;
        lines.push(&chunk, &mut |line| reader.line(line));
        at += chunk.len() as u64;
        if chunk.len() < CHUNK {
            break;
        }
    }
    lines.finish(&mut |line| reader.line(line));
    let read = reader.finish();
    let rows = read
        .log
        .heads
        .iter()
        .filter(|head| head.kind != EntryKind::Header)
        .count() as u64;
    let first = read
        .log
        .heads
        .iter()
        .find(|head| head.kind == EntryKind::User);
    let first_prompt = match first {
        Some(head) => first_prompt(&files.read(
            key,
            head.at,
            usize::try_from(head.len).unwrap_or(usize::MAX),
        )?),
        None => String::new(),
    };
    let millis = |at: Option<boswell_model::Instant>| at.map_or(0, |at| at.millis());
    let (created, modified) = (millis(read.meta.created), millis(read.meta.last_active));
    Ok(Some(Row {
        id: location.id.clone(),
        first_prompt,
        messages: rows,
        created,
        modified,
    }))
}

/// Returns the text of a prompt as the SDK reads it: only a plain string counts.
pub(crate) fn first_prompt(row: &[u8]) -> String {
    let content = Raw::parse(row).ok().and_then(|row| {
        row.at(&["message", "content"])?
            .text()
            .map(|t| t.into_owned())
    });
    content.unwrap_or_default()
}

/// Which rows are compared with their files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    /// Missing rows, and rows of sessions that change. A missing index is not created.
    Changed,
    /// Every row; a missing index is created.
    All,
}

/// Returns the step that corrects the index of a folder. `changes` are the sessions after the plan:
/// a row, or `None` if deleted.
pub(crate) fn step(
    files: &dyn Files,
    folder: &str,
    changes: &BTreeMap<String, Option<Row>>,
    which: Rows,
) -> Result<Option<Step>> {
    let key = key(folder);
    let old = files.read_whole(&key, LIMIT)?;
    if old.is_none() && which == Rows::Changed {
        return Ok(None);
    }
    let mut there: BTreeMap<String, SessionLocation> = sessions_in(files, folder)?
        .into_iter()
        .map(|location| (location.id.to_lowercase(), location))
        .collect();
    there.retain(|id, _| !matches!(changes.get(id), Some(None)));
    let wanted = |id: &str| match (changes.get(id), there.get(id)) {
        (Some(row), _) => Ok(row.clone()),
        (None, Some(location)) => row_of(files, location),
        (None, None) => Ok(None),
    };
    let known = old.as_deref().and_then(rows_of);
    let mut rows: Vec<Vec<u8>> = Vec::new();
    let mut seen = BTreeSet::new();
    for row in known.iter().flat_map(|rows| rows.items()) {
        let Some(id) = id_of(row)
            .filter(|id| there.contains_key(id) || changes.get(id).is_some_and(Option::is_some))
        else {
            continue;
        };
        let fix = which == Rows::All || changes.contains_key(&id);
        if !seen.insert(id.clone()) {
            continue;
        }
        rows.push(match if fix { wanted(&id)? } else { None } {
            Some(want) => want.fixed(row),
            None => row.bytes().to_vec(),
        });
    }
    let gap = known.and_then(gap_of);
    let fresh = changes
        .iter()
        .filter(|(_, row)| row.is_some())
        .map(|(id, _)| id);
    let missing: BTreeSet<&String> = there
        .keys()
        .chain(fresh)
        .filter(|id| !seen.contains(*id))
        .collect();
    for id in missing {
        if let Some(row) = wanted(id)? {
            rows.push(json_layout::object(
                &row.fields(),
                gap.as_deref().unwrap_or(ROW_GAP),
            ));
        }
    }
    Ok(put(key, old.as_deref(), &rows, gap.as_deref()))
}

/// Returns the white space before each row; `None` if there are no rows.
fn gap_of(rows: Raw<'_>) -> Option<Vec<u8>> {
    let inside = rows.bytes().get(1..)?;
    let white = inside.len() - inside.trim_ascii_start().len();
    rows.items()
        .next()
        .map(|_| inside.get(..white).unwrap_or(b"").to_vec())
}

fn array_of(rows: &[Vec<u8>], gap: &[u8]) -> Vec<u8> {
    let end = gap.strip_suffix(b"  ").unwrap_or(gap);
    let mut array = vec![b'['];
    for (number, row) in rows.iter().enumerate() {
        array.extend_from_slice(if number > 0 { b"," } else { b"" });
        array.extend_from_slice(gap);
        array.extend_from_slice(row);
    }
    array.extend_from_slice(if rows.is_empty() { b"" } else { end });
    array.push(b']');
    array
}

fn put(key: String, old: Option<&[u8]>, rows: &[Vec<u8>], gap: Option<&[u8]>) -> Option<Step> {
    let array = array_of(rows, gap.unwrap_or(ROW_GAP));
    let usable = old.filter(|old| rows_of(old).is_some());
    let Some(old) = usable else {
        let whole = [
            b"{\n  \"projectPath\": \"\",\n  \"sessions\": ".as_slice(),
            &array,
            b"\n}\n",
        ]
        .concat();
        return Some(match old {
            Some(old) if !old.is_empty() => Step::Edit {
                key,
                at: Some(0),
                old: old.to_vec(),
                new: whole,
                modified: Modified::Now,
            },
            _ => Step::put(key, whole),
        });
    };
    let same = rows_of(old).is_some_and(|is| is.items().map(|row| row.bytes()).eq(rows.iter()));
    if same {
        return None;
    }
    let object = old.trim_ascii();
    let start = object.as_ptr().addr().saturating_sub(old.as_ptr().addr());
    let new = set_member(object, &["sessions"], &array).ok()?;
    let new = [old.get(..start)?, &new, old.get(start + object.len()..)?].concat();
    Some(Step::Edit {
        key,
        at: Some(0),
        old: old.to_vec(),
        new,
        modified: Modified::Now,
    })
}
