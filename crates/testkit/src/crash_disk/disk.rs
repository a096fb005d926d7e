//! The handle of the disk: what a test sets, counts and asks.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::state::{ROOT, State};
use crate::Rng;

/// Which unsynced facts a crash keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// None: only what was synced is there.
    Nothing,
    /// All: as if everything had been written back a moment before.
    Everything,
    /// Some, chosen by this seed.
    Subset(u64),
}

impl Keep {
    /// The three flavours: nothing, everything, and `subsets` different choices.
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
    /// An empty disk. The seed decides, with that of [`Keep::Subset`], what a crash keeps.
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

    /// How many calls changed or synced something, those that failed included.
    pub fn calls(&self) -> u64 {
        self.lock().switches.calls
    }

    /// How many calls there were at all.
    pub fn all_calls(&self) -> u64 {
        self.lock().switches.all_calls
    }

    /// How many of them synced a file or a folder.
    pub fn syncs(&self) -> u64 {
        self.lock().switches.syncs
    }

    /// Dies at the `n`-th changing call, counted from 1 as [`calls`](Self::calls) does: it and
    /// all that follow fail.
    pub fn crash_at(&self, n: u64) {
        self.lock().switches.crash_at = Some(n);
    }

    /// Takes this many bytes of the append that is in flight when the machine
    /// dies; they are unsynced.
    pub fn tear_append(&self, bytes: usize) {
        self.lock().switches.tear = bytes;
    }

    /// Length of the append that was in flight when the machine died, if it was one.
    pub fn torn(&self) -> Option<usize> {
        self.lock().switches.torn
    }

    /// Whether the machine died.
    pub fn is_dead(&self) -> bool {
        self.lock().switches.dead
    }

    /// Has room for this many bytes of files; appends are cut short at the limit, then fail.
    pub fn fill(&self, limit: u64) {
        self.lock().switches.limit = Some(limit);
    }

    /// Fails the `n`-th changing call, and only that, without effect.
    pub fn fail_call(&self, n: u64, kind: ErrorKind) {
        self.lock().switches.fail.insert(n, kind);
    }

    /// Fails the first sync of a file at or after the `n`-th changing call and drops the dirty
    /// bytes of that file, as kernels do: they can still be read, later syncs say that all is well,
    /// and a crash leaves NULs in their place.
    pub fn lie_on_sync_after(&self, n: u64) {
        self.lock().switches.lie_after = Some(n);
    }

    /// Makes everything durable and forgets what was counted and set, so that a test
    /// starts from a known disk.
    pub fn settle(&self) {
        let mut state = self.lock();
        *state = state.after_crash(Keep::Everything);
    }

    /// The disk as the next boot would find it. This one is left as it is.
    pub fn after_crash(&self, keep: Keep) -> CrashDisk {
        CrashDisk::of(self.lock().after_crash(keep))
    }

    /// The disk as others find it after this process alone was killed: nothing is lost,
    /// and its locks are gone.
    pub fn after_kill(&self) -> CrashDisk {
        CrashDisk::of(self.lock().after_kill())
    }

    /// Every file by its path with its bytes; folders end with `/`.
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

    /// A few different ways in which an append of this length can tear: all of
    /// them when it is short.
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
