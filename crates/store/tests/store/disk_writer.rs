//! The session writer, with a crash of the machine at every call, a full disk, failing calls and
//! syncs that report success without syncing.

use std::io::ErrorKind;
use std::sync::Arc;

use boswell_store::disk::Disk;
use boswell_store::writer::Visibility;
use boswell_store::{
    Draft, Durability, Expect, Home, NewSession, SessionWriter, Wait, WritableStore,
};
use boswell_testkit::crash_disk::{CrashDisk, Keep, everywhere};
use boswell_testkit::fault_disk::FaultDisk;
use boswell_testkit::ids::SeededIds;
use boswell_testkit::oracle::{Oracle, Survives};

const ID: &str = "01990000-1234-7abc-8def-0123456789ab";

fn store(disk: &CrashDisk, seed: u64) -> boswell_store::Result<WritableStore> {
    Home::on(
        Arc::new(disk.clone()),
        Arc::new(SeededIds::new(seed)),
        "/home/b",
    )
    .sessions()
}

fn new_session(visible: Visibility) -> NewSession {
    NewSession {
        visible,
        ..NewSession::in_project("/proj/app").with_id(ID)
    }
}

fn prepare(disk: &CrashDisk) {
    let writer = store(disk, 1)
        .unwrap()
        .create(new_session(Visibility::AtOnce))
        .unwrap();
    writer.append(Draft::user("first").with_id("e0")).unwrap();
    writer.release().unwrap();
}

/// Returns the logs of the session: there must never be more than one.
fn logs(disk: &CrashDisk) -> Vec<Vec<u8>> {
    let is_log =
        |name: &str| name.contains(ID) && (name.ends_with(".jsonl") || name.ends_with(".pending"));
    disk.snapshot()
        .into_iter()
        .filter(|(name, _)| is_log(name))
        .map(|(_, bytes)| bytes)
        .collect()
}

fn log(disk: &CrashDisk) -> Vec<u8> {
    let mut logs = logs(disk);
    assert!(
        logs.len() <= 1,
        "one session has two logs: {:?}",
        disk.snapshot().keys()
    );
    logs.pop().unwrap_or_default()
}

fn oracle(disk: &CrashDisk) -> Oracle {
    Oracle::beginning_with("id", &log(disk))
}

/// Appends entries until one fails.
fn append(oracle: &mut Oracle, writer: &SessionWriter, ids: &[&str], durability: Durability) {
    for id in ids {
        oracle.attempt(id, None);
        let draft = Draft::user(format!("entry {id}")).with_id(*id);
        match writer.append_with(draft, Expect::Any, durability) {
            Ok(receipt) => {
                let survives = if durability == Durability::Fsync {
                    Survives::Machine
                } else {
                    Survives::Process
                };
                oracle.acknowledge(receipt.entry.as_str(), survives);
            }
            Err(_) => return,
        }
    }
}

/// Opens the session and appends. A failed append is not acknowledged and has no other effect.
fn session_of(disk: &CrashDisk, seed: u64, oracle: &mut Oracle, ids: &[&str]) -> bool {
    let writer = store(disk, seed).and_then(|store| store.writer(ID, Wait::No));
    let opened = writer.is_ok();
    if let Ok(writer) = writer {
        append(oracle, &writer, ids, Durability::Fsync);
    }
    opened
}

fn act(disk: &CrashDisk) -> Oracle {
    let mut oracle = oracle(disk);
    session_of(disk, 2, &mut oracle, &["e1", "e2", "e3"]);
    oracle
}

#[test]
fn after_every_crash_what_was_acknowledged_is_there_once_whole_and_in_order() {
    let checked = everywhere(1, prepare, act, |crash| {
        let place = format!(
            "call {}, {} bytes torn, {:?}",
            crash.call, crash.tear, crash.keep
        );
        let mut oracle = crash.outcome.clone();
        oracle.reopened(&log(&crash.disk), Survives::Machine, &place);
        // A second boot for each byte of a torn append and each subset would take minutes and test
        // nothing new.
        if crash.tear % 16 > 1 || matches!(crash.keep, Keep::Subset(2..)) {
            return;
        }
        // The next boot continues, retries the unacknowledged entries, and loses none.
        assert!(
            session_of(&crash.disk, 3, &mut oracle, &["e4", "e1", "e2", "e3"]),
            "{place}: cannot open again"
        );
        assert!(
            oracle.owed(Survives::Machine).any(|id| id == "e4"),
            "{place}: cannot write again"
        );
        for keep in [Keep::Nothing, Keep::Everything, Keep::Subset(1)] {
            oracle.clone().reopened(
                &log(&crash.disk.after_crash(keep)),
                Survives::Machine,
                &format!("{place}, then {keep:?}"),
            );
        }
    });
    assert!(checked > 1_000, "{checked}");
}

