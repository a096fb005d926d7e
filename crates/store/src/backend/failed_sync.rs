//! The failed-sync marker: a file that records that the last `fsync` of a log failed.
//!
//! After a failed `fsync` the kernel may show bytes that are not on disk, and a later `fsync`
//! reports success without writing them. So every writer looks for the marker before it appends: a
//! writer that has the log open stops, and one that opens it copies the log to a new file first. A
//! failed `write` (a full disk, ENOSPC) leaves no marker: at worst it leaves a torn last line,
//! which the next writer separates. Either failure latches the writer that met it: `latch` in
//! `writer/state.rs`.

use std::io;

use boswell_model::{Error, Result};

use crate::disk::{Disk, OpenMode, durable};
use crate::locks::lease::AppendLock;

/// Returns whether a log has the marker. It is in the folder of locks, next to the log's append
/// lock.
pub(super) fn is_marked(disk: &dyn Disk, lock: &AppendLock) -> Result<bool> {
    let path = lock.failed_sync_marker();
    let marker = disk
        .stat(path)
        .map_err(|error| Error::io(path.display(), "look at", error))?;
    Ok(marker.is_some())
}

/// Creates the marker. Best effort: on a disk that failed, this may fail too, and then only the
/// error of the `fsync` itself reports the problem.
pub(super) fn mark(disk: &dyn Disk, lock: &AppendLock) {
    let path = lock.failed_sync_marker();
    match disk.open(path, OpenMode::CreateNew) {
        // Without the sync a machine that dies now forgets the marker, but also the cached pages
        // that were never written: what it then finds is what the disk has.
        Ok(_) => drop(durable::sync_parent(disk, path)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::disk::MemoryDisk;

    #[test]
    fn a_log_is_marked_once_and_for_every_writer() {
        let disk = &MemoryDisk::default();
        durable::make_folders(disk, Path::new("/locks")).unwrap();
        let lock = AppendLock::new(Path::new("/locks"), "s.1");
        assert!(!is_marked(disk, &lock).unwrap());
        mark(disk, &lock);
        mark(disk, &lock);
        assert!(is_marked(disk, &AppendLock::new(Path::new("/locks"), "s.1")).unwrap());
        assert!(!is_marked(disk, &AppendLock::new(Path::new("/locks"), "s.2")).unwrap());
    }
}
