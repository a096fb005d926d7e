//! Loads packed facts from table `kept` into catalog rows: for all sessions, or for the few that
//! are shown.

use std::collections::HashMap;

use boswell_model::{Error, ErrorKind, Result};
use rusqlite::OptionalExtension;

use super::packed_meta::Packed;
use super::{Catalog, CatalogRow};

impl Catalog {
    /// Loads the facts of one session, unless they are in memory already.
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

    /// Loads the facts of all entries that have some in the catalog.
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
        // Rows that the query did not return were deleted by another process.
        for index in wanting.into_values() {
            entries
                .get_mut(index)
                .map_or(Ok(()), |entry| take(entry, None))?;
        }
        Ok(())
    }
}

/// Puts facts into `entry`. A missing row was deleted by another process since the refresh, so the
/// entry becomes unknown.
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

/// Returns whether the catalog contains facts of the entry that are not in memory.
fn is_wanting(entry: &CatalogRow) -> bool {
    entry.sort_keys.is_some() && entry.kept.is_none() && entry.row != 0
}

fn damaged() -> Error {
    Error::new(
        ErrorKind::Damaged,
        "the row of a session in the catalog is damaged",
    )
}
