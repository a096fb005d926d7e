//! Edits `sessions.json`: rows are changed one by one, and all others keep their bytes.

use std::collections::HashSet;

use boswell_model::json::{Json, Raw, remove_member, set_member};
use boswell_model::{Advice, Error, ErrorKind, Instant, Result};

use crate::{Files, Step};

use super::indent;
use super::index::{self, MAIN, Rows};

/// How many file names are tried for the backup of a damaged index.
const NAMES: u32 = 1000;

/// The index while it is changed.
#[derive(Debug, Default)]
pub(crate) struct IndexFile {
    rows: Rows,
    damaged: Option<Vec<u8>>,
    changed: bool,
}

impl IndexFile {
    /// Loads the index.
    pub(crate) fn load(files: &dyn Files) -> Result<Self> {
        let loaded = index::load(files)?;
        Ok(IndexFile {
            rows: loaded.rows,
            damaged: loaded.damaged,
            changed: false,
        })
    }

    /// Iterates over the rows in order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.rows
            .iter()
            .map(|(id, row)| (id.as_str(), row.as_slice()))
    }

    /// Returns the row of a session.
    pub(crate) fn row(&self, id: &str) -> Option<RowEdit> {
        self.rows()
            .find(|(of, _)| *of == id)
            .map(|(_, row)| RowEdit { json: row.to_vec() })
    }

    /// Replaces a row, or adds a new one at the end.
    pub(crate) fn put(&mut self, id: &str, row: RowEdit) {
        match self.rows.iter_mut().find(|(of, _)| of == id) {
            Some((_, known)) if *known == row.json => return,
            Some((_, known)) => *known = row.json,
            None => self.rows.push((id.to_owned(), row.json)),
        }
        self.changed = true;
    }

    /// Removes a row.
    pub(crate) fn remove(&mut self, id: &str) {
        let before = self.rows.len();
        self.rows.retain(|(of, _)| of != id);
        self.changed |= self.rows.len() != before;
    }

    /// Whether the index must be written: it was changed, or it is damaged.
    pub(crate) fn is_dirty(&self) -> bool {
        self.changed || self.damaged.is_some()
    }

    /// Records that the steps so far write the index.
    pub(crate) fn is_written(&mut self) {
        self.damaged = None;
        self.changed = false;
    }

    /// Returns the bytes of the index, formatted as by the app.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let rows: Vec<&[u8]> = self.rows.iter().map(|(_, row)| row.as_slice()).collect();
        indent::pretty(&[b"[".as_slice(), &rows.join(&b','), b"]"].concat())
    }

    /// Returns the steps that write the index. A damaged index is first copied to the name that the
    /// app would use, so that it can be examined later.
    pub(crate) fn steps(&self, files: &dyn Files, now: Instant) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        if let Some(damaged) = &self.damaged {
            steps.push(Step::put(free_name(files, now)?, damaged.clone()));
        }
        if self.is_dirty() {
            steps.push(Step::put(MAIN, self.to_bytes()));
        }
        Ok(steps)
    }
}

/// Returns a free name for the backup of a damaged index.
fn free_name(files: &dyn Files, now: Instant) -> Result<String> {
    let time = now.to_rfc3339().replace([':', '.'], "-");
    for number in 0..NAMES {
        let more = if number == 0 {
            String::new()
        } else {
            format!("-{number}")
        };
        let name = format!("{MAIN}.corrupt-{time}{more}");
        if files.stat(&name)?.is_none() {
            return Ok(name);
        }
    }
    Err(Error::new(
        ErrorKind::Conflict,
        format!("`{MAIN}` is damaged and cannot be put aside"),
    )
    .because("a thousand copies of this moment are there already")
    .advising(format!("move the files named `{MAIN}.corrupt-…` away")))
}

/// A row while it is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowEdit {
    json: Vec<u8>,
}

impl RowEdit {
    /// Creates a row.
    pub(crate) fn of(json: &Json) -> Self {
        RowEdit {
            json: json.to_bytes(),
        }
    }

    /// Returns a row as stored.
    pub(crate) fn raw(&self) -> Raw<'_> {
        Raw::trusted(&self.json)
    }

    /// Returns a string member that is not empty.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.raw()
            .get(key)?
            .text()
            .filter(|text| !text.is_empty())
            .map(Into::into)
    }

    /// Sets a member, at its position or at the end.
    pub(crate) fn set(&mut self, key: &str, value: impl Into<Json>) -> Result<()> {
        self.json = set_member(&self.json, &[key], &value.into().to_bytes()).map_err(broken)?;
        Ok(())
    }

    /// Removes a member. The app never writes null for a missing value.
    pub(crate) fn remove(&mut self, key: &str) -> Result<()> {
        self.json = remove_member(&self.json, key).map_err(broken)?;
        Ok(())
    }
}

fn broken(fault: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::Damaged,
        format!("a row of `{MAIN}` cannot be changed"),
    )
    .because(fault.to_string())
    .advising(Advice::Check { session: None })
}

