//! Operations: every change by boswell can be undone.

use crate::plans::support::{FailingDisk, Fault, Place, Then, session};
use boswell_dialect::{Plan, Step};
use boswell_store::ErrorKind;
use boswell_store::disk::{Disk, OpenMode, RealDisk};
use boswell_store::operations::Operation;
use boswell_store::vault::Reason;
use boswell_testkit::disk;

pub(crate) fn run(place: &Place, steps: Vec<Step>) -> Operation {
    let mut plan = Plan::new("test", "a change");
    plan.steps = steps;
    place
        .runner()
        .run(&place.root(), &plan, &session(), Reason::Before)
        .unwrap()
}

fn modified(place: &Place, key: &str) -> i128 {
    RealDisk
        .stat(&place.root().join(key))
        .unwrap()
        .unwrap()
        .modified
}

fn mixed_place() -> (Place, Operation) {
    let place = Place::new();
    place.put("log", "one\ntorn");
    place.put("doc", "old");
    place.put("gone", "gone");
    place.put("dir/file", "inside\n");
    disk::set_modified(&place.root().join("doc"), 1_500_000_000_000);
    disk::set_modified(&place.root().join("log"), 1_500_000_001_000);
    disk::set_mode(&place.root().join("gone"), 0o640);
    let op = run(
        &place,
        vec![
            Step::append("log", "two\n"),
            Step::append("log", "three\n"),
            Step::put("doc", "new"),
            Step::remove("gone"),
            Step::put("new/deep", "fresh"),
            Step::rename("dir", "moved"),
            Step::append("moved/file", "more\n"),
            Step::rename("new/deep", "new/deeper"),
        ],
    );
    (place, op)
}

#[test]
fn undo_is_exact_and_can_itself_be_undone() {
    let old = {
        let place = Place::new();
        place.put("log", "one\ntorn");
        place.put("doc", "old");
        place.put("gone", "gone");
        place.put("dir/file", "inside\n");
        disk::set_mode(&place.root().join("gone"), 0o640);
        place.tree()
    };
    let (place, op) = mixed_place();
    let new = place.tree();
    assert_ne!(old, new);
    let undo = place.runner().undo(&op.id).unwrap();
    assert_eq!(place.tree(), old);
    assert_eq!(
        modified(&place, "doc"),
        1_500_000_000_000_000_000,
        "times are put back"
    );
    assert_eq!(modified(&place, "log"), 1_500_000_001_000_000_000);
    assert_eq!(undo.undoes.as_deref(), Some(op.id.as_str()));
    assert_eq!(
        place.runner().undo(&op.id).unwrap_err().kind(),
        ErrorKind::Conflict,
        "only once"
    );
    let listed = place.runner().operations().unwrap().0;
    assert_eq!(
        listed
            .iter()
            .map(|l| (l.undone, l.undoable))
            .collect::<Vec<_>>(),
        [(true, false), (false, true)]
    );
    place.runner().undo(&undo.id).unwrap();
    assert_eq!(place.tree(), new);
    place.runner().undo(&op.id).unwrap();
    assert_eq!(place.tree(), old);
}

#[test]
fn a_crash_while_undoing_leaves_it_done_or_undone() {
    let new = mixed_place().0.tree();
    let old = {
        let (place, op) = mixed_place();
        place.runner().undo(&op.id).unwrap();
        place.tree()
    };
    for at in 0..2000 {
        let (place, op) = mixed_place();
        let broken = FailingDisk::at(
            at,
            [Fault::NotDone, Fault::Half, Fault::Done][at % 3],
            Then::Dead,
        );
        let ran = place.runner_on(broken.clone()).undo(&op.id);
        place.runner().recover().unwrap();
        let tree = place.tree();
        assert!(tree == old || tree == new, "mixed after {at}: {tree:#?}");
        if broken.calls() <= at {
            assert!(ran.is_ok());
            return;
        }
    }
    panic!("it never ended");
}

