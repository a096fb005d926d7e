//! The handle of the crash disk: settings, counters and snapshots for tests.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::state::{ROOT, State};
use crate::Rng;

/// Which unsynced changes survive a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// None: only synced data exists.
    Nothing,
    /// All: as if everything had been written back just before.
    Everything,
    /// Some, chosen by this seed.
    Subset(u64),
}

impl Keep {
    /// Returns nothing, everything, and `subsets` different choices.
    pub fn flavours(subsets: u64) -> impl Iterator<Item = Keep> {
        [Keep::Nothing, Keep::Everything]
            .into_iter()
            .chain((0..subsets).map(Keep::Subset))
    }
}

/// A disk in memory that can crash. Clones are the same disk.
#[derive(Clone, Debug)]
pub struct CrashDisk {
    pub(super) state: Arc<Mutex<State>>,
}

impl CrashDisk {
    /// Creates an empty disk. The seed decides, with that of [`Keep::Subset`], what survives a
    /// crash.
    pub fn new(seed: u64) -> CrashDisk {
        CrashDisk::of(State::new(seed))
    }

    fn of(state: State) -> CrashDisk {
        CrashDisk {
            state: Arc::new(Mutex::new(state)),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many calls changed or synced something, including failed ones.
    pub fn calls(&self) -> u64 {
        self.lock().switches.calls
    }

    /// Returns the number of all calls.
    pub fn all_calls(&self) -> u64 {
        self.lock().switches.all_calls
    }

    /// Returns how many calls synced a file or a folder.
    pub fn syncs(&self) -> u64 {
        self.lock().switches.syncs
    }

    /// Crashes at the `n`-th changing call, counted from 1 as in [`calls`](Self::calls): it and all
    /// later ones fail.
    pub fn crash_at(&self, n: u64) {
        self.lock().switches.crash_at = Some(n);
    }

    /// Sets how many bytes are written of the append that is running at the crash; they are
    /// unsynced.
    pub fn tear_append(&self, bytes: usize) {
        self.lock().switches.tear = bytes;
    }

    /// Returns the length of the append that was running at the crash, if there was one.
    pub fn torn(&self) -> Option<usize> {
        self.lock().switches.torn
    }

    /// Whether the machine crashed.
    pub fn is_dead(&self) -> bool {
        self.lock().switches.dead
    }

    /// Limits the total size of files; appends are cut at the limit, then fail.
    pub fn fill(&self, limit: u64) {
        self.lock().switches.limit = Some(limit);
    }

    /// Fails the `n`-th changing call, and only that, without effect.
    pub fn fail_call(&self, n: u64, kind: ErrorKind) {
        self.lock().switches.fail.insert(n, kind);
    }

    /// Fails the first sync of a file at or after the `n`-th changing call and drops the dirty
    /// bytes of that file, as kernels do: they can still be read, later syncs report success, and a
    /// crash leaves NULs in their place.
    pub fn lie_on_sync_after(&self, n: u64) {
        self.lock().switches.lie_after = Some(n);
    }

    /// Makes everything durable and resets counters and settings, so that a test starts from a
    /// known disk.
    pub fn settle(&self) {
        let mut state = self.lock();
        *state = state.after_crash(Keep::Everything);
    }

    /// Returns the disk as the next boot would find it. This one does not change.
    pub fn after_crash(&self, keep: Keep) -> CrashDisk {
        CrashDisk::of(self.lock().after_crash(keep))
    }

    /// Returns the disk as other processes find it after this one was killed: nothing is lost, and
    /// its locks are released.
    pub fn after_kill(&self) -> CrashDisk {
        CrashDisk::of(self.lock().after_kill())
    }

    /// Returns every file by its path with its bytes; folders end with `/`.
    pub fn snapshot(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.lock();
        let mut found = BTreeMap::new();
        let mut open = vec![(ROOT, String::new())];
        while let Some((folder, prefix)) = open.pop() {
            for (name, id) in state.names.in_folder(folder) {
                let path = format!("{prefix}{name}");
                match state.nodes.get(&id) {
                    Some(node) if node.is_folder => {
                        found.insert(format!("{path}/"), Vec::new());
                        open.push((id, format!("{path}/")));
                    }
                    Some(node) => {
                        found.insert(path, node.live.bytes.clone());
                    }
                    None => {}
                }
            }
        }
        found
    }

    /// Returns some ways in which an append of this length can be torn: all of them if it is short.
    pub(super) fn tears(len: usize) -> Vec<usize> {
        if len <= 300 {
            return (0..=len).collect();
        }
        let mut rng = Rng::new(len as u64);
        let mut tears: Vec<usize> = (0..64)
            .map(|_| rng.below(len + 1))
            .chain([0, 1, len - 1, len])
            .collect();
        tears.sort_unstable();
        tears.dedup();
        tears
    }
}
