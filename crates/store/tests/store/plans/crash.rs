//! Plans on a disk that fails once, or crashes: the result is the old state or the new one, never a
//! mixture.

use boswell_dialect::{Plan, Step};
use boswell_store::ErrorKind;
use boswell_store::operations::RecoveryOutcome;
use boswell_store::vault::Reason;
use boswell_testkit::disk;

use crate::plans::steps::{everything, new_tree, place};
use crate::plans::support::{FailingDisk, Fault, Place, Then, session};

/// The next process breaks the mkdir lock of a dead one, but the test's own process is alive.
fn free_lock(place: &Place) {
    let lock = place.root().join("sessions.lock");
    if place.tree().contains_key("sessions.lock") {
        disk::remove(&lock);
    }
}

#[test]
fn a_crash_at_every_call_leaves_the_old_state_or_the_new_one() {
    let (old, new) = (place().tree(), new_tree());
    let counting = FailingDisk::never();
    let calls = {
        let place = place();
        place
            .runner_on(counting.clone())
            .run(&place.root(), &everything(), &session(), Reason::Before)
            .unwrap();
        counting.calls()
    };
    assert!(calls > 100, "only {calls} calls");
    let (mut forward, mut back) = (0, 0);
    for at in 0..calls {
        for fault in [Fault::NotDone, Fault::Half, Fault::Done] {
            let place = place();
            let broken = FailingDisk::at(at, fault, Then::Dead);
            let ran = place.runner_on(broken).run(
                &place.root(),
                &everything(),
                &session(),
                Reason::Before,
            );
            free_lock(&place);
            let settled = place.runner().recover().unwrap();
            for one in &settled {
                match &one.outcome {
                    RecoveryOutcome::Forward => forward += 1,
                    RecoveryOutcome::Back => back += 1,
                    RecoveryOutcome::Unsettled(error) => {
                        panic!("{at} {fault:?}: {error}: {:?}", error.reason())
                    }
                }
            }
            let tree = place.tree();
            assert!(
                tree == old || tree == new,
                "mixed after {at} {fault:?} {ran:?}: {tree:#?}"
            );
            let recorded = place.runner().operations().unwrap().0.len();
            assert_eq!(
                recorded,
                usize::from(tree == new),
                "what was done is written down: {at} {fault:?}"
            );
            if ran.is_ok() {
                assert_eq!(tree, new, "{at} {fault:?}");
            }
            assert!(
                place.runner().recover().unwrap().is_empty(),
                "a second recovery finds nothing"
            );
            assert_eq!(place.tree(), tree);
        }
    }
    assert!(
        forward > 20 && back > 5,
        "both ways were taken: {forward} {back}"
    );
}

#[test]
fn a_rolled_back_half_append_restores_the_time_of_the_agents_log() {
    let plan = Plan::new("repair", "one line").step(Step::append("log.jsonl", "{\"b\":2}\n"));
    let mut torn = 0;
    for then in [Then::Dead, Then::GoesOn] {
        for at in 0.. {
            let place = place();
            let log = place.root().join("log.jsonl");
            disk::set_modified(&log, 1_700_000_000_000);
            let modified = || std::fs::metadata(&log).unwrap().modified().unwrap();
            let before = (disk::read(&log), modified());
            let broken = FailingDisk::at(at, Fault::Half, then);
            let runner = place.runner_on(broken);
            if runner
                .run(&place.root(), &plan, &session(), Reason::Before)
                .is_ok()
            {
                break;
            }
            let half = disk::read(&log);
            torn += usize::from(half.len() > before.0.len() && !half.ends_with(b"\n"));
            place.runner().recover().unwrap();
            if disk::read(&log) == before.0 {
                assert_eq!(modified(), before.1, "{at} {then:?}");
            }
        }
    }
    assert!(torn > 0, "a line was torn in the middle");
}

#[test]
fn a_crash_during_recovery_is_settled_by_the_next_one() {
    let (old, new) = (place().tree(), new_tree());
    for at in (0..400).step_by(9) {
        for again in (0..200).step_by(6) {
            let fault = [Fault::NotDone, Fault::Half, Fault::Done][(at + again) % 3];
            let place = place();
            let broken = FailingDisk::at(at, fault, Then::Dead);
            if place
                .runner_on(broken)
                .run(&place.root(), &everything(), &session(), Reason::Before)
                .is_ok()
            {
                return;
            }
            free_lock(&place);
            let second = FailingDisk::at(again, fault, Then::Dead);
            let _ = place.runner_on(second.clone()).recover();
            free_lock(&place);
            for one in place.runner().recover().unwrap() {
                assert!(
                    !matches!(one.outcome, RecoveryOutcome::Unsettled(_)),
                    "{at} {again} {fault:?} {one:?}"
                );
            }
            let tree = place.tree();
            assert!(
                tree == old || tree == new,
                "mixed after {at}, {again} {fault:?}: {tree:#?}"
            );
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
        let ran = place.runner_on(broken.clone()).run(
            &place.root(),
            &everything(),
            &session(),
            Reason::Before,
        );
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
        // Only the record of a completed operation may be missing; the next run finishes it.
        if tree != old {
            assert_eq!(tree, new, "mixed at {at}");
            assert!(matches!(
                place.runner().recover().unwrap()[0].outcome,
                RecoveryOutcome::Forward
            ));
        }
        assert!(place.runner().recover().unwrap().is_empty());
    }
    panic!("it never ended");
}

#[test]
fn a_stranger_who_changes_a_file_before_recovery_is_not_overwritten() {
    let (mut unsettled, mut settled) = (0, 0);
    for at in (0..400).step_by(3) {
        let place = place();
        let broken = FailingDisk::at(at, Fault::NotDone, Then::Dead);
        let _ =
            place
                .runner_on(broken)
                .run(&place.root(), &everything(), &session(), Reason::Before);
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
        let _ =
            place
                .runner_on(broken)
                .run(&place.root(), &everything(), &session(), Reason::Before);
        free_lock(&place);
        if place.read("doc.json") != "{\"title\":\"newer\"}" {
            continue;
        }
        place.put("doc.json", "theirs");
        let put = |key: &str| {
            let plan = Plan::new("put", "another").step(Step::put(key, "x"));
            place
                .runner()
                .run(&place.root(), &plan, &session(), Reason::Before)
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
        let _ =
            place
                .runner_on(broken)
                .run(&place.root(), &everything(), &session(), Reason::Before);
        free_lock(&place);
        place.append("log.jsonl", "\n{\"theirs\":1}\n");
        place.runner().recover().unwrap();
        assert!(place.read("log.jsonl").contains("{\"theirs\":1}"), "{at}");
        finished += usize::from(
            place
                .read("log.jsonl")
                .contains("{\"b\":2}\n\n{\"theirs\":1}"),
        );
    }
    assert!(finished > 5, "{finished}");
}
