//! Looks: listings of all stores, each compared with the previous one, and shared by every change
//! feed of an application.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use boswell_dialect::SessionLocation;
use boswell_model::{Result, Revision, SessionRef};
use boswell_store::Store;
use boswell_store::store::{StoreId, StoredSession};

use super::health::HealthMarks;
use super::{Change, SessionChange, SessionMarks};
use crate::system::Stopwatch;
use crate::{App, RequestContext};

/// Minimum time between two looks.
const SHORTEST: Duration = Duration::from_secs(1);
/// A look is due after this many times the cost of the last one: with the bookkeeping of a feed
/// below 2 % of a core.
const SHARE: u32 = 80;
/// How many changes are remembered for feeds that poll rarely.
const REMEMBERED: usize = 4096;

/// The looks so far.
#[derive(Debug, Default)]
pub(crate) struct Looks(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Number of looks.
    number: u64,
    /// Time since the last look, and its duration.
    last: Option<(Stopwatch, Duration)>,
    sessions: HashMap<Place, Known>,
    /// Roots that could be listed, at least in part.
    roots: HashSet<String>,
    health: HealthMarks,
    /// The newest changes.
    changes: VecDeque<ListedChange>,
    /// Changes up to this look are not remembered completely.
    forgotten: u64,
}

/// A session of a store. The key of the log distinguishes sessions with the same id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    root: String,
    key: Option<String>,
    session: SessionRef,
}

impl Place {
    pub(crate) fn of(store: &Store, location: &SessionLocation) -> Place {
        Place {
            root: store.root().display().to_string(),
            key: location.key.clone(),
            session: SessionRef::new(store.dialect().name(), &location.id),
        }
    }
}

#[derive(Debug)]
struct Known {
    revision: Revision,
    live: Vec<u32>,
}

/// A change that a look found.
#[derive(Debug, Clone)]
pub(crate) struct ListedChange {
    /// The number of the look.
    look: u64,
    pub(crate) change: Change,
    /// Place of the session, also of a deleted one; `None` if its log did not change.
    pub(crate) place: Option<Place>,
    /// The log; `None` if it was deleted.
    pub(crate) log: Option<ListedLog>,
}

/// A new or changed log.
#[derive(Debug, Clone)]
pub(crate) struct ListedLog {
    pub(crate) store: Store,
    pub(crate) location: SessionLocation,
    pub(crate) before: LogBefore,
}

/// The state of a log in the previous look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogBefore {
    /// It had this revision.
    Known(Revision),
    /// It did not exist.
    Absent,
    /// Its store could not be listed.
    Unlisted,
}

impl Looks {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does the first look, unless another feed did; returns the number of the newest one.
    pub(crate) fn begin(&self, cx: &RequestContext) -> u64 {
        if self.number() == 0 || self.due_in().is_zero() {
            self.look(cx);
        }
        self.number()
    }

    /// Does a look if one is due.
    ///
    /// # Errors
    ///
    /// As a request that finds the stores.
    pub(crate) fn look_when_due(&self, app: &App) -> Result<()> {
        if self.due_in().is_zero() {
            self.look(&app.request()?);
        }
        Ok(())
    }

    /// Returns the number of the newest look.
    pub(crate) fn number(&self) -> u64 {
        self.state().number
    }

    /// Returns the time until the next look is due.
    pub(crate) fn due_in(&self) -> Duration {
        match &self.state().last {
            Some((since, cost)) => SHORTEST.max(*cost * SHARE).saturating_sub(since.elapsed()),
            None => Duration::ZERO,
        }
    }

    /// Whether the last look saw a session.
    pub(crate) fn has(&self, session: &SessionRef) -> bool {
        let state = self.state();
        state.sessions.keys().any(|place| place.session == *session)
    }

    /// Returns the marks of all sessions.
    pub(crate) fn marks(&self) -> SessionMarks {
        let state = self.state();
        let live = state.sessions.iter().filter(|(_, it)| !it.live.is_empty());
        SessionMarks {
            live: live
                .map(|(place, it)| (place.session.clone(), it.live.clone()))
                .collect(),
            lost_soon: state.health.lost_soon().cloned().collect(),
        }
    }

    /// Lists every store and records the changes.
    pub(crate) fn look(&self, cx: &RequestContext) {
        let watch = Stopwatch::start();
        let seen = Seen::of(cx);
        let mut state = self.state();
        state.take(cx, seen);
        state.last = Some((Stopwatch::start(), watch.elapsed()));
    }