#[test]
fn undo_names_the_file_that_changed_since() {
    let place = Place::new();
    place.put("doc", "old\n");
    let op = run(&place, vec![Step::put("doc", "new\n")]);
    place.put("doc", "theirs, as long");
    for error in [
        place.runner().undo(&op.id).unwrap_err(),
        place.runner().undo_keep_new(&op.id).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert!(error.to_string().contains("`doc`"), "{error}");
    }
    place.put("doc", "new\ntheirs\n");
    let error = place.runner().undo(&op.id).unwrap_err();
    let keep_new = boswell_model::Advice::UndoKeepingNew {
        operation: op.id.clone(),
    };
    assert_eq!(error.advice(), Some(&keep_new));
    assert_eq!(place.read("doc"), "new\ntheirs\n");
    assert_eq!(
        place.runner().undo("nope").unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

#[test]
fn keep_new_puts_newer_lines_behind_what_was_before() {
    let place = Place::new();
    place.put("put", "old");
    place.put("appended", "one\n");
    place.put("untouched", "same\n");
    let op = run(
        &place,
        vec![
            Step::put("put", "new\n"),
            Step::append("appended", "two\n"),
            Step::append("untouched", "x\n"),
        ],
    );
    place.append("put", "theirs\n");
    place.append("appended", "three\n");
    let undo = place.runner().undo_keep_new(&op.id).unwrap();
    assert_eq!(place.read("put"), "old\ntheirs\n");
    assert_eq!(place.read("appended"), "one\nthree\n");
    assert_eq!(place.read("untouched"), "same\n");
    place.runner().undo(&undo.id).unwrap();
    assert_eq!(place.read("put"), "new\ntheirs\n");
    assert_eq!(place.read("appended"), "one\ntwo\nthree\n");
}

#[test]
fn keep_new_refuses_where_new_and_old_cannot_be_told_apart() {
    let place = Place::new();
    place.put("torn", "old\n");
    let op = run(
        &place,
        vec![Step::put("torn", "no newline"), Step::put("made", "made\n")],
    );
    place.append("torn", " glued\n");
    assert_eq!(
        place.runner().undo_keep_new(&op.id).unwrap_err().kind(),
        ErrorKind::Conflict
    );
    place.put("torn", "no newline");
    place.append("made", "theirs\n");
    assert_eq!(
        place.runner().undo_keep_new(&op.id).unwrap_err().kind(),
        ErrorKind::Conflict
    );
    assert_eq!(place.read("made"), "made\ntheirs\n");
}

#[test]
fn lines_written_late_into_a_replaced_or_removed_file_are_found() {
    let place = Place::new();
    place.put("log", "one\n");
    place.put("gone", "g\n");
    let open = |key: &str| {
        RealDisk
            .open(&place.root().join(key), OpenMode::Append)
            .unwrap()
    };
    let (log, gone) = (open("log"), open("gone"));
    let op = run(
        &place,
        vec![Step::edit("log", "one", "ONE"), Step::remove("gone")],
    );
    assert_eq!(place.runner().late_lines(&op.id).unwrap(), []);
    log.append(b"late\n").unwrap();
    gone.append(b"later\n").unwrap();
    assert_eq!(place.read("log"), "ONE\n");
    let late = place.runner().late_lines(&op.id).unwrap();
    let late: Vec<(&str, &[u8])> = late
        .iter()
        .map(|l| (l.key.as_str(), l.bytes.as_slice()))
        .collect();
    assert_eq!(late, [("log", b"late\n".as_slice()), ("gone", b"later\n")]);
}

#[test]
fn a_change_taken_back_at_once_leaves_the_file_that_others_have_open() {
    let plan = Plan::new("test", "fails late")
        .step(Step::put("log", "new\n"))
        .step(Step::put("other", "y"));
    let mut taken_back = 0;
    for at in 0..400 {
        let place = Place::new();
        place.put("log", "one\n");
        place.put("other", "x");
        let open = RealDisk
            .open(&place.root().join("log"), OpenMode::Append)
            .unwrap();
        let broken = FailingDisk::at(at, Fault::NotDone, Then::GoesOn);
        let ran = place
            .runner_on(broken)
            .run(&place.root(), &plan, &session(), Reason::Before);
        if ran.is_ok() || place.read("log") == "new\n" {
            continue;
        }
        let there = RealDisk
            .stat(&place.root().join("log"))
            .unwrap()
            .unwrap()
            .identity;
        assert_eq!(there, open.stat().unwrap().identity, "{at}");
        assert_eq!(place.read("log"), "one\n", "{at}");
        taken_back += 1;
    }
    assert!(taken_back > 40, "{taken_back}");
}

#[test]
fn deleted_files_come_back_where_their_places_are_free() {
    let place = Place::new();
    place.put("s/log", "log\n");
    place.put("s/side", "side");
    disk::set_mode(&place.root().join("s/side"), 0o640);
    let before = place.tree();
    let keys = [
        "s/log".to_owned(),
        "s/side".to_owned(),
        "s/never".to_owned(),
    ];
    let runner = place.runner();
    runner.delete(&place.root(), &keys, &session()).unwrap();
    assert_eq!(place.tree().len(), 1);
    assert!(
        runner
            .vault()
            .of(&session())
            .unwrap()
            .iter()
            .all(|record| record.reason == Reason::Deleted)
    );
    place.put("s/side", "taken");
    let error = runner.restore(&session()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.to_string().contains("`s/side`"), "{error}");
    assert_eq!(place.read("s/side"), "taken");
    RealDisk.remove(&place.root().join("s/side")).unwrap();
    runner.restore(&session()).unwrap();
    assert_eq!(place.tree(), before);
    assert_eq!(
        runner.restore(&session()).unwrap_err().kind(),
        ErrorKind::NotFound
    );
    // The vault alone is sufficient.
    runner.delete(&place.root(), &keys, &session()).unwrap();
    RealDisk.remove(&place.home().join("ops.jsonl")).unwrap();
    let restored = runner.restore(&session()).unwrap();
    assert_eq!(
        (place.tree(), restored.operation.kind.as_str()),
        (before, "restore")
    );
}
