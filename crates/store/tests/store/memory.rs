//! Memory: pages are replaced atomically under a lock, names stay in their folder, and problems are
//! reported.

use std::sync::Arc;
use std::time::Duration;

use boswell_store::ErrorKind;
use boswell_store::Home;
use boswell_store::disk::SystemIds;
use boswell_store::disk::{Disk, LockMode, OpenMode, RealDisk};
use boswell_store::memory::Memories;
use boswell_store::memory::{MemoryProblem, check, project_key};
use boswell_testkit::hooked_disk::{Hook, HookedDisk};

const PROJECT: &str = "/srv/demo";

fn memories() -> (tempfile::TempDir, Memories) {
    let home = tempfile::tempdir().unwrap();
    let memories = Home::at(home.path()).memories();
    (home, memories)
}

#[test]
fn first_two_hundred_lines_of_the_index_are_handed_out() {
    let (_home, memories) = memories();
    let text: String = (1..=250).map(|n| format!("line {n}\n")).collect();
    memories.put(PROJECT, "MEMORY.md", &text).unwrap();
    memories.put(PROJECT, "topic.md", "a fact").unwrap();
    let memory = memories.load(PROJECT).unwrap();
    assert_eq!(memory.loaded.lines().count(), 200);
    assert!(memory.loaded.ends_with("line 200\n"));
    assert_eq!(memory.lines, 250);
    let names: Vec<_> = memory.pages.iter().map(|page| page.name.as_str()).collect();
    assert_eq!(names, ["MEMORY.md", "topic.md"]);
}

#[test]
fn project_without_memory_is_empty_and_reading_makes_nothing() {
    let (home, memories) = memories();
    let memory = memories.load(PROJECT).unwrap();
    assert_eq!(
        (memory.loaded.as_str(), memory.lines, memory.pages.len()),
        ("", 0, 0)
    );
    assert_eq!(RealDisk.list(home.path()).unwrap().len(), 0);
}

#[test]
fn changes_give_back_what_was_there() {
    let (_home, memories) = memories();
    let made = memories.append(PROJECT, "notes.md", "one").unwrap();
    assert_eq!(
        (made.before, made.after.as_deref()),
        (None, Some(&b"one\n"[..]))
    );
    memories.put(PROJECT, "notes.md", "torn").unwrap();
    let grown = memories.append(PROJECT, "notes.md", "two\n").unwrap();
    assert_eq!(grown.after.as_deref(), Some(&b"torn\ntwo\n"[..]));
    let gone = memories.remove(PROJECT, "notes.md").unwrap();
    assert_eq!((gone.before, gone.after), (grown.after, None));
    assert!(
        memories
            .remove(PROJECT, "notes.md")
            .unwrap_err()
            .is_not_found()
    );
}

#[test]
fn names_that_could_leave_the_folder_are_refused_and_nothing_changes() {
    let (home, memories) = memories();
    let long = format!("{}.md", "x".repeat(300));
    for bad in [
        "",
        "../x.md",
        "a/b.md",
        "-rf.md",
        ".hidden.md",
        "x.txt",
        "a..md",
        "a\0.md",
        "c:x.md",
        "a\\b.md",
        &long,
    ] {
        assert_eq!(
            memories.put(PROJECT, bad, "x").unwrap_err().kind(),
            ErrorKind::Invalid,
            "{bad}"
        );
    }
    assert_eq!(RealDisk.list(home.path()).unwrap().len(), 0);
}

#[test]
fn writers_at_the_same_time_lose_nothing_of_each_other() {
    let (home, _) = memories();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let memories = Home::at(home.path()).memories();
            scope.spawn(move || {
                for n in 0..10 {
                    // `Busy` is a valid result: the caller retries.
                    while memories
                        .append(PROJECT, "log.md", &format!("{writer}-{n}"))
                        .is_err()
                    {}
                }
            });
        }
    });
    let memory = Home::at(home.path()).memories().load(PROJECT).unwrap();
    let mut lines: Vec<&str> = memory.pages[0].text.lines().collect();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 40);
}

#[test]
fn locked_memory_is_busy_and_unchanged() {
    let (home, _) = memories();
    let disk = Arc::new(HookedDisk::real(Arc::new(Impatient)));
    let memories = Home::on(disk, Arc::new(SystemIds), home.path()).memories();
    memories.put(PROJECT, "a.md", "old").unwrap();
    let lock = home
        .path()
        .join(format!("locks/memory-{}.lock", project_key(PROJECT)));
    let held = RealDisk.open(&lock, OpenMode::Lock).unwrap();
    assert!(held.try_lock(LockMode::Exclusive).unwrap());
    let error = memories.put(PROJECT, "a.md", "new").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(error.advice().is_some());
    assert_eq!(memories.load(PROJECT).unwrap().pages[0].text, "old");
}

#[test]
fn check_tells_dead_links_long_indexes_repeated_facts_and_lost_topics() {
    let (_home, memories) = memories();
    let filler = "\n".repeat(201);
    memories
        .put(
            PROJECT,
            "MEMORY.md",
            &format!("- [B](build.md)\n- [gone](gone.md)\n- Use tabs, always.\n{filler}"),
        )
        .unwrap();
    memories
        .put(
            PROJECT,
            "build.md",
            "---\nname: use tabs, always\n---\n1. use  TABS, always\n3 retries are made\n5 retries are made\n",
        )
        .unwrap();
    memories
        .put(PROJECT, "lost.md", "[self](lost.md)\n")
        .unwrap();
    let problems = check(&memories.load(PROJECT).unwrap());
    let at = |page: &str, line| (page.to_owned(), line);
    assert_eq!(
        problems,
        [
            MemoryProblem::DeadLink {
                from: "MEMORY.md".to_owned(),
                line: 2,
                to: "gone.md".to_owned()
            },
            MemoryProblem::LongIndex {
                lines: 204,
                sections: Vec::new()
            },
            MemoryProblem::Repeated {
                text: "- Use tabs, always.".to_owned(),
                places: vec![at("MEMORY.md", 3), at("build.md", 4)]
            },
            MemoryProblem::Unreferenced {
                page: "lost.md".to_owned()
            },
        ]
    );
}

/// A disk on which time does not pass.
#[derive(Debug)]
struct Impatient;

impl Hook for Impatient {
    fn pause(&self, _disk: &dyn Disk, _time: Duration) {}
}
