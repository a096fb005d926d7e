//! What the tables answer about many sessions at once: logs by id, pages, ends.

use std::cmp::Reverse;

use boswell_dialect::{Depth, FileInfo, Files, Reader, SessionLocation, by_name};
use boswell_model::{Error, ErrorKind, Framing, Result, SessionRef};
use boswell_store::backend::{ListedLog, LogLookup, PageCursor, PageRequest};

use super::RowBackend;

impl RowBackend {
    pub(super) fn found(&self, session: &SessionRef) -> Result<LogLookup> {
        let tables = self.tables();
        let named = tables
            .keys()
            .find(|key| id_of(key).is_some_and(|(id, _)| id == session.id));
        let Some(key) = named else {
            return Ok(LogLookup::Absent);
        };
        let hidden = id_of(key).is_some_and(|(_, hidden)| hidden);
        let info = tables.files().stat(key)?;
        Ok(info.map_or(LogLookup::Absent, |info| LogLookup::Found { info, hidden }))
    }

    pub(super) fn paged(&self, request: &PageRequest<'_>) -> Result<Vec<ListedLog>> {
        let tables = self.tables();
        let files = tables.files();
        let mut rows = Vec::new();
        for key in tables.keys() {
            let Some((id, false)) = id_of(key) else {
                continue;
            };
            if let Some(info) = files.stat(key)? {
                let lines = tables.log(key).map(|log| tables.rows(log).concat());
                rows.push(row(request.dialect, id, info, &lines.unwrap_or_default()));
            }
        }
        rows.sort_by_key(|row| place(&row.cursor));
        if let Some(after) = request.after {
            if place(after).is_none() {
                return Err(Error::new(ErrorKind::Invalid, "not a cursor of these rows"));
            }
            rows.retain(|row| place(&row.cursor) > place(after));
        }
        rows.truncate(request.limit);
        Ok(rows)
    }

    pub(super) fn all_ends(&self, sessions: &[SessionRef]) -> Vec<Option<u64>> {
        let tables = self.tables();
        let end = |session: &SessionRef| {
            let named = |key: &&String| id_of(key).is_some_and(|(id, _)| id == session.id);
            let key = tables.keys().find(named)?;
            tables.log(key).map(|log| tables.end(log))
        };
        sessions.iter().map(end).collect()
    }
}

fn row(dialect: &str, id: &str, info: FileInfo, lines: &[u8]) -> ListedLog {
    let location = SessionLocation::of(id, Framing::Lines, info.size);
    let dialect = by_name(dialect).expect("a dialect");
    let read = Reader::read(dialect, &location, lines, Depth::Facts);
    let changed = info.modified.map_or(0, |time| time.millis());
    ListedLog {
        id: id.to_owned(),
        records: read.log.heads.len().saturating_sub(1) as u64,
        meta: read.meta,
        cursor: PageCursor::new(format!("{changed} {id}")),
        info,
    }
}

/// Returns the place in the order of pages.
fn place(cursor: &PageCursor) -> Option<(Reverse<i64>, String)> {
    let (changed, id) = cursor.as_str().split_once(' ')?;
    Some((Reverse(changed.parse().ok()?), id.to_owned()))
}

/// Returns the id in the name of a log, and whether the log is hidden.
fn id_of(key: &str) -> Option<(&str, bool)> {
    let name = key.rsplit('/').next()?;
    match name.strip_suffix(".jsonl") {
        Some(name) => Some((name.split_once('_')?.1, false)),
        None => {
            let name = name.strip_prefix('.')?.strip_suffix(".jsonl.pending")?;
            Some((name.split_once('_')?.1, true))
        }
    }
}
