//! Plans on a working disk: the effect of each step, and what is refused before any change.

use std::sync::atomic::Ordering;

use crate::plans::support::{Place, Tree, session};
use boswell_dialect::{Assertion, ExpectedState, LockSpec, Modified, Plan, Precondition, Step};
use boswell_store::ErrorKind;
use boswell_store::vault::Reason;
use boswell_testkit::disk;

/// Returns a store with one file per kind of step.
pub(crate) fn place() -> Place {
    let place = Place::new();
    place.put("log.jsonl", "{\"a\":1}\n{\"torn");
    place.put("index.json", "[\"one\",\"two\"]");
    place.put("doc.json", "{\"title\":\"old\"}");
    place.put("gone.txt", "gone");
    place.put("moving.jsonl", "{\"m\":1}\n");
    place.put("folder/inside.txt", "inside");
    disk::make_dir(&place.root().join("empty"));
    disk::set_mode(&place.root().join("doc.json"), 0o640);
    place
}

pub(crate) fn everything() -> Plan {
    Plan::new("repair", "one step of every sort")
        .locking(LockSpec::Os {
            name: "store".into(),
        })
        .locking(LockSpec::AgentMkdir {
            key: "sessions.lock".into(),
        })
        .requiring(Precondition::Absent {
            key: "sub/deep/new.json".into(),
        })
        .step(Step::append("log.jsonl", "{\"b\":2}\n"))
        .step(Step::put("sub/deep/new.json", "{}"))
        .step(Step::edit("doc.json", "old", "newer"))
        .step(Step::append("moving.jsonl", "{\"m\":2}\n"))
        .step(Step::rename("moving.jsonl", "sub/moved.jsonl"))
        .step(Step::remove("gone.txt"))
        .step(Step::rename("folder", "renamed"))
        .step(Step::append("renamed/inside.txt", "more\n"))
        .step(Step::RemoveFolder {
            key: "empty".into(),
        })
        .step(Step::Put {
            key: "index.json".into(),
            bytes: b"[]".to_vec(),
            mode: Some(0o644),
            modified: Modified::Kept,
        })
        .step(Step::Verify {
            key: "index.json".into(),
            is: Assertion::Len(2),
        })
        .step(Step::Verify {
            key: "gone.txt".into(),
            is: Assertion::Absent,
        })
        .step(Step::Verify {
            key: "log.jsonl".into(),
            is: Assertion::Contains(b"torn\n{\"b\"".to_vec()),
        })
}

pub(crate) fn new_tree() -> Tree {
    let place = place();
    place
        .runner()
        .run(&place.root(), &everything(), &session(), Reason::Before)
        .unwrap();
    place.tree()
}

#[test]
fn a_plan_does_every_step() {
    let place = place();
    let index = place.root().join("index.json");
    disk::set_modified(&index, 1_600_000_000_000);
    let op = place
        .runner()
        .run(&place.root(), &everything(), &session(), Reason::Before)
        .unwrap();
    assert_eq!(
        place.read("log.jsonl"),
        "{\"a\":1}\n{\"torn\n{\"b\":2}\n",
        "a torn line stays on a line of its own"
    );
    assert_eq!(place.read("doc.json"), "{\"title\":\"newer\"}");
    assert_eq!(place.read("sub/moved.jsonl"), "{\"m\":1}\n{\"m\":2}\n");
    assert_eq!(place.read("renamed/inside.txt"), "inside\nmore\n");
    let tree = place.tree();
    assert_eq!(
        tree.get("sub/deep/new.json"),
        Some(&Some(("{}".to_owned(), 0o600)))
    );
    assert_eq!(
        tree.get("doc.json").unwrap().as_ref().unwrap().1,
        0o640,
        "the mode is kept"
    );
    assert_eq!(
        tree.get("index.json").unwrap().as_ref().unwrap().1,
        0o644,
        "the mode is set"
    );
    for gone in [
        "gone.txt",
        "empty",
        "folder",
        "moving.jsonl",
        "sessions.lock",
    ] {
        assert!(!tree.contains_key(gone), "{gone} is still there");
    }
    let stat = boswell_store::disk::Disk::stat(&boswell_store::disk::RealDisk, &index)
        .unwrap()
        .unwrap();
    assert_eq!(
        stat.modified, 1_600_000_000_000_000_000,
        "the time is kept where that is asked"
    );
    assert!(
        op.files()
            .iter()
            .any(|file| file.key == "log.jsonl" && file.appended == Some(9))
    );
    let (listed, damaged) = place.runner().operations().unwrap();
    assert_eq!((listed.len(), damaged.len()), (1, 0));
    assert_eq!(listed[0].operation, op, "what is written down reads back");
    assert!(listed[0].undoable);
}