#[test]
fn a_crash_during_the_recovery_from_a_crash_loses_nothing() {
    let mut rounds = 0;
    everywhere(2, prepare, act, |crash| {
        // Every byte of a torn append was tested above; here the calls of the second boot matter.
        if crash.tear % 40 != 1 && crash.tear != 0
            || !matches!(
                crash.keep,
                Keep::Nothing | Keep::Everything | Keep::Subset(0)
            )
        {
            return;
        }
        let mut first = crash.outcome.clone();
        first.reopened(&log(&crash.disk), Survives::Machine, "first boot");
        for call in 1.. {
            let disk = crash.disk.after_crash(Keep::Everything);
            disk.crash_at(call);
            disk.tear_append(9);
            let mut oracle = first.clone();
            session_of(&disk, 3, &mut oracle, &["e4", "e1", "e2", "e3"]);
            for keep in Keep::flavours(3) {
                let place = format!(
                    "call {} {:?}, then call {call} {keep:?}",
                    crash.call, crash.keep
                );
                oracle
                    .clone()
                    .reopened(&log(&disk.after_crash(keep)), Survives::Machine, &place);
                rounds += 1;
            }
            if !disk.is_dead() {
                break;
            }
        }
    });
    assert!(rounds > 1_000, "{rounds}");
}

#[test]
fn a_session_that_is_made_while_the_machine_dies_keeps_what_was_acknowledged() {
    for visible in [Visibility::AtOnce, Visibility::WithFirstAnswer] {
        let made = |disk: &CrashDisk| {
            let mut oracle = Oracle::new("id");
            oracle.attempt(ID, None);
            oracle.attempt("e2", None);
            let writer = store(disk, 2).and_then(|store| store.create(new_session(visible)));
            if let Ok(writer) = writer {
                oracle.acknowledge(ID, Survives::Machine);
                append(&mut oracle, &writer, &["e1"], Durability::Fsync);
                if writer
                    .append(Draft::assistant("answer").with_id("e2"))
                    .is_ok()
                {
                    oracle.acknowledge("e2", Survives::Machine);
                }
            }
            oracle
        };
        everywhere(
            3,
            |_| {},
            made,
            |crash| {
                let place = format!(
                    "{visible:?}, call {}, {} torn, {:?}",
                    crash.call, crash.tear, crash.keep
                );
                crash
                    .outcome
                    .clone()
                    .reopened(&log(&crash.disk), Survives::Machine, &place);
            },
        );
    }
}

#[test]
fn an_os_receipt_survives_the_death_of_the_process_at_every_call() {
    for call in 1.. {
        let disk = CrashDisk::new(4);
        prepare(&disk);
        disk.settle();
        disk.crash_at(call);
        let mut oracle = oracle(&disk);
        if let Ok(writer) = store(&disk, 2).and_then(|store| store.writer(ID, Wait::No)) {
            append(&mut oracle, &writer, &["e1", "e2", "e3"], Durability::Os);
        }
        let next = disk.after_kill();
        oracle.reopened(
            &log(&next),
            Survives::Process,
            &format!("killed at call {call}"),
        );
        assert!(
            session_of(&next, 3, &mut oracle, &["e4"]),
            "the lease died with its process"
        );
        oracle.reopened(
            &log(&next.after_crash(Keep::Nothing)),
            Survives::Machine,
            &format!("killed at call {call}, then off"),
        );
        if !disk.is_dead() {
            break;
        }
    }
}

