//! Reads `sessions.json` as the app reads it, and salvages it as the app would if it is damaged.

use std::collections::HashSet;

use boswell_model::json::{Raw, RawKind, remove_member};
use boswell_model::{Problem, ProblemKind, Result};

use crate::Files;

use super::row::SECRET;

/// Key of the index.
pub(crate) const MAIN: &str = "sessions.json";
const TEMP: &str = "sessions.json.tmp";
/// Far above the size for a thousand sessions; a larger file is not an index.
const LIMIT: u64 = 256 << 20;

/// Id and JSON of each row.
pub(crate) type Rows = Vec<(String, Vec<u8>)>;

/// The rows of the index in file order, each id once: of several the app uses the first.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// The rows, without the member that may contain credentials.
    pub(crate) rows: Rows,
    /// Whether there is an index.
    pub(crate) exists: bool,
    /// Whether the bytes could be read. If not, it is unknown which rows the index has.
    pub(crate) is_readable: bool,
}

/// Reads the index and reports its problems.
pub(crate) fn read(files: &dyn Files, problems: &mut Vec<(String, Problem)>) -> Result<Index> {
    let mut say =
        |kind, detail: String| problems.push((MAIN.to_owned(), Problem::of_file(kind, detail)));
    let bytes = match files.read_whole(MAIN, LIMIT) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(Index::default()),
        Err(error) if error.is_not_found() => return Ok(Index::default()),
        Err(error) => {
            say(
                ProblemKind::Unreadable,
                format!("the index cannot be read: {error}"),
            );
            return Ok(Index {
                exists: true,
                ..Index::default()
            });
        }
    };
    let (rows, damage) = rows_of(files, &bytes)?;
    if let Some((kind, detail)) = damage {
        say(kind, detail);
    }
    Ok(Index {
        rows: once(rows).into_iter().map(without_secret).collect(),
        exists: true,
        is_readable: true,
    })
}

/// Returns the complete rows of an index, and what is wrong with it.
fn rows_of(files: &dyn Files, bytes: &[u8]) -> Result<(Rows, Option<(ProblemKind, String)>)> {
    let text = without_bom(bytes);
    if let Some(rows) = strict(text) {
        return Ok((rows, None));
    }
    let salvaged = salvage(text);
    let kind = if Raw::parse(text).is_ok() {
        ProblemKind::StaleIndex
    } else {
        ProblemKind::NotJson
    };
    if let Some(rows) = newer_temp(files)? {
        let detail = format!(
            "the index is damaged; `{TEMP}` is whole and not older, its {} rows are used",
            rows.len()
        );
        return Ok((rows, Some((kind, detail))));
    }
    let detail = format!(
        "the index is damaged; {} rows could be saved from it",
        salvaged.len()
    );
    Ok((salvaged, Some((kind, detail))))
}

/// The index as a writer needs it: complete rows, including the credentials that only the app may
/// read.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    /// All rows in order, also those whose id is there before.
    pub(crate) rows: Rows,
    /// The bytes of the index, if it is damaged.
    pub(crate) damaged: Option<Vec<u8>>,
}

/// Reads the index in order to rewrite it. An unreadable index is an error, because it must not be
/// overwritten.
pub(crate) fn load(files: &dyn Files) -> Result<Loaded> {
    let Some(bytes) = files.read_whole(MAIN, LIMIT)? else {
        return Ok(Loaded::default());
    };
    let (rows, damage) = rows_of(files, &bytes)?;
    Ok(Loaded {
        rows,
        damaged: damage.map(|_| bytes),
    })
}

/// Parses the rows of an index; `None` if it is damaged.
pub(crate) fn parse(bytes: &[u8]) -> Option<Rows> {
    strict(without_bom(bytes))
}

