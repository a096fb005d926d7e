//! The guarantees of reading, for every backend.

use std::path::Path;
use std::sync::Arc;

use boswell_store::backend::{Backend, FsBackend, MemoryBackend};
use boswell_store::disk::RealDisk;
use boswell_store::disk::durable::{create, make_folders};
use boswell_testkit::conformance;
use boswell_testkit::crash_disk::CrashDisk;
use boswell_testkit::fault_disk::FaultDisk;
use boswell_testkit::rows::RowBackend;

type Objects = [(String, Vec<u8>)];

fn rows(objects: &Objects) -> Arc<dyn Backend> {
    let backend = RowBackend::default();
    objects
        .iter()
        .for_each(|(key, bytes)| backend.put(key, bytes, None));
    Arc::new(backend)
}

#[test]
fn files_keep_every_promise_of_reading() {
    let folder = tempfile::tempdir().unwrap();
    let count = std::sync::atomic::AtomicU32::new(0);
    conformance::backend_reads(&|objects| {
        let count = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let root = folder.path().join(count.to_string());
        for (key, bytes) in objects {
            let path = root.join(key);
            make_folders(&RealDisk, path.parent().unwrap()).unwrap();
            create(&RealDisk, &path, bytes).unwrap();
        }
        Arc::new(FsBackend::new(root))
    });
}

#[test]
fn files_on_a_disk_of_short_reads_keep_every_promise_of_reading() {
    conformance::backend_reads(&|objects| {
        let disk = CrashDisk::new(1);
        for (key, bytes) in objects {
            let path = Path::new("root").join(key);
            make_folders(&disk, path.parent().unwrap()).unwrap();
            create(&disk, &path, bytes).unwrap();
        }
        Arc::new(FsBackend::on(
            FaultDisk::new(Arc::new(disk), 1).disk(),
            "root",
        ))
    });
}

#[test]
fn memory_keeps_every_promise_of_reading() {
    conformance::backend_reads(&|objects| {
        let mut backend = MemoryBackend::default();
        objects
            .iter()
            .for_each(|(key, bytes)| backend.put(key, bytes.clone(), None));
        Arc::new(backend)
    });
}

#[test]
fn rows_have_names_objects_and_positions() {
    conformance::names_and_objects(&rows);
    conformance::positions(&rows);
}

#[test]
fn sessions_in_rows_read_as_they_do_in_files() {
    conformance::sessions(&rows);
}

#[test]
fn sessions_in_rows_are_exported_whole() {
    conformance::exports(&rows);
}

#[test]
fn sessions_in_rows_have_revisions_that_grow() {
    conformance::revisions(&rows);
}

#[test]
fn sessions_in_rows_are_listed_as_in_files() {
    conformance::summaries(&rows);
}
