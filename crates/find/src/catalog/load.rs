//! Loads what is kept of sessions, of all or of the few that are shown.

use std::collections::HashMap;

use boswell_model::{Error, ErrorKind, Result};
use rusqlite::OptionalExtension;

use super::packed_meta::Packed;
use super::{Catalog, CatalogRow};

impl Catalog {
    /// Loads what is kept of one session, if that is not done yet.
    pub fn load(&self, entry: &mut CatalogRow) -> Result<()> {
        if !is_wanting(entry) {
            return Ok(());
        }
        let fault = |error| self.fault(error);
        let kept: Option<Vec<u8>> = (self
            .db
            .prepare_cached("SELECT facts FROM kept WHERE session=?1"))
        .and_then(|mut one| one.query_row([entry.row], |row| row.get(0)).optional())
        .map_err(fault)?;
        take(entry, kept)
    }

    /// Loads what is kept of all sessions of which something is.
    pub fn load_all(&self, entries: &mut [CatalogRow]) -> Result<()> {
        let mut wanting: HashMap<i64, usize> = (entries.iter().enumerate())
            .filter(|(_, entry)| is_wanting(entry))
            .map(|(index, entry)| (entry.row, index))
            .collect();
        if wanting.is_empty() {
            return Ok(());
        }
        let fault = |error| self.fault(error);
        let mut all = self
            .db
            .prepare_cached("SELECT session, facts FROM kept")
            .map_err(fault)?;
        let mut rows = all.query([]).map_err(fault)?;
        while let Some(row) = rows.next().map_err(fault)? {
            let session: i64 = row.get(0).map_err(fault)?;
            let Some(entry) = wanting
                .remove(&session)
                .and_then(|index| entries.get_mut(index))
            else {
                continue;
            };
            take(entry, row.get(1).map_err(fault)?)?;
        }
        for index in wanting.into_values() {
            entries
                .get_mut(index)
                .map_or(Ok(()), |entry| take(entry, None))?;
        }
        Ok(())
    }
}

/// A row that is not there any more was forgotten by somebody else meanwhile:
/// then nothing is known.
fn take(entry: &mut CatalogRow, kept: Option<Vec<u8>>) -> Result<()> {
    let Some(bytes) = kept else {
        entry.forget();
        return Ok(());
    };
    entry.kept = Packed::from_bytes(bytes);
    if entry.kept.is_some() {
        Ok(())
    } else {
        Err(damaged())
    }
}

/// Whether more is written down of it than is in memory.
fn is_wanting(entry: &CatalogRow) -> bool {
    entry.sort_keys.is_some() && entry.kept.is_none() && entry.row != 0
}

fn damaged() -> Error {
    Error::new(
        ErrorKind::Damaged,
        "what the catalog keeps of a session is damaged",
    )
}
