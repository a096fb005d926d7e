//! Hard links to files that were replaced or removed while a program may have had them open.
//!
//! Such a program keeps writing to the old file. The hard link in `vault/inodes/` keeps that file
//! reachable, so that late lines are found ([`Vault::written_late`]) and undo can restore the very
//! same file.

use std::path::Path;

use boswell_model::{Error, Result, SessionRef};

use super::{Reason, Vault, VaultRecord};
use crate::disk::{OpenMode, Stat, durable};
use crate::journal;
use crate::sha256::{Digest, Hasher, chunks};

/// A log with a failed `fsync`, at the moment when it is copied to a new file.
#[derive(Debug)]
pub(crate) struct FailedSyncCopy<'a> {
    pub(crate) session: &'a SessionRef,
    /// Root of the log's store.
    pub(crate) root: &'a Path,
    /// Key of the log in that store.
    pub(crate) key: &'a str,
    pub(crate) path: &'a Path,
    pub(crate) stat: Stat,
    /// Length and hash of the copied bytes.
    pub(crate) copied: &'a Hasher,
}

impl Vault {
    /// Makes a hard link to a log to which lines are added now, from position `stat.len`. If its
    /// agent rewrites the log from memory, the lines are found in the old file.
    pub(crate) fn link_appended(
        &self,
        session: &SessionRef,
        (root, key): (&Path, &str),
        path: &Path,
        stat: &Stat,
    ) -> Result<()> {
        let _lock = self.lock()?;
        if self.name_of(stat)?.is_some() {
            return Ok(());
        }
        let name = format!("appended-{}", self.id_source.hex16());
        let record = VaultRecord {
            op: None,
            reason: Reason::Before,
            session: session.clone(),
            root: root.to_owned(),
            key: key.to_owned(),
            // There is no object, so the hash must be that of no other copy.
            sha256: Digest::of(name.as_bytes()),
            len: stat.len,
            mode: stat.mode,
            modified: i64::try_from(stat.modified).unwrap_or_default(),
            at: self.id_source.now(),
            from: None,
            inode: Some(name.clone()),
            derived: false,
        };
        journal::append(self.disk.as_ref(), &self.log(), &[record.to_json()])?;
        self.link_inode(path, &name).map(drop)
    }

    /// Returns the name of the hard link to a file, if it has one.
    fn name_of(&self, file: &Stat) -> Result<Option<String>> {
        let known = self
            .linked_logs()?
            .into_iter()
            .filter_map(|record| record.inode);
        for name in known {
            if self
                .stat_inode(&name)?
                .is_some_and(|stat| stat.identity == file.identity)
            {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// Makes a hard link to a log with a failed `fsync` before a copy replaces it. Bytes behind the
    /// copied ones are late lines.
    ///
    /// The record comes before the link, so that a purge finds every link. There is no object: the
    /// copy is the log.
    pub(crate) fn keep_failed_sync_copy(&self, log: &FailedSyncCopy<'_>) -> Result<()> {
        let _lock = self.lock()?;
        // An earlier attempt may have been interrupted: then the file has its link already, and
        // only the copied length may differ.
        let name = self
            .name_of(&log.stat)?
            .unwrap_or_else(|| format!("doubt-{}", self.id_source.hex16()));
        let record = VaultRecord {
            op: None,
            reason: Reason::Before,
            session: log.session.clone(),
            root: log.root.to_owned(),
            key: log.key.to_owned(),
            sha256: log.copied.finish(),
            len: log.copied.len(),
            mode: log.stat.mode,
            modified: i64::try_from(log.stat.modified).unwrap_or_default(),
            at: self.id_source.now(),
            from: None,
            inode: Some(name.clone()),
            derived: false,
        };
        journal::append(self.disk.as_ref(), &self.log(), &[record.to_json()])?;
        self.link_inode(log.path, &name).map(drop)
    }

    /// Returns the records of logs that were copied after a failed `fsync` or that lines were added
    /// to, in order; of each file only the last one.
    pub(crate) fn linked_logs(&self) -> Result<Vec<VaultRecord>> {
        let mut last: Vec<VaultRecord> = Vec::new();
        for record in self
            .list()?
            .0
            .into_iter()
            .filter(|record| record.op.is_none() && record.inode.is_some())
        {
            last.retain(|before| before.inode != record.inode);
            last.push(record);
        }
        Ok(last)
    }

    /// Returns the bytes of a linked file behind the first `known` ones; empty if the link is
    /// missing.
    pub(crate) fn written_late(&self, name: &str, known: u64) -> Result<Vec<u8>> {
        let path = self.inode(name);
        let fault = |error| Error::io(path.display(), "read what was written late to", error);
        let file = match self.disk.open(&path, OpenMode::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(fault(error)),
        };
        let mut bytes = Vec::new();
        let read = chunks(file.as_ref(), known, u64::MAX, &mut |chunk| {
            bytes.extend_from_slice(chunk);
            Ok(())
        });
        read.map(|()| bytes).map_err(fault)
    }

    fn stat_inode(&self, name: &str) -> Result<Option<Stat>> {
        let path = self.inode(name);
        self.disk
            .stat(&path)
            .map_err(|error| Error::io(path.display(), "look at", error))
    }

    /// Makes a hard link to a file, which leads to it when its path leads elsewhere. Returns false
    /// where the file system cannot do that.
    pub(crate) fn link_inode(&self, path: &Path, name: &str) -> Result<bool> {
        let to = self.inode(name);
        if let Some(folder) = to.parent() {
            durable::make_folders(self.disk.as_ref(), folder)?;
        }
        match self.disk.link(path, &to) {
            Ok(()) => durable::sync_parent(self.disk.as_ref(), &to).map(|()| true),
            // A crash came between this link and the change that it was made for, perhaps before
            // the link was durable.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                durable::sync_parent(self.disk.as_ref(), &to).map(|()| true)
            }
            // Another device, or a file system without hard links: the copy is enough for
            // everything but late lines.
            Err(_) => Ok(false),
        }
    }

    /// Moves a file from its hard link back to `path`; returns false if there is no such link.
    pub(crate) fn unlink_inode(&self, name: &str, path: &Path) -> Result<bool> {
        let from = self.inode(name);
        let fault = |error| Error::io(path.display(), "put back", error);
        let Some(old) = self.disk.stat(&from).map_err(fault)? else {
            return Ok(false);
        };
        // Renaming a file onto itself does nothing, and both names would stay.
        let moved = match self.disk.stat(path).map_err(fault)? {
            Some(there) if there.identity == old.identity => self.disk.remove(&from),
            _ => self.disk.rename(&from, path),
        };
        moved.map_err(fault)?;
        durable::sync_parent(self.disk.as_ref(), path)?;
        durable::sync_parent(self.disk.as_ref(), &from)?;
        Ok(true)
    }
}
