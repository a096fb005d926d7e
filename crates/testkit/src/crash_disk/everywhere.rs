//! Runs an action once for each call at which the machine may crash.

use super::disk::{CrashDisk, Keep};

/// Number of subsets of the unsynced changes that are tried at each call.
const SUBSETS: u64 = 6;

/// A crash, and the state after the next boot.
#[derive(Debug)]
pub struct Crash<'a, T> {
    /// The disk of the next boot.
    pub disk: CrashDisk,
    /// Result of the action; it may have returned before the crash.
    pub outcome: &'a T,
    /// The call at which the machine crashed, from 1; one more than there are calls means that the
    /// action was finished.
    pub call: u64,
    /// How many bytes of a running append were written.
    pub tear: usize,
    /// Which unsynced changes survived.
    pub keep: Keep,
}

/// Runs `act` on a disk that `prepare` created and that was synced: once for each changing call,
/// with a crash at that call, and once with a crash right after. Each time `check` gets the disk of
/// the next boot: without unsynced changes, with all of them, and with several subsets. A running
/// append is torn at every byte. Returns how many crashes were checked.
pub fn everywhere<T>(
    seed: u64,
    prepare: impl Fn(&CrashDisk),
    act: impl Fn(&CrashDisk) -> T,
    mut check: impl FnMut(&Crash<'_, T>),
) -> u64 {
    let start = |crash_at: Option<u64>, tear: usize| {
        let disk = CrashDisk::new(seed);
        prepare(&disk);
        disk.settle();
        disk.tear_append(tear);
        if let Some(call) = crash_at {
            disk.crash_at(call);
        }
        let outcome = act(&disk);
        (disk, outcome)
    };
    let calls = start(None, 0).0.calls();
    let mut checked = 0;
    for call in 1..=calls + 1 {
        let torn = start(Some(call), 0).0.torn();
        for tear in torn.map_or(vec![0], CrashDisk::tears) {
            let (disk, outcome) = start(Some(call), tear);
            for keep in Keep::flavours(SUBSETS) {
                check(&Crash {
                    disk: disk.after_crash(keep),
                    outcome: &outcome,
                    call,
                    tear,
                    keep,
                });
                checked += 1;
            }
        }
    }
    checked
}