    /// Returns the changes after a look, and the number of the newest look; `None` for the changes
    /// if they are not remembered completely.
    pub(crate) fn since(&self, look: u64) -> (Option<Vec<ListedChange>>, u64) {
        let state = self.state();
        let newer = (look >= state.forgotten).then(|| {
            let newer = state.changes.iter().filter(|it| it.look > look);
            newer.cloned().collect()
        });
        (newer, state.number)
    }
}

/// The result of one look.
struct Seen {
    sessions: Vec<SeenSession>,
    /// Roots that could not be listed completely: a session that is missing there may still exist.
    unsure: HashSet<String>,
    /// Roots that could be listed, at least in part.
    roots: HashSet<String>,
}

struct SeenSession {
    place: Place,
    store: (StoreId, Store),
    location: SessionLocation,
    live: Vec<u32>,
}

impl Seen {
    fn of(cx: &RequestContext) -> Seen {
        let stores = &cx.stores;
        let root = |id: StoreId| stores.get(id).map(|it| it.root().display().to_string());
        let (held, errors) = stores.held();
        let unsure: HashSet<String> = errors.iter().filter_map(|(id, _)| root(*id)).collect();
        let session = |held: StoredSession| {
            let store = stores.get(held.store)?;
            Some(SeenSession {
                live: store.was_live(&held.location.id),
                place: Place::of(store, &held.location),
                store: (held.store, store.clone()),
                location: held.location,
            })
        };
        let sessions: Vec<SeenSession> = held.into_iter().filter_map(session).collect();
        let all = stores.iter_with_archived().filter_map(|(id, _)| root(id));
        let mut roots: HashSet<String> = all.filter(|root| !unsure.contains(root)).collect();
        for seen in &sessions {
            if !roots.contains(&seen.place.root) {
                roots.insert(seen.place.root.clone());
            }
        }
        Seen {
            sessions,
            unsure,
            roots,
        }
    }
}

impl SeenSession {
    fn change(&self) -> SessionChange {
        SessionChange {
            session: self.place.session.clone(),
            revision: self.location.revision(),
            modified: self.location.modified,
            live: self.live.clone(),
        }
    }

    fn log(self, before: LogBefore) -> ListedLog {
        ListedLog {
            store: self.store.1,
            location: self.location,
            before,
        }
    }
}

impl State {
    fn take(&mut self, cx: &RequestContext, seen: Seen) {
        self.number += 1;
        let is_first = self.number == 1;
        let mut before = std::mem::take(&mut self.sessions);
        let mut health = self.health.look(cx);
        for session in seen.sessions {
            let known = Known {
                revision: session.location.revision(),
                live: session.live.clone(),
            };
            let place = session.place.clone();
            health.saw(
                &place.session,
                (session.store.0, &session.store.1),
                &session.location,
            );
            match before.remove(&place) {
                Some(old) if old.revision == known.revision && old.live == known.live => {}
                Some(old) => {
                    let change = Change::Changed(session.change());
                    let log = session.log(LogBefore::Known(old.revision));
                    self.remember(change, Some(place.clone()), Some(log));
                }
                None if is_first => {}
                None => {
                    let before = self.before_added(&place);
                    let change = Change::Added(session.change());
                    self.remember(change, Some(place.clone()), Some(session.log(before)));
                }
            }
            self.sessions.insert(place, known);
        }
        for (place, known) in before {
            if seen.unsure.contains(&place.root) {
                health.keep(&place.session);
                self.sessions.insert(place, known);
            } else {
                let change = Change::Gone(place.session.clone());
                self.remember(change, Some(place), None);
            }
        }
        self.roots.extend(seen.roots);
        for change in self.health.take(health) {
            if !is_first {
                self.remember(Change::Health(change), None, None);
            }
        }
        self.forget();
    }

    /// What is known of a log that was not seen before.
    fn before_added(&self, place: &Place) -> LogBefore {
        match self.roots.contains(&place.root) {
            true => LogBefore::Absent,
            false => LogBefore::Unlisted,
        }
    }

    fn remember(&mut self, change: Change, place: Option<Place>, log: Option<ListedLog>) {
        self.changes.push_back(ListedChange {
            look: self.number,
            change,
            place,
            log,
        });
    }

    /// Drops old changes if there are too many. Those of the newest look stay, so that a feed that
    /// polls after every look misses nothing.
    fn forget(&mut self) {
        while self.changes.len() > REMEMBERED
            && let Some(oldest) = self.changes.front().map(|it| it.look)
            && oldest < self.number
        {
            self.forgotten = oldest;
            self.changes.pop_front();
        }
    }
}
