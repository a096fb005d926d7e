//! The tables, and the statements that change them: each is atomic.

use std::collections::BTreeMap;
use std::sync::Arc;

use boswell_dialect::{FileInfo, Files, MemoryFiles};
use boswell_model::{Instant, Result};

/// Duration of a lease that is not renewed, in milliseconds.
const LEASE: i64 = 30_000;

/// When rows are durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Commit {
    /// When the statement that adds them returns.
    #[default]
    WithAppend,
    /// When a later sync returns.
    WithSync,
}

/// Where an append fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailAt {
    /// Before anything was written.
    Before,
    /// After everything was written, so that only the answer is lost.
    After,
}

/// The expected state that an append compares before it adds rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected<'a> {
    pub(super) end: u64,
    /// The session and the epoch of its driver; `None` for a writer without a lease.
    pub(super) driver: Option<(&'a str, u64)>,
}

/// The result of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Appended {
    /// Number of the first row that was written.
    At(u64),
    /// The log has another end.
    Moved,
    /// Another writer took the lease.
    Fenced,
    /// The log was deleted.
    Deleted,
    /// The connection was lost.
    Lost,
}

#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) now: i64,
    pub(super) commit: Commit,
    pub(super) fail: Option<FailAt>,
    /// Objects that are not logs.
    objects: MemoryFiles,
    /// Numbers of logs by their keys.
    keys: BTreeMap<String, usize>,
    logs: Vec<Log>,
    leases: BTreeMap<String, LeaseRow>,
}

#[derive(Debug)]
struct Log {
    rows: Vec<Arc<[u8]>>,
    durable: usize,
    modified: Option<Instant>,
    deleted: bool,
}

impl Log {
    fn end(&self) -> u64 {
        self.rows.len() as u64 + 1
    }
}

#[derive(Debug, Default)]
struct LeaseRow {
    epoch: u64,
    holder: Option<String>,
    until: i64,
}

impl Tables {
    pub(super) fn put_object(&mut self, key: &str, bytes: &[u8], modified: Option<Instant>) {
        self.objects.put(key, bytes, modified);
    }

    /// Adds a log with its rows; false if the key is taken.
    pub(super) fn add_log(&mut self, key: &str, lines: &[u8], modified: Option<Instant>) -> bool {
        if self.keys.contains_key(key) {
            return false;
        }
        let rows = rows_of(lines);
        self.keys.insert(key.to_owned(), self.logs.len());
        self.logs.push(Log {
            durable: rows.len(),
            rows,
            modified,
            deleted: false,
        });
        true
    }

    /// Deletes the log at a key; false if there is none.
    pub(super) fn remove_log(&mut self, key: &str) -> bool {
        let Some(log) = self.keys.remove(key) else {
            return false;
        };
        self.logs[log].deleted = true;
        true
    }

    /// Returns the keys of all logs.
    pub(super) fn keys(&self) -> impl Iterator<Item = &String> {
        self.keys.keys()
    }

    /// Returns the number of the log at a key.
    pub(super) fn log(&self, key: &str) -> Option<usize> {
        self.keys.get(key).copied()
    }

    pub(super) fn rows(&self, log: usize) -> Vec<Arc<[u8]>> {
        self.logs[log].rows.clone()
    }

    pub(super) fn end(&self, log: usize) -> u64 {
        self.logs[log].end()
    }

    /// Whether the key still refers to the log.
    pub(super) fn leads_to(&self, key: &str, log: usize) -> bool {
        self.log(key) == Some(log)
    }

    /// Appends rows, if the log has the expected end and the driver is still the newest. This
    /// renews the driver's lease.
    pub(super) fn append(&mut self, log: usize, expected: Expected<'_>, lines: &[u8]) -> Appended {
        let fail = if lines.is_empty() {
            None
        } else {
            self.fail.take()
        };
        if fail == Some(FailAt::Before) {
            return Appended::Lost;
        }
        if let Some((session, epoch)) = expected.driver {
            match self
                .leases
                .get_mut(session)
                .filter(|lease| lease.epoch == epoch)
            {
                Some(lease) => lease.until = self.now + LEASE,
                None => return Appended::Fenced,
            }
        }
        let (now, commit) = (Instant::from_millis(self.now), self.commit);
        let log = &mut self.logs[log];
        if log.deleted {
            return Appended::Deleted;
        }
        let at = log.end();
        if at != expected.end {
            return Appended::Moved;
        }
        log.rows.extend(rows_of(lines));
        log.modified = Some(now);
        if commit == Commit::WithAppend {
            log.durable = log.rows.len();
        }
        if fail == Some(FailAt::After) {
            Appended::Lost
        } else {
            Appended::At(at)
        }
    }

    /// Makes the rows of a log durable up to a position.
    pub(super) fn flush(&mut self, log: usize, end: u64) {
        let log = &mut self.logs[log];
        log.durable = log
            .durable
            .max(usize::try_from(end.saturating_sub(1)).unwrap_or(0));
    }

    /// Renames a log; returns false if the key is taken or the log is missing.
    pub(super) fn rename(&mut self, from: &str, to: &str) -> bool {
        if self.keys.contains_key(to) {
            return false;
        }
        let log = self.keys.remove(from);
        log.map(|log| self.keys.insert(to.to_owned(), log))
            .is_some()
    }

    /// Takes a lease that is free or expired; returns the new epoch, or the holder.
    pub(super) fn take_lease(
        &mut self,
        session: &str,
        holder: &str,
    ) -> std::result::Result<u64, String> {
        let lease = self.leases.entry(session.to_owned()).or_default();
        match &lease.holder {
            Some(other) if self.now < lease.until => Err(other.clone()),
            _ => {
                (lease.epoch, lease.holder, lease.until) =
                    (lease.epoch + 1, Some(holder.to_owned()), self.now + LEASE);
                Ok(lease.epoch)
            }
        }
    }

    /// Releases a lease, unless another writer has taken it.
    pub(super) fn release_lease(&mut self, session: &str, epoch: u64) {
        if let Some(lease) = self
            .leases
            .get_mut(session)
            .filter(|lease| lease.epoch == epoch)
        {
            lease.holder = None;
        }
    }

    pub(super) fn is_newest(&self, session: &str, epoch: u64) -> bool {
        self.leases
            .get(session)
            .is_some_and(|lease| lease.epoch == epoch)
    }

    /// Expires every lease.
    pub(super) fn expire_leases(&mut self) {
        self.now += LEASE;
    }

    /// Drops rows that are not durable.
    pub(super) fn crash(&mut self) {
        for log in &mut self.logs {
            log.rows.truncate(log.durable);
        }
    }

    /// Returns names, times and sizes of everything, as in a listing.
    pub(super) fn files(&self) -> MemoryFiles {
        let mut files = self.objects.clone();
        for (key, log) in &self.keys {
            let log = &self.logs[*log];
            files.put(key, log.rows.concat(), log.modified);
        }
        files
    }

    pub(super) fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        self.files().list(folder)
    }
}

fn rows_of(lines: &[u8]) -> Vec<Arc<[u8]>> {
    lines
        .split_inclusive(|byte| *byte == b'\n')
        .map(Arc::from)
        .collect()
}
