//! The backends on which the suite runs.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use boswell_dialect::by_name;
use boswell_store::backend::{Backend, LogBackend};
use boswell_store::disk::{Disk, MemoryDisk};
use boswell_store::{Home, Store, WritableStore};
use boswell_testkit::conformance::{Failure, WritePlace};
use boswell_testkit::crash_disk::{CrashDisk, Keep};
use boswell_testkit::fault_disk::FaultDisk;
use boswell_testkit::ids::SeededIds;
use boswell_testkit::rows::{Commit, FailAt, RowBackend};

/// Returns ids that differ for each simulated process.
fn id_source() -> Arc<SeededIds> {
    static SEED: AtomicU64 = AtomicU64::new(1);
    Arc::new(SeededIds::new(SEED.fetch_add(1, Ordering::Relaxed)))
}

/// A folder of this machine. It cannot simulate a crash.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }
}

impl WritePlace for Folder {
    fn store(&self) -> WritableStore {
        let disk = Arc::new(boswell_store::disk::RealDisk);
        Home::on(disk, id_source(), self.0.path().join("home"))
            .sessions()
            .unwrap()
    }
}

/// The disk of sessions that are only in memory.
pub(crate) struct Memory(Arc<dyn Disk>);

impl Memory {
    pub(crate) fn new() -> Memory {
        Memory(Arc::new(MemoryDisk::default()))
    }
}

impl WritePlace for Memory {
    fn store(&self) -> WritableStore {
        Home::on(Arc::clone(&self.0), id_source(), "/boswell")
            .sessions()
            .unwrap()
    }
}

/// A disk that loses unsynced data at a crash and fails on request; its calls may be short or
/// interrupted.
pub(crate) struct Forgetful {
    disk: Mutex<CrashDisk>,
    interrupted: Option<u64>,
}

impl Forgetful {
    pub(crate) fn new(interrupted: Option<u64>) -> Forgetful {
        Forgetful {
            disk: Mutex::new(CrashDisk::new(3)),
            interrupted,
        }
    }
}

impl WritePlace for Forgetful {
    fn store(&self) -> WritableStore {
        let disk = self.disk.lock().unwrap().clone();
        let disk: Arc<dyn Disk> = match self.interrupted {
            Some(seed) => FaultDisk::new(Arc::new(disk), seed).disk(),
            None => Arc::new(disk),
        };
        Home::on(disk, id_source(), PathBuf::from("/home/b"))
            .sessions()
            .unwrap()
    }

    fn crash(&self) {
        let mut disk = self.disk.lock().unwrap();
        let next_boot = disk.after_crash(Keep::Nothing);
        *disk = next_boot;
    }

    fn fail_next_append(&self, failure: Failure) -> bool {
        let disk = self.disk.lock().unwrap();
        // The first changing call writes the lines, the second one syncs them.
        let call = disk.calls() + if failure == Failure::Before { 1 } else { 2 };
        disk.fail_call(call, std::io::ErrorKind::PermissionDenied);
        self.interrupted.is_none()
    }
}

/// A row backend, and the wrapper that the suite calls it through.
pub(crate) struct Rows {
    rows: RowBackend,
    through: Box<Through>,
}

/// The halves of a backend, for reading and for writing.
type Halves = (Arc<dyn Backend>, Arc<dyn LogBackend>);

type Through = dyn Fn(RowBackend) -> Halves + Sync;

impl Rows {
    pub(crate) fn new(commit: Commit) -> Rows {
        Rows::through(commit, |rows| (Arc::new(rows.clone()), Arc::new(rows)))
    }

    pub(crate) fn through(
        commit: Commit,
        through: impl Fn(RowBackend) -> Halves + Sync + 'static,
    ) -> Rows {
        Rows {
            rows: RowBackend::new(commit),
            through: Box::new(through),
        }
    }
}

impl WritePlace for Rows {
    fn store(&self) -> WritableStore {
        let own = by_name("boswell").unwrap();
        let (reads, logs) = (self.through)(self.rows.clone());
        let store = Store::on(own, reads, "rows");
        WritableStore::on_logs(store, logs, id_source())
    }

    fn crash(&self) {
        self.rows.crash();
    }

    fn expire_leases(&self) -> bool {
        self.rows.expire_leases();
        true
    }

    fn fail_next_append(&self, failure: Failure) -> bool {
        self.rows.fail_next_append(match failure {
            Failure::Before => FailAt::Before,
            Failure::After => FailAt::After,
        });
        true
    }
}