#[test]
fn plans_that_cannot_work_change_nothing() {
    let outside = |key: &str| Plan::new("put", "outside").step(Step::put(key, "x"));
    let one = |step| {
        Plan::new("edit", "cannot work")
            .step(Step::append("log.jsonl", "{}\n"))
            .step(step)
    };
    let unchanged = |was| {
        let key = "doc.json".to_owned();
        Plan::new("put", "stale")
            .requiring(Precondition::Unchanged { key, was })
            .step(Step::put("doc.json", "x"))
    };
    let cases = [
        (outside("../x"), ErrorKind::Invalid),
        (outside("/etc/x"), ErrorKind::Invalid),
        (outside("a/../../x"), ErrorKind::Invalid),
        (outside("a\0b"), ErrorKind::Invalid),
        (outside(""), ErrorKind::Invalid),
        (outside("doc.json/x"), ErrorKind::Invalid),
        (outside("folder"), ErrorKind::Invalid),
        (
            one(Step::edit("doc.json", "nowhere", "x")),
            ErrorKind::Conflict,
        ),
        (one(Step::edit("doc.json", "l", "x")), ErrorKind::Conflict),
        (
            one(Step::edit("nothing.json", "l", "x")),
            ErrorKind::NotFound,
        ),
        (one(Step::rename("nothing.json", "x")), ErrorKind::NotFound),
        (
            one(Step::rename("doc.json", "index.json")),
            ErrorKind::Conflict,
        ),
        (
            one(Step::rename("folder", "folder/below")),
            ErrorKind::Invalid,
        ),
        (
            one(Step::Verify {
                key: "doc.json".into(),
                is: Assertion::Len(1),
            }),
            ErrorKind::Conflict,
        ),
        (
            unchanged(ExpectedState {
                len: Some(1),
                ..ExpectedState::default()
            }),
            ErrorKind::Conflict,
        ),
        (
            unchanged(ExpectedState {
                sha256: Some("00".into()),
                ..ExpectedState::default()
            }),
            ErrorKind::Conflict,
        ),
        (
            one(Step::remove("x")).requiring(Precondition::Absent {
                key: "doc.json".into(),
            }),
            ErrorKind::Conflict,
        ),
    ];
    let place = place();
    let before = place.tree();
    for (plan, kind) in cases {
        let error = place
            .runner()
            .run(&place.root(), &plan, &session(), Reason::Before)
            .unwrap_err();
        assert_eq!(error.kind(), kind, "{plan}{error}");
        assert_eq!(place.tree(), before, "{plan}");
    }
    assert!(place.runner().operations().unwrap().0.is_empty());
}

#[cfg(unix)]
#[test]
fn links_are_never_written_through() {
    let place = place();
    std::os::unix::fs::symlink("doc.json", place.root().join("link")).unwrap();
    std::os::unix::fs::symlink("nowhere", place.root().join("dangling")).unwrap();
    let before = place.tree_names();
    for key in ["link", "dangling"] {
        for step in [
            Step::put(key, "x"),
            Step::append(key, "x\n"),
            Step::remove(key),
            Step::rename(key, "other"),
        ] {
            let plan = Plan::new("put", "through a link").step(step);
            let error = place
                .runner()
                .run(&place.root(), &plan, &session(), Reason::Before)
                .unwrap_err();
            assert!(error.advice().is_some(), "{error}");
        }
    }
    assert_eq!(place.tree_names(), before);
    assert_eq!(place.read("doc.json"), "{\"title\":\"old\"}");
}

#[test]
fn an_edit_at_an_offset_finds_its_own_occurrence() {
    let place = place();
    place.put("twice", "aXbXc");
    let step = |at| Step::Edit {
        key: "twice".into(),
        at: Some(at),
        old: b"X".to_vec(),
        new: b"YY".to_vec(),
        modified: Modified::Now,
    };
    let run = |at| {
        place.runner().run(
            &place.root(),
            &Plan::new("edit", "edit").step(step(at)),
            &session(),
            Reason::Before,
        )
    };
    run(3).unwrap();
    assert_eq!(place.read("twice"), "aXbYYc");
    assert_eq!(run(2).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(run(99).unwrap_err().kind(), ErrorKind::Conflict);
}

#[test]
fn a_busy_lock_names_who_holds_it() {
    let place = place();
    let holder = place.runner();
    let _held = holder
        .locks()
        .exclusive("store", boswell_store::Wait::No)
        .unwrap();
    let error = place
        .runner()
        .run(&place.root(), &everything(), &session(), Reason::Before)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(
        error.reason().unwrap().contains("pid 4242"),
        "{error} {:?}",
        error.reason()
    );
    assert_eq!(place.tree(), crate::plans::steps::place().tree());
}

#[test]
fn operations_are_told_apart_by_the_clock_and_by_name() {
    let place = place();
    let put = |bytes: &str| {
        let plan = Plan::new("put", "put").step(Step::put("doc.json", bytes));
        place
            .runner()
            .run(&place.root(), &plan, &session(), Reason::Before)
            .unwrap()
    };
    let first = put("1");
    place.id_source.millis.fetch_add(5, Ordering::Relaxed);
    let second = put("2");
    assert_ne!(first.id, second.id);
    assert_eq!(second.at.millis() - first.at.millis(), 5);
}
