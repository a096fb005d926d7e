//! The catalog gives the same result as reading every log, without reading every log.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use boswell_dialect::by_name;
use boswell_store::Store;
use boswell_store::backend::FsBackend;
use boswell_store::store::{Exclusion, Resolved, Selector, Side, Stores};
use boswell_testkit::disk;
use boswell_testkit::home::TestHome;
use boswell_testkit::hooked_disk::{DiskCall, Hook, HookVerdict, HookedDisk};

use crate::{App, RequestContext};

const DIALECTS: [&str; 8] = [
    "claude",
    "pi",
    "omp",
    "xcsh",
    "myagents",
    "clinvoker",
    "oas",
    "codex",
];

/// The session files that were opened.
#[derive(Debug, Default)]
struct Opened(Mutex<BTreeSet<PathBuf>>);

impl Hook for Opened {
    fn before(&self, call: &DiskCall<'_>) -> HookVerdict {
        if let DiskCall::Open { path, .. } = call
            && path.extension().is_some_and(|it| it == "jsonl")
        {
            self.0.lock().unwrap().insert(path.to_path_buf());
        }
        HookVerdict::Proceed
    }
}

impl Opened {
    fn while_running<T>(&self, work: impl FnOnce() -> T) -> (usize, T) {
        self.0.lock().unwrap().clear();
        let done = work();
        (self.0.lock().unwrap().len(), done)
    }
}

struct World {
    temp: tempfile::TempDir,
    stores: Stores,
    opened: Arc<Opened>,
}

impl World {
    /// Creates stores of these dialects, each below a folder of its name, and a home for the
    /// catalog.
    fn new(dialects: &[&str]) -> World {
        let temp = tempfile::tempdir().unwrap();
        disk::make_dir(&temp.path().join("boswell"));
        let roots = dialects
            .iter()
            .map(|dialect| (*dialect, temp.path().join(dialect)))
            .collect::<Vec<_>>();
        World::on(temp, &roots)
    }

    fn on(temp: tempfile::TempDir, roots: &[(&str, PathBuf)]) -> World {
        let (opened, mut stores) = (Arc::new(Opened::default()), Stores::default());
        for (dialect, root) in roots {
            disk::make_dir(root);
            let backend = FsBackend::on(Arc::new(HookedDisk::real(opened.clone())), root);
            stores.add_store(Store::on(
                by_name(dialect).unwrap(),
                Arc::new(backend),
                root,
            ));
        }
        World {
            temp,
            stores,
            opened,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    fn cx(&self, cwd: &Path) -> RequestContext {
        self.cx_with(cwd, Some("boswell"))
    }

    /// Returns a request context with that home, or without one.
    fn cx_with(&self, cwd: &Path, home: Option<&str>) -> RequestContext {
        let home = home.map(|name| self.path(name));
        let app = App::of_test(self.stores.clone(), home, cwd.to_path_buf());
        app.request().unwrap()
    }

    /// Writes a Claude session of a project folder with a message at each of these minutes.
    fn session(&self, id: u32, project: &str, minutes: &[u32]) -> PathBuf {
        let id = uuid(id);
        let mut lines: String = minutes
            .iter()
            .map(|minute| message(&id, project, *minute))
            .collect();
        if minutes.is_empty() {
            lines = format!("{{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"{id}\"}}\n");
        }
        let path = self.path(&format!("claude/projects/-p/{id}.jsonl"));
        disk::write(&path, lines.as_bytes());
        path
    }
}

fn uuid(number: u32) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

fn message(id: &str, project: &str, minute: u32) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"{id}-{minute}\",\"parentUuid\":null,\"sessionId\":\"{id}\",\"cwd\":\"{project}\",\"timestamp\":\"2026-01-01T00:{minute:02}:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"hi\"}}}}\n"
    )
}

/// Returns the session, or the error message.
fn told(found: boswell_model::Result<Resolved>) -> String {
    match found {
        Ok(it) => format!(
            "{} {} {:?}",
            it.store.root().display(),
            it.location.id,
            it.location.key
        ),
        Err(error) => format!("{error}"),
    }
}

fn by_catalog(cx: &RequestContext, selector: &Selector, side: Side<'_>) -> String {
    let newest = super::in_catalog(cx, selector).expect("the catalog can be used");
    told(newest.and_then(|it| it.side(cx, side)))
}

/// Asserts that both ways give the same result for every selector and side; returns the distinct
/// results.
fn assert_same(world: &World, cwds: &[PathBuf]) -> BTreeSet<String> {
    let mut answers = BTreeSet::new();
    for cwd in cwds {
        let cx = world.cx(cwd);
        for selector in [Selector::Last, Selector::Here] {
            for side in [
                Side::Fuller,
                Side::Front,
                Side::Of("claude"),
                Side::Of("myagents"),
                Side::Of("pi"),
            ] {
                let by_logs = told(cx.stores.resolve(&selector, cwd, side));
                assert_eq!(
                    by_catalog(&cx, &selector, side),
                    by_logs,
                    "{selector:?} {side:?} in {}",
                    cwd.display()
                );
                answers.insert(by_logs);
            }
        }
    }
    answers
}