#[test]
fn a_sync_that_lies_after_a_failure_costs_nothing_that_was_acknowledged() {
    for call in 1..40 {
        let disk = CrashDisk::new(5);
        prepare(&disk);
        disk.settle();
        disk.lie_on_sync_after(call);
        let mut oracle = oracle(&disk);
        // Writers that failed are opened again, as an agent would do.
        for (seed, ids) in [
            (2, ["e1", "e2"]),
            (3, ["e2", "e3"]),
            (4, ["e3", "e4"]),
            (5, ["e4", "e5"]),
            (6, ["e5", "e6"]),
        ] {
            session_of(&disk, seed, &mut oracle, &ids);
        }
        assert!(
            oracle.owed(Survives::Machine).any(|id| id == "e5"),
            "call {call}: writing goes on"
        );
        for keep in Keep::flavours(6) {
            oracle.clone().reopened(
                &log(&disk.after_crash(keep)),
                Survives::Machine,
                &format!("lie at {call}, {keep:?}"),
            );
        }
    }
}

/// The fault: one call fails, or every append fails after this many more bytes.
#[derive(Debug, Clone, Copy)]
enum Fault {
    Call(u64),
    Room(u64),
}

#[test]
fn a_full_disk_and_failing_calls_cost_nothing_that_was_acknowledged() {
    let faults = (1..40)
        .map(Fault::Call)
        .chain((0..900).step_by(3).map(Fault::Room));
    for fault in faults {
        let disk = CrashDisk::new(6);
        prepare(&disk);
        disk.settle();
        match fault {
            Fault::Call(call) => disk.fail_call(call, ErrorKind::PermissionDenied),
            Fault::Room(room) => {
                let used: usize = disk.snapshot().values().map(Vec::len).sum();
                disk.fill(used as u64 + room);
            }
        }
        let mut oracle = act(&disk);
        let place = format!("{fault:?}");
        oracle.clone().reopened(
            &log(&disk.after_crash(Keep::Nothing)),
            Survives::Machine,
            &place,
        );
        oracle.reopened(&log(&disk), Survives::Process, &place);
        // There is space again, and the injected failures are over.
        disk.fill(u64::MAX);
        session_of(&disk, 4, &mut oracle, &["e9"]);
        disk.settle();
        oracle.reopened(&log(&disk), Survives::Process, &place);
        assert!(
            session_of(&disk, 3, &mut oracle, &["e4", "e1", "e2", "e3"]),
            "{place}: cannot open again"
        );
        assert!(
            oracle.owed(Survives::Machine).any(|id| id == "e4"),
            "{place}: cannot write again"
        );
        oracle.reopened(
            &log(&disk.after_crash(Keep::Nothing)),
            Survives::Machine,
            &place,
        );
    }
}

#[test]
fn an_append_costs_one_sync_of_one_file_and_reads_nothing() {
    let disk = CrashDisk::new(7);
    prepare(&disk);
    let counting = FaultDisk::counting(Arc::new(disk));
    let store = Home::on(counting.disk(), Arc::new(SeededIds::new(2)), "/home/b")
        .sessions()
        .unwrap();
    let writer = store.writer(ID, Wait::No).unwrap();
    writer
        .append(Draft::user("the first receipt covers the name"))
        .unwrap();
    counting.forget();
    writer.append(Draft::user("the second")).unwrap();
    let total = counting.total();
    assert_eq!(
        (total.syncs, total.read, total.changes),
        (1, 0, 0),
        "{:?}",
        counting.all_traffic()
    );
    assert_eq!(counting.traffic(writer.path()).written, total.written);
}

#[test]
fn short_and_interrupted_calls_change_nothing_for_the_writer() {
    for seed in 0..10 {
        let disk = CrashDisk::new(seed);
        prepare(&disk);
        let mut oracle = oracle(&disk);
        let faulty: Arc<dyn Disk> = FaultDisk::new(Arc::new(disk.clone()), seed).disk();
        let store = Home::on(faulty, Arc::new(SeededIds::new(2)), "/home/b")
            .sessions()
            .unwrap();
        let writer = store.writer(ID, Wait::No).unwrap();
        append(&mut oracle, &writer, &["e1", "e2", "e3"], Durability::Fsync);
        assert_eq!(oracle.owed(Survives::Machine).count(), 5);
        oracle.reopened(
            &log(&disk.after_crash(Keep::Nothing)),
            Survives::Machine,
            &format!("seed {seed}"),
        );
    }
}
