//! Where the sessions of all stores are, for faces that ask about one after the other.
//!
//! A ref is found by listing every store, which takes as long as a look at every file. A face that
//! stays open lists them once and then looks at the file of the session alone: where it is stays
//! the same, and what changed of it is in its state. A session that is not where it was, or that is
//! not in the listing, is looked for in the stores; after some time they are listed again, so that
//! a second session of the same name is noticed.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use boswell_dialect::SessionLocation;
use boswell_model::{Framing, Instant};
use boswell_store::Store;
use boswell_store::store::{Resolved, StoredSession, Stores};

use crate::system::Stopwatch;

/// How long a listing is used.
const LONGEST: Duration = Duration::from_secs(30);

/// The last listing.
#[derive(Debug, Default)]
pub(crate) struct KnownPlaces(Mutex<Option<Listing>>);

#[derive(Debug)]
struct Listing {
    since: Stopwatch,
    /// Dialect and root of each store.
    stores: Vec<(&'static str, PathBuf)>,
    /// Index of the store and key of the log by ref; `None` where the file alone does not decide.
    places: HashMap<String, Option<(usize, Box<str>)>>,
}

impl KnownPlaces {
    /// Returns the session with this complete ref as it is now.
    pub(crate) fn find(&self, stores: &Stores, name: &str) -> Option<Resolved> {
        let (dialect, id) = name.split_once(':')?;
        let (root, key) = {
            let mut listing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if (listing.as_ref()).is_none_or(|it| it.since.elapsed() >= LONGEST) {
                *listing = Some(Listing::of(stores));
            }
            let listing = listing.as_ref()?;
            let (store, key) = listing.places.get(name)?.as_ref()?;
            let (_, root) = listing.stores.get(*store)?;
            (root.clone(), key.clone())
        };
        let is_it = |store: &Store| store.root() == root && store.dialect().name() == dialect;
        let (_, store) = stores.iter().find(|(_, store)| is_it(store))?;
        let info = store.backend().stat(&key).ok()??;
        let location = SessionLocation::of_file(id, info, Framing::Lines);
        (location.size > 0).then(|| Resolved {
            store: store.clone(),
            location,
        })
    }

    /// Forgets the names of sessions, of which some may be purged.
    pub(crate) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Listing {
    fn of(stores: &Stores) -> Listing {
        let since = Stopwatch::start();
        // What could not be listed is looked for where its errors are reported.
        let (held, _) = stores.held();
        let mut listing = Listing {
            since,
            stores: Vec::new(),
            places: HashMap::with_capacity(held.len()),
        };
        let mut last = None;
        for StoredSession {
            store: id,
            location,
        } in held
        {
            let Some(store) = stores.get(id) else {
                continue;
            };
            if last != Some(id) {
                let root = store.root().to_owned();
                listing.stores.push((store.dialect().name(), root));
                last = Some(id);
            }
            let name = format!("{}:{}", store.dialect().name(), location.id);
            let place = (is_file(store, &location))
                .then_some(location.key)
                .flatten()
                .map(|key| (listing.stores.len() - 1, key.into_boxed_str()));
            // Of two sessions with one name the stores choose.
            listing
                .places
                .entry(name)
                .and_modify(|place| *place = None)
                .or_insert(place);
        }
        listing
    }
}

/// Whether the state of its file is all that a listing says of a session.
fn is_file(store: &Store, location: &SessionLocation) -> bool {
    let changed = location.identity.and_then(|identity| {
        let millis = i64::try_from(identity.modified.div_euclid(1_000_000)).ok();
        millis.map(Instant::from_millis)
    });
    location.framing == Framing::Lines
        && location.row.is_none()
        && location.hidden.is_none()
        && location.owner.is_none()
        && changed.is_some()
        && changed == location.modified
        && store.archived().is_none()
        && !location.is_of_rows(store.dialect())
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
        let same_as_listed = |found: Resolved| {
            let selector = Selector::Ref("pi".to_owned(), "one".to_owned());
            let listed = stores.resolve(&selector, temp.path(), Side::Fuller);
            let told = |location: &SessionLocation| format!("{location:?}");
            assert_eq!(told(&found.location), told(&listed.unwrap().location));
        };
        let places = KnownPlaces::default();
        assert!(places.find(&stores, "pi:o").is_none(), "not a complete ref");
        same_as_listed(places.find(&stores, "pi:one").unwrap());
        boswell_testkit::disk::write(&log, format!("{header}{{}}\n").as_bytes());
        same_as_listed(places.find(&stores, "pi:one").unwrap());
        assert!(places.find(&Stores::default(), "pi:one").is_none());
        let other = temp.path().join("sessions/--x--");
        std::fs::create_dir_all(&other).unwrap();
        let other = other.join(log.file_name().unwrap());
        boswell_testkit::disk::write(&other, header.as_bytes());
        places.forget();
        assert!(places.find(&stores, "pi:one").is_none(), "two of one name");
        std::fs::remove_file(&other).unwrap();
        places.forget();
        assert!(places.find(&stores, "pi:one").is_some());
        std::fs::remove_file(&log).unwrap();
        assert!(places.find(&stores, "pi:one").is_none());
    }
}
