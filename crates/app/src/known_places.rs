//! Where sessions were found a moment ago, for faces that ask about the same one again and again.
//!
//! A ref is found by listing every store. Once it was found, its file alone is looked at: where it
//! is stays the same, and what changed of it is in its state. A file that is gone, or that was
//! found too long ago, is looked for again, so that a second session of the same name is noticed.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use boswell_dialect::SessionLocation;
use boswell_model::Framing;
use boswell_store::Store;
use boswell_store::store::{Resolved, Stores};

use crate::system::Stopwatch;

/// How long a place is used before the stores are listed again.
const LONGEST: Duration = Duration::from_secs(2);
/// How many places are kept.
const MOST: usize = 256;

/// The places by ref.
#[derive(Debug, Default)]
pub(crate) struct KnownPlaces(Mutex<HashMap<String, KnownPlace>>);

#[derive(Debug)]
struct KnownPlace {
    root: PathBuf,
    location: SessionLocation,
    since: Stopwatch,
}

impl KnownPlaces {
    fn all(&self) -> MutexGuard<'_, HashMap<String, KnownPlace>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a session as it is now, if it was found a moment ago and its file is still there.
    pub(crate) fn find(&self, stores: &Stores, name: &str) -> Option<Resolved> {
        let (root, location) = {
            let all = self.all();
            let known = all.get(name)?;
            let is_recent = known.since.elapsed() < LONGEST;
            is_recent.then(|| (known.root.clone(), known.location.clone()))?
        };
        let is_it = |store: &Store| {
            let dialect = name.split(':').next();
            store.root() == root && Some(store.dialect().name()) == dialect
        };
        let (_, store) = stores.iter().find(|(_, store)| is_it(store))?;
        Some(Resolved {
            location: now(store, &location)?,
            store: store.clone(),
        })
    }

    /// Remembers where a session is that was named by its complete ref.
    pub(crate) fn keep(&self, name: &str, found: &Resolved) {
        let (store, location) = (&found.store, &found.location);
        let is_file = location.framing == Framing::Lines
            && location.row.is_none()
            && store.archived().is_none()
            && found.reference().to_string() == name;
        // Only a file whose state alone is what the listing says of the session.
        let now = now(store, location).filter(|_| is_file);
        if !now.is_some_and(|now| has_same_state(&now, location)) {
            return;
        }
        let mut all = self.all();
        if all.len() >= MOST {
            all.clear();
        }
        let known = KnownPlace {
            root: store.root().to_owned(),
            location: location.clone(),
            since: Stopwatch::start(),
        };
        all.insert(name.to_owned(), known);
    }
}

/// Returns the location with the current state of its file.
fn now(store: &Store, location: &SessionLocation) -> Option<SessionLocation> {
    let info = store.backend().stat(location.key.as_deref()?).ok()??;
    Some(SessionLocation {
        size: info.size,
        modified: info.modified,
        identity: info.identity,
        ..location.clone()
    })
}

fn has_same_state(one: &SessionLocation, other: &SessionLocation) -> bool {
    let state = |it: &SessionLocation| (it.size, it.modified, it.identity);
    state(one) == state(other)
}

#[cfg(test)]
mod tests {
    use boswell_store::store::{Selector, Side};

    use super::*;

    #[test]
    fn a_known_session_is_seen_as_it_is_now_until_it_is_gone() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("sessions/--w--");
        std::fs::create_dir_all(&folder).unwrap();
        let log = folder.join("2026-10-05T08-00-00-000Z_one.jsonl");
        let header = "{\"type\":\"session\",\"version\":3,\"id\":\"one\",\"timestamp\":\"2026-10-05T08:00:00.000Z\",\"cwd\":\"/w\"}\n";
        boswell_testkit::disk::write(&log, header.as_bytes());
        let mut stores = Stores::default();
        stores.add("pi", temp.path()).unwrap();
        let listed = || {
            let selector = Selector::Ref("pi".to_owned(), "one".to_owned());
            stores.resolve(&selector, temp.path(), Side::Fuller)
        };
        let places = KnownPlaces::default();
        assert!(places.find(&stores, "pi:one").is_none());
        places.keep("pi:o", &listed().unwrap());
        assert!(places.find(&stores, "pi:o").is_none(), "not a complete ref");
        places.keep("pi:one", &listed().unwrap());
        boswell_testkit::disk::write(&log, format!("{header}{{}}\n").as_bytes());
        let known = places.find(&stores, "pi:one").unwrap();
        assert!(has_same_state(&known.location, &listed().unwrap().location));
        assert!(places.find(&Stores::default(), "pi:one").is_none());
        std::fs::remove_file(&log).unwrap();
        assert!(places.find(&stores, "pi:one").is_none());
    }
}
