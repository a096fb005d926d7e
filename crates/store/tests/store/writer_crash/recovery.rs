//! Recovery of the next writer after a crash, and a crash during that recovery.

use boswell_store::{Draft, Durability, ErrorKind, Expect, NewSession, Wait};
use boswell_testkit::crash_disk::{CrashDisk, Keep};

use super::{A, B, Owed, calls_of_the_story, cut_off, goes_on, judge, open, own_lines};

#[test]
fn a_crash_during_recovery_loses_nothing_either() {
    let calls = calls_of_the_story();
    // Every fourth call is sufficient: the test above covers each of them.
    for call in (1..=calls + 1).step_by(4) {
        let tear = cut_off(call, 0).0.torn().unwrap_or(0) / 2;
        let (disk, story) = cut_off(call, tear);
        for keep in [Keep::Nothing, Keep::Everything, Keep::Subset(call)] {
            let found = disk.after_crash(keep);
            for (id, owed) in [(A, &story.a), (B, &story.b)] {
                let mut owed = owed.clone();
                owed.entries.retain(|(_, durable)| *durable);
                if open(&found, 1 << 20).unwrap().session(id).is_err() {
                    continue;
                }
                recover_everywhere(&found, id, &owed, &format!("call {call}, {keep:?}"));
            }
        }
    }
}

/// Crashes at every call of the recovery, too.
fn recover_everywhere(found: &CrashDisk, id: &str, owed: &Owed, place: &str) {
    for second in 1.. {
        let disk = found.after_kill();
        disk.crash_at(second);
        disk.tear_append(40);
        let mut owed = owed.clone();
        let done = goes_on(&disk, id, &mut owed, 1 << 21, place).is_ok();
        for keep in [Keep::Nothing, Keep::Everything, Keep::Subset(second)] {
            let rebooted = disk.after_crash(keep);
            let store = open(&rebooted, 1 << 22).unwrap();
            let place = format!("{place}, then call {second} of the recovery, {keep:?}");
            judge(&rebooted, &store, id, &owed, true, &place).unwrap();
            goes_on(&rebooted, id, &mut owed.clone(), 1 << 23, &place).unwrap();
        }
        if done {
            return;
        }
    }
}

#[test]
fn an_append_torn_at_any_byte_is_kept_reported_and_not_in_the_way() {
    let prepare = || {
        let disk = CrashDisk::new(3);
        let writer = open(&disk, 0)
            .unwrap()
            .create(NewSession::in_project("/w").with_id(A))
            .unwrap();
        let first = writer.append(Draft::user("before").with_id("u1")).unwrap();
        let mut owed = Owed {
            created: true,
            ..Owed::default()
        };
        owed.receipts(&[first]);
        drop(writer);
        disk.settle();
        (disk, owed)
    };
    let append = |disk: &CrashDisk| {
        let writer = open(disk, 1 << 10).unwrap().writer(A, Wait::No).unwrap();
        let batch = vec![
            Draft::assistant("to be torn \u{1F980}").with_id("a1"),
            Draft::user("second").with_id("u2"),
        ];
        writer.append_all(batch, Expect::Any, Durability::Fsync)
    };
    let (disk, _) = prepare();
    let start = disk.calls();
    append(&disk).unwrap();
    // The batch is written by the call that can tear the most bytes.
    let torn = |call: u64| {
        let (disk, _) = prepare();
        disk.crash_at(call);
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| append(&disk)));
        disk.torn().unwrap_or(0)
    };
    let (len, call) = (start + 1..=disk.calls())
        .map(|call| (torn(call), call))
        .max()
        .unwrap();
    assert!(len > 300, "{len}");
    for tear in 0..=len {
        let (disk, mut owed) = prepare();
        disk.crash_at(call);
        disk.tear_append(tear);
        append(&disk).unwrap_err();
        for keep in [Keep::Everything, Keep::Nothing, Keep::Subset(tear as u64)] {
            let found = disk.after_crash(keep);
            let place = format!("{tear} of {len} bytes, {keep:?}");
            let store = open(&found, 1 << 20).unwrap();
            let bytes = judge(&found, &store, A, &owed, true, &place).unwrap();
            // A retry with the same ids completes the batch: each entry exists once and is
            // complete.
            let mut again = owed.clone();
            let receipts = append(&found).unwrap();
            assert_eq!(receipts.len(), 2);
            let now = judge(&found, &store, A, &again, true, &place).unwrap();
            assert!(now.starts_with(&bytes), "{place}: torn bytes were changed");
            let ids = own_lines(&now);
            assert_eq!(ids, ["u1", "a1", "u2"], "{place}");
            again.receipts(&receipts);
            goes_on(&found, A, &mut again, 1 << 21, &place).unwrap();
        }
        owed.entries.clear();
    }
}

#[test]
fn folders_whose_maker_was_killed_are_durable_with_the_first_receipt() {
    let calls = calls_of_the_story();
    for call in 1..=calls {
        // Killed, not crashed: the next process finds unsynced folders and must not rely on them.
        let disk = cut_off(call, 0).0.after_kill();
        let mut owed = Owed {
            created: true,
            ..Owed::default()
        };
        let store = open(&disk, 1 << 20).unwrap();
        let writer = match store.create(NewSession::in_project("/proj/demo").with_id(A)) {
            Ok(writer) => writer,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
                store.writer(A, Wait::No).unwrap()
            }
        };
        owed.receipts(&[writer.append(Draft::user("here").with_id("k1")).unwrap()]);
        let rebooted = disk.after_crash(Keep::Nothing);
        let again = open(&rebooted, 1 << 21).unwrap();
        judge(
            &rebooted,
            &again,
            A,
            &owed,
            true,
            &format!("killed at call {call}"),
        )
        .unwrap();
    }
}
