//! Runs an act once for each call at which the machine may die.

use super::disk::{CrashDisk, Keep};

/// How many different subsets of the unsynced facts are tried at each call.
const SUBSETS: u64 = 6;

/// A crash, and what the next boot finds.
#[derive(Debug)]
pub struct Crash<'a, T> {
    /// The disk of the next boot.
    pub disk: CrashDisk,
    /// What the act returned; it may have got its answer before the machine died.
    pub outcome: &'a T,
    /// The call at which the machine died, from 1; one more than there are calls means
    /// that the act was over.
    pub call: u64,
    /// How much of an append in flight was taken.
    pub tear: usize,
    /// Which unsynced facts were kept.
    pub keep: Keep,
}

/// Runs `act` on a disk that `prepare` made and settled: once for each changing call that it makes,
/// with the machine dying at that call, and once with it dying right after. Each time `check` sees
/// what the next boot finds when no unsynced fact was kept, when all were, and for several subsets.
/// An append in flight is torn at every byte. Returns how many crashes were checked.
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
