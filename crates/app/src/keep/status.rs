//! The state of the copies of each store, and which sessions will be lost.

use std::collections::{BTreeSet, HashSet};

use boswell_model::{Error, Result};
use boswell_store::Store;
use boswell_store::store::{StoreId, unlisted};
use boswell_store::vault::ChunkedCopies;

use super::config::{KeepConfig, Trigger};
use super::{KeepShape, KeepStatus, hook, keepable, timer};
use crate::RequestContext;
use crate::sessions::expiry::Expiries;

/// Data that is read before the stores.
struct Known {
    state: Option<KeepConfig>,
    expiries: Expiries,
    kept: ChunkedCopies,
}

/// Examines every store whose agent deletes sessions.
pub(super) fn status(cx: &RequestContext) -> Result<KeepStatus> {
    let home = cx.home.as_deref();
    let known = Known {
        state: home.map(KeepConfig::load).transpose()?.flatten(),
        expiries: Expiries::read(cx)?,
        kept: match home {
            Some(_) => cx.reading_runner()?.vault().kept()?,
            None => ChunkedCopies::default(),
        },
    };
    let mut left_out = Vec::new();
    let mut stores = Vec::new();
    for (id, store) in cx.stores.iter() {
        stores.extend(of_store(cx, (id, store), &known, &mut left_out)?);
    }
    if keepable(cx).is_empty() {
        cx.remark(
            "no agent on this machine deletes sessions by itself, so there is nothing to keep",
        );
    }
    Ok(KeepStatus {
        since: known.state.map(|state| state.since),
        stores,
        left_out,
    })
}

/// Examines one store; `None` if its agent deletes nothing, or it cannot be listed.
fn of_store(
    cx: &RequestContext,
    (id, store): (StoreId, &Store),
    known: &Known,
    left_out: &mut Vec<Error>,
) -> Result<Option<KeepShape>> {
    let days = match store.deletes_after() {
        Ok(None) => return Ok(None),
        Ok(Some(days)) => Some(days),
        Err(error) => {
            left_out.push(error);
            None
        }
    };
    let listing = match store.list() {
        Ok(listing) => listing,
        Err(error) => {
            left_out.push(error);
            return Ok(None);
        }
    };
    left_out.extend(unlisted(&listing.unlisted, store));
    let mut sessions = listing.sessions;
    sessions.retain(|it| it.owner.is_none() && it.size > 0);
    let kept = sessions.iter().filter(|it| known.kept.has(store, it));
    let soon = known.expiries.lost_soon(id, store, &sessions, cx.now);
    let unreadable: Vec<String> = listing.unlisted.into_iter().map(|(key, _)| key).collect();
    let described = unreadable.iter().map(|key| store.backend().describe(key));
    let trigger = known.trigger_of(store);
    Ok(Some(KeepShape {
        dialect: store.dialect().name(),
        root: store.root().display().to_string(),
        on: known.state.is_some(),
        since: known.state.as_ref().map(|state| state.since),
        trigger: trigger.map(Trigger::word),
        installed: trigger.map(|trigger| is_installed(trigger, store)),
        deletes_after_days: days,
        sessions: sessions.len(),
        kept: kept.count(),
        gone: gone(&known.kept, store, &unreadable)?,
        unreadable: described.collect(),
        lost_soon: soon.iter().map(|it| it.id.to_string()).collect(),
    }))
}

impl Known {
    fn trigger_of(&self, store: &Store) -> Option<&Trigger> {
        let mut triggers = self.state.as_ref()?.triggers.iter();
        triggers.find(|trigger| trigger.serves(store.root()))
    }
}

/// Counts sessions with copies whose log no longer exists. For those in an unreadable folder this
/// is unknown.
fn gone(kept: &ChunkedCopies, store: &Store, unreadable: &[String]) -> Result<Vec<String>> {
    let dialect = store.dialect().name();
    // A session of an excluded project is not deleted.
    let here = store.whole().list()?.sessions;
    let here: HashSet<&str> = here.iter().map(|location| location.id.as_str()).collect();
    let mut gone = BTreeSet::new();
    for file in kept.files() {
        let session = &file.session;
        let of_store = file.root == store.root() && session.dialect == dialect;
        let is_known = here.contains(session.id.as_str())
            || unreadable.iter().any(|folder| is_below(&file.key, folder));
        if of_store && !is_known {
            gone.insert(session.to_string());
        }
    }
    Ok(gone.into_iter().collect())
}

fn is_below(key: &str, folder: &str) -> bool {
    key.strip_prefix(folder)
        .is_some_and(|rest| rest.starts_with('/'))
}

fn is_installed(trigger: &Trigger, store: &Store) -> bool {
    match trigger {
        Trigger::Hook { command, .. } => hook::is_installed(store, command),
        Trigger::Timer { folder, .. } => folder.join(timer::TIMER).is_file(),
    }
}
