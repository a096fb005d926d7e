//! A disk around another disk with short and interrupted calls, which counts its traffic.
//!
//! Reads and appends may be short or interrupted, as the system's may; a caller that retries
//! correctly notices nothing. The counters record for each path what was read, written and synced,
//! so that a test can prove that only the tail of a log was read or that an append cost one sync.
//! It can also fail one sync, chosen by its number. It never crashes and loses nothing: for that
//! see [`crate::crash_disk`], which may be the inner disk.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use boswell_store::disk::{Disk, OpenMode};

use crate::Rng;
use crate::hooked_disk::{DiskCall, Hook, HookVerdict, HookedDisk};

/// Probabilities of an interrupted and of a short call.
const INTERRUPTED: f64 = 0.2;
const SHORT: f64 = 0.5;

/// The error number of a failing disk.
const EIO: i32 = 5;

/// The traffic of one path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Number of opens.
    pub opens: u64,
    /// Bytes read.
    pub read: u64,
    /// The lowest position that was read.
    pub read_from: Option<u64>,
    /// Bytes appended.
    pub written: u64,
    /// Number of syncs of the file or folder.
    pub syncs: u64,
    /// Number of changes of mode, time, length or name, and creations.
    pub changes: u64,
}

/// A disk with short and interrupted calls. Clones share the counters.
#[derive(Clone, Debug)]
pub struct FaultDisk {
    disk: HookedDisk,
    tally: Arc<Tally>,
}

#[derive(Debug)]
struct Tally(Mutex<Shared>);

#[derive(Debug)]
struct Shared {
    /// `None`: only count.
    rng: Option<Rng>,
    traffic: BTreeMap<PathBuf, Traffic>,
    /// Number of syncs until one fails.
    until_failure: Option<u64>,
    failure: fn() -> io::Error,
    /// The file or folder whose sync failed.
    struck: Option<PathBuf>,
}

impl FaultDisk {
    /// Creates a disk whose reads and appends are short or interrupted, decided by the seed.
    pub fn new(inner: Arc<dyn Disk>, seed: u64) -> FaultDisk {
        FaultDisk::with(inner, Some(Rng::for_part(seed, "faults")))
    }

    /// Creates a disk that only counts.
    pub fn counting(inner: Arc<dyn Disk>) -> FaultDisk {
        FaultDisk::with(inner, None)
    }

    fn with(inner: Arc<dyn Disk>, rng: Option<Rng>) -> FaultDisk {
        let tally = Arc::new(Tally(Mutex::new(Shared {
            rng,
            traffic: BTreeMap::new(),
            until_failure: None,
            failure: || ErrorKind::Other.into(),
            struck: None,
        })));
        FaultDisk {
            disk: HookedDisk::new(inner, tally.clone()),
            tally,
        }
    }

    /// Fails the `n`-th sync of a file or folder from now on, counted from 1, with EIO and without
    /// effect; only that one.
    pub fn fail_sync(&self, n: u64) {
        self.fail_sync_with(n, || io::Error::from_raw_os_error(EIO));
    }

    /// As [`fail_sync`](Self::fail_sync), with another error.
    pub fn fail_sync_with(&self, n: u64, error: fn() -> io::Error) {
        let mut shared = self.lock();
        (shared.until_failure, shared.failure, shared.struck) = (Some(n), error, None);
    }

    /// Returns the file or folder whose sync failed; `None` if there were fewer syncs.
    pub fn struck(&self) -> Option<PathBuf> {
        self.lock().struck.clone()
    }

    /// Returns the disk itself.
    pub fn disk(&self) -> Arc<dyn Disk> {
        Arc::new(self.disk.clone())
    }

    /// Returns the traffic of a path.
    pub fn traffic(&self, path: impl AsRef<Path>) -> Traffic {
        self.lock()
            .traffic
            .get(path.as_ref())
            .copied()
            .unwrap_or_default()
    }

    /// Returns the traffic of every path.
    pub fn all_traffic(&self) -> BTreeMap<PathBuf, Traffic> {
        self.lock().traffic.clone()
    }

    /// Returns the total traffic.
    pub fn total(&self) -> Traffic {
        self.lock()
            .traffic
            .values()
            .fold(Traffic::default(), |sum, one| Traffic {
                opens: sum.opens + one.opens,
                read: sum.read + one.read,
                read_from: sum.read_from.into_iter().chain(one.read_from).min(),
                written: sum.written + one.written,
                syncs: sum.syncs + one.syncs,
                changes: sum.changes + one.changes,
            })
    }

    /// Resets the counters.
    pub fn forget(&self) {
        self.lock().traffic.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.tally.lock()
    }
}

impl Tally {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, path: &Path, note: impl FnOnce(&mut Traffic)) {
        note(self.lock().traffic.entry(path.to_owned()).or_default());
    }

    fn sync_of(&self, path: &Path) -> HookVerdict {
        self.note(path, |traffic| traffic.syncs += 1);
        let mut shared = self.lock();
        let Some(left) = shared.until_failure else {
            return HookVerdict::Proceed;
        };
        shared.until_failure = left.checked_sub(1).filter(|left| *left > 0);
        if shared.until_failure.is_some() {
            return HookVerdict::Proceed;
        }
        shared.struck = Some(path.to_owned());
        HookVerdict::Fail((shared.failure)())
    }

    /// Decides how many of `len` bytes a call handles.
    fn portion(&self, len: usize) -> HookVerdict {
        let mut shared = self.lock();
        let Some(rng) = &mut shared.rng else {
            return HookVerdict::Proceed;
        };
        if rng.id_source(INTERRUPTED) {
            return HookVerdict::Fail(ErrorKind::Interrupted.into());
        }
        if len > 1 && rng.id_source(SHORT) {
            HookVerdict::Partial(rng.between(1, len))
        } else {
            HookVerdict::Proceed
        }
    }
}

