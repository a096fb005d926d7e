//! Plans on a disk that loses unsynced data: any subset of it, at every call, also during recovery.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use boswell_dialect::{Plan, Step};
use boswell_store::Wait;
use boswell_store::disk::durable;
use boswell_store::locks::Owner;
use boswell_store::operations::{RecoveryOutcome, Runner};
use boswell_store::vault::Reason;
use boswell_testkit::crash_disk::{CrashDisk, Keep, everywhere};

use crate::plans::support::{TestIds, session};

const ROOT: &str = "/store";

fn prepare(disk: &CrashDisk) {
    for (key, bytes) in [
        ("log.jsonl", "{\"a\":1}\n{\"torn"),
        ("doc.json", "{\"title\":\"old\"}"),
        ("gone.txt", "gone"),
        ("moving.jsonl", "{\"m\":1}\n"),
    ] {
        let path = Path::new(ROOT).join(key);
        durable::make_folders(disk, path.parent().unwrap()).unwrap();
        durable::create(disk, &path, bytes.as_bytes()).unwrap();
    }
    durable::make_folders(disk, Path::new("/home")).unwrap();
}

/// Returns a plan with one step of each kind that can be partly synced.
fn plan() -> Plan {
    Plan::new("repair", "a few steps")
        .step(Step::append("log.jsonl", "{\"b\":2}\n"))
        .step(Step::edit("doc.json", "old", "newer"))
        .step(Step::rename("moving.jsonl", "sub/moved.jsonl"))
        .step(Step::remove("gone.txt"))
}

fn runner(disk: &CrashDisk) -> Runner {
    runner_from(disk, 0)
}

/// Returns a runner whose ids count up from `first`.
fn runner_from(disk: &CrashDisk, first: u64) -> Runner {
    let owner = Owner {
        pid: 4242,
        program: "test".into(),
    };
    Runner::new(
        Arc::new(disk.clone()),
        "/home",
        TestIds::counting_from(first),
        owner,
    )
    .waiting(Wait::No)
}

fn files(disk: &CrashDisk) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for (path, bytes) in disk.snapshot() {
        if path.starts_with("store/") {
            files.insert(path, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    files
}

fn run(disk: &CrashDisk) -> bool {
    runner(disk)
        .run(Path::new(ROOT), &plan(), &session(), Reason::Before)
        .is_ok()
}

type Files = BTreeMap<String, String>;

fn old_and_new() -> (Files, Files) {
    let disk = CrashDisk::new(1);
    prepare(&disk);
    let old = files(&disk);
    assert!(run(&disk));
    let new = files(&disk);
    assert_ne!(old, new);
    (old, new)
}

#[test]
fn what_was_not_synced_is_settled_all_the_same() {
    let (old, new) = old_and_new();
    let (mut forward, mut back) = (0, 0);
    let checked = everywhere(1, prepare, run, |crash| {
        for one in runner(&crash.disk).recover().unwrap() {
            match one.outcome {
                RecoveryOutcome::Forward => forward += 1,
                RecoveryOutcome::Back => back += 1,
                RecoveryOutcome::Unsettled(error) => {
                    panic!(
                        "{error} ({:?}) at {} {:?} tear {}",
                        error.reason(),
                        crash.call,
                        crash.keep,
                        crash.tear
                    )
                }
            }
        }
        let is = files(&crash.disk);
        assert!(
            is == old || is == new,
            "mixed at {} {:?} tear {}: {is:#?}",
            crash.call,
            crash.keep,
            crash.tear
        );
        if *crash.outcome {
            assert_eq!(
                is, new,
                "what was acknowledged is there: {} {:?}",
                crash.call, crash.keep
            );
        }
        let recorded = runner(&crash.disk).operations().unwrap().0.len();
        assert_eq!(
            recorded,
            usize::from(is == new),
            "at {} {:?}",
            crash.call,
            crash.keep
        );
    });
    assert!(
        checked > 1000 && forward > 100 && back > 20,
        "{checked} {forward} {back}"
    );
}

#[test]
fn a_second_crash_while_recovering_is_settled_as_well() {
    let (old, new) = old_and_new();
    let mut checked = 0;
    for first in (1..400).step_by(3) {
        for (n, keep) in Keep::flavours(2).enumerate() {
            for second in (1..200).step_by(5) {
                let disk = CrashDisk::new(first);
                prepare(&disk);
                disk.settle();
                disk.crash_at(first);
                if run(&disk) {
                    assert!(checked > 200, "{checked}");
                    return;
                }
                let disk = disk.after_crash(keep);
                disk.crash_at(second + n as u64);
                let _ = runner(&disk).recover();
                let over = !disk.is_dead();
                let disk = disk.after_crash(Keep::Subset(second));
                for one in runner(&disk).recover().unwrap() {
                    assert!(
                        !matches!(one.outcome, RecoveryOutcome::Unsettled(_)),
                        "{first} {second} {keep:?} {one:?}"
                    );
                }
                let is = files(&disk);
                assert!(
                    is == old || is == new,
                    "mixed after {first}, {second} {keep:?}: {is:#?}"
                );
                checked += 1;
                if over {
                    break;
                }
            }
        }
    }
    panic!("it never ended");
}

#[test]
fn an_undo_that_was_not_synced_is_settled_all_the_same() {
    let (old, new) = old_and_new();
    let prepare = |disk: &CrashDisk| {
        prepare(disk);
        assert!(run(disk));
    };
    let undo = |disk: &CrashDisk| {
        let id = runner(disk)
            .operations()
            .ok()?
            .0
            .first()?
            .operation
            .id
            .clone();
        runner_from(disk, 1000).undo(&id).ok()
    };
    everywhere(2, prepare, undo, |crash| {
        for one in runner(&crash.disk).recover().unwrap() {
            assert!(
                !matches!(one.outcome, RecoveryOutcome::Unsettled(_)),
                "{} {:?} {one:?}",
                crash.call,
                crash.keep
            );
        }
        let is = files(&crash.disk);
        assert!(
            is == old || is == new,
            "mixed at {} {:?}: {is:#?}",
            crash.call,
            crash.keep
        );
        if crash.outcome.is_some() {
            assert_eq!(is, old);
        }
    });
}
