//! Expiry of sessions, and erasure of everything about a person.

use boswell_model::Instant;
use boswell_store::{Draft, Home, NewSession};
use boswell_testkit::disk;

fn files_below(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let (folders, mut files): (Vec<_>, Vec<_>) =
        disk::list(folder).into_iter().partition(|it| it.is_dir());
    files.extend(folders.iter().flat_map(|folder| files_below(folder)));
    files
}

fn found_in(folder: &std::path::Path, word: &str) -> Vec<String> {
    let is_there = |path: &std::path::Path| {
        let bytes = disk::read(path);
        bytes
            .windows(word.len())
            .any(|part| part == word.as_bytes())
    };
    let files = files_below(folder);
    files
        .into_iter()
        .filter(|path| is_there(path))
        .map(|path| path.display().to_string())
        .collect()
}

fn conversation(home: &Home, id: &str, subject: Option<&str>, text: &str) {
    let new = NewSession::in_project("/proj/demo").with_id(id);
    let new = match subject {
        Some(subject) => new.about(subject),
        None => new,
    };
    let writer = home.sessions().unwrap().create(new).unwrap();
    writer.append(Draft::user(text)).unwrap();
    writer.append(Draft::assistant("understood")).unwrap();
    writer.release().unwrap();
}

#[test]
fn a_session_expires_at_its_time_and_not_before() {
    let store = Home::in_memory().unwrap().sessions().unwrap();
    let at = Instant::from_millis(1_800_000_000_000);
    let new = NewSession::in_project("/proj/demo");
    for (id, new) in [
        ("short", new.clone().with_id("short").expiring(at)),
        ("forever", new.with_id("forever")),
    ] {
        let writer = store.create(new).unwrap();
        writer.append(Draft::user("hello")).unwrap();
        writer.release().unwrap();
        assert_eq!(store.session(id).unwrap().messages().unwrap().len(), 1);
    }
    let expired = |millis: i64| -> Vec<String> {
        let found = store.expired(Instant::from_millis(millis)).unwrap();
        found.into_iter().map(|location| location.id).collect()
    };
    assert_eq!(expired(1_799_999_999_999), [] as [&str; 0]);
    assert_eq!(expired(1_800_000_000_000), ["short"]);
    // A new time counts from when it is set, and none means never.
    let later = Instant::from_millis(1_900_000_000_000).to_rfc3339();
    let set = |value: Option<&str>| store.set_metadata("short", &[("boswell.expires", value)]);
    set(Some(&later)).unwrap();
    assert_eq!(expired(1_800_000_000_000), [] as [&str; 0]);
    assert_eq!(expired(1_900_000_000_000), ["short"]);
    set(None).unwrap();
    assert_eq!(expired(1_900_000_000_000), [] as [&str; 0]);
}

#[test]
fn erasing_a_person_leaves_no_byte_of_their_sessions_and_all_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::open(folder.path()).unwrap();
    conversation(&home, "first", Some("ann"), "the word is xylophone");
    conversation(&home, "deleted", Some("ann"), "again: xylophone");
    conversation(&home, "other", Some("bob"), "bob says marimba");
    conversation(&home, "nobody", None, "nobody says marimba");
    let store = home.sessions().unwrap();
    let fork = NewSession::in_project("/proj/demo").with_id("fork");
    store.fork("first", None, fork).unwrap().release().unwrap();
    let runner = home.runner();
    let deleted = store.find("deleted").unwrap();
    runner.delete_session(&store, &deleted).unwrap();
    assert!(found_in(folder.path(), "xylophone").len() >= 2);

    let erased = runner.erase_subject(&store, "ann").unwrap();
    let mut ids: Vec<&str> = erased.sessions.iter().map(|it| it.id.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["deleted", "first", "fork"]);
    assert!(erased.in_use.is_empty() && !erased.index_left);
    assert_eq!(found_in(folder.path(), "xylophone"), [] as [&str; 0]);
    assert_eq!(store.list().unwrap().sessions.len(), 2);
    assert_eq!(found_in(folder.path(), "marimba").len(), 2);
    assert!(runner.purges().unwrap().is_empty());
    // Again: there is nothing left.
    let again = runner.erase_subject(&store, "ann").unwrap();
    assert!(again.sessions.is_empty());
}

#[test]
fn erasing_removes_blobs_that_nothing_else_names() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::open(folder.path()).unwrap();
    let blobs = home.blobs();
    let (own, shared) = (
        blobs.put(b"only ann's").unwrap(),
        blobs.put(b"shared").unwrap(),
    );
    let text = |ids: &[String]| ids.join(" and ");
    conversation(&home, "first", Some("ann"), "plain");
    conversation(&home, "other", Some("bob"), "plain");
    let store = home.sessions().unwrap();
    for (id, text) in [
        ("first", text(&[own.reference(), shared.reference()])),
        ("other", shared.reference()),
    ] {
        let names: Vec<boswell_model::json::Json> = text.split(" and ").map(Into::into).collect();
        let data = boswell_model::json::Json::object()
            .with("blobs", boswell_model::json::Json::Array(names));
        let writer = store.writer(id, boswell_store::Wait::No).unwrap();
        writer.append(Draft::custom("demo.blobs", data)).unwrap();
        writer.release().unwrap();
    }
    home.runner().erase_subject(&store, "ann").unwrap();
    assert!(!blobs.has(&own).unwrap());
    assert!(blobs.has(&shared).unwrap());
}

#[test]
fn a_session_in_use_is_not_erased_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::open(folder.path()).unwrap();
    conversation(&home, "first", Some("ann"), "hello");
    let store = home.sessions().unwrap();
    let writer = store.writer("first", boswell_store::Wait::No).unwrap();
    let erased = home.runner().erase_subject(&store, "ann").unwrap();
    assert_eq!(erased.in_use.len(), 1);
    assert!(erased.sessions.is_empty());
    writer.append(Draft::user("still here")).unwrap();
    writer.release().unwrap();
    assert!(home.runner().purges().unwrap().is_empty());
    let erased = home.runner().erase_subject(&store, "ann").unwrap();
    assert_eq!(erased.sessions.len(), 1);
}
