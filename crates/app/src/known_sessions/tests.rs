//! The catalog's rows equal what a list computes, after any change of sessions, and without reading
//! any of their files.

mod changes;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use boswell_dialect::by_name;
use boswell_model::SessionRef;
use boswell_store::Store;
use boswell_store::backend::FsBackend;
use boswell_store::store::Stores;
use boswell_testkit::disk;
use boswell_testkit::hooked_disk::{DiskCall, Hook, HookVerdict, HookedDisk};
use boswell_testkit::rng::Rng;
use serde_json::Value;

use super::*;
use crate::sessions::filter::SessionFilter;
use crate::sessions::notes_overlay::NotesOverlay;

const SORTS: [Sort; 5] = [
    Sort::Active,
    Sort::Created,
    Sort::Messages,
    Sort::Size,
    Sort::Name,
];

/// Counts disk calls below the roots of the stores.
#[derive(Debug, Default)]
struct Calls(AtomicU64);

impl Hook for Calls {
    fn before(&self, _: &DiskCall<'_>) -> HookVerdict {
        self.0.fetch_add(1, Ordering::Relaxed);
        HookVerdict::Proceed
    }
}

struct World {
    temp: tempfile::TempDir,
    calls: Arc<Calls>,
    app: App,
    rng: Rng,
    made: usize,
    /// Sessions whose logs were moved since the last refresh.
    moved: Vec<SessionRef>,
    /// Rows of the MyAgents index, by id.
    rows: BTreeMap<String, Value>,
}

impl World {
    fn new(seed: u64) -> World {
        let temp = tempfile::tempdir().unwrap();
        let (calls, mut stores) = (Arc::new(Calls::default()), Stores::default());
        for dialect in ["boswell", "claude", "clinvoker", "myagents", "pi"] {
            let root = temp.path().join(dialect);
            disk::make_dir(&root);
            let backend = FsBackend::on(Arc::new(HookedDisk::real(calls.clone())), &root);
            stores.add_store(Store::on(
                by_name(dialect).unwrap(),
                Arc::new(backend),
                root,
            ));
        }
        disk::make_dir(&temp.path().join("clinvoker/sessions"));
        let home = Some(temp.path().join("boswell"));
        let app = App::of_test(stores, home, temp.path().to_path_buf());
        World {
            temp,
            calls,
            app,
            rng: Rng::new(seed),
            made: 0,
            moved: Vec::new(),
            rows: BTreeMap::new(),
        }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.temp.path().join(below)
    }

    fn known(&self, request: &ListRequest) -> KnownPage {
        let before = self.calls.0.load(Ordering::Relaxed);
        let known = self.app.known_sessions(request).unwrap();
        assert!(known.notices.is_empty());
        assert_eq!(self.calls.0.load(Ordering::Relaxed), before, "the disk");
        known.value
    }

    fn listed(&self, request: &ListRequest) -> (Vec<ConversationRow>, Option<String>, u64) {
        let page = self.app.list(request).unwrap().value;
        let cx = self.app.request().unwrap();
        let rows = page.rows.into_iter().map(|it| it.conversation);
        let rows = rows.map(|it| index::row(&cx, it, &NotesOverlay::default()));
        let rows = rows.filter(|row| row.hidden.as_deref() != Some("ghost"));
        let rows = rows.map(|row| ConversationRow {
            open_status: false,
            ..row
        });
        (rows.collect(), page.page.cursor, page.page.total.unwrap())
    }

    fn refresh(&self) -> RefreshedSessions {
        let refreshed = self.app.refresh(&Cancel::new()).unwrap().value;
        assert!(refreshed.complete && refreshed.kept);
        refreshed
    }

    /// Checks for every order and some filters, which differ in each step, that both ways give the
    /// same.
    fn compare(&self, step: usize) {
        for (at, sort) in SORTS.into_iter().enumerate() {
            let requests = requests();
            let nth = |nth: usize| requests[nth % requests.len()].clone();
            for request in [nth(0), nth(1), nth(2 + step), nth(5 + step + at)] {
                let request = ListRequest { sort, ..request };
                let known = self.known(&request);
                let (rows, _, total) = self.listed(&request);
                assert_eq!(known.rows, rows, "{request:?}");
                let is_whole = known.total.is_none() || request.hidden;
                assert!(is_whole || known.total == Some(total));
            }
        }
        self.compare_pages(SORTS[step % SORTS.len()]);
    }

