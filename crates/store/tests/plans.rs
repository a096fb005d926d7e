//! Plans, carried out on a disk that works, fails once, or dies: what is left is the old state or the new one.

mod plans_support;

use std::sync::atomic::Ordering;

use boswell_dialect::{Check, LockSpec, Modified, Plan, Precondition, Seen, Step};
use boswell_store::{ErrorKind, Reason, RecoveryOutcome};
use boswell_testkit::disk;
use plans_support::{FailingDisk, Fault, Place, Then, Tree, session};

/// A place with one file for every sort of step.
fn place() -> Place {
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

fn everything() -> Plan {
    Plan::new("repair", "one step of every sort")
        .locking(LockSpec::Os { name: "store".into() })
        .locking(LockSpec::AgentMkdir { key: "sessions.lock".into() })
        .requiring(Precondition::Absent { key: "sub/deep/new.json".into() })
        .step(Step::append("log.jsonl", "{\"b\":2}\n"))
        .step(Step::put("sub/deep/new.json", "{}"))
        .step(Step::edit("doc.json", "old", "newer"))
        .step(Step::append("moving.jsonl", "{\"m\":2}\n"))
        .step(Step::rename("moving.jsonl", "sub/moved.jsonl"))
        .step(Step::remove("gone.txt"))
        .step(Step::rename("folder", "renamed"))
        .step(Step::append("renamed/inside.txt", "more\n"))
        .step(Step::RemoveFolder { key: "empty".into() })
        .step(Step::Put { key: "index.json".into(), bytes: b"[]".to_vec(), mode: Some(0o644), modified: Modified::Kept })
        .step(Step::Verify { key: "index.json".into(), is: Check::Len(2) })
        .step(Step::Verify { key: "gone.txt".into(), is: Check::Absent })
        .step(Step::Verify { key: "log.jsonl".into(), is: Check::Contains(b"torn\n{\"b\"".to_vec()) })
}

fn new_tree() -> Tree {
    let place = place();
    place.runner().run(&place.root(), &everything(), &session(), Reason::Before).unwrap();
    place.tree()
}

#[test]
fn a_plan_does_every_step() {
    let place = place();
    let index = place.root().join("index.json");
    disk::set_modified(&index, 1_600_000_000_000);
    let op = place.runner().run(&place.root(), &everything(), &session(), Reason::Before).unwrap();
    assert_eq!(place.read("log.jsonl"), "{\"a\":1}\n{\"torn\n{\"b\":2}\n", "a torn line stays on a line of its own");
    assert_eq!(place.read("doc.json"), "{\"title\":\"newer\"}");
    assert_eq!(place.read("sub/moved.jsonl"), "{\"m\":1}\n{\"m\":2}\n");
    assert_eq!(place.read("renamed/inside.txt"), "inside\nmore\n");
    let tree = place.tree();
    assert_eq!(tree.get("sub/deep/new.json"), Some(&Some(("{}".to_owned(), 0o600))));
    assert_eq!(tree.get("doc.json").unwrap().as_ref().unwrap().1, 0o640, "the mode is kept");
    assert_eq!(tree.get("index.json").unwrap().as_ref().unwrap().1, 0o644, "the mode is set");
    for gone in ["gone.txt", "empty", "folder", "moving.jsonl", "sessions.lock"] {
        assert!(!tree.contains_key(gone), "{gone} is still there");
    }
    let stat = boswell_store::disk::Disk::stat(&boswell_store::disk::RealDisk, &index).unwrap().unwrap();
    assert_eq!(stat.modified, 1_600_000_000_000_000_000, "the time is kept where that is asked");
    assert!(op.files().iter().any(|file| file.key == "log.jsonl" && file.appended == Some(9)));
    let (listed, damaged) = place.runner().operations().unwrap();
    assert_eq!((listed.len(), damaged.len()), (1, 0));
    assert_eq!(listed[0].operation, op, "what is written down reads back");
    assert!(listed[0].undoable);
}

#[test]
fn a_crash_at_every_call_leaves_the_old_state_or_the_new_one() {
    let (old, new) = (place().tree(), new_tree());
    let counting = FailingDisk::never();
    let calls = {
        let place = place();
        place.runner_on(counting.clone()).run(&place.root(), &everything(), &session(), Reason::Before).unwrap();
        counting.calls()
    };
    assert!(calls > 100, "only {calls} calls");
    let (mut forward, mut back) = (0, 0);
    for at in 0..calls {
        for fault in [Fault::NotDone, Fault::Half, Fault::Done] {
            let place = place();
            let broken = FailingDisk::at(at, fault, Then::Dead);
            let ran = place.runner_on(broken).run(&place.root(), &everything(), &session(), Reason::Before);
            free_lock(&place);
            let settled = place.runner().recover().unwrap();
            for one in &settled {
                match &one.outcome {
                    RecoveryOutcome::Forward => forward += 1,
                    RecoveryOutcome::Back => back += 1,
                    RecoveryOutcome::Unsettled(error) => panic!("{at} {fault:?}: {error}: {:?}", error.reason()),
                }
            }
            let tree = place.tree();
            assert!(tree == old || tree == new, "mixed after {at} {fault:?} {ran:?}: {tree:#?}");
            let recorded = place.runner().operations().unwrap().0.len();
            assert_eq!(recorded, usize::from(tree == new), "what was done is written down: {at} {fault:?}");
            if ran.is_ok() {
                assert_eq!(tree, new, "{at} {fault:?}");
            }
            assert!(place.runner().recover().unwrap().is_empty(), "a second recovery finds nothing");
            assert_eq!(place.tree(), tree);
        }
    }
    assert!(forward > 20 && back > 5, "both ways were taken: {forward} {back}");
}

/// The mkdir lock of a process that died is broken by the next one; the test's own process lives.
fn free_lock(place: &Place) {
    let lock = place.root().join("sessions.lock");
    if place.tree().contains_key("sessions.lock") {
        disk::remove(&lock);
    }
}

#[test]
fn a_crash_during_recovery_is_settled_by_the_next_one() {
    let (old, new) = (place().tree(), new_tree());
    for at in (0..400).step_by(5) {
        for again in (0..200).step_by(4) {
            let fault = [Fault::NotDone, Fault::Half, Fault::Done][(at + again) % 3];
            let place = place();
            let broken = FailingDisk::at(at, fault, Then::Dead);
            if place.runner_on(broken).run(&place.root(), &everything(), &session(), Reason::Before).is_ok() {
                return;
            }
            free_lock(&place);
            let second = FailingDisk::at(again, fault, Then::Dead);
            let _ = place.runner_on(second.clone()).recover();
            free_lock(&place);
            for one in place.runner().recover().unwrap() {
                assert!(!matches!(one.outcome, RecoveryOutcome::Unsettled(_)), "{at} {again} {fault:?} {one:?}");
            }
            let tree = place.tree();
            assert!(tree == old || tree == new, "mixed after {at}, {again} {fault:?}: {tree:#?}");
            if second.calls() < again {
                break;
            }
        }
    }
}

#[test]
fn a_step_that_fails_takes_back_those_before_it() {
    let (old, new) = (place().tree(), new_tree());
    let (mut refused, mut done) = (0, 0);
    for at in 0..2000 {
        let place = place();
        let broken = FailingDisk::at(at, Fault::NotDone, Then::GoesOn);
        let ran = place.runner_on(broken.clone()).run(&place.root(), &everything(), &session(), Reason::Before);
        if broken.calls() <= at {
            assert!(refused > 50 && done > 1, "{refused} {done}");
            return;
        }
        free_lock(&place);
        let tree = place.tree();
        if ran.is_ok() {
            done += 1;
            assert_eq!(tree, new, "{at}");
            continue;
        }
        refused += 1;
        // Only what could not be written down afterwards is left to the next run, which finishes it.
        if tree != old {
            assert_eq!(tree, new, "mixed at {at}");
            assert!(matches!(place.runner().recover().unwrap()[0].outcome, RecoveryOutcome::Forward));
        }
        assert!(place.runner().recover().unwrap().is_empty());
    }
    panic!("it never ended");
}

#[test]
fn plans_that_cannot_work_change_nothing() {
    let outside = |key: &str| Plan::new("put", "outside").step(Step::put(key, "x"));
    let one = |step| Plan::new("edit", "cannot work").step(Step::append("log.jsonl", "{}\n")).step(step);
    let unchanged = |was| {
        let key = "doc.json".to_owned();
        Plan::new("put", "stale").requiring(Precondition::Unchanged { key, was }).step(Step::put("doc.json", "x"))
    };
    let cases = [
        (outside("../x"), ErrorKind::Invalid),
        (outside("/etc/x"), ErrorKind::Invalid),
        (outside("a/../../x"), ErrorKind::Invalid),
        (outside("a\0b"), ErrorKind::Invalid),
        (outside(""), ErrorKind::Invalid),
        (outside("doc.json/x"), ErrorKind::Invalid),
        (outside("folder"), ErrorKind::Invalid),
        (one(Step::edit("doc.json", "nowhere", "x")), ErrorKind::Conflict),
        (one(Step::edit("doc.json", "l", "x")), ErrorKind::Conflict),
        (one(Step::edit("nothing.json", "l", "x")), ErrorKind::NotFound),
        (one(Step::rename("nothing.json", "x")), ErrorKind::NotFound),
        (one(Step::rename("doc.json", "index.json")), ErrorKind::Conflict),
        (one(Step::rename("folder", "folder/below")), ErrorKind::Invalid),
        (one(Step::Verify { key: "doc.json".into(), is: Check::Len(1) }), ErrorKind::Conflict),
        (unchanged(Seen { len: Some(1), ..Seen::default() }), ErrorKind::Conflict),
        (unchanged(Seen { sha256: Some("00".into()), ..Seen::default() }), ErrorKind::Conflict),
        (one(Step::remove("x")).requiring(Precondition::Absent { key: "doc.json".into() }), ErrorKind::Conflict),
        (one(Step::remove("x")).requiring(Precondition::NotLive { key: "doc.json".into() }), ErrorKind::Unsupported),
    ];
    let place = place();
    let before = place.tree();
    for (plan, kind) in cases {
        let error = place.runner().run(&place.root(), &plan, &session(), Reason::Before).unwrap_err();
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
        for step in [Step::put(key, "x"), Step::append(key, "x\n"), Step::remove(key), Step::rename(key, "other")] {
            let plan = Plan::new("put", "through a link").step(step);
            let error = place.runner().run(&place.root(), &plan, &session(), Reason::Before).unwrap_err();
            assert!(error.hint().is_some(), "{error}");
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
    let run = |at| place.runner().run(&place.root(), &Plan::new("edit", "edit").step(step(at)), &session(), Reason::Before);
    run(3).unwrap();
    assert_eq!(place.read("twice"), "aXbYYc");
    assert_eq!(run(2).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(run(99).unwrap_err().kind(), ErrorKind::Conflict);
}

#[test]
fn a_stranger_who_changes_a_file_before_recovery_is_not_overwritten() {
    let (mut unsettled, mut settled) = (0, 0);
    for at in (0..400).step_by(3) {
        let place = place();
        let broken = FailingDisk::at(at, Fault::NotDone, Then::Dead);
        let _ = place.runner_on(broken).run(&place.root(), &everything(), &session(), Reason::Before);
        free_lock(&place);
        place.put("doc.json", "theirs");
        for one in place.runner().recover().unwrap() {
            match one.outcome {
                RecoveryOutcome::Unsettled(_) => unsettled += 1,
                _ => settled += 1,
            }
        }
        assert_eq!(place.read("doc.json"), "theirs", "{at}");
    }
    assert!(unsettled > 5, "{unsettled} {settled}");
}

#[test]
fn an_unsettled_operation_keeps_others_from_its_files_only() {
    for at in 0..2000 {
        let place = place();
        let broken = FailingDisk::at(at, Fault::NotDone, Then::Dead);
        let _ = place.runner_on(broken).run(&place.root(), &everything(), &session(), Reason::Before);
        free_lock(&place);
        if place.read("doc.json") != "{\"title\":\"newer\"}" {
            continue;
        }
        place.put("doc.json", "theirs");
        let put = |key: &str| {
            let plan = Plan::new("put", "another").step(Step::put(key, "x"));
            place.runner().run(&place.root(), &plan, &session(), Reason::Before)
        };
        assert_eq!(put("index.json").unwrap_err().kind(), ErrorKind::Conflict);
        put("unrelated").unwrap();
        return;
    }
    panic!("the edit never happened");
}

#[test]
fn lines_added_by_others_after_a_crash_survive_recovery() {
    let mut finished = 0;
    for at in (0..400).step_by(2) {
        let place = place();
        let broken = FailingDisk::at(at, Fault::NotDone, Then::Dead);
        let _ = place.runner_on(broken).run(&place.root(), &everything(), &session(), Reason::Before);
        free_lock(&place);
        place.append("log.jsonl", "\n{\"theirs\":1}\n");
        place.runner().recover().unwrap();
        assert!(place.read("log.jsonl").contains("{\"theirs\":1}"), "{at}");
        finished += usize::from(place.read("log.jsonl").contains("{\"b\":2}\n\n{\"theirs\":1}"));
    }
    assert!(finished > 5, "{finished}");
}

#[test]
fn a_busy_lock_names_who_holds_it() {
    let place = place();
    let holder = place.runner();
    let _held = holder.locks().exclusive("store", boswell_store::Wait::No).unwrap();
    let error = place.runner().run(&place.root(), &everything(), &session(), Reason::Before).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(error.reason().unwrap().contains("pid 4242"), "{error} {:?}", error.reason());
    assert_eq!(place.tree(), self::place().tree());
}

#[test]
fn operations_are_told_apart_by_the_clock_and_by_name() {
    let place = place();
    let put = |bytes: &str| {
        let plan = Plan::new("put", "put").step(Step::put("doc.json", bytes));
        place.runner().run(&place.root(), &plan, &session(), Reason::Before).unwrap()
    };
    let first = put("1");
    place.chance.millis.fetch_add(5, Ordering::Relaxed);
    let second = put("2");
    assert_ne!(first.id, second.id);
    assert_eq!(second.at.millis() - first.at.millis(), 5);
}
