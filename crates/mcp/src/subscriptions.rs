//! Subscriptions: a client is told when a session changes.
//!
//! Before 2026-07-28 a subscription belongs to a client, so that only the standard streams have it:
//! nothing is kept about clients over HTTP. From then on it is a request that lasts, on both.
//!
//! Each subscription polls a change feed. Feeds share the looks at the folders, so that
//! many cost no more than one. A notice has the address that the client itself gave, and
//! nothing of a session.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use boswell_app::App;
use boswell_app::changes::{Change, ChangeFeed};
use boswell_model::{Result, SessionRef};
use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tokio::task::AbortHandle;

/// Maximum number of subscriptions of a client.
pub(crate) const MOST: usize = 64;
/// Maximum number of requests that listen at a time: over HTTP each has a connection.
const LISTENERS: usize = 32;
/// Shortest time between two polls.
const PAUSE: Duration = Duration::from_millis(200);

/// The subscriptions of a client of a revision before 2026-07-28. Later ones last as long as the
/// request that asks for them.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    /// The task of each, by its address.
    open: Mutex<HashMap<String, AbortHandle>>,
}

impl Subscriptions {
    /// Whether an address may be added.
    pub(crate) fn has_room(&self, uri: &str) -> bool {
        let open = self.open();
        open.len() < MOST || open.contains_key(uri)
    }

    /// Adds the task of an address; one that it had before ends.
    pub(crate) fn add(&self, uri: String, task: AbortHandle) {
        if let Some(before) = self.open().insert(uri, task) {
            before.abort();
        }
    }

    pub(crate) fn remove(&self, uri: &str) {
        if let Some(task) = self.open().remove(uri) {
            task.abort();
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, AbortHandle>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What bounds requests that listen to sessions.
#[derive(Debug)]
pub(crate) struct Listeners {
    room: Semaphore,
    /// Becomes true when the server ends; `None` if it ends with its client.
    ending: Option<watch::Receiver<bool>>,
}

impl Listeners {
    pub(crate) fn new(ending: Option<watch::Receiver<bool>>) -> Listeners {
        Listeners {
            room: Semaphore::new(LISTENERS),
            ending,
        }
    }

    /// Returns the place of a request; `None` if there are too many.
    pub(crate) fn enter(&self) -> Option<SemaphorePermit<'_>> {
        self.room.try_acquire().ok()
    }

    /// Waits until the server ends.
    pub(crate) async fn ended(&self) {
        match self.ending.clone() {
            // A server that is gone has ended too.
            Some(mut ending) => drop(ending.wait_for(|it| *it).await),
            None => std::future::pending().await,
        }
    }
}

/// Sessions that a client watches, under the addresses that it gave.
#[derive(Debug)]
pub(crate) struct SessionWatch {
    feed: ChangeFeed,
    watched: Vec<(String, SessionRef)>,
}

impl SessionWatch {
    /// Begins: what happens from now on is reported.
    pub(crate) fn begin(app: &App, watched: Vec<(String, SessionRef)>) -> Result<SessionWatch> {
        let feed = app.changes().map_err(|refusal| refusal.error)?.value;
        Ok(SessionWatch { feed, watched })
    }

    /// Waits for changes, and returns the addresses of the sessions that changed; `None` if they
    /// can no longer be looked at.
    pub(crate) async fn next(mut self) -> Option<(SessionWatch, Vec<String>)> {
        loop {
            tokio::time::sleep(self.feed.pause().max(PAUSE)).await;
            let polled = tokio::task::spawn_blocking(move || {
                let changed = self.poll();
                (self, changed)
            });
            let (watch, changed) = polled.await.ok()?;
            if !changed.is_empty() {
                return Some((watch, changed));
            }
            self = watch;
        }
    }

    fn poll(&mut self) -> Vec<String> {
        // What cannot be read now is looked at again by the next poll.
        let changes = self.feed.poll().unwrap_or_default();
        let is_changed = |session: &SessionRef| {
            changes.iter().any(|change| match change {
                Change::Added(it) | Change::Changed(it) => it.session == *session,
                Change::Gone(gone) => gone == session,
                Change::Missed => true,
                _ => false,
            })
        };
        let changed = self.watched.iter().filter(|(_, it)| is_changed(it));
        changed.map(|(uri, _)| uri.clone()).collect()
    }
}
