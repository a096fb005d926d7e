use boswell_dialect::NewSession;
use boswell_store::store::Stores;
use boswell_store::{Draft, Home, Outcome};

use super::*;

struct World {
    temp: tempfile::TempDir,
    app: App,
}

impl World {
    /// Creates a session that contains the word heron, and a home without an index.
    fn new() -> World {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("sessions");
        let store = Home::at(&root).sessions().unwrap();
        let writer = store.create(NewSession::in_project("/proj")).unwrap();
        writer.append(Draft::user("the heron waits")).unwrap();
        writer.finish(Outcome::Completed).unwrap();
        let mut stores = Stores::default();
        stores.add("boswell", &root).unwrap();
        let home = temp.path().join("home");
        let app = App::of_test(stores, Some(home), temp.path().to_path_buf());
        World { temp, app }
    }

    fn search(&self, cancel: &Cancel) -> Found {
        let request = SearchRequest {
            query: "heron".to_owned(),
            ..SearchRequest::default()
        };
        self.app.search(&request, cancel).unwrap().value
    }

    fn has_index(&self) -> bool {
        self.temp.path().join("home/index").is_dir()
    }
}

fn scanned(found: &Found) -> u64 {
    match found.page.scanned_bytes {
        Maybe::Given(bytes) => bytes,
        Maybe::Absent => panic!("a search says how much it read"),
    }
}

#[test]
fn the_index_is_updated_only_when_the_face_asks_for_it() {
    let world = World::new();
    let found = world.search(&Cancel::new());
    assert_eq!(found.hits.len(), 1, "{found:?}");
    assert!(found.page.complete && scanned(&found) > 0, "{found:?}");
    assert!(!world.has_index(), "nothing is indexed before the answer");
    found.index_a_little();
    assert!(world.has_index());
    let again = world.search(&Cancel::new());
    assert_eq!((again.hits.len(), scanned(&again)), (1, 0), "{again:?}");
}

#[test]
fn a_cancelled_search_says_that_it_is_not_complete() {
    let world = World::new();
    let cancel = Cancel::new();
    cancel.cancel();
    let found = world.search(&cancel);
    assert!(found.hits.is_empty() && !found.page.complete, "{found:?}");
    assert!(!found.sessions.exact, "{found:?}");
    found.index_a_little();
    assert!(!world.has_index());
}
