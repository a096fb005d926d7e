//! Write transactions of the catalog: SQLite's, under the lock of the seal.

use std::ops::Deref;
use std::time::Duration;

use boswell_model::{Error, ErrorKind, Result};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::seal::SealLock;
use super::{Catalog, database};

/// A transaction that writes. It is rolled back unless it is committed.
pub(super) struct WriteTransaction<'c> {
    // Dropped first: a rollback needs the lock too.
    tx: Transaction<'c>,
    lock: Option<SealLock<'c>>,
}

impl<'c> Deref for WriteTransaction<'c> {
    type Target = Transaction<'c>;

    fn deref(&self) -> &Transaction<'c> {
        &self.tx
    }
}

impl WriteTransaction<'_> {
    /// Commits, and records the new state of the file. After a failure the file keeps the old seal,
    /// so that it is checked before it is used again.
    pub(super) fn commit(self) -> rusqlite::Result<()> {
        self.tx.commit()?;
        if let Some(lock) = &self.lock {
            lock.record();
        }
        Ok(())
    }
}

impl Catalog {
    /// Begins a transaction that writes; waits for other processes.
    pub(super) fn begin(&self) -> Result<WriteTransaction<'_>> {
        self.begin_within(database::PATIENCE)
    }

    /// As [`Catalog::begin`], and waits at most that long.
    pub(super) fn begin_within(&self, patience: Duration) -> Result<WriteTransaction<'_>> {
        let lock = self.lock(patience)?;
        self.begin_under(&self.db, lock)
    }

    /// Begins a transaction on `db`, which is the catalog's database if `lock` is its lock.
    pub(super) fn begin_under<'c>(
        &'c self,
        db: &'c Connection,
        lock: Option<SealLock<'c>>,
    ) -> Result<WriteTransaction<'c>> {
        let tx = Transaction::new_unchecked(db, TransactionBehavior::Immediate)
            .map_err(|error| self.fault(error))?;
        Ok(WriteTransaction { tx, lock })
    }

    /// Takes the lock of writers; `None` for a catalog in memory.
    pub(super) fn lock(&self, patience: Duration) -> Result<Option<SealLock<'_>>> {
        let Some(seal) = &self.seal else {
            return Ok(None);
        };
        let lock = seal.lock(patience)?;
        // A process that found damage has deleted the file that we have open.
        if seal.identity() != self.opened {
            let what = format!(
                "the catalog `{}` was replaced by another process",
                self.path.display()
            );
            return Err(Error::new(ErrorKind::Unavailable, what));
        }
        if !seal.is_intact() {
            database::check(&self.path, &self.db)?;
            lock.record();
        }
        Ok(Some(lock))
    }
}
