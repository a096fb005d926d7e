//! What the catalog knows is what a list shows, whatever happens to sessions, and without a look
//! at any of their files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use boswell_dialect::by_name;
use boswell_model::SessionRef;
use boswell_store::{FsBackend, NoteKind, Store, Stores};
use boswell_testkit::disk;
use boswell_testkit::hooked_disk::{DiskCall, Hook, HookVerdict, HookedDisk};
use boswell_testkit::make::clinvoker::{self, ClinvokerSpec};
use boswell_testkit::make::myagents::{self, Era, MyAgentsSpec};
use boswell_testkit::rng::Rng;
use serde_json::Value;

use super::*;
use crate::new_session::NewSessionRequest;
use crate::sessions::filter::SessionFilter;
use crate::sessions::notes_overlay::NotesOverlay;

const SORTS: [Sort; 5] = [
    Sort::Active,
    Sort::Created,
    Sort::Messages,
    Sort::Size,
    Sort::Name,
];

/// Counts calls of the disk below the stores' roots.
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

    /// Logs of Claude Code, by id.
    fn logs(&self) -> BTreeMap<String, PathBuf> {
        let mut logs = BTreeMap::new();
        for project in disk::list(&self.path("claude/projects")) {
            for path in disk::list(&project) {
                if path.extension().is_some_and(|end| end == "jsonl") {
                    let id = path.file_stem().unwrap().to_string_lossy().into_owned();
                    logs.insert(id, path);
                }
            }
        }
        logs
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        (!all.is_empty()).then(|| all[self.rng.below(all.len())].clone())
    }

    fn log(&mut self) -> Option<(String, PathBuf)> {
        let logs: Vec<_> = self.logs().into_iter().collect();
        self.pick(&logs)
    }

    fn line(&mut self, id: &str) -> String {
        let number = self.rng.below(1000);
        let (minute, project) = (self.rng.below(60), self.rng.below(3));
        let branch = ["main", "dev"][self.rng.below(2)];
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u{number}\",\"sessionId\":\"{id}\",\"cwd\":\"/p/{project}\",\"gitBranch\":\"{branch}\",\"timestamp\":\"2026-01-01T00:{minute:02}:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"Asked {number}\"}}}}\n"
        )
    }

    fn new_log(&mut self) {
        self.made += 1;
        let id = format!(
            "{:08x}-0000-4000-8000-{:012}",
            self.rng.below(1 << 30),
            self.made
        );
        let project = self.rng.below(3);
        let mut text = self.line(&id);
        for _ in 0..self.rng.below(3) {
            text.push_str(&self.line(&id));
        }
        // Some have nothing but bookkeeping, so that lists hide them.
        if self.rng.below(6) == 0 {
            text = format!("{{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"{id}\"}}\n");
        }
        let path = format!("claude/projects/-p-{project}/{id}.jsonl");
        disk::write(&self.path(&path), text.as_bytes());
    }

    /// A document that names a session of Claude Code, perhaps one that is not there.
    fn document(&mut self, id: &str) {
        let ids: Vec<String> = self.logs().into_keys().collect();
        let other = "99999999-0000-4000-8000-000000000000".to_owned();
        let backend_session = self.pick(&ids).filter(|_| self.rng.below(5) > 0);
        let backend_session = backend_session.unwrap_or(other);
        let made = clinvoker::made(&clinvoker::document(&ClinvokerSpec {
            id,
            backend: "claude",
            backend_session: &backend_session,
            status: ["completed", "error", "paused", ""][self.rng.below(4)],
            seed: self.rng.next_u64(),
            ..ClinvokerSpec::default()
        }));
        made.write_to(&self.path("clinvoker"));
    }

    fn mirror(&mut self) {
        self.made += 1;
        let ids: Vec<String> = self.logs().into_keys().collect();
        let (sdk, id) = (self.pick(&ids), format!("session-{}-abc", self.made));
        let (made, row) = myagents::session(&MyAgentsSpec {
            era: Era::E1,
            id: Some(&id),
            sdk: sdk.as_deref(),
            agent_dir: "/p/1",
            turns: 2,
            seed: self.rng.next_u64(),
        });
        made.write_to(&self.path("myagents"));
        self.rows.insert(id, row);
        self.write_index();
    }

    fn write_index(&self) {
        let rows: Vec<Value> = self.rows.values().cloned().collect();
        disk::write(
            &self.path("myagents/sessions.json"),
            &myagents::index(&rows),
        );
    }

    fn note(&mut self) {
        let known = self.known(&all());
        let refs: Vec<SessionRef> = known
            .rows
            .iter()
            .flat_map(ConversationRow::sides)
            .map(|side| side.reference.clone())
            .collect();
        let nowhere = SessionRef::new("claude", "nowhere");
        let session = self.pick(&refs).unwrap_or(nowhere);
        let tag = ["pinned", "red"][self.rng.below(2)].to_owned();
        let text = format!("Note {}", self.rng.below(100));
        let cx = self.app.request().unwrap();
        let mut notes = cx.notes().unwrap();
        let kind = match self.rng.below(7) {
            0 | 1 => NoteKind::Tag(tag),
            2 => NoteKind::Untag(tag),
            3 => NoteKind::Title(Some(text)),
            4 => NoteKind::Status {
                status: "completed".to_owned(),
                message: None,
            },
            5 => NoteKind::Summary(text),
            _ => {
                notes.forget(&[session], &[], "u").unwrap();
                return;
            }
        };
        notes.add(&session, cx.now, kind).unwrap();
    }

    /// Something happens to some session.
    fn change(&mut self) {
        match self.rng.below(14) {
            0 | 1 => self.new_log(),
            2 | 3 => {
                if let Some((id, path)) = self.log() {
                    let line = self.line(&id);
                    append(&path, &line);
                }
            }
            4 => drop(self.log().map(|(_, path)| std::fs::remove_file(path))),
            5 => {
                if let Some((id, path)) = self.log() {
                    let to = format!("claude/projects/-p-{}/{id}.jsonl", self.rng.below(3));
                    let to = self.path(&to);
                    disk::make_dir(to.parent().unwrap());
                    std::fs::rename(path, to).unwrap();
                    self.moved.push(SessionRef::new("claude", id));
                }
            }
            6 => self.side_file(),
            7 => {
                let id = format!("{:032x}", self.rng.below(4));
                self.document(&id);
            }
            8 => {
                let documents = disk::list(&self.path("clinvoker/sessions"));
                drop(self.pick(&documents).map(std::fs::remove_file));
            }
            9 => self.mirror(),
            10 => {
                let ids: Vec<String> = self.rows.keys().cloned().collect();
                if let Some(id) = self.pick(&ids) {
                    let title = format!("Renamed {}", self.rng.below(9));
                    self.rows.get_mut(&id).unwrap()["title"] = title.into();
                    self.write_index();
                }
            }
            11 => {
                let request = NewSessionRequest {
                    project: "/p/2".into(),
                    title: (self.rng.below(2) == 0).then(|| "Own".to_owned()),
                    ..NewSessionRequest::default()
                };
                let _ = self.app.new_session(&request).unwrap();
            }
            _ => self.note(),
        }
    }

    fn side_file(&mut self) {
        let Some((_, path)) = self.log() else {
            return;
        };
        let folder = path.with_extension("");
        match self.rng.below(3) {
            0 => disk::write(
                &folder.join("custom-title.json"),
                format!("{{\"customTitle\":\"Side {}\"}}", self.rng.below(9)).as_bytes(),
            ),
            1 => disk::write(&folder.join("archived.json"), b"{\"archived\":true}"),
            _ => drop(std::fs::remove_dir_all(folder)),
        }
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

    /// For every order and several filters the two give the same.
    fn compare(&self) {
        for sort in SORTS {
            for request in requests() {
                let request = ListRequest { sort, ..request };
                let known = self.known(&request);
                let (rows, _, total) = self.listed(&request);
                assert_eq!(known.rows, rows, "{request:?}");
                let is_whole = known.total.is_none() || request.hidden;
                assert!(is_whole || known.total == Some(total));
            }
            self.compare_pages(sort);
        }
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

fn append(path: &Path, line: &str) {
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    std::io::Write::write_all(&mut file, line.as_bytes()).unwrap();
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

/// What differs between two states, as a refresh reports it.
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
    for seed in 0..6 {
        let mut world = World::new(seed);
        (0..8).for_each(|_| world.new_log());
        world.refresh();
        for step in 0..25 {
            let before = world.by_ref();
            let changes = 1 + world.rng.below(3);
            (0..changes).for_each(|_| world.change());
            // A list brings the rows up to date as well.
            if step % 5 == 4 {
                let _ = world.app.list(&ListRequest::default()).unwrap();
            }
            let mut refreshed = world.refresh();
            let after = world.by_ref();
            if step % 5 != 4 {
                // Only what differs was written, and rows of logs that are elsewhere now.
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
            world.compare();
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
    // Whatever would be looked at is not there any more.
    for dialect in ["claude", "clinvoker", "myagents", "pi"] {
        std::fs::remove_dir_all(world.path(dialect)).unwrap();
    }
    assert_eq!(world.known(&request), known);
    world.refresh();
    assert_eq!(world.known(&request).rows, []);
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
        let db = rusqlite::Connection::open(world.path("boswell/catalog.db")).unwrap();
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
