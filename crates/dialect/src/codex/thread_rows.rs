//! What Codex's database of threads states: names, which threads are archived, and their provider.
//!
//! The database is `state_N.sqlite`, where N grows with its schema. It is read and never written;
//! Codex itself derives most of it from the logs.

use std::collections::HashMap;

use boswell_model::{Advice, Error, ErrorKind, Problem, ProblemKind, Result};

use crate::{Cell, Column, Discovered, Files, RowSelect, RowSource};

/// A row of the table of threads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ThreadRow {
    /// The name that the user gave.
    pub(super) name: Option<String>,
    /// Whether Codex leaves the thread out of its lists.
    pub(super) archived: bool,
    /// The model provider that the thread belongs to.
    pub(super) provider: Option<String>,
}

/// The rows of all threads.
#[derive(Debug, Default)]
pub(super) struct ThreadRows {
    rows: HashMap<String, ThreadRow>,
}

const TABLE: &str = "threads";
/// How often the table is read while Codex writes it.
const ATTEMPTS: usize = 4;

impl ThreadRows {
    /// Reads the newest database. One that cannot be read is a problem of the store: sessions only
    /// lack what it states.
    pub(super) fn read(files: &dyn Files, found: &mut Discovered) -> ThreadRows {
        let Ok(Some(key)) = newest(files) else {
            return ThreadRows::default();
        };
        let mut read = rows(files, &key);
        for _ in 1..ATTEMPTS {
            // Codex wrote between two rows.
            if !matches!(&read, Err(error) if error.kind() == ErrorKind::Conflict) {
                break;
            }
            read = rows(files, &key);
        }
        match read {
            Ok(rows) => ThreadRows { rows },
            Err(error) => {
                let detail = format!("names and archived threads in it are not known: {error}");
                let problem = Problem::of_file(ProblemKind::Unreadable, detail);
                found.problems.push((key, problem));
                ThreadRows::default()
            }
        }
    }

    /// Returns the row of a thread.
    pub(super) fn of(&self, id: &str) -> Option<&ThreadRow> {
        self.rows.get(id)
    }
}

/// Returns the database with the highest number.
pub(super) fn newest(files: &dyn Files) -> Result<Option<String>> {
    let number = |name: &str| -> Option<u32> {
        let number = name.strip_prefix("state_")?.strip_suffix(".sqlite")?;
        number.parse().ok()
    };
    let all = files.list("")?;
    let numbered = all
        .iter()
        .filter(|info| info.is_file())
        .filter_map(|info| Some((number(info.name())?, &info.key)));
    Ok(numbered.max().map(|(_, key)| key.clone()))
}

fn rows(files: &dyn Files, key: &str) -> Result<HashMap<String, ThreadRow>> {
    let mut found = HashMap::new();
    let Some(source) = files.rows(key)? else {
        return Ok(found);
    };
    if !source.tables()?.iter().any(|table| table == TABLE) {
        return Err(unknown_schema("it has no table of threads"));
    }
    let select = RowSelect {
        table: TABLE,
        only: None,
        order: &[],
    };
    for key in source.keys(&select)? {
        if let Some((id, row)) = row(source.as_ref(), key)? {
            found.insert(id, row);
        }
    }
    Ok(found)
}

fn row(source: &dyn RowSource, key: crate::RowKey) -> Result<Option<(String, ThreadRow)>> {
    let (mut id, mut row) = (None, ThreadRow::default());
    let found = source.row(TABLE, key, &mut |columns| {
        id = text(columns, "id");
        row = ThreadRow {
            name: text(columns, "name"),
            archived: columns
                .iter()
                .any(|column| matches!(column, ("archived", Cell::Integer(1..)))),
            provider: text(columns, "model_provider"),
        };
    })?;
    match id {
        Some(id) => Ok(Some((id, row))),
        None if found => Err(unknown_schema("a thread in it has no id")),
        None => Ok(None),
    }
}

fn text(columns: &[Column<'_>], name: &str) -> Option<String> {
    columns.iter().find_map(|(column, cell)| match cell {
        Cell::Text(text) if *column == name && !text.trim().is_empty() => Some((*text).to_owned()),
        _ => None,
    })
}

fn unknown_schema(why: &'static str) -> Error {
    Error::new(
        ErrorKind::TooNew,
        "the database has another schema than is known",
    )
    .because(why)
    .advising(Advice::Upgrade)
}
