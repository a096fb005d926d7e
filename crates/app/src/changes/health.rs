//! Health marks of sessions that need no reading of logs: damage that the catalog knows, and
//! sessions that their agent deletes soon.
//!
//! Damage of a log is known once a list, a search or a refresh has read it, so a mark changes after
//! the next of those.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::SystemTime;

use boswell_dialect::SessionLocation;
use boswell_find::Catalog;
use boswell_model::{ErrorKind, Instant, Result, SessionRef};
use boswell_store::Store;
use boswell_store::store::StoreId;

use super::SessionHealth;
use crate::RequestContext;
use crate::sessions::expiry::Expiries;

/// The marks of all sessions.
#[derive(Debug, Default)]
pub(super) struct HealthMarks {
    /// The revision of the catalog up to which damage is known.
    revision: i64,
    damaged: HashSet<SessionRef>,
    lost_soon: HashSet<SessionRef>,
    /// Which sessions have a copy, and the state of the file that lists them.
    expiries: Option<(FileState, Expiries)>,
}

/// Length and time of a file; `None` if it is missing.
type FileState = Option<(u64, Option<SystemTime>)>;

/// The marks of one look.
pub(super) struct HealthLook {
    now: Instant,
    expiries: Option<(FileState, Expiries)>,
    before: (HashSet<SessionRef>, HashSet<SessionRef>),
    damaged: HashSet<SessionRef>,
    lost_soon: HashSet<SessionRef>,
    /// Existing sessions with a mark, now or before.
    marked: HashSet<SessionRef>,
}

impl HealthMarks {
    /// Starts a look.
    pub(super) fn look(&mut self, cx: &RequestContext) -> HealthLook {
        let mut damaged = self.damaged.clone();
        // Data that cannot be read now is read again by the next look.
        let _ = self.add_damage(cx, &mut damaged);
        let kept = state_of(cx.home.as_ref().map(|home| home.join("vault/kept.jsonl")));
        let expiries = match self.expiries.take() {
            Some((state, expiries)) if state == kept => Some((kept, expiries.of_stores(cx))),
            _ => Expiries::read(cx).ok().map(|expiries| (kept, expiries)),
        };
        HealthLook {
            now: cx.now,
            expiries,
            before: (
                std::mem::take(&mut self.damaged),
                std::mem::take(&mut self.lost_soon),
            ),
            damaged,
            lost_soon: HashSet::new(),
            marked: HashSet::new(),
        }
    }

    fn add_damage(&mut self, cx: &RequestContext, damaged: &mut HashSet<SessionRef>) -> Result<()> {
        let path = cx.home.as_ref().map(|home| home.join("catalog.db"));
        // A catalog cannot be opened without writing files next to it.
        let Some(path) = path.filter(|path| !cx.is_read_only() && path.is_file()) else {
            return Ok(());
        };
        let catalog = Catalog::open(&path)?;
        let found = catalog.damage_since(self.revision).and_then(|found| {
            match found.revision < self.revision {
                // The catalog was recreated: its revisions start again too.
                true => catalog.damage_since(0),
                false => Ok(found),
            }
        });
        let found = match found {
            // The next refresh recreates the catalog.
            Err(error) if error.kind() == ErrorKind::Damaged => return Ok(()),
            found => found?,
        };
        self.revision = found.revision;
        for (session, is_damaged) in found.sessions {
            if is_damaged {
                damaged.insert(session);
            } else {
                damaged.remove(&session);
            }
        }
        Ok(())
    }

    /// Ends a look; returns the marks that changed.
    pub(super) fn take(&mut self, look: HealthLook) -> Vec<SessionHealth> {
        let (was_damaged, was_lost_soon) = look.before;
        (self.damaged, self.lost_soon) = (look.damaged, look.lost_soon);
        self.expiries = look.expiries;
        let mut marked: Vec<SessionRef> = look.marked.into_iter().collect();
        marked.sort();
        let changed = marked.into_iter().filter_map(|session| {
            let before = (
                was_damaged.contains(&session),
                was_lost_soon.contains(&session),
            );
            let damaged = self.damaged.contains(&session);
            let lost_soon = self.lost_soon.contains(&session);
            (before != (damaged, lost_soon)).then_some(SessionHealth {
                session,
                damaged,
                lost_soon,
            })
        });
        changed.collect()
    }
}

impl HealthLook {
    /// Records an existing session.
    pub(super) fn saw(
        &mut self,
        session: &SessionRef,
        (id, store): (StoreId, &Store),
        location: &SessionLocation,
    ) {
        let expiries = self.expiries.as_ref().map(|(_, expiries)| expiries);
        let is_lost = expiries.is_some_and(|it| it.is_lost_soon(id, store, location, self.now));
        if is_lost {
            self.lost_soon.insert(session.clone());
        }
        if is_lost
            || self.damaged.contains(session)
            || self.before.0.contains(session)
            || self.before.1.contains(session)
        {
            self.marked.insert(session.clone());
        }
    }

    /// Records a session whose folder could not be listed: its marks stay.
    pub(super) fn keep(&mut self, session: &SessionRef) {
        if self.before.1.contains(session) {
            self.lost_soon.insert(session.clone());
        }
    }
}

fn state_of(path: Option<PathBuf>) -> FileState {
    let file = std::fs::metadata(path?).ok()?;
    Some((file.len(), file.modified().ok()))
}