    fn compare_pages(&self, sort: Sort) {
        let all = self.known(&ListRequest {
            sort,
            ..ListRequest::default()
        });
        let (mut rows, mut cursor) = (Vec::new(), None);
        loop {
            let request = ListRequest {
                sort,
                cursor,
                limit: Some(3),
                ..ListRequest::default()
            };
            let page = self.known(&request);
            let (listed, listed_cursor, _) = self.listed(&request);
            assert_eq!((&page.rows, &page.cursor), (&listed, &listed_cursor));
            rows.extend(page.rows);
            cursor = page.cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(rows, all.rows);
    }

    fn by_ref(&self) -> BTreeMap<SessionRef, ConversationRow> {
        let rows = self.known(&all()).rows.into_iter();
        rows.map(|row| (row.front.reference.clone(), row)).collect()
    }
}

fn all() -> ListRequest {
    ListRequest {
        hidden: true,
        ..ListRequest::default()
    }
}

fn requests() -> Vec<ListRequest> {
    let filtered = |filter: SessionFilter| ListRequest {
        filter,
        ..ListRequest::default()
    };
    let word = |word: &str| Some(word.to_owned());
    vec![
        ListRequest::default(),
        all(),
        filtered(SessionFilter {
            agent: word("claude"),
            ..SessionFilter::default()
        }),
        filtered(SessionFilter {
            tag: word("pinned"),
            ..SessionFilter::default()
        }),
        filtered(SessionFilter {
            status: word("completed"),
            ..SessionFilter::default()
        }),
        filtered(SessionFilter {
            status: word("active"),
            project: word("/p"),
            ..SessionFilter::default()
        }),
        filtered(SessionFilter {
            branch: word("main"),
            since: word("2026-01-01T00:20:00Z"),
            ..SessionFilter::default()
        }),
        ListRequest {
            matching: word("note 1"),
            ..ListRequest::default()
        },
    ]
}

/// Returns the differences between two states, as a refresh reports them.
fn difference(
    before: &BTreeMap<SessionRef, ConversationRow>,
    after: &BTreeMap<SessionRef, ConversationRow>,
) -> [Vec<SessionRef>; 3] {
    let added = after.keys().filter(|it| !before.contains_key(it));
    let gone = before.keys().filter(|it| !after.contains_key(it));
    let changed = (after.iter())
        .filter(|(session, row)| before.get(session).is_some_and(|old| old != *row))
        .map(|(session, _)| session);
    [
        added.cloned().collect(),
        changed.cloned().collect(),
        gone.cloned().collect(),
    ]
}

#[test]
fn what_is_known_is_what_a_list_shows_whatever_happened() {
    for seed in 0..4 {
        let mut world = World::new(seed);
        (0..8).for_each(|_| world.new_log());
        world.refresh();
        for step in 0..20 {
            let before = world.by_ref();
            let changes = 1 + world.rng.below(3);
            (0..changes).for_each(|_| world.change());
            // A list updates the rows as well.
            if step % 5 == 4 {
                let _ = world.app.list(&ListRequest::default()).unwrap();
            }
            let mut refreshed = world.refresh();
            let after = world.by_ref();
            if step % 5 != 4 {
                // Only changed rows were written, and rows of logs that moved.
                let [added, changed, gone] = difference(&before, &after);
                refreshed
                    .changed
                    .retain(|it| changed.contains(it) || !world.moved.contains(it));
                refreshed.added.sort();
                refreshed.changed.sort();
                let written = (refreshed.added, refreshed.changed, refreshed.gone);
                assert_eq!(written, (added, changed, gone), "{seed} {step}");
            }
            world.moved.clear();
            world.compare(step);
            let idle = world.refresh();
            assert!(idle.added.is_empty() && idle.changed.is_empty() && idle.gone.is_empty());
        }
    }
}

#[test]
fn nothing_is_known_without_a_catalog_and_the_folders_need_not_be_there() {
    let mut world = World::new(1);
    (0..5).for_each(|_| world.new_log());
    let request = ListRequest::default();
    assert_eq!(world.known(&request), KnownPage::default());
    assert!(!world.path("boswell/catalog.db").exists());
    let refreshed = world.refresh();
    let known = world.known(&request);
    assert_eq!(refreshed.added.len(), world.known(&all()).rows.len());
    assert!(known.as_of.is_some() && !known.rows.is_empty());
    assert_eq!(known.total, Some(known.rows.len() as u64));
    // All files are gone, so any read would fail.
    for dialect in ["claude", "clinvoker", "myagents", "pi"] {
        std::fs::remove_dir_all(world.path(dialect)).unwrap();
    }
    assert_eq!(world.known(&request), known);
    world.refresh();
    assert_eq!(world.known(&request).rows, []);
}

/// Opens the catalog as another program that knows its function, but not how it counts.
fn open_as_another_program(path: &std::path::Path) -> rusqlite::Connection {
    use rusqlite::functions::FunctionFlags;
    let db = rusqlite::Connection::open(path).unwrap();
    let flags = FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    db.create_scalar_function("row_crc", -1, flags, |_| Ok(0_i64))
        .unwrap();
    db
}

#[test]
fn a_damaged_row_is_not_shown_and_is_made_again() {
    let mut world = World::new(2);
    (0..5).for_each(|_| world.new_log());
    world.refresh();
    let sound = world.known(&all()).rows;
    for damage in [
        "UPDATE conversation SET facts=zeroblob(20)",
        "UPDATE conversation SET active=active-1",
        "UPDATE conversation SET hidden=1-hidden",
        "UPDATE conversation SET session='other'",
    ] {
        let db = open_as_another_program(&world.path("boswell/catalog.db"));
        db.execute_batch(damage).unwrap();
        drop(db);
        assert_eq!(world.known(&all()), KnownPage::default(), "{damage}");
        world.refresh();
        assert_eq!(world.known(&all()).rows, sound);
    }
}

#[test]
fn a_wrong_cursor_is_refused_as_by_a_list() {
    let mut world = World::new(3);
    world.new_log();
    world.refresh();
    for (sort, cursor) in [(Sort::Active, "nothing"), (Sort::Name, "claude:nobody")] {
        let request = ListRequest {
            sort,
            cursor: Some(cursor.to_owned()),
            ..ListRequest::default()
        };
        let known = world.app.known_sessions(&request).unwrap_err().error;
        let listed = world.app.list(&request).unwrap_err().error;
        assert_eq!(known.to_string(), listed.to_string());
    }
}

#[test]
fn a_first_read_of_many_sessions_says_how_far_it_is() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("claude");
    for number in 0..600u32 {
        let file = root.join(format!(
            "projects/-p/{number:08x}-0000-4000-8000-000000000000.jsonl"
        ));
        let line = format!(
            "{{\"type\":\"user\",\"uuid\":\"u\",\"cwd\":\"/p\",\"timestamp\":\"2026-01-01T00:00:{:02}Z\",\"message\":{{\"content\":\"prompt {number}\"}}}}\n",
            number % 60
        );
        disk::write(&file, line.as_bytes());
    }
    let mut stores = Stores::default();
    stores.add("claude", &root).unwrap();
    let home = Some(temp.path().join("home"));
    let app = App::of_test(stores, home, temp.path().to_path_buf());
    let mut told: Vec<RefreshProgress> = Vec::new();
    let refreshed = app.refresh_with(&Cancel::new(), &mut |it| told.push(it));
    assert_eq!(refreshed.unwrap().value.added.len(), 600);
    let last = told.last().unwrap();
    assert_eq!((last.read, last.total), (600, 600));
    assert!(told.is_sorted_by_key(|it| it.read));
    assert!(last.rows.len() == 200 && last.rows.iter().all(|it| it.name.starts_with("prompt")));
    assert!(
        last.rows
            .is_sorted_by(|a, b| a.last_active >= b.last_active)
    );
    // The next time everything is known.
    told.clear();
    let _ = app
        .refresh_with(&Cancel::new(), &mut |it| told.push(it))
        .unwrap();
    assert_eq!(told, []);
    let known = app.known_sessions(&ListRequest::default()).unwrap();
    assert_eq!(known.value.total, Some(600));
}
