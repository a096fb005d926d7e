//! Which sessions are damaged, as far as their logs were read.

use boswell_model::{Result, SessionRef};

use super::filter_keys::Shared;
use super::sort_keys::SortKeys;
use super::{Catalog, listing_snapshot};

/// What is known of damage, of sessions whose rows changed after a revision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownDamage {
    /// The revision of the catalog.
    pub revision: i64,
    /// Each session, and whether a stretch of its log could not be read as records.
    pub sessions: Vec<(SessionRef, bool)>,
}

impl Catalog {
    /// Damage of sessions whose rows changed after a revision of the catalog. Logs that were not
    /// read since they changed are left out.
    ///
    /// # Errors
    ///
    /// As far as the catalog cannot be read.
    pub fn damage_since(&self, revision: i64) -> Result<KnownDamage> {
        let fault = |error| self.fault(error);
        let moment = self.db.unchecked_transaction().map_err(fault)?;
        let mut known = KnownDamage {
            revision: listing_snapshot::rev(&moment).map_err(fault)?,
            sessions: Vec::new(),
        };
        let mut later = moment
            .prepare_cached(
                "SELECT dialect, name, glance FROM session
                 WHERE rev>?1 AND gone=0 AND upto=size AND glance IS NOT NULL",
            )
            .map_err(fault)?;
        let (mut rows, mut shared) = (later.query([revision]).map_err(fault)?, Shared::default());
        while let Some(row) = rows.next().map_err(fault)? {
            let bytes = row.get_ref(2).map_err(fault)?.as_blob().unwrap_or(b"");
            let Some((keys, _)) = SortKeys::from_bytes(bytes, &mut shared) else {
                continue;
            };
            let (dialect, name): (String, String) =
                (row.get(0).map_err(fault)?, row.get(1).map_err(fault)?);
            known
                .sessions
                .push((SessionRef::new(dialect, name), keys.is_damaged()));
        }
        Ok(known)
    }
}
