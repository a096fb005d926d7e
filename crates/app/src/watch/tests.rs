//! The events of a watch, poll by poll, without a clock and without processes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use boswell_dialect::{Depth, by_name};
use boswell_model::Instant;
use boswell_model::json::Json;
use boswell_store::Store;
use boswell_store::backend::FsBackend;
use boswell_store::store::Stores;
use boswell_testkit::disk;
use boswell_testkit::hooked_disk::{DiskCall, Hook, HookVerdict, HookedDisk};

use super::Watch;
use crate::shape::{EntryParts, EntryPlace, Shape as _};
use crate::text::json_line;
use crate::watch::LineNumbers;
use crate::{App, RequestContext};

/// Counts the bytes that are read, and fails listings while the switch is set.
#[derive(Debug, Default)]
struct Eyes {
    read: AtomicU64,
    blind: AtomicBool,
}

impl Hook for Eyes {
    fn before(&self, call: &DiskCall<'_>) -> HookVerdict {
        match call {
            DiskCall::List { .. } if self.blind.load(Ordering::Relaxed) => {
                HookVerdict::Fail(std::io::Error::other("blind"))
            }
            _ => HookVerdict::Proceed,
        }
    }

    fn after(&self, call: &DiskCall<'_>, bytes: usize) {
        if let DiskCall::Read { .. } = call {
            self.read.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }
}

struct World {
    temp: tempfile::TempDir,
    eyes: Arc<Eyes>,
    app: App,
    cx: RequestContext,
    lines: LineNumbers,
}

impl World {
    fn new() -> World {
        let temp = tempfile::tempdir().unwrap();
        let (eyes, mut stores) = (Arc::new(Eyes::default()), Stores::default());
        for dialect in ["claude", "codex", "clinvoker"] {
            let root = temp.path().join(dialect);
            disk::make_dir(&root);
            let backend = FsBackend::on(Arc::new(HookedDisk::real(eyes.clone())), &root);
            stores.add_store(Store::on(
                by_name(dialect).unwrap(),
                Arc::new(backend),
                root,
            ));
        }
        let home = Some(temp.path().join("boswell"));
        let app = App::of_test(stores, home, temp.path().to_path_buf());
        let mut cx = app.request().unwrap();
        // Everything in this test is written after the start.
        cx.now = Instant::from_millis(0);
        World {
            temp,
            eyes,
            app,
            cx,
            lines: LineNumbers::Unknown,
        }
    }

    fn watch(&self) -> Watch {
        Watch::of_all(&self.app, &self.cx, self.lines)
    }

    /// Looks at all stores, whether or not that is due.
    fn look(&self) {
        self.app.looks().look(&self.app.request().unwrap());
    }

    fn log(&self, number: u32) -> PathBuf {
        self.temp
            .path()
            .join(format!("claude/projects/-p/{}.jsonl", uuid(number)))
    }

    /// Appends to a file in place, like an agent.
    fn add(&self, path: &Path, bytes: &str) {
        disk::make_dir(path.parent().unwrap());
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .unwrap();
        std::io::Write::write_all(&mut file, bytes.as_bytes()).unwrap();
    }
}

fn uuid(number: u32) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

fn line(session: u32, name: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"{name}\",\"parentUuid\":null,\"sessionId\":\"{}\",\"cwd\":\"/p\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"text of {name}\"}}}}\n",
        uuid(session)
    )
}

fn look(world: &World, watch: &mut Watch) -> Vec<String> {
    world.look();
    let mut seen = Vec::new();
    watch
        .look(&mut |entry| {
            seen.push(entry.view.unwrap().text().replace("text of ", ""));
            Ok(())
        })
        .unwrap();
    seen
}

#[test]
fn every_entry_is_handed_over_once_and_a_torn_one_when_it_ends() {
    let world = World::new();
    world.add(&world.log(1), &line(1, "old"));
    world.add(&world.log(2), &line(2, "old"));
    let mut watch = world.watch();
    assert_eq!(
        look(&world, &mut watch),
        [""; 0],
        "what was there is not new"
    );
    world.add(&world.log(1), &(line(1, "a") + &line(1, "b")));
    world.add(&world.log(2), &line(2, "c"));
    assert_eq!(look(&world, &mut watch), ["a", "b", "c"]);
    assert_eq!(look(&world, &mut watch), [""; 0]);
    world.add(
        &world.log(1),
        &(line(1, "d").trim_end().to_owned() + &line(1, "e")),
    );
    assert_eq!(
        look(&world, &mut watch),
        ["d", "e"],
        "two records on one line"
    );
    let torn = line(1, "torn");
    for piece in [&torn[..10], &torn[10..torn.len() - 1]] {
        world.add(&world.log(1), piece);
        assert_eq!(look(&world, &mut watch), [""; 0]);
    }
    world.add(&world.log(1), "\n");
    assert_eq!(look(&world, &mut watch), ["torn"]);
}