impl Hook for Tally {
    fn before(&self, call: &DiskCall<'_>) -> HookVerdict {
        match call {
            DiskCall::Read { len, .. } => self.portion(*len),
            DiskCall::Append { bytes, .. } => self.portion(bytes.len()),
            DiskCall::Sync { path } | DiskCall::SyncFolder { path } => self.sync_of(path),
            _ => HookVerdict::Proceed,
        }
    }

    fn after(&self, call: &DiskCall<'_>, bytes: usize) {
        let bytes = bytes as u64;
        if let DiskCall::Rename { from, .. } = call {
            self.note(from, |traffic| traffic.changes += 1);
        }
        self.note(call.path(), |traffic| match call {
            DiskCall::Open { how, .. } => {
                traffic.opens += 1;
                traffic.changes += u64::from(*how == OpenMode::CreateNew);
            }
            DiskCall::Read { at, .. } => {
                traffic.read += bytes;
                traffic.read_from = traffic
                    .read_from
                    .into_iter()
                    .chain((bytes > 0).then_some(*at))
                    .min();
            }
            DiskCall::Append { .. } => traffic.written += bytes,
            DiskCall::Sync { .. } | DiskCall::SyncFolder { .. } | DiskCall::WriteAgain { .. } => {}
            _ => traffic.changes += u64::from(call.changes()),
        });
    }
}

#[cfg(test)]
mod tests {
    use boswell_store::backend::{Backend, FsBackend};
    use boswell_store::disk::durable::{append_lines, put, read};

    use super::*;
    use crate::crash_disk::CrashDisk;

    fn long() -> Vec<u8> {
        (0..3_000)
            .flat_map(|n| format!("{{\"n\":{n}}}\n").into_bytes())
            .collect()
    }

    #[test]
    fn loops_put_short_and_interrupted_calls_together() {
        for seed in 0..20 {
            let disk = FaultDisk::new(Arc::new(CrashDisk::new(seed)), seed).disk();
            let path = Path::new("f");
            put(disk.as_ref(), path, &long(), "u").unwrap();
            append_lines(disk.as_ref(), path, b"{}\n").unwrap();
            let expected = [long(), b"{}\n".to_vec()].concat();
            assert_eq!(
                read(disk.as_ref(), path).unwrap().unwrap(),
                expected,
                "seed {seed}"
            );
            let mut seen = Vec::new();
            let object = FsBackend::on(disk, "").open("f").unwrap();
            object
                .lines(0, 1, &mut |line| seen.extend_from_slice(line.bytes))
                .unwrap();
            assert_eq!(seen, expected, "seed {seed}");
        }
    }

    #[test]
    fn short_and_interrupted_calls_do_happen() {
        let disk = FaultDisk::new(Arc::new(CrashDisk::new(1)), 1).disk();
        let file = disk.open(Path::new("f"), OpenMode::CreateNew).unwrap();
        let taken: Vec<_> = (0..50)
            .map(|_| file.append(b"0123456789").map_err(|error| error.kind()))
            .collect();
        assert!(taken.contains(&Err(ErrorKind::Interrupted)));
        assert!(
            taken.contains(&Ok(10))
                && taken
                    .iter()
                    .any(|count| count.is_ok_and(|count| count < 10))
        );
    }

    #[test]
    fn one_sync_fails_without_effect_and_is_named() {
        let inner = CrashDisk::new(1);
        let faulty = FaultDisk::counting(Arc::new(inner.clone()));
        let disk = faulty.disk();
        for (n, struck) in [(1, Some("log")), (2, Some(".")), (3, None)] {
            faulty.fail_sync(n);
            assert_eq!(
                append_lines(disk.as_ref(), Path::new("log"), b"{}\n").is_ok(),
                struck.is_none()
            );
            assert_eq!(faulty.struck(), struck.map(PathBuf::from));
        }
        let left = read(disk.as_ref(), Path::new("log")).unwrap().unwrap();
        assert_eq!(left, b"{}\n", "what was not durable was cut off again");
    }

    #[test]
    fn the_tally_names_bytes_and_syncs_of_each_path() {
        let disk = FaultDisk::counting(Arc::new(CrashDisk::new(1)));
        append_lines(disk.disk().as_ref(), Path::new("log"), b"{\"a\":1}\n").unwrap();
        disk.forget();
        append_lines(disk.disk().as_ref(), Path::new("log"), b"{}\n").unwrap();
        let traffic = disk.traffic("log");
        assert_eq!(
            traffic,
            Traffic {
                opens: 1,
                read: 1,
                read_from: Some(7),
                written: 3,
                syncs: 1,
                changes: 0
            }
        );
        assert_eq!(
            disk.total(),
            Traffic {
                syncs: 2,
                ..traffic
            },
            "beside it only the folder was synced"
        );
    }
}
