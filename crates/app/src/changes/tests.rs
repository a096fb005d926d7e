use std::path::PathBuf;
use std::sync::Arc;

use boswell_dialect::by_name;
use boswell_store::Store;
use boswell_store::backend::FsBackend;
use boswell_store::store::Stores;
use boswell_testkit::disk;

use super::*;

struct World {
    temp: tempfile::TempDir,
    app: App,
}

impl World {
    fn new() -> World {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("claude");
        disk::make_dir(&root.join("projects/-p"));
        let mut stores = Stores::default();
        stores.add_store(Store::on(
            by_name("claude").unwrap(),
            Arc::new(FsBackend::new(&root)),
            root,
        ));
        let home = Some(temp.path().join("boswell"));
        let app = App::of_test(stores, home, temp.path().to_path_buf());
        World { temp, app }
    }

    fn log(&self, number: u32) -> PathBuf {
        self.temp
            .path()
            .join(format!("claude/projects/-p/{}.jsonl", uuid(number)))
    }

    fn write(&self, number: u32, names: &[&str]) {
        let lines: String = names.iter().map(|name| line(number, name)).collect();
        disk::write(&self.log(number), lines.as_bytes());
    }

    fn add(&self, number: u32, name: &str) {
        use std::io::Write as _;
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.append(true).open(self.log(number)).unwrap();
        file.write_all(line(number, name).as_bytes()).unwrap();
    }

    /// Polls, as if the next refresh were due.
    fn poll(&self, feed: &mut ChangeFeed) -> Vec<String> {
        self.app.looks().look(&self.app.request().unwrap());
        feed.poll().unwrap().iter().map(word).collect()
    }
}

fn uuid(number: u32) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

fn line(session: u32, name: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"{name}\",\"parentUuid\":null,\"sessionId\":\"{}\",\"cwd\":\"/p\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{name}\"}}}}\n",
        uuid(session)
    )
}

fn word(change: &Change) -> String {
    let last = |session: &SessionRef| session.id.chars().last().unwrap();
    match change {
        Change::Added(it) => format!("added {}", last(&it.session)),
        Change::Changed(it) => format!("changed {}", last(&it.session)),
        Change::Gone(session) => format!("gone {}", last(session)),
        Change::Health(it) => {
            let mark = |is: bool, word: &'static str| if is { word } else { "" };
            let (damaged, lost) = (
                mark(it.damaged, " damaged"),
                mark(it.lost_soon, " lost soon"),
            );
            format!("health {}{damaged}{lost}", last(&it.session))
        }
        Change::Entry(it) => format!("entry {}", it.entry.view.text()),
        Change::Restarted(session) => format!("restarted {}", last(session)),
        Change::Missed => "missed".to_owned(),
    }
}

const NOTHING: [&str; 0] = [];

#[test]
fn sessions_that_come_change_and_go_are_announced_once_to_every_feed() {
    let world = World::new();
    world.write(1, &["a"]);
    let mut early = world.app.changes().unwrap().value;
    assert_eq!(
        world.poll(&mut early),
        NOTHING,
        "what was there is not news"
    );
    world.write(2, &["b"]);
    let mut late = world.app.changes().unwrap().value;
    assert_eq!(world.poll(&mut early), ["added 2"]);
    assert_eq!(world.poll(&mut early), NOTHING);
    world.add(1, "c");
    assert_eq!(world.poll(&mut early), ["changed 1"]);
    std::fs::remove_file(world.log(1)).unwrap();
    assert_eq!(world.poll(&mut early), ["gone 1"]);
    assert_eq!(world.poll(&mut late), ["added 2", "changed 1", "gone 1"]);
}

#[test]
fn a_file_that_takes_the_place_of_another_of_its_length_is_a_change() {
    let world = World::new();
    world.write(1, &["a"]);
    let mut feed = world.app.changes().unwrap().value;
    let other = world.temp.path().join("other");
    disk::write(&other, line(1, "z").as_bytes());
    std::fs::rename(&other, world.log(1)).unwrap();
    assert_eq!(world.poll(&mut feed), ["changed 1"]);
}

