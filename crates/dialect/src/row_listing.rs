//! Finds the sessions of a database: one for each row of a table.

use boswell_model::json::Raw;
use boswell_model::{ErrorKind, Instant, Problem, ProblemKind, Result};

use crate::members::{text, time};
use crate::{Discovered, Files, RowLayout, RowSelect, RowTable, SessionLocation};

/// How often a database is read while its agent writes it.
const ATTEMPTS: usize = 4;

/// What the row of a session says, in the names of its columns.
pub(crate) struct RowListing {
    /// How rows form sessions.
    pub(crate) layout: &'static RowLayout,
    /// The table with a row for each session.
    pub(crate) table: &'static RowTable,
    /// The column with the time of the last change.
    pub(crate) updated: &'static str,
    /// The column with the id of the parent session, for subagents.
    pub(crate) parent: Option<&'static str>,
    /// The column with the time at which the user archived a session.
    pub(crate) archived: Option<&'static str>,
    /// Columns that are left out of what the index keeps: large, and not shown in lists.
    pub(crate) omitted: &'static [&'static str],
}

impl RowListing {
    /// Adds the sessions of the database at a key. One that cannot be read is a problem of the
    /// store, and hides its sessions.
    pub(crate) fn add(&self, files: &dyn Files, database: &str, found: &mut Discovered) {
        let mut read = self.read(files, database);
        for _ in 1..ATTEMPTS {
            // The agent wrote between two rows.
            if !matches!(&read, Err(error) if error.kind() == ErrorKind::Conflict) {
                break;
            }
            read = self.read(files, database);
        }
        match read {
            Ok(sessions) => found.sessions.extend(sessions),
            Err(error) => {
                let problem = Problem::of_file(ProblemKind::Unreadable, error.to_string());
                found.unlisted.push((database.to_owned(), problem));
            }
        }
    }

    fn read(&self, files: &dyn Files, database: &str) -> Result<Vec<SessionLocation>> {
        let Some(source) = files.rows(database)? else {
            return Ok(Vec::new());
        };
        let all = RowSelect {
            table: self.table.name,
            only: None,
            order: &[],
        };
        let (mut rows, mut sessions) = (Vec::new(), Vec::new());
        source.each(&all, &mut |columns| {
            let mut row = Vec::new();
            let mut kept = columns.to_vec();
            kept.retain(|(name, _)| !self.omitted.contains(name));
            self.table.write_record(&kept, &mut row);
            rows.push(row);
        })?;
        source.batch(&mut || {
            for row in std::mem::take(&mut rows) {
                let of = Raw::trusted(&row);
                let Some(id) = text(of, self.table.session) else {
                    continue;
                };
                let stamp = self.layout.stamp(source.as_ref(), &id)?;
                let owner = self.parent.and_then(|parent| text(of, parent));
                let updated = of.get(self.updated).and_then(time_of);
                let location = SessionLocation::of_rows(id, database, stamp, updated);
                let archived = self.archived.and_then(|column| of.get(column));
                let is_archived = archived.is_some_and(|it| !it.is_null() && it.i64() != Some(0));
                let subagent = owner.is_some().then_some("subagent");
                sessions.push(SessionLocation {
                    hidden: subagent.or(is_archived.then_some("archived")),
                    owner,
                    row: Some(row),
                    ..location
                });
            }
            Ok(())
        })?;
        Ok(sessions)
    }
}

/// Returns the row of a session in the index.
pub(crate) fn row_of(location: &SessionLocation) -> Option<Raw<'_>> {
    Raw::parse(location.row.as_deref()?.trim_ascii()).ok()
}

/// Parses a time: one of [`time`], or SQLite's `YYYY-MM-DD HH:MM:SS` in UTC.
pub(crate) fn time_of(value: Raw<'_>) -> Option<Instant> {
    if let Some(at) = time(value) {
        return Some(at);
    }
    let text = value.text()?;
    let (date, clock) = text.split_once(' ')?;
    Instant::parse(&format!("{date}T{clock}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_sqlite_are_read_as_utc() {
        let at = |json: &str| time_of(Raw::trusted(json.as_bytes()));
        let expected = Instant::parse("2026-11-16T10:30:51Z");
        assert!(expected.is_some());
        assert_eq!(at("\"2026-11-16 10:30:51\""), expected);
        assert_eq!(at("\"2026-11-16T10:30:51Z\""), expected);
        assert_eq!(at("1794825051"), expected);
        assert_eq!(at("\"soon\""), None);
    }
}