#[test]
fn the_catalog_answers_like_a_look_into_every_log_of_every_agent() {
    for seed in [3, 4] {
        let temp = tempfile::tempdir().unwrap();
        disk::make_dir(&temp.path().join("boswell"));
        let home = TestHome::build_for(
            &temp.path().join("home"),
            &temp.path().join("work").display().to_string(),
            seed,
        );
        let roots: Vec<_> = DIALECTS
            .iter()
            .map(|it| (*it, home.folder(it).unwrap().to_path_buf()))
            .collect();
        let world = World::on(temp, &roots);
        let mut cwds: Vec<PathBuf> = home.projects.iter().map(PathBuf::from).collect();
        cwds.push(world.path("nowhere"));
        let answers = assert_same(&world, &cwds);
        assert!(answers.len() > home.projects.len(), "{answers:?}");
    }
}

#[cfg(unix)]
#[test]
fn the_catalog_answers_like_a_look_into_every_log_for_random_small_archives() {
    let mut answers = BTreeSet::new();
    for seed in 0..24 {
        let mut rng = boswell_testkit::Rng::new(seed);
        let mut world = World::new(&["claude", "myagents", "pi"]);
        let (here, hidden) = (world.path("here"), world.path("hidden"));
        disk::make_dir(&here);
        std::os::unix::fs::symlink(&here, world.path("link")).unwrap();
        let folders = [
            here.clone(),
            world.path("link"),
            hidden.clone(),
            world.path("gone"),
        ];
        let mut rows = Vec::new();
        for id in 0..1 + rng.below(6) as u32 {
            let project = folders[rng.below(4)].display().to_string();
            // Few minutes, so that several sessions were last active at the same time; some are
            // empty.
            let minutes: Vec<u32> = (0..rng.below(4)).map(|_| rng.below(4) as u32).collect();
            world.session(id, &project, &minutes);
            if rng.below(3) == 0 {
                let (front, minute) = (id, rng.below(6));
                rows.push(format!(
                    "{{\"id\":\"{}\",\"agentDir\":\"{}\",\"title\":\"t\",\"createdAt\":\"2026-01-01T00:00:00.000Z\",\"lastActiveAt\":\"2026-01-01T00:{minute:02}:00.000Z\",\"sdkSessionId\":\"{}\",\"runtime\":\"builtin\"}}",
                    uuid(1000 + front),
                    folders[rng.below(4)].display(),
                    uuid(front)
                ));
            }
        }
        disk::write(
            &world.path("myagents/sessions.json"),
            format!("[{}]", rows.join(",")).as_bytes(),
        );
        if rng.below(3) == 0 {
            let exclusion = Exclusion::new(&[hidden.display().to_string()], None).unwrap();
            world.stores = world.stores.excluding(Some(&Arc::new(exclusion)));
        }
        answers.append(&mut assert_same(
            &world,
            &[here, world.path("link"), hidden, world.path("nowhere")],
        ));
    }
    let places = |name: &str| answers.iter().filter(|it| it.contains(name)).count();
    assert!(
        places("/claude ") > 12 && places("/myagents ") > 3,
        "{answers:?}"
    );
    assert!(
        places("there is no session of the folder") > 0 && places("has no side") > 0,
        "{answers:?}"
    );
}

#[test]
fn once_the_catalog_knows_the_logs_only_those_that_changed_are_opened() {
    let world = World::new(&["claude"]);
    let logs: Vec<PathBuf> = (0..50)
        .map(|id| world.session(id, "/elsewhere", &[id]))
        .collect();
    let (here, elsewhere) = (
        world.cx(&world.path("here")),
        world.cx(Path::new("/elsewhere")),
    );
    let last = |cx: &RequestContext| by_catalog(cx, &Selector::Last, Side::Fuller);
    let (opened, first) = world.opened.while_running(|| last(&here));
    assert_eq!(
        (opened, first.contains(&uuid(49))),
        (50, true),
        "the first time each is read: {first}"
    );
    for cx in [&here, &elsewhere] {
        let (opened, again) = world.opened.while_running(|| last(cx));
        assert_eq!(
            (opened, &again),
            (0, &first),
            "also where nothing was held in this folder"
        );
    }
    let (opened, _) = world.opened.while_running(|| {
        told(
            here.stores
                .resolve(&Selector::Last, Path::new("/elsewhere"), Side::Fuller),
        )
    });
    assert_eq!(
        opened, 50,
        "the other way opens each, and the counter sees it"
    );

    let more = [
        disk::read(&logs[7]),
        message(&uuid(7), "/elsewhere", 55).into_bytes(),
    ]
    .concat();
    disk::write(&logs[7], &more);
    let (opened, found) = world.opened.while_running(|| last(&here));
    assert_eq!(
        (opened, found.contains(&uuid(7))),
        (1, true),
        "one that changed a moment ago is seen: {found}"
    );
}

#[test]
fn where_no_catalog_is_kept_none_is_made_and_the_logs_answer() {
    let world = World::new(&["claude"]);
    world.session(1, "/elsewhere", &[1]);
    let cx = world.cx(Path::new("/elsewhere"));
    assert!(
        super::in_catalog(&cx, &Selector::Prefix("0".to_owned())).is_none(),
        "other selectors need none"
    );
    let cx = world.cx_with(Path::new("/elsewhere"), None);
    assert!(super::in_catalog(&cx, &Selector::Last).is_none());
    let cx = world.cx_with(Path::new("/elsewhere"), Some("not-made"));
    assert!(super::in_catalog(&cx, &Selector::Last).is_none());
    assert!(told(cx.resolve("@last")).contains(&uuid(1)));
    assert!(!world.path("not-made").exists() && !world.path("boswell/catalog.db").exists());
}