#[test]
fn entries_of_a_followed_session_come_in_order_and_from_a_revision_on() {
    let world = World::new();
    world.write(1, &["a", "b"]);
    let mut feed = world.app.changes().unwrap().value;
    let session = feed.follow(&uuid(1), None).unwrap().value;
    assert_eq!(world.poll(&mut feed), NOTHING);
    world.add(1, "c");
    world.add(1, "d");
    assert_eq!(world.poll(&mut feed), ["changed 1", "entry c", "entry d"]);
    world.add(1, "e");
    let changes = feed.poll().unwrap();
    let revision = match changes.as_slice() {
        [.., Change::Entry(it)] => it.entry.revision,
        other => panic!("{other:?}"),
    };
    world.add(1, "f");
    let mut again = world.app.changes().unwrap().value;
    let _ = again.follow(&session.to_string(), Some(&revision)).unwrap();
    let words: Vec<String> = again.poll().unwrap().iter().map(word).collect();
    assert_eq!(words, ["entry f"], "a listener that was away goes on");
    feed.unfollow(&session);
    world.add(1, "g");
    assert_eq!(world.poll(&mut feed), ["changed 1"]);
}

#[test]
fn a_revision_of_a_replaced_log_starts_again() {
    let world = World::new();
    world.write(1, &["a"]);
    let mut feed = world.app.changes().unwrap().value;
    let revision = Revision::of_log(Some((1, u64::MAX)), 10);
    let _ = feed.follow(&uuid(1), Some(&revision)).unwrap();
    let words: Vec<String> = feed.poll().unwrap().iter().map(word).collect();
    assert_eq!(words, ["restarted 1", "entry a"]);
}

#[test]
fn a_feed_that_fell_behind_is_told_to_list_again() {
    let world = World::new();
    let mut feed = world.app.changes().unwrap().value;
    world.write(1, &["a"]);
    for nth in 0..4100 {
        world.add(1, &format!("n{nth}"));
        world.app.looks().look(&world.app.request().unwrap());
    }
    let words: Vec<String> = feed.poll().unwrap().iter().map(word).collect();
    assert_eq!(words, ["missed"]);
    assert_eq!(world.poll(&mut feed), NOTHING, "and goes on from there");
}

#[test]
fn looks_keep_their_distance() {
    let world = World::new();
    let mut feed = world.app.changes().unwrap().value;
    assert!(
        feed.pause() > Duration::from_millis(500),
        "{:?}",
        feed.pause()
    );
    let number = world.app.looks().number();
    feed.poll().unwrap();
    assert_eq!(world.app.looks().number(), number, "no look is due yet");
    world.write(1, &["a"]);
    let _ = feed.follow(&uuid(1), None).unwrap();
    assert!(feed.pause() <= FOLLOWING);
}

#[test]
fn a_poll_after_every_look_misses_nothing_however_much_changed() {
    let world = World::new();
    let mut feed = world.app.changes().unwrap().value;
    for number in 0..4200 {
        disk::write(&world.log(number), b"");
    }
    assert_eq!(world.poll(&mut feed).len(), 4200);
}

#[test]
fn damage_is_announced_once_the_catalog_has_read_it() {
    let world = World::new();
    world.write(1, &["a", "b"]);
    world.write(2, &["a"]);
    let refresh = || drop(world.app.refresh(&crate::Cancel::new()).unwrap());
    refresh();
    let mut feed = world.app.changes().unwrap().value;
    let torn = [line(1, "a"), "{\"torn\n".to_owned(), line(1, "b")].concat();
    disk::write(&world.log(1), torn.as_bytes());
    assert_eq!(world.poll(&mut feed), ["changed 1"]);
    refresh();
    assert_eq!(world.poll(&mut feed), ["health 1 damaged"]);
    assert_eq!(world.poll(&mut feed), NOTHING, "it stays so");
    let page = world.app.known_sessions(&Default::default()).unwrap().value;
    let damaged = |row: &crate::known_sessions::ConversationRow| row.damaged;
    assert_eq!(page.rows.iter().filter(|row| damaged(row)).count(), 1);
    world.write(1, &["a", "b", "c"]);
    assert_eq!(world.poll(&mut feed), ["changed 1"]);
    refresh();
    assert_eq!(world.poll(&mut feed), ["health 1"]);
    disk::write(&world.log(2), torn.as_bytes());
    refresh();
    assert_eq!(world.poll(&mut feed), ["changed 2", "health 2 damaged"]);
    std::fs::remove_file(world.log(2)).unwrap();
    assert_eq!(world.poll(&mut feed), ["gone 2"]);
}

#[test]
fn a_session_that_its_agent_deletes_soon_is_announced() {
    let world = World::new();
    world.write(1, &["a"]);
    let mut feed = world.app.changes().unwrap().value;
    let now = world.app.request().unwrap().now.millis();
    disk::set_modified(&world.log(1), now - 26 * 86_400_000);
    assert_eq!(world.poll(&mut feed), ["health 1 lost soon"]);
    assert_eq!(world.poll(&mut feed), NOTHING);
    world.add(1, "b");
    assert_eq!(world.poll(&mut feed), ["changed 1", "health 1"]);
}