/// Three-way merge: applies the change from `base` to `ours` to the index that another process
/// wrote meanwhile; `None` if one of them is not an index.
///
/// Merges row by row, and in a row member by member. Where both changed a member, `theirs` wins,
/// because it is newer.
pub(crate) fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    let (base, ours) = (index::parse(base)?, index::parse(ours)?);
    let mut out = IndexFile {
        rows: index::parse(theirs)?,
        ..IndexFile::default()
    };
    let find = |rows: &Rows, id: &str| {
        rows.iter()
            .find(|(of, _)| of == id)
            .map(|(_, row)| row.clone())
    };
    let mut seen = HashSet::new();
    // Of rows with the same id only the first is ever changed.
    for (id, row) in ours.iter().filter(|(id, _)| seen.insert(id.as_str())) {
        match (find(&base, id), out.row(id)) {
            (Some(was), Some(theirs)) => out.put(id, merge_row(&was, row, theirs)?),
            (None, None) => out.put(id, RowEdit { json: row.clone() }),
            // The other process added it too, or removed it.
            (None, Some(_)) | (Some(_), None) => {}
        }
    }
    for (id, _) in base.iter().filter(|(id, _)| find(&ours, id).is_none()) {
        out.remove(id);
    }
    Some(out.to_bytes())
}

fn merge_row(base: &[u8], ours: &[u8], mut theirs: RowEdit) -> Option<RowEdit> {
    let (base, ours) = (Raw::parse(base).ok()?, Raw::parse(ours).ok()?);
    let same = |a: Option<Raw<'_>>, b: Option<Raw<'_>>| {
        a.map(|it| indent::compact(it.bytes())) == b.map(|it| indent::compact(it.bytes()))
    };
    let keys = base
        .members()
        .chain(ours.members())
        .map(|(key, _)| key.to_text().into_owned());
    for key in keys.collect::<std::collections::BTreeSet<_>>() {
        let (was, is) = (base.get(&key), ours.get(&key));
        if same(was, is) || !same(was, theirs.raw().get(&key)) {
            continue;
        }
        match is {
            Some(value) => theirs.set(&key, Json::from(value)).ok()?,
            None => theirs.remove(&key).ok()?,
        }
    }
    Some(theirs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryFiles;

    fn index(text: &str) -> (MemoryFiles, IndexFile) {
        let mut files = MemoryFiles::default();
        files.put(MAIN, text, None);
        let index = IndexFile::load(&files).unwrap();
        (files, index)
    }

    #[test]
    fn rows_that_nobody_changed_keep_every_token() {
        let text = "[\n  {\n    \"id\": \"a\",\n    \"n\": 1.0,\n    \"providerEnvJson\": \"secret\"\n  },\n  {\n    \"id\": \"b\",\n    \"x\": {}\n  }\n]";
        let (_, mut index) = index(text);
        assert!(!index.is_dirty());
        let mut row = index.row("b").unwrap();
        row.set("title", "新").unwrap();
        index.put("b", row);
        let want = text.replace("\"x\": {}", "\"x\": {},\n    \"title\": \"新\"");
        assert_eq!(String::from_utf8(index.to_bytes()).unwrap(), want);
    }

    #[test]
    fn of_duplicate_ids_the_first_row_is_changed_and_every_other_token_stays() {
        let text = "[\n  {\n    \"id\": \"a\",\n    \"n\": 1.0\n  },\n  {\n    \"id\": \"b\"\n  },\n  {\n    \"id\": \"a\",\n    \"n\": 2e0\n  }\n]";
        let (_, mut index) = index(text);
        let mut row = index.row("a").unwrap();
        row.set("title", "t").unwrap();
        index.put("a", row);
        let changed = text.replace("1.0", "1.0,\n    \"title\": \"t\"");
        assert_eq!(String::from_utf8(index.to_bytes()).unwrap(), changed);
        let theirs = text.replace("\"b\"", "\"b\",\n    \"x\": 1");
        let merged = merge(text.as_bytes(), changed.as_bytes(), theirs.as_bytes()).unwrap();
        let both = theirs.replace("1.0", "1.0,\n    \"title\": \"t\"");
        assert_eq!(String::from_utf8(merged).unwrap(), both);
    }

    #[test]
    fn a_damaged_index_is_put_aside_before_it_is_written_even_without_a_change() {
        let (mut files, index) = index("[\n{\"id\":\"a\"},\n{\"id\":");
        let now = Instant::parse("2026-08-05T01:02:03.004Z").unwrap();
        let steps = index.steps(&files, now).unwrap();
        let aside = "sessions.json.corrupt-2026-08-05T01-02-03-004Z";
        assert_eq!(
            steps,
            [
                Step::put(aside, "[\n{\"id\":\"a\"},\n{\"id\":"),
                Step::put(MAIN, "[\n  {\n    \"id\": \"a\"\n  }\n]")
            ]
        );
        files.put(aside, "x", None);
        assert_eq!(
            index.steps(&files, now).unwrap()[0].keys(),
            [format!("{aside}-1")]
        );
    }

    #[test]
    fn a_change_is_brought_into_what_somebody_else_made_of_the_index() {
        let base = r#"[{"id":"a","title":"T","n":1},{"id":"b"},{"id":"gone"}]"#;
        let ours = r#"[{"id":"a","title":"U","n":2},{"id":"b"},{"id":"new"}]"#;
        let theirs = r#"[{"id":"a","title":"T","n":5,"more":true},{"id":"c"},{"id":"gone"}]"#;
        let merged = merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes()).unwrap();
        let want = r#"[{"id":"a","title":"U","n":5,"more":true},{"id":"c"},{"id":"new"}]"#;
        assert_eq!(String::from_utf8(indent::compact(&merged)).unwrap(), want);
        let again = merge(base.as_bytes(), ours.as_bytes(), &merged).unwrap();
        assert_eq!(again, merged, "a second time changes nothing");
        assert_eq!(merge(base.as_bytes(), ours.as_bytes(), b"{\"torn"), None);
    }
}
