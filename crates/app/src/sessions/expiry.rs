//! Expiry of sessions: when their agent deletes them (`expires`), and whether there is a copy. A
//! session without one that is deleted within a week is `lost_soon`.
//!
//! The period comes from the agent's settings file: `dialect/claude/settings.rs`.

use std::collections::HashMap;

use boswell_dialect::{Runtime, SessionLocation};
use boswell_model::{Instant, Result};
use boswell_store::Store;
use boswell_store::store::StoreId;
use boswell_store::vault::ChunkedCopies;

use crate::RequestContext;

const DAY: i64 = 86_400_000;
/// How many days ahead users are warned.
pub const AHEAD: i64 = 7;

/// The expiry of every session.
#[derive(Debug, Default)]
pub(crate) struct Expiries {
    kept: ChunkedCopies,
    days: HashMap<StoreId, Retention>,
}

/// How long an agent keeps sessions.
#[derive(Debug, Clone, Copy)]
struct Retention {
    /// Days without a change after which it deletes them.
    days: u64,
    /// Knows the sessions that it deletes earlier.
    runtime: &'static dyn Runtime,
}

impl Expiries {
    /// Reads the list of copies, and the retention period of each agent.
    pub(crate) fn read(cx: &RequestContext) -> Result<Expiries> {
        let kept = match &cx.home {
            Some(home) if home.join("vault/kept.jsonl").is_file() => {
                cx.reading_runner()?.vault().kept()?
            }
            _ => ChunkedCopies::default(),
        };
        let days = HashMap::new();
        Ok(Expiries { kept, days }.of_stores(cx))
    }

    /// The same for the stores and their settings as they are now.
    pub(crate) fn of_stores(self, cx: &RequestContext) -> Expiries {
        // If an agent's settings cannot be read, the expiry is unknown.
        let days = cx
            .stores
            .iter()
            .filter_map(|(id, store)| {
                let days = store.deletes_after().ok()??;
                let runtime = store.dialect().powers().runtime?;
                Some((id, Retention { days, runtime }))
            })
            .collect();
        Expiries { days, ..self }
    }

    /// Whether there is a copy of the session's current state; `None` if sessions of the store are
    /// never copied.
    pub(crate) fn is_kept(
        &self,
        id: StoreId,
        store: &Store,
        location: &SessionLocation,
    ) -> Option<bool> {
        self.days
            .contains_key(&id)
            .then(|| self.kept.has(store, location))
    }

    /// Returns when its agent deletes the session, if it is not used before.
    pub(crate) fn expires(&self, id: StoreId, location: &SessionLocation) -> Option<Instant> {
        let retention = self.days.get(&id)?;
        // The next start may be now.
        let days = match retention.runtime.deletes_at_next_start(location) {
            true => 0,
            false => i64::try_from(retention.days).ok()?,
        };
        let at = location
            .modified?
            .millis()
            .checked_add(days.checked_mul(DAY)?)?;
        location.key.is_some().then(|| Instant::from_millis(at))
    }

    /// Returns the number of days until then; 0 if it is due.
    pub(crate) fn days_left(
        &self,
        id: StoreId,
        location: &SessionLocation,
        now: Instant,
    ) -> Option<i64> {
        let left = (self.expires(id, location)?.millis() - now.millis()).max(0);
        Some((left + DAY - 1) / DAY)
    }

    /// Returns sessions that their agent deletes soon and that have no copy.
    pub(crate) fn lost_soon<'l>(
        &self,
        id: StoreId,
        store: &Store,
        sessions: &'l [SessionLocation],
        now: Instant,
    ) -> Vec<&'l SessionLocation> {
        sessions
            .iter()
            .filter(|location| self.is_lost_soon(id, store, location, now))
            .collect()
    }

    /// Whether its agent deletes a session soon, and no copy of it is kept.
    pub(crate) fn is_lost_soon(
        &self,
        id: StoreId,
        store: &Store,
        location: &SessionLocation,
        now: Instant,
    ) -> bool {
        let by = Instant::from_millis(now.millis().saturating_add(AHEAD * DAY));
        location.owner.is_none()
            && location.size > 0
            && self.expires(id, location).is_some_and(|at| at <= by)
            && !self.kept.has(store, location)
    }
}
