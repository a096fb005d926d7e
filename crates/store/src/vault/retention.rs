//! Removes copies from the vault: by age, or because a session is purged.
//!
//! Objects are removed before the records that name them: after a crash the next run finds in the
//! records what is still to be removed. Copies that another record refers to stay.

use std::collections::HashSet;
use std::path::Path;

use boswell_model::json::Raw;
use boswell_model::{Error, ErrorKind, Instant, Result, SessionRef};

use super::{Reason, Vault, VaultRecord, names_one};
use crate::backend::lock_name;
use crate::disk::durable;
use crate::journal::{self, LineAction};
use crate::sha256::Digest;

/// Returns by session, root and key whether a copy is to be removed.
pub(crate) type Theirs<'a> = &'a dyn Fn(&SessionRef, &Path, &str) -> bool;

/// For how many days copies are kept, by reason; `None` means for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Days for copies of files before a change.
    pub before: Option<u32>,
    /// Days for copies of deleted files.
    pub deleted: Option<u32>,
    /// Days for copies of archived files.
    pub archived: Option<u32>,
    /// Days for copies of files that are kept as they change.
    pub kept: Option<u32>,
}

impl Default for Retention {
    /// Copies that only undo needs are kept for 90 days; what the user asked to keep stays.
    fn default() -> Self {
        Retention {
            before: Some(90),
            deleted: Some(90),
            archived: None,
            kept: None,
        }
    }
}

impl Retention {
    fn is_over(&self, record: &VaultRecord, now: Instant) -> bool {
        let age = now.millis() - record.at.millis();
        self.days(record.reason)
            .is_some_and(|days| age > i64::from(days) * 86_400_000)
    }

    fn days(&self, reason: Reason) -> Option<u32> {
        match reason {
            Reason::Before => self.before,
            Reason::Erased => Some(0),
            Reason::Deleted => self.deleted,
            Reason::Archived => self.archived,
            Reason::Kept => self.kept,
        }
    }
}

/// What [`Vault::expire`] removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Expired {
    /// Number of removed records.
    pub records: usize,
    /// Number of removed copies.
    pub objects: usize,
    /// Size of the removed copies on disk, in bytes.
    pub bytes: u64,
}

/// What a purge removed. No copy of it is left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Purged {
    /// Number of removed records.
    pub records: usize,
    /// Number of removed copies.
    pub objects: usize,
    /// Number of removed hard links to replaced files.
    pub inodes: usize,
    /// Size of all removed files on disk, in bytes.
    pub bytes: u64,
    /// Number of copies that stay because a record of another session refers to them.
    pub shared: usize,
}

impl Vault {
    /// Removes records that are older than `keep` allows, and copies that no record refers to any
    /// more. Copies that an unfinished operation needs stay.
    pub fn expire(&self, now: Instant, keep: &Retention) -> Result<Expired> {
        let _lock = self.lock()?;
        let unfinished = self.unfinished()?;
        let needed =
            |record: &VaultRecord| record.op.as_ref().is_some_and(|op| unfinished.contains(op));
        let removed =
            self.remove_all(&|record| !needed(record) && keep.is_over(record, now), &[])?;
        Ok(Expired {
            records: removed.records,
            objects: removed.objects,
            bytes: removed.bytes,
        })
    }

    /// Returns the records that [`expire`](Vault::expire) would remove.
    pub fn expiring(&self, now: Instant, keep: &Retention) -> Result<Vec<VaultRecord>> {
        let unfinished = self.unfinished()?;
        let (mut records, _) = self.list()?;
        let needed =
            |record: &VaultRecord| record.op.as_ref().is_some_and(|op| unfinished.contains(op));
        records.retain(|record| !needed(record) && keep.is_over(record, now));
        Ok(records)
    }

    /// Removes every copy of a session's files that no record of another session refers to, and
    /// verifies that it is gone.
    pub fn purge(&self, session: &SessionRef) -> Result<Purged> {
        self.purge_where(std::slice::from_ref(session), &|of, _, _| of == session)
    }

    /// As [`purge`](Vault::purge), for several sessions and every copy that `theirs` selects, no
    /// matter whose record refers to it.
    pub(crate) fn purge_where(
        &self,
        sessions: &[SessionRef],
        theirs: Theirs<'_>,
    ) -> Result<Purged> {
        let _lock = self.lock()?;
        let goes = |record: &VaultRecord| theirs(&record.session, &record.root, &record.key);
        let gone: Vec<VaultRecord> = self.list()?.0.into_iter().filter(goes).collect();
        let unfinished = self.unfinished()?;
        if let Some(op) = gone
            .iter()
            .filter_map(|record| record.op.as_ref())
            .find(|op| unfinished.contains(*op))
        {
            let session = sessions
                .first()
                .map(ToString::to_string)
                .unwrap_or_default();
            return Err(Error::new(
                ErrorKind::Conflict,
                format!("operation {op} on {session} is unfinished"),
            )
            .advising("the next command that writes finishes it; then try again"));
        }
        for session in sessions {
            self.locks.remove_log_links(&lock_name(session))?;
        }
        let pieces = self.kept_of(theirs)?;
        let kept = self.forget_kept(theirs, sessions)?;
        let mut removed = self.remove_all(&goes, sessions)?;
        removed.records += kept;
        self.prove(gone.iter().map(|record| record.sha256).chain(pieces))?;
        // Staged bytes and old logs were removed without a sync of their own, here or in an attempt
        // that failed.
        for folder in ["ops", "vault"] {
            durable::sync_removal(self.disk.as_ref(), &self.home.join(folder).join("gone"))?;
        }
        Ok(removed)
    }

