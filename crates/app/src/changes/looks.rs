//! Listings of all stores, compared with the previous one: shared by every change feed of an
//! application.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use boswell_model::{Revision, SessionRef};
use boswell_store::store::{StoreId, StoredSession};

use super::{Change, SessionChange};
use crate::RequestContext;
use crate::system::Stopwatch;

/// Minimum time between two refreshes.
const SHORTEST: Duration = Duration::from_secs(1);
/// A refresh is due after this many times the cost of the last one: 2 % of a core.
const SHARE: u32 = 50;
/// How many changes are remembered for feeds that poll rarely.
const REMEMBERED: usize = 4096;

/// The refreshes so far.
#[derive(Debug, Default)]
pub(crate) struct Looks(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Number of refreshes.
    number: u64,
    /// Time since the last refresh, and its duration.
    last: Option<(Stopwatch, Duration)>,
    sessions: HashMap<Place, Known>,
    /// The newest changes, each with the number of its refresh.
    changes: VecDeque<(u64, Change)>,
    /// Changes up to this refresh are not remembered completely.
    forgotten: u64,
}

/// A session of a store. The key of the log distinguishes sessions with the same id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Place {
    root: String,
    session: SessionRef,
    key: Option<String>,
}

#[derive(Debug)]
struct Known {
    revision: Revision,
    live: Vec<u32>,
}

impl Looks {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does the first refresh, unless another feed did; returns the number of the newest one.
    pub(crate) fn begin(&self, cx: &RequestContext) -> u64 {
        if self.number() == 0 || self.due_in().is_zero() {
            self.look(cx);
        }
        self.number()
    }

    /// Returns the number of the newest refresh.
    pub(crate) fn number(&self) -> u64 {
        self.state().number
    }

    /// Returns the time until the next refresh is due.
    pub(crate) fn due_in(&self) -> Duration {
        match &self.state().last {
            Some((since, cost)) => SHORTEST.max(*cost * SHARE).saturating_sub(since.elapsed()),
            None => Duration::ZERO,
        }
    }

    /// Lists every store and records the changes.
    pub(crate) fn look(&self, cx: &RequestContext) {
        let watch = Stopwatch::start();
        let seen = Seen::of(cx);
        let mut state = self.state();
        state.take(seen);
        state.last = Some((Stopwatch::start(), watch.elapsed()));
    }

    /// Returns what changed after a poll; `None` if that poll is no longer remembered.
    pub(crate) fn since(&self, number: u64) -> Option<Vec<Change>> {
        let state = self.state();
        (number >= state.forgotten).then(|| {
            let newer = state.changes.iter().filter(|(look, _)| *look > number);
            newer.map(|(_, change)| change.clone()).collect()
        })
    }
}

/// The result of one refresh.
struct Seen {
    sessions: Vec<(Place, SessionChange)>,
    /// Roots that could not be listed completely: a session that is missing there may still exist.
    unsure: HashSet<String>,
}

impl Seen {
    fn of(cx: &RequestContext) -> Seen {
        let stores = &cx.stores;
        let root = |id: StoreId| stores.get(id).map(|it| it.root().display().to_string());
        let (held, errors) = stores.held();
        let unsure = errors.iter().filter_map(|(id, _)| root(*id)).collect();
        let session = |held: StoredSession| {
            let store = stores.get(held.store)?;
            let session = SessionRef::new(store.dialect().name(), &held.location.id);
            let place = Place {
                root: store.root().display().to_string(),
                key: held.location.key.clone(),
                session: session.clone(),
            };
            let change = SessionChange {
                revision: held.location.revision(),
                modified: held.location.modified,
                live: store.was_live(&session.id),
                session,
            };
            Some((place, change))
        };
        Seen {
            sessions: held.into_iter().filter_map(session).collect(),
            unsure,
        }
    }
}

impl State {
    fn take(&mut self, seen: Seen) {
        self.number += 1;
        let is_first = self.number == 1;
        let mut before = std::mem::take(&mut self.sessions);
        for (place, change) in seen.sessions {
            let known = Known {
                revision: change.revision,
                live: change.live.clone(),
            };
            match before.remove(&place) {
                Some(old) if old.revision == known.revision && old.live == known.live => {}
                Some(_) => self.remember(Change::Changed(change)),
                None if !is_first => self.remember(Change::Added(change)),
                None => {}
            }
            self.sessions.insert(place, known);
        }
        for (place, known) in before {
            if seen.unsure.contains(&place.root) {
                self.sessions.insert(place, known);
            } else {
                self.remember(Change::Gone(place.session));
            }
        }
    }

    fn remember(&mut self, change: Change) {
        self.changes.push_back((self.number, change));
        if self.changes.len() > REMEMBERED
            && let Some((look, _)) = self.changes.pop_front()
        {
            self.forgotten = look;
        }
    }
}