/// Whether the key is that of the index, or of a backup of it by the app or boswell.
pub(crate) fn is_index(key: &str) -> bool {
    key.strip_prefix(MAIN)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Returns an index without the rows of these sessions; `None` if it is damaged.
pub(crate) fn without(bytes: &[u8], ids: &[String]) -> Option<Vec<u8>> {
    let text = without_bom(bytes);
    let rows = crate::without_sessions::items(text, &[], |row| {
        row.get("id")
            .is_some_and(|it| ids.iter().any(|id| it.is(id)))
    })?;
    let bom = bytes.get(..bytes.len() - text.len()).unwrap_or_default();
    Some([bom, &rows].concat())
}

fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// Parses an undamaged index: an array in which every item has an id.
fn strict(text: &[u8]) -> Option<Rows> {
    let array = Raw::parse(text)
        .ok()
        .filter(|value| value.kind() == RawKind::Array)?;
    array.items().map(row).collect()
}

/// Recovers what is readable: the valid items of an array, else every balanced top-level object
/// with an id.
fn salvage(text: &[u8]) -> Rows {
    match Raw::parse(text) {
        Ok(array) if array.kind() == RawKind::Array => array.items().filter_map(row).collect(),
        _ => balanced(text)
            .into_iter()
            .filter_map(|object| row(Raw::parse(object).ok()?))
            .collect(),
    }
}

/// Returns the rows of the temporary file that an interrupted write of the index left, if it is
/// complete and not older than the index.
fn newer_temp(files: &dyn Files) -> Result<Option<Rows>> {
    let times = (
        files.stat(MAIN)?.and_then(|i| i.modified),
        files.stat(TEMP)?.and_then(|i| i.modified),
    );
    let (Some(main), Some(temp)) = times else {
        return Ok(None);
    };
    if temp < main {
        return Ok(None);
    }
    let bytes = files
        .read_whole(TEMP, LIMIT)
        .ok()
        .flatten()
        .unwrap_or_default();
    Ok(strict(without_bom(&bytes)).filter(|rows| !rows.is_empty()))
}

fn row(item: Raw<'_>) -> Option<(String, Vec<u8>)> {
    Some((item.get("id")?.text()?.into_owned(), item.bytes().to_vec()))
}

/// Removes the credentials: listings are cached, and secrets must not get into a cache.
fn without_secret((id, row): (String, Vec<u8>)) -> (String, Vec<u8>) {
    let row = remove_member(&row, SECRET).unwrap_or_else(|_| Vec::new());
    (id, row)
}

/// Returns the rows that the app uses: of those with the same id the first.
fn once(mut rows: Rows) -> Rows {
    let mut seen = HashSet::new();
    rows.retain(|(id, _)| seen.insert(id.clone()));
    rows
}

/// Returns the ranges from a top-level brace to its closing brace; braces in strings do not count.
fn balanced(text: &[u8]) -> Vec<&[u8]> {
    let mut out = Vec::new();
    let (mut depth, mut start, mut in_string, mut escaped) = (0usize, 0usize, false, false);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' if depth > 0 => in_string = !in_string,
            _ if in_string => {}
            b'{' => {
                if depth == 0 {
                    start = at;
                }
                depth += 1;
            }
            b'}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    out.extend(text.get(start..=at));
                }
            }
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use boswell_model::Instant;

    use crate::MemoryFiles;

    use super::*;

    fn at(ms: i64) -> Option<Instant> {
        Some(Instant::from_millis(ms))
    }

    fn ids(main: &str, temp: Option<(&str, i64)>) -> (Vec<String>, Vec<ProblemKind>) {
        let mut files = MemoryFiles::default();
        files.put(MAIN, main, at(100));
        if let Some((text, time)) = temp {
            files.put(TEMP, text, at(time));
        }
        let mut problems = Vec::new();
        let index = read(&files, &mut problems).unwrap();
        assert!(index.exists);
        let ids = index.rows.into_iter().map(|(id, _)| id).collect();
        (ids, problems.into_iter().map(|(_, p)| p.kind).collect())
    }

    #[test]
    fn a_byte_order_mark_is_no_damage() {
        assert_eq!(
            ids("\u{FEFF}[{\"id\":\"a\"}]", None),
            (vec!["a".into()], vec![])
        );
    }

    #[test]
    fn good_items_of_a_damaged_array_are_saved() {
        let (rows, problems) = ids(r#"[{"id":"a"},null,{"no":"id"},{"id":7},{"id":"b"}]"#, None);
        assert_eq!(
            (rows, problems),
            (vec!["a".into(), "b".into()], vec![ProblemKind::StaleIndex])
        );
    }

    #[test]
    fn whole_objects_of_a_truncated_index_are_saved() {
        let text = "[\n{\"id\":\"a\",\"title\":\"}{ \\\" \",\"origin\":{\"id\":\"inner\"}},\n{\"id\":\"b\"},{\"id\":";
        assert_eq!(
            ids(text, None),
            (vec!["a".into(), "b".into()], vec![ProblemKind::NotJson])
        );
        assert_eq!(
            ids("{\"truncated\"", None),
            (vec![], vec![ProblemKind::NotJson])
        );
        assert_eq!(ids("", None).0, [] as [String; 0]);
    }

    #[test]
    fn a_newer_temporary_file_wins_over_salvage_and_an_older_one_is_ignored() {
        let torn = "[{\"id\":\"a\"},";
        assert_eq!(
            ids(torn, Some(("[{\"id\":\"a\"},{\"id\":\"c\"}]", 100))).0,
            ["a", "c"]
        );
        assert_eq!(ids(torn, Some(("[{\"id\":\"c\"}]", 99))).0, ["a"]);
        assert_eq!(
            ids(torn, Some(("[{\"id\":\"c\"},null]", 101))).0,
            ["a"],
            "only a whole one"
        );
        assert_eq!(
            ids(torn, Some(("[]", 101))).0,
            ["a"],
            "only one that says something"
        );
        assert_eq!(
            ids("[{\"id\":\"a\"}]", Some(("[{\"id\":\"c\"}]", 101))).0,
            ["a"],
            "only for a damaged index"
        );
    }

    #[test]
    fn of_duplicate_ids_the_first_row_counts() {
        let mut files = MemoryFiles::default();
        files.put(
            MAIN,
            r#"[{"id":"a","n":1},{"id":"b"},{"id":"a","n":2}]"#,
            None,
        );
        let index = read(&files, &mut Vec::new()).unwrap();
        assert_eq!(
            index.rows[0],
            ("a".to_owned(), br#"{"id":"a","n":1}"#.to_vec())
        );
        assert_eq!(index.rows.len(), 2);
    }

    #[test]
    fn credentials_do_not_leave_the_index() {
        let mut files = MemoryFiles::default();
        files.put(
            MAIN,
            r#"[{"id":"a","providerEnvJson":"{\"k\":\"hunter2\"}","title":"t"}]"#,
            None,
        );
        let index = read(&files, &mut Vec::new()).unwrap();
        assert_eq!(index.rows[0].1, br#"{"id":"a","title":"t"}"#);
    }
}