    /// Removes copies, then their records: what a crash leaves is found by the next purge.
    /// Unreadable lines are removed if they name one of the sessions.
    fn remove_all(
        &self,
        goes: &dyn Fn(&VaultRecord) -> bool,
        sessions: &[SessionRef],
    ) -> Result<Purged> {
        let (gone, stay): (Vec<_>, Vec<_>) = self.list()?.0.into_iter().partition(goes);
        let mut wanted: HashSet<Digest> = stay.iter().map(|record| record.sha256).collect();
        wanted.extend(self.pieces()?);
        let mut done = Purged {
            records: gone.len(),
            ..Purged::default()
        };
        let objects: HashSet<Digest> = gone.iter().map(|record| record.sha256).collect();
        for sha256 in objects {
            if wanted.contains(&sha256) {
                done.shared += 1;
            } else if let Some(bytes) = self.remove_file(&self.object(sha256))? {
                done.objects += 1;
                done.bytes += bytes;
            }
        }
        for name in gone.iter().filter_map(|record| record.inode.as_deref()) {
            if let Some(bytes) = self.remove_file(&self.inode(name))? {
                done.inodes += 1;
                done.bytes += bytes;
            }
        }
        if !gone.is_empty() || !sessions.is_empty() {
            self.forget(goes, sessions)?;
        }
        let (orphans, bytes) = self.remove_orphans()?;
        done.objects += orphans;
        done.bytes += bytes;
        Ok(done)
    }

    /// Removes what a crash left: half-written copies, and copies that no record came to refer to.
    pub(super) fn remove_orphans(&self) -> Result<(usize, u64)> {
        let mut log = durable::read(self.disk.as_ref(), &self.log())?.unwrap_or_default();
        log.extend(durable::read(self.disk.as_ref(), &self.kept_log())?.unwrap_or_default());
        let mut known: HashSet<String> = self
            .list()?
            .0
            .iter()
            .map(|record| record.sha256.to_string())
            .collect();
        known.extend(self.pieces()?.iter().map(Digest::to_string));
        let objects = self.home.join("vault/objects");
        let mut done = (0, 0);
        for bucket in self.names(&objects)? {
            for name in self.names(&objects.join(&bucket))? {
                let hex = format!("{bucket}{name}");
                // An unreadable line may still name its copy.
                if known.contains(&hex) || memchr::memmem::find(&log, hex.as_bytes()).is_some() {
                    continue;
                }
                if let Some(bytes) = self.remove_file(&objects.join(&bucket).join(&name))? {
                    done = (done.0 + 1, done.1 + bytes);
                }
            }
        }
        Ok(done)
    }

    /// Returns the names in a folder; none if it is missing.
    fn names(&self, folder: &std::path::Path) -> Result<Vec<String>> {
        match self.disk.list(folder) {
            Ok(found) => Ok(found.into_iter().map(|(name, _)| name).collect()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(Error::io(folder.display(), "list", error)),
        }
    }

    /// Removes lines from the log. Unreadable lines stay unless they name one of the sessions: they
    /// may be all that is left of a record.
    fn forget(&self, goes: &dyn Fn(&VaultRecord) -> bool, sessions: &[SessionRef]) -> Result<()> {
        let action = |line: &[u8]| {
            let record = Raw::parse(line).ok().and_then(VaultRecord::from_json);
            let is_gone = record
                .as_ref()
                .map_or_else(|| names_one(line, sessions), goes);
            if is_gone {
                LineAction::Goes
            } else {
                LineAction::Stays
            }
        };
        journal::rewrite(
            self.disk.as_ref(),
            &self.log(),
            &self.id_source.hex16(),
            &action,
        )
        .map(drop)
    }

    pub(super) fn remove_file(&self, path: &std::path::Path) -> Result<Option<u64>> {
        let fault = |error| Error::io(path.display(), "remove", error);
        let Some(stat) = self.disk.stat(path).map_err(fault)? else {
            // An earlier attempt may have removed the file without syncing the folder: after a
            // crash the file would be back.
            durable::sync_removal(self.disk.as_ref(), path)?;
            return Ok(None);
        };
        self.disk.remove(path).map_err(fault)?;
        durable::sync_parent(self.disk.as_ref(), path)?;
        Ok(Some(stat.len))
    }

    fn prove(&self, gone: impl Iterator<Item = Digest>) -> Result<()> {
        let mut wanted: HashSet<Digest> =
            self.list()?.0.iter().map(|record| record.sha256).collect();
        wanted.extend(self.pieces()?);
        for sha256 in gone.filter(|sha256| !wanted.contains(sha256)) {
            if self.has(sha256)? {
                return Err(Error::new(
                    ErrorKind::Internal,
                    format!("the copy {sha256} is still in the vault"),
                ));
            }
        }
        Ok(())
    }

    /// Returns the ids of operations whose intent still exists.
    fn unfinished(&self) -> Result<HashSet<String>> {
        let names = self.names(&self.home.join("ops"))?;
        Ok(names
            .iter()
            .filter_map(|name| {
                name.strip_prefix("intent-")?
                    .strip_suffix(".json")
                    .map(str::to_owned)
            })
            .collect())
    }
}