#[test]
fn of_a_log_that_was_cut_or_replaced_only_what_comes_later_is_handed_over() {
    let world = World::new();
    let old: String = (0..5).map(|it| line(1, &format!("old{it}"))).collect();
    for number in [1, 2] {
        world.add(&world.log(number), &old);
    }
    let mut watch = world.watch();
    // The second is followed already when it is cut.
    world.add(&world.log(2), &line(2, "a"));
    assert_eq!(look(&world, &mut watch), ["a"]);
    for number in [1, 2] {
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(world.log(number))
            .unwrap();
        file.set_len(line(1, "old0").len() as u64).unwrap();
    }
    assert_eq!(look(&world, &mut watch), [""; 0], "cut");
    for number in [1, 2] {
        world.add(&world.log(number), &line(number, &format!("b{number}")));
    }
    assert_eq!(look(&world, &mut watch), ["b1", "b2"]);
    for number in [1, 2] {
        let other = world.temp.path().join("other");
        disk::write(&other, old.repeat(3).as_bytes());
        std::fs::rename(&other, world.log(number)).unwrap();
    }
    assert_eq!(
        look(&world, &mut watch),
        [""; 0],
        "replaced by a longer one"
    );
    for number in [1, 2] {
        world.add(&world.log(number), &line(number, &format!("c{number}")));
    }
    assert_eq!(look(&world, &mut watch), ["c1", "c2"]);
}

#[test]
fn a_session_that_appears_is_handed_over_from_its_first_entry_but_not_one_of_long_ago() {
    let mut world = World::new();
    world.cx.now = Instant::from_millis(1_700_000_000_000);
    let mut watch = world.watch();
    world.add(&world.log(1), &(line(1, "a") + &line(1, "b")));
    world.add(&world.log(2), &line(2, "restored"));
    disk::set_modified(&world.log(2), 1_600_000_000_000);
    assert_eq!(look(&world, &mut watch), ["a", "b"]);
    world.add(&world.log(2), &line(2, "goes on"));
    assert_eq!(look(&world, &mut watch), ["goes on"]);
}

#[test]
fn a_store_that_cannot_be_listed_is_tried_again_and_its_past_is_not_news() {
    let world = World::new();
    world.add(&world.log(1), &line(1, "old"));
    world.eyes.blind.store(true, Ordering::Relaxed);
    let mut watch = world.watch();
    assert_eq!(look(&world, &mut watch), [""; 0]);
    world.eyes.blind.store(false, Ordering::Relaxed);
    assert_eq!(
        look(&world, &mut watch),
        [""; 0],
        "it was there before anybody could look"
    );
    world.add(&world.log(1), &line(1, "a"));
    world.eyes.blind.store(true, Ordering::Relaxed);
    assert_eq!(look(&world, &mut watch), [""; 0]);
    world.add(&world.log(2), &line(2, "b"));
    world.eyes.blind.store(false, Ordering::Relaxed);
    assert_eq!(
        look(&world, &mut watch),
        ["a", "b"],
        "nothing of what was written meanwhile is lost"
    );
}

#[test]
fn one_line_more_in_a_long_log_costs_less_than_a_megabyte_of_reading() {
    let mut world = World::new();
    world.lines = LineNumbers::Counted;
    let long = line(1, &"x".repeat(1 << 20));
    (0..60).for_each(|_| world.add(&world.log(1), &long));
    let mut watch = world.watch();
    world.eyes.read.store(0, Ordering::Relaxed);
    world.add(&world.log(1), &line(1, "a"));
    assert_eq!(look(&world, &mut watch), ["a"]);
    let read = world.eyes.read.load(Ordering::Relaxed);
    assert!(read < 1 << 20, "{read} bytes");
    world.eyes.read.store(0, Ordering::Relaxed);
    world.add(&world.log(1), &line(1, "b"));
    assert_eq!(look(&world, &mut watch), ["b"]);
    let read = world.eyes.read.load(Ordering::Relaxed);
    assert!(read < 1000, "{read} bytes for the second");
}

/// The objects of a look, by session and id.
fn objects(world: &World, watch: &mut Watch) -> BTreeMap<String, String> {
    world.look();
    let mut seen = BTreeMap::new();
    let mut sink = |it: &EntryParts<'_>| {
        let object = it.shape(false).object();
        seen.insert(text(&object, "id"), json_line(&object));
        Ok(())
    };
    watch.look(&mut sink).unwrap();
    seen
}

