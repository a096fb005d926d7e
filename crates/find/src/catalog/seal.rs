//! Notices that another program changed the file of the catalog.
//!
//! SQLite has no checksum per page: a changed bit in the structure of the file can hide rows
//! without an error. The seal is a small file with the state of the catalog's file (identity,
//! length, times) after our last write. If the state differs, the whole file is checked once, which
//! is too slow for every list. The seal's file is also the lock of writers: it is held from before
//! a transaction until the new state is recorded, so a reader that finds another state waits for
//! the lock and compares again before it suspects damage.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use boswell_model::{Advice, Error, ErrorKind, Result};
use boswell_store::disk::{Disk, RealDisk, Sleep};

/// The pause between two attempts to take the lock.
const PAUSE: Duration = Duration::from_millis(1);
/// Identity (2 × 8), length (8), times (2 × 16), CRC-32.
const LEN: usize = 2 * 8 + 8 + 2 * 16 + 4;

/// The seal of a catalog.
#[derive(Debug)]
pub(super) struct Seal {
    catalog: PathBuf,
    file: File,
}

impl Seal {
    /// Opens the seal, which is created without a state if it is missing.
    pub(super) fn open(catalog: &Path) -> Result<Seal> {
        let mut path = catalog.as_os_str().to_owned();
        path.push("-seal");
        let file = super::database::open_private(Path::new(&path))?;
        Ok(Seal {
            catalog: catalog.to_owned(),
            file,
        })
    }

    /// Whether the catalog's file is in the recorded state.
    pub(super) fn is_intact(&self) -> bool {
        let mut recorded = [0; LEN];
        let mut file = &self.file;
        let read = file.rewind().and_then(|()| file.read_exact(&mut recorded));
        read.is_ok() && self.state().is_ok_and(|state| state == recorded)
    }

    /// Returns device and inode of the file that the catalog's path leads to.
    pub(super) fn identity(&self) -> Option<(u64, u64)> {
        let stat = RealDisk.stat(&self.catalog).ok().flatten();
        stat.map(|stat| stat.identity)
    }

    /// Takes the lock of writers. Fails if another process holds it for longer than `patience`.
    pub(super) fn lock(&self, patience: Duration) -> Result<SealLock<'_>> {
        let mut waited = Duration::ZERO;
        while let Err(error) = self.file.try_lock() {
            if let TryLockError::Error(error) = error {
                return Err(Error::io(self.catalog.display(), "lock", error));
            }
            if waited >= patience {
                let what = format!(
                    "the catalog `{}` is being written by another process",
                    self.catalog.display()
                );
                return Err(Error::new(ErrorKind::Busy, what).advising(Advice::RetryLater));
            }
            RealDisk.sleep(PAUSE);
            waited += PAUSE;
        }
        Ok(SealLock { seal: self })
    }

    fn state(&self) -> io::Result<[u8; LEN]> {
        let stat = RealDisk
            .stat(&self.catalog)?
            .ok_or(io::ErrorKind::NotFound)?;
        let mut bytes = Vec::with_capacity(LEN);
        for number in [stat.identity.0, stat.identity.1, stat.len] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for time in [stat.modified, stat.changed] {
            bytes.extend_from_slice(&time.to_le_bytes());
        }
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        bytes
            .try_into()
            .map_err(|_| io::ErrorKind::InvalidData.into())
    }
}

/// The lock of writers, which is released when it is dropped.
#[derive(Debug)]
pub(super) struct SealLock<'s> {
    seal: &'s Seal,
}

impl SealLock<'_> {
    /// Records the current state of the catalog's file, after a write or a check.
    ///
    /// A failure is not reported: the next process that opens the catalog checks the file.
    pub(super) fn record(&self) {
        let mut file = &self.seal.file;
        let _: io::Result<()> = self.seal.state().and_then(|state| {
            file.rewind()?;
            file.write_all(&state)
        });
    }
}

impl Drop for SealLock<'_> {
    fn drop(&mut self) {
        // Where a lock cannot be released by itself, closing the file releases it.
        let _ = self.seal.file.unlock();
    }
}
