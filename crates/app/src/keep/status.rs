//! The state of the copies of each store, and which sessions will be lost.

use boswell_dialect::SessionLocation;
use boswell_model::{Error, Result};
use boswell_store::Store;
use boswell_store::store::{StoreId, unlisted};
use boswell_store::vault::ChunkedCopies;

use super::config::{KeepConfig, Trigger};
use super::{KeepShape, KeepStatus, hook, keepable, timer};
use crate::RequestContext;
use crate::sessions::expiry::Fates;

/// Data that is read before the stores.
struct Known {
    state: Option<KeepConfig>,
    fates: Fates,
    kept: ChunkedCopies,
}

/// Examines every store whose agent deletes sessions.
pub(super) fn status(cx: &RequestContext) -> Result<KeepStatus> {
    let home = cx.home.as_deref();
    let known = Known {
        state: home.map(KeepConfig::load).transpose()?.flatten(),
        fates: Fates::read(cx)?,
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
    let unreadable: Vec<String> = listing.unlisted.into_iter().map(|(key, _)| key).collect();
    let mut sessions = listing.sessions;
    sessions.retain(|it| it.owner.is_none() && it.size > 0);
    let is_kept = |location: &&SessionLocation| known.kept.has(store, location);
    let state = known.state.as_ref();
    let trigger = state.and_then(|it| it.triggers.iter().find(|it| it.serves(store.root())));
    let soon = known.fates.lost_soon(id, store, &sessions, cx.now);
    Ok(Some(KeepShape {
        dialect: store.dialect().name(),
        root: store.root().display().to_string(),
        on: state.is_some(),
        since: state.map(|state| state.since),
        trigger: trigger.map(Trigger::word),
        installed: trigger.map(|trigger| is_installed(trigger, store)),
        deletes_after_days: days,
        sessions: sessions.len(),
        kept: sessions.iter().filter(is_kept).count(),
        // A session of an excluded project is not deleted.
        gone: gone(
            &known.kept,
            store,
            &store.whole().list()?.sessions,
            &unreadable,
        ),
        unreadable: unreadable
            .iter()
            .map(|key| store.backend().describe(key))
            .collect(),
        lost_soon: soon.iter().map(|it| it.id.to_string()).collect(),
    }))
}

/// Counts sessions with copies whose log no longer exists. For those in an unreadable folder this
/// is unknown.
fn gone(
    kept: &ChunkedCopies,
    store: &Store,
    here: &[SessionLocation],
    unreadable: &[String],
) -> Vec<String> {
    let is_here = |id: &str| here.iter().any(|location| location.id == id);
    let is_below = |key: &str, folder: &String| {
        key.strip_prefix(folder.as_str())
            .is_some_and(|it| it.starts_with('/'))
    };
    let mut gone: Vec<String> = kept
        .files()
        .filter(|file| file.root == store.root() && file.session.dialect == store.dialect().name())
        .filter(|file| !is_here(&file.session.id))
        .filter(|file| !unreadable.iter().any(|folder| is_below(&file.key, folder)))
        .map(|file| file.session.to_string())
        .collect();
    gone.sort();
    gone.dedup();
    gone
}

fn is_installed(trigger: &Trigger, store: &Store) -> bool {
    match trigger {
        Trigger::Hook { command, .. } => hook::is_installed(store, command),
        Trigger::Timer { folder, .. } => folder.join(timer::TIMER).is_file(),
    }
}