fn text(object: &Json, key: &str) -> String {
    let Json::Object(members) = object else {
        return String::new();
    };
    members
        .iter()
        .find(|(name, _)| name == key)
        .map(|(_, value)| json_line(value).trim_matches('"').to_owned())
        .unwrap_or_default()
}

#[test]
fn the_json_of_a_new_entry_is_that_of_a_whole_read_but_for_lines_that_were_not_counted() {
    let mut world = World::new();
    world.lines = LineNumbers::Counted;
    let codex = world
        .temp
        .path()
        .join("codex/sessions/2026/10/05/rollout-2026-10-05T00-00-00-00000000-0000-4000-8000-000000000009.jsonl");
    let said = |text: &str| {
        format!(
            "{{\"timestamp\":\"2026-10-05T00:00:01.000Z\",\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"user\",\"content\":[{{\"type\":\"input_text\",\"text\":\"{text}\"}}]}}}}\n"
        )
    };
    let meta = "{\"timestamp\":\"2026-10-05T00:00:00.000Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"00000000-0000-4000-8000-000000000009\",\"cwd\":\"/p\"}}\n";
    world.add(&codex, &(meta.to_owned() + &said("old")));
    world.add(&world.log(1), &line(1, "old"));
    let mut watch = world.watch();
    world.add(&codex, &(said("one") + &said("two")));
    world.add(
        &world.log(1),
        &(line(1, "a") + &line(1, "b").replace("null", "\"a\"")),
    );
    world.add(&world.log(2), &line(2, "first"));
    let seen = objects(&world, &mut watch);
    let mut whole = BTreeMap::new();
    for held in world.cx.stores.held().0 {
        let session = world
            .cx
            .stores
            .session(held.store, &held.location, Depth::Heads)
            .unwrap();
        let leaf = session.leaf().unwrap();
        for slot in session.log().slots() {
            let it = session.entry(slot).unwrap();
            let place = EntryPlace {
                on_branch: true,
                leaf: leaf == Some(slot),
            };
            let reference = session.reference();
            let view = it.view.as_ref();
            let parts =
                EntryParts::of_slot(&session, &reference, slot, &it.bytes, view, &place).unwrap();
            let object = parts.shape(false).object();
            whole.insert(text(&object, "id"), json_line(&object));
        }
    }
    assert_eq!(
        seen.keys().collect::<Vec<_>>(),
        ["#3", "#4", "a", "b", "first"]
    );
    for (id, object) in seen {
        // Entries of Claude have ids, so the lines of an existing log were not counted.
        let expected = whole[&id].replace("\"line\":2,", "\"line\":null,").replace(
            "\"line\":3,",
            if id == "#3" {
                "\"line\":3,"
            } else {
                "\"line\":null,"
            },
        );
        assert_eq!(object, expected, "{id}");
    }
}

#[test]
fn a_session_that_is_one_document_is_handed_over_when_it_appears_and_not_when_it_is_rewritten() {
    let world = World::new();
    let mut watch = world.watch();
    let path = world
        .temp
        .path()
        .join(format!("clinvoker/sessions/{}.json", "ab".repeat(16)));
    let document = |prompt: &str| {
        format!(
            "{{\"id\":\"{}\",\"backend\":\"claude\",\"status\":\"active\",\"initial_prompt\":\"{prompt}\"}}",
            "ab".repeat(16)
        )
    };
    disk::write(&path, document("go").as_bytes());
    let count = |watch: &mut Watch| {
        world.look();
        let mut count = 0;
        watch
            .look(&mut |_| {
                count += 1;
                Ok(())
            })
            .unwrap();
        count
    };
    assert_eq!(count(&mut watch), 1);
    disk::write(&path, document("go on and on").as_bytes());
    assert_eq!((count(&mut watch), count(&mut watch)), (0, 0));
}

#[test]
fn one_session_is_watched_without_a_look_at_the_others() {
    let world = World::new();
    world.add(&world.log(1), &line(1, "old"));
    world.add(&world.log(2), &line(2, "old"));
    let document = world
        .temp
        .path()
        .join(format!("clinvoker/sessions/{}.json", "ab".repeat(16)));
    disk::write(&document, b"{}");
    let names = [uuid(1), "ab".repeat(16)];
    let [mut log, mut other] =
        names.map(|name| Watch::of_one(&world.app, &world.cx, &name, world.lines).unwrap());
    world.add(&world.log(1), &line(1, "a"));
    world.add(&world.log(2), &line(2, "b"));
    let mut seen = Vec::new();
    let mut sink = |entry: &EntryParts<'_>| {
        seen.push(entry.view.unwrap().text());
        Ok(())
    };
    log.look(&mut sink).unwrap();
    other.look(&mut sink).unwrap();
    assert_eq!(seen, ["text of a"]);
    assert_eq!(world.app.looks().number(), 0);
}
